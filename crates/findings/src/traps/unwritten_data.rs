//! T1: reads of blocks that were never written.

use fsdyno_results::evidence::FileState;
use fsdyno_results::{Finding, Severity};

use crate::evidence::{Evidence, Moved};
use crate::explanation::Explanation;
use crate::report::Report;
use crate::units::{percent, size};

pub(crate) const ID: &str = "unwritten-data";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T1",
    title: "The file read was never written",
    happens: "A file that was only allocated (fallocate), extended (truncate) or partly written has ranges without \
              data. The filesystem answers reads of them with zeros from memory, with or without direct I/O. The \
              device is never asked. ls and du show the full size.",
    seen: "The extent map of the files before the first I/O (FIEMAP: unwritten extents and holes) and the bytes that \
           the device delivered. Reported if a tenth or more of what the job reads may be unwritten. Invalid if the \
           device delivered less than half of it; dropped if it delivered 95 %, as the map was outdated. Otherwise, \
           and without a visible device, a caution.",
    advice: "Let fsdyno lay out the file: remove it and run again. Or write it completely once, with --rw=write \
             --bs=1M --end_fsync=1. Do not make test files with fallocate or truncate.",
    documented: "fio issues 719 and 1473; IOR issue 261; linux Documentation/filesystems/fiemap.rst",
};

/// The share of the files without data from which on it is reported: sparse tails and metadata stay below.
const SHARE: f64 = 0.1;
/// If the device delivered less than this share of what was read, no other explanation is left.
const DELIVERED: f64 = 0.5;
/// If the device delivered at least this share of what was read, the extent map was older than the data.
const ALL_DELIVERED: f64 = 0.95;

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (stage, row, flow) in evidence.byte_flows().filter(|(_, row, _)| row.reads()) {
        let number = row.workers.first().map_or(0, |worker| worker.plan.stage);
        let files = evidence.files(row);
        let states: Vec<&FileState> = files.filter_map(|file| file.before_stage(number).value()).collect();
        let Some((total, never)) = never_written(&states) else { continue };
        // A job may read only the hole of a large file: what the device delivered decides.
        let range = row.span_bytes().unwrap_or(total).min(total).max(1);
        let share = never.min(range) as f64 / range as f64;
        let asked = flow.application.bytes.read;
        if share < SHARE || asked == 0 {
            continue;
        }
        // With others' bytes included, only a number that is too small proves something.
        let few = |moved: &&Moved| !moved.shared || (moved.bytes as f64) < asked as f64 * DELIVERED;
        let storage = flow.storage.read.as_ref().filter(few);
        let delivered = storage.map(|storage| storage.bytes as f64 / asked as f64);
        let severity = match delivered {
            Some(delivered) if delivered < DELIVERED => Severity::Invalid,
            Some(delivered) if delivered >= ALL_DELIVERED => continue,
            _ => Severity::Caution,
        };
        let mut report = Report::new(ID, severity, row.name)
            .bytes("bytes of the files", total)
            .bytes("bytes never written", never)
            .bytes("bytes read by the job", asked);
        let mut cause = match range < total {
            true => format!(
                "{} of the {} in the files were never written, and {} are read",
                size(never),
                size(total),
                size(range)
            ),
            false => format!("{} of the {} in the files were never written", percent(share), size(total)),
        };
        if let Some(storage) = storage {
            report = report.bytes("bytes read by the device", storage.bytes);
            cause.push_str(&format!(
                "; {} were read, {} delivered {}{}",
                size(asked),
                storage.witness,
                size(storage.bytes),
                stage.shared_figures_note()
            ));
        }
        let cause = format!("{cause}; such reads return zeros from memory");
        let next = "remove the file and run again to lay it out with data; or write it once with --rw=write --bs=1M \
                    --end_fsync=1";
        found.push(report.says(cause, next));
    }
    found
}

/// Bytes of the files, and those without data; `None`: the filesystem does not report it, or the files are empty.
fn never_written(states: &[&FileState]) -> Option<(u64, u64)> {
    let mut sums = (0u64, 0u64);
    for state in states {
        let written = state.written_bytes?;
        // Of a file with very many extents only the first ones are examined.
        let examined = state.examined_bytes.unwrap_or(state.size_bytes).min(state.size_bytes);
        sums.0 = sums.0.saturating_add(examined);
        sums.1 = sums.1.saturating_add(examined.saturating_sub(written));
    }
    (sums.0 > 0).then_some(sums)
}
