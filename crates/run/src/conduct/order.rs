//! Decides which workers start when and which end with others: `wait_for`, `exitall`, and ramps that a group shares.

use fsdyno_drive::WorkerState;
use fsdyno_job::{ExitWhat, PerDirection};

use super::Conductor;
use crate::plan::WorkerPlan;
use crate::stage_workers::StageWorkers;

impl Conductor<'_> {
    /// The workers of a stage that are to start in it.
    pub(super) fn waiting(&self, stage: u32) -> Vec<usize> {
        let waits = |index: &usize| {
            let is_of_stage = self.shared.plan.workers[*index].stage == stage;
            is_of_stage && self.ended[*index].is_none() && !self.shared.cells[*index].stopped()
        };
        (0..self.ended.len()).filter(waits).collect()
    }

    /// Starts the workers that no longer wait for another. Workers that were told to end before never start; if no
    /// thread can be started for one, the later ones are not tried.
    pub(super) fn start_released(&mut self, waiting: &mut Vec<usize>, stage_workers: &mut StageWorkers) {
        let mut refused = None;
        // A worker only waits for earlier ones.
        for index in std::mem::take(waiting) {
            let awaited = &self.shared.plan.workers[index].waits_for;
            if self.shared.control.stopped() || self.shared.cells[index].stopped() {
                continue;
            }
            if awaited.iter().any(|other| waiting.contains(other) || stage_workers.awaits(*other)) {
                waiting.push(index);
            } else if let Err(code) = refused.map_or_else(|| self.start(index), Err) {
                self.refuse_thread(index, code, refused.is_some());
                refused = Some(code);
            } else {
                stage_workers.begins(index);
            }
        }
    }

    /// Ends other workers because this one ended (`exitall`).
    pub(super) fn end_others(&self, index: usize, what: ExitWhat) {
        let own = &self.shared.plan.workers[index];
        let ends = |worker: &WorkerPlan| match what {
            ExitWhat::Group => worker.group == own.group,
            ExitWhat::Stonewall => worker.stage == own.stage,
            ExitWhat::All => true,
        };
        let others = self.shared.plan.workers.iter().zip(&self.shared.cells).filter(|(worker, _)| ends(worker));
        others.for_each(|(_, cell)| cell.stop());
    }

    /// Ends the ramp of groups that have moved the bytes of `ramp_size`.
    pub(super) fn end_ramps_of_groups(&self) {
        let workers = || self.shared.plan.workers.iter().zip(&self.shared.cells);
        for (worker, cell) in workers().filter(|(worker, _)| worker.shares_ramp()) {
            if cell.state() != WorkerState::Ramp || cell.ramp_is_over() {
                continue;
            }
            let members = || workers().filter(|(other, _)| other.shares_ramp() && other.group == worker.group);
            let moved = |bytes: PerDirection<u64>| bytes.into_values().iter().sum::<u64>();
            let bytes: u64 = members().map(|(_, cell)| moved(cell.published().bytes)).sum();
            if bytes >= worker.job.extent.ramp_bytes {
                members().for_each(|(_, cell)| cell.end_ramp());
            }
        }
    }
}
