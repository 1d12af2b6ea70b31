//! Gives the job language access to files, environment and system calls of this machine.

use std::path::Path;

use fsdyno_job::{Machine, Sources};
use fsdyno_os::errno::reason;
use fsdyno_os::files::{SMALL_FILE_BYTES_MAX, read_at_most, read_stream};
use fsdyno_os::written;

/// The sources of this machine.
pub struct MachineSources;

impl Sources for MachineSources {
    fn job_file(&mut self, path: &str) -> Result<String, String> {
        // As in fio, a pipe is possible, such as `<(command)` of a shell.
        let read = match path {
            "-" => read_at_most(std::io::stdin(), JOB_FILE_BYTES_MAX),
            path => read_stream(&written::path(path), JOB_FILE_BYTES_MAX),
        };
        read.map(|bytes| fsdyno_job::bytes::text(&bytes)).map_err(|error| reason(&error))
    }

    fn pattern_file(&mut self, path: &str) -> Result<Vec<u8>, String> {
        read_stream(&written::path(path), SMALL_FILE_BYTES_MAX).map_err(|error| reason(&error))
    }

    fn files_below(&mut self, directory: &str) -> Result<Vec<String>, String> {
        let mut files = Vec::new();
        add_files(&written::path(directory), &mut files).map_err(|error| reason(&error))?;
        Ok(files)
    }

    fn variable(&self, name: &str) -> Option<String> {
        std::env::var_os(written::os_string(name)).map(|value| fsdyno_job::bytes::text(value.as_encoded_bytes()))
    }

    fn machine(&self) -> Machine {
        let host = fsdyno_probe::host();
        Machine {
            page_bytes: fsdyno_probe::page_bytes(),
            memory_mib: host.memory_bytes.unwrap_or(0) >> 20,
            processors: host.cpus.unwrap_or(1),
        }
    }
}

/// Largest job file, bytes.
const JOB_FILE_BYTES_MAX: u64 = 64 << 20;

/// Adds the regular files of a directory; links, pipes and devices are left out, as in fio.
fn add_files(directory: &Path, files: &mut Vec<String>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            add_files(&entry.path(), files)?;
        } else if kind.is_file() {
            files.push(fsdyno_job::bytes::shown(&entry.path()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_an_end_is_refused() {
        let endless = MachineSources.pattern_file("/dev/zero");
        assert!(endless.unwrap_err().contains("it holds more than 16777216 bytes"));
        let endless = MachineSources.job_file("/dev/zero");
        assert!(endless.unwrap_err().contains("it holds more than 67108864 bytes"));
    }
}
