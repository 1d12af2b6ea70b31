//! Which types of filesystem are served by a FUSE daemon.

/// Whether a FUSE daemon serves mounts of this type: `fuse`, `fuse.s3fs`, `fuseblk`.
pub fn is_fuse(fstype: &str) -> bool {
    fstype == "fuse" || is_fuse_on_device(fstype) || fstype.starts_with("fuse.")
}

/// Whether its daemon serves a block device of this machine, the source of the mount: without network or other
/// folders.
pub(crate) fn is_fuse_on_device(fstype: &str) -> bool {
    fstype == "fuseblk"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn daemons_answer_for_all_types_but_the_control_filesystem() {
        assert!(["fuse", "fuse.s3fs", "fuseblk"].into_iter().all(is_fuse));
        assert!(!["fusectl", "nfs", "virtiofs", ""].into_iter().any(is_fuse));
        assert!(is_fuse_on_device("fuseblk") && !is_fuse_on_device("fuse.sshfs"));
    }
}
