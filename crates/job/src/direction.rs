//! The three directions of a request, and containers with one value for each direction.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The direction of a request. The numbers are those of fio's log files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[repr(u8)]
pub enum Direction {
    /// From the file.
    Read = 0,
    /// To the file.
    Write = 1,
    /// Discards a range of a block device.
    Trim = 2,
}

impl Direction {
    /// All three, in fio's order.
    pub const ALL: [Direction; 3] = [Direction::Read, Direction::Write, Direction::Trim];

    /// `read`, `write` or `trim`.
    pub fn name(self) -> &'static str {
        match self {
            Direction::Read => "read",
            Direction::Write => "write",
            Direction::Trim => "trim",
        }
    }
}

/// The two directions that move bytes: a trim moves none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer {
    /// From the file.
    Read,
    /// To the file.
    Write,
}

impl Transfer {
    /// Both directions.
    pub const BOTH: [Transfer; 2] = [Transfer::Read, Transfer::Write];
}

impl From<Transfer> for Direction {
    fn from(transfer: Transfer) -> Direction {
        match transfer {
            Transfer::Read => Direction::Read,
            Transfer::Write => Direction::Write,
        }
    }
}

/// One value for each direction, as fio's `read[,write[,trim]]` lists give them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "PerDirection_{T}")]
pub struct PerDirection<T> {
    /// Reads.
    pub read: T,
    /// Writes.
    pub write: T,
    /// Trims.
    pub trim: T,
}

impl<T: Clone> PerDirection<T> {
    /// The same value three times.
    pub fn all(value: T) -> Self {
        PerDirection { read: value.clone(), write: value.clone(), trim: value }
    }
}

impl<T> PerDirection<T> {
    /// Calls `of` for each direction.
    pub fn from_fn(mut of: impl FnMut(Direction) -> T) -> Self {
        PerDirection { read: of(Direction::Read), write: of(Direction::Write), trim: of(Direction::Trim) }
    }

    /// Applies `of` to each value.
    pub fn map<U>(self, mut of: impl FnMut(T) -> U) -> PerDirection<U> {
        PerDirection { read: of(self.read), write: of(self.write), trim: of(self.trim) }
    }

    /// References to the three values.
    pub fn as_ref(&self) -> PerDirection<&T> {
        PerDirection { read: &self.read, write: &self.write, trim: &self.trim }
    }

    /// Pairs each value with the value of `other` for the same direction.
    pub fn zip<U>(self, other: PerDirection<U>) -> PerDirection<(T, U)> {
        PerDirection { read: (self.read, other.read), write: (self.write, other.write), trim: (self.trim, other.trim) }
    }

    /// The three directions with their values, in fio's order.
    pub fn iter(&self) -> impl Iterator<Item = (Direction, &T)> {
        [(Direction::Read, &self.read), (Direction::Write, &self.write), (Direction::Trim, &self.trim)].into_iter()
    }

    /// The three values in fio's order.
    pub fn into_values(self) -> [T; 3] {
        [self.read, self.write, self.trim]
    }
}

impl<T> std::ops::Index<Direction> for PerDirection<T> {
    type Output = T;
    #[inline]
    fn index(&self, direction: Direction) -> &T {
        match direction {
            Direction::Read => &self.read,
            Direction::Write => &self.write,
            Direction::Trim => &self.trim,
        }
    }
}

impl<T> std::ops::IndexMut<Direction> for PerDirection<T> {
    #[inline]
    fn index_mut(&mut self, direction: Direction) -> &mut T {
        match direction {
            Direction::Read => &mut self.read,
            Direction::Write => &mut self.write,
            Direction::Trim => &mut self.trim,
        }
    }
}

/// One value for reads and one for writes, for counters that do not count trims. Saved as `[read, write]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    from = "[T; 2]",
    into = "[T; 2]",
    bound(serialize = "T: Clone + Serialize", deserialize = "T: Deserialize<'de>")
)]
#[schemars(rename = "ReadWrite_{T}")]
pub struct ReadWrite<T> {
    /// Reads.
    pub read: T,
    /// Writes.
    pub write: T,
}

impl<T> ReadWrite<T> {
    /// Applies `of` to each value.
    pub fn map<U>(self, mut of: impl FnMut(T) -> U) -> ReadWrite<U> {
        ReadWrite { read: of(self.read), write: of(self.write) }
    }

    /// Pairs each value with the value of `other` for the same direction.
    pub fn zip<U>(self, other: ReadWrite<U>) -> ReadWrite<(T, U)> {
        ReadWrite { read: (self.read, other.read), write: (self.write, other.write) }
    }
}

impl ReadWrite<u64> {
    /// The sum of both; it stops at the largest number.
    pub fn sum(self) -> u64 {
        self.read.saturating_add(self.write)
    }

    /// Adds `more` to each value.
    pub fn plus(self, more: Self) -> Self {
        self.zip(more).map(|(sum, more)| sum.saturating_add(more))
    }

    /// The difference from `before`, for counters that only grow.
    pub fn since(self, before: Self) -> Self {
        self.zip(before).map(|(now, before)| now.saturating_sub(before))
    }
}

impl<T> std::ops::Index<Transfer> for ReadWrite<T> {
    type Output = T;
    fn index(&self, transfer: Transfer) -> &T {
        match transfer {
            Transfer::Read => &self.read,
            Transfer::Write => &self.write,
        }
    }
}

impl<T> From<[T; 2]> for ReadWrite<T> {
    fn from([read, write]: [T; 2]) -> Self {
        ReadWrite { read, write }
    }
}

/// Keeps the values of the directions that move bytes.
impl<T> From<PerDirection<T>> for ReadWrite<T> {
    fn from(PerDirection { read, write, trim: _ }: PerDirection<T>) -> Self {
        ReadWrite { read, write }
    }
}

impl<T> From<ReadWrite<T>> for [T; 2] {
    fn from(pair: ReadWrite<T>) -> Self {
        [pair.read, pair.write]
    }
}
