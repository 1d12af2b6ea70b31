//! Finds out what kind a block device is, from /sys and the device mapper.

use std::path::{Path, PathBuf};

use super::Server;
use crate::linux::{Look, block, read_text};
use fsdyno_results::evidence::{Layer, LayerKind};

/// Disks in memory: the beginning of their kernel name, and their description.
const IN_MEMORY: [(&str, &str); 4] = [
    ("zram", "compressed memory (zram)"),
    ("ram", "memory (brd)"),
    ("nullb", "a null device: it keeps nothing, or in memory"),
    ("rnullb", "a null device: it keeps nothing, or in memory"),
];

/// Disks of a server or another machine.
const REMOTE: [(&str, &str); 2] =
    [("nbd", "a network block device (nbd)"), ("rbd", "a Ceph image over the network (rbd)")];

/// Kind and description of the disk in this directory of /sys.
pub(super) fn describe(look: &Look, disk: &Path) -> Layer {
    let name = block::name_of(disk).unwrap_or_default();
    let text = |file: &str| read_text(&disk.join(file)).ok().filter(|text| !text.is_empty());
    let layer = |kind: LayerKind, what: Option<String>| Layer { kind, what, ..Layer::default() };
    if let Some((_, what)) = IN_MEMORY.iter().find(|(beginning, _)| is_numbered(&name, beginning)) {
        return Layer { memory: true, ..layer(LayerKind::MemoryDisk, Some((*what).to_owned())) };
    }
    if let Some(what) = simulated(look, disk, &name) {
        return Layer { memory: true, ..layer(LayerKind::MemoryDisk, Some(what)) };
    }
    if let Some((_, what)) = REMOTE.iter().find(|(beginning, _)| is_numbered(&name, beginning)) {
        return layer(LayerKind::Remote, Some((*what).to_owned()));
    }
    match () {
        () if disk.join("loop/backing_file").exists() => layer(LayerKind::Loop, None),
        () if name.starts_with("dm-") => mapped(look, disk),
        () if name.starts_with("md") => layer(LayerKind::Array, text("md/level")),
        () if name.starts_with("bcache") => {
            let mode = text("bcache/cache_mode").and_then(|text| Some(bracketed(&text)?.to_owned()));
            let mode = mode.map(|mode| format!(", {mode}")).unwrap_or_default();
            layer(LayerKind::BlockCache, Some(format!("a cache of blocks (bcache{mode})")))
        }
        () => match fabric(disk, &name) {
            Some(what) => layer(LayerKind::Remote, Some(what)),
            None => layer(LayerKind::Disk, is_numbered(&name, "pmem").then(|| "persistent memory (pmem)".to_owned())),
        },
    }
}

/// Whether a name is `beginning` with a number after it, such as `zram0`.
fn is_numbered(name: &str, beginning: &str) -> bool {
    let number = name.strip_prefix(beginning);
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The word in brackets, as in `writethrough [writeback] none`.
fn bracketed(text: &str) -> Option<&str> {
    Some(text.split_once('[')?.1.split_once(']')?.0)
}

/// A driver that presents memory as another kind of disk.
fn simulated(look: &Look, disk: &Path, name: &str) -> Option<String> {
    let model = read_text(&disk.join("device/model")).unwrap_or_default();
    if model.trim() == "scsi_debug" {
        return Some("memory (scsi_debug)".to_owned());
    }
    let number = name.strip_prefix("mtdblock")?;
    let kind = read_text(&look.sys.join("class/mtd").join(format!("mtd{number}")).join("type"));
    (kind.as_deref() == Ok("ram")).then(|| "memory (mtd)".to_owned())
}

/// A disk over NVMe over fabrics or iSCSI.
fn fabric(disk: &Path, name: &str) -> Option<String> {
    let transport = read_text(&disk.join("device/transport")).ok().filter(|_| name.starts_with("nvme"));
    if let Some(transport) = transport.filter(|transport| !transport.is_empty() && transport != "pcie") {
        return Some(format!("NVMe over {transport}"));
    }
    let place = disk.canonicalize().unwrap_or_default();
    let in_session = place.components().any(|part| part.as_os_str().to_string_lossy().starts_with("session"));
    in_session.then(|| "a server over the network (iSCSI)".to_owned())
}

/// The files of the kernel's own NVMe target, if the disk is connected to it on this machine (transport `loop`).
pub(super) fn target_here(look: &Look, disk: &Path) -> Option<Server> {
    let loop_transport = read_text(&disk.join("device/transport")).ok().filter(|transport| transport == "loop");
    let subsystem = loop_transport.and_then(|_| read_text(&disk.join("device/subsysnqn")).ok())?;
    let target = look.sys.join("kernel/config/nvmet/subsystems").join(subsystem).join("namespaces");
    let spaces = std::fs::read_dir(target).ok()?.flatten();
    let files: Vec<PathBuf> =
        spaces.filter_map(|space| read_text(&space.path().join("device_path")).ok().map(PathBuf::from)).collect();
    // With several namespaces it is not visible which one the disk is.
    let files = if files.len() == 1 { files } else { Vec::new() };
    Some(Server { what: "its target is this machine".to_owned(), memory: false, files })
}

/// The identifier of a device-mapper device.
fn identifier(disk: &Path) -> Option<String> {
    read_text(&disk.join("dm/uuid")).ok()
}

/// Kind and description of a device-mapper device.
fn mapped(look: &Look, disk: &Path) -> Layer {
    let text = |file: &str| read_text(&disk.join(file)).unwrap_or_default();
    let slaves = block::links_in(&disk.join("slaves"));
    let parts: Vec<String> = slaves.iter().filter_map(|part| identifier(part)).collect();
    let (kind, what) = mapping(&text("dm/uuid"), &text("dm/name"), &parts, targets(look, &text("dev")));
    Layer { kind, what: Some(what), ..Layer::default() }
}

/// The types of a mapping's targets, or why they are not visible.
fn targets(look: &Look, number: &str) -> Result<Vec<String>, String> {
    let (major, minor) = number.split_once(':').ok_or("there is no number")?;
    let number = |text: &str| text.parse().map_err(|_| format!("`{text}` is not a number"));
    fsdyno_os::mapper::targets(&look.mapper, number(major)?, number(minor)?)
        .map_err(|error| error.to_string().split(" (os error").next().unwrap_or_default().to_owned())
}

/// Kind and description of a mapping. The prefix of the identifier names its maker; the targets show what it does.
/// For LVM, the identifiers of `parts` show the same: only thin volumes lie on a pool.
fn mapping(uuid: &str, name: &str, parts: &[String], targets: Result<Vec<String>, String>) -> (LayerKind, String) {
    let is = |target: &str| targets.as_ref().is_ok_and(|types| types.iter().any(|one| one == target));
    let in_pool = uuid.starts_with("LVM-") && parts.iter().any(|part| part.ends_with("-tpool"));
    let (kind, word) = match uuid.split('-').next().unwrap_or_default() {
        _ if is("thin") || in_pool => (LayerKind::Thin, "thin volume"),
        _ if is("thin-pool") => (LayerKind::Mapped, "thin pool"),
        _ if is("writecache") => (LayerKind::BlockCache, "a cache of blocks (dm-writecache)"),
        _ if is("cache") => (LayerKind::BlockCache, "a cache of blocks (dm-cache)"),
        "LVM" => (LayerKind::Mapped, "logical volume (LVM)"),
        "CRYPT" => (LayerKind::Mapped, "encryption (dm-crypt)"),
        "mpath" => (LayerKind::Mapped, "several paths to one disk (multipath)"),
        _ if targets.is_ok() => (LayerKind::Mapped, "device mapper"),
        _ => (LayerKind::MaybeThin, "device mapper"),
    };
    let named = if name.is_empty() { word.to_owned() } else { format!("{word} {name}") };
    match targets {
        Err(reason) if kind == LayerKind::MaybeThin => {
            (kind, format!("{named}, of a kind that is not visible ({reason})"))
        }
        _ => (kind, named),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::block::fixture::tree;
    use std::fs;

    /// The description of a disk with these files.
    fn said(name: &str, files: &[(&str, &str)]) -> (LayerKind, bool, Option<String>) {
        let tree = tree();
        let disk = tree.look.sys.join("devices").join(name);
        for (file, text) in files {
            let file = disk.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, format!("{text}\n")).unwrap();
        }
        let Layer { kind, memory, what, .. } = describe(&tree.look, &disk);
        (kind, memory, what)
    }

    #[test]
    fn disks_in_memory() {
        for name in ["zram0", "ram12", "nullb0"] {
            let (kind, memory, what) = said(name, &[]);
            assert_eq!((kind, memory), (LayerKind::MemoryDisk, true), "{name}");
            assert!(what.is_some_and(|what| what.contains("memory")), "{name}");
        }
        assert_eq!(said("sdc", &[("device/model", "scsi_debug      ")]).2.as_deref(), Some("memory (scsi_debug)"));
        let mtd = tree();
        let kind = mtd.look.sys.join("class/mtd/mtd3");
        fs::create_dir_all(&kind).unwrap();
        fs::write(kind.join("type"), "ram\n").unwrap();
        assert!(describe(&mtd.look, Path::new("/sys/devices/mtdblock3")).memory);
        assert!(!describe(&mtd.look, Path::new("/sys/devices/mtdblock4")).memory);
        assert_eq!(said("pmem0", &[]).0, LayerKind::Disk, "it survives a restart");
        for disk in ["sda", "ramzswap", "vda"] {
            assert_eq!(said(disk, &[]), (LayerKind::Disk, false, None), "{disk}");
        }
    }

    #[test]
    fn disks_made_of_others_and_elsewhere() {
        assert_eq!(said("md0", &[("md/level", "raid1")]), (LayerKind::Array, false, Some("raid1".into())));
        let (kind, _, what) = said("bcache0", &[("bcache/cache_mode", "writethrough [writeback] writearound none")]);
        assert_eq!((kind, what.as_deref()), (LayerKind::BlockCache, Some("a cache of blocks (bcache, writeback)")));
        assert_eq!(said("loop7", &[("loop/backing_file", "/x")]).0, LayerKind::Loop);
        assert_eq!(said("loop7", &[]).0, LayerKind::Disk, "no file is attached");
        assert_eq!(said("nbd0", &[]).0, LayerKind::Remote);
        assert_eq!(said("nvme0n1", &[("device/transport", "tcp")]).2.as_deref(), Some("NVMe over tcp"));
        assert_eq!(said("nvme0n1", &[("device/transport", "pcie")]).0, LayerKind::Disk);
    }

    #[test]
    fn a_target_on_this_machine() {
        let tree = tree();
        let disk = tree.look.sys.join("devices/nvme1n1");
        fs::create_dir_all(disk.join("device")).unwrap();
        fs::write(disk.join("device/transport"), "loop\n").unwrap();
        fs::write(disk.join("device/subsysnqn"), "nqn.test\n").unwrap();
        let space = tree.look.sys.join("kernel/config/nvmet/subsystems/nqn.test/namespaces/1");
        fs::create_dir_all(&space).unwrap();
        fs::write(space.join("device_path"), "/dev/ram0\n").unwrap();
        assert_eq!(target_here(&tree.look, &disk).unwrap().files, [PathBuf::from("/dev/ram0")]);
        fs::write(disk.join("device/transport"), "tcp\n").unwrap();
        assert!(target_here(&tree.look, &disk).is_none());
    }

    #[test]
    fn kinds_of_mappings() {
        let of = |uuid, parts: &[&str], targets: &[&str]| {
            let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
            mapping(uuid, "x", &owned(parts), Ok(owned(targets)))
        };
        let mapped = |words: &str| (LayerKind::Mapped, words.to_owned());
        let thin = (LayerKind::Thin, "thin volume x".to_owned());
        assert_eq!(of("CRYPT-LUKS2-77-home", &[], &["crypt"]), mapped("encryption (dm-crypt) x"));
        assert_eq!(of("", &[], &["linear"]), mapped("device mapper x"));
        assert_eq!(of("", &[], &["thin"]), thin);
        assert_eq!(of("", &[], &["thin-pool"]), mapped("thin pool x"));
        let cache = (LayerKind::BlockCache, "a cache of blocks (dm-writecache) x".to_owned());
        assert_eq!(of("", &[], &["writecache"]), cache);
        assert_eq!(of("LVM-abc", &["LVM-def-tpool"], &["thin"]), thin);
        assert_eq!(of("LVM-abc", &["LVM-def"], &["linear"]), mapped("logical volume (LVM) x"));
    }

    #[test]
    fn mappings_that_do_not_tell_their_targets() {
        let of = |uuid, part: &str| mapping(uuid, "x", &[part.to_owned()], Err("Permission denied".into()));
        let unseen = "device mapper x, of a kind that is not visible (Permission denied)";
        assert_eq!(of("", ""), (LayerKind::MaybeThin, unseen.to_owned()));
        assert_eq!(of("LVM-abc", "LVM-def-tpool").0, LayerKind::Thin, "the pool below tells it");
        assert_eq!(of("LVM-abc", "").0, LayerKind::Mapped, "without a pool it is none");
    }
}
