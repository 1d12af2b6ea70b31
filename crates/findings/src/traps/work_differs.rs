//! T48: a timed command did not do the same everywhere.

use results::statistics::median;
use results::{Finding, Row, Severity, Study};

use crate::explanation::Explanation;
use crate::report::Report;
use crate::units::{percent, size};

pub(crate) const ID: &str = "work-differs";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T48",
    title: "The command did not do the same work",
    happens: "A command may take another way on another storage, or in another round. `cp` shares blocks on xfs and btrfs \
              and copies them on ext4. `git status` reads again what it cannot be sure of. A build finds what an earlier \
              one left. Then the times are those of different work.",
    seen: "Bytes that the command's calls read and wrote, pipes included, in the median run on each place and in each run \
           on one place. A caution if they differ by more than 5 % and 256 KiB, from place to place or from run to run. \
           What is mapped is not counted.",
    advice: "Compare the command's output on both places (`fsdyno show --json`, printed), and forbid the shortcut: \
             `cp --reflink=never`, `git clone file://...` in place of a path.",
    documented: "proc(5), /proc/PID/io; ioctl_ficlonerange(2)",
};

/// A share that a shell's own reading does not explain.
const SHARE: f64 = 0.05;
/// Fewer bytes are the programs' start.
const BYTES_MIN: f64 = 256.0 * 1024.0;

fn differ(one: f64, other: f64) -> bool {
    let apart = (one - other).abs();
    apart > BYTES_MIN && apart > SHARE * one.max(other)
}

/// With the index of the row.
pub(crate) fn find(study: &Study) -> Vec<(usize, Finding)> {
    let bytes = |row: &Row| Some(row.tree.as_ref()?.call_bytes?.sum() as f64);
    let mut found = Vec::new();
    for pattern in study.patterns() {
        let of_target = |target: usize| median(&study.repeats(target, pattern).filter_map(bytes).collect::<Vec<_>>());
        let Some(base) = of_target(0) else { continue };
        for (index, row) in study.rows.iter().enumerate().filter(|(_, row)| row.pattern == pattern) {
            let (Some(own), Some(usual)) = (bytes(row), of_target(row.target)) else { continue };
            let (one, other, what) = if differ(usual, base) {
                (usual, base, format!("in the median run here and {} on {}", size(base as u64), study.targets[0].name))
            } else if differ(own, usual) {
                (own, usual, format!("in this run and {} in the median run", size(usual as u64)))
            } else {
                continue;
            };
            let (moved, share) = (size(one as u64), percent((one - other).abs() / one.max(other)));
            let cause = format!("the command's calls moved {moved} {what}, {share} apart: it did not do the same work");
            let report = Report::new(ID, Severity::Caution, pattern);
            let next = "compare what it printed, and forbid its shortcuts, such as `cp --reflink=never`";
            found.push((index, report.number("bytes of calls", own, "B").says(cause, next)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use results::{Question, ReadWrite, RunRecord, Target, TreeRecord};

    use super::*;

    /// Bytes that calls moved in three rounds on each place.
    fn study(places: &[[u64; 3]]) -> Study {
        let tree =
            |bytes| TreeRecord { call_bytes: Some(ReadWrite { read: bytes, write: 0 }), ..TreeRecord::default() };
        let row = |target, round: usize, bytes| Row {
            target,
            pattern: "command".into(),
            round: round as u32,
            tree: Some(tree(bytes)),
            ..Row::default()
        };
        let rows = |(target, rounds): (usize, &[u64; 3])| {
            rounds.iter().enumerate().map(|(round, bytes)| row(target, round, *bytes)).collect::<Vec<_>>()
        };
        Study {
            question: Question::Time,
            targets: ["a", "b"].map(|name| Target { name: name.into(), ..Target::default() }).to_vec(),
            rows: places.iter().enumerate().flat_map(rows).collect(),
            ..Study::of_run(RunRecord::new("fsdyno", 0))
        }
    }

    #[test]
    fn another_place_or_run_with_other_work_is_told_and_start_up_is_not() {
        const MB: u64 = 1_000_000;
        let rows = |places: &[[u64; 3]]| find(&study(places)).into_iter().map(|(row, _)| row).collect::<Vec<_>>();
        assert_eq!(rows(&[[17 * MB; 3], [10_000; 3]]), [3, 4, 5], "it shared blocks on b");
        assert_eq!(rows(&[[17 * MB, 17 * MB, 30 * MB], [17 * MB; 3]]), [2], "one run did more");
        assert!(rows(&[[17 * MB; 3], [17 * MB + 500_000; 3]]).is_empty(), "3 % apart");
        assert!(rows(&[[10_000; 3], [90_000; 3]]).is_empty(), "programs read as they start");
        assert!(find(&study(&[[17 * MB; 3], [10_000; 3]]))[0].1.cause.contains("in the median run here and"));
    }
}
