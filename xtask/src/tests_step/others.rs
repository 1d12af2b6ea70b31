//! Measures how busy other programs keep this machine, while no test runs.

use std::time::Duration;

/// From this number of busy CPUs on, a test that judges timing may fail without a fault of the program.
const BUSY_CPUS_MIN: f64 = 0.5;

/// How long the machine is observed.
const LOOK: Duration = Duration::from_secs(1);

/// The number of busy CPUs; `None`: the CPUs are free for the tests, or the system does not show it.
pub(super) fn busy_cpus() -> Option<f64> {
    let read = || Ticks::read(&std::fs::read_to_string("/proc/stat").ok()?);
    let before = read()?;
    std::thread::sleep(LOOK);
    let cpus = std::thread::available_parallelism().ok()?.get() as f64;
    Some(read()?.busy_share_since(&before)? * cpus).filter(|&busy| busy >= BUSY_CPUS_MIN)
}

/// Clock ticks of all CPUs since boot.
struct Ticks {
    idle: u64,
    /// All ticks, including those that a hypervisor gave to others.
    all: u64,
}

impl Ticks {
    /// Parses the first line of `/proc/stat`: user, nice, system, idle, waiting for I/O, interrupts, stolen.
    fn read(stat: &str) -> Option<Ticks> {
        const COUNTERS: usize = 8;
        let words = stat.lines().next()?.strip_prefix("cpu ")?.split_whitespace().take(COUNTERS);
        let ticks = words.map(|word| word.parse().ok()).collect::<Option<Vec<u64>>>()?;
        Some(Ticks { idle: ticks.get(3)? + ticks.get(4)?, all: ticks.iter().sum() })
    }

    fn busy_share_since(&self, before: &Ticks) -> Option<f64> {
        let all = self.all.checked_sub(before.all).filter(|&ticks| ticks > 0)?;
        Some(1.0 - self.idle.saturating_sub(before.idle) as f64 / all as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stolen_time_is_busy_and_waiting_for_storage_is_not() {
        let before = Ticks::read("cpu  10 0 10 100 50 0 0 0 0 0\ncpu0 1 2 3").unwrap();
        let after = Ticks::read("cpu  20 0 20 110 60 0 0 10 5 0\n").unwrap();
        let share = after.busy_share_since(&before).unwrap();
        assert!((share - 0.6).abs() < 1e-9, "30 of 50 ticks: {share}");
        assert!(before.busy_share_since(&before).is_none() && Ticks::read("intr 1").is_none());
    }
}
