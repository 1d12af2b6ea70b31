//! Sources for tests: job files and variables from memory.

use std::collections::HashMap;

use crate::{Machine, Sources};

#[derive(Default)]
pub(crate) struct Fake {
    files: HashMap<String, String>,
    variables: HashMap<String, String>,
}

impl Fake {
    pub(crate) fn file(mut self, path: &str, text: &str) -> Self {
        self.files.insert(path.to_owned(), text.to_owned());
        self
    }

    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.insert(name.to_owned(), value.to_owned());
        self
    }
}

impl Sources for Fake {
    fn job_file(&mut self, path: &str) -> Result<String, String> {
        self.files.get(path).cloned().ok_or_else(|| "No such file or directory".to_owned())
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).cloned()
    }

    fn machine(&self) -> Machine {
        Machine { page_bytes: 4096, memory_mib: 8000, processors: 2 }
    }
}
