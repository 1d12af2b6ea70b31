//! Rows as lines: `time (ms), value, direction, bytes[, offset], priority`.

use std::io::{self, Write};

use job::WindowValue;

use super::rows::{NO_SUBMISSION, Row, Subject};

/// How the lines of a job look.
#[derive(Clone, Debug)]
pub(super) struct Style {
    /// With the column of offsets.
    pub(super) offset: bool,
    /// What a window says.
    pub(super) value: WindowValue,
    /// The last column.
    pub(super) priority: String,
}

/// The value of one I/O in the log of `subject`.
fn value_of_request(subject: Subject, length: u32, slat_ns: u64, clat_ns: u64) -> u64 {
    match subject {
        // As fio has it: thousands of bytes per second, although a window is in KiB/s.
        Subject::Bandwidth => u64::from(length) * 1_000_000 / clat_ns.max(1),
        Subject::Iops => 1,
        Subject::Slat => slat_ns,
        Subject::Clat => clat_ns,
        Subject::Lat if slat_ns == NO_SUBMISSION => clat_ns,
        Subject::Lat => slat_ns.saturating_add(clat_ns),
    }
}

/// Writes the line of `row` for the log of `subject`; nothing if it has none there.
pub(super) fn write_line(out: &mut impl Write, row: &Row, subject: Subject, style: &Style) -> io::Result<()> {
    let (at_ms, direction, length, offset) = match *row {
        Row::Request { slat_ns: NO_SUBMISSION, .. } if subject == Subject::Slat => return Ok(()),
        Row::Request { at_ns, direction, length, offset, .. } => (at_ns / 1_000_000, direction, length, offset),
        Row::Window { subject: of, .. } if of != subject => return Ok(()),
        Row::Window { at_ms, direction, .. } => (at_ms, direction, 0, 0),
    };
    match *row {
        Row::Request { slat_ns, clat_ns, .. } => {
            write!(out, "{at_ms}, {}", value_of_request(subject, length, slat_ns, clat_ns))?;
        }
        Row::Window { value, largest, .. } => match style.value {
            WindowValue::Mean => write!(out, "{at_ms}, {value}")?,
            WindowValue::Largest => write!(out, "{at_ms}, {largest}")?,
            WindowValue::Both => write!(out, "{at_ms}, {value}, {largest}")?,
        },
    }
    write!(out, ", {}, {length}", direction as u8)?;
    if style.offset {
        write!(out, ", {offset}")?;
    }
    writeln!(out, ", {}", style.priority)
}
