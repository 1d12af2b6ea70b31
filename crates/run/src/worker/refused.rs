//! Why a worker could not begin.

/// Why a worker could not begin.
pub(crate) struct Refused {
    pub(crate) code: i32,
    pub(crate) function: &'static str,
    pub(crate) message: String,
}
