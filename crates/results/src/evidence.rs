//! What was seen beside the workers' own counts: which storage it was, and which bytes went through which layer.

mod ledger;
mod mount;
mod seen;
mod storage;

pub use ledger::*;
pub use mount::{DeviceNumber, Mount, NoDeviceNumber};
pub use seen::Seen;
pub use storage::*;
