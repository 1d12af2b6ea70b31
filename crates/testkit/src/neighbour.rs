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

    /// Reads a file through the page cache, again and again.
    pub fn reading_through_the_cache(file: &Path) -> Neighbour {
        Neighbour::doing(&format!("dd if={} of=/dev/null bs=1M status=none", crate::word(file)))
    }

    /// Writes 16 MiB of a file past the page cache, from this MiB on, again and again.
    pub fn writing_from(file: &Path, from_mib: u64) -> Neighbour {
        let file = crate::word(file);
        let words = format!("bs=1M count=16 seek={from_mib} conv=notrunc oflag=direct status=none");
        Neighbour::doing(&format!("dd if=/dev/zero of={file} {words}"))
    }

    /// Runs a line of a shell again and again.
    pub fn doing(line: &str) -> Neighbour {
        // With a group of processes of its own, which ends as a whole.
        let line = format!("while {line}; do :; done");
        Neighbour(Command::new("timeout").args(["120", "bash", "-c", &line]).spawn().expect("timeout is there"))
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        let ended = self.0.try_wait().expect("it can be asked");
        if ended.is_none() {
            crate::shell(&format!("kill {}", self.0.id()));
            self.0.wait().expect("it ends");
        }
        // One that fails or ends early was nobody's neighbour.
        assert!(ended.is_none() || std::thread::panicking(), "the neighbour ended by itself: {ended:?}");
    }
}
