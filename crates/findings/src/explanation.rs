//! The explanation of a trap, for a person who meets it for the first time.

use crate::traps;

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

/// All explanations, by trap number.
pub fn catalogue() -> impl Iterator<Item = &'static Explanation> {
    traps::ALL.iter().map(|trap| trap.explanation)
}

/// The explanation of a finding's id (`page-cache`) or of a trap's number (`T2`), in any letter case.
pub fn explanation(name: &str) -> Option<&'static Explanation> {
    catalogue()
        .find(|explanation| explanation.id.eq_ignore_ascii_case(name) || explanation.trap.eq_ignore_ascii_case(name))
}
