//! Counters of block devices, each from its own `stat` file in /sys, because a machine may have thousands of others.

use std::path::{Path, PathBuf};

use fsdyno_os::files::{CachedPages, Reach, page_cache_of};
use fsdyno_results::ReadWrite;
use fsdyno_results::evidence::{CacheCounters, DeviceCounters, DevicePlace, LayerCounters};

use super::growth::growth;
use crate::linux::counters::delta;
use crate::linux::layers::{self, LayerQuery};
use crate::linux::{Look, class, mounts, read_text};
use crate::{Fact, NotVisible};
use fsdyno_results::evidence::Layer;

/// The kernel counts in sectors of this size, bytes, whatever the block size of the device is.
const SECTOR_BYTES: u64 = 512;

/// Devices behind a set of files, and their counters since the first reading.
#[derive(Debug, Default)]
pub(super) struct DeviceMeter {
    devices: Vec<Metered>,
    /// The layers of the files, without repetitions.
    layers: Vec<Layer>,
}

#[derive(Debug)]
struct Metered {
    stat: PathBuf,
    /// Whether the kernel counts its flushes: it does so for a request queue, not for drivers without one (zram,
    /// pmem, dm).
    counts_flushes: bool,
    /// The file behind a loop device, if a look at it cannot block.
    image: Option<PathBuf>,
    last: Option<Raw>,
    grown: DeviceCounters,
}

/// Figures of a `stat` file; times are ms.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Raw {
    ios: ReadWrite<u64>,
    sectors: ReadWrite<u64>,
    request_ms: ReadWrite<u64>,
    busy_ms: u64,
    weighted_ms: u64,
    flushes: Option<u64>,
}

impl DeviceMeter {
    /// Each device counts once. If the devices of one file are hidden, the devices of all files are not visible,
    /// because a part would look like the whole.
    pub(super) fn begin(look: &Look, paths: &[PathBuf]) -> Fact<DeviceMeter> {
        if paths.is_empty() {
            return Err(NotVisible::new("devices", "there is no file, so no device below it"));
        }
        let mut meter = DeviceMeter::default();
        for path in paths {
            let existing = mounts::nearest_existing(path);
            let layers = layers::of_path(look, LayerQuery { path: &existing, writes: false });
            layers::devices(look, &layers)?;
            layers.iter().for_each(|layer| meter.add(look, layer, false));
            let new: Vec<Layer> = layers.into_iter().filter(|layer| !meter.layers.contains(layer)).collect();
            meter.layers.extend(new);
        }
        Ok(meter)
    }

    /// Adds the devices among a layer and the layers below it. `below_file`: the layer lies below the file of a
    /// device.
    fn add(&mut self, look: &Look, layer: &Layer, below_file: bool) {
        let is_known = |name: &str| self.devices.iter().any(|known| known.grown.name == name);
        if layer.is_device() && !is_known(&layer.name) {
            let place = match () {
                () if below_file => DevicePlace::BelowFile,
                () if layer.below_with_data().any(Layer::is_device) => DevicePlace::Above,
                () => DevicePlace::Leaf,
            };
            let directory = look.sys.join("block").join(layer.name.replace('/', "!"));
            let through = || read_text(&directory.join("queue/write_cache")).is_ok_and(|text| text == "write through");
            // The kernel sends no flush to a device that writes through. Below a file no other fact shows that, so that
            // its flushes count as not visible.
            let counts_flushes = directory.join("mq").exists() && !(below_file && through());
            let stat = directory.join("stat");
            let grown = DeviceCounters { name: layer.name.clone(), place, ..DeviceCounters::default() };
            let image = local_image(look, layer);
            self.devices.push(Metered { stat, counts_flushes, image, last: None, grown });
        }
        // A layer below a device that is not a device itself is the filesystem of the file behind it.
        for below in layer.below_with_data() {
            self.add(look, below, below_file || layer.is_device() && !below.is_device());
        }
    }

    /// The layers of the files.
    pub(super) fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// The device numbers of the leaf devices: `254:0`.
    pub(super) fn leaf_numbers(&self) -> Vec<String> {
        let leaves = self.devices.iter().filter(|device| device.grown.place == DevicePlace::Leaf);
        leaves.filter_map(|leaf| read_text(&leaf.stat.with_file_name("dev")).ok()).collect()
    }

    /// The cached pages of the files behind loop devices, which takes some time.
    pub(super) fn images(&self) -> Vec<(String, CacheCounters)> {
        let pages = |device: &Metered| {
            let file = Reach::ByPath.open_to_look(device.image.as_deref()?).ok()?;
            let pages = page_cache_of(&file).ok()?;
            Some((device.grown.name.clone(), counters(pages)))
        };
        self.devices.iter().filter_map(pages).collect()
    }

    /// The counters of each device since the first reading.
    pub(super) fn read(&mut self, _look: &Look) -> Fact<Vec<DeviceCounters>> {
        self.devices.iter_mut().map(Metered::read).collect()
    }
}

impl Metered {
    fn read(&mut self) -> Fact<DeviceCounters> {
        let now = raw(&self.stat)?;
        let last = self.last.replace(now).unwrap_or(now);
        let grown = &mut self.grown;
        let bytes = now.sectors.since(last.sectors).map(|sectors| sectors.saturating_mul(SECTOR_BYTES));
        let LayerCounters { bytes: sum, operations } = &mut grown.done;
        (*sum, *operations) = (sum.plus(bytes), operations.plus(now.ios.since(last.ios)));
        let request_ms = last.request_ms.zip(now.request_ms).map(|(last, now)| delta(last, now));
        grown.request_ms = grown.request_ms.plus(request_ms);
        grown.busy_ms += delta(last.busy_ms, now.busy_ms);
        grown.weighted_ms += delta(last.weighted_ms, now.weighted_ms);
        let flushes =
            last.flushes.zip(now.flushes).filter(|_| self.counts_flushes).map(|(last, now)| growth(last, now));
        grown.flushes = flushes.map(|flushes| grown.flushes.unwrap_or(0) + flushes);
        Ok(grown.clone())
    }
}

/// The path of an image that this process sees, on a filesystem of this machine.
fn local_image(look: &Look, layer: &Layer) -> Option<PathBuf> {
    let image = layer.image.as_ref().filter(|image| image.size_bytes.is_some())?;
    let path = PathBuf::from(&image.path);
    mounts::mount_of(look, &path).is_ok_and(|mount| class::by_type(&mount).is_none()).then_some(path)
}

fn counters(pages: CachedPages) -> CacheCounters {
    CacheCounters {
        cached_bytes: pages.cached_bytes,
        dirty_bytes: pages.dirty_bytes,
        writeback_bytes: pages.writeback_bytes,
        evicted_bytes: pages.evicted_bytes,
    }
}

fn raw(stat: &Path) -> Fact<Raw> {
    let text = read_text(stat)?;
    parse(&text).ok_or_else(|| NotVisible::new(stat.display(), format!("`{text}` has fewer than eleven fields")))
}

/// Reads `reads merged sectors ms  writes merged sectors ms  in-flight busy-ms weighted-ms  discards ×4  flushes ms`.
/// Kernels before 4.18 end with the weighted ms, those before 5.5 with the discards.
fn parse(text: &str) -> Option<Raw> {
    let figures: Vec<u64> = text.split_whitespace().map_while(|word| word.parse().ok()).collect();
    let [reads, _, sectors_read, read_ms, writes, _, sectors_written, write_ms, _, busy_ms, weighted_ms, ..] =
        figures[..]
    else {
        return None;
    };
    Some(Raw {
        ios: [reads, writes].into(),
        sectors: [sectors_read, sectors_written].into(),
        request_ms: [read_ms, write_ms].into(),
        busy_ms,
        weighted_ms,
        flushes: figures.get(15).copied(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::block::fixture::{Tree, tree};
    use fsdyno_results::evidence::LayerKind;
    use std::fs;

    fn stat(tree: &Tree, name: &str, text: &str) {
        let directory = tree.look.sys.join("block").join(name);
        fs::create_dir_all(directory.join("mq")).unwrap();
        fs::write(directory.join("stat"), text).unwrap();
    }

    fn layer(tree: &Tree, name: &str) -> Layer {
        layers::of_directory(&tree.look, &tree.look.sys.join("devices").join(name)).unwrap()
    }

    fn meter(tree: &Tree, name: &str) -> DeviceMeter {
        fs::create_dir_all(tree.look.sys.join("block").join(name).join("mq")).unwrap();
        let mut meter = DeviceMeter::default();
        meter.add(&tree.look, &layer(tree, name), false);
        meter
    }

    #[test]
    fn a_device_counts_from_its_first_reading_and_over_a_wrap() {
        let tree = tree();
        let mut meter = meter(&tree, "sdb");
        stat(&tree, "sdb", "100 1 8000 70 50 2 4000 4294967290 0 500 600 0 0 0 0 9 3\n");
        let first = meter.read(&tree.look).unwrap();
        assert_eq!(first[0].done, LayerCounters::default());
        assert_eq!((first[0].busy_ms, first[0].flushes), (0, Some(0)));
        stat(&tree, "sdb", "103 1 8016 75 54 2 4100 4 0 510 640 0 0 0 0 11 3\n");
        meter.read(&tree.look).unwrap();
        stat(&tree, "sdb", "104 1 8024 76 55 2 4108 10 0 520 650 0 0 0 0 11 3\n");
        let third = &meter.read(&tree.look).unwrap()[0];
        assert_eq!(third.done, LayerCounters { bytes: [24 * 512, 108 * 512].into(), operations: [4, 5].into() });
        assert_eq!(third.request_ms, [6, 16].into(), "the 32-bit counter wrapped");
        assert_eq!((third.busy_ms, third.weighted_ms, third.flushes), (20, 50, Some(2)));
        assert_eq!((third.name.as_str(), third.place), ("sdb", DevicePlace::Leaf));
    }

    #[test]
    fn a_driver_without_a_queue_counts_no_flushes() {
        let tree = tree();
        stat(&tree, "sdb", "100 1 8000 70 50 2 4000 9 0 500 600 0 0 0 0 9 3\n");
        fs::remove_dir(tree.look.sys.join("block/sdb/mq")).unwrap();
        let mut meter = DeviceMeter::default();
        meter.add(&tree.look, &layer(&tree, "sdb"), false);
        assert_eq!(meter.read(&tree.look).unwrap()[0].flushes, None);
    }

    #[test]
    fn older_kernels_do_not_count_flushes() {
        let raw = parse("1 2 3 4 5 6 7 8 0 10 11").unwrap();
        assert_eq!((raw.busy_ms, raw.weighted_ms, raw.flushes), (10, 11, None));
        assert_eq!(parse("1 2 3 4 5 6 7 8 0 10 11 0 0 0 0").unwrap().flushes, None);
        assert_eq!(parse("1 2 3"), None);
        assert_eq!(parse(""), None);
    }

    #[test]
    fn a_stack_has_its_leaves_and_the_rest_stands_above() {
        let tree = tree();
        let meter = meter(&tree, "dm-0");
        let places: Vec<_> =
            meter.devices.iter().map(|device| (device.grown.name.as_str(), device.grown.place)).collect();
        use DevicePlace::{Above, Leaf};
        assert_eq!(places, [("dm-0", Above), ("md0", Above), ("sda", Leaf), ("sdb", Leaf)]);
    }

    #[test]
    fn a_loop_device_is_the_leaf_and_its_files_disk_is_below() {
        let tree = tree();
        let file_system = Layer { name: "ext4".into(), kind: LayerKind::Filesystem, ..Layer::default() };
        let upper = Layer { below: vec![layer(&tree, "sdb")], ..file_system };
        let mut meter = DeviceMeter::default();
        meter.add(&tree.look, &Layer { below: vec![upper], ..layer(&tree, "loop0") }, false);
        let places: Vec<_> =
            meter.devices.iter().map(|device| (device.grown.name.as_str(), device.grown.place)).collect();
        assert_eq!(places, [("loop0", DevicePlace::Leaf), ("sdb", DevicePlace::BelowFile)]);
    }

    #[test]
    fn a_device_that_went_away_hides_the_layer() {
        let tree = tree();
        let mut meter = meter(&tree, "sdb");
        let reason = meter.read(&tree.look).unwrap_err();
        assert!(reason.place.ends_with("block/sdb/stat"), "{reason}");
    }

    #[test]
    fn no_file_has_no_device_and_memory_has_none() {
        assert!(DeviceMeter::begin(&Look::new(), &[]).is_err());
        let memory = DeviceMeter::begin(&Look::new(), &["/proc/self/status".into()]);
        assert_eq!(memory.map(|meter| meter.devices.len()), Ok(0));
    }
}
