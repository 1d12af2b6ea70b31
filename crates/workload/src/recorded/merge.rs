//! `merge_blktrace_file`: merges several traces into one.

use std::io::{self, Write};
use std::sync::Arc;

use super::blocks::{self, BlockRecord};
use super::chunk::Chunk;
use super::input::{FromBegin, LogInput};
use super::records::LogError;

/// A trace that is merged.
#[derive(Clone, Debug)]
pub struct TraceToMerge {
    /// The records of the trace.
    pub log: Arc<dyn LogInput>,
    /// Factor of the times of this trace, percent.
    pub scale_percent: f64,
    /// Number of times that this trace is repeated.
    pub passes: u64,
}

/// Why traces could not be merged.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// The trace of this number, from 0, has an error.
    #[error("{1}")]
    Trace(usize, LogError),
    /// Writing failed.
    #[error("{0}")]
    Write(#[from] io::Error),
}

/// A trace during the merge, with its next record.
struct OpenTrace {
    part: TraceToMerge,
    index: usize,
    input: FromBegin,
    chunk: Chunk,
    swapped: bool,
    records: u64,
    pass: u64,
    /// Time of the last record so far, ns. At the end this is the length of the trace.
    length_ns: u64,
    next: Option<(u64, BlockRecord)>,
}

/// Writes the requests of all parts in the order of their times. Requests with the same time are in the order of the
/// parts.
pub fn merge(parts: Vec<TraceToMerge>, out: &mut dyn Write) -> Result<(), MergeError> {
    let mut ways = Vec::new();
    for (index, part) in parts.into_iter().enumerate() {
        let mut way = OpenTrace::new(part, index);
        way.go_on()?;
        ways.push(way);
    }
    loop {
        let first =
            ways.iter_mut().filter(|way| way.next.is_some()).min_by_key(|way| way.next.as_ref().map(|next| next.0));
        let Some(way) = first else { return Ok(()) };
        if let Some((at_ns, record)) = way.next.take() {
            out.write_all(&record.at(at_ns))?;
        }
        way.go_on()?;
    }
}

impl OpenTrace {
    fn new(part: TraceToMerge, index: usize) -> OpenTrace {
        let input = FromBegin::of(Arc::clone(&part.log));
        OpenTrace {
            part,
            index,
            input,
            chunk: Chunk::new(),
            swapped: false,
            records: 0,
            pass: 0,
            length_ns: 0,
            next: None,
        }
    }

    /// Finds the next request, which may belong to the next repetition.
    fn go_on(&mut self) -> Result<(), MergeError> {
        while self.pass < self.part.passes {
            if self.records == 0 {
                let begin = self.chunk.has(4, &mut self.input);
                begin.map_err(|error| self.error(error.to_string()))?;
                let swapped = blocks::is_swapped(self.chunk.rest());
                self.swapped = swapped.ok_or_else(|| self.error("this is not a trace of blktrace".to_owned()))?;
            }
            self.records += 1;
            let record = blocks::next(&mut self.chunk, &mut self.input, self.swapped);
            match record.map_err(|reason| self.error(reason))? {
                Some(record) if record.request().is_some() => {
                    if record.time_ns < self.length_ns && self.pass == 0 {
                        return Err(self.error("the trace is out of order".to_owned()));
                    }
                    if self.pass == 0 {
                        self.length_ns = record.time_ns;
                    }
                    let at_ns = self.pass.saturating_mul(self.length_ns).saturating_add(record.time_ns);
                    self.next = Some(((at_ns as f64 * self.part.scale_percent / 100.0) as u64, record));
                    return Ok(());
                }
                Some(_) => {}
                None => {
                    self.pass += 1;
                    (self.chunk, self.records) = (Chunk::new(), 0);
                    self.input = FromBegin::of(Arc::clone(&self.part.log));
                }
            }
        }
        Ok(())
    }

    fn error(&self, reason: String) -> MergeError {
        MergeError::Trace(self.index, LogError { what: "record", number: self.records, reason })
    }
}
