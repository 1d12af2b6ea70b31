//! Exit statuses.

/// fio's face: anything that is wrong before the first job starts.
pub(crate) const REJECTED: u8 = 1;

/// The guided face: bad input, or a place that cannot be used.
pub(crate) const UNUSABLE: u8 = 2;

/// The guided face: no requirement failed, and one is open.
pub(crate) const INCONCLUSIVE: u8 = 3;

/// Ended by a signal: the guided face adds its number, fio's the number of failed jobs.
pub(crate) const BY_SIGNAL: u8 = 128;
