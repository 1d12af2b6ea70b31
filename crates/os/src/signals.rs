//! Signals to this process, from users and from limits.

pub use crate::system::signals::{Listener, SIGINT, SIGUSR1, STOPS, turn_limits_into_errors};
