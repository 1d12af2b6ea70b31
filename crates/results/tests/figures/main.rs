//! Tests of records, of what is computed from them, and of how they are saved, through the public interface.
#![forbid(unsafe_code)]

mod nodes;
mod properties;
mod ranks;
mod rows;
mod saved;
