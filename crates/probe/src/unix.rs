//! What POSIX reports on any Unix: a beginning of `system` for another Unix than Linux. On Linux it is compiled and
//! tested, but not used.

use std::path::Path;

use fsdyno_results::evidence::Space;

use crate::{Fact, NotVisible};

/// Space of the filesystem of a path, and whether it accepts writes.
pub fn filesystem_of(path: &Path) -> Fact<(Space, bool)> {
    let hidden = |reason: &dyn std::fmt::Display| NotVisible::new(format!("statvfs {}", path.display()), reason);
    let found = rustix::fs::statvfs(path).map_err(|error| hidden(&error))?;
    if found.f_blocks == 0 {
        return Err(hidden(&"the filesystem reports no size"));
    }
    let bytes = |blocks: u64| blocks.saturating_mul(found.f_frsize);
    let space = Space { total_bytes: bytes(found.f_blocks), available_bytes: bytes(found.f_bavail) };
    Ok((space, !found.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY)))
}

/// The kernel's name and version.
pub fn kernel_version() -> String {
    let name = rustix::system::uname();
    format!("{} {}", name.sysname().to_string_lossy(), name.release().to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filesystem_of_a_directory_has_space_and_takes_writes() {
        let place = tempfile::tempdir().unwrap();
        let (space, writable) = filesystem_of(place.path()).unwrap();
        assert!(space.total_bytes >= space.available_bytes && space.total_bytes > 0 && writable);
        let error = filesystem_of(&place.path().join("missing")).unwrap_err();
        assert!(error.to_string().contains("statvfs"), "{error}");
    }

    #[test]
    fn the_kernel_has_a_name() {
        assert!(kernel_version().contains(' '));
    }
}
