//! T28: requests that arrived in another size.

use results::evidence::StorageClass;
use results::{Finding, Severity};

use crate::evidence::{Evidence, Flow, READ, Row, Stage, WRITE};
use crate::report::Report;
use crate::story::Story;
use crate::units::{number, size};

pub(crate) const ID: &str = "request-size";

pub(crate) const STORY: Story = Story {
    id: ID,
    trap: "T28",
    title: "The device saw requests of another size",
    happens: "Kernels cut large requests to what the device takes (max_sectors_kb), NFS to rsize and wsize, FUSE to 128 KiB. A scattered file makes many small ones; readahead reads far more than random readers ask for. \
              The number belongs to the requests that arrived, not to those asked for.",
    seen: "Of jobs that run alone on a disk, from 64 requests on. For direct I/O of one block size: bytes over \
           requests of the device, half of the block size or less for reads, an eighth for writes, among which are \
           the journal's. For buffered random reads: the device read twice as much as the job or more. Information; \
           a caution when the pieces are an eighth of the block or smaller and the device would take larger ones.",
    advice: "Compare with tests at the size that arrives. For pieces smaller than the device takes look at the file's \
             extents (filefrag -v); for readahead use --direct=1 or --fadvise_hint=random.",
    documented: "linux Documentation/block/queue-sysfs.rst; nfs(5), rsize; JuiceFS performance evaluation guide",
};

/// Arrived size over asked size.
const SMALLER: f64 = 0.5;
/// Pieces so small are no matter of limits.
const PIECES: f64 = 0.125;
/// Bytes read by the device over bytes read by the job.
const AMPLIFIED: f64 = 2.0;
/// Fewer requests say nothing.
const REQUESTS_MIN: u64 = 64;

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let on_disk = evidence.flows().filter(|(stage, _, _)| {
        matches!(stage.class(), Some(StorageClass::Block | StorageClass::Device)) && stage.rows.len() == 1
    });
    on_disk.filter_map(|(stage, row, flow)| cut(row, flow).or_else(|| amplified(stage, row, flow))).collect()
}

fn cut(row: &Row<'_>, flow: &Flow<'_>) -> Option<Finding> {
    let direction = if row.reads() { READ } else { WRITE };
    let (smallest, largest) = row.first().setup.block_sizes[direction];
    let done = &flow.device.as_ref()?.done;
    let requests = done.operations[direction];
    if row.direct() != Some(true) || (row.reads() && row.writes()) || smallest != largest || requests < REQUESTS_MIN {
        return None;
    }
    let arrived = done.bytes[direction] as f64 / requests as f64;
    let asked = f64::from(largest);
    // Journal and metadata requests are small: they must not be what brings the mean down.
    let all_there = done.bytes[direction] as f64 >= flow.application.bytes[direction] as f64 * 0.9;
    if arrived > asked * SMALLER || !all_there || (row.writes() && arrived > asked * PIECES) {
        return None;
    }
    let takes = row.storage?.devices.value()?.iter().filter_map(|device| device.max_request_bytes).min();
    let pieces = arrived <= asked * PIECES && takes.is_some_and(|takes| takes as f64 >= arrived * 2.0);
    let severity = if pieces { Severity::Caution } else { Severity::Info };
    let cause =
        format!("asked for {} a request, the device saw {} on average", size(u64::from(largest)), size(arrived as u64));
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

fn amplified(stage: &Stage<'_>, row: &Row<'_>, flow: &Flow<'_>) -> Option<Finding> {
    let (asked, moved) = (flow.application.bytes[READ], flow.device.as_ref()?.done.bytes[READ]);
    // Only what the kernel read for us: others have a finding of their own.
    let ours = flow.process?.storage_bytes[READ].min(moved);
    let times = ours as f64 / asked as f64;
    if !row.reads() || !row.buffered() || !row.random() || asked == 0 || times < AMPLIFIED {
        return None;
    }
    let cause = format!(
        "{} read by the job at random, {} by the device ({} times): readahead{}",
        size(asked),
        size(ours),
        number(times),
        stage.together()
    );
    let report = Report::new(ID, Severity::Info, row.name)
        .bytes("bytes read by the job", asked)
        .bytes("bytes read for it", ours);
    Some(report.says(cause, "add --direct=1, or --fadvise_hint=random"))
}
