//! The statistics as other crates see them.
#![forbid(unsafe_code)]

mod properties;
mod reference;
