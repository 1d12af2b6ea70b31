//! Begins threads, and reads and sets properties of the calling thread.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{Builder, JoinHandle, Scope, ScopedJoinHandle};
use std::time::Duration;

use crate::system;

pub use crate::system::thread::{
    become_user, release_stack, set_affinity, set_io_priority, set_memory_policy, set_name, set_nice, thread_id, usage,
    wake_sharply,
};

/// A property of the calling thread that the system refused to set.
#[derive(Debug, thiserror::Error)]
#[error("{option}={value}: {text}; {advice}", text = std::io::Error::from_raw_os_error(*code))]
pub struct ThreadError {
    /// The option.
    pub option: &'static str,
    /// Its value.
    pub value: String,
    /// The system's error number.
    pub code: i32,
    /// The next step.
    pub advice: &'static str,
}

/// Number of processors that the calling thread may use; 1: not visible.
pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Number of threads that have been started and have not begun. The standard library ends the program if such a
/// thread does not get its own small memory, so that their number is limited by the memory that was checked before.
static STARTING: AtomicUsize = AtomicUsize::new(0);
const STARTING_MAX: usize = 32;

/// Number of threads so far. A process may have about 65,000 mappings, and each thread needs four. If there are many
/// threads, the mappings are checked once for each [`STARTING_MAX`] threads.
static STARTED: AtomicUsize = AtomicUsize::new(0);
const MANY: usize = 1024;
const MAPPINGS: usize = 512;

/// Memory that must be free in addition to the stack of a new thread, bytes.
const BESIDE_STACK_BYTES: usize = 1 << 20;

/// Begins a thread. All threads of the program begin here or in [`begin_scoped`], because `std::thread::spawn` panics
/// if the system has no thread.
///
/// # Errors
/// If the system has no thread, or no memory for one.
#[expect(clippy::disallowed_methods, reason = "one of the two homes of threads")]
pub fn begin<T: Send + 'static>(
    name: &str,
    stack_bytes: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    let starting = Starting::begin(stack_bytes)?;
    let builder = Builder::new().name(name.to_owned()).stack_size(stack_bytes);
    builder.spawn(|| starting.over(work)).inspect(count)
}

/// Begins a thread that ends with this scope.
///
/// # Errors
/// If the system has no thread, or no memory for one.
#[expect(clippy::disallowed_methods, reason = "one of the two homes of threads")]
pub fn begin_scoped<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: &str,
    stack_bytes: usize,
    work: impl FnOnce() -> T + Send + 'scope,
) -> io::Result<ScopedJoinHandle<'scope, T>> {
    let starting = Starting::begin(stack_bytes)?;
    let builder = Builder::new().name(name.to_owned()).stack_size(stack_bytes);
    builder.spawn_scoped(scope, || starting.over(work)).inspect(count)
}

fn count<Handle>(_: &Handle) {
    STARTED.fetch_add(1, Ordering::Relaxed);
}

/// Checks whether the system has room for one more thread.
fn check(stack_bytes: usize) -> io::Result<()> {
    while STARTING.load(Ordering::Relaxed) >= STARTING_MAX {
        system::clock::sleep(Duration::from_micros(50));
    }
    let refused = io::Error::from_raw_os_error;
    system::memory::check_room(stack_bytes + BESIDE_STACK_BYTES).map_err(refused)?;
    let started = STARTED.load(Ordering::Relaxed);
    if started >= MANY && started.is_multiple_of(STARTING_MAX) {
        system::memory::check_mappings(MAPPINGS).map_err(refused)?;
    }
    Ok(())
}

/// A thread that has been started, until it begins or is given up.
struct Starting(());

impl Starting {
    /// Checks whether the system has room for the thread, and counts it as starting.
    fn begin(stack_bytes: usize) -> io::Result<Starting> {
        check(stack_bytes)?;
        STARTING.fetch_add(1, Ordering::Relaxed);
        Ok(Starting(()))
    }

    /// The thread has begun; does its work.
    fn over<T>(self, work: impl FnOnce() -> T) -> T {
        drop(self);
        work()
    }
}

impl Drop for Starting {
    fn drop(&mut self) {
        STARTING.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Usage of a thread since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadUsage {
    /// CPU time in user mode.
    pub user: Duration,
    /// CPU time in the kernel.
    pub system: Duration,
    /// Context switches because the thread waited.
    pub context_switches_voluntary: u64,
    /// Context switches because its time slice ended.
    pub context_switches_involuntary: u64,
    /// Page faults served without I/O.
    pub faults_minor: u64,
    /// Page faults that needed I/O.
    pub faults_major: u64,
}

impl ThreadUsage {
    /// The difference from `earlier`, a reading of the same thread.
    pub fn since(&self, earlier: &ThreadUsage) -> ThreadUsage {
        let grown = u64::saturating_sub;
        ThreadUsage {
            user: self.user.saturating_sub(earlier.user),
            system: self.system.saturating_sub(earlier.system),
            context_switches_voluntary: grown(self.context_switches_voluntary, earlier.context_switches_voluntary),
            context_switches_involuntary: grown(
                self.context_switches_involuntary,
                earlier.context_switches_involuntary,
            ),
            faults_minor: grown(self.faults_minor, earlier.faults_minor),
            faults_major: grown(self.faults_major, earlier.faults_major),
        }
    }
}

#[cfg(test)]
mod tests {
    use fsdyno_job::IoPriority;

    use super::*;

    /// Runs a test on a separate thread.
    fn apart(work: impl FnOnce() + Send + 'static) {
        begin("test", 1 << 20, work).unwrap().join().unwrap();
    }

    #[test]
    fn many_threads_begin_at_once_and_end() {
        let threads: Vec<_> =
            (0..4 * STARTING_MAX).map(|number| begin("one of many", 1 << 16, move || number)).collect();
        let sum: usize = threads.into_iter().map(|thread| thread.unwrap().join().unwrap()).sum();
        assert_eq!(sum, (0..4 * STARTING_MAX).sum::<usize>());
        let scoped =
            std::thread::scope(|scope| begin_scoped(scope, "scoped", 1 << 16, || sum).unwrap().join().unwrap());
        assert_eq!(scoped, sum);
        assert!(begin("too large", usize::MAX / 4, || {}).is_err(), "there is no such memory");
    }

    #[test]
    fn usage_grows_with_work() {
        let before = usage();
        let mut memory = vec![0u8; 64 << 20];
        for page in memory.chunks_mut(4096) {
            page[0] = std::hint::black_box(1);
        }
        let used = usage().since(&before);
        assert!(used.user + used.system > Duration::ZERO);
        assert!(used.faults_minor > 0);
    }

    #[test]
    fn affinity_can_be_set_to_a_processor_of_this_thread_and_not_to_one_that_is_absent() {
        apart(|| {
            let error = set_affinity(&[1023]).unwrap_err().to_string();
            assert!(error.contains("cpus_allowed=1023"), "{error}");
            let error = set_affinity(&[70_000]).unwrap_err().to_string();
            assert!(error.contains("1023"), "{error}");
            assert!(thread_id() > 0);
        });
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_thread_has_a_name_and_a_user_of_its_own() {
        let own = |line: &str| {
            let text = std::fs::read_to_string("/proc/thread-self/status").unwrap();
            text.lines().find_map(|found| Some(found.strip_prefix(line)?.trim().to_owned())).unwrap()
        };
        let before = own("Uid:");
        apart(move || {
            set_name("a name of more than fifteen bytes").unwrap();
            assert_eq!(own("Name:"), "a name of more", "and a blank");
            if !own("Uid:").starts_with("0\t") {
                let error = become_user(Some(1), None).unwrap_err().to_string();
                assert!(error.contains("uid=1"), "{error}");
                return;
            }
            become_user(Some(65534), Some(65533)).unwrap();
            assert_eq!(own("Uid:"), "65534\t65534\t65534\t65534");
            assert_eq!(own("Gid:"), "65533\t65533\t65533\t65533");
            assert!(become_user(Some(0), None).is_err(), "there is no way back");
        });
        assert_eq!(own("Uid:"), before, "other threads keep theirs");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn memory_comes_from_nodes_that_there_are() {
        use fsdyno_job::MemoryPolicy;
        apart(|| {
            if let Err(error) = set_memory_policy(&MemoryPolicy::Bind(vec![0])) {
                assert!(error.to_string().contains("numa_mem_policy=bind:0"), "{error}");
                return;
            }
            for policy in [MemoryPolicy::Local, MemoryPolicy::Prefer(0), MemoryPolicy::Interleave(vec![0])] {
                set_memory_policy(&policy).unwrap();
            }
            assert!(set_memory_policy(&MemoryPolicy::Bind(vec![1000])).is_err());
            set_memory_policy(&MemoryPolicy::Default).unwrap();
        });
    }

    #[test]
    fn own_priority_can_be_lowered() {
        apart(|| {
            set_nice(19).unwrap();
            let lowest = IoPriority { class: 2, level: 7, hint: 0 };
            set_io_priority(lowest).unwrap();
            let beyond = set_io_priority(IoPriority { level: 8, ..lowest }).unwrap_err().to_string();
            assert!(beyond.contains("prio=8"), "{beyond}");
            match set_io_priority(IoPriority { hint: 3, ..lowest }) {
                Ok(()) => {}
                Err(error) => assert!(error.to_string().contains("priohint=3"), "{error}"),
            }
        });
    }
}
