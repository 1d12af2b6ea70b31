//! T48: a timed command did not do the same everywhere.

use fsdyno_results::evidence::StorageClass;
use fsdyno_results::{Finding, Row, Severity, Study, TreeRecord};
use fsdyno_stats::median;

use crate::explanation::Explanation;
use crate::report::Report;
use crate::units::{percent, size};

pub(crate) const ID: &str = "work-differs";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T48",
    title: "The command did not do the same work",
    happens: "A command may work differently on another storage, or in another round. `cp` shares blocks on xfs and \
              btrfs and copies them on ext4. `git status` reads files again unless it is sure that they are unchanged. \
              A build finds files of an earlier build. Then the times are those of different work.",
    seen: "Bytes that the command's calls read and wrote, pipes included, in the median run on each place and in each \
           run on one place. A caution if they differ by more than 5 % and 256 KiB, from place to place or from run to \
           run. Mapped files are not counted. If the calls are equal, the bytes that were made dirty are compared, on \
           disks and network filesystems. A caution if one place has less than an eighth of the other's, and of the \
           bytes that the calls wrote: it copied by reference (`copy_file_range`).",
    advice: "Compare the command's output on both places (`printed` in `fsdyno show --json`), and forbid the shortcut: \
             `cp --reflink=never`, `git clone file://...` in place of a path.",
    documented: "proc(5), /proc/PID/io; ioctl_ficlonerange(2)",
};

/// A larger share is not explained by what the shell itself reads.
const SHARE: f64 = 0.05;
/// Fewer bytes are the start of programs.
const BYTES_MIN: f64 = 256.0 * 1024.0;

fn differ(one: f64, other: f64) -> bool {
    let apart = (one - other).abs();
    apart > BYTES_MIN && apart > SHARE * one.max(other)
}

/// If one place got less than this share of the other's written bytes, files were copied by reference.
const SHARED: f64 = 1.0 / 8.0;

/// Whether one of two places shares blocks. `called`: bytes that the calls wrote; `one`, `other`: bytes that became
/// dirty on each place. The calls alone do not show it: `copy_file_range` does not count the bytes that it moved.
fn shares(called: f64, one: f64, other: f64) -> bool {
    let least = one.min(other);
    differ(one, other) && least < SHARED * one.max(other) && least < SHARED * called
}

/// The findings with the index of their row.
pub(crate) fn find(study: &Study) -> Vec<(usize, Finding)> {
    let called = |tree: &TreeRecord| Some(tree.call_bytes?.sum() as f64);
    let written = |tree: &TreeRecord| Some(tree.call_bytes?.write as f64);
    let dirty = |tree: &TreeRecord| Some(tree.storage_bytes?.write as f64);
    // The kernel counts no dirty bytes in memory and behind a daemon.
    let counts =
        |target: usize| matches!(study.targets[target].storage.class, StorageClass::Block | StorageClass::Network);
    let mut found = Vec::new();
    for pattern in study.patterns() {
        let of_target = |target: usize, figure: &dyn Fn(&TreeRecord) -> Option<f64>| {
            let runs = study.repeats(target, pattern).filter(|row| row.first_error().is_none());
            median(&runs.filter_map(|row| figure(row.tree.as_ref()?)).collect::<Vec<_>>())
        };
        let Some(base) = of_target(0, &called) else { continue };
        // A run that failed has no figures, and its error says why it did less.
        let is_judged = |(_, row): &(usize, &Row)| row.pattern == pattern && row.first_error().is_none();
        for (index, row) in study.rows.iter().enumerate().filter(is_judged) {
            let usual = |figure: &dyn Fn(&TreeRecord) -> Option<f64>| of_target(row.target, figure);
            let (Some(own), Some(calls)) = (row.tree.as_ref().and_then(called), usual(&called)) else { continue };
            let on_base =
                |base: f64| format!("in the median run here and {} on {}", size(base as u64), study.targets[0].name);
            let (dirty_here, dirty_base) =
                (usual(&dirty).unwrap_or_default(), of_target(0, &dirty).unwrap_or_default());
            let both_count = counts(0) && counts(row.target);
            let (verb, one, other, what) = if differ(calls, base) {
                ("moved", calls, base, on_base(base))
            } else if differ(own, calls) {
                ("moved", own, calls, format!("in this run and {} in the median run", size(calls as u64)))
            } else if both_count && shares(usual(&written).unwrap_or_default(), dirty_here, dirty_base) {
                ("had storage write", dirty_here, dirty_base, on_base(dirty_base))
            } else {
                continue;
            };
            let (moved, share) = (size(one as u64), percent((one - other).abs() / one.max(other)));
            let cause =
                format!("the command's calls {verb} {moved} {what}, {share} apart: it did not do the same work");
            let report = Report::new(ID, Severity::Caution, pattern);
            let next = "compare what it printed, and forbid its shortcuts, such as `cp --reflink=never`";
            found.push((index, report.number("bytes of calls", own, "B").says(cause, next)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use fsdyno_results::{Question, ReadWrite, RunRecord, Target};

    use super::*;

    /// A study with the bytes that calls moved in three rounds on each place.
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

    #[test]
    fn the_same_calls_may_share_blocks_on_one_place() {
        const MB: u64 = 1_000_000;
        let found = |dirty: [u64; 2], classes: [StorageClass; 2]| {
            let mut study = study(&[[17 * MB; 3], [17 * MB; 3]]);
            for row in &mut study.rows {
                let tree = row.tree.as_mut().unwrap();
                tree.call_bytes = Some(ReadWrite { read: 9 * MB, write: 8 * MB });
                tree.storage_bytes = Some(ReadWrite { read: 0, write: dirty[row.target] });
            }
            study.targets.iter_mut().zip(classes).for_each(|(target, class)| target.storage.class = class);
            find(&study).len()
        };
        let disks = [StorageClass::Block; 2];
        assert_eq!((found([8 * MB, 16_384], disks), found([16_384, 8 * MB], disks)), (3, 3));
        assert_eq!(found([8 * MB, 12 * MB], disks), 0, "each filesystem adds what it needs");
        assert_eq!(found([40 * MB, 7 * MB], disks), 0, "all that was written is there");
        assert_eq!(found([8 * MB, 0], [StorageClass::Block, StorageClass::Memory]), 0, "nothing is counted in memory");
    }
}
