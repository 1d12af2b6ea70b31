//! Finds filesystems in fstab that are not mounted: an empty mount point belongs to the parent's filesystem, and
//! figures of it look like a result.

use std::path::Path;

use crate::linux::mounts;
use fsdyno_results::evidence::Mount;

/// A sentence about a filesystem of fstab that should be on the way to `resolved` and is not mounted.
pub(super) fn missing_mount(fstab: &str, resolved: &Path, mount: &Mount) -> Option<String> {
    let entries = fstab.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let source = words.next().filter(|word| !word.starts_with('#'))?;
        let mount_point = mounts::unescape(words.next()?.as_bytes());
        Some((source, mount_point, words.next()?))
    });
    let mut deeper = entries.filter(|(_, mount_point, _)| {
        let mount_point = Path::new(mount_point);
        mount_point.is_absolute() && resolved.starts_with(mount_point) && !mount.mount_point.starts_with(mount_point)
    });
    let (source, mount_point, fstype) = deeper.next()?;
    Some(format!(
        "fstab has {fstype} from {source} on {}, but it is not mounted: this is the filesystem below",
        Path::new(&mount_point).display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::block::fixture::mount;

    const FSTAB: &str = "\
# a comment /mnt/nas nfs
UUID=77 / ext4 defaults 0 1
UUID=78 none swap sw 0 0

nas:/x /mnt/nas\\040one nfs4 defaults,_netdev 0 0
";

    fn sentence(resolved: &str, mounted_at: &str) -> Option<String> {
        missing_mount(FSTAB, Path::new(resolved), &mount("ext4", mounted_at, "/dev/sda1", ""))
    }

    #[test]
    fn an_empty_mount_point_is_noticed() {
        let expected =
            "fstab has nfs4 from nas:/x on /mnt/nas one, but it is not mounted: this is the filesystem below";
        assert_eq!(sentence("/mnt/nas one/git", "/").as_deref(), Some(expected));
        assert_eq!(sentence("/mnt/nas one", "/mnt").as_deref(), Some(expected));
        assert_eq!(sentence("/mnt/nas one/git", "/mnt/nas one"), None, "mounted");
        assert_eq!(sentence("/mnt/nas one/git/x", "/mnt/nas one/git"), None, "another mount is above it");
        assert_eq!(sentence("/srv", "/"), None);
    }
}
