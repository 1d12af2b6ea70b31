//! Signals that people and limits send to this process.

pub use crate::system::signals::{HeldSignals, Listener, SIGINT, SIGUSR1, STOPS, hear_of_limits};
