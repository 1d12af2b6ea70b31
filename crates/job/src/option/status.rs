//! How far options and words are honoured.

use crate::value::Refusal;

/// How far an option, or one word of its set, is honoured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// As fio does it.
    Full,
    /// Honoured in part; the text says which.
    Partial(&'static str),
    /// Read and noted, but nothing depends on it; the text says why.
    WithoutEffect(&'static str),
    /// Not built: fails by name before anything runs. The text says what is missing.
    NotYet(&'static str),
    /// It will not be built; the text says why.
    Rejected(&'static str),
}

impl Status {
    /// Whether an option or word of this status ends the run with an error that names it.
    pub const fn refuses(self) -> bool {
        matches!(self, Status::NotYet(_) | Status::Rejected(_))
    }

    /// The word that COMPAT.md shows.
    pub const fn label(self) -> &'static str {
        match self {
            Status::Full => "full",
            Status::Partial(_) => "partial",
            Status::WithoutEffect(_) => "accepted without effect",
            Status::NotYet(_) => "not yet",
            Status::Rejected(_) => "rejected",
        }
    }

    /// Decides whether `written` may stand in a job: the remark to print, or the refusal.
    pub(super) fn permit(self, written: &str) -> Result<Option<String>, Refusal> {
        match self {
            Status::Full | Status::Partial(_) => Ok(None),
            Status::WithoutEffect(reason) => Ok(Some(format!("{written} has no effect: {reason}"))),
            Status::NotYet(reason) => Err(Refusal::new(format!("fio: {written} is not supported yet: {reason}"))),
            Status::Rejected(reason) => Err(Refusal::new(format!("fio: {written} is not supported: {reason}"))),
        }
    }

    /// The reason, empty for [`Status::Full`].
    pub const fn reason(self) -> &'static str {
        match self {
            Status::Full => "",
            Status::Partial(reason)
            | Status::WithoutEffect(reason)
            | Status::NotYet(reason)
            | Status::Rejected(reason) => reason,
        }
    }
}

/// One word of an option's set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// The word, compared whole and with its case.
    pub word: &'static str,
    /// What it means.
    pub help: &'static str,
    /// What may follow a colon; `None`: nothing.
    pub tail: Option<&'static str>,
    /// Accepted, but left out of help texts.
    pub hidden: bool,
    /// How far this word is honoured.
    pub status: Status,
}

impl Choice {
    /// A word that is honoured and takes nothing after a colon.
    pub const fn new(word: &'static str, help: &'static str) -> Self {
        Choice { word, help, tail: None, hidden: false, status: Status::Full }
    }

    /// The same word with something after a colon.
    pub const fn tail(mut self, what: &'static str) -> Self {
        self.tail = Some(what);
        self
    }

    /// The same word, left out of help texts.
    pub const fn hidden(mut self) -> Self {
        self.hidden = true;
        self
    }

    /// The same word with this status.
    pub const fn status(mut self, status: Status) -> Self {
        self.status = status;
        self
    }
}
