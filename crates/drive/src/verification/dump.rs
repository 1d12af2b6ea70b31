//! `verify_dump`: saves the blocks of a mismatch in files, both the block that was read and the expected one.

use std::path::Path;

use fsdyno_os::errno::reason;
use fsdyno_os::files::{Readers, write_whole};
use fsdyno_os::written;
use fsdyno_workload::{Mismatch, Op, Seal};

/// Saves the interval that did not match. Returns lines about the files, for the end of the message. `buffer` is the
/// block of the request as the check left it; names of the files begin with `place` and end with `ending`.
#[cold]
pub(super) fn dump(seal: &Seal, mismatch: &Mismatch, buffer: &[u8], op: &Op, place: &Path, ending: &str) -> String {
    let from = (mismatch.offset - op.offset) as usize;
    let Some(received) = buffer.get(from..from + mismatch.length as usize) else { return String::new() };
    let as_read = seal.as_read(received, mismatch);
    let save = |what: &str, bytes: &[u8]| {
        let path = format!("{}.{}.{what}{ending}", fsdyno_job::bytes::shown(place), mismatch.offset);
        match write_whole(&written::path(&path), Readers::ByUmask, bytes) {
            Ok(()) => format!("\n       {what} data dumped as {path}"),
            Err(error) => format!("\nopen verify buf file: {}", reason(&error)),
        }
    };
    if mismatch.is_of_header() {
        return save("hdr_fail", &as_read);
    }
    let expected = seal.expected(received, mismatch, op);
    let expected = expected.map_or_else(String::new, |expected| save("expected", &expected));
    save("received", &as_read) + &expected
}
