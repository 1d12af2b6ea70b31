//! Advice about errors: on Linux the general advice is right.

use std::path::Path;

/// There is no other advice than the general one.
pub(crate) fn advice(_code: i32) -> Option<&'static str> {
    None
}

/// The permissions are the only reason.
pub(crate) fn why_not_written(_: &Path) -> Option<&'static str> {
    None
}
