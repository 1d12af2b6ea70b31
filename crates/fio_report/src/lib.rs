//! Run records as text: the report formats of fio 3.42. Pure functions of [`results::RunRecord`]: they read no clock,
//! no terminal and no file, so that a saved record gives the same report years later. What a record gains has no place here:
//! the formats are fixed.
//!
//! Where these reports differ from fio's on purpose:
//! - an error is named by the function that failed and its text, without a position in fio's source;
//! - an error that was survived is named too, where fio prints empty parentheses;
//! - the second bandwidth of a steady state is in the other unit (fio repeats the first number);
//! - `bw (   kB/s)` lines (`kb_base=1000`) hold kB, not KiB;
//! - JSON is always valid: control characters are escaped, an option given twice appears once, with its last text;
//! - JSON keeps `sync` with `unified_rw_reporting=mixed`;
//! - a terse line stays one line, whatever a description holds.
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

pub use number::Style;
pub use progress::{Progress, RateLimit};
