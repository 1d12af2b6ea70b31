//! Names as people wrote them: what a text of the job language ([`fsdyno_job::bytes`]) is to the system.

use std::ffi::OsString;
use std::path::PathBuf;

pub use fsdyno_job::bytes::shown;

use crate::system;

/// The path that a text means.
pub fn path(text: &str) -> PathBuf {
    os_string(text).into()
}

/// A word for another program.
pub fn os_string(text: &str) -> OsString {
    system::names::os_string(fsdyno_job::bytes::bytes(text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_the_bytes_of_its_name() {
        let place = tempfile::tempdir().unwrap();
        let name = fsdyno_job::bytes::text(b"x\xffy");
        let made = place.path().join(path(&name));
        if std::fs::write(&made, "").is_ok() && cfg!(target_os = "linux") {
            let found = std::fs::read_dir(place.path()).unwrap().next().unwrap().unwrap();
            assert_eq!(fsdyno_job::bytes::shown(found.file_name().as_ref()), name);
            assert_eq!(found.file_name().as_encoded_bytes(), b"x\xffy");
        }
    }
}
