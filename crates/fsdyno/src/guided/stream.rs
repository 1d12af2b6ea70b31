//! `--live`: writes events for programs: one JSON object per line (docs/live-stream.md). Counts are the difference to
//! the previous line, so that a reader needs no memory, and the differences of a step add up to its row.

use std::io::{self, Write};
use std::path::Path;

use fsdyno_guide::watch::{Amount, LiveFigures, LivePhase, Step, StepTotals};
use fsdyno_guide::{Problem, Watcher};
use fsdyno_os::files::create_growing;
use fsdyno_results::{Row, RunRecord, Study};
use fsdyno_text::escape;
use serde_json::{Map, Value, json};

use crate::process::VERSION;
use crate::process::streams::print_stderr;

/// Version of the lines; raised whenever a key is removed or changes its meaning.
const SCHEMA: u32 = 1;

/// Least interval between two lines of progress, ms; a little less than a second, because counts are renewed about each
/// second, not exactly.
const LEAST_MS: u64 = 900;

/// The stream.
pub(crate) struct Stream {
    /// Where the lines go; `None`: the reader has closed it.
    sink: Option<Box<dyn Write>>,
    /// When the step's last line was written, ms since the step began; the totals that it contained follow.
    reported_ms: u64,
    reported: StepTotals,
    reported_layout_bytes: u64,
}

impl Stream {
    /// Opens the stream to a file, or to stdout for `-`.
    ///
    /// # Errors
    /// When the file cannot be made.
    pub(crate) fn to(path: &Path) -> Result<Stream, Problem> {
        if is_stdout(path) {
            return Ok(Stream::into(Box::new(io::stdout())));
        }
        let file = create_growing(path).map_err(|error| {
            Problem::new(format!("cannot write the live stream to {}: {error}", path.display()))
                .with_next("use a new file in a writable directory, or - for standard output")
        })?;
        Ok(Stream::into(Box::new(file)))
    }

    fn into(sink: Box<dyn Write>) -> Stream {
        Stream { sink: Some(sink), reported_ms: 0, reported: StepTotals::default(), reported_layout_bytes: 0 }
    }

    /// Writes the first line.
    pub(crate) fn open(&mut self, command: &[String]) {
        self.line("open", json!({ "version": VERSION, "command": command }));
    }

    /// Writes the last line, with the result.
    pub(crate) fn close(&mut self, study: &Result<Study, Problem>) {
        self.line(
            "close",
            match study {
                Ok(study) => json!({ "study": study.id, "complete": study.complete, "rows": study.rows.len() }),
                Err(problem) => json!({ "problem": problem.what, "next": problem.next }),
            },
        );
    }

    fn line(&mut self, event: &str, keys: Value) {
        let Some(sink) = &mut self.sink else { return };
        let mut object = Map::new();
        object.insert("schema".to_string(), json!(SCHEMA));
        object.insert("event".to_string(), json!(event));
        object.insert("at_ms".to_string(), json!(fsdyno_run::now_ms()));
        if let Value::Object(keys) = keys {
            object.extend(keys);
        }
        let written =
            writeln!(sink, "{}", escape::json_report(&Value::Object(object).to_string())).and_then(|()| sink.flush());
        if let Err(error) = written {
            self.sink = None;
            print_stderr(&format!("fsdyno: the live stream stops here: {error}"));
        }
    }

    /// The difference to the totals written before, as keys. At the end of a step it may be negative, so that the sum is the
    /// row's total.
    fn difference(&mut self, now: StepTotals, ends: bool) -> Map<String, Value> {
        let reported = self.reported;
        let mut keys = Map::new();
        // An interim record counts the time until it was made; a step ends with its last I/O, which may be earlier.
        keys.insert("interval_ms".to_string(), json!(now.at_ms as i64 - reported.at_ms as i64));
        let mut amount = |prefix: &str, now: Option<Amount>, reported: Option<Amount>| {
            let earlier = reported.unwrap_or_default();
            let new =
                |now: u64, then: u64| if ends { now as i64 - then as i64 } else { now.saturating_sub(then) as i64 };
            let operations = now.map(|now| new(now.operations, earlier.operations));
            keys.insert(format!("{prefix}operations"), json!(operations));
            keys.insert(format!("{prefix}bytes"), json!(now.map(|now| new(now.bytes, earlier.bytes))));
        };
        amount("", Some(now.all), Some(reported.all));
        amount("read_", now.read, reported.read);
        amount("write_", now.write, reported.write);
        // If a stuck worker did not answer in time, totals fall back: what was written before stays counted.
        self.reported = StepTotals {
            at_ms: reported.at_ms.max(now.at_ms),
            all: larger(reported.all, now.all),
            read: now.read.map(|read| larger(reported.read.unwrap_or_default(), read)),
            write: now.write.map(|write| larger(reported.write.unwrap_or_default(), write)),
            latency: None,
        };
        keys
    }
}

/// Whether the path means standard output.
pub(crate) fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

fn larger(one: Amount, other: Amount) -> Amount {
    Amount { operations: one.operations.max(other.operations), bytes: one.bytes.max(other.bytes) }
}

impl Watcher for Stream {
    fn outline(&mut self, text: &str) {
        self.line("outline", json!({ "text": text }));
    }

    fn begin(&mut self, step: &Step) {
        (self.reported_ms, self.reported, self.reported_layout_bytes) = (0, StepTotals::default(), 0);
        let Step { target, title, number, of, .. } = step;
        self.line("step_begin", json!({ "step": number, "steps": of, "target": target, "title": title }));
    }

    fn progress(&mut self, step: &Step, figures: &LiveFigures) {
        let waited_ms = |now: u64, then: u64| now.saturating_sub(then) >= LEAST_MS;
        let due = match figures.totals {
            Some(totals) => waited_ms(totals.at_ms, self.reported.at_ms),
            // Counts are known after the first full second.
            None => figures.phase != LivePhase::Running && waited_ms(figures.elapsed_ms, self.reported_ms),
        };
        if !due {
            return;
        }
        self.reported_ms = figures.elapsed_ms;
        let mut keys = Map::new();
        keys.insert("step".to_string(), json!(step.number));
        keys.insert("phase".to_string(), json!(figures.phase.word()));
        keys.insert("elapsed_ms".to_string(), json!(figures.elapsed_ms));
        keys.insert("seconds_left".to_string(), json!(figures.seconds_left));
        if let Some(bytes) = figures.layout_bytes {
            keys.insert("layout_bytes".to_string(), json!(bytes.saturating_sub(self.reported_layout_bytes)));
            self.reported_layout_bytes = bytes.max(self.reported_layout_bytes);
        }
        if let Some(totals) = figures.totals {
            keys.extend(self.difference(totals, false));
            keys.insert("latency_ns_p50".to_string(), json!(totals.latency.map(|latency| latency.p50_ns)));
            keys.insert("latency_ns_p99".to_string(), json!(totals.latency.map(|latency| latency.p99_ns)));
        }
        self.line("progress", Value::Object(keys));
    }

    fn message(&mut self, text: &str) {
        self.line("message", json!({ "text": text }));
    }

    fn end(&mut self, step: &Step, row: &Row) {
        let mut keys = Map::new();
        keys.insert("step".to_string(), json!(step.number));
        keys.insert("target".to_string(), json!(step.target));
        keys.insert("pattern".to_string(), json!(row.pattern));
        keys.insert("round".to_string(), json!(row.round));
        keys.insert("trust".to_string(), json!(row.trust()));
        let findings: Vec<&str> = row.findings.iter().map(|finding| finding.id.as_str()).collect();
        keys.insert("findings".to_string(), json!(findings));
        if let Some(whole) = StepTotals::of_row(row) {
            keys.extend(self.difference(whole, true));
            keys.insert("total_ms".to_string(), json!(whole.at_ms));
            keys.insert("total_operations".to_string(), json!(whole.all.operations));
            keys.insert("total_bytes".to_string(), json!(whole.all.bytes));
        }
        self.line("step_end", Value::Object(keys));
    }
}

/// Passes every call on to two watchers.
pub(crate) struct TwoWatchers<'a> {
    pub(crate) one: &'a mut dyn Watcher,
    pub(crate) other: &'a mut dyn Watcher,
}

impl Watcher for TwoWatchers<'_> {
    fn outline(&mut self, text: &str) {
        self.one.outline(text);
        self.other.outline(text);
    }

    fn looks(&mut self, path: &Path) {
        self.one.looks(path);
        self.other.looks(path);
    }

    fn looked(&mut self) {
        self.one.looked();
        self.other.looked();
    }

    fn begin(&mut self, step: &Step) {
        self.one.begin(step);
        self.other.begin(step);
    }

    fn progress(&mut self, step: &Step, figures: &LiveFigures) {
        self.one.progress(step, figures);
        self.other.progress(step, figures);
    }

    fn message(&mut self, text: &str) {
        self.one.message(text);
        self.other.message(text);
    }

    fn end(&mut self, step: &Step, row: &Row) {
        self.one.end(step, row);
        self.other.end(step, row);
    }

    fn planned(&mut self, study: &Study, row: &Row) {
        self.one.planned(study, row);
        self.other.planned(study, row);
    }

    fn partial(&mut self, record: &RunRecord) {
        self.one.partial(record);
        self.other.partial(record);
    }

    fn grown(&mut self, study: &Study) {
        self.one.grown(study);
        self.other.grown(study);
    }
}

#[cfg(test)]
mod tests;
