//! Finds the option that a user meant: exact names, unique prefixes, nearest names.

/// Edit distance: insertions, deletions, substitutions and swaps of neighbours each count one.
pub use strsim::osa_distance as distance;

/// The known name nearest to `word`, if its edit distance is at most half of the word's length (rounded up). Among
/// names at the same distance, one with the same first letter wins, then the first.
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = word.chars().count().div_ceil(2);
    names
        .into_iter()
        .map(|name| (distance(word, name), name))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, name)| (*distance, name.chars().next() != word.chars().next()))
        .map(|(_, name)| name)
}

/// What a word on the command line stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Match<'a, T> {
    /// One entry, by its name or a prefix that no other name has.
    One(T),
    /// A prefix of several names.
    Ambiguous(Vec<&'a str>),
    /// No name begins with the word.
    Unknown,
}

/// Finds `word` among `(name, entry)` pairs. An exact name wins over longer names that begin with it.
pub fn find<'a, T>(word: &str, entries: impl Iterator<Item = (&'a str, T)>) -> Match<'a, T> {
    let mut candidates = Vec::new();
    for (name, entry) in entries {
        if name == word {
            return Match::One(entry);
        }
        if !word.is_empty() && name.starts_with(word) {
            candidates.push((name, entry));
        }
    }
    match candidates.len() {
        0 => Match::Unknown,
        1 => candidates.pop().map_or(Match::Unknown, |(_, entry)| Match::One(entry)),
        _ => Match::Ambiguous(candidates.into_iter().map(|(name, _)| name).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (a, b, expected) in [
            ("", "", 0),
            ("bs", "bs", 0),
            ("iodepht", "iodepth", 1),
            ("bogus", "bs", 3),
            ("", "abc", 3),
            ("ca", "abc", 3),
        ] {
            assert_eq!(distance(a, b), expected, "{a} {b}");
            assert_eq!(distance(b, a), expected, "{b} {a}");
        }
    }

    #[test]
    fn the_nearest_must_be_near() {
        let names = ["loops", "rw", "bs", "iodepth", "ioengine"];
        assert_eq!(nearest("iodepht", names), Some("iodepth"));
        assert_eq!(nearest("bogus", names), Some("bs"));
        assert_eq!(nearest("zzzzzzzz", names), None);
    }

    #[test]
    fn prefixes_must_be_unique() {
        let entries = || [("time_based", 1), ("timeout", 2), ("bs", 3), ("bsrange", 4)].into_iter();
        assert_eq!(find("time_b", entries()), Match::One(1));
        assert_eq!(find("bs", entries()), Match::One(3));
        assert_eq!(find("tim", entries()), Match::Ambiguous(vec!["time_based", "timeout"]));
        assert_eq!(find("x", entries()), Match::Unknown);
        assert_eq!(find("", entries()), Match::Unknown);
    }
}
