//! T28: requests that reached the storage in another size.

use fsdyno_results::evidence::StorageClass;
use fsdyno_results::{Finding, Severity};

use crate::evidence::{Evidence, Flow, JobInStage, Stage, Transfer};
use crate::explanation::Explanation;
use crate::report::Report;
use crate::units::{number, size};

pub(crate) const ID: &str = "request-size";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T28",
    title: "The device got requests of another size",
    happens: "The kernel splits large requests (max_sectors_kb), NFS splits them to rsize and wsize, FUSE to 128 KiB, \
              and a fragmented file makes many small ones. Readahead reads much more than a random reader requests. \
              The number belongs to the requests that arrived.",
    seen: "For jobs that run alone on a disk, from 64 requests on. Direct I/O of one block size: the device's mean \
           request is half of the block size or less for reads, an eighth for writes (the journal's writes count \
           too). Buffered random reads: the device read at least twice as much as the job. Information; a caution if \
           the pieces are an eighth of the block or smaller and the device takes larger ones.",
    advice: "Compare with tests at the size that arrives. For small pieces look at the file's extents (filefrag -v). \
             For readahead use --direct=1 or --fadvise_hint=random.",
    documented: "linux Documentation/block/queue-sysfs.rst; nfs(5), rsize; JuiceFS performance evaluation guide",
};

/// Arrived size divided by the requested size.
const SMALLER: f64 = 0.5;
/// Smaller pieces are not explained by size limits.
const PIECES: f64 = 0.125;
/// Bytes that the device read divided by those that the job read.
const AMPLIFIED: f64 = 2.0;
/// Least number of requests to judge.
const REQUESTS_MIN: u64 = 64;

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let on_disk = evidence.flows().filter(|(stage, _, _)| {
        matches!(stage.class(), Some(StorageClass::Block | StorageClass::Device)) && stage.rows.len() == 1
    });
    on_disk.filter_map(|(stage, row, flow)| cut(row, flow).or_else(|| amplified(stage, row, flow))).collect()
}

fn cut(row: &JobInStage<'_>, flow: &Flow<'_>) -> Option<Finding> {
    let direction = if row.reads() { Transfer::Read } else { Transfer::Write };
    let (smallest, largest) = row.first().setup.block_sizes[direction.into()];
    let done = &flow.device.as_ref()?.done;
    let requests = done.operations[direction];
    if row.direct() != Some(true) || row.reads() == row.writes() || smallest != largest || requests < REQUESTS_MIN {
        return None;
    }
    let arrived = done.bytes[direction] as f64 / requests as f64;
    let asked = largest as f64;
    // Small requests of journal and metadata must not be what lowers the mean.
    let all_there = done.bytes[direction] as f64 >= flow.application.bytes[direction] as f64 * 0.9;
    if arrived > asked * SMALLER || !all_there || (row.writes() && arrived > asked * PIECES) {
        return None;
    }
    let takes = row.storage?.devices.value()?.iter().filter_map(|device| device.max_request_bytes).min();
    let pieces = arrived <= asked * PIECES && takes.is_some_and(|takes| takes as f64 >= arrived * 2.0);
    let severity = if pieces { Severity::Caution } else { Severity::Info };
    let cause =
        format!("block size {}, but the device got {} per request on average", size(largest), size(arrived as u64));
    let report = Report::new(ID, severity, row.name).number("block size", asked, "B").number(
        "mean request of the device",
        arrived,
        "B",
    );
    Some(report.says(
        cause,
        format!("look at the file's extents (filefrag -v), or test with --bs={}k", (arrived / 1024.0).max(1.0) as u64),
    ))
}

fn amplified(stage: &Stage<'_>, row: &JobInStage<'_>, flow: &Flow<'_>) -> Option<Finding> {
    let (asked, moved) = (flow.application.bytes.read, flow.device.as_ref()?.done.bytes.read);
    // Only what the kernel read for this run: others have a finding of their own.
    let ours = flow.process?.storage_bytes.read.min(moved);
    let times = ours as f64 / asked as f64;
    if !row.reads() || !row.buffered() || !row.random() || asked == 0 || times < AMPLIFIED {
        return None;
    }
    let cause = format!(
        "{} read by the job at random, {} by the device ({} times): readahead{}",
        size(asked),
        size(ours),
        number(times),
        stage.shared_figures_note()
    );
    let report = Report::new(ID, Severity::Info, row.name)
        .bytes("bytes read by the job", asked)
        .bytes("bytes read for it", ours);
    Some(report.says(cause, "add --direct=1, or --fadvise_hint=random"))
}
