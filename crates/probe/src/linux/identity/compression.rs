//! Finds out whether a filesystem compresses data.

use fsdyno_results::evidence::Mount;
use rustix::fs::StatxAttributes;

/// The reason to think that data are compressed. `mount`: the mount that holds the data.
pub(super) fn compression(mount: Option<&Mount>, attributes: StatxAttributes) -> Option<String> {
    // Names and values of options, by filesystem.
    const OPTIONS: [(&str, &str); 5] = [
        ("btrfs", "compress"),
        ("btrfs", "compress-force"),
        ("f2fs", "compress_algorithm"),
        ("bcachefs", "compression"),
        ("ubifs", "compr"),
    ];
    let mount = mount?;
    let named = OPTIONS.iter().filter(|(fstype, _)| *fstype == mount.fstype).find_map(|(_, name)| {
        let value = mount.option(name).filter(|value| *value != "none" && *value != "no")?;
        Some(if value.is_empty() { (*name).to_owned() } else { format!("{name}={value}") })
    });
    let attribute =
        attributes.contains(StatxAttributes::COMPRESSED).then(|| "the compression attribute of this path".to_owned());
    let always = matches!(mount.fstype.as_str(), "squashfs" | "erofs").then(|| mount.fstype.clone());
    named.or(always).or(attribute)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::block::fixture;

    #[test]
    fn what_compresses() {
        let of = |fstype, options, attributes| {
            compression(Some(&fixture::mount(fstype, "/mnt", "source", options)), attributes)
        };
        let none = StatxAttributes::empty();
        assert_eq!(of("btrfs", "rw,compress=zstd:3", none).as_deref(), Some("compress=zstd:3"));
        assert_eq!(of("btrfs", "rw,compress-force=lzo", none).as_deref(), Some("compress-force=lzo"));
        assert_eq!(of("btrfs", "rw", none), None);
        assert_eq!(of("ext4", "rw,compress=zstd", none), None, "of another filesystem");
        assert!(of("btrfs", "rw", StatxAttributes::COMPRESSED).unwrap().contains("attribute"));
        assert_eq!(of("squashfs", "ro", none).as_deref(), Some("squashfs"));
        assert_eq!(of("erofs", "ro", StatxAttributes::COMPRESSED).as_deref(), Some("erofs"));
    }
}
