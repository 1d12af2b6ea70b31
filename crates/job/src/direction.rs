//! The three directions that a transfer can have, and a value for each of them.

use serde::{Deserialize, Serialize};

/// Which way the data goes. The numbers are those of fio's log files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
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

/// One value for each direction, as fio's `read[,write[,trim]]` lists give them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    /// The three values in fio's order.
    pub fn iter(&self) -> impl Iterator<Item = (Direction, &T)> {
        [(Direction::Read, &self.read), (Direction::Write, &self.write), (Direction::Trim, &self.trim)].into_iter()
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
