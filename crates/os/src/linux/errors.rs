//! What to do about errors: the words of a Unix are right here.

use std::path::Path;

/// Nothing else than what all systems say.
pub(crate) fn advice(_code: i32) -> Option<&'static str> {
    None
}

/// The rights say it all.
pub(crate) fn why_not_written(_: &Path) -> Option<&'static str> {
    None
}
