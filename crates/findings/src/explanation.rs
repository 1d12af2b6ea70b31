//! Defines the explanation of a trap, for a reader who meets it for the first time.

/// The text of `explain` on one kind of finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The finding's id.
    pub id: &'static str,
    /// The trap's number in the project's list: `T2`. Two forms of one trap have the same number.
    pub trap: &'static str,
    /// The title, in a few words.
    pub title: &'static str,
    /// What makes the number wrong.
    pub happens: &'static str,
    /// How it is detected, and from which size on it is reported.
    pub seen: &'static str,
    /// What to do about it.
    pub advice: &'static str,
    /// Where it is documented: page titles, manual pages, issue numbers.
    pub documented: &'static str,
}
