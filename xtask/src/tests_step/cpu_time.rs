//! The CPU time of a test program, so that a reader of the log sees which tests keep a busy machine busy.

use std::time::Duration;

/// The CPU time of a process and of those of its descendants that ended and were waited for. `None`: there is no such
/// process, or no /proc.
pub(super) fn of(process: u32) -> Option<Duration> {
    parse(&std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?)
}

fn parse(stat: &str) -> Option<Duration> {
    // The name, in parentheses, may contain anything. The numbers from utime to cstime are the 14th to the 17th.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: u64 = fields.get(11..15)?.iter().filter_map(|field| field.parse::<u64>().ok()).sum();
    // A tick is 10 ms on each architecture of Linux (USER_HZ).
    Some(Duration::from_millis(10 * ticks))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_and_its_children_count() {
        let stat = "1 (a) b) S 0 1 1 0 -1 4194560 2 2 2 2 150 30 2000 5 20 0 1 0 5 0 0";
        assert_eq!(parse(stat), Some(Duration::from_millis(21_850)));
        assert_eq!(parse("1 (a) S 0"), None);
    }
}
