//! What the language needs from the world.

/// Files, variables and the machine.
pub trait Sources {
    /// The text of a job file or an included file; `-` is standard input. The error is the reason alone, such
    /// as `No such file or directory`.
    fn job_file(&mut self, path: &str) -> Result<String, String>;
    /// The bytes of a file that a pattern names. Whoever has only texts gives those.
    fn pattern_file(&mut self, path: &str) -> Result<Vec<u8>, String> {
        self.job_file(path).map(String::into_bytes)
    }
    /// An environment variable, for `${NAME}` in job files.
    fn variable(&self, name: &str) -> Option<String>;
    /// What `$pagesize`, `$mb_memory` and `$ncpus` stand for.
    fn machine(&self) -> Machine;
}

/// The machine, as far as job files may ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Bytes of a page of memory.
    pub page_bytes: u64,
    /// Memory in MiB.
    pub memory_mib: u64,
    /// Processors in use.
    pub processors: u32,
}
