//! Block devices as evidence.

use results::evidence::DeviceIdentity;

use crate::BlockDevice;
use crate::linux::{Look, read_number};

/// A device and those below it.
pub(super) fn identity(look: &Look, device: BlockDevice) -> DeviceIdentity {
    let queue = look.sys.join("block").join(device.name.replace('/', "!")).join("queue");
    let BlockDevice {
        name,
        partition,
        size_bytes,
        rotational,
        scheduler,
        queue_requests,
        logical_block_bytes,
        physical_block_bytes,
        write_cache,
        model,
        // Part of the stack's lines.
        backing_file: _,
        slaves,
    } = device;
    DeviceIdentity {
        max_request_bytes: read_number::<u64>(&queue.join("max_sectors_kb")).ok().and_then(|kib| kib.checked_mul(1024)),
        name,
        partition,
        model: model.filter(|model| !model.is_empty()),
        size_bytes,
        rotational,
        scheduler,
        queue_requests,
        logical_block_bytes,
        physical_block_bytes,
        write_cache,
        slaves: slaves.into_iter().map(|slave| identity(look, slave)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DeviceNumber;
    use crate::linux::block;
    use crate::linux::block::fixture::tree;
    use std::fs;

    #[test]
    fn a_volume_and_what_is_below_it() {
        let tree = tree();
        let queue = tree.look.sys.join("block/dm-0/queue");
        fs::create_dir_all(&queue).unwrap();
        fs::write(queue.join("max_sectors_kb"), "1280\n").unwrap();
        let device = block::device(&tree.look, DeviceNumber { major: 253, minor: 0 }).unwrap();
        let found = identity(&tree.look, device);
        assert_eq!((found.name.as_str(), found.max_request_bytes), ("dm-0", Some(1_310_720)));
        let md0 = &found.slaves[0];
        assert_eq!((md0.name.as_str(), md0.max_request_bytes), ("md0", None), "not shown is not 0");
        assert_eq!(md0.slaves[0].partition.as_deref(), Some("sda2"));
    }
}
