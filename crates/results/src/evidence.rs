//! Evidence beside the workers' own counters: the identity of the storage, and the bytes that each layer moved.

mod layer;
mod ledger;
mod mount;
mod seen;
mod storage;

pub use layer::{Gap, Image, InMemory, Layer, LayerKind};
pub use ledger::*;
pub use mount::{DeviceNumber, Mount, NoDeviceNumber};
pub use seen::RecordedFact;
pub use storage::*;
