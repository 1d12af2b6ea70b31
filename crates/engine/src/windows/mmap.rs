//! Transfers by copying from and to a view of the whole file.
//!
//! A read that finds its page in memory makes no system call; any other read causes a page fault, whose time is part
//! of the copy. Windows ends a process that meets a page whose storage has failed; the supervising process reports
//! that. Other programs may map the file as well, so that it is copied by address, and no reference points into a
//! view.

use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::ptr::NonNull;

use fsdyno_job::EngineName;
use fsdyno_workload::{Op, OpKind};
use windows_sys::Win32::System::Memory::{
    CreateFileMappingW, FILE_MAP_READ, FILE_MAP_WRITE, FlushViewOfFile, MEMORY_MAPPED_VIEW_ADDRESS, MapViewOfFile,
    PAGE_READONLY, PAGE_READWRITE, UnmapViewOfFile,
};

use crate::buffers::Arena;
use crate::contract::{Completion, Engine, Queued};
use crate::setup::{EngineSetup, EngineSetupError};
use crate::shared::Mapped;
use crate::slot::Slot;
use fsdyno_os::clock::RealClock;
use fsdyno_os::errno;
use fsdyno_os::fd::{AsFd, BorrowedFd};
use fsdyno_os::files::{FileAccess, OpenFile};
use fsdyno_os::windows::files;

/// The synchronous engine that copies.
#[derive(Debug)]
pub(super) struct Mmap<'a> {
    files: &'a [OpenFile],
    handles: Box<[BorrowedFd<'a>]>,
    views: Box<[View]>,
    arena: Arena,
    clock: RealClock,
}

/// One mapped file.
#[derive(Debug)]
struct View {
    mapped: Mapped,
    /// Whether the file was opened with direct=1: writes go to the file at once. The cache still serves reads.
    direct: bool,
}

impl Drop for View {
    fn drop(&mut self) {
        let address = MEMORY_MAPPED_VIEW_ADDRESS { Value: self.mapped.base.as_ptr().cast() };
        // SAFETY: the address is that of the view; every transfer ended before its `queue` returned.
        let _ = unsafe { UnmapViewOfFile(address) };
    }
}

impl View {
    fn new(file: &OpenFile) -> Result<View, EngineSetupError> {
        let refused = |call, code, advice: &str| EngineSetupError::Refused {
            engine: EngineName::Mmap,
            call,
            code,
            advice: format!("{}: {advice}", file.path().display()),
        };
        let mode = file.mode();
        if mode.access == FileAccess::Write {
            let advice = "a mapping that is written must be opened for reading and writing";
            return Err(refused("CreateFileMapping", errno::EACCES, advice));
        }
        let length = file.size()?;
        if length == 0 {
            let advice = "an empty file cannot be mapped: let the job lay it out (size=)";
            return Err(refused("CreateFileMapping", errno::EINVAL, advice));
        }
        let writable = mode.access == FileAccess::ReadWrite;
        let (pages, rights) =
            if writable { (PAGE_READWRITE, FILE_MAP_READ | FILE_MAP_WRITE) } else { (PAGE_READONLY, FILE_MAP_READ) };
        // SAFETY: the file is open; there are no security attributes and no name, and the length is the file's.
        let mapping = unsafe {
            CreateFileMappingW(file.as_fd().as_raw_handle(), std::ptr::null(), pages, 0, 0, std::ptr::null())
        };
        if mapping.is_null() {
            return Err(refused("CreateFileMapping", errno::last(), "use ioengine=psync"));
        }
        // SAFETY: the call succeeded, so this is a new handle, which nobody else has. The view keeps its object
        // alive.
        let mapping = unsafe { OwnedHandle::from_raw_handle(mapping) };
        // SAFETY: the system chooses the address, so no existing memory is replaced; the whole file is mapped.
        let view = unsafe { MapViewOfFile(mapping.as_raw_handle(), rights, 0, 0, 0) };
        match NonNull::new(view.Value.cast()) {
            Some(base) => Ok(View { mapped: Mapped { base, length, writable }, direct: mode.direct }),
            None => Err(refused("MapViewOfFile", errno::last(), "no address space: lower size or nrfiles")),
        }
    }

    /// Copies between the view and `place`; returns bytes or the negated error number.
    #[inline]
    fn transfer(&self, handle: BorrowedFd<'_>, place: &mut [u8], offset: u64, read: bool) -> i64 {
        // SAFETY: the view covers the whole file, and no reference points into it.
        let moved = unsafe { self.mapped.transfer(place, offset, read) };
        if self.direct
            && !read
            && moved > 0
            && let Err(code) = self.write_back(handle, offset, moved as u64)
        {
            return -i64::from(code);
        }
        moved
    }

    /// Writes the pages of a range to the file, and the file to the storage.
    #[cold]
    fn write_back(&self, handle: BorrowedFd<'_>, offset: u64, length: u64) -> Result<(), i32> {
        // SAFETY: the view covers the whole file.
        let (start, length) = unsafe { self.mapped.pages(offset, length) };
        // SAFETY: the pages lie within this view.
        if unsafe { FlushViewOfFile(start.as_ptr().cast(), length) } == 0 {
            return Err(errno::last());
        }
        files::sync(handle)
    }
}

impl<'a> Mmap<'a> {
    pub(super) fn new(setup: &EngineSetup<'a>) -> Result<Mmap<'a>, EngineSetupError> {
        if setup.options.huge_pages {
            let reason = "Windows has no transparent huge pages: leave thp out".to_owned();
            return Err(EngineSetupError::Option { engine: EngineName::Mmap, option: "thp", reason });
        }
        Ok(Mmap {
            files: setup.files,
            handles: setup.files.iter().map(AsFd::as_fd).collect(),
            views: setup.files.iter().map(View::new).collect::<Result<_, _>>()?,
            arena: setup.arena()?,
            clock: setup.clock,
        })
    }

    #[inline]
    fn perform(&mut self, slot: &Slot<Self>, op: &Op, done: u64) -> i64 {
        let (view, handle) = (&self.views[op.file as usize], self.handles[op.file as usize]);
        let written_back = match op.kind {
            OpKind::Read | OpKind::Write => {
                let place = &mut self.arena.buffer(slot)[done as usize..op.length as usize];
                return view.transfer(handle, place, op.offset + done, op.kind == OpKind::Read);
            }
            OpKind::Sync | OpKind::DataSync => view.write_back(handle, 0, view.mapped.length),
            OpKind::SyncRange => view.write_back(handle, op.offset, op.length),
            // Planning refuses it.
            OpKind::Trim | OpKind::ZoneReset | OpKind::ZoneFinish => Err(errno::EOPNOTSUPP),
        };
        written_back.map_or_else(|code| -i64::from(code), |()| 0)
    }
}

impl Engine for Mmap<'_> {
    const SYNCHRONOUS: bool = true;

    crate::contract::belongings!(RealClock);

    #[inline]
    fn queue(&mut self, slot: Slot<Self>, op: &Op, done: u64) -> Queued<Self> {
        let result = self.perform(&slot, op, done);
        Queued::Done(Completion { slot, result })
    }
}
