//! Requests to object stores and what is read of their answers: signatures (AWS version 4, in a header), heads of requests
//! and answers (HTTP/1.1), error documents, addresses, credentials. Pure: no socket, no file, no clock.
#![forbid(unsafe_code)]

mod body;
mod credentials;
mod endpoint;
mod hash;
mod request;
mod response;
mod signature;
mod text;
mod time;
mod xml;

pub use body::Chunks;
pub use credentials::Credentials;
pub use endpoint::Endpoint;
pub use request::{Method, ObjectRequest, Requests, encoded_path};
pub use response::{Body, HEAD_BYTES_MAX, ResponseHead};
pub use signature::{Canonical, Signer};
pub use time::Stamp;
pub use xml::error_code;

/// Why an answer cannot be understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// More than [`HEAD_BYTES_MAX`], or more fields than any server needs.
    #[error("the head of the answer does not end")]
    EndlessHead,
    /// No HTTP.
    #[error("the answer is no HTTP")]
    NoHttp,
    /// Two lengths, or one that is no number.
    #[error("the answer gives no single length")]
    Length,
    /// A size or an end of a chunk that is none.
    #[error("the chunks of the answer are damaged")]
    Chunks,
}
