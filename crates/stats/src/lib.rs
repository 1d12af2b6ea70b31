//! Statistics for few and noisy numbers: five to eight repeats of a benchmark, a minute of values per second, a
//! histogram of latencies.
//!
//! Rules for all functions:
//! - **Deterministic.** No function reads a clock; functions with random numbers take a seed or have a fixed one.
//! - **Ranks before moments.** Latencies of storage have heavy tails, so that centres are medians, and tests use
//!   ranks and are exact for few samples.
//! - **`None` means unknown.** Too few samples, a value that is not finite, a division by zero: never 0.
//! - **An interval reports the confidence that it has**, not the one that was asked for. With few samples only
//!   certain values are possible: it can be above, and below if there are too few samples (five values reach 0.9375,
//!   three 0.75).
//! - **Nothing is dropped.** Outliers are reported, and stay in.
//! - **Effect before significance.** An alarm needs a certain size of effect as well as a small p-value.
#![forbid(unsafe_code)]

mod autocorrelation;
mod binomial;
mod bootstrap;
mod change_point;
mod descriptive;
mod difference;
mod drift;
mod estimate;
mod histogram;
mod interval;
mod knee;
mod mann_whitney;
mod median_interval;
mod moments;
mod null_distribution;
mod open_loop;
pub mod packed;
mod percentile_interval;
mod plateau;
mod random;
mod ratio;
mod rounds;
mod scatter;
mod shift;
pub mod sort;
mod student;
mod warm_up;

pub use bootstrap::bootstrap_mean_interval;
pub use change_point::{ChangePoint, Sensitivity, change_point};
pub use descriptive::{coefficient_of_variation, mean, median, median_absolute_deviation};
pub use difference::{CHANGE_CONFIDENCE, Difference, LEAST_CHANGE, WINNER_CONFIDENCE};
pub use drift::{Drift, drift};
pub use estimate::Estimate;
pub use histogram::{BUCKETS, Histogram, UNLIMITED_BUCKETS, bucket_of, bucket_value, unlimited_bucket_of};
pub use interval::Interval;
pub use knee::{Knee, LoadPoint, knee};
pub use mann_whitney::{mann_whitney, probability_of_superiority};
pub use median_interval::median_interval;
pub use moments::Moments;
pub use null_distribution::RankTest;
pub use open_loop::{ENOUGH_REQUESTS, FALLS_BEHIND, Served, achieved_per_s, was_served};
pub use percentile_interval::{NoPercentileInterval, percentile_interval, samples_needed};
pub use plateau::{PLATEAU_SAMPLES, PLATEAU_VARIATION, Plateau, flat_plateau};
pub use ratio::{median_ratio, paired_ratio, shifted_ratio};
pub use rounds::{WINNER_HALF_WIDTH, WINNER_ROUNDS, order_of_round};
pub use scatter::{HISTORY_MAX, HISTORY_MIN, Scatter};
pub use shift::hodges_lehmann_shift;
pub use student::{RUNS_MIN, STUDENT_95, STUDENT_99, Student};
pub use warm_up::{WarmUp, warm_up};
