//! Records, what is computed from them and how they are kept, as other crates see it.
#![forbid(unsafe_code)]

mod nodes;
mod properties;
mod ranks;
mod rows;
mod saved;
