//! A second process, for work that may get stuck in the kernel: a process whose thread is stuck there cannot end, but
//! another one can. And what the process holds of its own program.

pub use crate::system::process::{
    apart, begin_in, check_needs, close_standard_streams, closes_within, divide, end_group, end_with_parent,
    end_with_this_thread, ended_by_signal, hear_end_of_parent, lead_group, raise_open_files, release_program_pages,
    signal, wait_for,
};

#[cfg(windows)]
pub use crate::system::process::{Lifetime, lifetime};

use std::io::{PipeReader, PipeWriter};

use crate::system::held_signals::HeldSignals;

/// Which of the two processes goes on here.
#[derive(Debug)]
pub enum Side {
    /// The one that there was.
    Old {
        /// The number of the new one.
        child: u32,
        /// To be dropped once signals are passed on to the new one: it may already say that it runs.
        held: HeldSignals,
        /// What the new one tells of its end.
        reader: PipeReader,
    },
    /// The new one.
    New {
        /// Where it tells of its end.
        writer: PipeWriter,
    },
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By itself.
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
        // The test harness has a thread of its own.
        assert!(divide().unwrap_err().to_string().contains("other threads"));
    }
}
