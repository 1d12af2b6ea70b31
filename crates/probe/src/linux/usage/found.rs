//! What a look at the machine caches about the users of devices.

use fsdyno_os::mapper::LoopBacking;
use fsdyno_results::evidence::DeviceNumber;

/// A loop device, and the file or device that it lies on.
#[derive(Debug)]
pub(in crate::linux) struct LoopDevice {
    pub(super) name: String,
    pub(super) number: DeviceNumber,
    pub(super) backing: LoopBacking,
}

/// A device, and a program that may write to it.
pub(in crate::linux) type Writer = (DeviceNumber, String);
