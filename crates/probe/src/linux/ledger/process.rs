//! Counters of this process: bytes and CPU time. Also the time in which a thread waited for a processor.

use fsdyno_results::ReadWrite;
use fsdyno_results::evidence::ProcessCounters;
use rustix::fs::{Mode, OFlags, open};
use rustix::thread::ClockId;

use super::growth::growth;
use crate::linux::{Look, read_text};
use crate::{Fact, NotVisible};

/// Time in which the calling thread was runnable and waited for a processor, ns; `None`: not visible. It does not
/// allocate, because a worker calls it in the middle of its run.
pub fn wait_of_this_thread_ns() -> Option<u64> {
    let file = open(c"/proc/thread-self/schedstat", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    // Room for three numbers of at most twenty digits.
    let mut text = [0; 64];
    let length = rustix::io::read(&file, &mut text).ok()?;
    parse_wait(std::str::from_utf8(&text[..length]).ok()?)
}

#[derive(Debug, Default)]
pub(super) struct ProcessMeter {
    first: Option<ProcessCounters>,
}

impl ProcessMeter {
    pub(super) fn read(&mut self, look: &Look) -> Fact<ProcessCounters> {
        let place = look.proc.join("self/io");
        let text = read_text(&place)?;
        let (call_bytes, storage_bytes) =
            parse_io(&text).ok_or_else(|| NotVisible::new(place.display(), "its four byte counters are missing"))?;
        let used = rustix::time::clock_gettime(ClockId::ProcessCPUTime);
        let now = ProcessCounters {
            call_bytes,
            storage_bytes,
            cpu_ns: used.tv_sec as u64 * 1_000_000_000 + used.tv_nsec as u64,
        };
        let first = *self.first.get_or_insert(now);
        Ok(ProcessCounters {
            call_bytes: now.call_bytes.since(first.call_bytes),
            storage_bytes: now.storage_bytes.since(first.storage_bytes),
            cpu_ns: growth(first.cpu_ns, now.cpu_ns),
        })
    }
}

/// `ns-on-a-processor ns-waited turns`
fn parse_wait(text: &str) -> Option<u64> {
    text.split_whitespace().nth(1)?.parse().ok()
}

/// Bytes of read and write calls, then bytes of storage.
pub(super) fn parse_io(text: &str) -> Option<(ReadWrite<u64>, ReadWrite<u64>)> {
    let figure = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
    let calls = ReadWrite { read: figure("rchar:")?, write: figure("wchar:")? };
    Some((calls, ReadWrite { read: figure("read_bytes:")?, write: figure("write_bytes:")? }))
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
        assert_eq!(parse_io(IO), Some(([6976, 12].into(), [4096, 8192].into())));
        assert_eq!(parse_io("rchar: 1\n"), None, "half a file is no file");
    }

    #[test]
    fn counters_grow_from_the_first_reading() {
        let tree = tree();
        fs::write(tree.look.proc.join("self/io"), IO).unwrap();
        let mut meter = ProcessMeter::default();
        assert_eq!(meter.read(&tree.look).unwrap().call_bytes, ReadWrite::default());
        fs::write(tree.look.proc.join("self/io"), IO.replace("6976", "7000").replace("8192", "9000")).unwrap();
        let second = meter.read(&tree.look).unwrap();
        assert_eq!((second.call_bytes, second.storage_bytes), ([24, 0].into(), [0, 808].into()));
        let hidden = super::super::tests::empty();
        assert!(ProcessMeter::default().read(&hidden.look).unwrap_err().place.ends_with("self/io"));
    }

    #[test]
    fn waiting_is_the_second_number() {
        assert_eq!(parse_wait("500 110 3\n"), Some(110));
        assert_eq!(parse_wait("500\n"), None);
        let Some(before_ns) = wait_of_this_thread_ns() else { return eprintln!("skipped: no schedstat here") };
        assert!(wait_of_this_thread_ns().unwrap() >= before_ns);
    }
}
