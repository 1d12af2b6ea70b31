//! Why a worker could not begin.

use crate::plan::Refusal;

/// Why a worker could not begin.
pub(crate) struct Refused {
    pub(crate) code: i32,
    pub(crate) function: &'static str,
    pub(crate) message: String,
}

impl From<Refusal> for Refused {
    fn from(Refusal { code, function, message }: Refusal) -> Refused {
        Refused { code, function, message }
    }
}
