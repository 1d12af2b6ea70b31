//! Parses the number of nodes of each step of `scale`.

use std::fmt;
use std::str::FromStr;

/// Numbers of nodes: ascending, without duplicates, at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Steps(Vec<u32>);

impl Steps {
    /// The numbers.
    pub fn list(&self) -> &[u32] {
        &self.0
    }

    /// The largest number.
    pub fn most(&self) -> u32 {
        self.0.last().copied().unwrap_or(1)
    }
}

/// Each twice the one before.
impl Default for Steps {
    fn default() -> Steps {
        Steps(vec![1, 2, 4, 8, 16])
    }
}

/// One step.
impl From<u32> for Steps {
    fn from(nodes: u32) -> Steps {
        Steps(vec![nodes])
    }
}

impl FromStr for Steps {
    type Err = String;

    /// Parses a list: `1,2,4`.
    fn from_str(text: &str) -> Result<Steps, String> {
        let count = |word: &str| match word.trim().parse::<u32>() {
            Ok(count) if count > 0 => Ok(count),
            _ => Err(format!("`{word}` is no number of nodes: write a list such as 1,2,4,8")),
        };
        let mut counts: Vec<u32> = text.split(',').map(count).collect::<Result<_, _>>()?;
        fsdyno_stats::sort::by(&mut counts, Ord::cmp);
        counts.dedup();
        Ok(Steps(counts))
    }
}

impl fmt::Display for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<String> = self.0.iter().map(u32::to_string).collect();
        f.write_str(&words.join(","))
    }
}
