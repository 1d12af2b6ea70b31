//! Tests of the statistics through their public interface.
#![forbid(unsafe_code)]

mod properties;
mod reference;
