//! `io_uring`: requests in a ring shared with the kernel.
//!
//! `queue` writes an entry; `submit` is one io_uring_enter (none with a submission thread); `reap` reads the
//! completion ring and calls the kernel only to wait, or for completions that are pending in the kernel. Submission
//! and waiting are one call (`submit_and_reap`) only where batches were asked for: otherwise submission latency ends
//! when the kernel has taken the request.

mod queues;
mod ring;

use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, RawFd};
use std::time::Duration;

use fsdyno_job::{EngineName, EngineOptions};
use fsdyno_workload::{Op, OpKind};
use io_uring::{EnterFlags, IoUring, opcode, squeue, types};
use rustix::io::ReadWriteFlags;

use super::control::{self, Target};
use super::positioned::{self, DONT_CACHE};
use crate::buffers::Arena;
use crate::completions::{append, spare_capacity};
use crate::contract::{Completion, Engine, EngineError, Queued};
use crate::setup::{EngineSetup, EngineSetupError};
use crate::slot::Slot;
use fsdyno_os::clock::{Clock, RealClock};
use fsdyno_os::files::{FileKind, OpenFile};

use queues::Queues;
pub(crate) use ring::{features, plain_ring};

/// Number of tries, one millisecond apart, while the kernel has no room and no request in flight could make room.
const STARVED_TRIES_MAX: u32 = 1000;

/// How long the end of an engine waits for requests in flight before it abandons their buffers.
const CANCEL_WAIT: Duration = Duration::from_secs(10);

/// A ring and its buffers.
pub(crate) struct Uring<'a> {
    ring: Queues,
    /// Whether a wait can have a timeout (Linux 5.11).
    timed_waits: bool,
    files: &'a [OpenFile],
    targets: Box<[Target<'a>]>,
    /// How an entry names each file: by its descriptor, or by its index among the registered files.
    file_names: Box<[RawFd]>,
    entry_flags: squeue::Flags,
    transfer: BufferReference,
    /// RWF flags of reads, and of writes.
    flags_rw: [i32; 2],
    /// One in this number of transfers is sent to the kernel's workers; 0: none is.
    force_async: u32,
    until_async: u32,
    arena: ManuallyDrop<Arena>,
    clock: RealClock,
    sync_range_flags: u32,
    /// Whether discards go through the ring.
    queued_discards: bool,
    /// Whether completions are polled for.
    polled: bool,
    submission_thread: bool,
    /// The result of [`Engine::ways`].
    ways: Vec<&'static str>,
    /// Number of requests written to the queue since the beginning; then taken from it; then reaped.
    queued: u64,
    submitted: u64,
    reaped: u64,
}

/// Largest number of buffers that the kernel registers.
const REGISTERED_BUFFERS_MAX: usize = 16384;

/// Larger arenas are not registered unless the job asks for it, because registration pins all buffers, bytes.
const REGISTERED_BYTES_MAX: usize = 64 << 20;

/// How a transfer names its memory.
enum BufferReference {
    /// By address.
    Plain,
    /// By the number of a registered buffer, one per slot.
    Fixed,
    /// By a vector with one entry, one vector per slot.
    Vectored(Box<[libc::iovec]>),
}

impl<'a> Uring<'a> {
    pub(crate) fn new(setup: &EngineSetup<'a>) -> Result<Uring<'a>, EngineSetupError> {
        let options = &setup.options;
        check_options(setup)?;
        let arena = setup.arena()?;
        let (ring, savings) = ring::create(setup.depth, options)?;
        let targets = Target::all(setup.files, options);
        let descriptors: Box<[RawFd]> = targets.iter().map(|target| target.fd.as_raw_fd()).collect();
        // Before Linux 5.11 the submission thread knows only registered files.
        let must_register = options.sqthread_poll && !ring.params().is_feature_sqpoll_nonfixed();
        let asked = options.registered_files || must_register;
        // Direct I/O is faster with registered files and buffers, because the kernel need not look them up and pin
        // them each time.
        let registered = if asked || all_direct(setup) {
            let outcome = ring.submitter().register_files(&descriptors);
            match outcome {
                Err(error) if asked => {
                    let advice = "lower nrfiles, or leave registerfiles out";
                    return Err(registration_refused(&error, "registerfiles", advice));
                }
                outcome => outcome.is_ok(),
            }
        } else {
            false
        };
        let transfer = transfer(setup, &arena, &ring)?;
        let timed_waits = ring.params().is_feature_ext_arg();
        let ring = Queues::new(ring);
        let mut ways = ways(savings, ring.registered, registered, &transfer);
        if setup.name != EngineName::IoUring {
            ways.insert(0, EngineName::IoUring.name());
        }
        let mut flags_rw = ReadWriteFlags::empty();
        flags_rw.set(ReadWriteFlags::NOWAIT, options.nowait);
        flags_rw.set(ReadWriteFlags::from_bits_retain(DONT_CACHE), options.uncached);
        Ok(Uring {
            files: setup.files,
            targets,
            file_names: if registered { (0..descriptors.len() as RawFd).collect() } else { descriptors },
            entry_flags: if registered { squeue::Flags::FIXED_FILE } else { squeue::Flags::empty() },
            transfer,
            flags_rw: [flags_rw, flags_rw | positioned::of_writes(options)].map(|flags| flags.bits().cast_signed()),
            force_async: options.force_async,
            until_async: options.force_async,
            arena: ManuallyDrop::new(arena),
            clock: setup.clock,
            sync_range_flags: setup.sync_range_flags,
            queued_discards: queues_discards(setup),
            ways,
            polled: options.hipri,
            submission_thread: options.sqthread_poll,
            ring,
            timed_waits,
            queued: 0,
            submitted: 0,
            reaped: 0,
        })
    }

    /// The entry of a transfer.
    #[inline]
    fn transfer_entry(&mut self, index: usize, op: &Op, done: u64) -> squeue::Entry {
        assert!(done <= op.length && op.length as usize <= self.arena.stride(), "a request larger than its buffer");
        let read = op.kind == OpKind::Read;
        let file = types::Fd(self.file_names[op.file as usize]);
        // SAFETY: `done` is at most the length of the buffer.
        let address = unsafe { self.arena.address(index).add(done as usize) };
        // The length of an entry has 32 bits, and the kernel moves at most this number of bytes at once.
        let length = u32::try_from(op.length - done).unwrap_or(i32::MAX as u32 & !0xfff);
        let (offset, flags) = (op.offset + done, self.flags_rw[usize::from(!read)]);
        let entry = match (&mut self.transfer, read) {
            (BufferReference::Plain, true) => {
                opcode::Read::new(file, address, length).offset(offset).rw_flags(flags).ioprio(op.priority).build()
            }
            (BufferReference::Plain, false) => {
                opcode::Write::new(file, address, length).offset(offset).rw_flags(flags).ioprio(op.priority).build()
            }
            (BufferReference::Fixed, true) => opcode::ReadFixed::new(file, address, length, index as u16)
                .offset(offset)
                .rw_flags(flags)
                .ioprio(op.priority)
                .build(),
            (BufferReference::Fixed, false) => opcode::WriteFixed::new(file, address, length, index as u16)
                .offset(offset)
                .rw_flags(flags)
                .ioprio(op.priority)
                .build(),
            (BufferReference::Vectored(vectors), read) => {
                let vector = &mut vectors[index];
                *vector = libc::iovec { iov_base: address.cast(), iov_len: length as usize };
                if read {
                    opcode::Readv::new(file, vector, 1).offset(offset).rw_flags(flags).ioprio(op.priority).build()
                } else {
                    opcode::Writev::new(file, vector, 1).offset(offset).rw_flags(flags).ioprio(op.priority).build()
                }
            }
        };
        let mut entry_flags = self.entry_flags;
        if self.force_async != 0 {
            self.until_async -= 1;
            if self.until_async == 0 {
                self.until_async = self.force_async;
                entry_flags |= squeue::Flags::ASYNC;
            }
        }
        entry.flags(entry_flags)
    }

    /// The entry of a sync.
    fn sync_entry(&self, op: &Op) -> squeue::Entry {
        let file = types::Fd(self.file_names[op.file as usize]);
        let entry = match op.kind {
            OpKind::DataSync => opcode::Fsync::new(file).flags(types::FsyncFlags::DATASYNC).build(),
            OpKind::SyncRange => {
                // 0 means up to the end of the file.
                let length = u32::try_from(op.length).unwrap_or(0);
                opcode::SyncFileRange::new(file, length).offset(op.offset).flags(self.sync_range_flags).build()
            }
            _ => opcode::Fsync::new(file).build(),
        };
        entry.flags(self.entry_flags)
    }

    /// The entry of a discard: a command of the block layer.
    fn discard_entry(&self, op: &Op) -> squeue::Entry {
        const BLOCK_URING_CMD_DISCARD: u32 = 0x1200;
        let mut length = [0; 16];
        length[..8].copy_from_slice(&op.length.to_ne_bytes());
        let file = types::Fd(self.file_names[op.file as usize]);
        let command = opcode::UringCmd16::new(file, BLOCK_URING_CMD_DISCARD);
        command.addr(Some(op.offset)).cmd(length).build().flags(self.entry_flags)
    }

    /// Calls io_uring_enter for the staged requests. Returns the number of requests taken.
    #[inline]
    fn enter_to_submit(&mut self, staged: u32) -> std::io::Result<usize> {
        self.ring.submission.sync();
        if self.submission_thread {
            // The crate wakes the submission thread if it sleeps. The thread will take all entries.
            return self.ring.submitter.submit().map(|_| staged as usize);
        }
        // SAFETY: the entries name buffers in the arena and files of `self.files`. The slots of these buffers are
        // given away, and `drop` frees the arena only when nothing is in flight.
        unsafe { self.ring.submitter.enter::<libc::sigset_t>(staged, 0, 0, None) }
    }

    /// Handles a call that did not take all requests. Returns the number of requests taken.
    #[cold]
    fn submit_rest(&mut self, first_outcome: std::io::Result<usize>) -> Result<usize, EngineError> {
        let mut outcome = first_outcome;
        for _ in 0..STARVED_TRIES_MAX {
            match outcome.map_err(|error| error.raw_os_error().unwrap_or(libc::EIO)) {
                Ok(taken) if taken > 0 => {
                    self.submitted += taken as u64;
                    return Ok(taken);
                }
                // The kernel lacks memory, or completions overflow: the caller reaps, then submits again.
                Ok(_) | Err(libc::EAGAIN | libc::EBUSY) if self.submitted > self.reaped => return Ok(0),
                // No request can complete, so the kernel itself lacks a resource for the moment.
                Ok(_) | Err(libc::EAGAIN | libc::EBUSY) => fsdyno_os::clock::sleep(Duration::from_millis(1)),
                // A signal arrived first; no request was taken.
                Err(libc::EINTR) => {}
                Err(code) => return Err(EngineError { call: "io_uring_enter", code }),
            }
            outcome = self.enter_to_submit((self.queued - self.submitted) as u32);
        }
        Err(EngineError { call: "io_uring_enter", code: libc::EAGAIN })
    }

    /// Returns the completions in the ring, at most `max`.
    #[inline]
    fn reap_ring(&mut self, max: usize, completions: &mut Vec<Completion<Self>>) -> usize {
        let ready = &mut *self.ring.completion;
        ready.sync();
        let count = ready.len().min(max);
        append(completions, count, || {
            let entry = ready.next().expect("as many as were counted");
            Completion { slot: Slot::returned(entry.user_data() as u32), result: i64::from(entry.result()) }
        });
        // The kernel learns which places are free.
        ready.sync();
        self.reaped += count as u64;
        count
    }

    /// Whether the kernel may have completions that only a call puts into the ring.
    fn hidden(&mut self) -> bool {
        let queue = &self.ring.submission;
        self.polled || queue.taskrun() || queue.cq_overflow()
    }

    /// Calls io_uring_enter: submits the staged requests, if any, and waits for at least `min` completions.
    #[inline]
    fn enter_and_wait(&mut self, staged: u32, min: usize, timeout: Option<Duration>) -> std::io::Result<usize> {
        self.ring.submission.sync();
        let submitter = &self.ring.submitter;
        let events = EnterFlags::GETEVENTS.bits();
        match timeout {
            Some(timeout) if self.timed_waits => {
                let time = types::Timespec::from(timeout);
                let arguments = types::SubmitArgs::new().timespec(&time);
                let flags = events | EnterFlags::EXT_ARG.bits();
                // SAFETY: the arguments are of the type that EXT_ARG announces; they and the time outlive the call.
                // For the staged requests see `enter_to_submit`.
                unsafe { submitter.enter(staged, min as u32, flags, Some(&arguments)) }
            }
            // SAFETY: no argument is passed; for the staged requests see `enter_to_submit`. Before Linux 5.11 there
            // is no timeout: the wait ends with the requests.
            _ => unsafe { submitter.enter::<libc::sigset_t>(staged, min as u32, events, None) },
        }
    }

    /// Waits for at least `min` completions. True: the ring may contain completions.
    fn enter_to_wait(&mut self, min: usize, timeout: Option<Duration>) -> Result<bool, EngineError> {
        match self.enter_and_wait(0, min, timeout).map_err(|error| error.raw_os_error().unwrap_or(libc::EIO)) {
            Ok(_) => Ok(true),
            // The time is over, or the caller checks whether the signal was meant for it.
            Err(libc::ETIME | libc::EINTR) => Ok(false),
            // Completions overflow: the caller must take those in the ring first.
            Err(libc::EBUSY | libc::EAGAIN) => Ok(true),
            Err(code) => Err(EngineError { call: "io_uring_enter", code }),
        }
    }

    /// Calls the kernel until there are `min` completions in all; `count_so_far` are already taken.
    #[inline(never)]
    fn reap_by_call(
        &mut self,
        count_so_far: usize,
        min: usize,
        max: usize,
        timeout: Option<Duration>,
        completions: &mut Vec<Completion<Self>>,
    ) -> Result<usize, EngineError> {
        let deadline_ns = timeout.map(|timeout| self.clock.now_ns().saturating_add(timeout.as_nanos() as u64));
        let mut count = count_so_far;
        let mut left = timeout;
        loop {
            let worth_looking = self.enter_to_wait(min.saturating_sub(count), left)?;
            count += self.reap_ring(max - count, completions);
            if count >= min || !worth_looking {
                return Ok(count);
            }
            // A polling kernel returns early if other threads need the processor.
            if let Some(deadline_ns) = deadline_ns {
                left = Some(Duration::from_nanos(deadline_ns.saturating_sub(self.clock.now_ns())));
                if left == Some(Duration::ZERO) {
                    return Ok(count);
                }
            }
        }
    }

    /// Gives the submission thread some time to take the entries, because only entries that it has taken can be
    /// cancelled.
    fn await_submission_thread(&mut self) {
        const LOOKS_MAX: u32 = 1000;
        for _ in 0..LOOKS_MAX {
            self.ring.submission.sync();
            if !self.submission_thread || self.ring.submission.is_empty() {
                return;
            }
            fsdyno_os::clock::sleep(Duration::from_micros(100));
        }
    }

    fn in_flight(&self) -> u64 {
        // A submission thread may have taken entries that were never submitted by a call.
        let taken = if self.submission_thread { self.queued } else { self.submitted };
        taken - self.reaped
    }
}

impl Engine for Uring<'_> {
    const SYNCHRONOUS: bool = false;

    crate::contract::belongings!(RealClock);

    fn reassign(&mut self, place: usize, file: u32) -> Result<(), EngineError> {
        Target::reassign(&mut self.targets, file, &self.files[place]);
        let descriptor = self.targets[file as usize].fd.as_raw_fd();
        let mut name = descriptor;
        if self.entry_flags.contains(squeue::Flags::FIXED_FILE) {
            // Files are registered, not descriptors: the new file must be registered in place of the old one.
            let updated = self.ring.submitter.register_files_update(place as u32, &[descriptor]);
            let code = |error: std::io::Error| error.raw_os_error().unwrap_or(libc::EIO);
            updated.map_err(|error| EngineError { call: "io_uring_register", code: code(error) })?;
            name = place as RawFd;
        }
        control::set_grown(&mut self.file_names, file as usize, name);
        Ok(())
    }

    #[inline]
    fn queue(&mut self, slot: Slot<Self>, op: &Op, done: u64) -> Queued<Self> {
        let entry = match op.kind {
            OpKind::Read | OpKind::Write => self.transfer_entry(slot.index(), op, done),
            OpKind::Sync | OpKind::DataSync | OpKind::SyncRange if !self.polled => self.sync_entry(op),
            OpKind::Trim if self.queued_discards => self.discard_entry(op),
            // A polled ring accepts no syncs, an older kernel no discards, and none acts on zones: they are carried out
            // at once.
            _ => {
                let result = control::perform(self.targets[op.file as usize], op, done, self.sync_range_flags);
                return Queued::Done(Completion { slot, result });
            }
        };
        let entry = entry.user_data(slot.index() as u64);
        // SAFETY: the entry names a buffer of the arena (or of `Transfer`), which `drop` frees only when nothing is
        // in flight, and a file of `self.files`. The slot is given away, so nobody touches the buffer meanwhile.
        while unsafe { self.ring.submission.push(&entry) }.is_err() {
            // The kernel may have taken entries since the queue was last read.
            self.ring.submission.sync();
            if self.ring.submission.is_full() {
                return Queued::Full(slot);
            }
        }
        self.queued += 1;
        // The slot comes back with the completion, which carries its number.
        slot.into_number();
        Queued::Staged
    }

    #[inline]
    fn submit(&mut self) -> Result<usize, EngineError> {
        let staged = (self.queued - self.submitted) as u32;
        if staged == 0 {
            return Ok(0);
        }
        match self.enter_to_submit(staged) {
            Ok(taken) if taken == staged as usize => {
                self.submitted += u64::from(staged);
                Ok(taken)
            }
            outcome => self.submit_rest(outcome),
        }
    }

    #[inline]
    fn reap(
        &mut self,
        min: usize,
        max: usize,
        timeout: Option<Duration>,
        completions: &mut Vec<Completion<Self>>,
    ) -> Result<usize, EngineError> {
        let max = max.min(spare_capacity(completions));
        let min = min.min(max).min(self.submitted.saturating_sub(self.reaped) as usize);
        let count = self.reap_ring(max, completions);
        if count < min || (count == 0 && max > 0 && self.hidden()) {
            return self.reap_by_call(count, min, max, timeout, completions);
        }
        Ok(count)
    }

    /// A submission thread takes requests without a call.
    fn joins(&self) -> bool {
        !self.submission_thread
    }

    #[inline]
    fn submit_and_reap(
        &mut self,
        min: usize,
        max: usize,
        timeout: Option<Duration>,
        completions: &mut Vec<Completion<Self>>,
    ) -> Result<(usize, usize), EngineError> {
        if !self.joins() {
            return Ok((self.submit()?, self.reap(min, max, timeout, completions)?));
        }
        let staged = (self.queued - self.submitted) as u32;
        let max = max.min(spare_capacity(completions));
        let min = min.min(max).min((self.queued - self.reaped) as usize);
        let taken = match self.enter_and_wait(staged, min, timeout) {
            Ok(taken) if taken == staged as usize => {
                self.submitted += u64::from(staged);
                taken
            }
            // Not all requests were taken, so that the call has not waited.
            outcome => self.submit_rest(outcome)?,
        };
        Ok((taken, self.reap_ring(max, completions)))
    }

    fn ways(&self) -> Vec<&'static str> {
        self.ways.clone()
    }

    /// Asks to cancel all requests (Linux 6.0). Requests that the device is working on are not cancelled.
    fn cancel(&mut self) -> Result<(), EngineError> {
        self.await_submission_thread();
        // Older kernels refuse the call, and it also fails if nothing could be cancelled; both are ignored.
        let _ = self.ring.submitter.register_sync_cancel(Some(types::Timespec::new()), types::CancelBuilder::any());
        Ok(())
    }
}

impl Drop for Uring<'_> {
    fn drop(&mut self) {
        const STEP: Duration = Duration::from_millis(100);
        let mut completions = Vec::with_capacity(self.arena.depth());
        for _ in 0..CANCEL_WAIT.as_millis() / STEP.as_millis() {
            let in_flight = self.in_flight() as usize;
            if in_flight == 0 {
                break;
            }
            // `cancel` cannot fail. It is repeated, because a request may have been on its way to a kernel worker
            // before.
            let _ = self.cancel();
            completions.clear();
            let spare_capacity = completions.capacity();
            if self
                .reap_by_call(0, in_flight.min(spare_capacity), spare_capacity, Some(STEP), &mut completions)
                .is_err()
            {
                break;
            }
        }
        if self.in_flight() == 0 {
            // SAFETY: nothing is in flight, so the kernel writes to none of these buffers; this is the last use.
            unsafe { ManuallyDrop::drop(&mut self.arena) }
        }
        // If requests are left, the device never answered: freeing the buffers would let it write into memory of
        // others, so they are left to the end of the process.
    }
}

/// Refuses options that exclude each other or that these files do not support.
fn check_options(setup: &EngineSetup<'_>) -> Result<(), EngineSetupError> {
    let refused = |option, reason: &str| {
        Err(EngineSetupError::Option { engine: EngineName::IoUring, option, reason: reason.to_owned() })
    };
    let EngineOptions { hipri, fixed_buffers, sqthread_poll, sqthread_poll_cpu, nonvectored, .. } = setup.options;
    if hipri && setup.files.iter().any(|file| !file.mode().direct) {
        return refused("hipri", "polled completions exist for direct I/O only: add direct=1, or leave hipri out");
    }
    if sqthread_poll_cpu.is_some() && !sqthread_poll {
        return refused(
            "sqthread_poll_cpu",
            "there is no submission thread to bind: add sqthread_poll=1, or leave it out",
        );
    }
    if fixed_buffers && nonvectored == Some(false) {
        return refused("fixedbufs", "registered buffers have no vectored form: leave nonvectored=0 out");
    }
    if fixed_buffers && setup.options.atomic {
        return refused("fixedbufs", "the kernel writes no registered buffer atomically: leave fixedbufs out");
    }
    Ok(())
}

/// How transfers name their memory. Registers the buffers if needed.
fn transfer(setup: &EngineSetup<'_>, arena: &Arena, ring: &IoUring) -> Result<BufferReference, EngineSetupError> {
    let vectors = || -> Box<[libc::iovec]> {
        let vector = |index| libc::iovec { iov_base: arena.address(index).cast(), iov_len: arena.stride() };
        (0..arena.depth()).map(vector).collect()
    };
    let asked = setup.options.fixed_buffers;
    let vectored = setup.options.nonvectored == Some(false);
    let atomic = setup.options.atomic;
    let modest = arena.depth() <= REGISTERED_BUFFERS_MAX && arena.depth() * arena.stride() <= REGISTERED_BYTES_MAX;
    if asked || (all_direct(setup) && !vectored && !atomic && modest) {
        // SAFETY: the buffers are the arena's, which outlives every request of this ring (see `drop`).
        match unsafe { ring.submitter().register_buffers(&vectors()) } {
            Ok(()) => return Ok(BufferReference::Fixed),
            Err(error) if asked => {
                let advice = "registered buffers are locked in memory: raise `ulimit -l` (memlock), lower iodepth \
                              (16384 at most) or bs, or leave fixedbufs out";
                return Err(registration_refused(&error, "fixedbufs", advice));
            }
            // Registration was not asked for and exceeds the limit of locked memory: buffers are named by address.
            Err(_) => {}
        }
    }
    Ok(if vectored { BufferReference::Vectored(vectors()) } else { BufferReference::Plain })
}

/// Whether every file is open for direct I/O.
fn all_direct(setup: &EngineSetup<'_>) -> bool {
    !setup.files.is_empty() && setup.files.iter().all(|file| file.mode().direct)
}

/// Whether this kernel (6.12 and later) accepts discards of these files through the ring.
fn queues_discards(setup: &EngineSetup<'_>) -> bool {
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    let mut numbers = release.split(['.', '-']).map_while(|part| part.parse::<u32>().ok());
    let kernel = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    let devices = setup.files.iter().all(|file| file.kind() == FileKind::BlockDevice);
    setup.discards_alone && devices && !setup.options.resets_zones && kernel >= (6, 12) && !setup.options.hipri
}

fn ways(savings: ring::RingFeatures, ring: bool, registered: bool, transfer: &BufferReference) -> Vec<&'static str> {
    let mut ways: Vec<&'static str> = savings.names().collect();
    if ring {
        ways.push("registered-ring");
    }
    if registered {
        ways.push("registered-files");
    }
    if matches!(transfer, BufferReference::Fixed) {
        ways.push("registered-buffers");
    }
    ways
}

fn registration_refused(error: &std::io::Error, option: &'static str, advice: &str) -> EngineSetupError {
    EngineSetupError::Option { engine: EngineName::IoUring, option, reason: format!("{error}; {advice}") }
}
