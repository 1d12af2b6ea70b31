//! Removes the files of a job: when it ends (`unlink`), or before the next loop (`unlink_each_loop`).

use std::path::Path;

use fsdyno_os::files::{FileCause, FileError, FileKind};

use crate::plan::WorkerPlan;

/// Removes a file. It is no error if another job that shares it has removed it; devices and pipes stay, as in fio.
pub(super) fn remove(plan: &WorkerPlan, path: &Path) -> Result<(), FileError> {
    let removed = match plan.reach.look(path) {
        Ok(looked) if looked.kind == Some(FileKind::Regular) => plan.reach.remove(path),
        other => other.map(|_| ()),
    };
    match removed {
        Err(error) if error.cause == FileCause::Missing => Ok(()),
        removed => removed,
    }
}
