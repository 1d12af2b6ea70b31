//! T18: several jobs on the same bytes.

use fsdyno_results::evidence::StorageClass;
use fsdyno_results::{Finding, JobRecord, Severity};

use crate::evidence::{BYTES_MIN, Evidence, Flow, JobInStage, Stage};
use crate::explanation::Explanation;
use crate::report::Report;
use crate::units::size;

pub(crate) const ID: &str = "shared-file";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T18",
    title: "Several jobs use the same bytes",
    happens: "With numjobs and one filename every job starts at the same byte. The first job brings the data into a \
              cache, and the others find them there: four jobs seem to read four times what the device delivered. \
              Several writers of one file wait for each other instead.",
    seen: "Before the run, from the files and ranges of the jobs: a caution; for random I/O only with the page cache. \
           After the run the bytes that the jobs read are compared with those that the device delivered. A caution \
           from one and a half times on; invalid if the device delivered less than half and did read the file. \
           Information if the device delivered all. With direct I/O on a disk every read reaches the device: \
           information only.",
    advice: "Give each job its own file (--directory instead of --filename) or its own range (--offset_increment), or \
             add --direct=1.",
    documented: "fio documentation, numjobs, offset_increment, filename_format; fio issues 1501, 1693",
};

/// Jobs read this multiple of what the device delivered.
const RATIO: f64 = 1.5;
/// The device delivered at least this share of the range once; below it the range was cached before.
const READ_ONCE: f64 = 0.5;
/// If the device delivered less than this share of what was read, no other explanation is left.
const DELIVERED: f64 = 0.5;

pub(crate) fn preflight(evidence: &Evidence<'_>) -> Vec<Finding> {
    evidence.rows().filter_map(|(stage, row)| conflict(stage, row)).collect()
}

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (stage, row) in evidence.rows() {
        let Some(conflict) = conflict(stage, row) else { continue };
        match stage.flow.as_ref().map(|flow| judge(stage, row, flow)) {
            Some(Judgement::Shared(finding)) => found.push(*finding),
            Some(Judgement::Delivered) => found.push(Finding { severity: Severity::Info, ..conflict }),
            Some(Judgement::Unknown) | None => found.push(conflict),
        }
    }
    found
}

/// The workers of the stage that touch bytes of the row's first worker, including itself.
fn sharers<'r>(stage: &Stage<'r>, row: &JobInStage<'r>) -> Vec<&'r JobRecord> {
    let first = row.first();
    stage.rows.iter().flat_map(|row| row.workers.iter().copied()).filter(|other| overlap(first, other)).collect()
}

fn overlap(first: &JobRecord, other: &JobRecord) -> bool {
    let range = |job: &JobRecord| {
        let each = job.plan.span_bytes.map(|span| span / job.plan.file_count.max(1));
        (job.plan.offset_bytes, each.map_or(u64::MAX, |each| job.plan.offset_bytes.saturating_add(each)))
    };
    let ((from, to), (other_from, other_to)) = (range(first), range(other));
    let same_bytes = from < other_to && other_from < to;
    // Random readers of overlapping parts read the same blocks by chance; sequential ones only if they start together.
    let meet = from == other_from || (first.setup.access.random && other.setup.access.random);
    same_bytes && meet && first.plan.files.iter().any(|file| other.plan.files.contains(file))
}

fn conflict(stage: &Stage<'_>, row: &JobInStage<'_>) -> Option<Finding> {
    let plan = &row.first().plan;
    let jobs = sharers(stage, row).len();
    let direct_on_disk =
        row.direct() == Some(true) && matches!(row.class(), StorageClass::Block | StorageClass::Device);
    // Databases do random I/O of several jobs on one file; it is a trap only with a cache.
    if jobs < 2 || row.class() == StorageClass::Memory || (row.random() && (!row.buffered() || !row.reads())) {
        return None;
    }
    let severity = if direct_on_disk { Severity::Info } else { Severity::Caution };
    let file = plan.files.first().map_or("one file", String::as_str);
    let cause = if row.reads() {
        format!("{jobs} jobs read the same bytes of {file}: one job fills the cache, the others read from it")
    } else {
        format!(
            "{jobs} jobs write the same bytes of {file}: they count {jobs} times what is stored, and wait for each \
             other"
        )
    };
    let report = Report::new(ID, severity, row.name).number("jobs on the same bytes", jobs as f64, "jobs");
    Some(report.says(cause, next(row)))
}

fn next(row: &JobInStage<'_>) -> &'static str {
    match row.storage {
        _ if row.buffered() && row.reads() && row.workers.len() < 2 => "add --direct=1, or give each job its own file",
        _ => "use --directory instead of --filename, so that each job has its own file; or --offset_increment",
    }
}

enum Judgement {
    Shared(Box<Finding>),
    Delivered,
    Unknown,
}

fn judge(stage: &Stage<'_>, row: &JobInStage<'_>, flow: &Flow<'_>) -> Judgement {
    let (Some(storage), Some(span)) = (&flow.storage.read, row.span_bytes()) else { return Judgement::Unknown };
    let (asked, delivered) = (flow.application.bytes.read as f64, storage.bytes as f64);
    if !row.reads() || asked < BYTES_MIN as f64 || !stage.reads_are_the_workload() || storage.shared {
        return Judgement::Unknown;
    }
    if asked < delivered * RATIO {
        return Judgement::Delivered;
    }
    let once = asked.min(span as f64);
    if delivered < once * READ_ONCE || !row.buffered() {
        return Judgement::Unknown;
    }
    let severity = if delivered < asked * DELIVERED { Severity::Invalid } else { Severity::Caution };
    let jobs = sharers(stage, row).len();
    let cause = format!(
        "{jobs} jobs read {} together, {} delivered {}: the same bytes {:.1} times{}",
        size(asked as u64),
        storage.witness,
        size(delivered as u64),
        asked / delivered,
        stage.shared_figures_note()
    );
    let finding = Report::new(ID, severity, row.name)
        .number("jobs on the same bytes", jobs as f64, "jobs")
        .number("bytes read by the jobs", asked, "B")
        .number("bytes read by the device", delivered, "B")
        .says(cause, next(row));
    Judgement::Shared(Box::new(finding))
}
