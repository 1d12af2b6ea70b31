//! Converts rows to the samples of fio's compressed logs and back. A sample is little-endian: time (ms), value,
//! direction with flags, priority, bytes, and an offset if the flags say so. Newer versions of fio have a second
//! value after the first, and an issue time at the end if the flags say so.

use super::lines::{Columns, LineContent};

/// Flags in the word of the direction: which columns a sample has.
const OFFSET: u32 = 1 << 31;
const WHOLE_PRIORITY: u32 = 1 << 30;
const BOTH: u32 = 1 << 29;
const ISSUE_TIME: u32 = 1 << 28;
const FLAGS: u32 = OFFSET | WHOLE_PRIORITY | BOTH | ISSUE_TIME;

/// Numbers of directions are below this one.
const DIRECTIONS: u32 = 4;

/// The length and the columns of samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// Whether samples have a second value.
    wide: bool,
    pub(super) columns: Columns,
}

impl Layout {
    /// The layout for these columns that most versions of fio can read.
    pub(super) fn for_columns(columns: Columns) -> Layout {
        Layout { wide: columns.both || columns.issue_time, columns }
    }

    /// The layout of these samples; `None`: they are not samples. `all`: no further byte follows.
    pub(super) fn find(samples: &[u8], all: bool) -> Option<Layout> {
        let fits = |layout: &Layout| {
            let (whole, rest) = (samples.chunks_exact(layout.bytes()), samples.len() % layout.bytes());
            (!all || rest == 0)
                && whole.into_iter().all(|sample| Layout::of_first(sample, layout.wide) == Some(*layout))
        };
        [false, true].into_iter().filter_map(|wide| Layout::of_first(samples, wide)).find(fits)
    }

    fn of_first(samples: &[u8], wide: bool) -> Option<Layout> {
        let word = u64_at(samples, if wide { 24 } else { 16 })?;
        let (direction, padding) = (word as u32, word >> 48);
        let has = |flag| direction & flag != 0;
        let columns = Columns {
            offset: has(OFFSET),
            both: has(BOTH),
            whole_priority: has(WHOLE_PRIORITY),
            issue_time: has(ISSUE_TIME),
        };
        let possible =
            direction & !FLAGS < DIRECTIONS && padding == 0 && (wide || !columns.both && !columns.issue_time);
        possible.then_some(Layout { wide, columns })
    }

    /// Length of one sample.
    pub(super) fn bytes(&self) -> usize {
        32 + [self.wide, self.columns.offset, self.columns.issue_time]
            .map(|part| 8 * usize::from(part))
            .iter()
            .sum::<usize>()
    }

    /// Adds a sample.
    pub(super) fn put(&self, entry: &LineContent, out: &mut Vec<u8>) {
        let Columns { offset, both, whole_priority, issue_time } = self.columns;
        let flags = [(offset, OFFSET), (both, BOTH), (whole_priority, WHOLE_PRIORITY), (issue_time, ISSUE_TIME)];
        let flags = flags.into_iter().filter(|(has, _)| *has).fold(0, |all, (_, flag)| all | flag);
        let word = u64::from(entry.direction | flags) | u64::from(entry.priority) << 32;
        let parts = [
            (true, entry.at_ms),
            (true, entry.value),
            (self.wide, if both { entry.largest } else { 0 }),
            (true, word),
            (true, entry.length),
            (offset, entry.offset),
            (issue_time, entry.issue_ns),
        ];
        for (_, part) in parts.into_iter().filter(|(has, _)| *has) {
            out.extend_from_slice(&part.to_le_bytes());
        }
    }

    /// Reads a sample of this layout.
    pub(super) fn entry(&self, sample: &[u8]) -> LineContent {
        let mut at = 0;
        let mut next = |has: bool| {
            let part = if has { u64_at(sample, at).unwrap_or_default() } else { 0 };
            at += 8 * usize::from(has);
            part
        };
        let (at_ms, value, largest) = (next(true), next(true), next(self.wide));
        let (word, length) = (next(true), next(true));
        let (offset, issue_ns) = (next(self.columns.offset), next(self.columns.issue_time));
        let (direction, priority) = (word as u32 & !FLAGS, (word >> 32) as u16);
        LineContent { at_ms, value, largest, direction, priority, length, offset, issue_ns }
    }
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}
