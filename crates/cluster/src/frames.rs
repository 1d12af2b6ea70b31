//! Sends messages through a pipe: their length, then JSON.

use std::io::{self, Read, Write};

use crate::messages::Message;

/// Largest message, bytes: the records of some hundred thousand workers fit.
const BYTES_MAX: usize = 1 << 31;

pub(crate) fn encoded(message: &Message) -> Vec<u8> {
    serde_json::to_vec(message).expect("a message has no map whose keys could fail to be text")
}

pub(crate) fn decoded(bytes: &[u8]) -> io::Result<Message> {
    serde_json::from_slice(bytes).map_err(io::Error::from)
}

pub(crate) fn write(to: &mut impl Write, message: &Message) -> io::Result<()> {
    let bytes = encoded(message);
    let length = u32::try_from(bytes.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
    to.write_all(&length.to_le_bytes())?;
    to.write_all(&bytes)?;
    to.flush()
}

/// The next message. The error at the end of the pipe is `UnexpectedEof`.
pub(crate) fn read(from: &mut impl Read) -> io::Result<Message> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > BYTES_MAX {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes)?;
    decoded(&bytes)
}
