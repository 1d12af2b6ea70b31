//! Tokens for places in flight.

/// The right to use one place in flight and its buffer. It cannot be copied; queueing gives it away.
#[derive(Debug, PartialEq, Eq)]
pub struct Slot(u32);

impl Slot {
    /// Position among the worker's slots, 0 to depth - 1.
    #[inline]
    pub fn index(&self) -> usize {
        self.0 as usize
    }

    /// For engines: the token of a request that has come back.
    #[inline]
    pub(crate) fn returned(index: u32) -> Slot {
        Slot(index)
    }

    /// For engines: the number that travels with the request.
    #[inline]
    pub(crate) fn into_number(self) -> u32 {
        self.0
    }
}

/// The slots that are free. Made once per worker.
#[derive(Debug)]
pub struct Slots {
    free: Vec<Slot>,
    depth: usize,
}

impl Slots {
    /// All slots of a worker of this depth (1 and up).
    pub fn new(depth: u32) -> Slots {
        Slots { free: (0..depth).rev().map(Slot).collect(), depth: depth as usize }
    }

    /// A free slot.
    #[inline]
    pub fn take(&mut self) -> Option<Slot> {
        self.free.pop()
    }

    /// Gives a slot back.
    #[inline]
    pub fn give(&mut self, slot: Slot) {
        debug_assert!(self.free.len() < self.depth);
        // Never reallocates: `new` made room for every slot there is.
        self.free.push(slot);
    }

    /// Which are in flight; not for the I/O path.
    pub fn in_flight_indices(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.depth).filter(|index| !self.free.iter().any(|slot| slot.index() == *index))
    }

    /// How many are in flight.
    #[inline]
    pub fn in_flight(&self) -> usize {
        self.depth - self.free.len()
    }
}
