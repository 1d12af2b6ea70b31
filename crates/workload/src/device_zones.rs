//! `zonemode=zbd`: keeps the write pointers of a zoned device, and places requests by them.
//!
//! One worker writes a zone, so that its own counts are the device's. A request costs no call: the worker reads the
//! zones once, when it begins.

use std::sync::{Arc, OnceLock};

use fsdyno_job::ZonedRules;

use crate::op::{Op, OpKind};
use crate::workload::Workload;

/// A zone of a device, as it was when the worker began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zone {
    /// Bytes of it that can be written, from its start.
    pub capacity: u64,
    /// Bytes below its write pointer.
    pub written: u64,
    /// What it is.
    pub kind: ZoneKind,
}

/// What can be done with a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZoneKind {
    /// It is written anywhere.
    Conventional,
    /// It is written at its write pointer.
    Sequential,
    /// It is read-only or offline.
    Unusable,
}

/// The zones of each file of a workload, as they are before its first request. They are known once the worker begins.
pub type KnownZones = Arc<OnceLock<Vec<Vec<Zone>>>>;

/// The zones of a worker's range of one file, all of the same length.
#[derive(Clone, Debug)]
pub(crate) struct DeviceZones {
    rules: ZonedRules,
    /// The number of the file.
    file: u32,
    /// Offset of the first zone on the device.
    start: u64,
    zones: Vec<Zone>,
    /// Indices of the zones that are partly written, in the order in which they were begun.
    open: Vec<usize>,
    /// Bytes below all write pointers.
    written: u64,
    /// Number of writes until a zone is reset by `zone_reset_frequency`.
    until_reset: u64,
    /// Actions before and after the next write, and that write while it waits for the first.
    before: Option<Op>,
    after: Option<Op>,
    waiting: Option<Op>,
}

/// Where a request goes, relative to the first zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ZonePlacement {
    pub(crate) offset: u64,
    pub(crate) length: u64,
    /// Where a sequence continues.
    pub(crate) next: u64,
}

impl DeviceZones {
    /// The zones of all files of a workload; none if they are not known, or the workload does not obey them.
    pub(crate) fn of(workload: &Workload) -> Box<[DeviceZones]> {
        let (Some(rules), Some(known)) = (workload.pattern.zoned, workload.zones.get()) else { return Box::default() };
        let numbered = workload.files.iter().zip(known).enumerate();
        numbered
            .map(|(number, (file, zones))| DeviceZones::new(rules, number as u32, file.start, zones.clone()))
            .collect()
    }

    /// `start` is the offset of the first zone on the device.
    fn new(rules: ZonedRules, file: u32, start: u64, zones: Vec<Zone>) -> DeviceZones {
        let sequential = |zone: &Zone| zone.kind == ZoneKind::Sequential;
        let is_open = |zone: &Zone| sequential(zone) && zone.written > 0 && zone.written < zone.capacity;
        let open = (0..zones.len()).filter(|index| is_open(&zones[*index])).collect();
        let written = zones.iter().filter(|zone| sequential(zone)).map(|zone| zone.written).sum();
        let until_reset = writes_per_reset(&rules);
        DeviceZones { rules, file, start, zones, open, written, until_reset, before: None, after: None, waiting: None }
    }

    /// The place of a read that was to be at `offset`; `None`: nothing that was written is left to read.
    pub(crate) fn read(&mut self, offset: u64, length: u64, least: u64, random: bool) -> Option<ZonePlacement> {
        let asked = self.index_of(offset)?;
        let zone = self.zones[asked];
        if zone.kind == ZoneKind::Conventional || self.rules.reads_beyond {
            return Some(ZonePlacement { offset, length, next: offset + length });
        }
        let within = offset - self.start_of(asked);
        if within + least <= zone.written {
            return Some(self.placed(asked, within, length, least));
        }
        let readable = |index: &usize| self.zones[*index].written >= least;
        // A random read stays in its zone if that has data.
        let from = if random { asked } else { asked + 1 };
        let later = (from..self.zones.len()).find(readable);
        let index = later.or_else(|| (0..from).rev().filter(|_| random).find(readable))?;
        let within = if random { within % (self.zones[index].written - least + 1) / least * least } else { 0 };
        Some(self.placed(index, within, length, least))
    }

    /// Whether a read of this length finds data.
    pub(crate) fn can_be_read(&self, least: u64) -> bool {
        self.rules.reads_beyond || self.zones.iter().any(|zone| zone.written >= least)
    }

    /// A read at `within` of a zone, up to its write pointer.
    fn placed(&self, index: usize, within: u64, length: u64, least: u64) -> ZonePlacement {
        let written = self.zones[index].written;
        let length = if within + length <= written { length } else { (written - within) / least * least };
        let offset = self.start_of(index) + within;
        let ends = within + length + least > written && self.zones[index].kind == ZoneKind::Sequential;
        ZonePlacement { offset, length, next: if ends { self.next_zone(index) } else { offset + length } }
    }

    /// The place of a write that was to be at `offset`; `None`: no zone can be written.
    pub(crate) fn write(&mut self, offset: u64, length: u64, least: u64) -> Option<ZonePlacement> {
        let index = self.writable(offset, least)?;
        let start = self.start_of(index);
        if self.zones[index].kind == ZoneKind::Conventional {
            let offset = offset.max(start);
            let length = length.min(start + self.rules.zone_bytes - offset);
            return Some(ZonePlacement { offset, length, next: offset + length });
        }
        let is_due = self.reset_is_due();
        let Zone { written, capacity, .. } = self.zones[index];
        if written + least > capacity || is_due && written > 0 {
            self.before = Some(self.action(OpKind::ZoneReset, index));
            self.empty(index);
        }
        let zone = &mut self.zones[index];
        let (within, room) = (zone.written, zone.capacity - zone.written);
        let length = if length <= room { length } else { room / least * least };
        zone.written += length;
        self.written += length;
        let rest = zone.capacity - zone.written;
        match self.open.iter().position(|open| *open == index) {
            Some(position) if rest < least => drop(self.open.remove(position)),
            None if rest >= least => self.open.push(index),
            _ => {}
        }
        if rest > 0 && rest < least {
            // It would stay open for ever.
            self.after = Some(self.action(OpKind::ZoneFinish, index));
        }
        let offset = start + within;
        Some(ZonePlacement { offset, length, next: if rest < least { self.next_zone(index) } else { offset + length } })
    }

    /// The zone that a trim at `offset` resets. A random one takes a zone that holds data, if there is any.
    pub(crate) fn trim(&mut self, offset: u64, random: bool) -> Option<ZonePlacement> {
        let asked = self.index_of(offset)?;
        let holds_data = |index: &usize| self.zones[*index].written > 0;
        let filled = (asked..self.zones.len()).chain(0..asked).filter(|_| random).find(holds_data);
        let index = filled.unwrap_or(asked);
        if self.zones[index].kind == ZoneKind::Sequential {
            self.empty(index);
            self.open.retain(|open| *open != index);
        }
        let next = self.next_zone(index);
        Some(ZonePlacement { offset: self.start_of(index), length: self.rules.zone_bytes, next })
    }

    /// A reset takes what is written.
    fn empty(&mut self, index: usize) {
        self.written -= std::mem::take(&mut self.zones[index].written);
    }

    /// The zone for a write that was to be at `offset`: another one if it cannot be written, or if no further zone may
    /// be open.
    fn writable(&self, offset: u64, least: u64) -> Option<usize> {
        let asked = self.index_of(offset)?;
        let usable = |index: &usize| {
            let zone = &self.zones[*index];
            zone.kind == ZoneKind::Conventional || zone.kind == ZoneKind::Sequential && zone.capacity >= least
        };
        let index = (asked..self.zones.len()).chain(0..asked).find(usable)?;
        let limits = [self.rules.open_max, self.rules.job_open_max].into_iter().filter(|limit| *limit > 0);
        let is_free = limits.min().is_none_or(|limit| self.open.len() < limit as usize);
        if self.zones[index].kind == ZoneKind::Conventional || is_free || self.open.contains(&index) {
            return Some(index);
        }
        let range = self.zones.len() as u64 * self.rules.zone_bytes;
        let share = u128::from(offset) * self.open.len() as u128 / u128::from(range);
        let first = share as usize;
        let has_room = |index: &&usize| self.zones[**index].written + least <= self.zones[**index].capacity;
        self.open[first..].iter().chain(&self.open[..first]).find(has_room).copied()
    }

    /// Counts a write, and returns whether `zone_reset_frequency` resets its zone before.
    fn reset_is_due(&mut self) -> bool {
        let ZonedRules { reset_threshold, reset_frequency, zone_bytes, .. } = self.rules;
        let range = self.zones.len() as u64 * zone_bytes;
        if reset_frequency <= 0.0 || (self.written as f64) < range as f64 * reset_threshold {
            return false;
        }
        self.until_reset -= 1;
        let due = self.until_reset == 0;
        if due {
            self.until_reset = writes_per_reset(&self.rules);
        }
        due
    }

    /// The request that comes before this one, which then waits; or this one.
    pub(crate) fn led(&mut self, op: Op) -> Op {
        match self.before.take() {
            Some(action) => {
                self.waiting = Some(op);
                action
            }
            None => op,
        }
    }

    /// The request that follows the latest one whatever else is due.
    pub(crate) fn following(&mut self) -> Option<Op> {
        self.waiting.take().or_else(|| self.after.take())
    }

    fn action(&self, kind: OpKind, index: usize) -> Op {
        let offset = self.start + self.start_of(index);
        let length = if self.rules.are_counted { 0 } else { self.rules.zone_bytes };
        Op { offset, length, file: self.file, kind, priority: 0 }
    }

    fn index_of(&self, offset: u64) -> Option<usize> {
        let index = (offset / self.rules.zone_bytes) as usize;
        (index < self.zones.len()).then_some(index)
    }

    fn start_of(&self, index: usize) -> u64 {
        index as u64 * self.rules.zone_bytes
    }

    /// Where a sequence continues after a zone. One that leaves zones out begins again at the end of the range.
    fn next_zone(&self, index: usize) -> u64 {
        let next = (self.start_of(index) + self.rules.zone_bytes).saturating_add(self.rules.skip);
        if self.rules.skip > 0 && self.index_of(next).is_none() { 0 } else { next }
    }
}

fn writes_per_reset(rules: &ZonedRules) -> u64 {
    // Below one in 2^63 the quotient is cut.
    ((1.0 / rules.reset_frequency) as u64).max(1)
}

#[cfg(test)]
mod tests;
