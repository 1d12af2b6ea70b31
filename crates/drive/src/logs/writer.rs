//! The thread that turns rows into lines.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};

use fsdyno_os::thread::{ThreadError, set_affinity};

use super::deflate::zlib;
use super::lines::{Entry, LogLine, Style, write_histogram};
use super::rows::{Chunk, Subject};
use super::samples::Layout;
use crate::bounds::Bounds;

/// Stack of the thread.
const STACK_BYTES: usize = 64 * 1024;

/// One open log file.
pub struct LogFile {
    /// Where it is.
    pub path: PathBuf,
    /// Open for writing.
    pub file: File,
    /// The file holds compressed samples, with at least this many bytes in each part; `None`: lines.
    pub compressed_bytes: Option<u64>,
}

/// Where the rows of one worker go.
pub struct Targets {
    /// Index of the file for each subject; `None`: not logged.
    pub files: [Option<usize>; Subject::ALL.len()],
    /// How the lines look.
    pub style: Style,
}

enum Message {
    Rows { worker: usize, chunk: Chunk, back: Sender<Chunk> },
    End,
}

/// The channel to the writer thread.
#[derive(Clone)]
pub struct LogSender(Sender<Message>);

impl LogSender {
    /// Hands rows over; the emptied chunk comes `back`.
    pub(super) fn send(&self, worker: usize, chunk: Chunk, back: Sender<Chunk>) {
        // Were the thread gone, its end has said why.
        let _ = self.0.send(Message::Rows { worker, chunk, back });
    }
}

/// The log files of a run, and the thread that writes them.
pub struct LogWriter {
    sender: LogSender,
    done: Receiver<Vec<String>>,
}

impl LogWriter {
    /// Begins to write these files, on these processors if any are named; `targets` by worker. The error is a sentence.
    pub fn begin(files: Vec<LogFile>, targets: Vec<Targets>, cpus: Vec<u32>) -> Result<LogWriter, String> {
        let (sender, messages) = channel();
        let (ended, done) = channel();
        let files = files.into_iter().map(Writing::new).collect();
        let mut scribe = Scribe { files, targets, line: LogLine::new(), bytes: Vec::new() };
        let work = move || {
            let unbound = bind(&cpus);
            scribe.work(&messages);
            // Nobody listens any more to one that was too slow.
            let _ = ended.send(scribe.failures().chain(unbound).collect());
        };
        fsdyno_os::thread::begin("logs", STACK_BYTES, work)
            .map_err(|error| format!("fio: cannot write logs: cannot start a thread: {error}"))?;
        Ok(LogWriter { sender: LogSender(sender), done })
    }

    /// The channel to it, for the workers.
    pub fn sender(&self) -> LogSender {
        self.sender.clone()
    }

    /// Waits for the last line once all workers have ended. Returns messages about lines that could not be written.
    pub fn end(self, bounds: Bounds) -> Vec<String> {
        let _ = self.sender.0.send(Message::End);
        self.done.recv_timeout(bounds.patience()).unwrap_or_else(|_| {
            let seconds = bounds.seconds();
            vec![format!("fio: the logs are incomplete: their storage did not respond for {seconds} s")]
        })
    }
}

/// Binds the calling thread to the processors of `log_compression_cpus`; a sentence if it may not run there.
fn bind(cpus: &[u32]) -> Option<String> {
    let refused = if cpus.is_empty() { None } else { set_affinity(cpus).err() };
    refused.map(|error| format!("fio: {}", ThreadError { option: "log_compression_cpus", ..error }))
}

/// One file being written.
struct Writing {
    path: PathBuf,
    file: File,
    /// `None`: it holds lines.
    compression: Option<Compression>,
    /// After the first failure nothing more is written, so that the file has no gap in the middle.
    failed: Option<std::io::Error>,
}

/// Samples that wait for more of them.
struct Compression {
    bytes_min: usize,
    samples: Vec<u8>,
}

impl Writing {
    fn new(log: LogFile) -> Writing {
        let compression = |bytes: u64| Compression { bytes_min: bytes.max(1) as usize, samples: Vec::new() };
        Writing { path: log.path, file: log.file, compression: log.compressed_bytes.map(compression), failed: None }
    }

    fn write(&mut self, bytes: &[u8]) {
        if self.failed.is_none() {
            self.failed = self.file.write_all(bytes).err();
        }
    }

    /// Writes what has been collected, if it is enough.
    fn compress(&mut self, bytes_min: usize) {
        let Some(compression) = self.compression.as_mut().filter(|some| some.samples.len() >= bytes_min) else {
            return;
        };
        let compressed = zlib(&compression.samples);
        compression.samples.clear();
        self.write(&compressed);
    }
}

struct Scribe {
    files: Vec<Writing>,
    targets: Vec<Targets>,
    line: LogLine,
    /// The lines of one chunk in one log.
    bytes: Vec<u8>,
}

impl Scribe {
    fn work(&mut self, messages: &Receiver<Message>) {
        while let Ok(Message::Rows { worker, mut chunk, back }) = messages.recv() {
            self.write(worker, &chunk);
            chunk.clear();
            // A worker that has ended wants no chunk.
            let _ = back.send(chunk);
        }
        self.files.iter_mut().for_each(|writing| writing.compress(1));
    }

    fn write(&mut self, worker: usize, chunk: &Chunk) {
        let Scribe { files, targets, line, bytes } = self;
        let Targets { files: indices, style } = &targets[worker];
        for subject in Subject::ALL {
            let Some(index) = indices[subject as usize] else { continue };
            let writing = &mut files[index];
            if let Some(compression) = &mut writing.compression {
                let layout = Layout::for_columns(style.columns);
                entries(chunk, subject, style).for_each(|entry| layout.put(&entry, &mut compression.samples));
                let bytes_min = compression.bytes_min;
                writing.compress(bytes_min);
                continue;
            }
            bytes.clear();
            match subject {
                Subject::Histogram => {
                    chunk.histograms.iter().for_each(|row| write_histogram(bytes, row, chunk.epoch_ms))
                }
                _ => entries(chunk, subject, style)
                    .for_each(|entry| bytes.extend_from_slice(line.of(&entry, style.columns))),
            }
            writing.write(bytes);
        }
    }

    fn failures(&self) -> impl Iterator<Item = String> {
        let failed = self.files.iter().filter_map(|file| Some((file, file.failed.as_ref()?)));
        failed.map(|(file, error)| {
            format!("fio: the log {} is incomplete: {error}", fsdyno_job::bytes::shown(&file.path))
        })
    }
}

/// What a chunk says in the log of `subject`.
fn entries(chunk: &Chunk, subject: Subject, style: &Style) -> impl Iterator<Item = Entry> {
    chunk.rows.iter().filter_map(move |row| Entry::of(row, subject, style, chunk.epoch_ms))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use fsdyno_job::{Direction, Logs, PerDirection, Reporting};
    use fsdyno_workload::{Op, OpKind};

    use super::*;
    use crate::logs::LogBuffer;
    use crate::recorder::{Recorder, RecorderOptions};

    #[test]
    fn the_rows_of_a_worker_are_handed_over_before_its_last_sync() {
        let (sender, messages) = channel();
        let logs = Logs { iops: Some("log".into()), window_ms: 100, ..Logs::default() };
        let reporting = Reporting { logs, ..Reporting::default() };
        let mut buffer = LogBuffer::new(0, &reporting, LogSender(sender), Arc::default());
        let mut recorder = Recorder::new(PerDirection::all(true), RecorderOptions::default(), 1);
        buffer.begin(0);
        recorder.transferred(Direction::Read, 4096);
        let op = Op { kind: OpKind::Read, offset: 0, length: 4096, file: 0 };
        buffer.note(&op, (0, 5000), 50_000_000, 0);
        buffer.close_windows(50_000_000, &recorder);
        let Ok(Message::Rows { chunk, .. }) = messages.try_recv() else { panic!("a sync may never come back") };
        assert_eq!(chunk.rows.len(), 5, "three latencies and two rates");
    }
}
