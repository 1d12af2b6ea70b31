//! Reads the records of a log one after the other.

use std::collections::HashMap;
use std::io::Read;

use fsdyno_job::ReplayOptions;

use super::blocks::{self, BlockRecord};
use super::chunk::Chunk;
use super::lines::{self, Action};
use crate::op::{NO_INSTANT, Op, OpKind};

/// Longest line of a log, bytes, as in fio.
const LINE_BYTES_MAX: usize = 4096;

/// Largest number of requests in flight that a trace may have, as in fio.
const DEPTH_MAX: i64 = 1024;

/// An error in a log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} {number}: {reason}")]
pub struct LogError {
    /// `line` or `record`.
    pub what: &'static str,
    /// Number of that line or record, counted from 1.
    pub number: u64,
    /// Why it cannot be replayed, as a sentence.
    pub reason: String,
}

/// A request of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) op: Op,
    /// Time since the beginning of the log, ns, or [`NO_INSTANT`].
    pub(super) due_ns: u64,
    /// Line or record of the request, counted from 1.
    pub(super) number: u64,
}

/// The format of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Not known yet.
    Unknown,
    /// Lines of this version; 0: there was no header yet.
    Text(u32),
    /// Records of blktrace; `swapped`: numbers have the opposite byte order.
    Blocks { swapped: bool },
}

/// Reads a log. Each call must get the same input.
#[derive(Clone, Debug)]
pub(super) struct Records {
    options: ReplayOptions,
    chunk: Chunk,
    form: Form,
    /// Number of lines or records read so far.
    number: u64,
    files: Files,
    times: Times,
    /// Requests in flight in a trace: the current number, the largest number, and whether the trace records
    /// completions.
    under_way: (i64, i64, bool),
}

/// The files that a log has added, and their numbers if they have I/O.
#[derive(Clone, Debug, Default)]
struct Files {
    numbers: HashMap<Box<[u8]>, Option<u32>>,
    with_io: Vec<Box<[u8]>>,
    /// The file of the last request: its number, then its name in the log.
    last: u32,
    last_name: Box<[u8]>,
    /// The device of the last record.
    device: Option<(u32, u32)>,
}

/// Computes the times of requests, ns since the beginning of the log.
#[derive(Clone, Debug, Default)]
struct Times {
    /// Beginning of this part of the log: a header inside the log restarts the times.
    part_ns: u64,
    /// Times of the first and of the last record of this part, as they are in the log.
    first: Option<u64>,
    last: u64,
    latest_ns: u64,
    /// The time that a `wait` of version 2 sets for the next request.
    awaited_ns: Option<u64>,
}

impl Records {
    pub(super) fn new(options: &ReplayOptions) -> Records {
        Records {
            options: options.clone(),
            chunk: Chunk::new(),
            form: Form::Unknown,
            number: 0,
            files: Files::default(),
            times: Times::default(),
            under_way: (0, 1, false),
        }
    }

    pub(super) fn error(&self, reason: impl Into<String>) -> LogError {
        let what = if self.is_trace() { "record" } else { "line" };
        // An empty log ends in its first line.
        LogError { what, number: self.number.max(1), reason: reason.into() }
    }

    /// Whether the log is a trace of blktrace, whose files are devices `major:minor`.
    pub(super) fn is_trace(&self) -> bool {
        matches!(self.form, Form::Blocks { .. })
    }

    /// Largest number of requests in flight, if the log is a trace with completions.
    pub(super) fn depth(&self) -> Option<u32> {
        let (_, most, known) = self.under_way;
        self.is_trace().then_some(if known { most.clamp(1, DEPTH_MAX) as u32 } else { 1 })
    }

    /// Name of a file that has I/O.
    pub(super) fn file_name(&self, number: usize) -> &[u8] {
        &self.files.with_io[number]
    }

    /// The next request; `None`: there is none.
    pub(super) fn next(&mut self, input: &mut dyn Read) -> Result<Option<Record>, LogError> {
        if self.form == Form::Unknown {
            self.chunk.has(4, input).map_err(|error| self.error(error.to_string()))?;
            let swapped = blocks::is_swapped(self.chunk.rest());
            self.form = swapped.map_or(Form::Text(0), |swapped| Form::Blocks { swapped });
        }
        loop {
            let record = match self.form {
                Form::Blocks { swapped } => {
                    self.number += 1;
                    match blocks::next(&mut self.chunk, input, swapped).map_err(|reason| self.error(reason))? {
                        Some(block) => self.read_block(&block),
                        None => {
                            self.number -= 1;
                            return Ok(None);
                        }
                    }
                }
                Form::Text(3) if self.takes_usual() => match self.read_usual() {
                    Some(record) => record.map(Some),
                    None => match self.next_line(input)? {
                        Some(length) => self.read_line(length, 3),
                        None => return Ok(None),
                    },
                },
                Form::Text(version) => match self.next_line(input)? {
                    Some(length) => self.read_line(length, version),
                    None => return Ok(None),
                },
                Form::Unknown => return Ok(None),
            };
            if let Some(record) = record.map_err(|reason| self.error(reason))? {
                return Ok(Some(record));
            }
        }
    }

    /// Whether the quick reading is possible: there is a last file, and no request is left out or redirected.
    fn takes_usual(&self) -> bool {
        !self.files.last_name.is_empty() && self.options.skip == [false; 4] && self.options.redirect.is_none()
    }

    /// Reads the next line, if it is complete and a transfer of the last file.
    fn read_usual(&mut self) -> Option<Result<Record, String>> {
        let (at_us, kind, range, used) = lines::usual(self.chunk.rest(), &self.files.last_name)?;
        self.number += 1;
        let due_ns = self.times.of(at_us, ("us", 1000), self.options.time_percent);
        let read = due_ns.and_then(|due_ns| {
            let (offset, length) = place(&self.options, (kind, range.0, range.1))?;
            let op = Op { offset, length, file: self.files.last, kind, priority: 0 };
            Ok(Record { op, due_ns, number: self.number })
        });
        self.chunk.skip(used);
        Some(read)
    }

    /// Length of the next line, which is at the beginning of the chunk.
    fn next_line(&mut self, input: &mut dyn Read) -> Result<Option<usize>, LogError> {
        let mut searched = 0;
        loop {
            let rest = &self.chunk.rest()[searched..];
            if let Some(at) = rest.iter().position(|byte| *byte == b'\n') {
                self.number += 1;
                return Ok(Some(searched + at));
            }
            searched = self.chunk.rest().len();
            let wrong = |reason: &str| LogError { what: "line", number: self.number + 1, reason: reason.to_owned() };
            if searched > LINE_BYTES_MAX {
                return Err(wrong("longer than 4096 bytes: this is no iolog"));
            }
            match self.chunk.read_on(input) {
                Ok(true) => {}
                Ok(false) if searched == 0 => return Ok(None),
                Ok(false) => return Err(wrong("the log ends within a line: a part may be missing")),
                Err(error) => return Err(wrong(&format!("reading on failed: {error}"))),
            }
        }
    }

    /// Reads a line of this length. Returns its request, if it has one that is replayed.
    fn read_line(&mut self, length: usize, version: u32) -> Result<Option<Record>, String> {
        let text = &self.chunk.rest()[..length];
        if let Some(version) = lines::version_of(text) {
            if !matches!(version, 2 | 3) {
                return Err(format!("iolog version {version} is not supported, only 2 and 3"));
            }
            self.form = Form::Text(version);
            self.times.begin_part();
            self.chunk.skip(length + 1);
            return Ok(None);
        }
        if version == 0 {
            let reason = "no header \"fio version 2 iolog\" or \"fio version 3 iolog\": this is no iolog of fio";
            return Err(reason.to_owned());
        }
        let read = lines::line(text, version)?;
        let mut due_ns = NO_INSTANT;
        if version == 3 {
            due_ns = self.times.of(read.at_us, ("us", 1000), self.options.time_percent)?;
        }
        let record = match read.action {
            Action::Add => {
                self.files.numbers.entry(read.file.into()).or_default();
                None
            }
            Action::OpenOrClose => self.files.known(read.file).map(|()| None)?,
            Action::Wait(ms) => {
                self.times.awaited_ns = Some(ms.saturating_mul(1_000_000));
                None
            }
            Action::Io(kind, ..) if self.options.skip[kind.lane()] => self.files.known(read.file).map(|()| None)?,
            Action::Io(kind, offset, length) => {
                let (offset, length) = place(&self.options, (kind, offset, length))?;
                let file = self.files.number_of(read.file, self.options.redirect.as_deref())?;
                let due_ns = self.times.awaited_ns.take().unwrap_or(due_ns);
                Some(Record { op: Op { offset, length, file, kind, priority: 0 }, due_ns, number: self.number })
            }
        };
        self.chunk.skip(length + 1);
        Ok(record)
    }

    /// Reads a record. Returns its request, if it has one that is replayed.
    fn read_block(&mut self, block: &BlockRecord) -> Result<Option<Record>, String> {
        let (now, most, known) = self.under_way;
        // A request that was merged into another one reached the device as a part of it, so that it does not count.
        let most = if block.under_way() < 0 && !block.completes() { most } else { most.max(now) };
        self.under_way = ((now + block.under_way()).max(0), most, known || block.completes());
        let Some((kind, offset, length)) = block.request() else { return Ok(None) };
        let due_ns = self.times.of(block.time_ns, ("ns", 1), self.options.time_percent)?;
        if self.options.skip[kind.lane()] {
            return Ok(None);
        }
        let (offset, mut length) = place(&self.options, (kind, offset, length))?;
        if self.options.align > 1 {
            // Lengths of a trace are rounded up as well, as in fio.
            length = length.next_multiple_of(self.options.align);
        }
        let file = self.files.number_of_device(block.device, self.options.redirect.as_deref())?;
        Ok(Some(Record { op: Op { offset, length, file, kind, priority: 0 }, due_ns, number: self.number }))
    }
}

/// The offset and the length after scaling and alignment.
fn place(options: &ReplayOptions, (kind, offset, length): (OpKind, u64, u64)) -> Result<(u64, u64), String> {
    let is_transfer = kind.direction().is_some();
    if is_transfer && length == 0 {
        return Err(format!("{} of 0 bytes", kind.word()));
    }
    let mut offset = offset / options.offset_divisor.max(1);
    if options.align > 1 {
        offset &= !(options.align - 1);
    }
    if offset.checked_add(length).is_none_or(|end| end > i64::MAX as u64) {
        return Err(format!("{} beyond the end of any file", kind.word()));
    }
    // A sync in the log has the offset of the request before it, but it is the file that is synced.
    Ok(if is_transfer || kind == OpKind::SyncRange { (offset, length) } else { (0, 0) })
}

impl Files {
    fn known(&self, name: &[u8]) -> Result<(), String> {
        match self.numbers.contains_key(name) {
            true => Ok(()),
            false => Err(format!("{} has not been added before", fsdyno_job::bytes::text(name))),
        }
    }

    fn number_of_device(&mut self, device: (u32, u32), redirect: Option<&str>) -> Result<u32, String> {
        if self.device != Some(device) {
            let name = format!("{}:{}", device.0, device.1).into_bytes();
            self.numbers.entry(name.as_slice().into()).or_default();
            self.device = Some(device);
            self.last = self.number_of(&name, redirect)?;
        }
        Ok(self.last)
    }

    /// The number of a file with I/O; with `redirect` all I/O has the same one.
    fn number_of(&mut self, name: &[u8], redirect: Option<&str>) -> Result<u32, String> {
        if !self.last_name.is_empty() && *self.last_name == *name {
            return Ok(self.last);
        }
        self.known(name)?;
        self.last_name = name.into();
        if redirect.is_some() && !self.with_io.is_empty() {
            self.last = 0;
            return Ok(0);
        }
        let next = self.with_io.len() as u32;
        let number = self.numbers.get_mut(name).map_or(next, |number| *number.get_or_insert(next));
        if number == next {
            self.with_io.push(redirect.map_or_else(|| name.into(), |target| fsdyno_job::bytes::bytes(target).into()));
        }
        self.last = number;
        Ok(number)
    }
}

impl Times {
    fn begin_part(&mut self) {
        *self = Times { part_ns: self.latest_ns, latest_ns: self.latest_ns, ..Times::default() };
    }

    /// The time of a record, ns since the beginning of the log. `unit`: the unit of the record's time, and its length
    /// in ns.
    fn of(&mut self, at: u64, (unit, unit_ns): (&str, u64), percent: u32) -> Result<u64, String> {
        let first = *self.first.get_or_insert(at);
        if at < self.last {
            return Err(format!(
                "recorded at {at} {unit}, but the one before at {} {unit}: the log is out of order",
                self.last
            ));
        }
        self.last = at;
        let percent = u64::from(percent.max(1));
        let since_ns = match (at - first).checked_mul(unit_ns * 100) {
            Some(scaled) => scaled / percent,
            None => {
                let scaled = u128::from(at - first) * u128::from(unit_ns) * 100 / u128::from(percent);
                u64::try_from(scaled).unwrap_or(NO_INSTANT)
            }
        };
        self.latest_ns = self.part_ns.saturating_add(since_ns).min(NO_INSTANT - 1);
        Ok(self.latest_ns)
    }
}
