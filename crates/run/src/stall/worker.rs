//! Decides when a worker or layout counts as stuck in the kernel, and words the messages.

use crate::control::Control;
use fsdyno_drive::{Bounds, Published, Silence, WorkerCell, WorkerEnd, WorkerState};
use fsdyno_job::PerDirection;
use fsdyno_os::allocation::waits_for_memory;
use fsdyno_os::errno::{ENOMEM, ETIMEDOUT, reason};
use fsdyno_probe::Waiting;
use fsdyno_results::{DirectionRecord, JobError, JobRecord};

use super::{Liveness, StallDetector};
use crate::account::blank_record;
use crate::plan::WorkerPlan;
use crate::worker::Refused;

const SECOND_NS: u64 = 1_000_000_000;

/// The stall detector of one worker.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WorkerWatch {
    /// Watches a worker that was told to end: then progress does not extend its time.
    ending: StallDetector<bool>,
    /// Watches its totals, its steps and its state.
    working: StallDetector<(Published, u64, WorkerState)>,
}

/// The message about a layout without progress.
pub(crate) fn sentence_of_layout(plan: &WorkerPlan, thread: u32, silent_ns: u64) -> String {
    let waiting = fsdyno_probe::waiting_of(thread).ok();
    let seconds = silent_ns / SECOND_NS;
    format!("{}: the layout has made nothing for {seconds} s; it is {}", plan.job.name, place(waiting.as_ref()))
}

/// The part of a message, shown at once after a signal, about somebody who does not end: the call, and until when it is
/// waited for.
pub(crate) fn still_in(call: impl std::fmt::Display, lost_ns: u64) -> String {
    let seconds = lost_ns / SECOND_NS;
    format!(
        "was told to end, and is still {call}: without an answer it is left behind after {seconds} s (a second SIGINT \
         ends everything at once, without a report)"
    )
}

/// The message about a layout that was told to end and does not.
pub(crate) fn sentence_of_layout_to_end(plan: &WorkerPlan, thread: u32, bounds: Bounds) -> String {
    let waiting = fsdyno_probe::waiting_of(thread).ok();
    format!("{}: the layout {}", plan.job.name, still_in(place(waiting.as_ref()), bounds.layout(true).lost_ns))
}

/// The end of a worker whose layout is abandoned.
pub(crate) fn layout_abandoned(plan: &WorkerPlan, thread: u32, silent_ns: u64) -> Refused {
    let waiting = fsdyno_probe::waiting_of(thread).ok();
    let seconds = silent_ns / SECOND_NS;
    let message = format!(
        "fio: {}: the layout is stuck {}: no answer for {seconds} s (errno {ETIMEDOUT}). It is left behind, and so is \
         its half-made file",
        plan.job.name,
        place(waiting.as_ref()),
    );
    Refused { code: ETIMEDOUT, function: "layout", message }
}

impl WorkerWatch {
    /// One check, `step_ns` after the previous one. `ran_ns`: time since it left its gate.
    pub(crate) fn look(
        &mut self,
        step_ns: u64,
        plan: &WorkerPlan,
        cell: &WorkerCell,
        control: &Control,
        ran_ns: u64,
    ) -> Liveness {
        if cell.thread().is_some_and(waits_for_memory) {
            return Liveness::Lost(0);
        }
        let bounds = control.bounds();
        let state = cell.state();
        let totals = cell.published();
        let at_work = matches!(state, WorkerState::Ramp | WorkerState::Running | WorkerState::Verifying);
        let ordered = control.stopped() || cell.stopped();
        let to_end = match state {
            // A sync of much data may take minutes and cannot be told from a stuck one: it is ended only after a
            // signal.
            WorkerState::Syncing => control.signal().is_some(),
            WorkerState::Created => ordered,
            _ => at_work && (ordered || time_is_up(plan, ran_ns)),
        };
        let signalled = control.signal().is_some();
        let limits = if to_end { bounds.ending(in_flight_bytes(plan), signalled) } else { Silence::ALLOWED };
        let found = self.ending.look(step_ns, to_end, limits);
        if found != Liveness::Alive {
            return found;
        }
        let limits = match state {
            // A worker that must end is handled above.
            _ if to_end => Silence::ALLOWED,
            WorkerState::Created | WorkerState::Syncing => bounds.at_rest(totals.bytes.write),
            // A slow pace is not a stall.
            _ if at_work && !plan.job.pacing.is_paced() && !plan.job.traces.keeps_time() => bounds.at_work(),
            // It waits for others, or has ended.
            _ => Silence::ALLOWED,
        };
        self.working.look(step_ns, (totals, cell.steps(), state), limits)
    }
}

fn time_is_up(plan: &WorkerPlan, ran_ns: u64) -> bool {
    let extent = &plan.job.extent;
    // The length of a ramp by bytes is not known.
    extent.runtime_ns > 0
        && extent.ramp_bytes == 0
        && ran_ns > extent.start_delay_ns.1 + extent.ramp_ns + extent.runtime_ns
}

fn in_flight_bytes(plan: &WorkerPlan) -> u64 {
    plan.block_bytes_max.saturating_mul(plan.queueing.depth as u64)
}

/// What the worker's thread waits for; `None`: it has no thread yet, or the kernel does not show it. Which file is
/// opened or closed comes from the worker's cell.
fn waiting(plan: &WorkerPlan, cell: &WorkerCell) -> Option<Waiting> {
    let mut waiting = fsdyno_probe::waiting_of(cell.thread()?).ok()?;
    if ["open", "close"].contains(&waiting.operation.as_str()) {
        waiting.file = plan.files.get(cell.file()).map(|file| file.path.to_path_buf());
    }
    Some(waiting)
}

fn place(waiting: Option<&Waiting>) -> String {
    waiting.map_or_else(|| "in the kernel (the call is not visible)".to_owned(), |waiting| format!("in {waiting}"))
}

/// The message about a worker without progress.
pub(crate) fn sentence_of_silence(plan: &WorkerPlan, cell: &WorkerCell, silent_ns: u64) -> String {
    let (job, number, seconds) = (&plan.job.name, plan.thread_number, silent_ns / SECOND_NS);
    let doing = match cell.state() {
        WorkerState::Created => format!("has been getting ready for {seconds} s"),
        WorkerState::Syncing => format!("has done its I/O and has been ending for {seconds} s"),
        _ => format!("has completed nothing for {seconds} s"),
    };
    format!("{job}: worker {number} {doing}; it is {}", place(waiting(plan, cell).as_ref()))
}

/// The message about a worker that was told to end and does not.
pub(crate) fn sentence_to_end(plan: &WorkerPlan, cell: &WorkerCell, bounds: Bounds) -> String {
    let lost_ns = bounds.ending(in_flight_bytes(plan), true).lost_ns;
    let call = place(waiting(plan, cell).as_ref());
    format!("{}: worker {} {}", plan.job.name, plan.thread_number, still_in(call, lost_ns))
}

/// The end of an abandoned worker: its latest interim record, with an error that says where it is stuck, unless it had
/// an error before.
pub(crate) fn abandoned(plan: &WorkerPlan, cell: &WorkerCell, ran_ms: u64, silent_ns: u64) -> WorkerEnd {
    let waiting = waiting(plan, cell);
    let seconds = silent_ns / SECOND_NS;
    let known = cell.take_end();
    let whole = known.is_some();
    let WorkerEnd { mut record, mut messages, notes, .. } = known.unwrap_or_else(|| {
        let record = cell.snapshot_since(0).unwrap_or_else(|| from_totals(plan, cell.published(), ran_ms));
        WorkerEnd { record, messages: Vec::new(), notes: Vec::new(), failed: None, lost: true, state: None }
    });
    let (when, figures) = match cell.state() {
        WorkerState::Created => (" before its start", "it has done nothing"),
        _ if whole => (" after its I/O", "its figures are whole"),
        _ => (" after it was to end", "its figures are those of its last sign of life"),
    };
    let logs = if !whole && plan.job.reporting.logs.any() { "; its logs may lack the last second" } else { "" };
    let (error, what) = if cell.thread().is_some_and(waits_for_memory) {
        let text = reason(&std::io::Error::from_raw_os_error(ENOMEM));
        (
            JobError { code: ENOMEM, function: "memory".to_owned(), text },
            format!("gets no memory{when} (errno {ENOMEM})"),
        )
    } else {
        let function = waiting.as_ref().map_or_else(|| "stuck".to_owned(), |waiting| waiting.operation.clone());
        let text = format!("no answer for {seconds} s");
        let what = format!("is stuck {}: {text}{when} (errno {ETIMEDOUT})", place(waiting.as_ref()));
        (JobError { code: ETIMEDOUT, function, text }, what)
    };
    record.error.get_or_insert(error);
    let (job, number) = (&plan.job.name, plan.thread_number);
    messages.push(format!("fio: {job}: worker {number} {what}. It is left behind; {figures}{logs}"));
    WorkerEnd { record, messages, notes, failed: None, lost: true, state: None }
}

/// The record of a worker that never gave an interim one, from its totals: without latencies.
pub(crate) fn from_totals(plan: &WorkerPlan, totals: Published, ran_ms: u64) -> Box<JobRecord> {
    let mut record = blank_record(plan);
    record.directions = PerDirection::from_fn(|direction| DirectionRecord {
        bytes: totals.bytes[direction],
        ios: totals.ios[direction],
        runtime_ms: if totals.ios[direction] > 0 { ran_ms.max(1) } else { 0 },
        ..DirectionRecord::default()
    });
    record.job_runtime_ms = ran_ms;
    record
}

#[cfg(test)]
mod tests {
    use fsdyno_drive::Bounds;
    use fsdyno_job::Outcome;

    use super::*;

    const STEP_NS: u64 = 100_000_000;

    fn plan(words: &str) -> WorkerPlan {
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        let Outcome::Run(request) = fsdyno_job::parse_command_line(&words, &mut crate::MachineSources) else {
            panic!("{words:?} is a job")
        };
        crate::plan::plan(&request.jobs, &fsdyno_probe::HostFacts::default(), 0).workers.remove(0)
    }

    /// Seconds of checks until it is lost; `None`: not within an hour.
    fn seconds_until_lost(plan: &WorkerPlan, cell: &WorkerCell, control: &Control) -> Option<u64> {
        let mut watched = WorkerWatch::default();
        (1..36_000).find_map(|look| match watched.look(STEP_NS, plan, cell, control, look * STEP_NS) {
            Liveness::Lost(ns) => Some(ns / 1_000_000_000),
            _ => None,
        })
    }

    #[test]
    fn one_that_is_to_end_has_thirty_seconds_and_more_for_large_requests() {
        let (cell, control) = (WorkerCell::default(), Control::default());
        cell.set_state(WorkerState::Running);
        let lost_after = |words: &str, control: &Control| seconds_until_lost(&plan(words), &cell, control);
        let small = "--name=a --ioengine=null --size=1m";
        assert_eq!(lost_after(small, &control), None, "it may run as long as it likes");
        let timed = format!("{small} --time_based --runtime=100 --ramp_time=10");
        let mut watched = WorkerWatch::default();
        let timed = plan(&timed);
        assert_eq!(watched.look(STEP_NS, &timed, &cell, &control, 110_000_000_000), Liveness::Alive);
        assert_eq!(seconds_until_lost(&timed, &cell, &control), Some(30), "counted from the end of its time");
        control.stop();
        assert_eq!(lost_after(small, &control), Some(30));
        assert_eq!(lost_after("--name=a --ioengine=null --size=1g --bs=4m --iodepth=4", &control), Some(46));
    }

    #[test]
    fn a_sync_has_much_time_until_somebody_gives_up_on_it() {
        let (cell, control) = (WorkerCell::default(), Control::default());
        let plan = plan("--name=a --ioengine=null --size=1m");
        cell.set_state(WorkerState::Syncing);
        control.stop();
        assert_eq!(seconds_until_lost(&plan, &cell, &control), Some(300));
        control.stop_by_signal(2);
        assert_eq!(seconds_until_lost(&plan, &cell, &control), Some(30));
    }

    #[test]
    fn who_gets_ready_or_ends_is_told_of_and_given_up_in_the_end() {
        let plan = plan("--name=a --ioengine=null --size=1m");
        for (state, doing) in [(WorkerState::Created, "getting ready"), (WorkerState::Syncing, "done its I/O")] {
            let (cell, control) = (WorkerCell::default(), Control::with_bounds(Bounds::of_seconds(2)));
            cell.set_state(state);
            let mut watched = WorkerWatch::default();
            let mut look = |cell: &WorkerCell| watched.look(STEP_NS, &plan, cell, &control, 0);
            let reported = (1..1000).find(|_| look(&cell) == Liveness::Silent(2_000_000_000));
            assert_eq!(reported, Some(21), "the first look counts nothing");
            assert!(sentence_of_silence(&plan, &cell, 2_000_000_000).contains(doing));
            cell.step();
            let lost = (1..1000).find(|_| matches!(look(&cell), Liveness::Lost(_)));
            assert_eq!(lost, Some(201), "counted from the last step");
        }
    }

    #[test]
    fn silence_is_told_once_and_not_of_a_slow_schedule() {
        let (cell, control) = (WorkerCell::default(), Control::default());
        cell.set_state(WorkerState::Running);
        let reported = |words: &str| {
            let (plan, mut watched) = (plan(words), WorkerWatch::default());
            let silent = |found| matches!(found, Liveness::Silent(_));
            (0..1000).filter(|_| silent(watched.look(STEP_NS, &plan, &cell, &control, 0))).count()
        };
        assert_eq!(reported("--name=a --ioengine=null --size=1m"), 1);
        assert_eq!(reported("--name=a --ioengine=null --size=1m --rate_iops=1"), 0);
    }

    #[test]
    fn what_is_known_of_a_lost_worker_is_kept() {
        let (plan, cell) = (plan("--name=a --ioengine=null --size=1m"), WorkerCell::default());
        let of_reads = |read| PerDirection { read, ..PerDirection::default() };
        cell.publish(Published { bytes: of_reads(8192), ios: of_reads(2), open_files: 1 });
        let end = abandoned(&plan, &cell, 1500, 31_000_000_000);
        let read = &end.record.directions.read;
        assert_eq!((read.bytes, read.ios, read.runtime_ms, end.record.directions.write.runtime_ms), (8192, 2, 1500, 0));
        let error = end.record.error.unwrap();
        assert_eq!((error.code, error.text.as_str()), (ETIMEDOUT, "no answer for 31 s"));
        assert!(end.lost && end.messages[0].contains("worker 1 is stuck"), "{:?}", end.messages);
        assert!(end.messages[0].ends_with("last sign of life"), "{:?}", end.messages);
    }

    #[test]
    fn the_logs_of_a_lost_worker_may_lack_its_last_second() {
        let plan = plan("--name=a --ioengine=null --size=1m --write_bw_log=x");
        let end = abandoned(&plan, &WorkerCell::default(), 1500, 31_000_000_000);
        assert!(end.messages[0].ends_with("; its logs may lack the last second"), "{:?}", end.messages);
    }
}
