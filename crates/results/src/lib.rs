//! What was measured: histogram, moments, series, and the [`RunRecord`] that is the only thing saved, sent,
//! merged and compared. Pure: no clock, no file, no terminal.
#![forbid(unsafe_code)]

mod histogram;
mod moments;
mod record;

pub use histogram::{BUCKETS, Histogram, bucket_of, bucket_value};
pub use moments::Moments;
pub use record::*;
