//! Writes rows as lines: `time (ms), value[, largest], direction, bytes[, offset], priority[, issue time (ns)]`.

use fsdyno_job::WindowValue;

use super::rows::{HistogramRow, LogRow, LoggedFigure, NO_SUBMISSION};

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
    pub(super) fn of(row: &LogRow, subject: LoggedFigure, style: &Style, epoch_ms: u64) -> Option<LineContent> {
        match *row {
            LogRow::Request { at_ns, offset, slat_ns, clat_ns, length, direction, priority } => {
                if subject == LoggedFigure::Slat && slat_ns == NO_SUBMISSION {
                    return None;
                }
                let issued = matches!(subject, LoggedFigure::Slat | LoggedFigure::Clat);
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
fn value_of_request(subject: LoggedFigure, length: u64, slat_ns: u64, clat_ns: u64) -> u64 {
    match subject {
        // fio prints thousands of bytes per second for single I/Os, although it prints KiB/s for windows.
        LoggedFigure::Bandwidth => length.saturating_mul(1_000_000) / clat_ns.max(1),
        LoggedFigure::Iops => 1,
        LoggedFigure::Slat => slat_ns,
        LoggedFigure::Lat if slat_ns != NO_SUBMISSION => slat_ns.saturating_add(clat_ns),
        LoggedFigure::Clat | LoggedFigure::Lat | LoggedFigure::Histogram => clat_ns,
    }
}

/// Room for the longest line.
pub(super) const LINE_BYTES: usize = VALUE_END + END_BYTES;

/// Room for the twenty digits of the largest number.
const DIGITS: usize = 3 * TOGETHER;

/// Room for the time and what separates it from the value.
const TIME_BYTES: usize = 24;

/// Where the value ends and the columns after it begin.
const VALUE_END: usize = TIME_BYTES + DIGITS;

/// Room for all columns after the value.
const END_BYTES: usize = 128;

/// Most lines are not longer, bytes.
const USUAL_BYTES: usize = 64;

/// A line: the value is written backwards from a fixed place, as its digits are produced, and the time before it. Most
/// lines have the same time and the same end as the line before, so that these are kept.
pub(super) struct LogLine {
    bytes: [u8; LINE_BYTES],
    /// End of the line.
    end: usize,
    /// What the columns after the value were made of; `None`: they differ from line to line.
    end_of: Option<End>,
    at_ms: Option<u64>,
    /// The time and what separates it from the value, at the end of this array.
    time: [u8; TIME_BYTES],
    time_len: usize,
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
        LogLine {
            bytes: [0; LINE_BYTES],
            end: VALUE_END,
            end_of: None,
            at_ms: None,
            time: [0; TIME_BYTES],
            time_len: 0,
        }
    }

    /// Writes the line of an entry to the beginning of `to` and returns its length. Bytes after the line have no meaning.
    #[inline]
    pub(super) fn write(&mut self, entry: &LineContent, columns: Columns, to: &mut [u8; LINE_BYTES]) -> usize {
        if self.at_ms != Some(entry.at_ms) {
            self.set_time(entry.at_ms);
        }
        let end_of = End::of(entry, columns);
        if end_of.is_none() || end_of != self.end_of {
            self.set_end(entry, columns);
            self.end_of = end_of;
        }
        let start = put_number(&mut self.bytes, VALUE_END, entry.value);
        if let Some(place) = self.bytes[..start].last_chunk_mut() {
            *place = self.time;
        }
        let start = start - self.time_len;
        let len = self.end - start;
        // A piece of known length is copied without a call.
        match (self.bytes[start..].first_chunk::<USUAL_BYTES>(), to.first_chunk_mut()) {
            (Some(from), Some(to)) if len <= USUAL_BYTES => *to = *from,
            _ => to[..len].copy_from_slice(&self.bytes[start..self.end]),
        }
        len
    }

    #[cold]
    fn set_time(&mut self, at_ms: u64) {
        self.at_ms = Some(at_ms);
        let mut text = [0; VALUE_END];
        text[VALUE_END - 2..].copy_from_slice(b", ");
        let start = put_number(&mut text, VALUE_END - 2, at_ms);
        self.time_len = VALUE_END - start;
        self.time.copy_from_slice(&text[VALUE_END - TIME_BYTES..]);
    }

    #[inline(never)]
    fn set_end(&mut self, entry: &LineContent, columns: Columns) {
        /// The kernel's number of the real-time class.
        const REAL_TIME: u16 = 1;
        let (bytes, mut end) = (&mut self.bytes, VALUE_END);
        let mut put = |text: &[u8]| {
            bytes[end..end + text.len()].copy_from_slice(text);
            end += text.len();
        };
        let mut column = |number: u64| {
            let mut digits = [0; DIGITS];
            let start = put_number(&mut digits, DIGITS, number);
            put(b", ");
            put(&digits[start..]);
        };
        if columns.both {
            column(entry.largest);
        }
        column(entry.direction.into());
        column(entry.length);
        if columns.offset {
            column(entry.offset);
        }
        if columns.whole_priority {
            put(format!(", {:#06x}", entry.priority).as_bytes());
        } else {
            column(u64::from(entry.priority >> 13 == REAL_TIME));
        }
        if columns.issue_time {
            put(format!(", {}", entry.issue_ns).as_bytes());
        }
        put(b"\n");
        self.end = end;
    }
}

/// Number of digits that are made together.
const TOGETHER: usize = 8;

/// The eight digits of a number below 100,000,000, each in a byte, the first one lowest. All pieces of a step are divided
/// by one multiplication: by 10,000, then by 100, then by 10.
#[inline]
fn eight_digits(number: u64) -> u64 {
    let fours = (number / 10_000) | ((number % 10_000) << 32);
    let hundreds = ((fours * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let pairs = hundreds | ((fours - 100 * hundreds) << 16);
    let tens = ((pairs * 103) >> 10) & 0x000f_000f_000f_000f;
    tens | ((pairs - 10 * tens) << 8)
}

/// Writes a number that ends before `end`, and returns where it starts. The bytes before it have no meaning.
#[inline]
fn put_number(text: &mut [u8], end: usize, number: u64) -> usize {
    const ALL: u64 = 10_u64.pow(TOGETHER as u32);
    let (mut rest, mut start) = (number, end);
    loop {
        start -= TOGETHER;
        let digits = eight_digits(rest % ALL);
        if let Some(place) = text[start..].first_chunk_mut() {
            *place = (digits | 0x3030_3030_3030_3030).to_le_bytes();
        }
        if rest < ALL {
            // The last digit stays if all are zeros.
            return start + (digits | 1 << 56).trailing_zeros() as usize / 8;
        }
        rest /= ALL;
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
            let mut to = [0; LINE_BYTES];
            let len = line.write(&entry, columns, &mut to);
            String::from_utf8(to[..len].to_vec()).expect("a line is text")
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
        let mut to = [0; LINE_BYTES];
        let len = LogLine::new().write(&entry, columns, &mut to);
        let line = String::from_utf8(to[..len].to_vec()).expect("a line is text");
        assert_eq!(line, format!("{most}, {most}, {most}, {}, {most}, {most}, 0x4007, {most}\n", u32::MAX));
    }

    #[test]
    fn numbers_have_all_of_their_digits() {
        let powers = (0..20).map(|power| 10_u64.pow(power));
        for number in powers.flat_map(|power| [power - 1, power, power + 1, power / 7 * 12]).chain([u64::MAX, 907, 80])
        {
            let mut text = [0; DIGITS];
            let start = put_number(&mut text, DIGITS, number);
            assert_eq!(std::str::from_utf8(&text[start..]), Ok(number.to_string().as_str()));
        }
    }
}
