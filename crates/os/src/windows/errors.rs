//! Advice about errors that differs from that of a Unix.

use std::path::Path;

use super::errno;

/// The next step, with its leading punctuation; `None`: the advice of a Unix is right here, too.
pub(crate) fn advice(code: i32) -> Option<&'static str> {
    Some(match code {
        errno::EACCES | errno::EPERM => "; run as a user with access to it (icacls shows who that is)",
        errno::EROFS => "; the volume is write-protected: use another one, or run a read-only job",
        errno::ENOSPC => "; free space there or lower size=",
        errno::EFBIG => "; larger than the filesystem allows: lower size=",
        errno::EMFILE | errno::ENFILE => "; Windows has no room for more open files: lower nrfiles or numjobs",
        errno::EIO => "; the device or the server reported a failure (the event log may say more)",
        errno::ESTALE => "; the server no longer knows this file: connect the drive again",
        errno::EBUSY => "; another program has it open and does not share it: close that program, or use another file",
        errno::EAGAIN => "; another program has locked a part of it: close that program, or use another file",
        _ => return None,
    })
}

/// Why an existing file may not be written, if its attributes show it. The user has set the attribute, so that it
/// stays.
pub(crate) fn why_not_written(path: &Path) -> Option<&'static str> {
    let metadata = std::fs::metadata(path).ok().filter(|metadata| !metadata.is_dir())?;
    let advice = "; its read-only attribute is set: take it away with `attrib -r`, or use another file";
    metadata.permissions().readonly().then_some(advice)
}
