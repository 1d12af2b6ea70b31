//! What a worker wants to know and to set about its own thread.

use std::time::Duration;

pub use crate::system::thread::{
    ThreadError, become_user, set_affinity, set_io_priority, set_memory_policy, set_name, set_nice, thread_id, usage,
};

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
    use job::IoPriority;

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
    #[cfg(target_os = "linux")]
    fn a_thread_has_a_name_and_a_user_of_its_own() {
        let own = |line: &str| {
            let text = std::fs::read_to_string("/proc/thread-self/status").unwrap();
            text.lines().find_map(|found| Some(found.strip_prefix(line)?.trim().to_owned())).unwrap()
        };
        let before = own("Uid:");
        std::thread::spawn(move || {
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
        })
        .join()
        .unwrap();
        assert_eq!(own("Uid:"), before, "other threads keep theirs");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn memory_comes_from_nodes_that_there_are() {
        use job::MemoryPolicy;
        std::thread::spawn(|| {
            if let Err(error) = set_memory_policy(&MemoryPolicy::Bind(vec![0])) {
                assert!(error.to_string().contains("numa_mem_policy=bind:0"), "{error}");
                return;
            }
            for policy in [MemoryPolicy::Local, MemoryPolicy::Prefer(0), MemoryPolicy::Interleave(vec![0])] {
                set_memory_policy(&policy).unwrap();
            }
            assert!(set_memory_policy(&MemoryPolicy::Bind(vec![1000])).is_err());
            set_memory_policy(&MemoryPolicy::Default).unwrap();
        })
        .join()
        .unwrap();
    }

    #[test]
    fn own_priority_can_be_lowered() {
        std::thread::spawn(|| {
            set_nice(19).unwrap();
            let lowest = IoPriority { class: 2, level: 7, hint: 0 };
            set_io_priority(lowest).unwrap();
            let beyond = set_io_priority(IoPriority { level: 8, ..lowest }).unwrap_err().to_string();
            assert!(beyond.contains("prio=8"), "{beyond}");
            match set_io_priority(IoPriority { hint: 3, ..lowest }) {
                Ok(()) => {}
                Err(error) => assert!(error.to_string().contains("priohint=3"), "{error}"),
            }
        })
        .join()
        .unwrap();
    }
}
