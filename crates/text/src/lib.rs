//! Text of figures and names: numbers with their units as people read them, and escaping for each output format.
#![forbid(unsafe_code)]

pub mod escape;
pub mod quantity;
