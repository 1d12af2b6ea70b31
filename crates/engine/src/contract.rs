//! The contract that every engine fulfils; `conformance` tests it.

use std::fmt;
use std::time::Duration;

use fsdyno_job::Direction;
use fsdyno_workload::Op;

use crate::slot::Slot;
use fsdyno_os::errno;
use fsdyno_os::files::OpenFile;

/// The result of a request of an engine that works on names: it moves nothing, and [`Engine::operation`] has the time of
/// the operation that came with it, if one did.
pub const OPERATION: i64 = i64::MAX;

/// The result of a request of an engine whose work is over: its program has ended, or its peer has. What came of this
/// request before counts, and no other follows.
pub const FINISHED: i64 = i64::MAX - 1;

/// The result of a request of an engine whose peer is not there yet. What is measured begins anew, with the same request.
pub const NOT_BEGUN: i64 = i64::MAX - 2;

/// The result of a request that waits: the worker looks at its orders, and queues it again.
pub const WAITING: i64 = i64::MAX - 3;

/// A request that has come back.
pub struct Completion<E> {
    /// Its slot; the buffer is the worker's again.
    pub slot: Slot<E>,
    /// Bytes transferred (fewer than asked for at the end of the file, 0 beyond it; 0 for the syncs and for discards
    /// that were in flight), or the negated errno.
    pub result: i64,
}

const _: () = assert!(std::mem::size_of::<Completion<()>>() == 16);

impl<E> fmt::Debug for Completion<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Completion").field("slot", &self.slot).field("result", &self.result).finish()
    }
}

/// What became of a queued request.
pub enum Queued<E> {
    /// It is over already: every request of a synchronous engine, and what other engines cannot hand to the kernel
    /// (discards where the kernel does not queue them; syncs where the kernel does not queue them).
    Done(Completion<E>),
    /// It waits for [`Engine::submit`] or is already under way.
    Staged,
    /// No room: submit or reap first, then try again with the slot that comes back here.
    Full(Slot<E>),
}

/// Why an engine could not go on at all (a request's own failure is a negative result instead).
#[derive(Debug, thiserror::Error)]
#[error("{call}: {text}", text = std::io::Error::from_raw_os_error(*.code))]
pub struct EngineError {
    /// The system call.
    pub call: &'static str,
    /// errno.
    pub code: i32,
}

/// Carries requests to a file and brings them back.
pub trait Engine: Sized {
    /// `queue` always answers `Done` or `Full`: the caller need not submit or reap.
    const SYNCHRONOUS: bool;

    /// The clock that its latencies are measured with.
    type Clock: fsdyno_os::clock::Clock;

    /// The clock.
    fn clock(&self) -> &Self::Clock;

    /// Takes a request whose first `done` bytes have been transferred already (0 but for the rest of a short one).
    fn queue(&mut self, slot: Slot<Self>, op: &Op, done: u64) -> Queued<Self>;

    /// Hands what is staged to the kernel, first staged first, and says how many requests that were. Fewer than
    /// staged, 0 included, means: reap, then submit again. Retries are bounded. A synchronous engine has nothing staged.
    #[inline(always)]
    fn submit(&mut self) -> Result<usize, EngineError> {
        debug_assert!(Self::SYNCHRONOUS);
        Ok(0)
    }

    /// Appends completions to `completions` (never beyond its capacity): at least `min` unless `timeout` passes
    /// first or a signal arrives, at most `max`. `min` 0 polls; a `min` above the number submitted and not yet reaped
    /// counts as that number, so that no wait is for ever. Returns how many came: none from a synchronous engine.
    #[inline(always)]
    fn reap(
        &mut self,
        _min: usize,
        _max: usize,
        _timeout: Option<Duration>,
        _completions: &mut Vec<Completion<Self>>,
    ) -> Result<usize, EngineError> {
        debug_assert!(Self::SYNCHRONOUS);
        Ok(0)
    }

    /// Whether [`submit_and_reap`](Engine::submit_and_reap) is one system call.
    #[inline(always)]
    fn joins(&self) -> bool {
        false
    }

    /// Both in one call: how many requests were taken, and how many came back. As long as not all were taken nothing is
    /// waited for, and fewer than `min` may come.
    #[inline(always)]
    fn submit_and_reap(
        &mut self,
        min: usize,
        max: usize,
        timeout: Option<Duration>,
        completions: &mut Vec<Completion<Self>>,
    ) -> Result<(usize, usize), EngineError> {
        Ok((self.submit()?, self.reap(min, max, timeout, completions)?))
    }

    /// The files, in the order of `Op::file`: for cache advice and syncs between the requests. The worker that made
    /// the [`crate::EngineSetup`] still owns them and closes them when the engine is gone.
    fn files(&self) -> &[OpenFile];

    /// The descriptor at this place of the files has been given to another file ([`OpenFile::replace`]), and requests
    /// name that by `file` ([`Op::file`]). Nothing of the file that it led to before is in flight, and no request names
    /// that before it has a place again.
    fn reassign(&mut self, _place: usize, _file: u32) -> Result<(), EngineError> {
        Err(EngineError { call: "openfiles", code: errno::EOPNOTSUPP })
    }

    /// The requests of a new pass over the files follow.
    fn begin_pass(&mut self) {}

    /// The time of the latest request's operation on a name, ns, and the direction that it counts for; `None` where the
    /// operation of that name came with an earlier request of the pass. Asked for after a result of [`OPERATION`].
    fn operation(&self) -> Option<(Direction, u64)> {
        None
    }

    /// The I/O priority of the latest request of a slot, as the kernel has it; 0: that of the thread.
    #[inline(always)]
    fn priority_of(&self, _slot: &Slot<Self>) -> u16 {
        0
    }

    /// Ways in which this engine departs from the plain use of its system calls, for the record: `ring-reap`,
    /// `registered-files`, ... Empty for most.
    fn ways(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// The buffer of a slot that is not in flight.
    fn buffer(&mut self, slot: &Slot<Self>) -> &mut [u8];

    /// Asks for the requests in flight to end early; they still come back through `reap`. A synchronous engine has none.
    fn cancel(&mut self) -> Result<(), EngineError> {
        debug_assert!(Self::SYNCHRONOUS);
        Ok(())
    }
}

/// What every engine has in fields of these names: its clock, its files and its buffers.
macro_rules! belongings {
    ($clock:ty) => {
        type Clock = $clock;

        #[inline(always)]
        fn clock(&self) -> &$clock {
            &self.clock
        }

        fn files(&self) -> &[fsdyno_os::files::OpenFile] {
            self.files
        }

        #[inline]
        fn buffer(&mut self, slot: &$crate::slot::Slot<Self>) -> &mut [u8] {
            self.arena.buffer(slot)
        }
    };
}
pub(crate) use belongings;
