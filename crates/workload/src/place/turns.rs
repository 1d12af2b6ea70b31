//! Places requests on zones that other workers write too, when their turn comes.

use fsdyno_job::Direction;

use super::Placement;
use crate::device_zones::{DeviceZones, ZoneTurn};
use crate::op::{Block, NO_INSTANT, Op, OpKind};
use crate::workload::Workload;

/// The zones of all files of a workload; none if they are not known, or the workload does not obey them.
pub(super) fn device_zones(workload: &Workload) -> Box<[DeviceZones]> {
    let (Some(rules), Some(known)) = (workload.pattern.zoned, workload.zones.get()) else { return Box::default() };
    let numbered = workload.files.iter().zip(known).enumerate();
    let zones = numbered.map(|(number, (file, zones))| {
        let share = workload.zones.share(number, workload.thread_number);
        DeviceZones::of(rules, number as u32, file.start, zones, share)
    });
    zones.collect()
}

impl Placement {
    /// From now on requests obey the zones that the workload knows.
    pub(crate) fn obey_zones(&mut self, workload: &Workload) {
        self.device_zones = device_zones(workload);
    }

    /// Whether other workers write the zones too: then a request is placed when its turn comes.
    pub(crate) fn shares_zones(&self) -> bool {
        self.device_zones.iter().any(DeviceZones::are_shared)
    }

    /// Places the only request of the block on zones that are shared, with what its zone needs before and after it.
    pub(crate) fn take_turn(&mut self, block: &mut Block, index: usize) -> ZoneTurn {
        self.device_zones.iter_mut().for_each(DeviceZones::end_finish);
        let op = block.ops[index];
        let number = op.file as usize;
        let zones = &mut self.device_zones[number];
        if op.kind == OpKind::ZoneFinish {
            zones.finish(&op);
        }
        let Some(direction) = op.kind.direction().filter(|direction| *direction != Direction::Read) else {
            return ZoneTurn::Taken;
        };
        if zones.is_reserved(&op) {
            return ZoneTurn::Taken;
        }
        let placed = match zones.take(&op, self.sizes[direction].min(), self.random) {
            Ok(placed) => placed,
            Err(turn) => return turn,
        };
        let file = &mut self.files[number];
        (file.last_start[direction], file.position[direction]) = (placed.offset, placed.next);
        let transfer = Op { offset: file.start + placed.offset, length: placed.length, ..op };
        let (before, after) = zones.actions(transfer);
        let intended_ns = block.intended_ns.as_ref().map(|starts| starts[index]);
        block.len = index;
        for op in before.into_iter().chain([transfer]).chain(after) {
            block.ops[block.len] = op;
            if let (Some(starts), Some(intended_ns)) = (&mut block.intended_ns, intended_ns) {
                starts[block.len] = if op.kind.acts_on_zone() { NO_INSTANT } else { intended_ns };
            }
            block.len += 1;
        }
        ZoneTurn::Taken
    }

    /// A request of shared zones has ended.
    pub(crate) fn leave(&mut self, op: &Op, succeeded: bool) {
        if let Some(zones) = self.device_zones.get_mut(op.file as usize) {
            zones.leave(op, succeeded);
        }
    }
}
