//! Lists where this binary may differ from Debian's fio 3.33, and why.
//!
//! Chosen differences are in [`fsdyno_job::differences`], which COMPAT.md shows; a case names its row by its text.
//! Differences between 3.42, which is followed, and 3.33, which is installed, are here.

use fsdyno_job::differences::{Difference, differences};

use crate::document::Node;

/// The chosen difference whose row begins with `written`.
pub(crate) fn chosen(written: &str) -> &'static Difference {
    let row = differences().find(|difference| difference.written.starts_with(written));
    row.unwrap_or_else(|| panic!("no row of job::differences begins with {written:?}"))
}

/// Keys of the JSON document that 3.42 has and 3.33 lacks.
const ADDED_KEYS: &[&str] = &[
    "jobs[].read.prios[].priohint",
    "jobs[].write.prios[].priohint",
    "jobs[].job_start",
    "jobs[].write.zone_resets",
    "jobs[].latency_target_ns",
    "jobs[].latency_window_us",
    "disk_util[].read_sectors",
    "disk_util[].write_sectors",
];

/// A key of the document that 3.42 added.
pub(crate) fn is_added_key(path: &str) -> bool {
    ADDED_KEYS.contains(&path)
}

/// Words of 3.33 and their replacement in 3.42; applied to both reports.
const REWORDED: &[(&str, &str)] =
    &[("; 0 zone resets", ""), ("fsync/fdatasync/sync_file_range:", "fsync/fdatasync/sync_file_range/syncfs:")];

/// Flags without a value have the value "" in the document of 3.42, and are missing in that of 3.33.
pub(crate) fn is_valueless_flag(path: &str, value: &Node) -> bool {
    path.ends_with("options") && *value == Node::Text(String::new())
}

/// A line of 3.33's normal report in the words of 3.42, without what 3.42 adds: the sectors in the disk line, the units
/// of a latency target, the hints of priorities.
pub(crate) fn reword(line: &str) -> String {
    let mut line = line.to_owned();
    for (old, new) in REWORDED {
        line = line.replace(old, new);
    }
    for (from, to) in [(", sectors=", ", merge="), (": target=", ", percentile=")] {
        if let (Some(start), Some(end)) = (line.find(from), line.find(to))
            && start < end
        {
            line.replace_range(start..end, "");
        }
    }
    if let Some((start, rest)) = line.split_once(" prio ")
        && let Some((priority, end)) = rest.split_once(' ')
    {
        let numbers: Vec<&str> = priority.split('/').take(2).collect();
        line = format!("{start} prio {} {end}", numbers.join("/"));
    }
    line
}

/// Our normal report without the block that fio lacks.
pub(crate) fn without_remarks(report: &str) -> &str {
    let report = report.split("\nFindings and notes (fsdyno):\n").next().unwrap_or_default();
    report.split("\nLateness (fsdyno):\n").next().unwrap_or_default()
}

/// Removes the object that fio lacks from our document.
pub(crate) fn take_remarks(document: &mut Node) {
    if let Node::Object(entries) = document {
        entries.retain(|(key, _)| key != "fsdyno");
    }
}

/// A line on stdout that is a message, not a part of the report: ours go to stderr, so that a document on stdout is
/// always valid.
pub(crate) fn is_message(line: &str) -> bool {
    ["fio: ", "note: "].iter().any(|start| line.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_by_what_is_written() {
        assert!(chosen("size=1.5g").here.contains("error"));
        assert!(std::panic::catch_unwind(|| chosen("no such row")).is_err());
    }

    #[test]
    fn the_words_of_333_become_those_of_342() {
        let disk = "  vda: ios=0/0, sectors=0/0, merge=0/0, ticks=0/0, in_queue=0, util=0.00%";
        assert_eq!(reword(disk), "  vda: ios=0/0, merge=0/0, ticks=0/0, in_queue=0, util=0.00%");
        assert_eq!(reword("  write: IOPS=1; 0 zone resets"), "  write: IOPS=1");
        let of_target = |target: &str| reword(&format!("     latency   : target={target}, percentile=99.00%, depth=4"));
        assert_eq!(of_target("10000000, window=0"), of_target("10.00ms, window=0.00ns"));
    }
}
