//! The questions that a person asks of a storage. Each question is a module: it asks [`bench`] for runs and phases,
//! works in a [`work_directory`] of its own, and answers with a [`fsdyno_results::Study`]. Nothing here prints.
#![forbid(unsafe_code)]

pub mod advice;
pub mod attribution;
pub mod bench;
pub mod compare;
pub mod configuration;
pub mod curve;
pub mod io_mode;
pub mod limits;
pub mod measure;
pub mod nodes;
pub mod object_check;
#[cfg(all(feature = "object", target_os = "linux"))]
pub mod objects;
pub mod problem;
mod question_file;
pub mod requests;
mod rounds;
pub mod scale;
pub mod smallfiles;
pub mod store;
pub mod study;
pub mod sweep;
pub mod time;
pub mod watch;
pub mod work_directory;

pub use problem::Problem;
pub use watch::Watcher;
