//! The layers that data lie on: the filesystem, what it lies on, and so on down to the lowest visible layer.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DeviceNumber, Storage, StorageClass};

/// One layer, with the layers below it. Unknown facts are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Layer {
    /// Kind of the layer.
    pub kind: LayerKind,
    /// Type of the filesystem, or the kernel's name of the device: `ext4`, `loop0`.
    pub name: String,
    /// The partition of the device that is used, if it is one: `sda2`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition: Option<String>,
    /// Device number of the partition or device; for a filesystem, the number that its files show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<DeviceNumber>,
    /// The role for the layer above: `upper directory /x`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Description: `/dev/vda at /mnt`, `raid1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
    /// Whether its data are in the memory of this machine.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub memory: bool,
    /// Whether this layer holds other data of the layer above, and not those of the path: such as the lower
    /// directories of an overlay whose upper directory has the file.
    #[serde(default, rename = "aside", skip_serializing_if = "std::ops::Not::not")]
    pub holds_other_data: bool,
    /// The file behind a loop device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<Image>,
    /// Why nothing more is known about the layers below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unseen: Option<String>,
    /// The layers that this one lies on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub below: Vec<Layer>,
}

/// The kind of a layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LayerKind {
    /// The layer comes from an old record, which has only a sentence.
    #[default]
    Unknown,
    /// A mounted filesystem.
    Filesystem,
    /// A block device of no other kind.
    Disk,
    /// A block device in memory: zram, brd.
    MemoryDisk,
    /// A loop device.
    Loop,
    /// md.
    Array,
    /// Another volume of the device mapper.
    Mapped,
    /// A thin volume of the device mapper.
    Thin,
    /// A volume of the device mapper; whether it is thin is not visible.
    MaybeThin,
    /// A cache of blocks in front of a slower device: bcache, dm-cache, dm-writecache.
    BlockCache,
    /// A block device over a network: nbd, rbd, iSCSI, NVMe over fabrics.
    Remote,
}

/// The file behind a loop device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Image {
    /// Its path, as the kernel reports it.
    pub path: String,
    /// Length, bytes. All fields of this type are `None` if the file is not visible.
    pub size_bytes: Option<u64>,
    /// Bytes that the filesystem has allocated for it.
    pub allocated_bytes: Option<u64>,
    /// Bytes in extents that were written. The other bytes read as zeros without I/O on a disk.
    pub written_bytes: Option<u64>,
    /// Whether the loop device reads and writes it with direct I/O; false: through the page cache.
    pub direct: Option<bool>,
}

/// Why reading the image may need no I/O on a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gap {
    /// It has holes.
    Holes,
    /// It has allocated ranges that were never written.
    Unwritten,
}

impl Image {
    /// An image with this share of its length counts as whole, because formatting leaves small gaps.
    const WHOLE: f64 = 0.9;

    /// The kind of gap that much of the image has; `None`: no gap is known.
    pub fn gap(&self) -> Option<Gap> {
        let whole = self.size_bytes? as f64 * Image::WHOLE;
        let less = |bytes: Option<u64>| bytes.is_some_and(|bytes| (bytes as f64) < whole);
        match () {
            () if less(self.allocated_bytes) => Some(Gap::Holes),
            () if less(self.written_bytes) => Some(Gap::Unwritten),
            () => None,
        }
    }
}

impl fmt::Display for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "file {}", self.path)?;
        f.write_str(match self.gap() {
            Some(Gap::Holes) => ", sparse",
            Some(Gap::Unwritten) => ", allocated but not written",
            None => "",
        })?;
        f.write_str(match self.direct {
            Some(true) => ", direct I/O",
            Some(false) => ", through the page cache",
            None => "",
        })
    }
}

/// How much of the data at a place is in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InMemory {
    /// All of them.
    All,
    /// Some of the devices or directories; the number of bytes is not visible.
    Part,
}

impl Layer {
    /// Whether it is a block device.
    pub fn is_device(&self) -> bool {
        !matches!(self.kind, LayerKind::Unknown | LayerKind::Filesystem)
    }

    /// The layers directly below that hold the data of the path.
    pub fn below_with_data(&self) -> impl Iterator<Item = &Layer> {
        self.below.iter().filter(|layer| !layer.holds_other_data)
    }

    /// Calls `visit` for this layer and all layers below that hold the data of the path.
    pub fn each<'l>(&'l self, visit: &mut dyn FnMut(&'l Layer)) {
        visit(self);
        self.below_with_data().for_each(|layer| layer.each(visit));
    }

    /// The highest devices below it.
    pub fn devices_below(&self) -> Vec<&Layer> {
        let below = |layer| if Layer::is_device(layer) { vec![layer] } else { layer.devices_below() };
        self.below_with_data().flat_map(below).collect()
    }

    /// How much of the data is in memory; `None`: none that is visible.
    pub fn in_memory(&self) -> Option<InMemory> {
        if self.memory {
            return Some(InMemory::All);
        }
        in_memory(self.below_with_data())
    }

    /// The names from this layer down to the first one in memory.
    fn way_to_memory(&self) -> Option<String> {
        if self.memory {
            return Some(self.name.clone());
        }
        let below = self.below_with_data().find_map(Layer::way_to_memory)?;
        Some(format!("{} on {below}", self.name))
    }
}

fn in_memory<'l>(layers: impl Iterator<Item = &'l Layer>) -> Option<InMemory> {
    let mut found: Vec<Option<InMemory>> = layers.map(Layer::in_memory).collect();
    found.dedup();
    match found[..] {
        [] => None,
        [same] => same,
        _ => Some(InMemory::Part),
    }
}

/// Displays the layer without the layers below.
impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(role) = &self.role {
            write!(f, "{role}{}", if self.name.is_empty() { "" } else { " on " })?;
        }
        if let Some(partition) = &self.partition {
            write!(f, "{partition} of ")?;
        }
        f.write_str(&self.name)?;
        let words = [self.image.as_ref().map(Image::to_string), self.what.clone()];
        let reason = self.unseen.as_ref().map(|reason| match self.name.is_empty() {
            true => reason.clone(),
            false => format!("what lies below is not visible ({reason})"),
        });
        let words: Vec<String> = words.into_iter().chain([reason]).flatten().collect();
        if words.is_empty() { Ok(()) } else { write!(f, ": {}", words.join(", ")) }
    }
}

impl Storage {
    /// How much of the data is in memory; `None`: none that is visible.
    pub fn in_memory(&self) -> Option<InMemory> {
        if self.class == StorageClass::Memory {
            return Some(InMemory::All);
        }
        in_memory(self.layers.iter())
    }

    /// The layers down to memory, such as `ext4 on loop0 on tmpfs`; `None`: no data are in memory.
    pub fn way_to_memory(&self) -> Option<String> {
        let named = self.layers.iter().find_map(Layer::way_to_memory);
        named.or_else(|| {
            let mount = self.mount.value().filter(|_| self.class == StorageClass::Memory);
            mount.map(|mount| mount.fstype.clone())
        })
    }

    /// Calls `visit` for all layers that hold the data of the path.
    pub fn each_layer<'l>(&'l self, visit: &mut dyn FnMut(&'l Layer)) {
        self.layers.iter().for_each(|layer| layer.each(visit));
    }

    /// The loop devices among the layers, at all levels.
    pub fn loops(&self) -> Vec<&Layer> {
        let mut loops = Vec::new();
        self.each_layer(&mut |layer| loops.extend((layer.kind == LayerKind::Loop).then_some(layer)));
        loops
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(kind: LayerKind, name: &str, below: Vec<Layer>) -> Layer {
        Layer { kind, name: name.into(), below, ..Layer::default() }
    }

    fn tmpfs() -> Layer {
        Layer { memory: true, ..layer(LayerKind::Filesystem, "tmpfs", vec![]) }
    }

    fn disk() -> Layer {
        layer(LayerKind::Disk, "sda", vec![])
    }

    fn storage(layer: Layer) -> Storage {
        Storage { layers: vec![layer], ..Storage::default() }
    }

    #[test]
    fn memory_is_found_at_the_bottom() {
        let looped = layer(LayerKind::Loop, "loop0", vec![tmpfs()]);
        let mapped = layer(LayerKind::Mapped, "dm-0", vec![looped]);
        let found = storage(layer(LayerKind::Filesystem, "ext4", vec![mapped]));
        assert_eq!(found.in_memory(), Some(InMemory::All));
        assert_eq!(found.way_to_memory().as_deref(), Some("ext4 on dm-0 on loop0 on tmpfs"));
        assert_eq!(storage(layer(LayerKind::Filesystem, "ext4", vec![disk()])).in_memory(), None);
        let memory = Storage { class: StorageClass::Memory, ..Storage::default() };
        assert_eq!(memory.in_memory(), Some(InMemory::All), "an older record has no layers");
    }

    #[test]
    fn a_part_in_memory_is_not_all() {
        let both = |below| storage(layer(LayerKind::Array, "md0", below));
        assert_eq!(both(vec![disk(), tmpfs()]).in_memory(), Some(InMemory::Part));
        assert_eq!(both(vec![tmpfs(), tmpfs()]).in_memory(), Some(InMemory::All));
        assert_eq!(both(vec![disk(), disk()]).in_memory(), None);
        let aside = Layer { holds_other_data: true, ..tmpfs() };
        assert_eq!(both(vec![disk(), aside]).in_memory(), None, "that layer holds other files");
    }

    #[test]
    fn images_and_what_they_lack() {
        let image = |allocated, written| Image {
            path: "/x".into(),
            size_bytes: Some(1000),
            allocated_bytes: Some(allocated),
            written_bytes: written,
            direct: Some(false),
        };
        assert_eq!(image(1000, Some(1000)).gap(), None);
        assert_eq!(image(1000, None).gap(), None);
        assert_eq!(image(1000, Some(10)).gap(), Some(Gap::Unwritten));
        assert_eq!(image(10, Some(10)).gap(), Some(Gap::Holes));
        assert_eq!(Image::default().gap(), None, "not visible is not empty");
        let device = Layer { image: Some(image(10, None)), ..layer(LayerKind::Loop, "loop0", vec![]) };
        assert_eq!(device.to_string(), "loop0: file /x, sparse, through the page cache");
        let upper = Layer { role: Some("upper directory /u".into()), ..tmpfs() };
        assert_eq!(upper.to_string(), "upper directory /u on tmpfs");
    }
}
