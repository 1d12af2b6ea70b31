//! Makes requests to object stores and reads the answers: signatures (AWS version 4, in a header), heads of requests
//! and answers (HTTP/1.1), error documents, addresses of servers, credentials. The crate uses no socket, no file and
//! no clock.
#![forbid(unsafe_code)]

mod address;
mod body;
mod credentials;
mod endpoint;
mod hash;
mod list;
mod profile;
mod request;
mod response;
mod secret_bytes;
mod signature;
mod text;
mod time;
mod xml;

pub use address::{BucketAddress, BucketServer, ServerSettings};
pub use body::Chunks;
pub use credentials::Credentials;
pub use endpoint::Endpoint;
pub use list::{ListPage, open_uploads, webdav_names, word_of};
pub use profile::{service_endpoint, setting};
pub use request::{Method, ObjectRequest, PlainRequest, Requests, encoded_path, encoded_query};
pub use response::{Body, HEAD_BYTES_MAX, ResponseHead, field_of};
pub use secret_bytes::SecretBytes;
pub use signature::{Canonical, Signer};
pub use time::{Stamp, epoch_s_of_date};
pub use xml::error_code;

/// Why an answer cannot be understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The head has more bytes than [`HEAD_BYTES_MAX`], or more fields than any server needs.
    #[error("the head of the answer does not end")]
    EndlessHead,
    /// The text is not HTTP.
    #[error("the answer is not HTTP")]
    NoHttp,
    /// The head gives two different lengths, or a length that is not a number.
    #[error("the answer gives no single length")]
    Length,
    /// A chunk has no valid size or no valid end.
    #[error("the chunks of the answer are damaged")]
    Chunks,
}
