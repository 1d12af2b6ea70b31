//! Files, environment and system calls that the job language may use, from this machine.

use std::io::Read;
use std::path::Path;

use engine::errno::reason;
use job::{Machine, Sources};

/// Files, environment and size of this machine.
pub struct MachineSources;

impl Sources for MachineSources {
    fn job_file(&mut self, path: &str) -> Result<String, String> {
        if path != "-" {
            return std::fs::read_to_string(path).map_err(|error| reason(&error));
        }
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map_err(|error| reason(&error))?;
        Ok(text)
    }

    fn pattern_file(&mut self, path: &str) -> Result<Vec<u8>, String> {
        read_at_most(Path::new(path), SMALL_FILE_BYTES_MAX).map_err(|error| reason(&error))
    }

    fn files_below(&mut self, directory: &str) -> Result<Vec<String>, String> {
        let mut files = Vec::new();
        add_files(Path::new(directory), &mut files).map_err(|error| reason(&error))?;
        Ok(files)
    }

    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn machine(&self) -> Machine {
        let host = probe::host();
        Machine {
            page_bytes: probe::page_bytes(),
            memory_mib: host.memory_bytes.unwrap_or(0) >> 20,
            processors: host.cpus.unwrap_or(1),
        }
    }
}

/// No pattern and no saved state is longer.
pub(crate) const SMALL_FILE_BYTES_MAX: u64 = 16 << 20;

/// A whole file, unless it is longer than this: a device may never end.
pub(crate) fn read_at_most(path: &Path, bytes_max: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(bytes_max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        let text = format!("it holds more than {bytes_max} bytes");
        return Err(std::io::Error::new(std::io::ErrorKind::FileTooLarge, text));
    }
    Ok(bytes)
}

/// Links, pipes and devices are left out, as by fio.
fn add_files(directory: &Path, files: &mut Vec<String>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            add_files(&entry.path(), files)?;
        } else if kind.is_file() {
            files.push(entry.path().into_os_string().into_string().map_err(|name| {
                let text = format!("{} is not valid UTF-8", name.display());
                std::io::Error::new(std::io::ErrorKind::InvalidData, text)
            })?);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_an_end_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pattern");
        std::fs::write(&file, [7; 100]).unwrap();
        assert_eq!(read_at_most(&file, 100).unwrap(), [7; 100]);
        assert_eq!(read_at_most(&file, 99).unwrap_err().to_string(), "it holds more than 99 bytes");
        let endless = MachineSources.pattern_file("/dev/zero");
        assert!(endless.unwrap_err().contains("it holds more than 16777216 bytes"));
    }
}
