//! Remarks about a storage, one sentence each.

use std::path::Path;

use fsdyno_results::evidence::{InMemory, NfsIdentity, Storage, StorageClass};
use rustix::fs::StatxAttributes;

use super::fstab;
use super::place::PathAnswers;
use crate::linux::{Look, block, read_text, usage};
use crate::{FileKind, ZonedDevice};
use fsdyno_results::evidence::{DeviceNumber, Mount};

/// A remark if the storage lies on memory.
pub(super) fn about_memory(storage: &Storage) -> Option<String> {
    let way = storage.way_to_memory()?;
    Some(match storage.in_memory()? {
        InMemory::All => format!("the data are in memory ({way}): the figures are those of memory, not of a disk"),
        InMemory::Part => format!("a part of the data is in memory ({way}), and the figures with it"),
    })
}

/// Options of filesystems that change the meaning of figures, each with its sentence. The second part is the value,
/// if one is needed.
const OPTIONS: [(&str, Option<&str>, &str); 14] = [
    ("nobarrier", None, "nobarrier: flushes do not reach the device, fsync does not protect data"),
    ("barrier", Some("0"), "barrier=0: flushes do not reach the device, fsync does not protect data"),
    ("noatime", None, "noatime: reads store no access times"),
    ("lazytime", None, "lazytime: times of files stay in memory for up to a day, unless fsync or sync stores them"),
    ("dirsync", None, "dirsync: changes of directories wait for the storage"),
    ("data", Some("journal"), "data=journal: all data is written twice"),
    ("data", Some("writeback"), "data=writeback: new files may hold old data after a crash"),
    ("nodatacow", None, "nodatacow: data is overwritten in place, without checksums"),
    ("dax", None, "dax: files are mapped directly from the device, without a page cache"),
    ("noac", None, "noac: attributes are not cached, each stat asks the server"),
    ("fsc", None, "fsc: the client keeps a cache of the data on a local disk"),
    ("lookupcache", Some("none"), "lookupcache=none: names are not cached, each lookup asks the server"),
    ("nolock", None, "nolock: locks are valid on this client only"),
    ("cache", Some("none"), "cache=none: this client caches no data"),
];

pub(super) fn remarks(
    look: &Look,
    asked: &Path,
    place: &PathAnswers,
    class: StorageClass,
    nfs: Option<&NfsIdentity>,
) -> Vec<String> {
    let mut remarks = Vec::new();
    remarks.extend(about_path(asked, place));
    if let (Ok(mount), Ok(resolved)) = (&place.mount, &place.resolved) {
        let fstab = read_text(Path::new("/etc/fstab")).unwrap_or_default();
        remarks.extend(fstab::missing_mount(&fstab, resolved, mount));
    }
    remarks.extend(place.mount.as_ref().map_or_else(|_| Vec::new(), |mount| about_mount(mount, class)));
    if nfs.is_some_and(|nfs| nfs.hard == Some(false)) {
        remarks
            .push("soft: a request without a timely answer from the server becomes an error, data can be lost".into());
    }
    remarks.extend(about_class(class).map(str::to_owned));
    remarks.extend(about_attributes(place.attributes).map(str::to_owned));
    if let Some(number) = place.device {
        remarks.extend(about_zones(look, number));
        remarks.extend(usage::known_use(look, number).reason().map(|reason| format!("the device {reason}")));
    }
    remarks
}

fn about_path(asked: &Path, place: &PathAnswers) -> Option<String> {
    match (&place.exists, &place.resolved) {
        (Ok(false), Ok(resolved)) => Some(format!(
            "{} does not exist; this describes {}, its nearest existing parent",
            asked.display(),
            resolved.display()
        )),
        (Err(reason), _) => Some(format!(
            "stat failed for the path ({}); this is what the kernel's mount tables show for it",
            reason.reason
        )),
        _ if place.kind == FileKind::CharacterDevice && place.device.is_some() => Some(
            "a character device: it takes commands for the disk, past the block layer (ioengine=sg, io_uring_cmd)"
                .to_owned(),
        ),
        _ if place.kind == FileKind::CharacterDevice => Some("a character device, not storage".to_owned()),
        _ => None,
    }
}

fn about_zones(look: &Look, number: DeviceNumber) -> Option<String> {
    let directory = block::directory(look, number)?;
    let ZonedDevice { zone_bytes, open_max } = block::zones(&directory)?;
    let (count, kib) = (block::size_bytes(&directory)? / zone_bytes, zone_bytes / 1024);
    let limit = if open_max == 0 { "any number".to_owned() } else { format!("at most {open_max}") };
    Some(format!(
        "a zoned device: {count} zones of {kib} KiB, of which {limit} can be partly written at a time; zonemode=zbd \
         writes at their write pointers"
    ))
}

fn about_mount(mount: &Mount, class: StorageClass) -> Vec<String> {
    let mut remarks = Vec::new();
    if mount.read_only() {
        remarks.push("mounted read-only".to_owned());
    }
    if mount.option("sync").is_some() {
        remarks.push("sync: each write waits for the storage".to_owned());
    }
    if mount.fstype == "autofs" {
        remarks.push("autofs: something is mounted here at first use; nothing is mounted yet".to_owned());
    }
    let given = OPTIONS
        .iter()
        .filter(|(name, value, _)| mount.option(name).is_some_and(|found| value.is_none_or(|value| value == found)));
    // A daemon may give the same words another meaning.
    let given = given.filter(|_| class != StorageClass::Fuse);
    remarks.extend(given.map(|(_, _, sentence)| (*sentence).to_owned()));
    if mount.fstype == "fuse.s3fs" {
        remarks.push(
            "s3fs writes to a local file until fsync or close, and reads from it later: direct I/O is accepted but \
             has no effect"
                .to_owned(),
        );
    }
    remarks
}

fn about_class(class: StorageClass) -> Option<&'static str> {
    match class {
        StorageClass::Kernel => Some("a kernel filesystem: no storage"),
        StorageClass::HostShare => Some("files belong to the machine that hosts this one, and its caches take part"),
        StorageClass::Memory
        | StorageClass::Block
        | StorageClass::Network
        | StorageClass::Fuse
        | StorageClass::Device
        | StorageClass::Unknown => None,
    }
}

fn about_attributes(attributes: StatxAttributes) -> Option<&'static str> {
    if attributes.contains(StatxAttributes::ENCRYPTED) {
        return Some("encrypted by the filesystem: direct I/O may use the page cache");
    }
    attributes.contains(StatxAttributes::DAX).then_some("dax: mapped directly from the device, without a page cache")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::block::fixture::mount;

    fn about(fstype: &str, options: &str, class: StorageClass) -> Vec<String> {
        let words = about_mount(&mount(fstype, "/mnt", "source", &format!("relatime,{options}")), class);
        words.iter().map(|text| text.split([':', ' ']).next().unwrap_or_default().to_owned()).collect()
    }

    #[test]
    fn options_that_change_what_figures_mean() {
        assert_eq!(about("ext4", "rw,errors=continue", StorageClass::Block), [""; 0]);
        assert_eq!(
            about("ext4", "ro,nobarrier,data=journal", StorageClass::Block),
            ["mounted", "nobarrier", "data=journal"]
        );
        assert_eq!(about("ext4", "rw,data=ordered,barrier=1", StorageClass::Block), [""; 0]);
        assert_eq!(about("nfs4", "rw,noac,sync,fsc", StorageClass::Network), ["sync", "noac", "fsc"]);
        assert_eq!(about("fuse.s3fs", "rw,noac", StorageClass::Fuse), ["s3fs"]);
    }

    #[test]
    fn a_zoned_disk_says_its_zones() {
        let tree = crate::linux::block::fixture::tree();
        let about = || about_zones(&tree.look, DeviceNumber { major: 8, minor: 16 });
        let queue = block::directory(&tree.look, DeviceNumber { major: 8, minor: 16 }).unwrap().join("queue");
        std::fs::create_dir_all(&queue).unwrap();
        let set = |name: &str, value: &str| std::fs::write(queue.join(name), value).unwrap();
        set("zoned", "none\n");
        set("chunk_sectors", "8192\n");
        assert_eq!(about(), None);
        set("zoned", "host-managed\n");
        set("max_open_zones", "6\n");
        let said = about().unwrap();
        assert!(said.contains("244 zones of 4096 KiB, of which at most 6 can"), "{said}");
    }

    #[test]
    fn places_that_are_no_disk() {
        assert!(about_class(StorageClass::Kernel).unwrap().contains("no storage"));
        assert_eq!(about_class(StorageClass::Block), None);
    }

    #[test]
    fn attributes_of_the_path() {
        assert!(about_attributes(StatxAttributes::ENCRYPTED).unwrap().contains("encrypted"));
        assert_eq!(about_attributes(StatxAttributes::empty()), None);
    }
}
