//! Names as users wrote them: converts a text of the fio language ([`fsdyno_job::bytes`]) to a name of the system.

use std::ffi::OsString;
use std::path::PathBuf;

pub use fsdyno_job::bytes::shown;

use crate::system;

/// The path of a text.
pub fn path(text: &str) -> PathBuf {
    os_string(text).into()
}

/// The word of a text, for another program.
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
