//! A command of the user's, measured with all processes that it starts. A meter stands between: this program, started once
//! more, with the command as its child. Processes that lose their parent become children of the meter (it is their
//! subreaper), so that it waits for all of them, the kernel adds their usage to its own, and it can end them, whatever group
//! or session they have made.

use std::time::Duration;

pub use crate::system::process_tree::{Metered, begin, meter, missing};

/// The first word of a command line that asks this program to be the meter.
pub const WORD: &str = "--meter-of-a-command";

/// How long a command may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// All of it.
    pub whole: Duration,
    /// What it has left running, from its own end on.
    pub left_running: Duration,
}

/// What a command and all its processes used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeUsage {
    /// From the start until the command itself had ended.
    pub own: Duration,
    /// From the start until the last of its processes had ended.
    pub all: Duration,
    /// How the command itself ended; `None`: it could not be awaited.
    pub ended: Option<super::process::Ended>,
    /// It was ended, for it took too long or somebody asked for it.
    pub cut: Option<Cut>,
    /// Processes that ran when the command itself had ended, and the names of the first of them.
    pub left_running: u64,
    /// See `left_running`.
    pub left_names: Vec<String>,
    /// Processes that could not be ended, because they belong to another user or are stuck in the kernel.
    pub stuck: u64,
    /// CPU time.
    pub user: Duration,
    /// See `user`.
    pub system: Duration,
    /// The most memory that one of the processes held, bytes.
    pub memory_bytes: u64,
    /// What they read and wrote; `None`: the kernel does not count it.
    pub io: Option<TreeIo>,
}

/// Why a command was ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// It took longer than [`Limits::whole`].
    Whole,
    /// What it had left running took longer than [`Limits::left_running`].
    LeftRunning,
    /// Somebody asked for it.
    Asked,
}

/// Counters of `/proc/PID/io`, read and written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TreeIo {
    /// Bytes that calls moved: files, pipes and terminals; not what was mapped.
    pub call_bytes: [u64; 2],
    /// Bytes that block storage was asked for, and pages that were made dirty.
    pub storage_bytes: [u64; 2],
    /// Of the dirty pages those that were given up before they were written.
    pub cancelled_bytes: u64,
}

/// What a command printed on both of its streams.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// The first bytes.
    pub head: Vec<u8>,
    /// The last bytes, of what the head does not hold.
    pub tail: Vec<u8>,
    /// All bytes.
    pub bytes: u64,
}

impl Printed {
    /// Bytes that are kept at either end.
    pub const KEPT: usize = 4096;

    #[cfg_attr(windows, expect(dead_code, reason = "nothing is started there"))]
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        let (first, rest) = bytes.split_at(bytes.len().min(Printed::KEPT - self.head.len()));
        self.head.extend(first);
        self.tail.extend(&rest[rest.len().saturating_sub(Printed::KEPT)..]);
        let surplus = self.tail.len().saturating_sub(Printed::KEPT);
        self.tail.drain(..surplus);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_long_output_both_ends_are_kept() {
        let mut printed = Printed::default();
        let all: Vec<u8> = (0..20_000u32).map(|index| (index % 251) as u8).collect();
        all.chunks(999).for_each(|part| printed.add(part));
        assert_eq!(printed.bytes, 20_000);
        assert_eq!((&printed.head[..], &printed.tail[..]), (&all[..Printed::KEPT], &all[20_000 - Printed::KEPT..]));
        let mut short = Printed::default();
        short.add(b"a\xff");
        assert_eq!((&short.head[..], short.tail.len(), short.bytes), (&b"a\xff"[..], 0, 2));
    }
}
