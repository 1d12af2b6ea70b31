//! Terminals.

use std::os::fd::AsFd;

/// Columns of the terminal of a stream; `None`: it has no terminal. A terminal that does not know its size reports 0.
pub fn columns(stream: impl AsFd) -> Option<usize> {
    rustix::termios::tcgetwinsize(stream).ok().map(|size| usize::from(size.ws_col))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_has_no_columns() {
        let (reader, _writer) = std::io::pipe().unwrap();
        assert_eq!(columns(&reader), None);
    }
}
