//! Zones that several workers of a run write. One request at a time works on a zone, and is placed when its turn comes: under
//! a lock, by the zones as all workers know them.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::{DeviceZones, Zone, ZoneKind, ZonePlacement, ZoneStates};
use crate::op::{Op, OpKind};

/// The zones of each file of some workers.
type SharedStates = Arc<OnceLock<Box<[Mutex<ZoneStates>]>>>;

/// The zones of each file of a workload, as they are before its first request. They are known once the worker begins.
#[derive(Clone, Debug, Default)]
pub struct KnownZones {
    found: Arc<OnceLock<Vec<Vec<Zone>>>>,
    /// The zones of all workers that write them; `None`: no other worker does.
    shared: Option<SharedStates>,
}

impl PartialEq for KnownZones {
    fn eq(&self, other: &KnownZones) -> bool {
        self.found == other.found && self.shared.is_some() == other.shared.is_some()
    }
}

impl KnownZones {
    /// Zones for several workers: each takes a clone.
    pub fn of_workers() -> KnownZones {
        KnownZones { shared: Some(SharedStates::default()), ..KnownZones::default() }
    }

    /// The same zones for another worker.
    #[must_use]
    pub fn for_another(&self) -> KnownZones {
        KnownZones { shared: self.shared.clone(), ..KnownZones::default() }
    }

    /// Whether other workers have them too, and one of the workers writes.
    pub fn are_shared(&self) -> bool {
        self.shared.is_some()
    }

    /// Sets the zones of each file, once.
    pub fn set(&self, found: Vec<Vec<Zone>>) {
        // A worker begins once.
        let _ = self.found.set(found);
    }

    pub(crate) fn get(&self) -> Option<&Vec<Vec<Zone>>> {
        self.found.get()
    }

    /// The part of a worker in the zones of a file. What the first of the workers has found is what all begin with.
    pub(crate) fn share(&self, file: usize, worker: u32) -> Option<Share> {
        let (shared, found) = (self.shared.as_ref()?, self.found.get()?);
        let states = |zones: &Vec<Zone>| {
            let turns = vec![Turn::default(); zones.len()];
            Mutex::new(ZoneStates { turns, ..ZoneStates::new(zones.clone()) })
        };
        shared.get_or_init(|| found.iter().map(states).collect());
        Some(Share { shared: shared.clone(), file, worker, waits_for: None, reserved: None, finishing: None })
    }
}

/// Who works on a zone. Workers have numbers from 1.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Turn {
    /// The worker whose request is in flight; 0: none is.
    worker: u32,
    /// The worker that is next; 0: none waits.
    next: u32,
    /// The worker that has begun to fill the zone.
    opener: u32,
    /// Bytes of the write in flight.
    pending: u64,
    /// Whether that write fills the zone.
    fills: bool,
    /// Whether the zone is to be finished after it.
    finishes: bool,
}

/// The part of one worker.
#[derive(Clone, Debug)]
pub(crate) struct Share {
    shared: SharedStates,
    file: usize,
    worker: u32,
    /// The zone that it waits for.
    waits_for: Option<usize>,
    /// A placed write that follows the reset of its zone.
    reserved: Option<Op>,
    /// The zone that it finishes.
    finishing: Option<usize>,
}

/// Whether a request may start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZoneTurn {
    /// It is placed, and its zone is taken.
    Taken,
    /// Another request works on its zone.
    Busy,
    /// No zone can be written any more.
    Over,
}

impl DeviceZones {
    /// Whether other workers write these zones too.
    pub(crate) fn are_shared(&self) -> bool {
        self.shared.is_some()
    }

    /// Calls this with the zones as all workers know them.
    pub(crate) fn with_shared<T>(&mut self, call: impl FnOnce(&mut DeviceZones) -> T) -> T {
        let Some(share) = &self.shared else { return call(self) };
        let (shared, file) = (share.shared.clone(), share.file);
        let Some(states) = shared.get().and_then(|files| files.get(file)) else { return call(self) };
        let mut states = states.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::swap(&mut *states, &mut self.states);
        let outcome = call(self);
        std::mem::swap(&mut *states, &mut self.states);
        outcome
    }

    fn worker(&self) -> u32 {
        self.shared.as_ref().map_or(0, |share| share.worker)
    }

    /// Number of open zones that this worker has begun.
    pub(super) fn opened_by_this_worker(&self) -> usize {
        let ZoneStates { open, turns, .. } = &self.states;
        let worker = self.worker();
        open.iter().filter(|index| turns.get(**index).is_none_or(|turn| turn.opener == worker)).count()
    }

    /// Bytes from the start of a zone that a read finds: not those of a write in flight.
    pub(super) fn readable(&self, index: usize) -> u64 {
        self.states.zones[index].written - self.states.turns.get(index).map_or(0, |turn| turn.pending)
    }

    /// Whether another request works on this zone, or waits for it.
    pub(super) fn is_taken(&self, index: usize) -> bool {
        let worker = self.worker();
        self.states.turns.get(index).is_some_and(|turn| turn.worker != 0 || ![0, worker].contains(&turn.next))
    }

    /// Places a write or a trim that was to be at the offset of `op`, and takes its zone.
    pub(crate) fn take(&mut self, op: &Op, least: u64, random: bool) -> Result<ZonePlacement, ZoneTurn> {
        self.with_shared(|zones| zones.take_of_all(op, least, random))
    }

    fn take_of_all(&mut self, op: &Op, least: u64, random: bool) -> Result<ZonePlacement, ZoneTurn> {
        let worker = self.worker();
        self.wait_no_more();
        let (offset, writes) = (op.offset - self.start, op.kind == OpKind::Write);
        let wished = if writes { self.writable(offset, least) } else { self.trimmed(offset, random) };
        let Some(index) = wished else {
            let all_rest = self.states.turns.iter().all(|turn| turn.worker == 0);
            return Err(if all_rest { ZoneTurn::Over } else { ZoneTurn::Busy });
        };
        let sequential = self.states.zones[index].kind == ZoneKind::Sequential;
        if self.is_taken(index) {
            // A worker that has the turn lets others go before its next request.
            let turn = &mut self.states.turns[index];
            if turn.next == 0
                && turn.worker != worker
                && let Some(share) = &mut self.shared
            {
                (turn.next, share.waits_for) = (worker, Some(index));
            }
            return Err(ZoneTurn::Busy);
        }
        let was_open = self.states.open.contains(&index);
        let placed = if writes { self.write_at(index, offset, op.length, least) } else { self.trim_at(index) };
        if sequential {
            let ZoneStates { turns, open, filling, .. } = &mut self.states;
            let fills = writes && !open.contains(&index);
            *filling += usize::from(fills);
            // What is only counted needs no finish.
            self.after = self.after.take().filter(|_| !self.rules.are_counted);
            let opener = if was_open { turns[index].opener } else { worker };
            let pending = if writes { placed.length } else { 0 };
            turns[index] = Turn { worker, next: 0, opener, pending, fills, finishes: self.after.is_some() };
        }
        Ok(placed)
    }

    /// Leaves the place of the next one at the zone that it has waited for.
    fn wait_no_more(&mut self) {
        let worker = self.worker();
        let waited = self.shared.as_mut().and_then(|share| share.waits_for.take());
        if let Some(turn) = waited.and_then(|index| self.states.turns.get_mut(index))
            && turn.next == worker
        {
            turn.next = 0;
        }
    }

    /// The actions on the zone of a request that was just taken: what comes before it, and what comes after it.
    pub(crate) fn actions(&mut self, placed: Op) -> (Option<Op>, Option<Op>) {
        let (before, after) = (self.before.take(), self.after.take());
        if let Some(share) = &mut self.shared {
            share.reserved = before.map(|_| placed);
        }
        (before, after)
    }

    /// Whether this write has its turn from the reset before it.
    pub(crate) fn is_reserved(&mut self, op: &Op) -> bool {
        self.shared.as_mut().is_some_and(|share| share.reserved.take_if(|reserved| *reserved == *op).is_some())
    }

    /// The finish of a zone begins, which ends before the next request.
    pub(crate) fn finish(&mut self, op: &Op) {
        let index = self.number_of(op);
        if let Some(share) = &mut self.shared {
            share.finishing = Some(index);
        }
    }

    /// The finish that has begun is over.
    pub(crate) fn end_finish(&mut self) {
        if let Some(index) = self.shared.as_mut().and_then(|share| share.finishing.take()) {
            self.with_shared(|zones| zones.end_turn(index, true, true));
        }
    }

    /// A request has ended.
    pub(crate) fn leave(&mut self, op: &Op, succeeded: bool) {
        if self.are_shared() && [OpKind::Write, OpKind::Trim].contains(&op.kind) {
            let index = self.number_of(op);
            self.with_shared(|zones| zones.end_turn(index, succeeded, false));
        }
    }

    /// The index of a request's zone.
    fn number_of(&self, op: &Op) -> usize {
        ((op.offset - self.start) / self.rules.zone_bytes) as usize
    }

    /// The worker ends. What was not done does not count.
    pub(crate) fn leave_all(&mut self) {
        if self.are_shared() {
            self.with_shared(|zones| {
                zones.wait_no_more();
                (0..zones.states.turns.len()).for_each(|index| zones.end_turn(index, false, true));
            });
        }
    }

    /// Ends this worker's turn at a zone; but one that finishes the zone goes on until its finish is over.
    fn end_turn(&mut self, index: usize, succeeded: bool, finished: bool) {
        let worker = self.worker();
        let ZoneStates { zones, open, written, turns, filling } = &mut self.states;
        let (Some(turn), Some(zone)) = (turns.get_mut(index), zones.get_mut(index)) else { return };
        if turn.worker != worker {
            return;
        }
        let pending = std::mem::take(&mut turn.pending);
        if turn.finishes && succeeded && !finished {
            return;
        }
        *filling -= usize::from(std::mem::take(&mut turn.fills));
        if !succeeded {
            zone.written -= pending;
            *written -= pending;
            open.retain(|open| *open != index);
            if zone.written > 0 && zone.written < zone.capacity {
                open.push(index);
            }
        }
        (turn.worker, turn.finishes) = (0, false);
    }
}
