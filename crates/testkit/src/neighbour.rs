//! Somebody else who uses a storage while a test looks at it.

use std::path::Path;
use std::process::{Child, Command};

/// Reads or writes until it is dropped.
#[derive(Debug)]
pub struct Neighbour(Child);

impl Neighbour {
    /// Reads a file past the page cache, again and again.
    pub fn reading(file: &Path) -> Neighbour {
        Neighbour::doing(&format!("dd if={} of=/dev/null bs=1M iflag=direct status=none", crate::word(file)))
    }

    /// Writes 64 MiB to a file past the page cache, again and again.
    pub fn writing(file: &Path) -> Neighbour {
        Neighbour::doing(&format!("dd if=/dev/zero of={} bs=1M count=64 oflag=direct status=none", crate::word(file)))
    }

    /// Writes the first 64 MiB of a file through the page cache and syncs them, again and again. The file keeps its length.
    pub fn rewriting(file: &Path) -> Neighbour {
        let file = crate::word(file);
        Neighbour::doing(&format!("dd if=/dev/zero of={file} bs=1M count=64 conv=notrunc,fdatasync status=none"))
    }

    fn doing(line: &str) -> Neighbour {
        // With a group of processes of its own, which ends as a whole.
        let line = format!("while true; do {line}; done");
        Neighbour(Command::new("timeout").args(["120", "bash", "-c", &line]).spawn().expect("timeout is there"))
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        crate::shell(&format!("kill {}", self.0.id()));
        self.0.wait().expect("it ends");
    }
}
