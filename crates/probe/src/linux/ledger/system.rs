//! Counters of the whole machine: dirty memory and memory under write-back, CPU time, pressure.

use fsdyno_results::evidence::SystemCounters;

use super::growth::growth;
use super::reclaim::Reclaim;
use super::throttle::Throttle;
use crate::linux::{Look, read_text};

/// The machine's counters; a counter that is not visible is `None`.
#[derive(Debug)]
pub(super) struct SystemMeter {
    throttle: Option<Throttle>,
    reclaim: Option<Reclaim>,
    ticks_per_s: u64,
    first: Option<SystemCounters>,
}

impl SystemMeter {
    pub(super) fn begin(look: &Look) -> SystemMeter {
        let ticks_per_s = rustix::param::clock_ticks_per_second();
        SystemMeter { throttle: Throttle::find(look), reclaim: Reclaim::find(look), ticks_per_s, first: None }
    }

    pub(super) fn read(&mut self, look: &Look) -> SystemCounters {
        let mut now = SystemCounters::default();
        [now.dirty_bytes, now.writeback_bytes, now.available_bytes] = memory(look);
        if let Some([busy, steal, total]) = read_text(&look.proc.join("stat")).ok().and_then(|text| parse_ticks(&text))
        {
            let ms = |ticks: u64| Some(ticks.saturating_mul(1000) / self.ticks_per_s.max(1));
            (now.busy_ms, now.steal_ms, now.total_ms) = (ms(busy), ms(steal), ms(total));
        }
        if let Some((count, us)) = self.throttle.as_ref().and_then(Throttle::read) {
            (now.throttled_count, now.throttled_us) = (Some(count), Some(us));
        }
        now.memory_limit_hits = self.reclaim.as_ref().and_then(Reclaim::read);
        now.io_pressure_us = read_text(&look.proc.join("pressure/io")).ok().and_then(|text| parse_pressure(&text));
        let first = self.first.get_or_insert_with(|| now.clone());
        let grown = |then: Option<u64>, now: Option<u64>| then.zip(now).map(|(then, now)| growth(then, now));
        SystemCounters {
            busy_ms: grown(first.busy_ms, now.busy_ms),
            steal_ms: grown(first.steal_ms, now.steal_ms),
            total_ms: grown(first.total_ms, now.total_ms),
            throttled_count: grown(first.throttled_count, now.throttled_count),
            throttled_us: grown(first.throttled_us, now.throttled_us),
            memory_limit_hits: grown(first.memory_limit_hits, now.memory_limit_hits),
            io_pressure_us: grown(first.io_pressure_us, now.io_pressure_us),
            // These are states and not counters.
            dirty_bytes: now.dirty_bytes,
            writeback_bytes: now.writeback_bytes,
            available_bytes: now.available_bytes,
        }
    }
}

/// Memory that programs can get before the machine begins to swap, bytes.
pub(crate) fn available_memory_bytes(look: &Look) -> Option<u64> {
    let [_, _, available_bytes] = memory(look);
    available_bytes
}

/// Memory that is dirty, under write-back, and available; bytes.
fn memory(look: &Look) -> [Option<u64>; 3] {
    read_text(&look.proc.join("meminfo")).map_or([None; 3], |text| parse_memory(&text))
}

fn parse_memory(text: &str) -> [Option<u64>; 3] {
    ["Dirty:", "Writeback:", "MemAvailable:"].map(|name| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
    })
}

/// Busy, steal and all ticks of the first line: `cpu user nice system idle iowait irq softirq steal guest …`. Guest
/// times are part of user and nice.
fn parse_ticks(text: &str) -> Option<[u64; 3]> {
    let line = text.lines().next()?.strip_prefix("cpu ")?;
    let ticks: Vec<u64> = line.split_whitespace().map_while(|word| word.parse().ok()).collect();
    let [user, nice, system, idle, iowait, irq, softirq, steal, ..] = ticks[..] else { return None };
    let busy = user + nice + system + irq + softirq;
    Some([busy, steal, busy + steal + idle + iowait])
}

/// Time of `some`, in which at least one task waited, µs.
fn parse_pressure(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("some "))?;
    line.split_whitespace().find_map(|word| word.strip_prefix("total="))?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::block::fixture::tree;
    use std::fs;

    const MEMORY: &str = "MemTotal:       24684092 kB\nMemFree:         1000000 kB\nMemAvailable:   23933736 kB\n\
                          Dirty:             37012 kB\nWriteback:             8 kB\nWritebackTmp:          5 kB\n";

    #[test]
    fn memory() {
        assert_eq!(parse_memory(MEMORY), [Some(37012 << 10), Some(8 << 10), Some(23_933_736 << 10)]);
        assert_eq!(parse_memory("MemTotal: 1 kB\n"), [None; 3]);
    }

    #[test]
    fn processors() {
        let text = "cpu  1219085 10814 251971 824011 45980 0 9912 2911 5 0\ncpu0 1 2 3\n";
        let busy = 1_219_085 + 10_814 + 251_971 + 9912;
        assert_eq!(parse_ticks(text), Some([busy, 2911, busy + 2911 + 824_011 + 45_980]));
        assert_eq!(parse_ticks("cpu  1 2 3 4\n"), None, "kernels before 2.6.11 had no steal");
        assert_eq!(parse_ticks("intr 5\n"), None);
    }

    #[test]
    fn pressure() {
        let text = "some avg10=1.50 avg60=0.51 avg300=0.66 total=642933503\nfull avg10=0.79 avg60=0 avg300=0 total=3\n";
        assert_eq!(parse_pressure(text), Some(642_933_503));
        assert_eq!(parse_pressure(""), None);
    }

    #[test]
    fn counters_grow_and_states_are_as_they_are() {
        let tree = tree();
        let write = |name: &str, text: &str| {
            fs::create_dir_all(tree.look.proc.join("pressure")).unwrap();
            fs::write(tree.look.proc.join(name), text).unwrap();
        };
        let mut meter = SystemMeter { throttle: None, reclaim: None, ticks_per_s: 100, first: None };
        assert_eq!(available_memory_bytes(&tree.look), None, "there is no such file");
        write("meminfo", MEMORY);
        assert_eq!(available_memory_bytes(&tree.look), Some(23_933_736 << 10));
        write("stat", "cpu  100 0 0 100 0 0 0 5 0 0\n");
        write("pressure/io", "some avg10=0 total=10\n");
        let first = meter.read(&tree.look);
        assert_eq!((first.busy_ms, first.steal_ms, first.io_pressure_us), (Some(0), Some(0), Some(0)));
        assert_eq!((first.dirty_bytes, first.throttled_us), (Some(37012 << 10), None));
        write("stat", "cpu  103 0 0 105 0 0 0 6 0 0\n");
        write("pressure/io", "some avg10=0 total=17\n");
        let second = meter.read(&tree.look);
        assert_eq!((second.busy_ms, second.steal_ms, second.total_ms), (Some(30), Some(10), Some(90)));
        assert_eq!((second.io_pressure_us, second.dirty_bytes), (Some(7), Some(37012 << 10)));
    }

    #[test]
    fn a_machine_that_shows_nothing() {
        let hidden = super::super::tests::empty();
        assert_eq!(SystemMeter::begin(&hidden.look).read(&hidden.look), SystemCounters::default());
    }
}
