//! Writes rows as lines: `time (ms), value[, largest], direction, bytes[, offset], priority[, issue time (ns)]`.

use fsdyno_job::WindowValue;

use super::rows::{HistogramRow, LogRow, NO_SUBMISSION, Subject};

/// The columns that not every log has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// The offset of the request.
    pub offset: bool,
    /// The largest value beside the mean.
    pub both: bool,
    /// The whole I/O priority; otherwise only whether the class is real time.
    pub whole_priority: bool,
    /// The time at which the request was issued.
    pub issue_time: bool,
}

/// The layout of a job's lines.
#[derive(Clone, Debug)]
pub struct Style {
    /// The optional columns.
    pub columns: Columns,
    /// The value that the line of a window shows.
    pub value: WindowValue,
    /// Class and level of the job's I/O priority, as the kernel encodes them.
    pub priority: u16,
}

/// The content of one line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LineContent {
    pub(super) at_ms: u64,
    pub(super) value: u64,
    pub(super) largest: u64,
    pub(super) direction: u32,
    pub(super) priority: u16,
    pub(super) length: u64,
    pub(super) offset: u64,
    pub(super) issue_ns: u64,
}

impl LineContent {
    /// The entry of `row` in the log of `subject`; `None`: this log has no line for the row.
    #[inline]
    pub(super) fn of(row: &LogRow, subject: Subject, style: &Style, epoch_ms: u64) -> Option<LineContent> {
        match *row {
            LogRow::Request { at_ns, offset, slat_ns, clat_ns, length, direction, priority } => {
                if subject == Subject::Slat && slat_ns == NO_SUBMISSION {
                    return None;
                }
                let issued = matches!(subject, Subject::Slat | Subject::Clat);
                Some(LineContent {
                    at_ms: at_ns / 1_000_000 + epoch_ms,
                    value: value_of_request(subject, length, slat_ns, clat_ns),
                    largest: 0,
                    direction: direction as u32,
                    priority: if priority == 0 { style.priority } else { priority },
                    length,
                    offset,
                    issue_ns: if issued { at_ns.saturating_sub(clat_ns) } else { 0 },
                })
            }
            LogRow::Window { at_ms, value, largest, subject: of, direction } => {
                let value = if style.value == WindowValue::Largest { largest } else { value };
                let at_ms = at_ms + epoch_ms;
                let direction = direction as u32;
                (of == subject).then(|| LineContent { at_ms, value, largest, direction, ..LineContent::default() })
            }
        }
    }
}

/// The value of one I/O in the log of `subject`.
#[inline]
fn value_of_request(subject: Subject, length: u64, slat_ns: u64, clat_ns: u64) -> u64 {
    match subject {
        // fio prints thousands of bytes per second for single I/Os, although it prints KiB/s for windows.
        Subject::Bandwidth => length.saturating_mul(1_000_000) / clat_ns.max(1),
        Subject::Iops => 1,
        Subject::Slat => slat_ns,
        Subject::Lat if slat_ns != NO_SUBMISSION => slat_ns.saturating_add(clat_ns),
        Subject::Clat | Subject::Lat | Subject::Histogram => clat_ns,
    }
}

/// Room for seven numbers of twenty digits and the separators.
const LINE_BYTES: usize = 192;

/// A line that is written from its end to its start, as the digits of a number are produced.
pub(super) struct LogLine {
    bytes: [u8; LINE_BYTES],
    start: usize,
    /// Start of the part after the value, and its content. Most lines have the same part as the line before, so that
    /// it is reused.
    end: Option<(usize, End)>,
}

/// The columns after the value that are often equal in neighbouring lines.
#[derive(Clone, Copy, PartialEq, Eq)]
struct End {
    direction: u32,
    length: u64,
    priority: u16,
}

impl End {
    /// `None`: this part differs in each line.
    #[inline]
    fn of(entry: &LineContent, columns: Columns) -> Option<End> {
        let LineContent { direction, length, priority, .. } = *entry;
        let differs = columns.offset || columns.both || columns.issue_time || columns.whole_priority;
        (!differs).then_some(End { direction, length, priority })
    }
}

impl LogLine {
    pub(super) fn new() -> LogLine {
        LogLine { bytes: [0; LINE_BYTES], start: LINE_BYTES, end: None }
    }

    /// Writes the line of an entry.
    #[inline]
    pub(super) fn of(&mut self, entry: &LineContent, columns: Columns) -> &[u8] {
        let end = End::of(entry, columns);
        match self.end {
            Some((start, last)) if end == Some(last) => self.start = start,
            _ => {
                self.behind_value(entry, columns);
                self.end = end.map(|end| (self.start, end));
            }
        }
        self.number(entry.value);
        self.put(b", ");
        self.number(entry.at_ms);
        &self.bytes[self.start..]
    }

    fn behind_value(&mut self, entry: &LineContent, columns: Columns) {
        /// The kernel's number of the real-time class.
        const REAL_TIME: u16 = 1;
        self.start = LINE_BYTES;
        self.put(b"\n");
        if columns.issue_time {
            self.number(entry.issue_ns);
            self.put(b", ");
        }
        if columns.whole_priority {
            self.hexadecimal(entry.priority);
        } else {
            self.number(u64::from(entry.priority >> 13 == REAL_TIME));
        }
        self.put(b", ");
        if columns.offset {
            self.number(entry.offset);
            self.put(b", ");
        }
        self.number(entry.length);
        self.put(b", ");
        self.number(u64::from(entry.direction));
        self.put(b", ");
        if columns.both {
            self.number(entry.largest);
            self.put(b", ");
        }
    }

    #[inline]
    fn put<const N: usize>(&mut self, text: &[u8; N]) {
        self.start -= N;
        self.bytes[self.start..self.start + N].copy_from_slice(text);
    }

    #[inline]
    fn number(&mut self, mut number: u64) {
        loop {
            self.put(&[b'0' + (number % 10) as u8]);
            number /= 10;
            if number == 0 {
                return;
            }
        }
    }

    #[cold]
    fn hexadecimal(&mut self, number: u16) {
        for digit in 0..4 {
            self.put(&[b"0123456789abcdef"[usize::from(number >> (digit * 4) & 15)]]);
        }
        self.put(b"0x");
    }
}

/// Writes the line of a histogram: `time (ms), direction, bytes, counts`.
pub(super) fn write_histogram(out: &mut Vec<u8>, row: &HistogramRow, epoch_ms: u64) {
    let first = [row.at_ms + epoch_ms, row.direction as u64, row.block_bytes];
    let numbers: Vec<String> = first.iter().chain(&row.counts).map(u64::to_string).collect();
    out.extend_from_slice(numbers.join(", ").as_bytes());
    out.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each line has the end of its own entry, even if the line before had another one.
    #[test]
    fn lines_that_follow_one_another() {
        let columns = Columns::default();
        let mut line = LogLine::new();
        let mut of = |value, direction, length, priority| {
            let entry = LineContent { at_ms: 7, value, direction, length, priority, ..LineContent::default() };
            String::from_utf8(line.of(&entry, columns).to_vec()).expect("a line is text")
        };
        assert_eq!(of(1_234, 0, 4_096, 0), "7, 1234, 0, 4096, 0\n");
        assert_eq!(of(5, 0, 4_096, 0), "7, 5, 0, 4096, 0\n");
        assert_eq!(of(5, 1, 4_096, 0), "7, 5, 1, 4096, 0\n");
        assert_eq!(of(5, 1, 512, 0), "7, 5, 1, 512, 0\n");
        assert_eq!(of(67_890, 1, 512, 0x2000), "7, 67890, 1, 512, 1\n");
        assert_eq!(of(0, 1, 512, 0), "7, 0, 1, 512, 0\n");
    }

    #[test]
    fn a_line_has_room_for_the_largest_numbers() {
        let most = u64::MAX;
        let entry = LineContent {
            at_ms: most,
            value: most,
            largest: most,
            direction: u32::MAX,
            priority: 0x4007,
            length: most,
            offset: most,
            issue_ns: most,
        };
        let columns = Columns { offset: true, both: true, whole_priority: true, issue_time: true };
        let line = String::from_utf8(LogLine::new().of(&entry, columns).to_vec()).expect("a line is text");
        assert_eq!(line, format!("{most}, {most}, {most}, {}, {most}, {most}, 0x4007, {most}\n", u32::MAX));
    }
}
