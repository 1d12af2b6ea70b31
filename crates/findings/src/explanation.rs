//! The explanation of a trap, for a person who meets it for the first time.

/// What `explain` tells about a kind of finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The finding's `id`.
    pub id: &'static str,
    /// The trap's number in the project's list: `T2`. A trap with two faces gives both its number.
    pub trap: &'static str,
    /// In a few words.
    pub title: &'static str,
    /// What makes the number wrong.
    pub happens: &'static str,
    /// How it is seen, and from which size on it is said.
    pub seen: &'static str,
    /// What to do.
    pub advice: &'static str,
    /// Where it is documented: page titles, manual pages, issue numbers.
    pub documented: &'static str,
}
