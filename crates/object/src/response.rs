//! Reads the head of an answer.

use std::mem::MaybeUninit;

use crate::Fault;

/// The longest head that is read. Those of object stores have less than a thousand bytes.
pub const HEAD_BYTES_MAX: usize = 16 << 10;

/// The largest number of fields in a head that is read.
const FIELDS_MAX: usize = 100;

/// Where a body ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// The body ends after this number of bytes; 0 when the answer has no body.
    Bytes(u64),
    /// The body ends after its last chunk.
    Chunks,
    /// The body ends when the server closes the connection.
    UntilClose,
}

/// What the head of an answer says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResponseHead {
    /// The status: 200, 404, …
    pub status: u16,
    /// Where the body ends.
    pub body: Body,
    /// Whether the server takes further requests on this connection.
    pub keeps_alive: bool,
    /// The length of the head itself.
    pub head_bytes: usize,
}

impl ResponseHead {
    /// Reads the head of an answer. Returns `Ok(None)` when the head has not arrived completely. Skips interim answers
    /// (100, 103).
    pub fn parse(bytes: &[u8]) -> Result<Option<ResponseHead>, Fault> {
        let mut skipped = 0;
        while let Some(mut head) = parse_one(&bytes[skipped..])? {
            head.head_bytes += skipped;
            if head.status >= 200 {
                return Ok(Some(head));
            }
            skipped = head.head_bytes;
        }
        if bytes.len() >= HEAD_BYTES_MAX { Err(Fault::EndlessHead) } else { Ok(None) }
    }
}

/// The value of a field of a head that was parsed; `None`: it has none, or the value is no text.
pub fn field_of<'h>(head: &'h [u8], name: &str) -> Option<&'h str> {
    let mut fields = head.split(|byte| *byte == b'\n').filter_map(|line| str::from_utf8(line).ok()?.split_once(':'));
    fields.rfind(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}

fn parse_one(bytes: &[u8]) -> Result<Option<ResponseHead>, Fault> {
    // The parser fills as many as there are: to make all of them first would take longer than to read a head.
    let mut fields = [const { MaybeUninit::uninit() }; FIELDS_MAX];
    let (mut response, parser) = (httparse::Response::new(&mut []), httparse::ParserConfig::default());
    let head_bytes = match parser.parse_response_with_uninit_headers(&mut response, bytes, &mut fields) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(httparse::Error::TooManyHeaders) => return Err(Fault::EndlessHead),
        Err(_) => return Err(Fault::NoHttp),
    };
    let status = response.code.ok_or(Fault::NoHttp)?;
    let (mut length, mut chunked, mut keeps_alive) = (None, false, response.version == Some(1));
    for field in response.headers.iter() {
        let value = field.value.trim_ascii();
        if field.name.eq_ignore_ascii_case("content-length") {
            let number = number(value).ok_or(Fault::Length)?;
            if length.replace(number).is_some_and(|earlier| earlier != number) {
                return Err(Fault::Length);
            }
        } else if field.name.eq_ignore_ascii_case("transfer-encoding") {
            chunked = value.eq_ignore_ascii_case(b"chunked");
            if !chunked {
                return Err(Fault::Length);
            }
        } else if field.name.eq_ignore_ascii_case("connection") {
            let mut words = value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
            keeps_alive = match words.any(|word| word.eq_ignore_ascii_case(b"close")) {
                true => false,
                false => keeps_alive || value.eq_ignore_ascii_case(b"keep-alive"),
            };
        }
    }
    let body = match (status, chunked, length) {
        (..200 | 204 | 304, _, _) => Body::Bytes(0),
        // The two fields can name two ends. A proxy that uses the other one takes data for the next answer.
        (_, true, Some(_)) => return Err(Fault::Length),
        (_, true, None) => Body::Chunks,
        (_, false, Some(length)) => Body::Bytes(length),
        (_, false, None) => Body::UntilClose,
    };
    keeps_alive &= body != Body::UntilClose;
    Ok(Some(ResponseHead { status, body, keeps_alive, head_bytes }))
}

fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || digits.len() > 18 {
        return None;
    }
    digits.iter().try_fold(0, |number, byte| byte.is_ascii_digit().then(|| number * 10 + u64::from(byte - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Option<(u16, Body, bool)>, Fault> {
        let head = ResponseHead::parse(text.as_bytes())?;
        Ok(head.map(|head| (head.status, head.body, head.keeps_alive)))
    }

    #[test]
    fn a_head_says_how_its_body_ends() {
        for (text, wanted) in [
            ("HTTP/1.1 200 OK\r\nContent-Length: 4096\r\n\r\nrest", (200, Body::Bytes(4096), true)),
            ("HTTP/1.1 200 OK\r\ncontent-length: 5\r\nConnection: close\r\n\r\n", (200, Body::Bytes(5), false)),
            ("HTTP/1.0 200 OK\r\ncontent-length: 5\r\n\r\n", (200, Body::Bytes(5), false)),
            ("HTTP/1.0 200 OK\r\ncontent-length: 5\r\nConnection: Keep-Alive\r\n\r\n", (200, Body::Bytes(5), true)),
            ("HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n", (404, Body::Chunks, true)),
            ("HTTP/1.1 204 No Content\r\n\r\n", (204, Body::Bytes(0), true)),
            ("HTTP/1.1 200 OK\r\n\r\n", (200, Body::UntilClose, false)),
            (
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n",
                (201, Body::Bytes(0), true),
            ),
        ] {
            assert_eq!(parsed(text), Ok(Some(wanted)), "{text}");
            assert_eq!(parsed(&text[..text.rfind("\r\n").unwrap_or(0)]), Ok(None), "{text}");
        }
    }

    #[test]
    fn a_head_that_misleads_is_a_fault() {
        for (text, fault) in [
            ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", Fault::Length),
            ("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", Fault::Length),
            ("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n", Fault::Length),
            ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", Fault::Length),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", Fault::Length),
            ("SSH-2.0-OpenSSH_9.2\r\n\r\n", Fault::NoHttp),
        ] {
            assert_eq!(parsed(text), Err(fault), "{text}");
        }
        let endless = "HTTP/1.1 200 OK\r\n".to_owned() + &"X-Pad: 0\r\n".repeat(FIELDS_MAX + 1);
        assert_eq!(parsed(&endless), Err(Fault::EndlessHead));
        let long = format!("HTTP/1.1 200 OK\r\nX-Pad: {}", "0".repeat(HEAD_BYTES_MAX));
        assert_eq!(parsed(&long), Err(Fault::EndlessHead));
        let interim = "HTTP/1.1 100 Continue\r\n\r\n".repeat(HEAD_BYTES_MAX / 20);
        assert_eq!(parsed(&interim), Err(Fault::EndlessHead));
    }
}
