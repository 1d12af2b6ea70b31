//! Opens the files of logs.

use std::fs::{File, OpenOptions};
use std::path::Path;

use fsdyno_os::files::{FileKind, Reach};

/// Opens a log: truncated, or (not `alone`) to append to it.
pub(crate) fn open_one(path: &Path, alone: bool) -> Result<File, String> {
    if Reach::ByPath.look(path).is_ok_and(|found| found.kind == Some(FileKind::BlockDevice)) {
        let shown = path.display();
        return Err(format!(
            "fio: {shown} is a block device, and no log is written to it\nNext step: choose another name"
        ));
    }
    let mut options = OpenOptions::new();
    options.create(true);
    if alone {
        options.write(true).truncate(true)
    } else {
        options.append(true)
    };
    options.open(path).map_err(|error| {
        let shown = fsdyno_job::bytes::shown(path);
        format!("fio: cannot write the log {shown}: {error}\nNext step: create its directory, or choose another one")
    })
}
