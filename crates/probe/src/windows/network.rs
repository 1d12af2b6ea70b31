//! Network traffic of files on servers. Windows counts it by interface.

use std::io::Error;
use std::path::{Path, PathBuf};

use fsdyno_os::machine;
use fsdyno_results::evidence::{RecordedFact, StorageClass, WireCounters};

use super::route::PLACE;
use super::{not_there, volumes};
use crate::interfaces::{NOTHING_CARRIED, summed};
use crate::{Fact, NotVisible};

/// Bytes that the interfaces carried since the first reading.
#[derive(Debug)]
pub(super) struct WireMeter {
    /// The interfaces towards the servers; empty: not known, so that all interfaces count.
    towards: Vec<String>,
    first: Option<WireCounters>,
}

impl WireMeter {
    /// Not visible if no bytes have to cross a network, or if a part of them is not counted: missing bytes would look
    /// like the effect of a cache.
    pub(super) fn begin(paths: &[PathBuf], towards: &[String]) -> Fact<WireMeter> {
        let mut remote = paths.iter().filter(|path| volumes::class_of(path) == StorageClass::Network).peekable();
        if remote.peek().is_none() {
            return Err(NotVisible::new("network", "no file is on a server"));
        }
        if remote.any(|path| is_here(path)) {
            return Err(NotVisible::new(
                PLACE,
                "the server is this machine, and Windows does not count what stays in it",
            ));
        }
        if machine::rdma() {
            return Err(NotVisible::new(PLACE, "a card has RDMA turned on, by which SMB goes past its counters"));
        }
        Ok(WireMeter { towards: towards.to_vec(), first: None })
    }

    pub(super) fn read(&mut self) -> Fact<WireCounters> {
        let all = machine::interfaces().map_err(|code| NotVisible::new(PLACE, Error::from_raw_os_error(code)))?;
        let counted = all.into_iter().map(|interface| (interface.name, interface.bytes.into()));
        let (witness, bytes) = summed(counted, &self.towards).ok_or_else(|| NotVisible::new(PLACE, NOTHING_CARRIED))?;
        let daemon_sockets = RecordedFact::NotVisible(not_there("a daemon between a drive and its server").to_string());
        let now = WireCounters { witness, bytes, daemon_sockets, ..WireCounters::default() };
        let first = self.first.get_or_insert_with(|| now.clone());
        Ok(WireCounters { bytes: now.bytes.since(first.bytes), ..now })
    }
}

fn is_here(path: &Path) -> bool {
    machine::protocol_of(&volumes::nearest_existing(path)).is_ok_and(|protocol| protocol.is_here)
}
