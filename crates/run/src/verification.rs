//! `verify=`: what a worker verifies, and the phase that reads back what it wrote.
//!
//! The writes are not stored: their sequence is generated a second time. Each read of the verification knows the number
//! of its write, and the block must have that number or a later one: with the last write to each block, only that is
//! possible.

pub(crate) mod state;

use fsdyno_drive::{Ended, Failure, Governor, IssueConditions, JobClock, Loop, LoopParts, Verification, WorkerState};
use fsdyno_job::{BlockSize, Direction, Job, Pacing};
use fsdyno_os::errno::EINVAL;
use fsdyno_results::{Note, Severity};
use fsdyno_workload::{Generator, Seal, WorkloadError, greatest_common_divisor};

use crate::plan::WorkerPlan;

/// The verification of a job that reads data written earlier. The reads of a mix are not verified, as in fio: it is not
/// known whether they come before or after the write of their block.
#[inline(never)]
pub(crate) fn of_reads(plan: &WorkerPlan) -> Option<Verification> {
    let access = plan.job.pattern.access;
    if access.writes || !access.reads {
        return None;
    }
    of_blocks(plan, false)
}

/// The verification of a job that reads back between its writes (`verify_backlog`).
#[inline(never)]
pub(crate) fn of_backlog(plan: &WorkerPlan) -> Option<Verification> {
    plan.workload.backlog?;
    of_blocks(plan, true)
}

fn of_blocks(plan: &WorkerPlan, reads_back: bool) -> Option<Verification> {
    if !plan.job.submission.engine.carries_data() {
        return None;
    }
    let verify = plan.job.verify.as_ref()?;
    Some(Verification::new(seal(plan)?, &plan.job, verify, reads_back))
}

/// The headers of the worker's blocks; `None` without `verify`.
pub(crate) fn seal(plan: &WorkerPlan) -> Option<Seal> {
    let verify = plan.job.verify.as_ref()?;
    let interval = interval(&plan.job).and_then(|bytes| bytes.try_into().ok());
    let seal = Seal::new(verify, &plan.job.content, interval, plan.thread_number, plan.run_mark);
    Some(seal.with_instructions(fsdyno_engine::checksum::crc32c(), fsdyno_engine::fill::stores()))
}

/// Bytes between headers when the job does not say. With several block sizes all of them must be multiples of it, so
/// that a block that is partly overwritten does not look damaged.
fn interval(job: &Job) -> Option<u64> {
    let pattern = &job.pattern;
    if pattern.sizes_by_sequence {
        let drawn = pattern.block_size.iter().filter(|(direction, _)| pattern.sizes_drawn()[*direction]);
        return drawn.map(|(_, size)| size.min()).reduce(greatest_common_divisor);
    }
    let direction = if pattern.access.writes { Direction::Write } else { Direction::Read };
    let sizes = match &pattern.block_size[direction] {
        BlockSize::Fixed(_) => return None,
        BlockSize::Range(..) if job.pattern.unaligned_sizes => return None,
        BlockSize::Range(min, max) => vec![*min, *max],
        BlockSize::Split(parts) => parts.iter().map(|part| part.0).collect(),
    };
    sizes.into_iter().reduce(greatest_common_divisor)
}

/// Whether the worker reads back what it wrote.
pub(crate) fn reads_back(job: &Job) -> bool {
    // A job that writes for its whole runtime has no time left for it; as in fio, which says so before it begins.
    job.pattern.access.writes && !job.extent.time_based && job.verify.as_ref().is_some_and(|verify| verify.read_back)
}

/// Whether the worker ever reads what it wrote.
pub(crate) fn reads_what_it_wrote(plan: &WorkerPlan) -> bool {
    plan.workload.backlog.is_some() || reads_back(&plan.job)
}

/// Whether the worker only verifies, without writing (`verify_only`).
pub(crate) fn only(job: &Job) -> bool {
    job.pattern.access.writes && job.verify.as_ref().is_some_and(|verify| verify.only)
}

/// Whether each pass is read back after its writes, which counts towards the size.
pub(crate) fn counts_read_back(job: &Job) -> bool {
    reads_back(job) && !only(job)
}

/// The end of the verification phase.
pub(crate) struct ReadBack {
    pub(crate) ended: Ended,
    /// Length of the phase, only its reads, ms.
    pub(crate) elapsed_ms: u64,
    /// Messages about it.
    pub(crate) notes: Vec<Note>,
}

/// Verifies everything that was written, with the same engine and counters; `verifiable` limits it to this number of
/// the writes. The writes must have ended without an error, after `writes_ms`, with nothing in flight.
#[inline(never)]
pub(crate) fn read_back(
    plan: &WorkerPlan,
    work: &mut dyn Loop<'_>,
    writes_ms: u64,
    verifiable: Option<u64>,
) -> ReadBack {
    let parts = work.parts();
    let failed = |code, function, text: String| {
        let failure = Failure { code, function, op: None, detail: Some(text) };
        ReadBack { ended: Ended::Failed(failure), elapsed_ms: writes_ms, notes: Vec::new() }
    };
    let (generator, writes) = match generator(plan, parts, verifiable) {
        Ok(reads) => reads,
        Err(error) => return failed(EINVAL, "workload", error.to_string()),
    };
    if let Err(failure) = parts.sync_and_drop_caches() {
        return ReadBack { ended: Ended::Failed(failure), elapsed_ms: writes_ms, notes: Vec::new() };
    }
    let earlier = parts.governor.as_mut().and_then(Governor::take_verification);
    let verification = earlier.or_else(|| of_blocks(plan, true));
    begin_reading(plan, work, generator, verification, writes_ms);
    let ended = work.run();
    let now_ns = work.now_ns();
    let parts = work.parts();
    let elapsed_ms = parts.phase.elapsed_ms(now_ns);
    let stopped_after =
        matches!(ended, Ended::TimeUp | Ended::Stopped).then(|| parts.recorder.completed(Direction::Read));
    let notes = notes_of_reading_back(plan, writes, stopped_after);
    ReadBack { ended, elapsed_ms, notes }
}

fn begin_reading(
    plan: &WorkerPlan,
    work: &mut dyn Loop<'_>,
    generator: Generator,
    verification: Option<Verification>,
    writes_ms: u64,
) {
    let now_ns = work.now_ns();
    let parts = work.parts();
    parts.account.writes_over(writes_ms);
    let (extent, reporting) = (&plan.job.extent, &plan.job.reporting);
    // The runtime holds for both phases together.
    let spent_ns = writes_ms.saturating_mul(1_000_000);
    let runtime_ns = if extent.runtime_ns == 0 { 0 } else { extent.runtime_ns.saturating_sub(spent_ns).max(1) };
    let windows = (reporting.bandwidth_window_ms, reporting.iops_window_ms);
    parts.phase = JobClock::begin(now_ns, 0, runtime_ns, windows.0, windows.1);
    parts.recorder.open_windows();
    parts.generator = generator;
    parts.content = None;
    let conditions = IssueConditions::for_job(&Pacing::default(), None, None, None, parts.files.take_turns(), now_ns);
    let recording = parts.governor.as_mut().and_then(Governor::take_recording);
    let mut governor = Governor::of_verification(verification, conditions, now_ns);
    governor.record(recording);
    parts.governor = Some(governor);
    parts.cell.set_state(WorkerState::Verifying);
    work.next_phase();
}

/// The notes on the verification. `stopped_after`: the number of reads after which it was stopped.
fn notes_of_reading_back(plan: &WorkerPlan, writes: u64, stopped_after: Option<u64>) -> Vec<Note> {
    let mut notes = Vec::new();
    let name = &plan.job.name;
    if Generator::replays_each_write(&plan.workload) {
        let text = format!("{name}: too many blocks to find the newest write of each: every write was read back once");
        notes.push(note(name, "each-write-verified", text));
    }
    if writes == 0 && plan.job.verify.as_ref().is_some_and(|verify| verify.only_synced) {
        let text =
            format!("{name}: nothing was verified: verify_policy=fsynced needs an fsync or fdatasync after a write");
        notes.push(note(name, "nothing-verified", text));
    }
    if let Some(read) = stopped_after {
        let text = format!("{name}: verification stopped early, after {read} reads");
        notes.push(note(name, "verification-stopped", text));
    }
    notes
}

/// The generator of the reads, and the number of writes that they verify.
fn generator(
    plan: &WorkerPlan,
    parts: &mut LoopParts<'_>,
    verifiable: Option<u64>,
) -> Result<(Generator, u64), WorkloadError> {
    let failed = parts.failed_writes();
    let written = if only(&plan.job) { verifiable.unwrap_or(u64::MAX) } else { parts.writes_issued() };
    let writes = match plan.job.verify.as_ref().is_some_and(|verify| verify.only_synced) && !only(&plan.job) {
        true => Generator::writes_before_sync(&plan.workload, written)?,
        false => written,
    };
    let generator = match parts.generator.unverified(&failed) {
        Some(left) if writes == written => left,
        _ => Generator::replay(&plan.workload, writes, failed)?,
    };
    Ok((generator, writes))
}

/// A note on the verification of a job.
pub(crate) fn note(job: &str, id: &str, text: String) -> Note {
    Note { job: Some(job.to_owned()), ..Note::new(id, Severity::Caution, text) }
}
