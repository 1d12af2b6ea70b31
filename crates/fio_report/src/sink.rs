//! What takes a report.

use std::io;

/// Takes a report, piece by piece.
pub type Sink<'f> = dyn FnMut(&str) -> io::Result<()> + 'f;
