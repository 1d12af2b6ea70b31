//! What a worker wants to know and to set about its own thread.

use std::time::Duration;

pub use crate::system::thread::{ThreadError, set_affinity, set_io_priority, set_nice, thread_id, usage};

/// What a thread has used since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadUsage {
    /// In user mode.
    pub user: Duration,
    /// In the kernel.
    pub system: Duration,
    /// Context switches because it waited.
    pub context_switches_voluntary: u64,
    /// Context switches because its time was over.
    pub context_switches_involuntary: u64,
    /// Page faults served without I/O.
    pub faults_minor: u64,
    /// Page faults that needed I/O.
    pub faults_major: u64,
}

impl ThreadUsage {
    /// What was used since `earlier`, a reading of the same thread.
    pub fn since(&self, earlier: &ThreadUsage) -> ThreadUsage {
        ThreadUsage {
            user: self.user.saturating_sub(earlier.user),
            system: self.system.saturating_sub(earlier.system),
            context_switches_voluntary: self.context_switches_voluntary - earlier.context_switches_voluntary,
            context_switches_involuntary: self.context_switches_involuntary - earlier.context_switches_involuntary,
            faults_minor: self.faults_minor - earlier.faults_minor,
            faults_major: self.faults_major - earlier.faults_major,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        std::thread::spawn(|| {
            let error = set_affinity(&[1023]).unwrap_err().to_string();
            assert!(error.contains("cpus_allowed=1023"), "{error}");
            let error = set_affinity(&[70_000]).unwrap_err().to_string();
            assert!(error.contains("1023"), "{error}");
            assert!(thread_id() > 0);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn own_priority_can_be_lowered() {
        std::thread::spawn(|| {
            set_nice(19).unwrap();
            set_io_priority(2, 7).unwrap();
            assert!(set_io_priority(2, 8).unwrap_err().to_string().contains("prio=8"));
        })
        .join()
        .unwrap();
    }
}
