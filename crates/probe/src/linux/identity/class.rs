//! The storage class of a mount.

use results::evidence::StorageClass;

use super::stack;
use crate::is_fuse;
use crate::linux::Look;
use results::evidence::Mount;

/// Their files are made up by the kernel.
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

/// On disks, though their files show an anonymous device number.
const MANY_DISKS: [&str; 5] = ["btrfs", "zfs", "bcachefs", "ubifs", "jffs2"];

/// The kind of place. `has_devices`: block devices were found behind it.
pub(super) fn class(look: &Look, mount: &Mount, has_devices: bool) -> StorageClass {
    let fstype = mount.fstype.as_str();
    if fstype == "overlay" {
        // New data goes to the upper directory; what is there decides.
        let below = stack::mount_below(look, mount);
        return below.map_or(StorageClass::Unknown, |below| class(look, &below, has_devices));
    }
    match remote(mount) {
        Some(class) => class,
        None if KERNEL.contains(&fstype) => StorageClass::Kernel,
        None if MEMORY.contains(&fstype) => StorageClass::Memory,
        None if MANY_DISKS.contains(&fstype) || mount.device.major != 0 || has_devices => StorageClass::Block,
        None => StorageClass::Unknown,
    }
}

/// Somebody else than this kernel answers.
pub(super) fn is_remote(mount: &Mount) -> bool {
    remote(mount).is_some()
}

fn remote(mount: &Mount) -> Option<StorageClass> {
    let fstype = mount.fstype.as_str();
    match fstype {
        "fuse.vmhgfs-fuse" => Some(StorageClass::HostShare),
        "9p" if matches!(mount.option("trans"), Some("tcp" | "rdma")) => Some(StorageClass::Network),
        "9p" => Some(StorageClass::HostShare),
        _ if is_fuse(fstype) => Some(StorageClass::Fuse),
        _ if NETWORK.contains(&fstype) => Some(StorageClass::Network),
        _ if HOST_SHARE.contains(&fstype) => Some(StorageClass::HostShare),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::block::fixture;
    use results::evidence::DeviceNumber;

    fn of(fstype: &str, major: u32, options: &str) -> StorageClass {
        let device = DeviceNumber { major, minor: 1 };
        let mount = Mount { device, ..fixture::mount(fstype, "/mnt", "source", options) };
        class(&Look::new(), &mount, false)
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

    #[test]
    fn an_overlay_is_what_is_below_it() {
        assert_eq!(of("overlay", 0, "rw,lowerdir=/a,upperdir=/proc/self,workdir=/w"), StorageClass::Kernel);
        assert_eq!(of("overlay", 0, "rw,lowerdir=/a,upperdir=/no/such/place"), StorageClass::Unknown);
    }
}
