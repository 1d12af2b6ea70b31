//! `--bandwidth-log`: logs what all jobs together transferred, a line for each direction twice per second.

use std::fs::File;
use std::io::{self, Write};

use fsdyno_job::{Direction, PerDirection};
use fsdyno_run::View;

/// Least length of a window, ns: as in fio, the interval of the observer's checks makes it longer.
const WINDOW_NS: u64 = 500_000_000;

/// The three files, and the totals when the window began.
pub(super) struct BandwidthLog {
    files: PerDirection<File>,
    opened_ns: u64,
    bytes_then: PerDirection<u64>,
    /// Time of the last check, ns, and the totals then.
    last: (u64, PerDirection<u64>),
    failed: Option<io::Error>,
}

impl BandwidthLog {
    /// Creates or empties the files `STEM-read_bw.log` and so on. The error is a sentence.
    pub(super) fn create(stem: &str) -> Result<BandwidthLog, String> {
        let create = |direction: Direction| {
            let path = format!("{stem}-{}_bw.log", direction.name());
            File::create(fsdyno_os::written::path(&path))
                .map_err(|error| format!("fio: cannot write the log {path}: {error}"))
        };
        let PerDirection { read, write, trim } = PerDirection::from_fn(create);
        let files = PerDirection { read: read?, write: write?, trim: trim? };
        Ok(BandwidthLog {
            files,
            opened_ns: 0,
            bytes_then: PerDirection::default(),
            last: Default::default(),
            failed: None,
        })
    }

    /// Closes a window when it is long enough; a direction without traffic gets a line, too.
    pub(super) fn watch(&mut self, view: &View<'_>) {
        let published = view.cells.iter().map(|cell| cell.published().bytes);
        let bytes = published.fold(PerDirection::default(), |sum, one| sum.zip(one).map(|(sum, one)| sum + one));
        self.look(view.elapsed_ns, bytes);
    }

    fn look(&mut self, elapsed_ns: u64, bytes: PerDirection<u64>) {
        self.last = (elapsed_ns, bytes);
        if elapsed_ns >= self.opened_ns + WINDOW_NS {
            self.close();
        }
    }

    /// Writes a line for each direction, up to the last check.
    fn close(&mut self) {
        let (elapsed_ns, bytes) = self.last;
        let spent_ms = ((elapsed_ns - self.opened_ns) / 1_000_000).max(1);
        let at_ms = elapsed_ns / 1_000_000;
        for (direction, mut file) in self.files.iter() {
            let done = bytes[direction].saturating_sub(self.bytes_then[direction]);
            let line = format!("{at_ms}, {}, {}, 0, 0\n", done * 1000 / spent_ms / 1024, direction as u8);
            // After a failure nothing more is written, so that the log has no gap.
            if self.failed.is_none() {
                self.failed = file.write_all(line.as_bytes()).err();
            }
        }
        (self.opened_ns, self.bytes_then) = (elapsed_ns, bytes);
    }

    /// Closes the last window if it contains any I/O. Returns why the log is incomplete, if it is.
    pub(super) fn finish(mut self) -> Option<String> {
        if self.last.1 != self.bytes_then {
            self.close();
        }
        self.failed.map(|error| format!("fio: the log of --bandwidth-log is not whole: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_closed_with_its_own_length() {
        let folder = tempfile::tempdir().unwrap();
        let stem = folder.path().join("agg").to_str().unwrap().to_owned();
        let mut log = BandwidthLog::create(&stem).unwrap();
        let bytes = |read, write| PerDirection { read, write, trim: 0 };
        log.look(400_000_000, bytes(1 << 20, 0));
        log.look(512_000_000, bytes(1 << 20, 0));
        log.look(1_536_000_000, bytes(3 << 20, 4096 * 1024));
        log.look(1_664_000_000, bytes(4 << 20, 4096 * 1024));
        assert!(log.finish().is_none());
        let text = |name: &str| std::fs::read_to_string(format!("{stem}-{name}_bw.log")).unwrap();
        assert_eq!(text("read"), "512, 2000, 0, 0, 0\n1536, 2000, 0, 0, 0\n1664, 8000, 0, 0, 0\n");
        assert_eq!(text("write"), "512, 0, 1, 0, 0\n1536, 4000, 1, 0, 0\n1664, 0, 1, 0, 0\n");
        assert_eq!(text("trim"), "512, 0, 2, 0, 0\n1536, 0, 2, 0, 0\n1664, 0, 2, 0, 0\n");
        assert!(BandwidthLog::create(&format!("{stem}/missing")).is_err());
    }
}
