//! Signals that wait for a second process, which there is none of here.

/// There is no such value: a process is not forked.
#[derive(Debug)]
pub enum HeldSignals {}
