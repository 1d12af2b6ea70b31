//! Tokens for requests in flight.

use std::fmt;
use std::marker::PhantomData;

use crate::contract::Engine;

/// The right to have one request in flight, with its buffer, in one engine. It cannot be copied; queueing takes it.
///
/// `E` is the engine that it belongs to. Generic code cannot name the type of its engine, and each call of
/// [`with_engine`](crate::with_engine) gives a new one: slots of one engine do not fit another.
///
/// ```compile_fail,E0308
/// fn mix<A: fsdyno_engine::Engine, B: fsdyno_engine::Engine>(slots: &mut fsdyno_engine::Slots<A>, other: &mut B) {
///     other.buffer(&slots.take().unwrap());
/// }
/// ```
pub struct Slot<E>(u32, PhantomData<fn() -> E>);

impl<E> Slot<E> {
    fn new(index: u32) -> Slot<E> {
        Slot(index, PhantomData)
    }

    /// Index among the worker's slots, 0 to depth - 1.
    #[inline]
    pub fn index(&self) -> usize {
        self.0 as usize
    }

    /// For engines: the slot of a request that has completed.
    #[inline]
    pub(crate) fn returned(index: u32) -> Slot<E> {
        Slot::new(index)
    }

    /// For engines: the slot's number, which is sent with the request.
    #[inline]
    pub(crate) fn into_number(self) -> u32 {
        self.0
    }
}

impl<E> fmt::Debug for Slot<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Slot").field(&self.0).finish()
    }
}

/// The free slots of an engine. They are made together with the engine; there is no other way to make one.
///
/// ```compile_fail,E0624
/// fn more<E: fsdyno_engine::Engine>() -> fsdyno_engine::Slots<E> {
///     fsdyno_engine::Slots::new(1)
/// }
/// ```
///
/// ```compile_fail,E0277
/// fn more<E: fsdyno_engine::Engine>() -> fsdyno_engine::Slots<E> {
///     fsdyno_engine::Slots::of_self_contained(1)
/// }
/// ```
pub struct Slots<E> {
    free: Vec<Slot<E>>,
    depth: usize,
}

/// A mark for engines of other crates whose buffers only safe code can reach: they may make their slots themselves.
pub trait SelfContained: Engine {}

impl<E: SelfContained> Slots<E> {
    /// Makes all slots of such an engine.
    pub fn of_self_contained(depth: u32) -> Slots<E> {
        Slots::new(depth)
    }
}

impl<E: Engine> Slots<E> {
    /// Makes all slots free, also those that were dropped. This is only correct for an engine that is done when
    /// `queue` returns, because none of its buffers is in flight.
    pub fn reclaim(&mut self) {
        assert!(E::SYNCHRONOUS, "a lost slot may be in flight");
        *self = Slots::new(self.depth as u32);
    }
}

impl<E> Slots<E> {
    /// Makes all slots of a worker of this depth (1 and up).
    pub(crate) fn new(depth: u32) -> Slots<E> {
        Slots { free: (0..depth).rev().map(Slot::new).collect(), depth: depth as usize }
    }

    /// Takes a free slot.
    #[inline]
    pub fn take(&mut self) -> Option<Slot<E>> {
        self.free.pop()
    }

    /// Puts a slot back.
    #[inline]
    pub fn put_back(&mut self, slot: Slot<E>) {
        debug_assert!(self.free.len() < self.depth);
        // Never reallocates: `new` made room for every slot.
        self.free.push(slot);
    }

    /// The free slots, the next one last. Too slow for the I/O path.
    pub fn free(&self) -> &[Slot<E>] {
        &self.free
    }

    /// The numbers of the slots in flight. Too slow for the I/O path.
    pub fn in_flight_indices(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.depth).filter(|index| !self.free.iter().any(|slot| slot.index() == *index))
    }

    /// Number of slots in flight.
    #[inline]
    pub fn in_flight(&self) -> usize {
        self.depth - self.free.len()
    }
}

impl<E> fmt::Debug for Slots<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slots").field("free", &self.free).field("depth", &self.depth).finish()
    }
}
