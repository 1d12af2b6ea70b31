//! `zonemode=zbd`: keeps the write pointers of a zoned device, and places requests by them.
//!
//! Where one worker writes a zone, its own counts are the device's. A request costs no call: the worker reads the zones
//! once, when it begins. Workers that write the same zones have one count of them ([`shared`]).

mod shared;

use fsdyno_job::ZonedRules;

use crate::op::{Op, OpKind};
pub use shared::{KnownZones, ZoneTurn};
use shared::{Share, Turn};

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

/// The zones of a range of a device, all of the same length.
#[derive(Clone, Debug, Default)]
struct ZoneStates {
    zones: Vec<Zone>,
    /// Indices of the zones that are partly written, in the order in which they were begun.
    open: Vec<usize>,
    /// Bytes below all write pointers.
    written: u64,
    /// Who works on each zone, if workers share them; otherwise nothing.
    turns: Vec<Turn>,
    /// Number of zones that are full when the write in flight is done.
    filling: usize,
}

impl ZoneStates {
    fn new(zones: Vec<Zone>) -> ZoneStates {
        let sequential = |zone: &Zone| zone.kind == ZoneKind::Sequential;
        let is_open = |zone: &Zone| sequential(zone) && zone.written > 0 && zone.written < zone.capacity;
        let open = (0..zones.len()).filter(|index| is_open(&zones[*index])).collect();
        let written = zones.iter().filter(|zone| sequential(zone)).map(|zone| zone.written).sum();
        ZoneStates { zones, open, written, ..ZoneStates::default() }
    }

    /// A reset takes what is written.
    fn empty(&mut self, index: usize) {
        self.written -= std::mem::take(&mut self.zones[index].written);
    }
}

/// The zones of a worker's range of one file, all of the same length.
#[derive(Clone, Debug)]
pub(crate) struct DeviceZones {
    rules: ZonedRules,
    /// The number of the file.
    file: u32,
    /// Offset of the first zone on the device.
    start: u64,
    states: ZoneStates,
    /// Number of writes until a zone is reset by `zone_reset_frequency`.
    until_reset: u64,
    /// Actions before and after the next write, and that write while it waits for the first.
    before: Option<Op>,
    after: Option<Op>,
    waiting: Option<Op>,
    /// The part of a worker that shares its zones.
    shared: Option<Share>,
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
    /// The zones of a file; those of a share are the ones that all its workers know.
    pub(crate) fn of(rules: ZonedRules, file: u32, start: u64, zones: &[Zone], shared: Option<Share>) -> DeviceZones {
        let zones = if shared.is_some() { Vec::new() } else { zones.to_vec() };
        DeviceZones { shared, ..DeviceZones::new(rules, file, start, zones) }
    }

    /// `start` is the offset of the first zone on the device.
    fn new(rules: ZonedRules, file: u32, start: u64, zones: Vec<Zone>) -> DeviceZones {
        let (states, until_reset) = (ZoneStates::new(zones), writes_per_reset(&rules));
        DeviceZones { rules, file, start, states, until_reset, before: None, after: None, waiting: None, shared: None }
    }

    /// The place of a read that was to be at `offset`; `None`: nothing that was written is left to read.
    pub(crate) fn read(&mut self, offset: u64, length: u64, least: u64, random: bool) -> Option<ZonePlacement> {
        let asked = self.index_of(offset)?;
        let zone = self.states.zones[asked];
        if zone.kind == ZoneKind::Conventional || self.rules.reads_beyond {
            return Some(ZonePlacement { offset, length, next: offset + length });
        }
        let within = offset - self.start_of(asked);
        if within + least <= self.readable(asked) {
            return Some(self.placed(asked, within, length, least));
        }
        let readable = |index: &usize| self.readable(*index) >= least;
        // A random read stays in its zone if that has data.
        let from = if random { asked } else { asked + 1 };
        let later = (from..self.states.zones.len()).find(readable);
        let index = later.or_else(|| (0..from).rev().filter(|_| random).find(readable))?;
        let within = if random { within % (self.readable(index) - least + 1) / least * least } else { 0 };
        Some(self.placed(index, within, length, least))
    }

    /// Whether a read of this length finds data.
    pub(crate) fn can_be_read(&self, least: u64) -> bool {
        self.rules.reads_beyond || (0..self.states.zones.len()).any(|index| self.readable(index) >= least)
    }

    /// A read at `within` of a zone, up to its write pointer.
    fn placed(&self, index: usize, within: u64, length: u64, least: u64) -> ZonePlacement {
        let written = self.readable(index);
        let length = if within + length <= written { length } else { (written - within) / least * least };
        let offset = self.start_of(index) + within;
        let ends = within + length + least > written && self.states.zones[index].kind == ZoneKind::Sequential;
        ZonePlacement { offset, length, next: if ends { self.next_zone(index) } else { offset + length } }
    }

    /// The place of a write that was to be at `offset`; `None`: no zone can be written.
    pub(crate) fn write(&mut self, offset: u64, length: u64, least: u64) -> Option<ZonePlacement> {
        self.writable(offset, least).map(|index| self.write_at(index, offset, length, least))
    }

    /// The place of a write in this zone.
    fn write_at(&mut self, index: usize, offset: u64, length: u64, least: u64) -> ZonePlacement {
        let start = self.start_of(index);
        if self.states.zones[index].kind == ZoneKind::Conventional {
            let offset = offset.max(start);
            let length = length.min(start + self.rules.zone_bytes - offset);
            return ZonePlacement { offset, length, next: offset + length };
        }
        let is_due = self.reset_is_due();
        let Zone { written, capacity, .. } = self.states.zones[index];
        if written + least > capacity || is_due && written > 0 {
            self.before = Some(self.action(OpKind::ZoneReset, index));
            self.states.empty(index);
        }
        let zone = &mut self.states.zones[index];
        let (within, room) = (zone.written, zone.capacity - zone.written);
        let length = if length <= room { length } else { room / least * least };
        zone.written += length;
        self.states.written += length;
        let rest = zone.capacity - zone.written;
        match self.states.open.iter().position(|open| *open == index) {
            Some(position) if rest < least => drop(self.states.open.remove(position)),
            None if rest >= least => self.states.open.push(index),
            _ => {}
        }
        if rest > 0 && rest < least {
            // It would stay open for ever.
            self.after = Some(self.action(OpKind::ZoneFinish, index));
        }
        let offset = start + within;
        ZonePlacement { offset, length, next: if rest < least { self.next_zone(index) } else { offset + length } }
    }

    /// What a trim at `offset` resets.
    pub(crate) fn trim(&mut self, offset: u64, random: bool) -> Option<ZonePlacement> {
        self.trimmed(offset, random).map(|index| self.trim_at(index))
    }

    /// The zone that a trim at `offset` resets. A random one takes a zone that holds data, if there is any.
    fn trimmed(&self, offset: u64, random: bool) -> Option<usize> {
        let asked = self.index_of(offset)?;
        let holds_data = |index: &usize| self.states.zones[*index].written > 0;
        let filled = (asked..self.states.zones.len()).chain(0..asked).filter(|_| random).find(holds_data);
        Some(filled.unwrap_or(asked))
    }

    fn trim_at(&mut self, index: usize) -> ZonePlacement {
        if self.states.zones[index].kind == ZoneKind::Sequential {
            self.states.empty(index);
            self.states.open.retain(|open| *open != index);
        }
        let next = self.next_zone(index);
        ZonePlacement { offset: self.start_of(index), length: self.rules.zone_bytes, next }
    }

    /// The zone for a write that was to be at `offset`: another one if it cannot be written, or if no further zone may
    /// be open.
    fn writable(&self, offset: u64, least: u64) -> Option<usize> {
        let asked = self.index_of(offset)?;
        let usable = |index: &usize| {
            let zone = &self.states.zones[*index];
            zone.kind == ZoneKind::Conventional || zone.kind == ZoneKind::Sequential && zone.capacity >= least
        };
        let index = (asked..self.states.zones.len()).chain(0..asked).find(usable)?;
        let ZoneStates { open, filling, .. } = &self.states;
        let is_below = |count: usize, limit: u32| limit == 0 || count < limit as usize;
        let is_free = is_below(open.len() + filling, self.rules.open_max)
            && is_below(self.opened_by_this_worker(), self.rules.job_open_max);
        if self.states.zones[index].kind == ZoneKind::Conventional || is_free || open.contains(&index) {
            return Some(index);
        }
        let range = self.states.zones.len() as u64 * self.rules.zone_bytes;
        let share = u128::from(offset) * open.len() as u128 / u128::from(range);
        let first = share as usize;
        let has_room = |index: &&usize| {
            let zone = &self.states.zones[**index];
            zone.written + least <= zone.capacity
        };
        let with_room = || open[first..].iter().chain(&open[..first]).filter(has_room);
        // A zone whose rest is too short for this block is written anew.
        let found = with_room().find(|index| !self.is_taken(**index)).or_else(|| with_room().next());
        found.or(open.first()).copied()
    }

    /// Counts a write, and returns whether `zone_reset_frequency` resets its zone before.
    fn reset_is_due(&mut self) -> bool {
        let ZonedRules { reset_threshold, reset_frequency, zone_bytes, .. } = self.rules;
        let range = self.states.zones.len() as u64 * zone_bytes;
        if reset_frequency <= 0.0 || (self.states.written as f64) < range as f64 * reset_threshold {
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
        (index < self.states.zones.len()).then_some(index)
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
