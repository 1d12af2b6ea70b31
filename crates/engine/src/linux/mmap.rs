//! Transfers by copying from and to a mapping of the whole file.
//!
//! A read that finds its page in memory makes no system call; any other read causes a page fault, whose time is part
//! of the copy. A page that cannot be read (the file was shortened, its storage failed) is an error of the transfer:
//! see `bus`. Other programs may map the file as well, so that it is copied by address, and no reference points into
//! a mapping.

use std::ptr::NonNull;

use fsdyno_job::EngineName;
use fsdyno_workload::{Op, OpKind};
use rustix::mm::{Advice as MapAdvice, MapFlags, MsyncFlags, ProtFlags};

use super::bus::BusErrorWatch;
use super::control::{self, Target};
use crate::buffers::Arena;
use crate::contract::{Completion, Engine, EngineError, Queued};
use crate::setup::{EngineSetup, EngineSetupError};
use crate::shared::Mapped;
use crate::slot::Slot;
use fsdyno_os::clock::RealClock;
use fsdyno_os::files::{Advice, FileAccess, OpenFile};
use fsdyno_os::memory;

/// The synchronous engine that copies.
#[derive(Debug)]
pub(crate) struct Mmap<'a> {
    files: &'a [OpenFile],
    targets: Box<[Target<'a>]>,
    /// Declared before the mappings, because it must be dropped before them.
    watch: BusErrorWatch,
    maps: Vec<Map>,
    advice: Advice,
    huge_pages: bool,
    arena: Arena,
    clock: RealClock,
}

/// One mapped file. A mapping of no bytes stands for no file.
#[derive(Debug)]
struct Map {
    mapped: Mapped,
    /// Index of the open file.
    place: usize,
    /// Whether the file was opened with direct=1: each transfer writes its pages back and drops them from the
    /// mapping. A mapping cannot come nearer to direct I/O (the page cache still serves it).
    direct: bool,
    /// Whether a page could not be read and was replaced, so that it is no longer the file's.
    torn: bool,
}

impl Drop for Map {
    fn drop(&mut self) {
        if self.mapped.length > 0 {
            // SAFETY: address and length are those of the mapping; every transfer ended before its `queue` returned.
            unsafe { memory::unmap(self.mapped.base, self.mapped.length as usize) }
        }
    }
}

impl Map {
    const NONE: Map = Map {
        mapped: Mapped { base: NonNull::dangling(), length: 0, writable: false },
        place: usize::MAX,
        direct: false,
        torn: false,
    };

    fn new(files: &[OpenFile], place: usize, advice: Advice, huge_pages: bool) -> Result<Map, EngineSetupError> {
        let file = &files[place];
        let refused = |code, advice: &str| EngineSetupError::Refused {
            engine: EngineName::Mmap,
            call: "mmap",
            code,
            advice: format!("{}: {advice}", file.path().display()),
        };
        let mode = file.mode();
        if mode.access == FileAccess::Write {
            return Err(refused(libc::EACCES, "a mapping that is written must be opened for reading and writing"));
        }
        let length = file.size()?;
        if length == 0 {
            return Err(refused(libc::EINVAL, "an empty file cannot be mapped: let the job lay it out (size=)"));
        }
        let mut protection = ProtFlags::READ;
        protection.set(ProtFlags::WRITE, mode.access == FileAccess::ReadWrite);
        let mapped_bytes =
            usize::try_from(length).map_err(|_| refused(libc::EFBIG, "larger than the address space"))?;
        // SAFETY: the kernel chooses the address, so no existing mapping is replaced.
        let address =
            unsafe { rustix::mm::mmap(std::ptr::null_mut(), mapped_bytes, protection, MapFlags::SHARED, file, 0) };
        let address = address.map_err(|error| match error.raw_os_error() {
            code @ libc::ENODEV => refused(code, "this file or file system cannot be mapped: use ioengine=psync"),
            code @ libc::ENOMEM => refused(
                code,
                "no address space or too many mappings (ulimit -v, vm.max_map_count): lower size or nrfiles",
            ),
            code => refused(code, "use ioengine=psync"),
        })?;
        let base = NonNull::new(address.cast()).expect("mmap never maps address 0 unasked");
        let direct = mode.direct;
        let mapped = Mapped { base, length, writable: mode.access == FileAccess::ReadWrite };
        let map = Map { mapped, place, direct, torn: false };
        map.advise(advice);
        if huge_pages {
            map.ask_for_huge_pages()?;
        }
        Ok(map)
    }

    /// `thp`: asks for huge pages. The mapping stays shared, so that written data reaches the file.
    fn ask_for_huge_pages(&self) -> Result<(), EngineSetupError> {
        // SAFETY: the range is exactly this mapping, and the advice does not change what it holds.
        let asked = unsafe {
            rustix::mm::madvise(self.mapped.base.as_ptr().cast(), self.mapped.length as usize, MapAdvice::LinuxHugepage)
        };
        asked.map_err(|error| EngineSetupError::Option {
            engine: EngineName::Mmap,
            option: "thp",
            reason: format!("{error}; the kernel has no transparent huge pages: leave thp out"),
        })
    }

    fn advise(&self, advice: Advice) {
        let advice = match advice {
            Advice::Normal | Advice::NoReuse => MapAdvice::Normal,
            Advice::Random => MapAdvice::Random,
            Advice::Sequential => MapAdvice::Sequential,
            // The mapping is new, so that no page has to be dropped.
            Advice::DontNeed => return,
        };
        // SAFETY: the range is exactly this mapping, and none of these pieces of advice changes its content. Refused
        // advice costs read-ahead, not correctness.
        let _ = unsafe { rustix::mm::madvise(self.mapped.base.as_ptr().cast(), self.mapped.length as usize, advice) };
    }

    /// Copies between the mapping and `place`; returns bytes or the negated errno.
    #[inline]
    fn transfer(&self, place: &mut [u8], offset: u64, read: bool) -> i64 {
        if self.torn {
            return -i64::from(libc::EIO);
        }
        // SAFETY: the whole file is mapped, and no reference points into it.
        let moved = unsafe { self.mapped.transfer(place, offset, read) };
        if self.direct
            && moved > 0
            && let Err(code) = self.give_up(offset, moved as u64, read)
        {
            return -i64::from(code);
        }
        moved
    }

    #[cold]
    fn give_up(&self, offset: u64, length: u64, read: bool) -> Result<(), i32> {
        if !read {
            self.write_back(offset, length)?;
        }
        let (start, length) = self.pages(offset, length);
        // SAFETY: the pages lie within this shared mapping; giving them up loses nothing, the file holds them.
        let outcome = unsafe { rustix::mm::madvise(start.as_ptr().cast(), length, MapAdvice::LinuxDontNeed) };
        outcome.map_err(|error| error.raw_os_error())
    }

    /// msync of the pages of a range.
    fn write_back(&self, offset: u64, length: u64) -> Result<(), i32> {
        let (start, length) = self.pages(offset, length);
        // SAFETY: the pages lie within this mapping.
        let outcome = unsafe { rustix::mm::msync(start.as_ptr().cast(), length, MsyncFlags::SYNC) };
        outcome.map_err(|error| error.raw_os_error())
    }

    /// After a transfer met a page that could not be read: maps the file's pages again in place of the zeros, so that
    /// the next access asks the file. Returns the errno.
    #[cold]
    fn mend(&mut self, file: &OpenFile, offset: u64, length: u64, read: bool) -> i32 {
        let (start, bytes) = self.pages(offset, length);
        let mut protection = ProtFlags::READ;
        protection.set(ProtFlags::WRITE, self.mapped.writable);
        let offset = start.as_ptr().addr() as u64 - self.mapped.base.as_ptr().addr() as u64;
        let flags = MapFlags::SHARED | MapFlags::FIXED;
        // SAFETY: the range lies within this mapping, which is the engine's alone, and is mapped again as it was before.
        let mapped = unsafe { rustix::mm::mmap(start.as_ptr().cast(), bytes, protection, flags, file, offset) };
        self.torn = mapped.is_err();
        // A write into a hole needs space, which may be missing at this moment.
        let full = || rustix::fs::fstatvfs(file).is_ok_and(|space| space.f_bavail == 0);
        if !read && full() { libc::ENOSPC } else { libc::EIO }
    }

    fn pages(&self, offset: u64, length: u64) -> (NonNull<u8>, usize) {
        // SAFETY: the whole file is mapped.
        unsafe { self.mapped.pages(offset, length) }
    }
}

impl<'a> Mmap<'a> {
    pub(crate) fn new(setup: &EngineSetup<'a>) -> Result<Mmap<'a>, EngineSetupError> {
        let (advice, huge_pages) = (setup.advice, setup.options.huge_pages);
        let map = |place| Map::new(setup.files, place, advice, huge_pages);
        let maps: Vec<Map> = (0..setup.files.len()).map(map).collect::<Result<_, _>>()?;
        Ok(Mmap {
            files: setup.files,
            targets: Target::all(setup.files, &setup.options),
            watch: BusErrorWatch::begin(ranges(&maps)),
            maps,
            advice,
            huge_pages,
            arena: setup.arena()?,
            clock: setup.clock,
        })
    }

    #[inline]
    fn perform(&mut self, slot: &Slot<Self>, op: &Op, done: u64) -> i64 {
        let map = &self.maps[op.file as usize];
        let written_back = match op.kind {
            OpKind::Read | OpKind::Write => {
                let place = &mut self.arena.buffer(slot)[done as usize..op.length as usize];
                let (offset, bytes, read) = (op.offset + done, place.len() as u64, op.kind == OpKind::Read);
                let result = map.transfer(place, offset, read);
                if self.watch.take_bus_error() {
                    let map = &mut self.maps[op.file as usize];
                    return -i64::from(map.mend(&self.files[map.place], offset, bytes, read));
                }
                return result;
            }
            // msync cannot sync only the data, so that both syncs are the same.
            OpKind::Sync | OpKind::DataSync => map.write_back(0, map.mapped.length),
            OpKind::SyncRange => map.write_back(op.offset, op.length),
            _ => return control::perform(self.targets[op.file as usize], op, done, 0),
        };
        written_back.map_or_else(|code| -i64::from(code), |()| 0)
    }
}

/// Address and length of each mapping.
fn ranges(maps: &[Map]) -> impl Iterator<Item = (usize, usize)> {
    let mapped = maps.iter().filter(|map| map.mapped.length > 0);
    mapped.map(|map| (map.mapped.base.as_ptr().addr(), map.mapped.length as usize))
}

impl Engine for Mmap<'_> {
    const SYNCHRONOUS: bool = true;

    crate::contract::belongings!(RealClock);

    fn reassign(&mut self, place: usize, file: u32) -> Result<(), EngineError> {
        if let Some(before) = self.maps.iter_mut().find(|map| map.place == place) {
            *before = Map::NONE;
        }
        let file_max = self.maps.len().max(file as usize + 1);
        self.maps.resize_with(file_max, || Map::NONE);
        let map = Map::new(self.files, place, self.advice, self.huge_pages);
        self.maps[file as usize] = map.map_err(|error| EngineError { call: "mmap", code: error.code() })?;
        self.watch.watch(ranges(&self.maps));
        Target::reassign(&mut self.targets, file, &self.files[place]);
        Ok(())
    }

    #[inline]
    fn queue(&mut self, slot: Slot<Self>, op: &Op, done: u64) -> Queued<Self> {
        let result = self.perform(&slot, op, done);
        Queued::Done(Completion { slot, result })
    }
}
