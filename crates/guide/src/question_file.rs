//! Makes the file that a question reads and overwrites: filled in full, as large as space, memory and time allow.

use std::path::Path;

use fsdyno_results::{Row, RunRecord, Severity, test_name};
use fsdyno_run::StopRule;

use crate::Problem;
use crate::io_mode::{IoMode, memory_for_files};
use crate::nodes::ThisMachine;
use crate::requests::Timing;
use crate::study::{StudyRun, planned_row};
use crate::work_directory::{WorkDirectory, usable_bytes};

/// What the points of a question read and overwrite: a filled file, or the objects of a bucket.
#[derive(Clone, Copy)]
pub(crate) struct FilledTarget<'a> {
    /// The words of a job's line for the engine and its options.
    pub(crate) engine: &'a [String],
    /// Its path or name, as a job's line writes it.
    pub(crate) file: &'a str,
    /// Bytes of the file; of objects each block size has its own.
    pub(crate) size_bytes: u64,
    /// The work directory that it lies in; `None`: it is objects of a bucket.
    pub(crate) work: Option<&'a WorkDirectory>,
    /// For objects, the most requests of one point.
    pub(crate) requests_max: u64,
}

/// A point with fewer requests on each connection shows nothing.
pub(crate) const LEAST_REQUESTS: u64 = 8;

/// Bytes of all objects of one size, and bounds of their number.
const OBJECTS_BYTES: u64 = 128 << 20;
const OBJECTS: (u64, u64) = (16, 256);

/// Connections that write the objects, each as many.
pub(crate) const WRITERS: u64 = 8;

/// The number of objects of a size.
pub(crate) fn objects_of(object_bytes: u64) -> u64 {
    (OBJECTS_BYTES / object_bytes.max(1)).clamp(OBJECTS.0, OBJECTS.1) / WRITERS * WRITERS
}

impl FilledTarget<'_> {
    /// The bytes that requests of a block size use.
    pub(crate) fn bytes_of(&self, block_bytes: u64) -> u64 {
        if self.work.is_some() { self.size_bytes } else { objects_of(block_bytes) * block_bytes }
    }

    /// The part of each of this number of nodes, which use what is theirs at the same time.
    pub(crate) fn among(self, nodes: u32) -> Self {
        FilledTarget { requests_max: self.requests_max / u64::from(nodes.max(1)), ..self }
    }

    /// The words for a number of requests in flight. Each connection to an object store carries one at a time.
    pub(crate) fn at_once(&self, depth: u32) -> String {
        let option = if self.work.is_some() { "iodepth" } else { "numjobs" };
        format!("--{option}={depth}")
    }

    /// The words that end a run over this number of connections or requests in flight.
    pub(crate) fn ends(&self, depth: u32, block_bytes: u64, timing: Timing) -> Vec<String> {
        let runtime = format!("--runtime={}ms", timing.runtime_ms);
        if self.work.is_some() {
            return vec!["--time_based=1".to_owned(), runtime, format!("--ramp_time={}ms", timing.ramp_ms)];
        }
        // Connections stand before the clock starts, and a request in a ramp costs as much as any other.
        let bytes = (self.requests_max / u64::from(depth)).max(1) * block_bytes;
        vec![format!("--io_size={bytes}"), runtime, "--group_reporting=1".to_owned()]
    }

    /// Runs a row on it.
    pub(crate) fn run(&self, study_run: &mut StudyRun<'_>, row: Row, rule: StopRule) -> Result<usize, Problem> {
        study_run.run_row_in(&mut ThisMachine, 1, row, rule, self.work)
    }
}

/// The smallest file that is worth measuring, bytes.
const LEAST_BYTES: u64 = 16 << 20;

/// The largest size of the file, bytes: as asked; else what is wished for, within half of the usable space and, on a
/// filesystem in memory, a quarter of the free memory.
pub(crate) fn largest(study_run: &mut StudyRun<'_>, path: &Path, asked_bytes: Option<u64>, wished_bytes: u64) -> u64 {
    if let Some(asked_bytes) = asked_bytes {
        return asked_bytes;
    }
    // Each rank makes its own file.
    let ranks = u64::from(study_run.control.ranks());
    let usable = usable_bytes(path).map(|usable| usable / 2 / ranks);
    let memory = memory_for_files(&study_run.study.targets[0].storage).map(|memory| memory / ranks);
    let limits = [Some(wished_bytes), usable, memory];
    let size_bytes = limits.into_iter().flatten().min().unwrap_or(wished_bytes);
    // A smaller file measures nothing; if even this does not fit, opening the work directory fails and says so.
    let size_bytes = (size_bytes >> 20 << 20).max(LEAST_BYTES);
    if size_bytes < wished_bytes {
        let text = smaller("the file", [size_bytes, wished_bytes], "not enough free space");
        study_run.note(SIZE_ADAPTED, Severity::Caution, text);
    }
    size_bytes
}

/// The note on files that are smaller than was wished.
pub(crate) const SIZE_ADAPTED: &str = "size-adapted";

/// What that note says.
pub(crate) fn smaller(what: &str, [is_bytes, wished_bytes]: [u64; 2], why: &str) -> String {
    format!("{what} has {} MiB instead of {} MiB: {why}", is_bytes >> 20, wished_bytes >> 20)
}

/// The row that fills the file; filling ends after `limit_s`.
pub(crate) fn row(io_mode: &IoMode, file: &str, size_bytes: u64, limit_s: Option<u32>) -> Row {
    let mut words = vec![
        "--name=fill".to_string(),
        format!("--filename={file}"),
        format!("--size={size_bytes}"),
        "--fallocate=none".to_string(),
    ];
    words.extend(io_mode.words());
    words.extend(["--rw=write", "--bs=1m", "--iodepth=16", "--end_fsync=1"].map(str::to_string));
    words.extend(limit_s.map(|seconds| format!("--runtime={seconds}")));
    planned_row(0, test_name::FILL, "writes the file: 1m sequential write, depth 16", 0, words)
}

/// Runs the row that fills the file. Returns the bytes that may be read from now on, 0 if none.
pub(crate) fn fill(
    study_run: &mut StudyRun<'_>,
    row: Row,
    size_bytes: u64,
    work: &WorkDirectory,
) -> Result<u64, Problem> {
    let row = study_run.run_row(row, StopRule::AsWritten, work)?;
    let record = study_run.study.rows[row].run.as_ref();
    let failed = record.is_none_or(|run| run.jobs.iter().any(|job| job.error.is_some()));
    let written = record.map_or(0, least_of_a_node);
    let whole = written >> 20 << 20;
    if !failed && whole < size_bytes && whole > 0 {
        let text = smaller("the file", [whole, size_bytes], "the storage wrote no more in the first seconds");
        study_run.note(SIZE_ADAPTED, Severity::Info, text);
    }
    Ok(if failed { 0 } else { whole })
}

/// The fewest bytes that a node has written: each of several nodes has its own file.
fn least_of_a_node(run: &RunRecord) -> u64 {
    let of_node = |node| {
        let jobs = run.jobs.iter().filter(|job| job.node == node);
        jobs.map(|job| job.directions.write.bytes).sum::<u64>()
    };
    (0..run.nodes.len()).map(of_node).min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsdyno_results::{JobRecord, JobSetup, Node};
    use testkit::draw::numbers;

    /// The size in the note is what the rows wrote: the least of a node, in whole MiB.
    #[test]
    fn the_note_has_the_size_that_was_written() {
        let mut run = RunRecord::new("fio-3.42-test", 0);
        run.nodes.push(Node::default());
        run.jobs = (0..2).map(|_| JobRecord::new("fill", 1, JobSetup::default())).collect();
        run.jobs[1].node = 1;
        (run.jobs[0].directions.write.bytes, run.jobs[1].directions.write.bytes) = (97 << 20, (35 << 20) + 4096);
        let whole = least_of_a_node(&run) >> 20 << 20;
        let text = smaller("the file", [whole, 1 << 30], "the storage wrote no more in the first seconds");
        assert_eq!(numbers(&text), [35.0, 1024.0], "{text}");
    }
}
