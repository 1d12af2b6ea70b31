//! `--record FILE`: the whole measurement, written anew as the run goes so that nothing is lost if it is cut short.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use results::RunRecord;

use super::output::complain;

/// Where a record is saved.
pub(super) struct RecordFile {
    path: PathBuf,
    draft: PathBuf,
}

impl RecordFile {
    /// Checks that the place can be written, before the run.
    pub(super) fn claim(path: &Path) -> io::Result<RecordFile> {
        let mut name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_os_string();
        name.push(".part");
        let draft = path.with_file_name(name);
        File::create(&draft)?;
        std::fs::remove_file(&draft)?;
        Ok(RecordFile { path: path.to_owned(), draft })
    }

    /// Replaces the file by this record: whole or not at all.
    pub(super) fn save(&self, record: &RunRecord) -> io::Result<()> {
        let written = self.write_draft(record).and_then(|()| std::fs::rename(&self.draft, &self.path));
        if written.is_err() {
            // The first error is the one that counts.
            let _ = std::fs::remove_file(&self.draft);
        }
        written
    }

    fn write_draft(&self, record: &RunRecord) -> io::Result<()> {
        let mut file = File::create(&self.draft)?;
        file.write_all(record.to_json().as_bytes())?;
        file.write_all(b"\n")?;
        file.sync_all()
    }

    /// Replaces the file by this record: whole or not at all. A failure is told; false then.
    pub(super) fn save_or_complain(&self, record: &RunRecord) -> bool {
        let saved = self.save(record);
        self.complain(&saved);
        saved.is_ok()
    }

    /// Tells of a failure.
    pub(super) fn complain(&self, saved: &io::Result<()>) {
        if let Err(error) = saved {
            complain(&format!("fio: cannot save the record {}: {error}", self.path.display()));
        }
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
