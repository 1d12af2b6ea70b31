//! Measures how idle the CPUs are during a run (`--idle-prof`), by the kernel's counters: no extra thread runs beside
//! the jobs.

use std::hint::black_box;

use fsdyno_job::IdleProfile;
use fsdyno_os::clock::{Clock, RealClock};
use fsdyno_probe::{Look, ProcessorTime};
use fsdyno_results::CpuIdleness;

/// Bytes that a unit of work touches.
const UNIT_BYTES: usize = 32 * 1024;

/// Number of units that are timed together, and number of repetitions.
const UNITS: u32 = 20;
const REPETITIONS: usize = 10;

/// Time of a unit of work, µs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnitWork {
    /// Mean of the repetitions, µs.
    pub us_mean: f64,
    /// Standard deviation of the repetitions, µs.
    pub us_deviation: f64,
}

/// Times the unit of work on the calling thread.
pub fn calibrate_unit_work() -> UnitWork {
    let clock = RealClock::shared();
    let words = vec![1_u64; UNIT_BYTES / 8];
    let unit = || black_box(&words).iter().fold(0_u64, |sum, word| black_box(sum.rotate_left(1) ^ word));
    let times_us = [0; REPETITIONS].map(|_| {
        let began_ns = clock.now_ns();
        for _ in 0..UNITS {
            black_box(unit());
        }
        clock.now_ns().saturating_sub(began_ns) as f64 / f64::from(UNITS) / 1000.0
    });
    let count = REPETITIONS as f64;
    let us_mean = times_us.iter().sum::<f64>() / count;
    let squares: f64 = times_us.iter().map(|time| (time - us_mean) * (time - us_mean)).sum();
    UnitWork { us_mean, us_deviation: (squares / (count - 1.0)).sqrt() }
}

/// Measures the idle time of a run.
#[derive(Debug)]
pub(crate) struct IdleMeter {
    profile: IdleProfile,
    unit: UnitWork,
    began: Vec<ProcessorTime>,
}

impl IdleMeter {
    /// Begins now. The error says why CPU times are not visible.
    pub(crate) fn begin(profile: IdleProfile, look: &Look) -> Result<IdleMeter, String> {
        let unit = calibrate_unit_work();
        let began = look.processor_times().map_err(|not_visible| not_visible.to_string())?;
        Ok(IdleMeter { profile, unit, began })
    }

    /// The idle time from the beginning until now; `None`: the time is too short for the kernel's counters.
    pub(crate) fn so_far(&self, look: &Look) -> Option<CpuIdleness> {
        self.between(&look.processor_times().ok()?)
    }

    fn between(&self, now: &[ProcessorTime]) -> Option<CpuIdleness> {
        let grown = |now: &ProcessorTime| {
            let then = self.began.iter().find(|then| then.number == now.number)?;
            Some((now.idle.saturating_sub(then.idle), now.all.saturating_sub(then.all)))
        };
        let grown: Vec<(u64, u64)> = now.iter().filter_map(grown).filter(|(_, all)| *all > 0).collect();
        let share = |idle: u64, all: u64| idle.min(all) as f64 * 100.0 / all as f64;
        let (idle, all) = grown.iter().fold((0, 0), |sum, (idle, all)| (sum.0 + idle, sum.1 + all));
        let each = match self.profile {
            IdleProfile::System => &grown[..0],
            IdleProfile::EachProcessor => &grown[..],
        };
        (all > 0).then(|| CpuIdleness {
            system_percent: share(idle, all),
            processors: each.iter().map(|(idle, all)| share(*idle, *all)).collect(),
            unit_us_mean: self.unit.us_mean,
            unit_us_deviation: self.unit.us_deviation,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idleness_is_the_share_of_ticks_with_nothing_to_do() {
        let time = |number, idle, all| ProcessorTime { number, idle, all };
        let unit = UnitWork { us_mean: 7.0, us_deviation: 0.5 };
        let began = vec![time(0, 1000, 2000), time(1, 0, 0)];
        let meter = |profile| IdleMeter { profile, unit, began: began.clone() };
        let now = [time(0, 1030, 2100), time(1, 90, 100), time(2, 5, 9)];
        let each = meter(IdleProfile::EachProcessor).between(&now).expect("200 ticks went by");
        assert_eq!((each.system_percent, &each.processors[..]), (60.0, &[30.0, 90.0][..]));
        assert_eq!((each.unit_us_mean, each.unit_us_deviation), (7.0, 0.5));
        assert!(meter(IdleProfile::System).between(&now).expect("likewise").processors.is_empty());
        assert_eq!(meter(IdleProfile::System).between(&began), None, "no tick went by");
    }

    #[test]
    fn a_unit_of_work_takes_some_time() {
        let unit = calibrate_unit_work();
        assert!(unit.us_mean > 0.0 && unit.us_deviation.is_finite(), "{unit:?}");
    }
}
