//! This process: bytes, processor time, and how long its threads waited for a processor.

use std::collections::BTreeMap;

use results::evidence::ProcessCounters;
use rustix::thread::{ClockId, gettid};

use super::{growth, growth_of_pair};
use crate::linux::{Look, read_text};
use crate::{Fact, NotVisible};

/// How long a thread waited for a processor while it could have run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadWait {
    /// The thread's number.
    pub thread: u32,
    /// Since the thread began, ns.
    pub wait_ns: u64,
}

/// What the calling thread has waited so far; `None`: the kernel does not say.
pub fn wait_of_this_thread() -> Option<ThreadWait> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(ThreadWait { thread: gettid().as_raw_nonzero().get().unsigned_abs(), wait_ns: parse_wait(&text)? })
}

#[derive(Debug)]
pub(super) struct ProcessMeter {
    first: Option<ProcessCounters>,
    threads: bool,
    waits: Waits,
}

impl ProcessMeter {
    pub(super) fn new(threads: bool) -> ProcessMeter {
        ProcessMeter { first: None, threads, waits: Waits::default() }
    }

    pub(super) fn add_wait(&mut self, wait: ThreadWait) {
        self.waits.add(wait);
    }

    pub(super) fn read(&mut self, look: &Look) -> Fact<ProcessCounters> {
        let place = look.proc.join("self/io");
        let text = read_text(&place)?;
        let (call_bytes, storage_bytes) = parse_io(&text)
            .ok_or_else(|| NotVisible::new(place.display(), "its four counters of bytes are missing"))?;
        let used = rustix::time::clock_gettime(ClockId::ProcessCPUTime);
        let now = ProcessCounters {
            call_bytes,
            storage_bytes,
            cpu_ns: used.tv_sec as u64 * 1_000_000_000 + used.tv_nsec as u64,
            run_queue_wait_ns: if self.threads { self.waits.read(look) } else { None },
        };
        let first = *self.first.get_or_insert(now);
        Ok(ProcessCounters {
            call_bytes: growth_of_pair(first.call_bytes, now.call_bytes),
            storage_bytes: growth_of_pair(first.storage_bytes, now.storage_bytes),
            cpu_ns: growth(first.cpu_ns, now.cpu_ns),
            run_queue_wait_ns: first.run_queue_wait_ns.zip(now.run_queue_wait_ns).map(|(then, now)| growth(then, now)),
        })
    }
}

/// What threads waited: the kernel forgets it when a thread ends, so the last word of each is kept.
#[derive(Debug, Default)]
struct Waits {
    by_thread: BTreeMap<u32, u64>,
    /// Of threads whose number went to a new one.
    gone_ns: u64,
}

impl Waits {
    fn add(&mut self, wait: ThreadWait) {
        let before = self.by_thread.insert(wait.thread, wait.wait_ns).unwrap_or(0);
        if wait.wait_ns < before {
            self.gone_ns += before;
        }
    }

    /// Of all threads, those that have ended included.
    fn read(&mut self, look: &Look) -> Option<u64> {
        for entry in std::fs::read_dir(look.proc.join("self/task")).ok()? {
            // A thread may end while the list is read.
            let Ok(entry) = entry else { continue };
            let Some(thread) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            let Ok(text) = std::fs::read_to_string(entry.path().join("schedstat")) else { continue };
            if let Some(wait_ns) = parse_wait(&text) {
                self.add(ThreadWait { thread, wait_ns });
            }
        }
        // No thread at all: the kernel keeps no such statistics.
        (!self.by_thread.is_empty()).then(|| self.by_thread.values().sum::<u64>() + self.gone_ns)
    }
}

/// `ns-on-a-processor ns-waited turns`
fn parse_wait(text: &str) -> Option<u64> {
    text.split_whitespace().nth(1)?.parse().ok()
}

/// Bytes of calls and of storage, `[read, write]`.
pub(super) fn parse_io(text: &str) -> Option<([u64; 2], [u64; 2])> {
    let figure = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
    Some(([figure("rchar:")?, figure("wchar:")?], [figure("read_bytes:")?, figure("write_bytes:")?]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::block::fixture::tree;
    use std::fs;

    const IO: &str = "rchar: 6976\nwchar: 12\nsyscr: 10\nsyscw: 3\nread_bytes: 4096\nwrite_bytes: 8192\n\
                      cancelled_write_bytes: 0\n";

    #[test]
    fn bytes_of_calls_and_of_storage() {
        assert_eq!(parse_io(IO), Some(([6976, 12], [4096, 8192])));
        assert_eq!(parse_io("rchar: 1\n"), None, "half a file is no file");
    }

    #[test]
    fn counters_grow_from_the_first_reading() {
        let tree = tree();
        let task = |thread: u32, text: &str| {
            let directory = tree.look.proc.join(format!("self/task/{thread}"));
            fs::create_dir_all(&directory).unwrap();
            fs::write(directory.join("schedstat"), text).unwrap();
        };
        fs::write(tree.look.proc.join("self/io"), IO).unwrap();
        task(7, "500 100 3\n");
        task(8, "500 50 3\n");
        let mut meter = ProcessMeter::new(true);
        let first = meter.read(&tree.look).unwrap();
        assert_eq!((first.call_bytes, first.run_queue_wait_ns), ([0, 0], Some(0)));

        fs::write(tree.look.proc.join("self/io"), IO.replace("6976", "7000").replace("8192", "9000")).unwrap();
        fs::remove_dir_all(tree.look.proc.join("self/task/8")).unwrap();
        meter.add_wait(ThreadWait { thread: 8, wait_ns: 75 });
        task(7, "600 110 4\n");
        task(9, "1 4 1\n");
        let second = meter.read(&tree.look).unwrap();
        assert_eq!((second.call_bytes, second.storage_bytes), ([24, 0], [0, 808]));
        assert_eq!(second.run_queue_wait_ns, Some(10 + 25 + 4), "the thread that has gone counts to its end");

        task(8, "1 2 1\n");
        let third = meter.read(&tree.look).unwrap();
        assert_eq!(third.run_queue_wait_ns, Some(10 + 25 + 4 + 2), "its number went to another");
    }

    #[test]
    fn without_statistics_the_wait_is_unknown() {
        let tree = tree();
        fs::write(tree.look.proc.join("self/io"), IO).unwrap();
        assert_eq!(ProcessMeter::new(true).read(&tree.look).unwrap().run_queue_wait_ns, None);
        let hidden = super::super::tests::empty();
        assert!(ProcessMeter::new(false).read(&hidden.look).unwrap_err().place.ends_with("self/io"));
    }

    #[test]
    fn this_thread() {
        match wait_of_this_thread() {
            Some(wait) => assert!(wait.thread > 0),
            None => eprintln!("skipped: no /proc/thread-self/schedstat"),
        }
    }
}
