//! Another user of a storage, while a test measures it.

use std::path::Path;
use std::process::{Child, Command};

/// Reads or writes until it is dropped.
#[derive(Debug)]
pub struct Neighbour(Child);

impl Neighbour {
    /// Reads a file with direct I/O, repeatedly.
    pub fn reading(file: &Path) -> Neighbour {
        Neighbour::doing(&format!("dd if={} of=/dev/null bs=1M iflag=direct status=none", crate::word(file)))
    }

    /// Writes 64 MiB to a file with direct I/O, repeatedly.
    pub fn writing(file: &Path) -> Neighbour {
        Neighbour::doing(&format!("dd if=/dev/zero of={} bs=1M count=64 oflag=direct status=none", crate::word(file)))
    }

    /// Writes the first 64 MiB of a file through the page cache and syncs them, repeatedly. The file keeps its length.
    pub fn rewriting(file: &Path) -> Neighbour {
        let file = crate::word(file);
        Neighbour::doing(&format!("dd if=/dev/zero of={file} bs=1M count=64 conv=notrunc,fdatasync status=none"))
    }

    /// Reads a file through the page cache, repeatedly.
    pub fn reading_through_the_cache(file: &Path) -> Neighbour {
        Neighbour::doing(&format!("dd if={} of=/dev/null bs=1M status=none", crate::word(file)))
    }

    /// Writes 16 MiB of a file with direct I/O, from this MiB on, repeatedly.
    pub fn writing_from(file: &Path, from_mib: u64) -> Neighbour {
        let file = crate::word(file);
        let words = format!("bs=1M count=16 seek={from_mib} conv=notrunc oflag=direct status=none");
        Neighbour::doing(&format!("dd if=/dev/zero of={file} {words}"))
    }

    /// Runs a shell line repeatedly.
    pub fn doing(line: &str) -> Neighbour {
        // It has its own process group, which is ended as a whole.
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
        // A neighbour that failed or ended early did not disturb anything.
        assert!(ended.is_none() || std::thread::panicking(), "the neighbour ended by itself: {ended:?}");
    }
}
