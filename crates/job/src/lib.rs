//! The fio language: what a person may write, and what it means.
//!
//! Words and job files become [`RawJob`](raw::RawJob)s (option, value, origin), and those become typed
//! [`Job`]s. Nothing here makes a system call, reads a file or knows a device: a job file's text and its
//! includes come through a closure of the caller.
#![forbid(unsafe_code)]

pub mod direction;
mod typed;

pub use direction::{Direction, PerDirection};
pub use typed::*;
