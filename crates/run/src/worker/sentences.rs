//! Words the messages about a worker's end, in fio's words where fio has any.

use fsdyno_drive::{AbandonedRequests, Failure, Survival};
use fsdyno_os::errno::ETIMEDOUT;
use fsdyno_results::{LostRequest, LostRequests};
use fsdyno_workload::Op;

use crate::account::job_error;
use crate::plan::WorkerPlan;

fn file_of(plan: &WorkerPlan, op: &Op) -> String {
    plan.files.get(op.file as usize).map_or("-".into(), |file| fsdyno_job::bytes::shown(&file.path))
}

/// fio's message about a failed request.
#[inline(never)]
pub(super) fn of_failure(plan: &WorkerPlan, failure: &Failure) -> Vec<String> {
    let error = job_error(failure.code, failure.function);
    let mut lines = Vec::new();
    if let Some(op) = &failure.op {
        let (file, kind, offset, length) = (file_of(plan, op), op.kind.word(), op.offset, op.length);
        match &failure.detail {
            Some(detail) => lines.push(format!("fio: {detail}: {file} {kind} {offset} {length}")),
            None => lines.push(format!(
                "fio: io_u error on file {file}: {text}: {kind} offset={offset}, buflen={length}",
                text = error.text
            )),
        }
    } else if let Some(detail) = &failure.detail {
        lines.push(format!("{}: {detail}", plan.job.name));
    }
    lines
}

/// `error_dump`: the errors that the job continued after.
#[inline(never)]
pub(super) fn of_survived(plan: &WorkerPlan, survival: &Survival) -> Vec<String> {
    let failure = |(op, code): &(Op, i32)| {
        of_failure(plan, &Failure { code: *code, function: "io_u error", op: Some(*op), detail: None })
    };
    let mut lines: Vec<String> = survival.listed.iter().flat_map(failure).collect();
    if survival.unlisted > 0 {
        lines.push(format!("fio: {}: {} further errors", plan.job.name, survival.unlisted));
    }
    lines
}

/// Messages about requests that never completed, as far as the record lists them.
#[inline(never)]
pub(super) fn of_lost(plan: &WorkerPlan, lost: &AbandonedRequests) -> Vec<String> {
    let name = &plan.job.name;
    let shown = |op: &Op| {
        let (kind, file, offset, length) = (op.kind.word(), file_of(plan, op), op.offset, op.length);
        format!("{kind} of {file} at offset {offset}, {length} bytes")
    };
    let count = if lost.count == 1 { "a request".to_owned() } else { format!("{} requests", lost.count) };
    let silent = lost.silent.map(|silent| format!(", no answer for {:.0} s", silent.as_secs_f64())).unwrap_or_default();
    let mut ops = lost.oldest.iter();
    let oldest = ops.next().map(|op| format!("; the oldest: {}", shown(op))).unwrap_or_default();
    let mut lines = vec![format!("fio: {name}: {count} never completed{silent}{oldest} (errno {ETIMEDOUT})")];
    let others: Vec<String> = ops.map(shown).collect();
    if !others.is_empty() {
        let unlisted = lost.count - lost.oldest.len();
        let more = if unlisted > 0 { format!("; and {unlisted} more") } else { String::new() };
        lines.push(format!("fio: {name}: the others: {}{more}", others.join("; ")));
    }
    lines
}

/// The lost requests for the record.
#[inline(never)]
pub(super) fn lost_requests(plan: &WorkerPlan, lost: &AbandonedRequests) -> LostRequests {
    let listed = lost.oldest.iter().map(|op| LostRequest {
        kind: op.kind.word().to_owned(),
        file: file_of(plan, op),
        offset: op.offset,
        bytes: op.length,
    });
    LostRequests { count: lost.count as u64, oldest: listed.collect() }
}
