//! The thread that turns rows into lines.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use super::files::{LogFiles, Targets};
use super::lines::write_line;
use super::{Row, Subject};
use crate::plan::Plan;

/// What nobody adds to for so long is written out.
const IDLE: Duration = Duration::from_secs(1);

/// Longest wait for the last rows: storage that answers takes them in far less.
const PATIENCE: Duration = Duration::from_secs(30);

/// Bytes gathered for each call.
const BUFFER_BYTES: usize = 128 * 1024;

enum Message {
    Rows { worker: usize, rows: Vec<Row>, back: Sender<Vec<Row>> },
    End,
}

/// The way to the thread.
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
        let files = opened.files.into_iter().map(|log| Writing::new(log.path, log.file)).collect();
        let mut scribe = Scribe { files, targets: opened.targets };
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

    /// The way to it, for the workers.
    pub(crate) fn sender(&self) -> LogSender {
        self.sender.clone()
    }

    /// All workers have ended: waits for the last line. Sentences about what could not be written.
    pub(crate) fn end(self) -> Vec<String> {
        let _ = self.sender.0.send(Message::End);
        self.done.recv_timeout(PATIENCE).unwrap_or_else(|_| {
            let seconds = PATIENCE.as_secs();
            vec![format!("fio: the logs are not whole: their storage gave no answer for {seconds} s")]
        })
    }
}

/// One file being written.
struct Writing {
    path: PathBuf,
    out: BufWriter<File>,
    failed: Option<std::io::Error>,
}

impl Writing {
    fn new(path: PathBuf, file: File) -> Writing {
        Writing { path, out: BufWriter::with_capacity(BUFFER_BYTES, file), failed: None }
    }

    /// Tries; after the first failure nothing more, so that no gap hides in the middle.
    fn attempt(&mut self, write: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>) {
        if self.failed.is_none() {
            self.failed = write(&mut self.out).err();
        }
    }
}

struct Scribe {
    files: Vec<Writing>,
    targets: Vec<Targets>,
}

impl Scribe {
    fn work(&mut self, messages: &Receiver<Message>) {
        loop {
            match messages.recv_timeout(IDLE) {
                Ok(Message::Rows { worker, mut rows, back }) => {
                    self.write(worker, &rows);
                    rows.clear();
                    // A worker that has ended wants no chunk.
                    let _ = back.send(rows);
                }
                Err(RecvTimeoutError::Timeout) => self.flush(),
                Ok(Message::End) | Err(RecvTimeoutError::Disconnected) => return self.flush(),
            }
        }
    }

    fn write(&mut self, worker: usize, rows: &[Row]) {
        let Targets { files, style } = &self.targets[worker];
        for subject in Subject::ALL {
            let Some(index) = files[subject as usize] else { continue };
            self.files[index].attempt(|out| rows.iter().try_for_each(|row| write_line(out, row, subject, style)));
        }
    }

    fn flush(&mut self) {
        self.files.iter_mut().for_each(|file| file.attempt(BufWriter::flush));
    }

    fn failures(&self) -> Vec<String> {
        let failed = self.files.iter().filter_map(|file| Some((file, file.failed.as_ref()?)));
        failed.map(|(file, error)| format!("fio: the log {} is not whole: {error}", file.path.display())).collect()
    }
}
