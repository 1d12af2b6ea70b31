//! The storage that a path is on, as one value: filesystem, server, daemon, devices, and their limits.
//!
//! Nothing is read from the storage or written to it; a TCP connection to a server is opened and closed.

mod cgroups;
mod compression;
mod daemon;
mod endpoint;
mod fstab;
mod fuse;
mod mountstats;
mod nfs;
mod place;
mod remarks;
mod seen;
mod server;

pub(super) use cgroups::io as io_limits;
pub(super) use daemon::daemon_at as fuse_daemon_at;
pub(super) use fuse::value_of as fuse_option;
pub(super) use mountstats::wire_counters as nfs_mount_statistics;

use std::path::Path;

use fsdyno_results::evidence::{BlockDevice, FuseIdentity, Mount, NfsIdentity, Space, Storage, StorageClass};

use super::{Look, class, secrets};
use crate::{Fact, FileKind, NotVisible};
use place::PathAnswers;
use seen::seen;

/// Larger than any storage: a filesystem that does not know its size answers with more than this.
const CLAIM_BYTES_MIN: u64 = 1 << 60;

/// The storage behind a path. `writes`: the file there will be written.
pub(super) fn storage(look: &Look, asked: &Path, writes: bool) -> Storage {
    let place = place::place(look, asked, writes);
    let mount = place.mount.as_ref().ok();
    let found: &[BlockDevice] = place.devices.as_ref().map_or(&[], Vec::as_slice);
    let class = class_of(&place, found);
    let nfs = mount
        .filter(|mount| nfs::is_nfs(&mount.fstype))
        .map(|mount| NfsIdentity { root: place.nfs_root, ..nfs::identity(look, mount) });
    let fuse = mount.filter(|mount| crate::is_fuse(&mount.fstype)).map(|mount| fuse::identity(look, mount));
    let endpoint = mount.and_then(|mount| endpoint::endpoint(mount, fuse.as_ref()));
    let transport = nfs.as_ref().and_then(|nfs: &NfsIdentity| nfs.transport.as_deref());
    let mut remarks = remarks::remarks(look, asked, &place, class, nfs.as_ref());
    if endpoint.is_none() && class == StorageClass::Network {
        remarks.push("the server's address is not visible: the mount options do not contain it in a known form".into());
    }
    let server = endpoint.map(|endpoint| match fuse.as_ref().and_then(|fuse| fuse::in_another_network(look, fuse)) {
        Some(reason) => server::not_reached_from_here(&endpoint, &reason),
        None => server::identity(look, &endpoint, transport),
    });
    remarks.extend(server.as_ref().and_then(crate::server::remark));
    let mut storage = Storage {
        asked_path: fsdyno_os::written::shown(asked),
        exists: seen(place.exists.clone()),
        resolved_path: seen(place.resolved.as_ref().map(|path| fsdyno_os::written::shown(path))),
        mount: seen(place.mount.as_ref().map(fit_to_be_kept)),
        class,
        filesystem_id: place.filesystem_id.map(|id| format!("{id:016x}")),
        space: seen(place.space.clone().and_then(|space| believable(space, fuse.as_ref()))),
        direct_io: seen(place.direct_io.clone()),
        devices: seen(device_list(&place, class).map(<[BlockDevice]>::to_vec)),
        compression: compression::compression(place.data_mount.as_ref().or(mount), place.attributes),
        layers: place.layers.clone(),
        server,
        nfs,
        fuse,
        cgroup: cgroups::identity(look, &place.layers),
        remarks: Vec::new(),
    };
    // Remarks that concern all figures come first.
    storage.remarks = remarks::about_memory(&storage).into_iter().chain(remarks).collect();
    storage
}

fn class_of(place: &PathAnswers, devices: &[BlockDevice]) -> StorageClass {
    match (&place.mount, place.kind) {
        _ if place.device.is_some() => StorageClass::Device,
        (_, FileKind::CharacterDevice) => StorageClass::Kernel,
        // What exists at the path decides.
        (Ok(mount), _) => class::class(place.data_mount.as_ref().unwrap_or(mount), !devices.is_empty()),
        (Err(_), _) => StorageClass::Unknown,
    }
}

/// The mount without secrets, which options and sources may contain.
fn fit_to_be_kept(mount: &Mount) -> Mount {
    Mount {
        source: secrets::blank_word(&mount.source),
        options: mount.options.iter().map(|option| secrets::blank_word(option)).collect(),
        ..mount.clone()
    }
}

fn believable(space: Space, fuse: Option<&FuseIdentity>) -> Fact<Space> {
    if space.total_bytes >= CLAIM_BYTES_MIN {
        let who = fuse.and_then(|fuse| fuse.kind.as_deref()).unwrap_or("the filesystem");
        let exbibytes = space.total_bytes.div_ceil(1 << 60);
        return Err(NotVisible::new("statvfs", format!("{who} reports {exbibytes} EiB, which is no real size")));
    }
    Ok(space)
}

/// A filesystem that must have devices but shows none has devices that are not visible.
fn device_list(place: &PathAnswers, class: StorageClass) -> Fact<&[BlockDevice]> {
    let found = place.devices.as_ref().map_err(NotVisible::clone)?;
    if found.is_empty() && matches!(class, StorageClass::Block | StorageClass::Device | StorageClass::Unknown) {
        let who = place.mount.as_ref().map_or("this", |mount| mount.fstype.as_str());
        return Err(NotVisible::new("/sys/dev/block", format!("the kernel shows no device below {who}")));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use fsdyno_results::evidence::RecordedFact;

    use super::*;

    #[test]
    fn this_machine() {
        let directory = tempfile::tempdir_in(".").unwrap();
        let storage = storage(&Look::new(), directory.path(), false);
        let resolved = directory.path().canonicalize().unwrap();
        assert_eq!(storage.resolved_path, RecordedFact::Value(resolved.display().to_string()));
        assert_eq!(storage.exists, RecordedFact::Value(true));
        let mount = storage.mount.value().unwrap();
        assert!(resolved.starts_with(&mount.mount_point));
        assert!(mount.options.iter().any(|option| option == "rw"));
        assert_ne!(storage.class, StorageClass::Kernel);
    }

    #[test]
    fn the_kernels_own_files() {
        let storage = storage(&Look::new(), Path::new("/proc/self/status"), false);
        assert_eq!(storage.class, StorageClass::Kernel);
        assert_eq!(storage.devices, RecordedFact::Value(vec![]));
        assert!(storage.remarks.iter().any(|remark| remark.contains("no storage")));
    }

    #[test]
    fn a_missing_path_is_about_its_parent() {
        let storage = storage(&Look::new(), Path::new("/proc/self/no/such"), false);
        assert_eq!(storage.exists, RecordedFact::Value(false));
        assert_eq!(storage.class, StorageClass::Kernel);
        assert!(storage.remarks[0].contains("does not exist"), "{:?}", storage.remarks);
    }

    #[test]
    fn a_size_that_cannot_be_known_is_not_visible() {
        let space = Space { total_bytes: u64::MAX, available_bytes: u64::MAX };
        let fuse = FuseIdentity { kind: Some("s3fs".into()), ..FuseIdentity::default() };
        let reason = believable(space, Some(&fuse)).unwrap_err().reason;
        assert_eq!(reason, "s3fs reports 16 EiB, which is no real size");
        let space = Space { total_bytes: 100, available_bytes: 40 };
        assert_eq!(believable(space, None), Ok(space));
    }

    #[test]
    fn secrets_of_a_mount_are_blanked() {
        let mount = super::super::block::fixture::mount;
        let identity = fit_to_be_kept(&mount("fuse.x", "/mnt", "ftp://me:word@host/x", "relatime,password=word"));
        assert_eq!(identity.source, "ftp://***@host/x");
        assert_eq!(identity.options, ["rw", "relatime", "password=***"], "rw once");
    }
}
