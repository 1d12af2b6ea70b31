//! Finds the layers that data lie on, from a path or a device down to the lowest layer that this process sees.
//!
//! The walk ends: no layer lies below itself, and there are at most [`LAYERS_MAX`]. It looks at names and asks the
//! kernel; a path on a dead server can block it, like any look at such a path.

mod branches;
mod device;
mod image;
mod nbd;
mod overlay;

use std::path::{Path, PathBuf};

pub(super) use branches::branch_of;

use super::{Look, block, class, mounts, secrets};
use crate::{Fact, NotVisible};
use fsdyno_results::evidence::{BlockDevice, DeviceNumber, Layer, LayerKind, Mount, StorageClass};

/// Largest number of layers that are followed.
const LAYERS_MAX: usize = 64;

/// The path that is asked about.
#[derive(Clone, Copy, Debug)]
pub(super) struct LayerQuery<'a> {
    /// The path, which exists.
    pub(super) path: &'a Path,
    /// Whether it will be written: then an overlay moves it to its upper directory.
    pub(super) writes: bool,
}

/// A directory or file that holds the content of a layer.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ContentPart {
    /// `upper directory /x`.
    role: String,
    path: PathBuf,
    /// Whether it holds other data than those asked for.
    holds_other_data: bool,
}

/// A process or the kernel of this machine that serves a device which looks like one of another machine.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Server {
    /// `served by nbdkit (pid 12) on this machine`.
    what: String,
    /// Whether it keeps in memory what it serves.
    memory: bool,
    /// The files that it serves.
    files: Vec<PathBuf>,
}

/// The layers of an existing path; the path may be a device.
pub(super) fn of_path(look: &Look, asked: LayerQuery<'_>) -> Vec<Layer> {
    Walk::new(look).path(asked).into_iter().collect()
}

/// The layers of the device in a directory of /sys.
#[cfg(test)]
pub(super) fn of_directory(look: &Look, directory: &Path) -> Option<Layer> {
    Walk::new(look).device(directory)
}

/// The layers of a mount by its line in the kernel's table alone, for one that does not answer.
pub(super) fn of_mount(look: &Look, mount: &Mount) -> Vec<Layer> {
    let device = block::directory(look, mount.device);
    let below = device.and_then(|directory| Walk::new(look).device(&directory)).into_iter().collect();
    vec![Layer { below, ..file_system(mount) }]
}

/// The mount that holds the data of an overlay, as far as this process sees it; for overlays on overlays, the lowest.
pub(super) fn data_mount(look: &Look, mount: &Mount, asked: LayerQuery<'_>) -> Option<Mount> {
    let (mut found, mut asked_path) = (None::<Mount>, asked.path.to_owned());
    for _ in 0..LAYERS_MAX {
        let above = found.as_ref().unwrap_or(mount);
        if above.fstype != "overlay" {
            break;
        }
        let part = overlay::parts(above, LayerQuery { path: &asked_path, ..asked })
            .into_iter()
            .find(|part| !part.holds_other_data)?;
        let upper = || overlay::upper_by_space(look, above).filter(|_| part.role.starts_with("upper"));
        found = Some(holding_mount(look, above, &part.path).or_else(upper)?);
        asked_path = part.path;
    }
    found
}

/// The mount of a directory, unless it is on `above` itself: such a name belongs to another mount namespace.
fn holding_mount(look: &Look, above: &Mount, path: &Path) -> Option<Mount> {
    let below = mounts::mount_of(look, path).ok()?;
    (path.exists() && below.id != above.id && below.device != above.device).then_some(below)
}

/// The highest devices among the layers: the bytes of an application reach them first.
pub(super) fn devices(look: &Look, layers: &[Layer]) -> Fact<Vec<BlockDevice>> {
    if !look.sys.join("dev/block").is_dir() {
        return Err(NotVisible::new(look.sys.join("dev/block").display(), "no such directory"));
    }
    let (mut found, mut unseen) = (Vec::new(), None);
    layers.iter().for_each(|layer| collect(look, layer, &mut found, &mut unseen));
    match unseen {
        Some(reason) if found.is_empty() => Err(reason),
        _ => Ok(found),
    }
}

fn collect(look: &Look, layer: &Layer, found: &mut Vec<BlockDevice>, unseen: &mut Option<NotVisible>) {
    if layer.is_device() {
        let device = layer.device.and_then(|number| block::device(look, number));
        // Two partitions of one disk count as one disk.
        found.extend(device.filter(|device| found.iter().all(|known| known.name != device.name)));
        return;
    }
    if let Some(reason) = &layer.unseen {
        *unseen = Some(NotVisible::new(layer.role.as_deref().unwrap_or(&layer.name), reason));
    }
    layer.below_with_data().for_each(|below| collect(look, below, found, unseen));
}

/// Whether no device of this machine lies below a filesystem of this type.
fn is_lowest(mount: &Mount) -> bool {
    use StorageClass::{HostShare, Kernel, Memory, Network};
    matches!(class::by_type(mount), Some(Memory | Kernel | Network | HostShare))
}

/// The layer of a mount, without the layers below.
fn file_system(mount: &Mount) -> Layer {
    let memory = class::by_type(mount) == Some(StorageClass::Memory);
    let at = format!("at {}", mount.mount_point.display());
    let source = secrets::blank_word(&mount.source);
    let nameless = source == "none" || mount.fstype.ends_with(&source) || memory;
    let mut what = match (memory, nameless) {
        (true, _) => format!("memory {at}"),
        (false, true) => at,
        (false, false) => format!("{source} {at}"),
    };
    if let Some(root) = mount.root.as_deref().filter(|root| *root != Path::new("/")) {
        let is_subvolume =
            mount.fstype == "btrfs" && mount.option("subvol").is_some_and(|name| Path::new(name) == root);
        let word = if is_subvolume { "subvolume" } else { "a part of it:" };
        what.push_str(&format!(", {word} {}", root.display()));
    }
    let (kind, name) = (LayerKind::Filesystem, mount.fstype.clone());
    Layer { kind, name, memory, device: Some(mount.device), what: Some(what), ..Layer::default() }
}

/// A layer on the way from the top.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UpperLayer {
    Mount(Option<u64>, DeviceNumber),
    Device(DeviceNumber),
}

struct Walk<'l> {
    look: &'l Look,
    /// Number of layers that may still be added.
    left: usize,
    above: Vec<UpperLayer>,
}

impl<'l> Walk<'l> {
    fn new(look: &'l Look) -> Walk<'l> {
        Walk { look, left: LAYERS_MAX, above: Vec::new() }
    }

    /// Adds a layer and what is below it, unless the layer is already above itself.
    fn enter(&mut self, at: UpperLayer, layer: Layer, below: impl FnOnce(&mut Self, &mut Layer)) -> Layer {
        let mut layer = layer;
        match self.left.checked_sub(1) {
            None => layer.unseen = Some(format!("more than {LAYERS_MAX} layers")),
            Some(_) if self.above.contains(&at) => layer.unseen = Some("it stands above itself".to_owned()),
            Some(left) => {
                self.left = left;
                self.above.push(at);
                below(self, &mut layer);
                self.above.pop();
            }
        }
        layer
    }

    fn path(&mut self, asked: LayerQuery<'_>) -> Option<Layer> {
        let look = self.look;
        if let Some(number) = block::disk_number(look, asked.path) {
            return block::directory(look, number).and_then(|directory| self.device(&directory));
        }
        mounts::mount_of(look, asked.path).ok().map(|mount| self.mount(&mount, Some(asked)))
    }

    fn mount(&mut self, mount: &Mount, asked: Option<LayerQuery<'_>>) -> Layer {
        self.enter(UpperLayer::Mount(mount.id, mount.device), file_system(mount), |walk, layer| {
            layer.below = match mount.fstype.as_str() {
                _ if is_lowest(mount) => Vec::new(),
                "overlay" => {
                    let asked = asked.unwrap_or(LayerQuery { path: &mount.mount_point, writes: true });
                    walk.parts(mount, overlay::parts(mount, asked))
                }
                _ => walk.below_mount(mount, asked),
            };
        })
    }

    /// The layers below a mount: the device whose number the files show, the devices that the mount names, or the
    /// folders that a daemon serves.
    fn below_mount(&mut self, mount: &Mount, asked: Option<LayerQuery<'_>>) -> Vec<Layer> {
        let look = self.look;
        let shown = asked.and_then(|asked| block::device_number(asked.path));
        let own = shown.into_iter().chain([mount.device]).find_map(|number| block::directory(look, number));
        let directories = own.map_or_else(|| block::devices_of_source(look, mount), |directory| vec![directory]);
        let devices = self.devices(directories);
        if !devices.is_empty() {
            return devices;
        }
        let parts = branches::parts(look, mount, asked);
        self.parts(mount, parts)
    }

    /// Adds one layer for each part on another filesystem than the parts before it.
    fn parts(&mut self, above: &Mount, parts: Vec<ContentPart>) -> Vec<Layer> {
        let mut layers: Vec<Layer> = Vec::new();
        for ContentPart { role, path, holds_other_data } in parts {
            let layer = match holding_mount(self.look, above, &path) {
                Some(_) => self.path(LayerQuery { path: &path, writes: false }).unwrap_or_default(),
                None => self.hidden(above, &role),
            };
            let layer = Layer { role: layer.role.clone().or(Some(role)), holds_other_data, ..layer };
            let same = |known: &Layer| known.device == layer.device && known.name == layer.name;
            if !holds_other_data || !layers.iter().any(same) {
                layers.push(layer);
            }
        }
        layers
    }

    /// The layer of an overlay's directory that is in another mount namespace, such as a container's. An overlay
    /// reports the space of its upper directory's filesystem, by which another mount of that filesystem is found
    /// here.
    fn hidden(&mut self, above: &Mount, role: &str) -> Layer {
        let is_upper = above.option("upperdir").is_some() && !role.starts_with("lower");
        let found = is_upper.then(|| overlay::upper_by_space(self.look, above)).flatten();
        match found {
            Some(mount) => {
                let role = format!("{role}, by its space where {} is,", mount.mount_point.display());
                Layer { role: Some(role), ..self.mount(&mount, None) }
            }
            None => Layer { unseen: Some("not visible to this process".to_owned()), ..Layer::default() },
        }
    }

    /// The layers of these devices. Two partitions of one disk count as one disk.
    fn devices(&mut self, directories: Vec<PathBuf>) -> Vec<Layer> {
        let mut layers: Vec<Layer> = Vec::new();
        for directory in directories {
            let layer = self.device(&directory);
            layers.extend(layer.filter(|layer| layers.iter().all(|known| known.name != layer.name)));
        }
        layers
    }

    /// The device of a directory in /sys.
    fn device(&mut self, directory: &Path) -> Option<Layer> {
        let disk = block::disk_directory(directory);
        let name = block::name_of(disk)?;
        let number = block::number_in(directory)?;
        let layer = Layer {
            partition: if disk == directory { None } else { block::name_of(directory) },
            device: Some(number),
            name,
            ..device::describe(self.look, disk)
        };
        Some(self.enter(UpperLayer::Device(number), layer, |walk, layer| walk.below_device(disk, layer)))
    }

    fn below_device(&mut self, disk: &Path, layer: &mut Layer) {
        match layer.kind {
            LayerKind::Loop => self.below_loop(disk, layer),
            LayerKind::Remote => {
                let server = if layer.name.starts_with("nbd") {
                    nbd::server(self.look, disk)
                } else {
                    device::target_here(self.look, disk)
                };
                let Some(server) = server else { return };
                layer.memory = server.memory;
                layer.what = Some(format!("{}, {}", layer.what.take().unwrap_or_default(), server.what));
                let served = server.files.iter().map(|path| (path, self.path(LayerQuery { path, writes: true })));
                let role = |path: &Path| Some(format!("served from {}", path.display()));
                layer.below = served.filter_map(|(path, below)| Some(Layer { role: role(path), ..below? })).collect();
            }
            _ => layer.below = self.devices(block::links_in(&disk.join("slaves"))),
        }
    }

    fn below_loop(&mut self, disk: &Path, layer: &mut Layer) {
        let found = image::of(self.look, disk);
        layer.image = Some(found.image);
        match found.place {
            image::ImagePlace::Path(path) => layer.below.extend(self.path(LayerQuery { path: &path, writes: true })),
            image::ImagePlace::Mount(mount) => layer.below.push(self.mount(&mount, None)),
            image::ImagePlace::Device(directory) => layer.below.extend(self.device(&directory)),
            image::ImagePlace::Unseen(reason) => layer.unseen = Some(reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::block::fixture::tree;
    use std::fs;

    /// One line per layer, indented by depth.
    fn lines(layer: &Layer) -> Vec<String> {
        let below = layer.below.iter().flat_map(lines).map(|line| format!(" {line}"));
        std::iter::once(layer.to_string()).chain(below).collect()
    }

    #[test]
    fn a_volume_on_an_array_of_disks() {
        let tree = tree();
        let devices = tree.look.sys.join("devices");
        for (file, text) in
            [("dm-0/dm/uuid", "LVM-abcdef\n"), ("dm-0/dm/name", "vg-data\n"), ("md0/md/level", "raid1\n")]
        {
            fs::create_dir_all(devices.join(file).parent().unwrap()).unwrap();
            fs::write(devices.join(file), text).unwrap();
        }
        let volume = of_directory(&tree.look, &devices.join("dm-0")).unwrap();
        let expected = ["dm-0: logical volume (LVM) vg-data", " md0: raid1", "  sda2 of sda", "  sdb"];
        assert_eq!(lines(&volume), expected);
        let below: Vec<&str> = volume.devices_below().iter().map(|layer| layer.name.as_str()).collect();
        assert_eq!(below, ["md0"]);
        let highest: Vec<String> =
            super::devices(&tree.look, &[volume]).unwrap().into_iter().map(|one| one.name).collect();
        assert_eq!(highest, ["dm-0"]);
    }

    #[test]
    fn a_loop_device_names_its_file_and_how_it_is_read() {
        let tree = tree();
        fs::write(tree.look.sys.join("devices/loop0/loop/dio"), "0\n").unwrap();
        let device = of_directory(&tree.look, &tree.look.sys.join("devices/loop0")).unwrap();
        let text = "loop0: file /images/disk one, through the page cache, what lies below is not visible (its file is not \
                    visible to this process)";
        assert_eq!(device.to_string(), text);
        fs::write(tree.look.sys.join("devices/loop0/loop/backing_file"), "/proc/self/image (deleted)\n").unwrap();
        let proc = Look { sys: tree.look.sys.clone(), ..Look::new() };
        let removed =
            of_directory(&Look { dev: PathBuf::new(), ..proc }, &tree.look.sys.join("devices/loop0")).unwrap();
        assert_eq!(removed.below[0].name, "proc", "its filesystem is where it was");
    }

    #[test]
    fn a_ring_of_devices_ends() {
        let tree = tree();
        let devices = tree.look.sys.join("devices");
        std::os::unix::fs::symlink(devices.join("dm-0"), devices.join("md0/slaves/dm-0")).unwrap();
        let ring = of_directory(&tree.look, &devices.join("dm-0")).unwrap();
        let again = ring.below[0].below.iter().find(|layer| layer.name == "dm-0").unwrap();
        assert!(again.unseen.as_ref().is_some_and(|reason| reason.contains("above itself")), "{again:?}");
    }

    #[test]
    fn very_many_layers_are_cut() {
        let tree = tree();
        let devices = tree.look.sys.join("devices");
        for number in 0..100 {
            let disk = devices.join(format!("md{}", number + 1));
            fs::create_dir_all(disk.join("slaves")).unwrap();
            fs::write(disk.join("dev"), format!("9:{}\n", number + 1)).unwrap();
            let below = devices.join(format!("md{number}"));
            std::os::unix::fs::symlink(&below, disk.join("slaves/below")).unwrap();
        }
        let all = lines(&of_directory(&tree.look, &devices.join("md100")).unwrap());
        assert_eq!(all.len(), LAYERS_MAX + 1);
        assert!(all[LAYERS_MAX].ends_with("(more than 64 layers)"), "{all:?}");
    }

    #[test]
    fn hidden_directories_of_an_overlay_hide_its_devices() {
        let tree = tree();
        let mount = crate::linux::block::fixture::mount("overlay", "/", "overlay", "upperdir=/no/such/place");
        let layer = Walk::new(&tree.look).mount(&mount, None);
        assert!(super::devices(&tree.look, &[layer]).unwrap_err().place.contains("/no/such/place"));
        let server = crate::linux::block::fixture::mount("nfs4", "/m", "server:/export", "");
        assert_eq!(super::devices(&tree.look, &[Walk::new(&tree.look).mount(&server, None)]), Ok(vec![]));
    }

    #[test]
    fn filesystems_in_words() {
        let words = |fstype: &str, source: &str, root: &str, options: &str| {
            let mount = crate::linux::block::fixture::mount(fstype, "/mnt", source, options);
            file_system(&Mount { root: Some(root.into()), ..mount }).to_string()
        };
        assert_eq!(words("ext4", "/dev/sda1", "/", ""), "ext4: /dev/sda1 at /mnt");
        assert_eq!(words("ext4", "/dev/sda1", "/srv", ""), "ext4: /dev/sda1 at /mnt, a part of it: /srv");
        assert_eq!(words("btrfs", "/dev/sda1", "/@s", "subvol=/@s"), "btrfs: /dev/sda1 at /mnt, subvolume /@s");
        assert_eq!(words("tmpfs", "anything", "/", ""), "tmpfs: memory at /mnt");
        assert_eq!(words("fuse.x", "u://me:word@h/", "/", ""), "fuse.x: u://***@h/ at /mnt", "without the secret");
    }
}
