//! `libaio`: io_submit and io_getevents, with completions read from the ring in user space.
//!
//! The C library of that name is not needed. Requests are prepared in one array, one place per slot, and staged as
//! pointers; `submit` is one io_submit. `reap` reads the ring that the kernel maps into the process and calls
//! io_getevents only when it has to wait.

mod abi;
mod device;
mod threads;

use std::mem::ManuallyDrop;
use std::os::fd::AsRawFd;
use std::time::Duration;

use fsdyno_job::EngineName;
use fsdyno_workload::{Op, OpKind};
use rustix::io::ReadWriteFlags;

use self::abi::{COMMAND_DATA_SYNC, COMMAND_READ, COMMAND_SYNC, COMMAND_TRIM, COMMAND_WRITE, Context, Event, Iocb};
use self::device::Device;
use self::threads::Threads;
use super::control::{self, Target};
use super::positioned::{self, DONT_CACHE};
use crate::buffers::Arena;
use crate::completions::{append, append_all, spare_capacity};
use crate::contract::{Completion, Engine, EngineError, Queued};
use crate::setup::{EngineSetup, EngineSetupError};
use crate::slot::Slot;
use fsdyno_os::clock::RealClock;
use fsdyno_os::files::OpenFile;
use fsdyno_os::linux::files;

/// Number of tries, one millisecond apart, while the kernel has no room and no request in flight could make room.
const STARVED_TRIES_MAX: u32 = 1000;

/// How long the end of an engine waits for requests in flight before it abandons their buffers.
const CANCEL_WAIT: Duration = Duration::from_secs(10);

/// Kernel asynchronous I/O.
#[derive(Debug)]
pub(crate) struct Aio<'a> {
    files: &'a [OpenFile],
    targets: Box<[Target<'a>]>,
    arena: ManuallyDrop<Arena>,
    clock: RealClock,
    sync_range_flags: u32,
    far_end: FarEnd,
    /// One request per slot.
    requests: Box<[Iocb]>,
    /// The requests that wait for `submit`, in order.
    staged: Vec<*const Iocb>,
    /// Slots and results of requests that io_submit refused; they complete through `reap` like all others.
    refused: Vec<(u32, i64)>,
    /// Where io_getevents stores completions that were not in the ring before.
    events: Box<[Event]>,
    /// Number of requests that are with the kernel, or refused and not yet reaped.
    in_flight: usize,
    /// RWF flags of reads, and of writes.
    flags_rw: [u32; 2],
    /// One list of buffers per slot if requests use lists; otherwise empty.
    lists: Box<[libc::iovec]>,
    /// Whether the kernel queues syncs (Linux 4.18 and later); the first sync finds out.
    sync_queued: bool,
    /// Whether this engine is used in place of the engine that was asked for.
    stands_in: bool,
}

/// What carries out the requests.
#[derive(Debug)]
enum FarEnd {
    Kernel(Context),
    Threads(Threads),
    /// A device that gets commands.
    Device(Box<Device>),
}

impl FarEnd {
    /// The completions in the kernel's ring, if the ring can be read.
    #[inline(always)]
    fn peek(&self) -> Option<abi::Ready<'_>> {
        match self {
            FarEnd::Kernel(context) => context.peek(),
            FarEnd::Threads(_) | FarEnd::Device(_) => None,
        }
    }
}

impl<'a> Aio<'a> {
    pub(crate) fn new(setup: &EngineSetup<'a>) -> Result<Aio<'a>, EngineSetupError> {
        let depth = setup.depth as usize;
        let arena = setup.arena()?;
        let far_end = if setup.offload {
            FarEnd::Threads(Threads::start(setup)?)
        } else if setup.name.commands_devices() {
            FarEnd::Device(Box::new(Device::new(setup, &arena)?))
        } else {
            FarEnd::Kernel(Context::new(setup.depth).map_err(|code| setup_refused(code, setup.depth))?)
        };
        let mut flags_rw = ReadWriteFlags::empty();
        flags_rw.set(ReadWriteFlags::NOWAIT, setup.options.nowait);
        let uncached = setup.options.uncached && setup.name == EngineName::IoUring;
        flags_rw.set(ReadWriteFlags::from_bits_retain(DONT_CACHE), uncached);
        let flags_rw = [flags_rw, flags_rw | positioned::of_writes(&setup.options)].map(|flags| flags.bits());
        let nothing = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
        let is_listed = setup.options.vectored && setup.name == EngineName::Libaio;
        Ok(Aio {
            files: setup.files,
            targets: Target::all(setup.files, &setup.options),
            arena: ManuallyDrop::new(arena),
            clock: setup.clock,
            sync_range_flags: setup.sync_range_flags,
            far_end,
            requests: (0..depth).map(|slot| Iocb::of_slot(slot as u64)).collect(),
            staged: Vec::with_capacity(depth),
            refused: Vec::with_capacity(depth),
            events: vec![Event::default(); depth].into_boxed_slice(),
            in_flight: 0,
            flags_rw,
            lists: vec![nothing; if is_listed { depth } else { 0 }].into_boxed_slice(),
            sync_queued: true,
            stands_in: setup.name == EngineName::Posixaio && !setup.offload,
        })
    }

    /// Prepares a request and stages it.
    #[inline]
    fn stage(&mut self, slot: Slot<Self>, op: &Op, done: u64, command: u16) {
        let is_transfer = command <= COMMAND_WRITE;
        assert!(done <= op.length && op.length as usize <= self.arena.stride(), "a request larger than its buffer");
        let index = slot.index();
        let address = self.arena.address(index) as u64;
        let request = &mut self.requests[index];
        request.command = command;
        request.fd = self.targets[op.file as usize].fd.as_raw_fd() as u32;
        if is_transfer {
            request.flags_rw = self.flags_rw[usize::from(command)];
            request.buffer = address + done;
            request.bytes = op.length - done;
            request.offset = (op.offset + done) as i64;
            if op.priority != request.priority() {
                request.set_priority(op.priority);
            }
            if let Some(list) = self.lists.get_mut(index) {
                request.name_list(list);
            }
        } else {
            // The kernel refuses a sync if any of these fields is set.
            request.set_priority(0);
            (request.flags_rw, request.buffer, request.bytes, request.offset) = (0, 0, 0, 0);
        }
        let request: *const Iocb = request;
        self.staged.push(request);
        // The slot comes back with the completion, which carries its number.
        slot.into_number();
    }

    /// Stages a trim for a device that gets commands.
    #[cold]
    fn stage_trim(&mut self, slot: Slot<Self>, op: &Op, done: u64) {
        let index = slot.index();
        self.stage(slot, &Op { length: 0, ..*op }, 0, COMMAND_TRIM);
        let request = &mut self.requests[index];
        (request.bytes, request.offset) = (op.length - done, (op.offset + done) as i64);
    }

    /// Handles an io_submit that took fewer than all requests. Returns the number of requests that are no longer
    /// staged.
    #[cold]
    fn submit_rest(&mut self, first_outcome: Result<usize, i32>) -> Result<usize, EngineError> {
        let mut outcome = first_outcome;
        for _ in 0..STARVED_TRIES_MAX {
            match outcome {
                Ok(taken) if taken > 0 => {
                    self.staged.drain(..taken);
                    self.in_flight += taken;
                    return Ok(taken);
                }
                // The context has no room until a request completes: the caller reaps, then submits again.
                Ok(_) | Err(libc::EAGAIN) if self.in_flight > 0 => return Ok(0),
                // No request can complete, so the kernel itself lacks a resource for the moment.
                Ok(_) | Err(libc::EAGAIN) => fsdyno_os::clock::sleep(Duration::from_millis(1)),
                // A signal arrived first; no request was taken.
                Err(libc::EINTR) => {}
                // Any other error concerns the first request, which completes with this errno.
                Err(code) => {
                    self.refuse_first(code);
                    return Ok(1);
                }
            }
            outcome = self.submit_once();
        }
        Err(EngineError { call: "io_submit", code: libc::EAGAIN })
    }

    #[inline]
    fn submit_once(&mut self) -> Result<usize, i32> {
        // SAFETY: the requests lie in `self.requests`, their buffers in the arena. Their slots are given away, so
        // nobody touches those buffers, and `drop` frees them only when nothing is in flight. The files outlive this
        // engine.
        unsafe {
            match &mut self.far_end {
                FarEnd::Kernel(context) => context.submit(&self.staged),
                FarEnd::Threads(threads) => Ok(threads.submit(&self.staged)),
                FarEnd::Device(device) => device.submit(&self.staged),
            }
        }
    }

    /// Takes the first staged request from the list and gives it the result `code`.
    fn refuse_first(&mut self, code: i32) {
        let request = self.staged.remove(0);
        // SAFETY: it points into `self.requests`, which no mutable reference holds now.
        let Iocb { data: slot, command, fd, .. } = unsafe { *request };
        let is_sync = matches!(command, COMMAND_SYNC | COMMAND_DATA_SYNC);
        let result = match code {
            // Syncs are not queued before Linux 4.18, nor on filesystems without the operation.
            libc::EINVAL | libc::EOPNOTSUPP if is_sync => {
                self.sync_queued = false;
                self.sync_now(command, fd)
            }
            code => -i64::from(code),
        };
        self.refused.push((slot as u32, result));
        self.in_flight += 1;
    }

    fn sync_now(&self, command: u16, fd: u32) -> i64 {
        let target = self.targets.iter().find(|target| target.fd.as_raw_fd() as u32 == fd);
        let fd = target.expect("a request names one of the files").fd;
        let outcome = if command == COMMAND_SYNC { files::sync(fd) } else { files::sync_data(fd) };
        outcome.map_or_else(|code| -i64::from(code), |()| 0)
    }

    /// Returns the completions in the ring, at most `max`.
    #[inline]
    fn reap_ring(&mut self, max: usize, completions: &mut Vec<Completion<Self>>) -> usize {
        let Some(mut ready) = self.far_end.peek() else { return 0 };
        let count = ready.count().min(max);
        if count > 0 {
            append(completions, count, || completion(ready.pop()));
            ready.finish();
            self.in_flight -= count;
        }
        count
    }

    #[cold]
    fn reap_refused(&mut self, max: usize, completions: &mut Vec<Completion<Self>>) -> usize {
        let count = self.refused.len().min(max);
        for (slot, result) in self.refused.drain(..count) {
            completions.push(Completion { slot: Slot::returned(slot), result });
        }
        self.in_flight -= count;
        count
    }

    /// Makes one io_getevents call.
    fn wait(
        &mut self,
        min: usize,
        max: usize,
        timeout: Option<Duration>,
        completions: &mut Vec<Completion<Self>>,
    ) -> Result<usize, EngineError> {
        let max = max.min(self.events.len());
        let events = &mut self.events[..max];
        let outcome = match &mut self.far_end {
            FarEnd::Kernel(context) => context.wait(min, events, timeout),
            FarEnd::Threads(threads) => Ok(threads.wait(min, events, timeout)),
            FarEnd::Device(device) => device.wait(min, events, timeout, &self.requests),
        };
        let count = match outcome {
            Ok(count) => count,
            // The caller checks whether the signal was meant for it.
            Err(libc::EINTR) => 0,
            Err(code) => return Err(EngineError { call: "io_getevents", code }),
        };
        append_all(completions, self.events[..count].iter().copied().map(completion));
        self.in_flight -= count;
        Ok(count)
    }
}

#[inline(always)]
fn completion<E>(event: Event) -> Completion<E> {
    Completion { slot: Slot::returned(event.data as u32), result: event.result }
}

impl Engine for Aio<'_> {
    const SYNCHRONOUS: bool = false;

    crate::contract::belongings!(RealClock);

    fn reassign(&mut self, place: usize, file: u32) -> Result<(), EngineError> {
        if matches!(self.far_end, FarEnd::Device(_)) {
            return Err(EngineError { call: "openfiles", code: libc::EOPNOTSUPP });
        }
        Target::reassign(&mut self.targets, file, &self.files[place]);
        Ok(())
    }

    #[inline]
    fn queue(&mut self, slot: Slot<Self>, op: &Op, done: u64) -> Queued<Self> {
        let command = match op.kind {
            OpKind::Read => COMMAND_READ,
            OpKind::Write => COMMAND_WRITE,
            OpKind::Sync if self.sync_queued => COMMAND_SYNC,
            OpKind::DataSync if self.sync_queued => COMMAND_DATA_SYNC,
            OpKind::Trim if matches!(self.far_end, FarEnd::Device(_)) => {
                self.stage_trim(slot, op, done);
                return Queued::Staged;
            }
            // The kernel's interface has no such request: it is carried out at once.
            _ => {
                let result = control::perform(self.targets[op.file as usize], op, done, self.sync_range_flags);
                return Queued::Done(Completion { slot, result });
            }
        };
        self.stage(slot, op, done, command);
        Queued::Staged
    }

    #[inline]
    fn submit(&mut self) -> Result<usize, EngineError> {
        if self.staged.is_empty() {
            return Ok(0);
        }
        let outcome = self.submit_once();
        if outcome != Ok(self.staged.len()) {
            return self.submit_rest(outcome);
        }
        let taken = self.staged.len();
        self.in_flight += taken;
        self.staged.clear();
        Ok(taken)
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
        let min = min.min(max).min(self.in_flight);
        let mut count = 0;
        if !self.refused.is_empty() {
            count += self.reap_refused(max, completions);
        }
        count += self.reap_ring(max - count, completions);
        let unread = self.far_end.peek().is_none() && count < max;
        if count < min || unread {
            count += self.wait(min.saturating_sub(count), max - count, timeout, completions)?;
        }
        Ok(count)
    }

    fn said(&self) -> Option<String> {
        if let FarEnd::Device(device) = &self.far_end { device.said() } else { None }
    }

    fn ways(&self) -> Vec<&'static str> {
        let name = self.stands_in.then_some(EngineName::Libaio.name());
        let threads = matches!(self.far_end, FarEnd::Threads(_)).then_some("offload-threads");
        name.into_iter().chain(self.far_end.peek().map(|_| "ring-reap")).chain(threads).collect()
    }

    /// Asks the kernel to cancel each request. Regular files and disks do not support this, so that mostly nothing
    /// happens. A call of a thread is not cancelled.
    fn cancel(&mut self) -> Result<(), EngineError> {
        let FarEnd::Kernel(context) = &self.far_end else { return Ok(()) };
        for request in &self.requests {
            // A refusal is the usual answer, also for requests that are not in flight.
            let _ = context.cancel(request);
        }
        Ok(())
    }
}

impl Drop for Aio<'_> {
    fn drop(&mut self) {
        const STEP: Duration = Duration::from_millis(100);
        let mut completions = Vec::with_capacity(self.requests.len());
        for _ in 0..CANCEL_WAIT.as_millis() / STEP.as_millis() {
            if self.in_flight == 0 {
                break;
            }
            completions.clear();
            if self.reap(self.in_flight, usize::MAX, Some(STEP), &mut completions).is_err() {
                break;
            }
        }
        if self.in_flight == 0 {
            if let FarEnd::Kernel(context) = &mut self.far_end {
                context.destroy();
            }
            // SAFETY: nothing is in flight, so the kernel knows none of these buffers; this is the last use.
            unsafe { ManuallyDrop::drop(&mut self.arena) }
        } else if let FarEnd::Threads(threads) = &mut self.far_end {
            threads.abandon();
        } else if let FarEnd::Device(device) = &mut self.far_end {
            device.abandon();
        }
        // If requests are left, the device never answered. Destroying the context would wait for it without bound,
        // and freeing the buffers would let it write into memory of others: both are left to the end of the process.
    }
}

/// Explains a refused io_setup.
fn setup_refused(code: i32, depth: u32) -> EngineSetupError {
    let number =
        |name: &str| std::fs::read_to_string(name).map_or_else(|_| "unknown".to_owned(), |text| text.trim().to_owned());
    let advice = match code {
        libc::EAGAIN => format!(
            "iodepth={depth} times the number of jobs exceeds the system-wide limit: fs.aio-max-nr is {}, {} are taken. \
             Raise it with `sysctl -w fs.aio-max-nr=1048576`, lower iodepth or numjobs, or use ioengine=io_uring",
            number("/proc/sys/fs/aio-max-nr"),
            number("/proc/sys/fs/aio-nr"),
        ),
        libc::ENOMEM => "no kernel memory for the completion ring: lower iodepth or numjobs".to_owned(),
        libc::EINVAL => format!("iodepth={depth} is more than the kernel allows: lower it"),
        libc::ENOSYS | libc::EPERM => {
            "this kernel was built without it (CONFIG_AIO), or a container's seccomp profile \
                                       forbids it: use ioengine=io_uring, or psync with more jobs"
                .to_owned()
        }
        _ => "use ioengine=io_uring, or psync with more jobs".to_owned(),
    };
    EngineSetupError::Refused { engine: EngineName::Libaio, call: "io_setup", code, advice }
}

/// Whether the kernel offers this engine here and now.
pub(crate) fn availability() -> Result<(), EngineSetupError> {
    Context::new(1).map(|mut context| context.destroy()).map_err(|code| setup_refused(code, 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::Names;

    fn setup(files: &[OpenFile]) -> EngineSetup<'_> {
        EngineSetup {
            name: EngineName::Libaio,
            files,
            names: Names::NONE,
            depth: 8,
            block_bytes_max: 4096,
            memory_align: 0,
            memory: fsdyno_job::Memory::Anonymous,
            sync_range_flags: 0,
            offload: false,
            populated: false,
            discards_alone: false,
            advice: fsdyno_os::files::Advice::Normal,
            options: fsdyno_job::EngineOptions::default(),
            clock: RealClock::shared(),
        }
    }

    fn open(path: &str) -> [OpenFile; 1] {
        let mode = fsdyno_os::files::OpenMode::buffered(fsdyno_os::files::FileAccess::Read);
        [OpenFile::open(std::path::Path::new(path), mode).unwrap()]
    }

    /// Carries out one request of each kind and returns the results in the order of the slots.
    fn perform(engine: &mut Aio<'_>, kinds: &[OpKind]) -> Vec<i64> {
        let mut slots = crate::slot::Slots::<Aio<'_>>::new(8);
        let mut completions = Vec::with_capacity(8);
        for kind in kinds {
            let op = Op { kind: *kind, offset: 0, length: 4096, file: 0, priority: 0 };
            match engine.queue(slots.take().unwrap(), &op, 0) {
                Queued::Done(completion) => completions.push(completion),
                Queued::Staged => {}
                Queued::Full(_) => panic!("room for eight"),
            }
        }
        while !engine.staged.is_empty() {
            engine.submit().unwrap();
        }
        while completions.len() < kinds.len() {
            engine.reap(0, 8, None, &mut completions).unwrap();
        }
        completions.sort_by_key(|completion| completion.slot.index());
        completions.iter().map(|completion| completion.result).collect()
    }

    #[test]
    fn completions_come_by_calls_when_the_ring_is_not_as_known() {
        let files = open("/dev/zero");
        let Ok(mut engine) = Aio::new(&setup(&files)) else { return println!("skipped: no libaio here") };
        assert!(engine.far_end.peek().is_some(), "this kernel's ring can be read");
        let FarEnd::Kernel(context) = &mut engine.far_end else { unreachable!("no thread was asked for") };
        context.leave_ring_unread();
        for _ in 0..5 {
            assert_eq!(perform(&mut engine, &[OpKind::Read; 8]), [4096; 8]);
        }
        assert_eq!(engine.in_flight, 0);
    }

    #[test]
    fn syncs_that_the_kernel_does_not_queue_are_carried_out_all_the_same() {
        // /dev/zero has no fsync: io_submit refuses the request, and so does fsync itself.
        let files = open("/dev/zero");
        let Ok(mut engine) = Aio::new(&setup(&files)) else { return println!("skipped: no libaio here") };
        let refused = -i64::from(libc::EINVAL);
        let kinds = [OpKind::Read, OpKind::Sync, OpKind::Read, OpKind::DataSync, OpKind::Read];
        for queued in [true, false] {
            assert_eq!(engine.sync_queued, queued);
            assert_eq!(perform(&mut engine, &kinds), [4096, refused, 4096, refused, 4096]);
        }
        assert_eq!(engine.in_flight, 0);
    }

    #[test]
    fn an_exhausted_limit_names_the_sysctl() {
        let text = setup_refused(libc::EAGAIN, 4096).to_string();
        assert!(text.starts_with("ioengine=libaio: io_setup: "), "{text}");
        assert!(text.contains("fs.aio-max-nr") && text.contains("iodepth=4096"), "{text}");
        let text = setup_refused(libc::ENOSYS, 1).to_string();
        assert!(text.contains("seccomp") && text.contains("io_uring"), "{text}");
    }
}
