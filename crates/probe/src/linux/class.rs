//! Decides the class of a storage by the type of the filesystem.

use crate::is_fuse;
use fsdyno_results::evidence::{Mount, StorageClass};

/// Filesystems whose files the kernel generates.
const KERNEL: [&str; 22] = [
    "autofs",
    "binfmt_misc",
    "bpf",
    "cgroup",
    "cgroup2",
    "configfs",
    "debugfs",
    "devpts",
    "efivarfs",
    "fusectl",
    "mqueue",
    "nfsd",
    "nsfs",
    "proc",
    "pstore",
    "resctrl",
    "rpc_pipefs",
    "securityfs",
    "selinuxfs",
    "smackfs",
    "sysfs",
    "tracefs",
];

const MEMORY: [&str; 4] = ["tmpfs", "ramfs", "devtmpfs", "hugetlbfs"];

const NETWORK: [&str; 14] = [
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "smbfs",
    "ceph",
    "afs",
    "lustre",
    "beegfs",
    "gpfs",
    "orangefs",
    "pvfs2",
    "coda",
    "glusterfs",
];

const HOST_SHARE: [&str; 5] = ["virtiofs", "hostfs", "vboxsf", "vmhgfs", "drvfs"];

/// Filesystems on disks, although their files show an anonymous device number.
const MANY_DISKS: [&str; 5] = ["btrfs", "zfs", "bcachefs", "ubifs", "jffs2"];

/// The class, if the type alone decides it. `None`: it lies on devices of this machine or on other filesystems, or
/// the type is not known.
pub(super) fn by_type(mount: &Mount) -> Option<StorageClass> {
    let fstype = mount.fstype.as_str();
    match fstype {
        "fuse.vmhgfs-fuse" => Some(StorageClass::HostShare),
        "9p" if matches!(mount.option("trans"), Some("tcp" | "rdma")) => Some(StorageClass::Network),
        "9p" => Some(StorageClass::HostShare),
        _ if is_fuse(fstype) => Some(StorageClass::Fuse),
        _ if NETWORK.contains(&fstype) => Some(StorageClass::Network),
        _ if HOST_SHARE.contains(&fstype) => Some(StorageClass::HostShare),
        _ if KERNEL.contains(&fstype) => Some(StorageClass::Kernel),
        _ if MEMORY.contains(&fstype) => Some(StorageClass::Memory),
        _ => None,
    }
}

/// The class of the mount that holds the data. `has_devices`: block devices were found behind it.
pub(super) fn class(mount: &Mount, has_devices: bool) -> StorageClass {
    let on_disks = MANY_DISKS.contains(&mount.fstype.as_str()) || mount.device.major != 0 || has_devices;
    by_type(mount).unwrap_or(if on_disks { StorageClass::Block } else { StorageClass::Unknown })
}

/// Whether something other than this kernel answers for the mount.
pub(super) fn is_remote(mount: &Mount) -> bool {
    use StorageClass::{Fuse, HostShare, Network};
    matches!(by_type(mount), Some(Fuse | HostShare | Network))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::block::fixture;
    use fsdyno_results::evidence::DeviceNumber;

    fn of(fstype: &str, major: u32, options: &str) -> StorageClass {
        let device = DeviceNumber { major, minor: 1 };
        let mount = Mount { device, ..fixture::mount(fstype, "/mnt", "source", options) };
        class(&mount, false)
    }

    #[test]
    fn kinds_of_places() {
        assert_eq!(of("ext4", 8, "rw"), StorageClass::Block);
        assert_eq!(of("btrfs", 0, "rw"), StorageClass::Block);
        assert_eq!(of("tmpfs", 0, "rw"), StorageClass::Memory);
        assert_eq!(of("nfs4", 0, "rw"), StorageClass::Network);
        assert_eq!(of("fuse.s3fs", 0, "rw"), StorageClass::Fuse);
        assert_eq!(of("fuseblk", 8, "rw"), StorageClass::Fuse);
        assert_eq!(of("proc", 0, "rw"), StorageClass::Kernel);
        assert_eq!(of("virtiofs", 0, "rw"), StorageClass::HostShare);
        assert_eq!(of("9p", 0, "rw,trans=virtio"), StorageClass::HostShare);
        assert_eq!(of("9p", 0, "rw,trans=tcp"), StorageClass::Network);
        assert_eq!(of("newfs", 0, "rw"), StorageClass::Unknown);
    }
}
