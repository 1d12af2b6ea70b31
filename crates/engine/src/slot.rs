//! Tokens for places in flight.

use std::fmt;
use std::marker::PhantomData;

use crate::contract::Engine;

/// The right to use one place in flight and its buffer, of one engine. It cannot be copied; queueing gives it away.
///
/// `E` is the engine that it belongs to. Whoever works with an engine knows its type only as "some engine", and each
/// engine that is handed out as another one: the slots of one do not fit another.
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

    /// Position among the worker's slots, 0 to depth - 1.
    #[inline]
    pub fn index(&self) -> usize {
        self.0 as usize
    }

    /// For engines: the token of a request that has come back.
    #[inline]
    pub(crate) fn returned(index: u32) -> Slot<E> {
        Slot::new(index)
    }

    /// For engines: the number that travels with the request.
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

/// The slots that are free. They come with their engine, once: there is no other way to one.
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

/// An engine that is not of this crate, and whose buffers nobody but safe code can reach: it may make its slots itself.
pub trait SelfContained: Engine {}

impl<E: SelfContained> Slots<E> {
    /// All slots of such an engine.
    pub fn of_self_contained(depth: u32) -> Slots<E> {
        Slots::new(depth)
    }
}

impl<E: Engine> Slots<E> {
    /// Takes all slots back, those that were dropped included. Only an engine that is done when `queue` returns can do
    /// this: none of its buffers is in flight.
    pub fn reclaim(&mut self) {
        assert!(E::SYNCHRONOUS, "a slot that is gone may be with the kernel");
        *self = Slots::new(self.depth as u32);
    }
}

impl<E> Slots<E> {
    /// All slots of a worker of this depth (1 and up).
    pub(crate) fn new(depth: u32) -> Slots<E> {
        Slots { free: (0..depth).rev().map(Slot::new).collect(), depth: depth as usize }
    }

    /// A free slot.
    #[inline]
    pub fn take(&mut self) -> Option<Slot<E>> {
        self.free.pop()
    }

    /// Puts a slot back.
    #[inline]
    pub fn put_back(&mut self, slot: Slot<E>) {
        debug_assert!(self.free.len() < self.depth);
        // Never reallocates: `new` made room for every slot there is.
        self.free.push(slot);
    }

    /// Those that are free, the next one last; not for the I/O path.
    pub fn free(&self) -> &[Slot<E>] {
        &self.free
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

impl<E> fmt::Debug for Slots<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slots").field("free", &self.free).field("depth", &self.depth).finish()
    }
}
