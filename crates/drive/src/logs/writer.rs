//! The thread that turns rows into lines and writes the log files.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};

use fsdyno_os::thread::{ThreadError, set_affinity};

use super::deflate::zlib;
use super::lines::{LINE_BYTES, LineContent, LogLine, Style, write_histogram};
use super::rows::{Chunk, LoggedFigure};
use super::samples::Layout;
use crate::bounds::Bounds;

/// Stack of the thread, bytes.
const STACK_BYTES: usize = 64 * 1024;

/// Text that is collected before it is written, bytes.
const TEXT_BYTES: usize = 64 * 1024;

/// One open log file.
pub struct LogFile {
    /// Path of the file.
    pub path: PathBuf,
    /// Open for writing.
    pub file: File,
    /// Least number of bytes of samples in each compressed part; `None`: the file contains lines.
    pub compressed_bytes: Option<u64>,
}

/// The log files of one worker.
pub struct Targets {
    /// Index of the file for each subject; `None`: not logged.
    pub files: [Option<usize>; LoggedFigure::ALL.len()],
    /// The layout of the lines.
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
    /// Sends rows to the thread; it returns the empty chunk through `back`.
    pub(super) fn send(&self, worker: usize, chunk: Chunk, back: Sender<Chunk>) {
        // If the thread has ended, it has already reported why.
        let _ = self.0.send(Message::Rows { worker, chunk, back });
    }
}

/// The log files of a run, and the thread that writes them.
pub struct LogWriter {
    sender: LogSender,
    done: Receiver<Vec<String>>,
}

impl LogWriter {
    /// Begins to write these files; `targets` by worker. `cpus`: the processors of the thread; empty: any. The error
    /// is a sentence.
    pub fn begin(files: Vec<LogFile>, targets: Vec<Targets>, cpus: Vec<u32>) -> Result<LogWriter, String> {
        let (sender, messages) = channel();
        let (ended, done) = channel();
        let files = files.into_iter().map(Writing::new).collect();
        let mut scribe = Scribe { files, targets, line: LogLine::new(), text: vec![0; TEXT_BYTES] };
        let work = move || {
            let unbound = bind(&cpus);
            scribe.work(&messages);
            // If the thread was too slow, nobody receives this any more.
            let _ = ended.send(scribe.failures().chain(unbound).collect());
        };
        fsdyno_os::thread::begin("logs", STACK_BYTES, work)
            .map_err(|error| format!("fio: cannot write logs: cannot start a thread: {error}"))?;
        Ok(LogWriter { sender: LogSender(sender), done })
    }

    /// The channel to the thread, for the workers.
    pub fn sender(&self) -> LogSender {
        self.sender.clone()
    }

    /// Waits until the thread has written the last line; all workers must have ended. Returns messages about lines
    /// that could not be written.
    pub fn end(self, bounds: Bounds) -> Vec<String> {
        let _ = self.sender.0.send(Message::End);
        self.done.recv_timeout(bounds.patience()).unwrap_or_else(|_| {
            let seconds = bounds.seconds();
            vec![format!("fio: the logs are incomplete: their storage did not respond for {seconds} s")]
        })
    }
}

/// Binds the calling thread to the processors of `log_compression_cpus`; returns a sentence if that is not possible.
fn bind(cpus: &[u32]) -> Option<String> {
    let refused = if cpus.is_empty() { None } else { set_affinity(cpus).err() };
    refused.map(|error| format!("fio: {}", ThreadError { option: "log_compression_cpus", ..error }))
}

/// One file being written.
struct Writing {
    path: PathBuf,
    file: File,
    /// `None`: the file contains lines.
    compression: Option<Compression>,
    /// After the first failure nothing more is written, so that the file has no gap in the middle.
    failed: Option<std::io::Error>,
}

/// Samples that wait until there are enough to compress.
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

    /// Compresses and writes the collected samples, if there are at least `bytes_min`.
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
    /// Room for lines, [`TEXT_BYTES`].
    text: Vec<u8>,
}

impl Scribe {
    fn work(&mut self, messages: &Receiver<Message>) {
        while let Ok(Message::Rows { worker, mut chunk, back }) = messages.recv() {
            self.write(worker, &chunk);
            chunk.clear();
            // A worker that has ended does not receive the chunk.
            let _ = back.send(chunk);
        }
        self.files.iter_mut().for_each(|writing| writing.compress(1));
    }

    fn write(&mut self, worker: usize, chunk: &Chunk) {
        let Scribe { files, targets, line, text } = self;
        let Targets { files: indices, style } = &targets[worker];
        for subject in LoggedFigure::ALL {
            let Some(index) = indices[subject as usize] else { continue };
            let writing = &mut files[index];
            if let Some(compression) = &mut writing.compression {
                let layout = Layout::for_columns(style.columns);
                entries(chunk, subject, style).for_each(|entry| layout.put(&entry, &mut compression.samples));
                let bytes_min = compression.bytes_min;
                writing.compress(bytes_min);
                continue;
            }
            if subject == LoggedFigure::Histogram {
                let mut lines = Vec::new();
                chunk.histograms.iter().for_each(|row| write_histogram(&mut lines, row, chunk.epoch_ms));
                writing.write(&lines);
                continue;
            }
            let mut len = 0;
            for entry in entries(chunk, subject, style) {
                if len > TEXT_BYTES - LINE_BYTES {
                    writing.write(&text[..len]);
                    len = 0;
                }
                if let Some(to) = text[len..].first_chunk_mut() {
                    len += line.write(&entry, style.columns, to);
                }
            }
            writing.write(&text[..len]);
        }
    }

    fn failures(&self) -> impl Iterator<Item = String> {
        let failed = self.files.iter().filter_map(|file| Some((file, file.failed.as_ref()?)));
        failed.map(|(file, error)| {
            format!("fio: the log {} is incomplete: {error}", fsdyno_job::bytes::shown(&file.path))
        })
    }
}

/// The entries of a chunk in the log of `subject`.
fn entries(chunk: &Chunk, subject: LoggedFigure, style: &Style) -> impl Iterator<Item = LineContent> {
    chunk.rows.iter().filter_map(move |row| LineContent::of(row, subject, style, chunk.epoch_ms))
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
        recorder.transferred(Direction::Read as usize, 4096);
        let op = Op { kind: OpKind::Read, offset: 0, length: 4096, file: 0, priority: 0 };
        buffer.note(&op, (0, 5000), 50_000_000);
        buffer.close_windows(50_000_000, &recorder);
        let Ok(Message::Rows { chunk, .. }) = messages.try_recv() else { panic!("a sync may never come back") };
        assert_eq!(chunk.rows.len(), 5, "three latencies and two rates");
    }
}
