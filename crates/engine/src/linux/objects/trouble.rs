//! Why a request failed, as an errno and as lines for people; fio's words where fio has them.

use std::io;

use fsdyno_object::Fault;
use fsdyno_os::errno::{EIO, ETIMEDOUT};
use fsdyno_workload::OpKind;

/// Why a request is not complete.
pub(super) enum Trouble {
    /// The request is still in flight.
    Waits,
    /// The request has passed its deadline.
    TooSlow,
    /// The server has closed the connection without an answer.
    Closed,
    /// The connection has failed.
    Connection(io::Error),
    /// The answer cannot be understood.
    Answer(Fault),
    /// The answer says that its object has another length than was asked for.
    Length { status: u16, length: u64 },
    /// The connection ended within an answer.
    Short { come: u64, length: u64 },
    /// The server refused the request.
    Refused { status: u16, code: Option<String> },
}

impl Trouble {
    /// An errno, and lines for people.
    pub(super) fn errno_and_lines(self, kind: OpKind, asked: u64) -> (i32, Vec<String>) {
        let line = match self {
            Trouble::Waits | Trouble::TooSlow => {
                return (ETIMEDOUT, vec!["the server has not answered in time".to_owned()]);
            }
            Trouble::Closed => "the server closed the connection without an answer".to_owned(),
            Trouble::Connection(error) => format!("the connection failed: {error}"),
            Trouble::Answer(fault) => fault.to_string(),
            Trouble::Length { status: 200, length } if length > asked => {
                format!("the object has more than {asked} bytes: read it with the bs that wrote it")
            }
            Trouble::Length { length, .. } => {
                format!("the answer has {length} bytes, {asked} were asked for: read it with the bs that wrote it")
            }
            Trouble::Short { come, length } => format!("the connection ended after {come} of {length} bytes"),
            Trouble::Refused { status, code } => return (EIO, refused(kind, status, code.as_deref())),
        };
        (EIO, vec![line])
    }
}

fn refused(kind: OpKind, status: u16, code: Option<&str>) -> Vec<String> {
    let direction = match kind {
        OpKind::Read => "DDIR_READ",
        OpKind::Write => "DDIR_WRITE",
        _ => "DDIR_TRIM",
    };
    let line = format!("{direction} failed with HTTP status code {status}");
    let advice = match (code, status) {
        (Some("SignatureDoesNotMatch"), _) => "compare http_s3_key and http_s3_region with the server's",
        (Some("InvalidAccessKeyId"), _) => "the server does not know http_s3_keyid",
        (Some("RequestTimeTooSkewed"), _) => "set the clock of this machine",
        (Some("NoSuchBucket"), _) => "make the bucket that filename begins with",
        (_, 300..=399) => "the server is elsewhere: use its endpoint or region itself, as nothing is redirected",
        (_, 401) => "give a key, a token, or a name and a password that the server takes",
        (_, 403) => "the key may not do this, or not here",
        (_, 404 | 409) => "make the bucket or folder that filename begins with",
        (_, 429 | 503) => "the server wants fewer requests per second: lower numjobs, or use rate_iops",
        _ => "the server's log may say more",
    };
    let said = code.map_or_else(String::new, |code| format!("the server says {code}: "));
    vec![line, format!("{said}{advice}")]
}
