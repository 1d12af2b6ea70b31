//! Waits for layouts and workers on behalf of the conductor, and abandons those that are stuck.

use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;

use fsdyno_os::clock::Clock;
use fsdyno_os::errno::EAGAIN;
use fsdyno_results::{Note, Severity};

use super::layouts::LayoutThreads;
use super::{Conductor, WATCH};
use crate::layout_steps::{self, LayoutEvent};
use crate::stage_workers::StageWorkers;
use crate::stall::{Liveness, worker as stalled};
use crate::worker::{self, Refused};

impl Conductor<'_> {
    /// Makes the files that are due before this stage.
    pub(super) fn lay_out(&mut self, stage: u32) {
        let news = match layout_steps::begin(Arc::clone(&self.shared), stage) {
            None => return,
            Some(Ok(news)) => news,
            Some(Err(error)) => return self.refuse_layouts(stage, &error),
        };
        let mut lanes = LayoutThreads::default();
        loop {
            self.shared.control.follow();
            match news.recv_timeout(WATCH) {
                Ok(news) => self.report_layout(news, &mut lanes),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            // One thread may be stuck while others report chunk after chunk.
            if self.clock.now_ns() >= self.looked_ns + WATCH.as_nanos() as u64 {
                self.observer.idle();
                let limits = self.shared.control.bounds().layout(self.shared.control.stopped());
                let stuck = lanes.look(self.step_ns(), limits);
                if stuck.into_iter().any(|(worker, thread, found)| self.layout_is_lost(found, worker, thread)) {
                    return;
                }
            }
        }
    }

    fn layout_is_lost(&mut self, found: Liveness, index: usize, thread: u32) -> bool {
        let plan = &self.shared.plan.workers[index];
        match found {
            Liveness::Alive => false,
            Liveness::Silent(silent_ns) => {
                let control = &self.shared.control;
                let sentence = match control.stopped() {
                    true => stalled::sentence_of_layout_to_end(plan, thread, control.bounds()),
                    false => stalled::sentence_of_layout(plan, thread, silent_ns),
                };
                self.observer.note(&sentence);
                false
            }
            Liveness::Lost(silent_ns) => {
                let end = worker::refused_end(plan, stalled::layout_abandoned(plan, thread, silent_ns));
                self.shared.control.abandon();
                self.end(index, end);
                true
            }
        }
    }

    fn refuse_layouts(&mut self, stage: u32, error: &std::io::Error) {
        let workers: Vec<usize> = layout_steps::due(&self.shared.plan, stage).map(|step| step.worker).collect();
        for index in workers {
            let message = format!("fio: cannot start a thread for the layout: {error}");
            let refused = Refused { code: error.raw_os_error().unwrap_or(EAGAIN), function: "thread", message };
            self.end(index, worker::refused_end(&self.shared.plan.workers[index], refused));
        }
    }

    fn report_layout(&mut self, news: LayoutEvent, lanes: &mut LayoutThreads) {
        match news {
            LayoutEvent::Begins { worker, thread, line } => {
                lanes.begins(worker, thread);
                line.inspect(|line| self.observer.layout(line));
            }
            LayoutEvent::Pauses(thread) => lanes.pauses(thread),
            LayoutEvent::Progress(thread, progress) => {
                let progress = lanes.progresses(thread, progress);
                let seconds_left = progress.remaining.map(|remaining| remaining.as_secs());
                self.observer.layout_progress(progress.bytes_done, progress.bytes_total, seconds_left);
            }
            LayoutEvent::Message(text) => self.observer.message(&text),
            LayoutEvent::Note(note) => {
                self.observer.note(&format!("fio: {}", note.text));
                self.heading.notes.push(note);
            }
            LayoutEvent::Failed(worker, refused) => {
                self.end(worker, worker::refused_end(&self.shared.plan.workers[worker], refused));
            }
        }
    }

    /// A failed allocation ends the run: the memory reserve suffices only for its report.
    fn notice_failed_allocation(&mut self) {
        let Some(bytes) = fsdyno_os::allocation::failed_bytes().filter(|_| !self.short_of_memory) else { return };
        self.short_of_memory = true;
        self.shared.control.stop();
        let text = format!(
            "an allocation of {bytes} bytes failed: the run ends with what it has; lower iodepth, numjobs or nrfiles, or \
             raise the memory limit (ulimit -v, cgroup)"
        );
        self.observer.message(&format!("fio: {text}"));
        self.heading.notes.push(Note::new("out-of-memory", Severity::Invalid, text));
    }

    /// Time since the last call, ns.
    fn step_ns(&mut self) -> u64 {
        let now_ns = self.clock.now_ns();
        now_ns.saturating_sub(std::mem::replace(&mut self.looked_ns, now_ns))
    }

    /// Abandons workers of the stage that are stuck before or after their I/O, and reports those without progress.
    pub(super) fn abandon_lost_workers(&mut self, stage: u32, stage_workers: &mut StageWorkers) {
        self.notice_failed_allocation();
        let step_ns = self.step_ns();
        let now_ns = self.looked_ns.saturating_sub(self.began_ns);
        let shared = Arc::clone(&self.shared);
        for (index, (plan, cell)) in shared.plan.workers.iter().zip(&shared.cells).enumerate() {
            if plan.stage != stage || !stage_workers.awaits(index) {
                continue;
            }
            // A worker that wears out goes on after its runtime.
            let started_ns = self.started_ns[index].filter(|_| !shared.wears_out);
            let ran_ns = started_ns.map_or(0, |started_ns| now_ns.saturating_sub(started_ns));
            match self.detectors[index].look(step_ns, plan, cell, &shared.control, ran_ns) {
                Liveness::Alive => {}
                Liveness::Silent(_) if shared.control.signal().is_some() => {
                    self.observer.still_waits(&stalled::sentence_to_end(plan, cell, shared.control.bounds()));
                }
                Liveness::Silent(silent_ns) => {
                    self.observer.note(&stalled::sentence_of_silence(plan, cell, silent_ns));
                }
                Liveness::Lost(silent_ns) if stage_workers.ends(index) => {
                    cell.abandon();
                    self.end(index, stalled::abandoned(plan, cell, ran_ns / 1_000_000, silent_ns));
                }
                Liveness::Lost(_) => {}
            }
        }
    }
}
