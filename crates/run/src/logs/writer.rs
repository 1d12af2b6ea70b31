//! The thread that turns rows into lines.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};

use super::files::{LogFile, LogFiles, Targets};
use super::lines::write_line;
use super::rows::{Row, Subject};
use crate::bounds::Bounds;
use crate::plan::Plan;

enum Message {
    Rows { worker: usize, rows: Vec<Row>, back: Sender<Vec<Row>> },
    End,
}

/// The channel to the writer thread.
#[derive(Clone)]
pub(crate) struct LogSender(Sender<Message>);

impl LogSender {
    /// Hands rows over; the emptied chunk comes `back`.
    pub(super) fn rows(&self, worker: usize, rows: Vec<Row>, back: Sender<Vec<Row>>) {
        // Were the thread gone, its end has said why.
        let _ = self.0.send(Message::Rows { worker, rows, back });
    }
}

/// The log files of a run, and the thread that writes them.
pub(crate) struct LogWriter {
    sender: LogSender,
    done: Receiver<Vec<String>>,
}

impl LogWriter {
    /// Opens the files and begins; `None`: the plan has no logs. The error is a sentence.
    pub(crate) fn begin(plan: &Plan) -> Result<Option<LogWriter>, String> {
        if !plan.workers.iter().any(|worker| worker.job.reporting.logs.any()) {
            return Ok(None);
        }
        let opened = LogFiles::open(plan)?;
        let (sender, messages) = channel();
        let (ended, done) = channel();
        let writing = |log: LogFile| Writing { path: log.path, file: log.file, failed: None };
        let files = opened.files.into_iter().map(writing).collect();
        let mut scribe = Scribe { files, targets: opened.targets, lines: Vec::new() };
        std::thread::Builder::new()
            .name("logs".to_owned())
            .stack_size(64 * 1024)
            .spawn(move || {
                scribe.work(&messages);
                // Nobody listens any more to one that was too slow.
                let _ = ended.send(scribe.failures());
            })
            .map_err(|error| format!("fio: cannot write logs: cannot start a thread: {error}"))?;
        Ok(Some(LogWriter { sender: LogSender(sender), done }))
    }

    /// The channel to it, for the workers.
    pub(crate) fn sender(&self) -> LogSender {
        self.sender.clone()
    }

    /// Waits for the last line once all workers have ended. Returns messages about lines that could not be written.
    pub(crate) fn end(self, bounds: Bounds) -> Vec<String> {
        let _ = self.sender.0.send(Message::End);
        self.done.recv_timeout(bounds.patience()).unwrap_or_else(|_| {
            let seconds = bounds.seconds();
            vec![format!("fio: the logs are incomplete: their storage did not respond for {seconds} s")]
        })
    }
}

/// One file being written.
struct Writing {
    path: PathBuf,
    file: File,
    /// After the first failure nothing more is written, so that the file has no gap in the middle.
    failed: Option<std::io::Error>,
}

struct Scribe {
    files: Vec<Writing>,
    targets: Vec<Targets>,
    /// The lines of one chunk in one log.
    lines: Vec<u8>,
}

impl Scribe {
    fn work(&mut self, messages: &Receiver<Message>) {
        while let Ok(Message::Rows { worker, mut rows, back }) = messages.recv() {
            self.write(worker, &rows);
            rows.clear();
            // A worker that has ended wants no chunk.
            let _ = back.send(rows);
        }
    }

    fn write(&mut self, worker: usize, rows: &[Row]) {
        let Scribe { files, targets, lines } = self;
        let Targets { files: indices, style } = &targets[worker];
        for subject in Subject::ALL {
            let Some(index) = indices[subject as usize] else { continue };
            let writing = &mut files[index];
            lines.clear();
            let written = rows.iter().try_for_each(|row| write_line(lines, row, subject, style));
            if writing.failed.is_none() {
                writing.failed = written.and_then(|()| writing.file.write_all(lines)).err();
            }
        }
    }

    fn failures(&self) -> Vec<String> {
        let failed = self.files.iter().filter_map(|file| Some((file, file.failed.as_ref()?)));
        failed.map(|(file, error)| format!("fio: the log {} is incomplete: {error}", file.path.display())).collect()
    }
}
