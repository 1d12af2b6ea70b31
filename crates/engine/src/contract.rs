//! The contract that every engine fulfils; `conformance` tests it.

use std::fmt;
use std::time::Duration;

use fsdyno_job::Direction;
use fsdyno_workload::Op;

use crate::object_tally::ObjectTally;
use crate::slot::Slot;
use fsdyno_os::errno;
use fsdyno_os::files::OpenFile;

/// The result of a request of an engine that works on names: no data has moved. [`Engine::operation`] returns the
/// time of the operation, if one was made for this request.
pub const OPERATION: i64 = i64::MAX;

/// The result of a request when the engine's work is over, because its program or its peer has ended. Bytes of this
/// request before that count, and no other request follows.
pub const FINISHED: i64 = i64::MAX - 1;

/// The result of a request while the engine's peer is not there yet. The measured part begins again, with the same
/// request.
pub const NOT_BEGUN: i64 = i64::MAX - 2;

/// The result of a request that must wait longer: the worker reads its orders and queues the request again.
pub const WAITING: i64 = i64::MAX - 3;

/// A request that has completed.
pub struct Completion<E> {
    /// Its slot; the worker may use the buffer again.
    pub slot: Slot<E>,
    /// Bytes transferred: fewer than asked for at the end of the file, 0 beyond it, 0 for syncs and for discards that
    /// were in flight. Or the negated errno.
    pub result: i64,
}

const _: () = assert!(std::mem::size_of::<Completion<()>>() == 16);

impl<E> fmt::Debug for Completion<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Completion").field("slot", &self.slot).field("result", &self.result).finish()
    }
}

/// What happened to a request in [`Engine::queue`].
pub enum Queued<E> {
    /// It is done: every request of a synchronous engine, and syncs and discards that the kernel does not queue.
    Done(Completion<E>),
    /// It waits for [`Engine::submit`], or it is already in flight.
    Staged,
    /// There is no room. Submit or reap first, then try again with this slot.
    Full(Slot<E>),
}

/// Why an engine cannot continue at all. (A single request that fails has a negative result instead.)
#[derive(Debug, thiserror::Error)]
#[error("{call}: {text}", text = std::io::Error::from_raw_os_error(*.code))]
pub struct EngineError {
    /// The system call that failed.
    pub call: &'static str,
    /// errno.
    pub code: i32,
}

/// Carries out requests on files and returns their completions.
pub trait Engine: Sized {
    /// Whether `queue` always returns `Done` or `Full`, so that the caller need not submit or reap.
    const SYNCHRONOUS: bool;

    /// The type of the clock that latencies are measured with.
    type Clock: fsdyno_os::clock::Clock;

    /// The clock.
    fn clock(&self) -> &Self::Clock;

    /// Queues a request whose first `done` bytes have already been transferred (0, except for the rest of a short
    /// transfer).
    fn queue(&mut self, slot: Slot<Self>, op: &Op, done: u64) -> Queued<Self>;

    /// Submits the staged requests to the kernel in their order, and returns how many the kernel took. If these are
    /// fewer than staged, 0 included, the caller must reap and then submit again. Retries are bounded. A synchronous
    /// engine has nothing staged.
    #[inline(always)]
    fn submit(&mut self) -> Result<usize, EngineError> {
        debug_assert!(Self::SYNCHRONOUS);
        Ok(0)
    }

    /// Appends completions to `completions`, never beyond its capacity: at most `max`, and at least `min` unless
    /// `timeout` passes first or a signal arrives. `min` 0 polls; a `min` above the number in flight counts as that
    /// number, so that no wait lasts for ever. Returns the number of completions; a synchronous engine returns none.
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

    /// Submits and reaps in one call. Returns the number of requests taken and the number of completions. If not all
    /// requests were taken, it does not wait, and fewer than `min` completions may be returned.
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

    /// The files, in the order of `Op::file`, for cache advice and syncs between requests. The worker that made the
    /// [`crate::EngineSetup`] still owns them, and closes them when the engine is gone.
    fn files(&self) -> &[OpenFile];

    /// The descriptor at index `place` of the files now belongs to another file ([`OpenFile::replace`]), which
    /// requests name by `file` ([`Op::file`]). No request of the previous file is in flight, and none follows before
    /// that file has a descriptor again.
    fn reassign(&mut self, _place: usize, _file: u32) -> Result<(), EngineError> {
        Err(EngineError { call: "openfiles", code: errno::EOPNOTSUPP })
    }

    /// Called before the first request of a new pass over the files.
    fn begin_pass(&mut self) {}

    /// The time of the latest request's operation on a name, ns, and the direction that it counts for; `None` if an
    /// earlier request of the pass had the operation of that name. Called after a result of [`OPERATION`].
    fn operation(&self) -> Option<(Direction, u64)> {
        None
    }

    /// The counts and times of the answers of an object server; `None` if the engine asks no such server.
    fn objects(&mut self) -> Option<&ObjectTally> {
        None
    }

    /// What the device said about the latest request that failed, in words; `None`: it said nothing.
    fn said(&self) -> Option<String> {
        None
    }

    /// Words for the record about how this engine differs from the plain use of its system calls: `ring-reap`,
    /// `registered-files`, ... Most engines return none.
    fn ways(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// The buffer of a slot that is not in flight.
    fn buffer(&mut self, slot: &Slot<Self>) -> &mut [u8];

    /// Asks the requests in flight to end early; they still complete through `reap`. A synchronous engine has none.
    fn cancel(&mut self) -> Result<(), EngineError> {
        debug_assert!(Self::SYNCHRONOUS);
        Ok(())
    }
}

/// Implements the methods that return the fields of these names: clock, files and buffers.
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
