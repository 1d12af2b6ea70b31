//! Text of figures and names: numbers with their units in the form for people, and escaping for each output format and for a shell.
#![forbid(unsafe_code)]

pub mod escape;
pub mod quantity;
pub mod shell;
