//! Merges sentences that differ only in figures: each figure becomes the range from its least to its greatest.

use fsdyno_findings::limits::RANGE_TIMES_MAX;
use fsdyno_stats::sort;

/// A word that contains one number, and the text around the number.
struct Figure<'a> {
    before: &'a str,
    digits: &'a str,
    value: f64,
    behind: &'a str,
}

/// The figure of a word; `None`: there is none, or letters precede it, as in `vda1`.
fn figure(word: &str) -> Option<Figure<'_>> {
    let begin = word.find(|character: char| character.is_ascii_digit())?;
    let end = word.rfind(|character: char| character.is_ascii_digit())? + 1;
    let (before, digits, behind) = (&word[..begin], &word[begin..end], &word[end..]);
    let letters = |text: &str| text.chars().any(char::is_alphanumeric);
    let value = digits.replace(',', "").parse().ok()?;
    (!letters(before) && !letters(behind)).then_some(Figure { before, digits, value, behind })
}

/// The units by kind, each with its size.
const UNITS: [&[(&str, f64)]; 3] = [
    &[("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)],
    &[("B", 1.0), ("KiB", 1024.0), ("MiB", 1_048_576.0), ("GiB", 1_073_741_824.0), ("TiB", 1_099_511_627_776.0)],
    &[("B/s", 1.0), ("kB/s", 1e3), ("MB/s", 1e6), ("GB/s", 1e9)],
];

/// The kind and the size of a unit, and the text that follows it.
fn unit(word: &str) -> Option<(usize, f64, &str)> {
    let plain = word.trim_end_matches(|character: char| !character.is_alphanumeric());
    let size = |units: &[(&str, f64)]| units.iter().find(|(name, _)| *name == plain).map(|(_, size)| *size);
    UNITS.iter().enumerate().find_map(|(kind, units)| Some((kind, size(units)?, &word[plain.len()..])))
}

/// Whether two sentences differ only in figures and their units.
pub(super) fn alike(one: &str, other: &str) -> bool {
    let same = |(one, other): (&str, &str)| {
        let figures = || figure(one).zip(figure(other));
        let units = || unit(one).zip(unit(other));
        one == other
            || figures().is_some_and(|(one, other)| (one.before, one.behind) == (other.before, other.behind))
            || units().is_some_and(|(one, other)| (one.0, one.2) == (other.0, other.2))
    };
    one.split_whitespace().count() == other.split_whitespace().count()
        && one.split_whitespace().zip(other.split_whitespace()).all(same)
}

/// Whether one range can stand for both sentences: they are alike, and no figure is more than three times the other's.
pub(super) fn near(one: &str, other: &str) -> bool {
    let sizes = |sentence: &str| -> Vec<f64> {
        let words: Vec<&str> = sentence.split_whitespace().collect();
        let size = |index: usize| words.get(index + 1).and_then(|word| unit(word)).map_or(1.0, |(_, size, _)| size);
        (0..words.len()).filter_map(|index| Some(figure(words[index])?.value * size(index))).collect()
    };
    one == other
        || alike(one, other)
            && sizes(one)
                .iter()
                .zip(&sizes(other))
                .all(|(one, other)| one.max(*other) <= one.min(*other) * RANGE_TIMES_MAX)
}

/// Merges sentences that are alike into one.
pub(super) fn merged_sentence(sentences: &[&str]) -> String {
    let all: Vec<Vec<&str>> = sentences.iter().map(|sentence| sentence.split_whitespace().collect()).collect();
    let Some(first) = all.first() else { return String::new() };
    let differs = |index: usize| all.iter().any(|words| words.get(index) != first.get(index));
    let mut words: Vec<String> = Vec::new();
    let mut index = 0;
    while index < first.len() {
        // Where units differ, each end of the range gets its own.
        let has_units = index + 1 < first.len() && differs(index + 1) && unit(first[index + 1]).is_some();
        if differs(index) || (has_units && figure(first[index]).is_some()) {
            words.push(range(&all, index, has_units));
            index += usize::from(has_units);
        } else {
            words.push(first[index].to_owned());
        }
        index += 1;
    }
    words.join(" ")
}

/// The figures of all sentences at this word, as a range from the least to the greatest.
fn range(all: &[Vec<&str>], index: usize, has_units: bool) -> String {
    let size =
        |words: &Vec<&str>| if has_units { unit(words[index + 1]).map_or(1.0, |(_, size, _)| size) } else { 1.0 };
    let mut figures: Vec<(f64, Figure<'_>, &Vec<&str>)> = all
        .iter()
        .filter_map(|words| figure(words[index]).map(|figure| (figure.value * size(words), figure, words)))
        .collect();
    sort::by(&mut figures, |one, other| one.0.total_cmp(&other.0));
    let (Some((_, least, low)), Some((_, most, high))) = (figures.first(), figures.last()) else {
        return all[0][index].to_owned();
    };
    if has_units {
        let low = low[index + 1].trim_end_matches(|character: char| !character.is_alphanumeric());
        let (from, to) = (format!("{}{} {low}", least.before, least.digits), format!("{}{}", most.digits, most.behind));
        format!("{from} to {to} {}", high[index + 1])
    } else {
        format!("{}{} to {}{}", least.before, least.digits, most.digits, most.behind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_become_ranges_and_words_must_agree() {
        let one = "waited 27 % of the time; others used 1.9 of 2 CPUs (from 20 % on), 1,024 times on vda1";
        let two = "waited 9 % of the time; others used 1.7 of 2 CPUs (from 20 % on), 12 times on vda1";
        assert!(alike(one, two));
        assert_eq!(
            merged_sentence(&[one, two, one]),
            "waited 9 to 27 % of the time; others used 1.7 to 1.9 of 2 CPUs (from 20 % on), 12 to 1,024 times on vda1"
        );
        let (slow, fast) = ("took 3 ms, with 1.4 GiB", "took 250 µs, with 7 GiB");
        assert!(alike(slow, fast));
        assert_eq!(merged_sentence(&[slow, fast]), "took 250 µs to 3 ms, with 1.4 to 7 GiB");
        assert!(!alike("took 3 ms", "took 3 MiB") && !alike("on vda1", "on vda2") && !alike("a", "a b"));
        assert_eq!(merged_sentence(&["as it is"]), "as it is");
        assert!(near("at 3 ms, 2 of 4", "at 2 ms, 3 of 4") && !near(slow, fast) && near(slow, "took 2 ms, with 2 GiB"));
    }
}
