//! This crate has no code: its manifest names the features that all builds of the workspace share.
#![forbid(unsafe_code)]
