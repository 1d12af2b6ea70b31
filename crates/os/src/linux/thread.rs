//! The calling thread: its usage, its processors, its priority.

use std::time::Duration;

use fsdyno_job::{IoPriority, MemoryPolicy};
use rustix::thread::{ClockId, CpuSet};

use crate::thread::{ThreadError, ThreadUsage};

/// The kernel's number of the calling thread.
pub fn thread_id() -> u32 {
    rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs()
}

/// Usage of the calling thread so far. The thread's clock gives the exact total; it is divided into user and system
/// time in the ratio of the kernel's counters, which are coarser.
pub fn usage() -> ThreadUsage {
    let counted = by_getrusage().or_else(by_proc).unwrap_or_default();
    let total = rustix::time::clock_gettime(ClockId::ThreadCPUTime);
    let total = Duration::new(total.tv_sec as u64, total.tv_nsec as u32);
    let share = counted.user.as_nanos() as f64 / (counted.user + counted.system).as_nanos().max(1) as f64;
    let user = total.mul_f64(share.clamp(0.0, 1.0)).min(total);
    ThreadUsage { user, system: total - user, ..counted }
}

/// `None`: a filter of system calls forbids it.
fn by_getrusage() -> Option<ThreadUsage> {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the call fills the structure that the pointer leads to.
    let answer = unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) };
    // SAFETY: all fields are integers, zeroed above and filled by the call.
    let usage = (answer == 0).then(|| unsafe { usage.assume_init() })?;
    Some(ThreadUsage {
        user: duration(usage.ru_utime),
        system: duration(usage.ru_stime),
        context_switches_voluntary: usage.ru_nvcsw as u64,
        context_switches_involuntary: usage.ru_nivcsw as u64,
        faults_minor: usage.ru_minflt as u64,
        faults_major: usage.ru_majflt as u64,
    })
}

fn duration(time: libc::timeval) -> Duration {
    Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1000)
}

/// The same from the thread's files in /proc.
#[cold]
fn by_proc() -> Option<ThreadUsage> {
    let read = |name: &str| std::fs::read_to_string(format!("/proc/thread-self/{name}")).ok();
    in_words_of_proc(&read("stat")?, &read("status")?)
}

fn in_words_of_proc(stat: &str, status: &str) -> Option<ThreadUsage> {
    // A name may contain any character but ends at the last parenthesis; the state follows as field 3.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
    let line = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
    let ticks = |number| Some(Duration::from_millis(field(number)?.saturating_mul(10)));
    Some(ThreadUsage {
        user: ticks(14)?,
        system: ticks(15)?,
        context_switches_voluntary: line("voluntary_ctxt_switches:")?,
        context_switches_involuntary: line("nonvoluntary_ctxt_switches:")?,
        faults_minor: field(10)?,
        faults_major: field(12)?,
    })
}

/// Binds the calling thread to these processors (0 to 1023).
pub fn set_affinity(processors: &[u32]) -> Result<(), ThreadError> {
    let error = |code, advice| ThreadError {
        option: "cpus_allowed",
        value: processors.iter().map(u32::to_string).collect::<Vec<_>>().join(","),
        code,
        advice,
    };
    let mut set = CpuSet::new();
    for &processor in processors {
        if processor as usize >= CpuSet::MAX_CPU {
            return Err(error(libc::EINVAL, "CPUs have the numbers 0 to 1023"));
        }
        set.set(processor as usize);
    }
    rustix::thread::sched_setaffinity(None, &set).map_err(|refusal| {
        error(refusal.raw_os_error(), "none of these CPUs is online and allowed here (see nproc and Cpus_allowed_list)")
    })
}

/// Sets the nice value (-20 to 19), only of the calling thread.
pub fn set_nice(nice: i32) -> Result<(), ThreadError> {
    rustix::process::setpriority_process(None, nice).map_err(|refusal| ThreadError {
        option: "nice",
        value: nice.to_string(),
        code: refusal.raw_os_error(),
        advice: "a lower value needs root or a higher `ulimit -e`",
    })
}

/// Sets the I/O priority of the calling thread.
pub fn set_io_priority(priority: IoPriority) -> Result<(), ThreadError> {
    const WHO_PROCESS: libc::c_long = 1;
    const THIS_THREAD: libc::c_long = 0;
    let IoPriority { class, level, hint } = priority;
    let error = |option, value: u8, code, advice| ThreadError { option, value: value.to_string(), code, advice };
    if level > 7 {
        return Err(error("prio", level, libc::EINVAL, "levels are 0 (first) to 7 (last)"));
    }
    if class > 3 {
        return Err(error("prioclass", class, libc::EINVAL, "classes are 0 none, 1 realtime, 2 best effort, 3 idle"));
    }
    let number = libc::c_long::from(priority.as_number());
    // SAFETY: the call takes three numbers and no memory.
    match unsafe { libc::syscall(libc::SYS_ioprio_set, WHO_PROCESS, THIS_THREAD, number) } {
        0 => Ok(()),
        _ => {
            let code = last_errno();
            if code == libc::EINVAL && hint > 0 {
                let advice = "hints need Linux 6.6 or later: leave the option out";
                return Err(ThreadError { option: "priohint", value: hint.to_string(), code, advice });
            }
            Err(error("prioclass", class, code, "class 1 (realtime) needs root or CAP_SYS_NICE"))
        }
    }
}

/// Names the calling thread; only the first 15 bytes are used.
pub fn set_name(name: &str) -> Result<(), ThreadError> {
    let error = |code| ThreadError { option: "comm", value: name.to_owned(), code, advice: "use another name" };
    let bytes = std::ffi::CString::new(&*fsdyno_job::bytes::bytes(name)).map_err(|_| error(libc::EINVAL))?;
    rustix::thread::set_name(&bytes).map_err(|refusal| error(refusal.raw_os_error()))
}

/// Changes the group, then the user of the calling thread, in all their forms. Other threads keep theirs; libc would
/// change all threads.
pub fn become_user(user: Option<u32>, group: Option<u32>) -> Result<(), ThreadError> {
    let change = |option, call, id: Option<u32>| {
        let Some(id) = id else { return Ok(()) };
        // SAFETY: the call takes three numbers and no memory.
        match unsafe { libc::syscall(call, id, id, id) } {
            0 => Ok(()),
            _ => Err(ThreadError {
                option,
                value: id.to_string(),
                code: last_errno(),
                advice: "only root, or who has CAP_SETUID and CAP_SETGID, may become another: start fsdyno with sudo",
            }),
        }
    };
    change("gid", libc::SYS_setresgid, group)?;
    change("uid", libc::SYS_setresuid, user)
}

/// Sets where memory that the calling thread uses from now on comes from.
pub fn set_memory_policy(policy: &MemoryPolicy) -> Result<(), ThreadError> {
    let (word, mode) = match policy {
        MemoryPolicy::Default => ("default", libc::MPOL_DEFAULT),
        MemoryPolicy::Local => ("local", libc::MPOL_LOCAL),
        MemoryPolicy::Prefer(_) => ("prefer", libc::MPOL_PREFERRED),
        MemoryPolicy::Bind(_) => ("bind", libc::MPOL_BIND),
        MemoryPolicy::Interleave(_) => ("interleave", libc::MPOL_INTERLEAVE),
    };
    const BITS: u32 = u64::BITS;
    let mut mask = [0u64; 16];
    for node in policy.nodes().iter().filter(|node| **node < BITS * 16) {
        mask[(node / BITS) as usize] |= 1 << (node % BITS);
    }
    let (mask_at, bits) =
        if policy.nodes().is_empty() { (std::ptr::null(), 0) } else { (mask.as_ptr(), 16 * BITS + 1) };
    // SAFETY: the call reads the mask, which has this number of bits and one that the kernel leaves out.
    match unsafe { libc::syscall(libc::SYS_set_mempolicy, mode, mask_at, libc::c_ulong::from(bits)) } {
        0 => Ok(()),
        _ => {
            let nodes: Vec<String> = policy.nodes().iter().map(u32::to_string).collect();
            let value = [word.to_owned(), nodes.join(",")].join(if nodes.is_empty() { "" } else { ":" });
            let advice = "use nodes that have memory and are allowed here (see Mems_allowed_list in /proc/self/status); a \
                          kernel without NUMA has no policies";
            Err(ThreadError { option: "numa_mem_policy", value, code: last_errno(), advice })
        }
    }
}

fn last_errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}

/// Makes sleeps of the calling thread end on time: the kernel does not combine them with others. Errors are ignored.
pub fn wake_sharply() {
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
}

/// Gives the pages of the calling thread's stack that its present callers do not use back to the system. Pages stay after
/// the functions that used them have returned; with many threads that wait, these would be most of the memory.
#[inline(never)]
pub fn release_stack() {
    let (mut lowest, mut bytes) = (std::ptr::null_mut(), 0);
    let mut attributes = std::mem::MaybeUninit::<libc::pthread_attr_t>::zeroed();
    // SAFETY: the calls fill what the pointers lead to; the attributes are destroyed only after they were made.
    let known = unsafe {
        libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) == 0 && {
            let known = libc::pthread_attr_getstack(attributes.as_ptr(), &raw mut lowest, &raw mut bytes) == 0;
            libc::pthread_attr_destroy(attributes.as_mut_ptr());
            known
        }
    };
    // A page below this one is for the call itself.
    let page = super::memory::page_bytes();
    let used = ((&raw const bytes).addr() / page).saturating_sub(1) * page;
    let unused = used.saturating_sub(lowest.addr()) / page * page;
    if known && unused > 0 && unused < bytes {
        // SAFETY: the range is the end of this thread's stack below all frames that live; it holds no values. It reads as
        // zeroes afterwards.
        let _ = unsafe { rustix::mm::madvise(lowest, unused, rustix::mm::Advice::LinuxDontNeed) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[inline(never)]
    fn deep() -> usize {
        std::hint::black_box([1_u8; 96 << 10]).iter().map(|byte| usize::from(*byte)).sum()
    }

    /// Bytes of this thread's stack that have pages.
    fn present_bytes() -> u64 {
        let local = 0_u8;
        let at = (&raw const local).addr();
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let mut within = false;
        for line in maps.lines() {
            if let Some((range, _)) = line.split_once(' ').filter(|(range, _)| range.contains('-')) {
                let bound = |text: &str| usize::from_str_radix(text, 16).unwrap_or(0);
                let (from, to) = range.split_once('-').map(|(from, to)| (bound(from), bound(to))).unwrap();
                within = (from..to).contains(&at);
            } else if let Some(size) = line.strip_prefix("Rss:").filter(|_| within) {
                return size.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10;
            }
        }
        panic!("the stack at {at:x} is not among the mappings")
    }

    #[test]
    fn pages_of_frames_that_are_gone_are_given_back() {
        let thread = crate::thread::begin("deep", 256 << 10, || {
            let kept = [7_u8; 1000];
            let before = deep();
            let touched = present_bytes();
            release_stack();
            let left = present_bytes();
            (before, deep(), touched, left, std::hint::black_box(kept))
        });
        let (before, again, touched, left, kept) = thread.unwrap().join().unwrap();
        assert_eq!((before, again, kept), (96 << 10, 96 << 10, [7; 1000]));
        assert!(touched >= 96 << 10 && left <= touched - (64 << 10), "{touched} bytes, then {left}");
    }

    #[test]
    fn the_files_of_the_kernel_say_what_getrusage_says() {
        let mut memory = vec![0u8; 16 << 20];
        memory.chunks_mut(4096).for_each(|page| page[0] = std::hint::black_box(1));
        let (before, read, after) = (by_getrusage().unwrap(), by_proc().unwrap(), by_getrusage().unwrap());
        assert!((before.faults_minor..=after.faults_minor).contains(&read.faults_minor), "{before:?} {read:?}");
        let switches = |usage: &ThreadUsage| usage.context_switches_voluntary + usage.context_switches_involuntary;
        assert!((switches(&before)..=switches(&after)).contains(&switches(&read)), "{before:?} {read:?}");
        let odd = "7 (a) b) R 1 7 7 0 -1 4194304 10 0 2 0 300 50 0 0 20 0 1";
        let status = "voluntary_ctxt_switches:\t3\nnonvoluntary_ctxt_switches:\t4\n";
        let odd = in_words_of_proc(odd, status).unwrap();
        assert_eq!((odd.user, odd.system), (Duration::from_secs(3), Duration::from_millis(500)));
        assert_eq!((odd.faults_minor, odd.faults_major, odd.context_switches_involuntary), (10, 2, 4));
    }
}
