//! Does what follows the I/O phase of a worker: syncs, verification, the record.

use fsdyno_drive::{
    AbandonedRequests, DepthSearch, Ended, Failure, Governor, LatencySeries, Loop, LoopParts, OpenFiles, WorkerCell,
    WorkerEnd, WorkerState,
};
use fsdyno_os::errno::{EINVAL, EIO, ETIMEDOUT};

use fsdyno_results::Note;
use fsdyno_workload::Op;

use super::{objects, recording, sentences};
use crate::account::job_error;
use crate::plan::{Plan, WorkerPlan};
use crate::verification::{self, state};

/// The name of the failure of requests that never completed.
const DRAIN: &str = "drain";

/// Does the syncs of the I/O phase and the verification, then makes the record.
pub(super) fn finish(
    plan: &WorkerPlan,
    whole: &Plan,
    work: &mut dyn Loop<'_>,
    ended: Ended,
    verifiable: Option<u64>,
) -> WorkerEnd {
    let came_to_end = matches!(ended, Ended::Finished | Ended::DeviceFull);
    let mut failure = failure_of(ended);
    let mut lost = work.lost().cloned();
    let parts = work.parts();
    failure = failure.or_else(|| fault_of_log(plan, parts));
    let lateness = parts.governor.as_ref().and_then(Governor::lateness);
    let spun_ns = parts.governor.as_ref().and_then(Governor::spun_ns);
    let search = parts.governor.as_mut().and_then(Governor::take_search);
    let state = state::of(plan, parts);
    // What follows belongs to no interval.
    parts.intervals = None;
    parts.cell.set_state(WorkerState::Syncing);
    let sync_began_ns = work.now_ns();
    let parts = work.parts();
    // After lost requests a sync would wait, too; after an error there is none, as in fio.
    let due = failure.is_none() && lost.is_none() && ends_with_sync(plan);
    let syncs = if due { final_syncs(plan, parts, sync_began_ns) } else { Ok(0) };
    let end_ns = work.now_ns();
    let parts = work.parts();
    let mut series = parts.series.take();
    if parts.phase.in_ramp() {
        parts.recorder.clear_latencies();
    } else if let Some(series) = &mut series {
        series.finish(sync_began_ns, &parts.recorder);
    }
    let mut elapsed_ms = parts.phase.elapsed_ms(end_ns);
    let final_sync_ns = syncs.as_ref().is_ok_and(|count| *count > 0).then(|| end_ns.saturating_sub(sync_began_ns));
    let synced = *syncs.as_ref().unwrap_or(&0);
    failure = failure.or(syncs.err());
    let mut notes = Vec::new();
    let mut unstored_bytes = None;
    if verification::reads_back(&plan.job) && failure.is_none() && lost.is_none() {
        if came_to_end {
            unstored_bytes = work.parts().unstored_bytes();
            let read_back = verification::read_back(plan, work, elapsed_ms, verifiable);
            (failure, elapsed_ms) = (failure_of(read_back.ended), read_back.elapsed_ms);
            notes = read_back.notes;
            lost = work.lost().cloned();
        } else {
            let text = format!("{}: the writes did not finish: nothing was verified", plan.job.name);
            notes.push(verification::note(&plan.job.name, "nothing-verified", text));
        }
    }
    let (synchronous, mut ways) = (work.is_synchronous(), work.ways());
    notes.extend(said_by_device(plan, work));
    let over_ns = work.now_ns();
    let parts = work.parts();
    let mut messages = sentences::of_survived(plan, &parts.survival);
    if let Some(verification) = parts.governor.as_mut().and_then(Governor::take_verification) {
        notes.extend(verification.notes(&plan.job.name, &plan.workload.files));
        messages.extend(verification.into_messages());
    }
    failure = failure.or(failed_recording(plan, whole, parts, (synced, over_ns)));
    match parts.log.take().map(|log| log.finish(&plan.job.name)) {
        Some(Err(message)) => messages.push(message),
        Some(Ok(note)) => notes.extend(note),
        None => {}
    }
    let mut record = parts.account.job_record(&parts.recorder, elapsed_ms, parts.survival.counted);
    (record.final_sync_ns, record.unstored_bytes) = (final_sync_ns, unstored_bytes);
    (record.lateness, record.spun_ns) = (lateness.map(Box::new), spun_ns);
    // Only plain synchronous writes and governed jobs read the clock twice per request.
    if parts.time_all && (!synchronous || parts.governor.is_none() && plan.job.pattern.access.reads) {
        ways.push("shared-readings");
    }
    notes.extend(verifiable.map(|requests| state::note(&plan.job.name, requests)));
    record.object = work.objects().map(|tally| Box::new(objects::record_of(tally, &mut messages)));
    record.engine_ways = ways.into_iter().map(str::to_owned).collect();
    let end = WorkerEnd { record, messages, notes, failed: None, lost: lost.is_some(), state };
    let mut end = end_of(plan, end, (failure, lost.as_ref()), search, series);
    // The engine holds the file.
    end.failed =
        end.failed.map(|(op, code)| (Op { file: work.parts().files.place_of(op.file).unwrap_or(0), ..op }, code));
    end
}

/// The device's words about the latest request that failed.
fn said_by_device(plan: &WorkerPlan, work: &dyn Loop<'_>) -> Option<Note> {
    let name = &plan.job.name;
    let text = format!("{name}: the device said about the latest request that failed: {}", work.said()?);
    Some(verification::note(name, "device-said", text))
}

/// The end, with failures added to the record and as messages.
#[inline(never)]
fn end_of(
    plan: &WorkerPlan,
    mut end: WorkerEnd,
    (failure, lost): (Option<Failure>, Option<&AbandonedRequests>),
    search: Option<DepthSearch>,
    series: Option<LatencySeries>,
) -> WorkerEnd {
    if let Some(search) = search {
        end.record.latency_depth = search.depth();
        end.notes.push(search.report(&plan.job.name));
    }
    end.record.latency_series = series.map(LatencySeries::into_slices).unwrap_or_default();
    end.messages.extend(failure.as_ref().map(|failure| sentences::of_failure(plan, failure)).unwrap_or_default());
    end.failed = failure.as_ref().and_then(|failure| failure.op.map(|op| (op, failure.code)));
    end.record.error = failure.map(|failure| job_error(failure.code, failure.function));
    if let Some(lost) = lost {
        end.messages.extend(sentences::of_lost(plan, lost));
        end.record.error = end.record.error.or_else(|| Some(job_error(ETIMEDOUT, DRAIN)));
        end.record.lost = Some(sentences::lost_requests(plan, lost));
    }
    end
}

/// Writes the end of the log that the job records, also after a failure.
#[inline(never)]
fn failed_recording(plan: &WorkerPlan, whole: &Plan, parts: &mut LoopParts<'_>, synced: (u32, u64)) -> Option<Failure> {
    let recording = parts.governor.as_mut().and_then(Governor::take_recording)?;
    let sentence = recording::end(plan, whole, recording, synced).err()?;
    Some(Failure { code: EIO, function: "write_iolog", op: None, detail: Some(sentence) })
}

/// The failure if the replayed log was changed since it was examined.
#[inline(never)]
fn fault_of_log(plan: &WorkerPlan, parts: &LoopParts<'_>) -> Option<Failure> {
    let (replay, fault) = plan.replay.as_ref().zip(parts.generator.fault())?;
    let detail = Some(format!("read_iolog={}: {fault}: the log has changed since it was examined", replay.name));
    Some(Failure { code: EINVAL, function: "read_iolog", op: None, detail })
}

fn failure_of(ended: Ended) -> Option<Failure> {
    match ended {
        Ended::Finished | Ended::TimeUp | Ended::Stopped | Ended::DeviceFull => None,
        Ended::Failed(failure) => Some(failure),
    }
}

/// Whether its writes are synced at the end.
pub(super) fn ends_with_sync(plan: &WorkerPlan) -> bool {
    let durability = &plan.job.durability;
    plan.job.pattern.access.writes && (durability.end_fsync || durability.fsync_on_close || durability.end_syncfs)
}

/// Does `end_fsync`, `fsync_on_close` and `end_syncfs`; returns the number of syncs. A sync may never return: the
/// results so far are stored in the worker's cell before.
#[inline(never)]
fn final_syncs(plan: &WorkerPlan, parts: &LoopParts<'_>, now_ns: u64) -> Result<u32, Failure> {
    let elapsed_ms = parts.phase.elapsed_ms(now_ns);
    let record = parts.account.job_record(&parts.recorder, elapsed_ms, parts.survival.counted);
    let known = WorkerEnd { record, messages: Vec::new(), notes: Vec::new(), failed: None, lost: false, state: None };
    parts.cell.keep_end(known);
    let synced = sync_all(plan, &parts.files, parts.cell);
    // If the conductor has taken it meanwhile, it has abandoned this worker and ignores its results.
    drop(parts.cell.take_end());
    synced
}

/// Syncs all files; returns the number of syncs.
pub(super) fn sync_all(plan: &WorkerPlan, files: &OpenFiles<'_>, cell: &WorkerCell) -> Result<u32, Failure> {
    let durability = &plan.job.durability;
    let mut count = 0;
    files.each(&mut |index, file| {
        cell.turns_to(index);
        if durability.end_fsync || durability.fsync_on_close {
            file.sync().map_err(|error| Failure::of_file("fsync", &error))?;
            count += 1;
        }
        if durability.end_syncfs {
            file.sync_filesystem().map_err(|error| Failure::of_file("syncfs", &error))?;
            cell.step();
            count += 1;
        }
        Ok(())
    })?;
    Ok(count)
}
