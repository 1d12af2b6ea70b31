//! `write_iolog`: writes a job's requests as they are issued, in fio's text format, version 3.

use std::fs::File;
use std::io::{self, Write};

use fsdyno_workload::{Op, OpKind};

/// Bytes that are written to the log at once.
const CHUNK_BYTES: usize = 64 * 1024;

/// The log of one worker. If writing it fails, `finish` returns the error.
#[derive(Debug)]
pub struct Recording {
    file: File,
    text: Vec<u8>,
    /// For each file: a blank, its name, a blank.
    names: Vec<Box<[u8]>>,
    began_ns: u64,
    /// Offset of the last transfer, which fio writes for syncs.
    last_offset: u64,
    failed: io::Result<()>,
}

impl Recording {
    /// Begins the log with its header and the names of the files. Times count from `now_ns`.
    pub fn begin(file: File, names: impl Iterator<Item = Vec<u8>>, now_ns: u64) -> Recording {
        let names = names.map(|name| [b" ", name.as_slice(), b" "].concat().into_boxed_slice()).collect();
        let text = Vec::with_capacity(CHUNK_BYTES);
        let mut recording = Recording { file, text, names, began_ns: now_ns, last_offset: 0, failed: Ok(()) };
        recording.text.extend_from_slice(b"fio version 3 iolog\n");
        recording.note_files("add", now_ns);
        recording
    }

    /// Writes a line `add`, `open` or `close` for each file.
    pub fn note_files(&mut self, action: &str, now_ns: u64) {
        for file in 0..self.names.len() {
            self.put(file, action, now_ns);
            self.text.push(b'\n');
        }
    }

    /// Writes the line of a request when it is issued.
    pub(crate) fn note(&mut self, op: &Op, now_ns: u64) {
        let transfers = op.kind.direction().is_some();
        let range = match op.kind {
            OpKind::Sync | OpKind::DataSync => (self.last_offset, 0),
            _ => (op.offset, op.length),
        };
        if transfers {
            self.last_offset = op.offset;
        }
        self.put(op.file as usize, op.kind.word(), now_ns);
        self.text.push(b' ');
        self.number(range.0);
        self.text.push(b' ');
        self.number(range.1);
        self.text.push(b'\n');
    }

    /// Writes the end of the job, or of one of its passes: a line for each sync of a file, and one for each file.
    pub fn note_end(&mut self, synced: u32, now_ns: u64) {
        for file in 0..synced.min(self.names.len() as u32) {
            self.note(&Op { offset: 0, length: 0, file, kind: OpKind::Sync, priority: 0 }, now_ns);
        }
        self.note_files("close", now_ns);
    }

    /// Writes the end of a pass, and that the files are open again.
    pub(crate) fn note_next_pass(&mut self, synced: u32, now_ns: u64) {
        self.note_end(synced, now_ns);
        self.note_files("open", now_ns);
    }

    /// Writes what is still in memory, and returns the file.
    ///
    /// # Errors
    /// If not all lines could be written.
    pub fn finish(mut self) -> io::Result<File> {
        self.write();
        self.failed.map(|()| self.file)
    }

    fn put(&mut self, file: usize, action: &str, now_ns: u64) {
        // The text after the name takes less than 100 bytes.
        let name = self.names.get(file).map_or(0, |name| name.len());
        if self.text.len() + name + 100 > CHUNK_BYTES {
            self.write();
        }
        self.number(now_ns.saturating_sub(self.began_ns) / 1000);
        self.text.extend_from_slice(self.names.get(file).map_or(b" - ", |name| name));
        self.text.extend_from_slice(action.as_bytes());
    }

    #[cold]
    fn write(&mut self) {
        if self.failed.is_ok() {
            self.failed = self.file.write_all(&self.text);
        }
        self.text.clear();
    }

    fn number(&mut self, mut number: u64) {
        let mut digits = [b'0'; 20];
        let mut at = digits.len();
        loop {
            at -= 1;
            digits[at] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                break;
            }
        }
        self.text.extend_from_slice(&digits[at..]);
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Seek};

    use fsdyno_os::files::nameless;

    use super::*;

    #[test]
    fn lines_are_fios_and_none_is_lost() {
        let mut recording = Recording::begin(nameless().unwrap(), ["a", "b"].map(|name| name.into()).into_iter(), 1000);
        recording.note_files("open", 6_999);
        let op = |kind, file, offset, length| Op { offset, length, file, kind, priority: 0 };
        recording.note(&op(OpKind::Write, 1, 4096, u64::MAX), 2_001_000);
        recording.note(&op(OpKind::DataSync, 0, 0, 0), 2_002_000);
        for number in 0..10_000 {
            recording.note(&op(OpKind::Trim, 1, number * 512, 512), 3_001_000 + number * 1000);
        }
        recording.note_end(2, 20_001_000);
        let (mut file, mut text) = (recording.finish().unwrap(), String::new());
        file.rewind().unwrap();
        file.read_to_string(&mut text).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let begin = ["fio version 3 iolog", "0 a add", "0 b add", "5 a open", "5 b open"];
        assert_eq!(lines[..5], begin);
        assert_eq!(
            lines[5..8],
            ["2000 b write 4096 18446744073709551615", "2001 a datasync 4096 0", "3000 b trim 0 512"]
        );
        assert_eq!(lines[7..10_007].len(), 10_000);
        assert_eq!(
            lines[10_006..],
            [
                "12999 b trim 5119488 512",
                "20000 a sync 5119488 0",
                "20000 b sync 5119488 0",
                "20000 a close",
                "20000 b close"
            ]
        );
    }

    #[test]
    fn a_full_storage_is_told() {
        let full = File::options().write(true).open("/dev/full").unwrap();
        assert!(Recording::begin(full, std::iter::empty(), 0).finish().is_err());
    }
}
