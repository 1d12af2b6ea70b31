//! Words the evidence of a limit, and merges that of several runs into one sentence.

use std::fmt;

use fsdyno_text::quantity;

/// A text with figures in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Phrase {
    /// The text before, between and after the figures: one piece more than there are figures.
    words: Vec<String>,
    figures: Vec<Figure>,
}

/// A number with the way to format it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Figure {
    value: f64,
    unit: Unit,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Unit {
    Number,
    Count,
    Percent,
    Latency,
    Rate,
}

pub(crate) fn number(value: f64) -> Figure {
    Figure { value, unit: Unit::Number }
}

pub(crate) fn count(value: u64) -> Figure {
    Figure { value: value as f64, unit: Unit::Count }
}

/// A percentage, from a share between 0 and 1.
pub(crate) fn percent(value: f64) -> Figure {
    Figure { value, unit: Unit::Percent }
}

/// A latency, from ns.
pub(crate) fn latency(value: f64) -> Figure {
    Figure { value, unit: Unit::Latency }
}

/// A rate, from bytes per second.
pub(crate) fn rate(value: f64) -> Figure {
    Figure { value, unit: Unit::Rate }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self.unit {
            Unit::Number => quantity::number(self.value),
            Unit::Count => quantity::count(self.value as u64),
            Unit::Percent => format!("{:.0} %", self.value * 100.0),
            Unit::Latency => quantity::latency(self.value),
            Unit::Rate => quantity::bytes_per_s(self.value),
        };
        f.write_str(&text)
    }
}

/// Largest quotient of the ends of a range: a wider range says little about each figure.
pub const RANGE_TIMES_MAX: f64 = 3.0;

impl Phrase {
    /// `words` with a `{}` for each figure. Without figures the words may contain any text.
    pub(crate) fn new<const N: usize>(words: &str, figures: [Figure; N]) -> Phrase {
        let words: Vec<String> = words.splitn(N + 1, "{}").map(str::to_owned).collect();
        assert_eq!(words.len(), N + 1, "a place for each figure");
        Phrase { words, figures: figures.to_vec() }
    }

    /// Whether one range can stand for both phrases: the same words, and no figure more than three times the other's.
    pub fn is_near(&self, other: &Phrase) -> bool {
        let near = |(one, other): (&Figure, &Figure)| {
            let (low, high) = (one.value.min(other.value), one.value.max(other.value));
            one.to_string() == other.to_string() || high <= low * RANGE_TIMES_MAX
        };
        self.words == other.words
            && self.figures.len() == other.figures.len()
            && self.figures.iter().zip(&other.figures).all(near)
    }

    /// The common words, with each figure as a range from its least to its greatest; `None`: the words differ.
    pub fn joined(all: &[&Phrase]) -> Option<String> {
        let (first, rest) = all.split_first()?;
        let alike = |other: &&Phrase| other.words == first.words && other.figures.len() == first.figures.len();
        if !rest.iter().all(alike) {
            return None;
        }
        let mut text = String::new();
        for (index, words) in first.words.iter().enumerate() {
            text.push_str(words);
            let figures: Vec<Figure> = all.iter().filter_map(|one| one.figures.get(index).copied()).collect();
            text.push_str(&span(&figures));
        }
        Some(text)
    }
}

impl fmt::Display for Phrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Phrase::joined(&[self]).unwrap_or_default())
    }
}

/// A range in words: `169 MB/s`, or `169 MB/s to 3,724 MB/s` where the formatted ends differ.
fn span(figures: &[Figure]) -> String {
    let least = figures.iter().min_by(|one, two| one.value.total_cmp(&two.value));
    let most = figures.iter().max_by(|one, two| one.value.total_cmp(&two.value));
    let (Some(least), Some(most)) = (least, most) else { return String::new() };
    let (least, most) = (least.to_string(), most.to_string());
    if least == most { least } else { format!("{least} to {most}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_several_are_a_range() {
        let of = |rate_mb: f64, busy: f64| Phrase::new("{} while {} busy", [rate(rate_mb * 1e6), percent(busy)]);
        assert_eq!(of(169.0, 0.5).to_string(), "169 MB/s while 50 % busy");
        let all = [&of(900.0, 0.5), &of(169.0, 0.501), &of(3_724.0, 0.499)];
        assert_eq!(Phrase::joined(&all).unwrap(), "169 MB/s to 3,724 MB/s while 50 % busy");
        assert_eq!(Phrase::joined(&[&of(1.0, 0.5), &Phrase::new("{}", [rate(1.0)])]), None);
        assert_eq!(Phrase::new("a file {}", []).to_string(), "a file {}");
        assert!(of(900.0, 0.5).is_near(&of(500.0, 0.26)) && !of(900.0, 0.5).is_near(&of(169.0, 0.5)));
    }
}
