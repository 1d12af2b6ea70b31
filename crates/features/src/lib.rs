//! Nothing to call: the manifest names the features that all builds of the workspace share.
#![forbid(unsafe_code)]
