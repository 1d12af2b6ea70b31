//! Messages as bytes: the length of a head, the head as JSON, and the records of ranks behind it, which nobody between
//! their rank and the first one reads. In a pipe the length of all goes before them.

use std::io::{self, Read, Write};

use crate::messages::{Message, Records};

/// Largest message, bytes: the records of some hundred thousand workers fit.
const BYTES_MAX: usize = 1 << 31;

/// Bytes of a length.
const LENGTH: usize = size_of::<u32>();

/// The head, behind its length.
fn head(message: &Message) -> Vec<u8> {
    let mut head = vec![0; LENGTH];
    serde_json::to_writer(&mut head, message).expect("a message has no map whose keys could fail to be text");
    let length = (head.len() - LENGTH) as u32;
    head[..LENGTH].copy_from_slice(&length.to_le_bytes());
    head
}

pub(crate) fn encoded(message: &Message) -> Vec<u8> {
    let mut bytes = head(message);
    let parts = message.records().map_or(&[][..], Records::parts);
    bytes.reserve_exact(parts.iter().map(Vec::len).sum());
    parts.iter().for_each(|part| bytes.extend_from_slice(part));
    bytes
}

pub(crate) fn decoded(mut bytes: Vec<u8>) -> io::Result<Message> {
    let damaged = || io::Error::from(io::ErrorKind::InvalidData);
    let length = bytes.first_chunk().map(|length| u32::from_le_bytes(*length) as usize).ok_or_else(damaged)?;
    let end = LENGTH + length;
    let mut message: Message = serde_json::from_slice(bytes.get(LENGTH..end).ok_or_else(damaged)?)?;
    if let Some(records) = message.records_mut().filter(|_| bytes.len() > end) {
        bytes.drain(..end);
        *records = Records::of_part(bytes);
    }
    Ok(message)
}

pub(crate) fn write(to: &mut impl Write, message: &Message) -> io::Result<()> {
    let head = head(message);
    let parts = message.records().map_or(&[][..], Records::parts);
    let length = head.len() + parts.iter().map(Vec::len).sum::<usize>();
    let length = u32::try_from(length).map_err(|_| io::ErrorKind::FileTooLarge)?;
    to.write_all(&length.to_le_bytes())?;
    to.write_all(&head)?;
    parts.iter().try_for_each(|part| to.write_all(part))?;
    to.flush()
}

/// The next message. The error at the end of the pipe is `UnexpectedEof`.
pub(crate) fn read(from: &mut impl Read) -> io::Result<Message> {
    let mut length = [0; LENGTH];
    from.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > BYTES_MAX {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes)?;
    decoded(bytes)
}
