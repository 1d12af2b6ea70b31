//! Measures a command of the user with all processes that it starts. A meter runs between: this program, started once
//! more, with the command as its child. Processes that lose their parent become children of the meter (it is their
//! subreaper). So it waits for all of them, the kernel adds their usage to its own, and it can end them, whatever
//! group or session they have made.

use std::time::Duration;

pub use crate::system::process_tree::{Metered, begin, meter, missing};

/// The first word of a command line that starts this program as the meter.
pub const WORD: &str = "--meter-of-a-command";

/// Time limits of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Limit of the whole command.
    pub whole: Duration,
    /// Limit of the processes that it left running, counted from its own end.
    pub left_running: Duration,
}

/// What a command used, with all its processes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeUsage {
    /// From the start until the command itself had ended.
    pub own: Duration,
    /// From the start until the last of its processes had ended.
    pub all: Duration,
    /// How the command itself ended; `None`: the meter could not wait for it.
    pub ended: Option<super::process::Ended>,
    /// Why it was ended; `None`: it ended by itself.
    pub cut: Option<EndReason>,
    /// Number of processes that still ran when the command itself had ended, and the names of the first of them.
    pub left_running: u64,
    /// See `left_running`.
    pub left_names: Vec<String>,
    /// Number of processes that could not be ended, because they belong to another user or are stuck in the kernel.
    pub stuck: u64,
    /// CPU time in user mode.
    pub user: Duration,
    /// CPU time in the kernel.
    pub system: Duration,
    /// Largest memory of one of the processes, bytes.
    pub memory_bytes: u64,
    /// Bytes that they read and wrote; `None`: the kernel does not count them.
    pub io: Option<TreeIo>,
}

/// Why a command was ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndReason {
    /// It took longer than [`Limits::whole`].
    Whole,
    /// The processes that it had left running took longer than [`Limits::left_running`].
    LeftRunning,
    /// The caller asked for it.
    Asked,
}

/// Counters of `/proc/PID/io`, read and written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TreeIo {
    /// Bytes of calls on files, pipes and terminals; not of mappings.
    pub call_bytes: [u64; 2],
    /// Bytes that were asked of block storage, and bytes of pages that were made dirty.
    pub storage_bytes: [u64; 2],
    /// Bytes of dirty pages that were discarded before they were written.
    pub cancelled_bytes: u64,
}

/// The output of a command on both of its streams.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandOutput {
    /// The first bytes.
    pub head: Vec<u8>,
    /// The last bytes, without those in the head.
    pub tail: Vec<u8>,
    /// Number of all bytes.
    pub bytes: u64,
}

impl CommandOutput {
    /// Number of bytes that are kept at each end.
    pub const KEPT: usize = 4096;

    #[cfg_attr(windows, expect(dead_code, reason = "nothing is started there"))]
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        let (first, rest) = bytes.split_at(bytes.len().min(CommandOutput::KEPT - self.head.len()));
        self.head.extend(first);
        self.tail.extend(&rest[rest.len().saturating_sub(CommandOutput::KEPT)..]);
        let surplus = self.tail.len().saturating_sub(CommandOutput::KEPT);
        self.tail.drain(..surplus);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_long_output_both_ends_are_kept() {
        let mut printed = CommandOutput::default();
        let all: Vec<u8> = (0..20_000u32).map(|index| (index % 251) as u8).collect();
        all.chunks(999).for_each(|part| printed.add(part));
        assert_eq!(printed.bytes, 20_000);
        assert_eq!(
            (&printed.head[..], &printed.tail[..]),
            (&all[..CommandOutput::KEPT], &all[20_000 - CommandOutput::KEPT..])
        );
        let mut short = CommandOutput::default();
        short.add(b"a\xff");
        assert_eq!((&short.head[..], short.tail.len(), short.bytes), (&b"a\xff"[..], 0, 2));
    }
}
