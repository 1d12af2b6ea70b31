//! Prepares a worker's files for the next pass.

use fsdyno_drive::{BetweenPasses, Failure, OpenFiles, WorkerCell, WorkerState};

use super::finish::{ends_with_sync, sync_all};
use super::{Refused, open, pre_read, removal};
use crate::conduct::Shared;
use crate::plan::{PlannedFile, WorkerPlan};

/// The function between passes: `end_fsync`, `fsync_on_close` and `end_syncfs` end each loop and each pass of
/// `io_size`, as in fio; `unlink_each_loop` makes the files anew. It returns the number of syncs, for the log of
/// `write_iolog`. `None`: none of these was asked for.
#[inline(never)]
pub(super) fn between_passes<'run>(
    plan: &'run WorkerPlan,
    shared: &'run Shared,
    cell: &'run WorkerCell,
) -> Option<BetweenPasses<'run>> {
    // A time-based job, or one that serves its files again, stays in its first loop.
    let in_one_loop = plan.workload.time_based || plan.workload.serves_again();
    let syncs = ends_with_sync(plan) && !in_one_loop;
    let has_files = !plan.job.submission.engine.is_diskless();
    let renews = plan.job.files.unlink_each_loop && has_files && !in_one_loop;
    let records = plan.job.traces.record.is_some() && !in_one_loop;
    if !syncs && !renews && !records {
        return None;
    }
    Some(Box::new(move |files| {
        let mut count = 0;
        if syncs {
            let working = cell.state();
            cell.set_state(WorkerState::Syncing);
            let synced = sync_all(plan, files, cell);
            cell.set_state(working);
            count = synced?;
        }
        if renews {
            renew(plan, files, shared, cell)?;
        }
        Ok(count)
    }))
}

/// Removes the files and opens new ones. A job that reads then finds none, which is its error, as in fio.
fn renew(plan: &WorkerPlan, files: &mut OpenFiles<'_>, shared: &Shared, cell: &WorkerCell) -> Result<(), Failure> {
    let refused = |Refused { code, function, message }| Failure { code, function, op: None, detail: Some(message) };
    let renewed = |planned: &PlannedFile| {
        let new = open(plan, planned, shared).map_err(refused)?;
        if plan.job.files.pre_read {
            pre_read(&new, planned, &shared.control, cell).map_err(refused)?;
        }
        Ok(new)
    };
    for (index, planned) in plan.files.iter().enumerate() {
        removal::remove(plan, &planned.path).map_err(|error| Failure::of_file("unlink", &error))?;
        files.renew(index, &|| renewed(planned))?;
    }
    Ok(())
}
