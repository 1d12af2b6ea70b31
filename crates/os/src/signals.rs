//! Signals that people and limits send to this process.

pub use crate::system::signals::{Listener, SIGINT, SIGUSR1, STOPS, turn_limits_into_errors};
