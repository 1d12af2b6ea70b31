//! What an access does: the directions that occur, and whether offsets are random.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::direction::Direction;

/// `rw=` without its number. Written as fio's word, in records too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(into = "&'static str", try_from = "String")]
pub struct Access {
    /// Random offsets.
    pub random: bool,
    /// Reads happen.
    pub reads: bool,
    /// Writes happen. With trims, each block is trimmed first (`trimwrite`).
    pub writes: bool,
    /// Trims happen.
    pub trims: bool,
}

impl Access {
    /// fio's default.
    pub const READ: Access = Access { random: false, reads: true, writes: false, trims: false };

    /// The access that fio's word names; `None` if fio has no such word.
    pub fn named(word: &str) -> Option<Access> {
        let (random, kind) = word.strip_prefix("rand").map_or((false, word), |kind| (true, kind));
        let (reads, writes, trims) = match kind {
            "read" => (true, false, false),
            "write" => (false, true, false),
            // Both `readwrite` and `rw` take `rand` before them.
            "rw" | "readwrite" => (true, true, false),
            "trim" => (false, false, true),
            "trimwrite" => (false, true, true),
            _ => return None,
        };
        Some(Access { random, reads, writes, trims })
    }

    /// The canonical word: `read`, `randrw`, ...
    pub fn name(self) -> &'static str {
        match (self.random, self.reads, self.writes, self.trims) {
            (false, true, false, false) => "read",
            (false, false, true, false) => "write",
            (false, true, true, _) => "rw",
            (true, true, false, false) => "randread",
            (true, false, true, false) => "randwrite",
            (true, true, true, _) => "randrw",
            (false, false, false, _) => "trim",
            (true, false, false, _) => "randtrim",
            (false, _, true, true) => "trimwrite",
            (true, _, true, true) => "randtrimwrite",
            (false, true, false, true) => "readtrim",
            (true, true, false, true) => "randreadtrim",
        }
    }

    /// Whether I/O of this direction can happen.
    pub fn has(self, direction: Direction) -> bool {
        match direction {
            Direction::Read => self.reads,
            Direction::Write => self.writes,
            Direction::Trim => self.trims,
        }
    }

    /// Whether the stored data is not the same afterwards: true for writes and for trims.
    pub fn modifies(self) -> bool {
        self.writes || self.trims
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl From<Access> for &'static str {
    fn from(access: Access) -> &'static str {
        access.name()
    }
}

impl TryFrom<String> for Access {
    type Error = String;

    fn try_from(word: String) -> Result<Access, String> {
        Access::named(&word).ok_or_else(|| format!("rw={word} is not a known access pattern"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_is_read_as_it_is_written() {
        for word in ["read", "write", "rw", "trim", "trimwrite"] {
            for word in [word.to_owned(), format!("rand{word}")] {
                assert_eq!(Access::named(&word).map(Access::name), Some(word.as_str()));
            }
        }
        assert_eq!(Access::named("randreadwrite"), Access::named("randrw"));
        assert_eq!(Access::named("randraed"), None);
    }

    #[test]
    fn a_trim_modifies_as_a_write_does() {
        let modifying = |word| Access::named(word).unwrap().modifies();
        assert!(["write", "randrw", "trim", "randtrim", "trimwrite"].into_iter().all(modifying));
        assert!(!["read", "randread"].into_iter().any(modifying));
    }
}
