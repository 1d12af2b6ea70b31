//! The results of runs: the [`RunRecord`], which alone is saved, sent, merged and compared; the [`Study`] of a
//! question; and what is computed from both. This crate reads no clock, no file and no terminal.
#![forbid(unsafe_code)]

mod direction;
pub mod evidence;
mod judgement;
mod merge;
mod new_records;
mod nodes;
mod object;
mod ranks;
mod record;
mod samples;
mod saved;
mod sent;
mod severity;
mod structs_as_objects;
mod studies;

pub use direction::per_second;
pub use fsdyno_job::{Access, Direction, PerDirection, ReadWrite, SteadyStateMetric, Transfer};
pub use fsdyno_stats::{
    BUCKETS, Histogram, Interval, Moments, UNLIMITED_BUCKETS, bucket_of, bucket_value, unlimited_bucket_of,
};
pub use judgement::Judge;
pub use merge::latency_series;
pub use new_records::DEFAULT_PERCENTILES;
pub use nodes::{CpuIdleness, MergeError, Node, RANKS_APART};
pub use object::ObjectRecord;
pub use ranks::{ActiveSpan, ActiveWindow, ClockOffset, MissingRank, RankRecord, RanksRecord};
pub use record::*;
pub use samples::{Samples, added_up};
pub use saved::SavedRecordError;
pub use severity::Severity;
pub use studies::*;
