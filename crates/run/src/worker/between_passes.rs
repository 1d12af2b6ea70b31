//! What a worker does with its files before it goes over them again.

use drive::{BetweenPasses, Failure, WorkerCell, WorkerState};
use engine::files::OpenFile;

use super::finish::{ends_with_sync, sync_all};
use super::{open, removal};
use crate::conduct::Shared;
use crate::plan::WorkerPlan;

/// `end_fsync`, `fsync_on_close` and `end_syncfs` end each loop and each pass of `io_size`, as in fio; `unlink_each_loop`
/// makes the files anew. `None`: nothing of this was asked for.
pub(super) fn between_passes<'run>(
    plan: &'run WorkerPlan,
    files: &'run [OpenFile],
    shared: &'run Shared,
    cell: &'run WorkerCell,
) -> Option<BetweenPasses<'run>> {
    // A job that runs for a time, or serves its files again, is in its first loop until it ends.
    let in_one_loop = plan.workload.time_based || plan.workload.serves_again();
    let syncs = ends_with_sync(plan) && !in_one_loop;
    let renews = plan.job.files.unlink_each_loop && !in_one_loop;
    if !syncs && !renews {
        return None;
    }
    Some(Box::new(move || {
        if syncs {
            let working = cell.state();
            cell.set_state(WorkerState::Syncing);
            let synced = sync_all(plan, files, cell);
            cell.set_state(working);
            synced?;
        }
        if renews { renew(plan, files, shared, cell) } else { Ok(()) }
    }))
}

/// A job that reads finds nothing to open afterwards, which is its error, as with fio.
fn renew(plan: &WorkerPlan, files: &[OpenFile], shared: &Shared, cell: &WorkerCell) -> Result<(), Failure> {
    let failed = |code, function, detail| Failure { code, function, op: None, detail: Some(detail) };
    for (file, planned) in files.iter().zip(&plan.files) {
        let removed = removal::remove(plan, &planned.path);
        removed.map_err(|error| failed(error.code, "unlink", error.to_string()))?;
        let new = open(plan, planned, shared, cell);
        let new = new.map_err(|refused| failed(refused.code, refused.function, refused.message))?;
        file.replace(new).map_err(|error| failed(error.code, "open", error.to_string()))?;
    }
    Ok(())
}
