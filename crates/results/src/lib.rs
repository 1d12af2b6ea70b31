//! The results of runs: the [`RunRecord`], the only thing that is saved, sent, merged and compared, the [`Study`] of a
//! question, and what is derived from both. Pure: no clock, no file, no terminal.
#![forbid(unsafe_code)]

mod blank;
mod direction;
pub mod evidence;
mod judgement;
mod merge;
mod nodes;
mod record;
mod samples;
mod saved;
mod severity;
mod studies;
mod together;

pub use blank::DEFAULT_PERCENTILES;
pub use direction::per_second;
pub use job::{Access, Direction, PerDirection, ReadWrite, SteadyStateMetric, Transfer};
pub use judgement::Judge;
pub use nodes::{CpuIdleness, MergeError, Node, RANKS_APART};
pub use record::*;
pub use samples::{Samples, added_up};
pub use saved::SavedRecordError;
pub use severity::Severity;
pub use stats::{BUCKETS, Histogram, Interval, Moments, bucket_of, bucket_value};
pub use studies::*;
pub use together::{ClockOffset, MissingRank, Part, Span, Together, Window};
