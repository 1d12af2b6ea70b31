//! Reads one line of an iolog, version 2 or 3.

use crate::op::OpKind;

/// The beginning of a log's first line, before the version number.
const HEADER: &[u8] = b"fio version ";

/// The content of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TraceLine<'line> {
    /// Time since the beginning of the log, us (version 3).
    pub(super) at_us: u64,
    pub(super) file: &'line [u8],
    pub(super) action: Action,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Add,
    OpenOrClose,
    /// Offset and length.
    Io(OpKind, u64, u64),
    /// Waits until this time after the beginning, ms (version 2).
    Wait(u64),
}

/// The version that a header line names; `None`: this is not a header.
pub(super) fn version_of(line: &[u8]) -> Option<u32> {
    let rest = line.strip_prefix(HEADER)?;
    let number = rest.strip_suffix(b" iolog")?;
    u32::try_from(number_of(number)?).ok()
}

/// Reads a line.
///
/// # Errors
/// A sentence about what is wrong.
pub(super) fn line(text: &[u8], version: u32) -> Result<TraceLine<'_>, String> {
    let bad = || format!("bad iolog{version}: {}", shown(text));
    let mut fields = text.split(|byte| matches!(byte, b' ' | b'\t')).filter(|field| !field.is_empty());
    let at_us = match version {
        2 => 0,
        _ => fields.next().and_then(number_of).ok_or_else(bad)?,
    };
    let (file, word) = fields.next().zip(fields.next()).ok_or_else(bad)?;
    let numbers = match (fields.next(), fields.next(), fields.next()) {
        (None, ..) => None,
        (Some(offset), Some(length), None) => Some(number_of(offset).zip(number_of(length)).ok_or_else(bad)?),
        _ => return Err(bad()),
    };
    let action = match (word, numbers) {
        (b"add", None) => Action::Add,
        (b"open" | b"close", None) => Action::OpenOrClose,
        (b"wait", Some((ms, _))) if version == 2 => Action::Wait(ms),
        (_, Some((offset, length))) => match OpKind::named(word) {
            Some(kind) => Action::Io(kind, offset, length),
            None => return Err(format!("bad iolog file action: {}", shown(word))),
        },
        (_, None) if OpKind::named(word).is_some() => return Err(bad()),
        (_, None) => return Err(format!("bad iolog file action: {}", shown(word))),
    };
    Ok(TraceLine { at_us, file, action })
}

/// Reads a line of version 3 with a request to this file, as `line` does. Also returns the length of the line with
/// its end. `None`: the line is of another kind, or not complete.
pub(super) fn usual(text: &[u8], file: &[u8]) -> Option<(u64, OpKind, (u64, u64), usize)> {
    let (at_us, rest) = leading(text)?;
    let rest = rest.strip_prefix(b" ")?.strip_prefix(file)?.strip_prefix(b" ")?;
    let kinds = [OpKind::Read, OpKind::Write];
    let (kind, rest) = kinds.into_iter().find_map(|kind| Some((kind, rest.strip_prefix(kind.word().as_bytes())?)))?;
    let (offset, rest) = leading(rest.strip_prefix(b" ")?)?;
    let (length, rest) = leading(rest.strip_prefix(b" ")?)?;
    let rest = rest.strip_prefix(b"\n")?;
    Some((at_us, kind, (offset, length), text.len() - rest.len()))
}

/// The number at the beginning of a text, at most 18 digits, and the rest of the text.
#[inline]
fn leading(text: &[u8]) -> Option<(u64, &[u8])> {
    let (mut number, mut length) = (0, 0);
    for byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        number = number * 10 + u64::from(digit);
        length += 1;
        if length > 18 {
            return None;
        }
    }
    (length > 0).then(|| (number, &text[length..]))
}

fn shown(text: &[u8]) -> String {
    fsdyno_job::bytes::text(text).chars().take(80).collect()
}

/// A decimal number without anything else.
fn number_of(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0_u64, |number, digit| match digit {
        b'0'..=b'9' => number.checked_mul(10)?.checked_add(u64::from(digit - b'0')),
        _ => None,
    })
}
