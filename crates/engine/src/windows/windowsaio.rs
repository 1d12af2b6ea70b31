//! `windowsaio`: overlapped requests and an I/O completion port.
//!
//! The files of a worker are handles for synchronous calls. Here each file is opened again for overlapped calls, by
//! its handle and not by its name. The port belongs to this worker alone.

use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::mem::{ManuallyDrop, size_of};
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::time::Duration;

use fsdyno_job::EngineName;
use fsdyno_workload::{Op, OpKind};
use windows_sys::Win32::Foundation::{
    ERROR_HANDLE_EOF, ERROR_IO_PENDING, ERROR_NO_SYSTEM_RESOURCES, ERROR_WORKING_SET_QUOTA, INVALID_HANDLE_VALUE,
    STATUS_END_OF_FILE, WAIT_TIMEOUT,
};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_FLAG_OVERLAPPED, ReOpenFile, ReadFile, SetFileCompletionNotificationModes, WriteFile,
};
use windows_sys::Win32::System::IO::{
    CancelIoEx, CreateIoCompletionPort, GetQueuedCompletionStatusEx, OVERLAPPED, OVERLAPPED_ENTRY,
};
use windows_sys::Win32::System::Threading::INFINITE;
use windows_sys::Win32::System::WindowsProgramming::FILE_SKIP_COMPLETION_PORT_ON_SUCCESS;

use fsdyno_os::errno;
use fsdyno_os::fd::AsFd;
use fsdyno_os::windows::SHARED;
use fsdyno_os::windows::files;

use super::control;
use crate::buffers::Arena;
use crate::completions::{append, spare_capacity};
use crate::contract::{Completion, Engine, EngineError, Queued};
use crate::setup::{EngineSetup, EngineSetupError};
use crate::slot::Slot;
use fsdyno_os::clock::{Clock, RealClock};
use fsdyno_os::files::OpenFile;

/// How long the end of an engine waits for requests in flight.
const CANCEL_WAIT: Duration = Duration::from_secs(2);

/// The engine: requests that complete through a port.
pub(super) struct Windowsaio<'a> {
    files: &'a [OpenFile],
    /// The files, opened again for overlapped requests, in the same order.
    overlapped: Box<[Overlapped]>,
    port: OwnedHandle,
    /// The structures that Windows writes to while a request is in flight, by slot. They are freed only when none is.
    requests: ManuallyDrop<Box<[UnsafeCell<OVERLAPPED>]>>,
    arena: ManuallyDrop<Arena>,
    clock: RealClock,
    staged: VecDeque<Staged>,
    /// Slots and results of requests that were done when they were submitted.
    ready: VecDeque<(u32, i64)>,
    entries: Box<[OVERLAPPED_ENTRY]>,
    /// Number of requests that are submitted and not done.
    in_port: usize,
}

/// A file for overlapped requests.
struct Overlapped {
    handle: OwnedHandle,
    /// Whether a request that is done at once leaves no entry in the port.
    skips_port: bool,
}

/// A transfer that waits to be submitted.
#[derive(Clone, Copy)]
struct Staged {
    slot: u32,
    file: u32,
    read: bool,
    done: u64,
    bytes: u32,
    offset: u64,
}

/// What happened to a submitted request.
enum SubmitOutcome {
    /// It is in flight; the port reports its end.
    Pending,
    /// It is done.
    Over(i64),
    /// The system has no room for it at the moment.
    Starved(i32),
}

impl<'a> Windowsaio<'a> {
    pub(super) fn new(setup: &EngineSetup<'a>) -> Result<Windowsaio<'a>, EngineSetupError> {
        let depth = setup.depth as usize;
        let port = new_port()?;
        let overlapped = setup.files.iter().map(|file| Overlapped::open(file, &port));
        Ok(Windowsaio {
            files: setup.files,
            overlapped: overlapped.collect::<Result<_, _>>()?,
            port,
            requests: ManuallyDrop::new((0..depth).map(|_| UnsafeCell::new(OVERLAPPED::default())).collect()),
            arena: ManuallyDrop::new(setup.arena()?),
            clock: setup.clock,
            staged: VecDeque::with_capacity(depth),
            ready: VecDeque::with_capacity(depth),
            entries: vec![OVERLAPPED_ENTRY::default(); depth].into_boxed_slice(),
            in_port: 0,
        })
    }

    /// Submits a request to Windows.
    #[inline]
    fn hand_over(&mut self, staged: Staged) -> SubmitOutcome {
        let Staged { slot, file, read, done, bytes, offset } = staged;
        let file = &self.overlapped[file as usize];
        let address = self.arena.address(slot as usize).wrapping_add(done as usize);
        let request = self.requests[slot as usize].get();
        // SAFETY: the request of this slot is not in flight, as the slot was given away to be staged just once.
        unsafe { request.write(files::at(offset)) };
        let handle = file.handle.as_raw_handle();
        let mut moved = 0;
        // SAFETY: `bytes` fit into the buffer after `done`, as `queue` has checked. Buffer and request stay where
        // they are until the request is done: nobody has the slot, and `drop` frees neither while one is in flight.
        let answer = unsafe {
            if read {
                ReadFile(handle, address, bytes, &raw mut moved, request)
            } else {
                WriteFile(handle, address, bytes, &raw mut moved, request)
            }
        };
        match answer {
            0 => not_at_once(errno::last()),
            _ if file.skips_port => SubmitOutcome::Over(i64::from(moved)),
            _ => SubmitOutcome::Pending,
        }
    }

    #[inline]
    fn reap_ready(&mut self, max: usize, completions: &mut Vec<Completion<Self>>) -> usize {
        let count = self.ready.len().min(max);
        append(completions, count, || {
            let (slot, result) = self.ready.pop_front().expect("as many as were counted");
            Completion { slot: Slot::returned(slot), result }
        });
        count
    }

    /// Takes the entries of the port; waits for the first if there is none.
    fn reap_port(
        &mut self,
        max: usize,
        timeout_ms: u32,
        completions: &mut Vec<Completion<Self>>,
    ) -> Result<usize, EngineError> {
        let mut count = 0;
        let room = max.min(self.entries.len()) as u32;
        // SAFETY: there are at least `room` entries, and the port is open.
        let answer = unsafe {
            GetQueuedCompletionStatusEx(
                self.port.as_raw_handle(),
                self.entries.as_mut_ptr(),
                room,
                &raw mut count,
                timeout_ms,
                0,
            )
        };
        if answer == 0 {
            return match errno::last() {
                code if code as u32 == WAIT_TIMEOUT => Ok(0),
                code => Err(EngineError { call: "GetQueuedCompletionStatusEx", code }),
            };
        }
        let first = self.requests.as_ptr().addr();
        let mut entries = self.entries[..count as usize].iter();
        append(completions, count as usize, || {
            let entry = entries.next().expect("as many as were counted");
            let slot = (entry.lpOverlapped.addr() - first) / size_of::<OVERLAPPED>();
            // SAFETY: the request is one of `requests`, and is done.
            let status = unsafe { (*entry.lpOverlapped).Internal } as i32;
            Completion { slot: Slot::returned(slot as u32), result: result(status, entry.dwNumberOfBytesTransferred) }
        });
        self.in_port -= count as usize;
        Ok(count as usize)
    }

    /// Milliseconds until the deadline; a port accepts only whole ones.
    fn milliseconds_until(&self, deadline_ns: Option<u64>) -> u32 {
        let Some(deadline_ns) = deadline_ns else { return INFINITE };
        let left_ms = deadline_ns.saturating_sub(self.clock.now_ns()).div_ceil(1_000_000);
        u32::try_from(left_ms).map_or(INFINITE - 1, |left_ms| left_ms.min(INFINITE - 1))
    }
}

/// What an error code of the call means: the request is in flight, or it failed, or there is no room.
#[inline]
fn not_at_once(code: i32) -> SubmitOutcome {
    match code as u32 {
        ERROR_IO_PENDING => SubmitOutcome::Pending,
        ERROR_HANDLE_EOF => SubmitOutcome::Over(0),
        ERROR_NO_SYSTEM_RESOURCES | ERROR_WORKING_SET_QUOTA => SubmitOutcome::Starved(code),
        _ => SubmitOutcome::Over(-i64::from(code)),
    }
}

/// Bytes, or the negated error number.
#[inline]
fn result(status: i32, bytes: u32) -> i64 {
    match status {
        0.. => i64::from(bytes),
        STATUS_END_OF_FILE => 0,
        status => -i64::from(errno::of_status(status)),
    }
}

fn new_port() -> Result<OwnedHandle, EngineSetupError> {
    // SAFETY: no file and no port are given, so that the call makes a new port, for one thread.
    let port = unsafe { CreateIoCompletionPort(INVALID_HANDLE_VALUE, std::ptr::null_mut(), 0, 1) };
    if port.is_null() {
        return Err(refused("CreateIoCompletionPort", errno::last(), "lower numjobs".to_owned()));
    }
    // SAFETY: the call succeeded, so this is a new handle, which nobody else has.
    Ok(unsafe { OwnedHandle::from_raw_handle(port) })
}

fn refused(call: &'static str, code: i32, advice: String) -> EngineSetupError {
    EngineSetupError::Refused { engine: EngineName::Windowsaio, call, code, advice }
}

impl Overlapped {
    fn open(file: &OpenFile, port: &OwnedHandle) -> Result<Overlapped, EngineSetupError> {
        let refused = |call| refused(call, errno::last(), format!("{}: use ioengine=psync", file.path().display()));
        let flags = FILE_FLAG_OVERLAPPED | files::flags(file.mode());
        // SAFETY: the handle of the file is open; no memory is passed.
        let handle = unsafe { ReOpenFile(file.as_fd().as_raw_handle(), files::access(file.mode()), SHARED, flags) };
        if handle == INVALID_HANDLE_VALUE {
            return Err(refused("ReOpenFile"));
        }
        // SAFETY: the call succeeded, so this is a new handle, which nobody else has.
        let handle = unsafe { OwnedHandle::from_raw_handle(handle) };
        // SAFETY: both handles are open; no memory is passed.
        if unsafe { CreateIoCompletionPort(handle.as_raw_handle(), port.as_raw_handle(), 0, 0) }.is_null() {
            return Err(refused("CreateIoCompletionPort"));
        }
        // SAFETY: as above. If the call is refused, every request is reported through the port.
        let skips_port = unsafe {
            SetFileCompletionNotificationModes(handle.as_raw_handle(), FILE_SKIP_COMPLETION_PORT_ON_SUCCESS as u8)
        } != 0;
        Ok(Overlapped { handle, skips_port })
    }
}

impl Engine for Windowsaio<'_> {
    const SYNCHRONOUS: bool = false;

    crate::contract::belongings!(RealClock);

    #[inline]
    fn queue(&mut self, slot: Slot<Self>, op: &Op, done: u64) -> Queued<Self> {
        if !matches!(op.kind, OpKind::Read | OpKind::Write) {
            // Windows has no such request for a port: it is carried out at once.
            let result = control::perform(self.files[op.file as usize].as_fd(), op);
            return Queued::Done(Completion { slot, result });
        }
        assert!(done <= op.length && op.length as usize <= self.arena.stride(), "a request larger than its buffer");
        self.staged.push_back(Staged {
            slot: slot.into_number(),
            file: op.file,
            read: op.kind == OpKind::Read,
            done,
            bytes: (op.length - done) as u32,
            offset: op.offset + done,
        });
        Queued::Staged
    }

    #[inline]
    fn submit(&mut self) -> Result<usize, EngineError> {
        let mut taken = 0;
        while let Some(&staged) = self.staged.front() {
            match self.hand_over(staged) {
                SubmitOutcome::Pending => self.in_port += 1,
                SubmitOutcome::Over(result) => self.ready.push_back((staged.slot, result)),
                // A request will complete soon and make room.
                SubmitOutcome::Starved(_) if self.in_port + self.ready.len() > 0 => break,
                SubmitOutcome::Starved(code) => self.ready.push_back((staged.slot, -i64::from(code))),
            }
            self.staged.pop_front();
            taken += 1;
        }
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
        let min = min.min(max).min(self.in_port + self.ready.len());
        let mut count = self.reap_ready(max, completions);
        if count < max && self.in_port > 0 && count >= min {
            return Ok(count + self.reap_port(max - count, 0, completions)?);
        }
        if count >= min {
            return Ok(count);
        }
        let deadline_ns = timeout.map(|timeout| self.clock.now_ns().saturating_add(timeout.as_nanos() as u64));
        while count < min {
            let wait_ms = self.milliseconds_until(deadline_ns);
            let came = self.reap_port(max - count, wait_ms, completions)?;
            count += came;
            if came == 0 && deadline_ns.is_some_and(|deadline_ns| self.clock.now_ns() >= deadline_ns) {
                break;
            }
        }
        Ok(count)
    }

    fn ways(&self) -> Vec<&'static str> {
        let skips = !self.overlapped.is_empty() && self.overlapped.iter().all(|file| file.skips_port);
        if skips { vec!["skip-port-on-success"] } else { Vec::new() }
    }

    fn cancel(&mut self) -> Result<(), EngineError> {
        for file in &self.overlapped {
            // It is normal that nothing was in flight.
            // SAFETY: the handle is open; without a request the call cancels all requests of the file.
            let _ = unsafe { CancelIoEx(file.handle.as_raw_handle(), std::ptr::null()) };
        }
        Ok(())
    }
}

impl Drop for Windowsaio<'_> {
    fn drop(&mut self) {
        if self.in_port > 0 {
            let _ = self.cancel();
            let mut completions = Vec::with_capacity(self.requests.len());
            let _ = self.reap(usize::MAX, usize::MAX, Some(CANCEL_WAIT), &mut completions);
        }
        if self.in_port == 0 {
            // SAFETY: nothing is in flight, so Windows uses none of the requests; this is the last use.
            unsafe { ManuallyDrop::drop(&mut self.requests) }
            // SAFETY: for the same reason Windows uses none of the buffers.
            unsafe { ManuallyDrop::drop(&mut self.arena) }
        }
        // If requests are left, the device never answered: memory that it may still write to is left to the end of
        // the process.
    }
}
