//! The layers below a filesystem, and whether one of them compresses.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::StatxAttributes;

use super::seen::without_number;
use crate::linux::{Look, mounts, read_text};
use results::evidence::{BlockDevice, Mount};

/// What lies below a mount, top first, in words.
pub(super) fn stack(look: &Look, mount: Option<&Mount>, devices: &[BlockDevice]) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(mount) = mount {
        lines.extend(part(mount));
        lines.extend(overlay(look, mount));
    }
    describe(look, devices, &mut lines);
    lines
}

/// A mount that shows a part of its filesystem.
fn part(mount: &Mount) -> Option<String> {
    let root = mount.root.as_deref().filter(|root| *root != Path::new("/"))?;
    match mount.fstype.as_str() {
        "btrfs" if mount.option("subvol").is_some_and(|name| Path::new(name) == root) => {
            Some(format!("subvolume {}", root.display()))
        }
        _ => Some(format!("part of the filesystem: {} (bind mount)", root.display())),
    }
}

/// The mount that takes new data of an overlay, as far as this process sees it.
pub(super) fn mount_below(look: &Look, mount: &Mount) -> Option<Mount> {
    let directory = upper(mount)?;
    let below = mounts::mount_of(look, &directory).ok()?;
    // An overlay whose upper directory is on itself cannot be; a name that leads there means another one.
    (directory.exists() && below.id != mount.id).then_some(below)
}

/// The directory of new data, or else the top one of the data that is read only. A relative name cannot be found.
fn upper(mount: &Mount) -> Option<PathBuf> {
    let lower = || mount.option("lowerdir").or_else(|| mount.option("lowerdir+"));
    let name = mount.option("upperdir").or_else(|| lower()?.split(':').next())?;
    let path = PathBuf::from(name);
    path.is_absolute().then_some(path)
}

fn overlay(look: &Look, mount: &Mount) -> Option<String> {
    if mount.fstype != "overlay" {
        return None;
    }
    let Some(upper) = mount.option("upperdir") else {
        return Some("overlay: read-only, no upper directory".to_owned());
    };
    Some(match mount_below(look, mount) {
        Some(below) => format!("overlay: upper {upper} on {} ({})", below.fstype, below.source),
        None => format!("overlay: upper {upper}, not visible to this process"),
    })
}

fn describe(look: &Look, devices: &[BlockDevice], lines: &mut Vec<String>) {
    for device in devices {
        lines.extend(kind_of(look, device).map(|kind| format!("{}: {kind}", device.name)));
        describe(look, &device.slaves, lines);
    }
}

/// What a device is made of; `None`: a disk, or not known.
fn kind_of(look: &Look, device: &BlockDevice) -> Option<String> {
    let name = device.name.as_str();
    let directory = look.sys.join("block").join(name.replace('/', "!"));
    let text = |file: &str| read_text(&directory.join(file)).ok().filter(|text| !text.is_empty());
    if let Some(file) = &device.backing_file {
        return Some(loop_device(look, Path::new(file), text("loop/dio").as_deref()));
    }
    if name.starts_with("dm-") {
        let parts: Vec<String> = device.slaves.iter().filter_map(|part| mapped_as(look, &part.name)).collect();
        let (uuid, name) = (mapped_as(look, name).unwrap_or_default(), text("dm/name").unwrap_or_default());
        return Some(mapping(&uuid, &name, &parts, targets(look, &text("dev").unwrap_or_default())));
    }
    if name.starts_with("md") {
        return text("md/level");
    }
    if name.starts_with("zram") {
        return Some("compressed memory (zram)".to_owned());
    }
    if name.starts_with("nbd") {
        return Some("a network block device (nbd)".to_owned());
    }
    if name.starts_with("rbd") {
        return Some("a Ceph image over the network (rbd)".to_owned());
    }
    if let Some(transport) =
        text("device/transport").filter(|transport| name.starts_with("nvme") && transport != "pcie")
    {
        return Some(format!("NVMe over {transport}"));
    }
    let place = directory.canonicalize().unwrap_or_default();
    let in_session = place.components().any(|part| part.as_os_str().to_string_lossy().starts_with("session"));
    in_session.then(|| "a server over the network (iSCSI)".to_owned())
}

fn loop_device(look: &Look, file: &Path, direct: Option<&str>) -> String {
    // Blocks that nobody wrote are in no file: reading them asks no disk.
    let sparse = std::fs::metadata(file).is_ok_and(|file| file.blocks().saturating_mul(512) < file.len() / 10 * 9);
    let mut text = format!("{} {}", if sparse { "sparse file" } else { "file" }, file.display());
    if let Some(mount) = file.exists().then(|| mounts::mount_of(look, file).ok()).flatten() {
        text.push_str(&format!(" on {} ({})", mount.fstype, mount.source));
    }
    match direct {
        Some("0") => text.push_str(", through the page cache"),
        Some("1") => text.push_str(", direct I/O"),
        _ => {}
    }
    text
}

/// The identifier of a device-mapper device.
fn mapped_as(look: &Look, name: &str) -> Option<String> {
    read_text(&look.sys.join("block").join(name).join("dm/uuid")).ok()
}

/// The types of a mapping's targets, or why they are not visible.
fn targets(look: &Look, number: &str) -> Result<Vec<String>, String> {
    let (major, minor) = number.split_once(':').ok_or("there is no number")?;
    let number = |text: &str| text.parse().map_err(|_| format!("`{text}` is not a number"));
    engine::mapper::targets(&look.mapper, number(major)?, number(minor)?)
        .map_err(|error| without_number(&error.to_string()).to_owned())
}

/// Device mapper: the prefix of the identifier tells who made it, its targets what it does. Of LVM the identifiers of
/// its `parts` tell as much: only thin volumes are on a pool.
fn mapping(uuid: &str, name: &str, parts: &[String], targets: Result<Vec<String>, String>) -> String {
    let is = |target: &str| targets.as_ref().is_ok_and(|types| types.iter().any(|one| one == target));
    let in_pool = uuid.starts_with("LVM-") && parts.iter().any(|part| part.ends_with("-tpool"));
    let kind = match uuid.split('-').next().unwrap_or_default() {
        _ if is("thin") || in_pool => "thin volume",
        _ if is("thin-pool") => "thin pool",
        "LVM" => "logical volume (LVM)",
        "CRYPT" => "encryption (dm-crypt)",
        "mpath" => "several paths to one disk (multipath)",
        _ => "device mapper",
    };
    let named = if name.is_empty() { kind.to_owned() } else { format!("{kind} {name}") };
    match targets {
        Err(reason) if kind == "device mapper" => format!("{named}, of a kind that is not visible ({reason})"),
        _ => named,
    }
}

/// What says that data is compressed.
pub(super) fn compression(look: &Look, mount: Option<&Mount>, attributes: StatxAttributes) -> Option<String> {
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
    let below = || compression(look, mount_below(look, mount).as_ref(), StatxAttributes::empty());
    named.or(attribute).or(always).or_else(below)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::block;
    use crate::linux::block::fixture::{self, tree};
    use results::evidence::DeviceNumber;
    use std::fs;

    fn mount(fstype: &str, root: &str, options: &str) -> Mount {
        let id = Some(1_000_000);
        Mount { id, root: Some(root.into()), ..fixture::mount(fstype, "/mnt", "source", options) }
    }

    #[test]
    fn parts_of_filesystems() {
        assert_eq!(part(&mount("ext4", "/", "rw")), None);
        assert_eq!(part(&mount("ext4", "/srv", "rw")).unwrap(), "part of the filesystem: /srv (bind mount)");
        assert_eq!(part(&mount("btrfs", "/@srv", "rw,subvolid=256,subvol=/@srv")).unwrap(), "subvolume /@srv");
        assert!(part(&mount("btrfs", "/@srv/x", "subvol=/@srv")).unwrap().contains("bind mount"));
    }

    #[test]
    fn an_overlay_and_its_upper_directory() {
        let line = |options| overlay(&Look::new(), &mount("overlay", "/", options)).unwrap();
        assert_eq!(line("lowerdir=/a,upperdir=/proc/self"), "overlay: upper /proc/self on proc (proc)");
        assert_eq!(line("upperdir=/no/such/place"), "overlay: upper /no/such/place, not visible to this process");
        assert_eq!(line("lowerdir=/a:/b"), "overlay: read-only, no upper directory");
        assert_eq!(overlay(&Look::new(), &mount("ext4", "/", "rw")), None);
    }

    #[test]
    fn a_volume_on_an_array_and_a_loop_device() {
        let tree = tree();
        let block = tree.look.sys.join("block");
        fs::create_dir_all(block.join("dm-0/dm")).unwrap();
        fs::write(block.join("dm-0/dm/uuid"), "LVM-abcdef\n").unwrap();
        fs::write(block.join("dm-0/dm/name"), "vg-data\n").unwrap();
        fs::create_dir_all(block.join("md0/md")).unwrap();
        fs::write(block.join("md0/md/level"), "raid1\n").unwrap();
        fs::create_dir_all(block.join("loop0/loop")).unwrap();
        fs::write(block.join("loop0/loop/dio"), "0\n").unwrap();
        let device = |major, minor| block::device(&tree.look, DeviceNumber { major, minor }).unwrap();
        let devices = [device(253, 0), device(7, 0), device(8, 16)];
        let expected = [
            "dm-0: logical volume (LVM) vg-data",
            "md0: raid1",
            "loop0: file /images/disk one, through the page cache",
        ];
        assert_eq!(stack(&tree.look, None, &devices), expected);
    }

    #[test]
    fn kinds_of_mappings() {
        let of = |uuid, parts: &[&str], targets: &[&str]| {
            let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
            mapping(uuid, "x", &owned(parts), Ok(owned(targets)))
        };
        assert_eq!(of("CRYPT-LUKS2-77-home", &[], &["crypt"]), "encryption (dm-crypt) x");
        assert_eq!(of("", &[], &["linear"]), "device mapper x");
        assert_eq!(of("", &[], &["thin"]), "thin volume x");
        assert_eq!(of("", &[], &["thin-pool"]), "thin pool x");
        assert_eq!(of("LVM-abc", &["LVM-def-tpool"], &["thin"]), "thin volume x");
        assert_eq!(of("LVM-abc", &["LVM-def"], &["linear"]), "logical volume (LVM) x");
    }

    #[test]
    fn mappings_that_do_not_tell_their_targets() {
        let of = |uuid, part: &str| mapping(uuid, "x", &[part.to_owned()], Err("Permission denied".into()));
        assert_eq!(of("", ""), "device mapper x, of a kind that is not visible (Permission denied)");
        assert_eq!(of("LVM-abc", "LVM-def-tpool"), "thin volume x", "the pool below tells it");
        assert_eq!(of("LVM-abc", ""), "logical volume (LVM) x", "without a pool it is none");
    }

    #[test]
    fn what_compresses() {
        let of =
            |fstype, options, attributes| compression(&Look::new(), Some(&mount(fstype, "/", options)), attributes);
        let none = StatxAttributes::empty();
        assert_eq!(of("btrfs", "rw,compress=zstd:3", none).as_deref(), Some("compress=zstd:3"));
        assert_eq!(of("btrfs", "rw,compress-force=lzo", none).as_deref(), Some("compress-force=lzo"));
        assert_eq!(of("btrfs", "rw", none), None);
        assert_eq!(of("ext4", "rw,compress=zstd", none), None, "of another filesystem");
        assert!(of("btrfs", "rw", StatxAttributes::COMPRESSED).unwrap().contains("attribute"));
        assert_eq!(of("squashfs", "ro", none).as_deref(), Some("squashfs"));
    }
}
