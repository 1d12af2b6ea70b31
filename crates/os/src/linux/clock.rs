//! The system's clock, and whether the kernel trusts the processor's counter.

use std::time::Duration;

use rustix::thread::ClockId;
use rustix::time::Timespec;

/// CLOCK_MONOTONIC, ns. libc finds the kernel's code for it in user space, also in a static program; rustix would
/// make a system call for each reading.
#[inline]
pub(crate) fn monotonic_ns() -> u64 {
    read(libc::CLOCK_MONOTONIC).expect("every Linux has this clock")
}

/// The clock of this number, ns; `None`: the kernel refuses to read it.
pub(crate) fn numbered_ns(number: u32) -> Option<u64> {
    read(number as libc::clockid_t)
}

#[inline]
fn read(clock: libc::clockid_t) -> Option<u64> {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call fills the structure that the pointer leads to.
    let answer = unsafe { libc::clock_gettime(clock, &mut now) };
    (answer == 0).then_some(now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64)
}

/// Sleeps; a signal ends the sleep early.
pub fn sleep(duration: Duration) {
    let request = Timespec { tv_sec: duration.as_secs() as i64, tv_nsec: i64::from(duration.subsec_nanos()) };
    // Errors are ignored: after any end the caller looks at its clock again.
    let _ = rustix::thread::clock_nanosleep_relative(ClockId::Monotonic, &request);
}

/// Sleeps until this long after a reading of [`monotonic_ns`]; a signal ends the sleep early.
pub(crate) fn sleep_until(since_ns: u64, wait_ns: u64) {
    let until = Duration::from_nanos(since_ns.saturating_add(wait_ns));
    let until = Timespec { tv_sec: until.as_secs() as i64, tv_nsec: i64::from(until.subsec_nanos()) };
    let _ = rustix::thread::clock_nanosleep_absolute(ClockId::Monotonic, &until);
}

/// Why the kernel does not trust the time stamp counter of x86_64; `None`: it does. The kernel watches the counters
/// of all processors and stops using them if they differ; the two paravirtual clocks are computed from the counter,
/// so they show that it is trusted.
#[cfg(target_arch = "x86_64")]
pub(crate) fn counter_distrusted() -> Option<&'static str> {
    const PATH: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    match std::fs::read_to_string(PATH) {
        // Without /sys (in some containers) only the processor's flags are known; the drift check remains.
        Err(_) => None,
        Ok(name) => match name.trim() {
            "tsc" | "kvm-clock" | "hyperv_clocksource_tsc_page" => None,
            _ => Some("the kernel uses another clock source (current_clocksource)"),
        },
    }
}
