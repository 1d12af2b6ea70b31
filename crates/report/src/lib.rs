//! Run records as text: the report formats of fio 3.42. Pure functions of [`results::RunRecord`]: they read no clock,
//! no terminal and no file, so that a saved record gives the same report years later.
#![forbid(unsafe_code)]

mod calendar;
mod disks;
mod figures;
mod groups;
pub mod json;
mod lanes;
pub mod normal;
mod number;
mod progress;
pub mod terse;

pub use jiff::tz::TimeZone;
pub use number::{Base, Style, Unit, num2str};
pub use progress::{Progress, RateLimit};
