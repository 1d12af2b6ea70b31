//! The calling thread: its usage, its processors, its priority.

use std::time::Duration;

use fsdyno_job::IoPriority;
use windows_sys::Win32::Foundation::FILETIME;
use windows_sys::Win32::System::Threading::{
    GetCurrentThread, GetCurrentThreadId, GetThreadTimes, SetThreadAffinityMask,
};

use super::errno;
use crate::thread::{ThreadError, ThreadUsage};

/// The system's number of the calling thread.
pub fn thread_id() -> u32 {
    // SAFETY: the call takes nothing and returns a number.
    unsafe { GetCurrentThreadId() }
}

/// Usage of the calling thread so far, in ticks of the system. Windows counts neither context switches nor page
/// faults of a thread; the plan notes this.
pub fn usage() -> ThreadUsage {
    let [mut created, mut ended, mut kernel, mut user] = [FILETIME::default(); 4];
    // SAFETY: the handle of the calling thread is always good, and the call fills four structures.
    let answer =
        unsafe { GetThreadTimes(GetCurrentThread(), &raw mut created, &raw mut ended, &raw mut kernel, &raw mut user) };
    if answer == 0 {
        return ThreadUsage::default();
    }
    ThreadUsage { user: duration(user), system: duration(kernel), ..ThreadUsage::default() }
}

/// Converts the units of Windows, 100 ns.
pub(super) fn duration(time: FILETIME) -> Duration {
    let steps = u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime);
    Duration::from_nanos(steps.saturating_mul(100))
}

/// Binds the calling thread to these processors of its group (0 to 63).
pub fn set_affinity(processors: &[u32]) -> Result<(), ThreadError> {
    let error = |code, advice| ThreadError {
        option: "cpus_allowed",
        value: processors.iter().map(u32::to_string).collect::<Vec<_>>().join(","),
        code,
        advice,
    };
    let mut mask = 0usize;
    for &processor in processors {
        match 1usize.checked_shl(processor) {
            Some(bit) => mask |= bit,
            None => return Err(error(errno::EINVAL, "CPUs have the numbers 0 to 63 here")),
        }
    }
    // SAFETY: the handle of the calling thread is always good; the call takes two numbers.
    match unsafe { SetThreadAffinityMask(GetCurrentThread(), mask) } {
        0 => Err(error(errno::last(), "none of these CPUs is there for this process")),
        _ => Ok(()),
    }
}

/// Not built: the name would only be visible in tools that list threads.
pub fn set_name(_name: &str) -> Result<(), ThreadError> {
    Ok(())
}

/// Refused when the job is planned.
pub fn become_user(user: Option<u32>, _group: Option<u32>) -> Result<(), ThreadError> {
    let advice = "Windows has no such users: leave uid and gid out";
    Err(ThreadError { option: "uid", value: format!("{user:?}"), code: errno::EOPNOTSUPP, advice })
}

/// Refused when the job is planned.
pub fn set_memory_policy(policy: &fsdyno_job::MemoryPolicy) -> Result<(), ThreadError> {
    let advice = "Windows has no memory policies: leave the option out";
    Err(ThreadError { option: "numa_mem_policy", value: format!("{policy:?}"), code: errno::EOPNOTSUPP, advice })
}

/// Windows has no nice values.
pub fn set_nice(nice: i32) -> Result<(), ThreadError> {
    let advice = "Windows has no nice values: leave the option out";
    Err(ThreadError { option: "nice", value: nice.to_string(), code: errno::EOPNOTSUPP, advice })
}

/// Windows has no classes of I/O priority.
pub fn set_io_priority(priority: IoPriority) -> Result<(), ThreadError> {
    let advice = "Windows has no such classes: leave prio and prioclass out";
    Err(ThreadError { option: "prio", value: priority.level.to_string(), code: errno::EOPNOTSUPP, advice })
}

/// Nothing to do: Windows does not combine sleeps.
pub fn wake_sharply() {}

/// Nothing to do: Windows has few threads.
pub fn release_stack() {}
