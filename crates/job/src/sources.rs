//! The trait through which the language reads files, variables and facts of the machine.

/// Files, variables and the machine.
pub trait Sources {
    /// The text ([`bytes`](crate::bytes)) of a job file or an included file; `-` is standard input. The error is the reason alone, such
    /// as `No such file or directory`.
    fn job_file(&mut self, path: &str) -> Result<String, String>;
    /// The bytes of a file that a pattern names. The default takes them from [`Sources::job_file`].
    fn pattern_file(&mut self, path: &str) -> Result<Vec<u8>, String> {
        self.job_file(path).map(String::into_bytes)
    }
    /// An environment variable, for `${NAME}` in job files.
    fn variable(&self, name: &str) -> Option<String>;
    /// All regular files below a directory, for `opendir`, in the order of the directory. The error is the reason alone.
    fn files_below(&mut self, directory: &str) -> Result<Vec<String>, String> {
        Err(format!("{directory} cannot be read here"))
    }
    /// What `$pagesize`, `$mb_memory` and `$ncpus` stand for.
    fn machine(&self) -> Machine;
}

/// What job files may ask about the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Bytes of a page of memory.
    pub page_bytes: u64,
    /// Memory in MiB.
    pub memory_mib: u64,
    /// Processors in use.
    pub processors: u32,
}
