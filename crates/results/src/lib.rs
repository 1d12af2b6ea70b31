//! The results of runs: histogram, moments, series, and the [`RunRecord`], the only thing that is saved, sent, merged
//! and compared. Pure: no clock, no file, no terminal.
#![forbid(unsafe_code)]

mod blank;
mod direction;
pub mod escape;
pub mod evidence;
mod histogram;
mod interval;
mod merge;
mod moments;
mod nodes;
pub mod packed;
pub mod quantity;
mod record;
mod samples;
mod saved;
mod severity;
pub mod sort;
pub mod statistics;
mod studies;
mod together;

pub use blank::DEFAULT_PERCENTILES;
pub use direction::per_second;
pub use histogram::{BUCKETS, Histogram, bucket_of, bucket_value};
pub use interval::Interval;
pub use job::{Access, Direction, PerDirection, ReadWrite, SteadyStateMetric, Transfer};
pub use moments::Moments;
pub use nodes::{CpuIdleness, MergeError, Node, RANKS_APART};
pub use record::*;
pub use samples::{Samples, added_up};
pub use saved::SavedRecordError;
pub use severity::Severity;
pub use studies::*;
pub use together::{ClockOffset, MissingRank, Part, Span, Together, Window};
