//! The clock of the machine: the processor's time stamp counter if it can be trusted, otherwise the system's clock.

use std::fmt;
use std::sync::OnceLock;
use std::time::Duration;

use super::Clock;
use crate::system;

/// Time between the two readings of a calibration. With this length the uncertainty of the readings (some tens of
/// nanoseconds) leaves an error of about one part per million.
const CALIBRATION_NS: u64 = 2_000_000;

/// Shortest time in which a drift is measurable: readings are uncertain by some tens of nanoseconds.
const DRIFT_SPAN_NS_MIN: u64 = 50_000_000;

/// A counter with at most this frequency does not fit the multiplier (nanoseconds per tick as a fraction of 2^64).
const FREQUENCY_HZ_MIN: u64 = 1_000_000_000;

/// The source of the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockSource {
    /// The processor's time stamp counter, read in user space.
    Tsc,
    /// clock_gettime(CLOCK_MONOTONIC).
    ClockGettime,
}

impl fmt::Display for ClockSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ClockSource::Tsc => "tsc",
            ClockSource::ClockGettime => "clock_gettime",
        })
    }
}

/// The source that is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClockChoice {
    /// The cheapest source that can be trusted.
    #[default]
    Best,
    /// The time stamp counter, or an error.
    Tsc,
    /// The system's clock.
    ClockGettime,
}

/// The time stamp counter was asked for and cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the time stamp counter cannot be the clock: {reason}; use clocksource=clock_gettime or leave the option out")]
pub struct ClockError {
    /// The reason.
    pub reason: &'static str,
}

/// A clock that all workers copy. It shows the counter itself and not the difference to the calibration: a counter
/// that starts again (a machine that slept, a guest that moved) gives an earlier time, and never one far in the
/// future.
#[derive(Clone, Copy, Debug)]
pub struct RealClock {
    /// Nanoseconds per tick as a fraction of 2^64; 0: the system is asked.
    scale: u64,
    /// The reading at the start of its calibration.
    origin: Reading,
    cost_ns: f64,
    fallback: Option<&'static str>,
}

/// Both clocks at one moment.
#[derive(Clone, Copy, Debug)]
struct Reading {
    ticks: u64,
    monotonic_ns: u64,
}

impl Reading {
    /// Takes the narrowest of several pairs, because an interruption between the two reads makes a pair wide.
    fn take() -> Reading {
        const ATTEMPTS: usize = 16;
        let pair = || {
            let before = counter();
            let monotonic_ns = system::clock::monotonic_ns();
            let width = counter().wrapping_sub(before);
            (width, Reading { ticks: before.wrapping_add(width / 2), monotonic_ns })
        };
        let mut best = pair();
        for _ in 1..ATTEMPTS {
            let next = pair();
            if next.0 < best.0 {
                best = next;
            }
        }
        best.1
    }
}

static ANCHOR: OnceLock<Reading> = OnceLock::new();
static SHARED: OnceLock<RealClock> = OnceLock::new();

impl RealClock {
    /// Takes the first reading of the calibration. If it is called early in the program, the time of the calibration
    /// passes during other start-up work.
    pub fn anchor() {
        ANCHOR.get_or_init(Reading::take);
    }

    /// The process's clock, calibrated at the first call (at most 5 ms on an idle machine, less after
    /// [`RealClock::anchor`]).
    pub fn shared() -> RealClock {
        *SHARED.get_or_init(|| match unfit_reason() {
            None => RealClock::calibrate(),
            Some(reason) => RealClock::monotonic(Some(reason)),
        })
    }

    /// A clock of the chosen source. The time stamp counter is refused where it cannot be trusted.
    pub fn choose(choice: ClockChoice) -> Result<RealClock, ClockError> {
        match choice {
            ClockChoice::Best => Ok(RealClock::shared()),
            ClockChoice::ClockGettime => Ok(RealClock::monotonic(None)),
            ClockChoice::Tsc => {
                let clock = RealClock::shared();
                clock.fallback.map_or(Ok(clock), |reason| Err(ClockError { reason }))
            }
        }
    }

    fn calibrate() -> RealClock {
        let first = *ANCHOR.get_or_init(Reading::take);
        let elapsed_ns = system::clock::monotonic_ns().saturating_sub(first.monotonic_ns);
        system::clock::sleep(Duration::from_nanos(CALIBRATION_NS.saturating_sub(elapsed_ns)));
        let second = Reading::take();
        match scale_between(first, second) {
            Some(scale) => RealClock { scale, origin: first, cost_ns: 0.0, fallback: None }.with_cost(),
            None => RealClock::monotonic(Some("its frequency is not above 1 GHz")),
        }
    }

    fn monotonic(fallback: Option<&'static str>) -> RealClock {
        let origin = *ANCHOR.get_or_init(Reading::take);
        RealClock { scale: 0, origin, cost_ns: 0.0, fallback }.with_cost()
    }

    /// Measures the cost of one reading: the cheapest of some rounds.
    fn with_cost(mut self) -> RealClock {
        const ROUNDS: u32 = 8;
        const READS: u32 = 64;
        let mut least_ns = u64::MAX;
        for _ in 0..ROUNDS {
            let begin = self.now_ns();
            let mut last = begin;
            for _ in 0..READS {
                last = std::hint::black_box(self.now_ns());
            }
            least_ns = least_ns.min(last.saturating_sub(begin));
        }
        self.cost_ns = least_ns as f64 / f64::from(READS);
        self
    }

    /// The source of the time.
    pub fn source(&self) -> ClockSource {
        if self.scale == 0 { ClockSource::ClockGettime } else { ClockSource::Tsc }
    }

    /// Why the time stamp counter is not used; `None`: it is used, or was not asked for.
    pub fn fallback_reason(&self) -> Option<&'static str> {
        self.fallback
    }

    /// Cost of one reading, ns.
    pub fn cost_ns(&self) -> f64 {
        self.cost_ns
    }

    /// Ticks per second of the counter; `None`: the counter is not used.
    pub fn frequency_hz(&self) -> Option<u64> {
        (self.scale != 0).then(|| ((1_000_000_000u128 << 64) / u128::from(self.scale)) as u64)
    }

    /// Drift between this clock and CLOCK_MONOTONIC since the calibration, parts per million (positive: this clock is
    /// fast). `None`: both are the same clock, or too little time has passed.
    pub fn drift_ppm_since_calibration(&self) -> Option<f64> {
        let now = Reading::take();
        let system_ns = now.monotonic_ns.saturating_sub(self.origin.monotonic_ns);
        if self.scale == 0 || system_ns < DRIFT_SPAN_NS_MIN {
            return None;
        }
        let own_ns = scaled(now.ticks, self.scale) as f64 - scaled(self.origin.ticks, self.scale) as f64;
        Some((own_ns - system_ns as f64) / system_ns as f64 * 1e6)
    }
}

/// Compares a clock with the system's clock during a run.
#[derive(Clone, Copy, Debug)]
pub struct ClockWatch {
    scale: u64,
    looked: Reading,
    stage: Reading,
}

/// Difference between two looks from which on it counts as a step, ns; [`STEP_PPM`] of the time between them is
/// added.
const STEP_NS_MIN: i64 = 2_000_000;
const STEP_PPM: i64 = 1_000;

impl ClockWatch {
    /// Begins the watch at the start of a stage.
    pub fn begin(clock: RealClock) -> ClockWatch {
        let now = if clock.scale == 0 { clock.origin } else { Reading::take() };
        ClockWatch { scale: clock.scale, looked: now, stage: now }
    }

    /// The step of the clock since the last look, ns (negative: back); `None`: there was none.
    pub fn look(&mut self) -> Option<i64> {
        // The system's own clock cannot differ from itself.
        if self.scale == 0 { None } else { self.step_to(Reading::take()) }
    }

    fn step_to(&mut self, now: Reading) -> Option<i64> {
        let then = std::mem::replace(&mut self.looked, now);
        let (ahead_ns, system_ns) = ahead(then, now, self.scale);
        (ahead_ns.abs() > STEP_NS_MIN + system_ns / 1_000_000 * STEP_PPM).then_some(ahead_ns)
    }

    /// Drift between both clocks since the stage began, parts per million (positive: this clock is fast); `None`:
    /// both are the same clock, or too little time has passed. The next stage begins.
    pub fn stage_ppm(&mut self) -> Option<f64> {
        if self.scale == 0 {
            return None;
        }
        let now = Reading::take();
        let (ahead_ns, system_ns) = ahead(std::mem::replace(&mut self.stage, now), now, self.scale);
        (system_ns as u64 >= DRIFT_SPAN_NS_MIN).then(|| ahead_ns as f64 / system_ns as f64 * 1e6)
    }
}

/// The time by which the counter has gained on the system's clock, then the time that passed by the system's clock,
/// ns.
fn ahead(then: Reading, now: Reading, scale: u64) -> (i64, i64) {
    let own_ns = scaled(now.ticks, scale) as i64 - scaled(then.ticks, scale) as i64;
    let system_ns = now.monotonic_ns.saturating_sub(then.monotonic_ns) as i64;
    (own_ns - system_ns, system_ns)
}

/// The system's clock, called out of the way of the counter's.
#[cold]
#[inline(never)]
fn monotonic_ns() -> u64 {
    system::clock::monotonic_ns()
}

impl Clock for RealClock {
    #[inline(always)]
    fn now_ns(&self) -> u64 {
        if self.scale != 0 { scaled(counter(), self.scale) } else { monotonic_ns() }
    }

    fn sleep_until_ns(&self, deadline_ns: u64) {
        // An absolute instant: the sleep does not grow by the time until it begins.
        let monotonic_ns = system::clock::monotonic_ns();
        let wait_ns = deadline_ns.saturating_sub(self.now_ns());
        if wait_ns > 0 {
            system::clock::sleep_until(monotonic_ns, wait_ns);
        }
    }
}

/// The upper half of the product: one multiplication without shift or division.
#[inline(always)]
fn scaled(ticks: u64, scale: u64) -> u64 {
    ((u128::from(ticks) * u128::from(scale)) >> 64) as u64
}

/// Nanoseconds per tick as a fraction of 2^64; `None`: it is not below 1.
fn scale_between(first: Reading, second: Reading) -> Option<u64> {
    let ticks = u128::from(second.ticks.wrapping_sub(first.ticks));
    let elapsed_ns = u128::from(second.monotonic_ns.saturating_sub(first.monotonic_ns));
    let above_minimum = ticks * 1_000_000_000 > elapsed_ns * u128::from(FREQUENCY_HZ_MIN);
    if elapsed_ns == 0 || !above_minimum {
        return None;
    }
    u64::try_from((elapsed_ns << 64) / ticks).ok()
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn counter() -> u64 {
    // SAFETY: the instruction exists on every x86-64 processor and touches no memory.
    unsafe { core::arch::x86_64::_rdtsc() }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn counter() -> u64 {
    0
}

/// Why the counter cannot be used as the clock; `None`: it can.
#[cfg(target_arch = "x86_64")]
fn unfit_reason() -> Option<&'static str> {
    if !counter_is_invariant() {
        return Some("the processor does not declare it invariant (CPUID 8000_0007h)");
    }
    system::clock::counter_distrusted()
}

#[cfg(not(target_arch = "x86_64"))]
fn unfit_reason() -> Option<&'static str> {
    Some("this processor family has none")
}

#[cfg(target_arch = "x86_64")]
fn counter_is_invariant() -> bool {
    const POWER_MANAGEMENT: u32 = 0x8000_0007;
    const INVARIANT_TSC: u32 = 1 << 8;
    let highest = core::arch::x86_64::__cpuid(0x8000_0000).eax;
    highest >= POWER_MANAGEMENT && core::arch::x86_64::__cpuid(POWER_MANAGEMENT).edx & INVARIANT_TSC != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(ticks: u64, monotonic_ns: u64) -> Reading {
        Reading { ticks, monotonic_ns }
    }

    #[test]
    fn scale_turns_ticks_into_nanoseconds() {
        // 2.5 GHz: 12,500,000 ticks in 5 ms, 0.4 ns each.
        let scale = scale_between(reading(1_000, 50), reading(12_501_000, 5_000_050)).unwrap();
        assert_eq!(scaled(2_500_000_000 * 3_600, scale), 3_599_999_999_999, "an hour, rounded down");
        assert_eq!(scaled(5, scale), 1);
        let clock = RealClock { scale, origin: reading(0, 0), cost_ns: 0.0, fallback: None };
        assert_eq!(clock.frequency_hz(), Some(2_500_000_000));
    }

    #[test]
    fn a_counter_that_starts_anew_gives_an_earlier_time_and_is_noticed() {
        // 2 GHz, and one day after the boot.
        let (scale, day) = (1 << 63, 86_400_000_000_000);
        let before = reading(2 * day, 5_000);
        let mut watch = ClockWatch { scale, looked: before, stage: before };
        assert_eq!(watch.step_to(reading(2 * day + 100_000_000, 50_005_000)), None, "50 ms on both");
        let anew = reading(1_000_000, 100_005_000);
        assert!(scaled(anew.ticks, scale) < scaled(before.ticks, scale));
        assert_eq!(watch.step_to(anew), Some(500_000 - (day as i64 + 50_000_000) - 50_000_000));
        assert_eq!(
            watch.step_to(reading(101_000_000, 150_005_000)),
            None,
            "the next look compares with the clock after the step"
        );
        // The machine slept, and the system's clock stood still.
        assert_eq!(watch.step_to(reading(20_101_000_000, 200_005_000)), Some(9_950_000_000));
    }

    #[test]
    fn slow_or_standing_counters_are_refused() {
        assert_eq!(scale_between(reading(0, 0), reading(1_000_000, 1_000_000)), None, "exactly 1 GHz");
        assert_eq!(scale_between(reading(0, 0), reading(0, 1_000_000)), None, "it stands still");
        assert_eq!(scale_between(reading(0, 5), reading(10, 5)), None, "no time has passed");
        assert!(scale_between(reading(0, 0), reading(1_000_001, 1_000_000)).is_some());
    }

    #[test]
    fn both_sources_advance_and_do_not_run_backwards() {
        for clock in [RealClock::shared(), RealClock::choose(ClockChoice::ClockGettime).unwrap()] {
            let mut last = clock.now_ns();
            for _ in 0..10_000 {
                let now = clock.now_ns();
                assert!(now >= last || clock.source() == ClockSource::Tsc, "{now} after {last}");
                last = now;
            }
            let begin = clock.now_ns();
            clock.sleep_until_ns(begin + 1_000_000);
            assert!(clock.now_ns() > begin);
        }
    }

    #[test]
    fn the_two_sources_agree() {
        let best = RealClock::shared();
        let system = RealClock::choose(ClockChoice::ClockGettime).unwrap();
        system.sleep_until_ns(DRIFT_SPAN_NS_MIN + 10_000_000);
        // Half a percent is far above any calibration error and far below a wrong frequency.
        if let Some(drift) = best.drift_ppm_since_calibration() {
            assert!(drift.abs() < 5_000.0, "{drift} ppm");
        }
        assert_eq!(system.drift_ppm_since_calibration(), None);
        assert_eq!(best.source() == ClockSource::Tsc, best.frequency_hz().is_some());
        assert!(best.cost_ns() > 0.0);
    }
}
