//! Statistics for few and noisy numbers: five to eight repeats of a benchmark, a minute of values per second, a
//! histogram of latencies.
//!
//! What holds for all of it:
//! - **Deterministic.** Nothing here reads a clock; what draws random numbers takes a seed or has a fixed one.
//! - **Ranks before moments.** Storage is heavier-tailed than commands are, so centres are medians, tests are of ranks
//!   and exact where samples are few.
//! - **`None` means unknown.** Too few samples, a value that is not finite, a division by zero: never 0.
//! - **An interval's confidence is what it has**, not what was asked for. Small samples have steps: it can be above, and
//!   below where they are too few to reach it (five values reach 0.9375, three 0.75).
//! - **Nothing is dropped.** Outliers are reported, and stay in.
//! - **Effect before significance.** What raises an alarm asks for a size of effect as well as a small p-value.
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
pub use histogram::{BUCKETS, Histogram, bucket_of, bucket_value};
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
