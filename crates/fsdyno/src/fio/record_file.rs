//! `--record FILE`: saves the whole record, repeatedly during the run, so that nothing is lost if it is interrupted.

use std::io;
use std::path::Path;

use fsdyno_os::files::{Readers, WholeFile};
use fsdyno_results::RunRecord;

use crate::process::streams::print_stderr;

/// The file of a record.
pub(super) struct RecordFile {
    file: WholeFile,
}

impl RecordFile {
    /// Checks before the run that the file can be written.
    pub(super) fn claim(path: &Path) -> io::Result<RecordFile> {
        Ok(RecordFile { file: WholeFile::claim(path, Readers::ByUmask)? })
    }

    /// Replaces the file by the record of a running run. A pipe cannot be replaced: it gets the record only at the end.
    pub(super) fn save_interim(&self, record: &RunRecord) -> io::Result<()> {
        if self.file.in_place() { Ok(()) } else { self.save(record) }
    }

    fn save(&self, record: &RunRecord) -> io::Result<()> {
        self.file.write(format!("{}\n", record.to_json()).as_bytes())
    }

    /// Replaces the file by this record, whole or not at all. False: it failed, and that was reported.
    pub(super) fn save_or_report(&self, record: &RunRecord) -> bool {
        self.save(record).inspect_err(|error| self.print_failure(error, "", "")).is_ok()
    }

    /// Reports a failure, and whether it will be tried again.
    pub(super) fn print_failure(&self, error: &io::Error, yet: &str, further: &str) {
        let file = fsdyno_job::bytes::shown(self.file.path());
        print_stderr(&format!("fio: cannot save the record {file}{yet}: {error}{further}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_cannot_be_written_is_told_before_the_run() {
        let folder = tempfile::tempdir().unwrap();
        assert!(RecordFile::claim(&folder.path().join("run.json")).is_ok());
        assert!(RecordFile::claim(&folder.path().join("missing/run.json")).is_err());
        assert!(RecordFile::claim(Path::new("/")).is_err());
        assert_eq!(folder.path().read_dir().unwrap().count(), 0, "the check leaves nothing behind");
    }
}
