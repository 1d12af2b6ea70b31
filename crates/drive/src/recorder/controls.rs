//! Requests that transfer nothing: syncs, and actions on zones.

use fsdyno_workload::OpKind;

use super::Recorder;

impl Recorder {
    /// Counts a sync that was issued.
    pub(crate) fn sync_issued(&mut self) {
        self.sync_issued += 1;
    }

    /// Counts the depth at which a sync was submitted.
    pub(crate) fn sync_committed(&mut self, in_flight: usize) {
        self.depths[in_flight] += 1;
    }

    /// Adds the latency of a sync that is done, or counts an action on a zone.
    pub(crate) fn controlled(&mut self, kind: OpKind, latency_ns: u64) {
        match &mut self.sync {
            _ if kind == OpKind::ZoneReset => self.zone_resets += 1,
            Some(sync) if !kind.acts_on_zone() => sync.add(latency_ns),
            _ => {}
        }
    }

    /// Number of zones that were reset.
    pub fn zone_resets(&self) -> u64 {
        self.zone_resets
    }
}
