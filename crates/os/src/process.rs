//! A second process, for work that may get stuck in the kernel: a process with a stuck thread cannot end, but another
//! one can. Also the memory that the process uses for its own program.

pub use crate::system::process::{
    apart, begin_in, check_needs, close_standard_streams, closes_within, divide, end_group, end_with_parent,
    end_with_this_thread, ended_by_signal, hear_end_of_parent, lead_group, raise_open_files, release_program_pages,
    signal, wait_for,
};

#[cfg(windows)]
pub use crate::system::process::{Lifetime, lifetime};

use std::io::{PipeReader, PipeWriter};

use crate::system::held_signals::HeldSignals;

/// Which of the two processes runs this code.
#[derive(Debug)]
pub enum ForkSide {
    /// The first process.
    Old {
        /// Number of the new process.
        child: u32,
        /// Must be dropped when signals are passed on to the new process, which may already report that it runs.
        held: HeldSignals,
        /// The pipe on which the new process reports its end.
        reader: PipeReader,
    },
    /// The new process.
    New {
        /// The pipe on which it reports its end.
        writer: PipeWriter,
    },
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By itself, with this exit status.
    Status(u8),
    /// By this signal.
    Signal(u8),
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_pipe_closes_with_its_last_writer() {
        let (reader, writer) = std::io::pipe().unwrap();
        assert!(!closes_within(&reader, Duration::ZERO), "somebody could still write");
        drop(writer);
        assert!(closes_within(&reader, Duration::from_secs(60)));
    }

    #[test]
    fn beside_other_threads_nothing_is_divided() {
        // The test harness has another thread.
        assert!(divide().unwrap_err().to_string().contains("other threads"));
    }
}
