//! Parses the depths of a sweep.

use std::fmt;
use std::str::FromStr;

/// Largest depth: no device's queue is longer.
const DEEPEST: u32 = 65_536;

/// Depths: ascending, without duplicates, at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Depths(Vec<u32>);

impl Depths {
    /// The depths.
    pub fn list(&self) -> &[u32] {
        &self.0
    }
}

impl FromStr for Depths {
    type Err = String;

    /// Parses `1..64` (the powers of two in this range), a list such as `1,4,24`, or a mix of both.
    fn from_str(text: &str) -> Result<Depths, String> {
        let mut depths = Vec::new();
        for part in text.split(',') {
            match part.split_once("..") {
                Some((first, last)) => depths.extend(powers(depth(first)?, depth(last)?)?),
                None => depths.push(depth(part)?),
            }
        }
        fsdyno_stats::sort::by(&mut depths, Ord::cmp);
        depths.dedup();
        Ok(Depths(depths))
    }
}

impl fmt::Display for Depths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<String> = self.0.iter().map(u32::to_string).collect();
        f.write_str(&words.join(","))
    }
}

fn depth(text: &str) -> Result<u32, String> {
    let depth = text
        .trim()
        .parse::<u32>()
        .map_err(|_| format!("`{text}` is no depth: write a range such as 1..64 or a list such as 1,4,24"))?;
    match depth {
        0 => Err("depth 0 has no request in flight: begin with 1".to_string()),
        1..=DEEPEST => Ok(depth),
        _ => Err(format!("{depth} is more than the largest depth ({DEEPEST})")),
    }
}

fn powers(first: u32, last: u32) -> Result<Vec<u32>, String> {
    if first > last {
        return Err(format!("the range {first}..{last} is empty: write the smaller depth first"));
    }
    let powers: Vec<u32> = (0..u32::BITS).map(|bit| 1 << bit).filter(|depth| (first..=last).contains(depth)).collect();
    if powers.is_empty() {
        return Err(format!("no power of two lies in {first}..{last}: write the depths as a list, {first},{last}"));
    }
    Ok(powers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<u32>, String> {
        text.parse::<Depths>().map(|depths| depths.0)
    }

    #[test]
    fn ranges_are_powers_of_two_and_lists_are_lists() {
        assert_eq!(read("1..64"), Ok(vec![1, 2, 4, 8, 16, 32, 64]));
        assert_eq!(read("3..20"), Ok(vec![4, 8, 16]));
        assert_eq!(read("8..8"), Ok(vec![8]));
        assert_eq!(read("24,1, 4,24"), Ok(vec![1, 4, 24]));
        assert_eq!(read("1..4,6"), Ok(vec![1, 2, 4, 6]));
        assert_eq!(read("1..4").map(Depths).unwrap().to_string(), "1,2,4");
        assert_eq!(read("32768..65536"), Ok(vec![32_768, 65_536]));
    }

    #[test]
    fn what_is_no_depth_is_told_why() {
        let cases = [
            ("0", "depth 0"),
            ("0..4", "depth 0"),
            ("8..2", "is empty"),
            ("5..7", "no power of two"),
            ("four", "`four` is no depth"),
            ("1..", "`` is no depth"),
            ("", "`` is no depth"),
            ("-1", "is no depth"),
            ("1,,2", "`` is no depth"),
            ("100000", "more than the largest depth"),
        ];
        for (text, reason) in cases {
            let error = read(text).unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
