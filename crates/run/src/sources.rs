//! Files, environment and system calls that the job language may use, from this machine.

use std::io::Read;

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
        std::fs::read(path).map_err(|error| reason(&error))
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

/// The system's text without the number that Rust adds.
pub(crate) fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split_once(" (os error").map_or(text.clone(), |(before, _)| before.to_owned())
}
