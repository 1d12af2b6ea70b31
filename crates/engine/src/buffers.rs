//! The buffers that requests read into and write from: one arena per worker, with one place for each slot.

use std::ptr::NonNull;

use fsdyno_job::Memory;

use crate::slot::Slot;
use fsdyno_os::memory;

/// Size and kind of an arena.
#[derive(Clone, Debug)]
pub struct ArenaShape {
    /// Number of places (1 and up).
    pub depth: u32,
    /// Bytes of the largest transfer (0 counts as 1).
    pub block_bytes_max: u64,
    /// Alignment of each place in bytes, a power of two; 0, or a value below the page size, means the page size.
    pub align: u32,
    /// The kind of memory.
    pub memory: Memory,
}

/// Why an arena could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ArenaError {
    /// The alignment is not a power of two.
    #[error("iomem_align={align}: not a power of two; leave it out for page alignment")]
    Align {
        /// The alignment asked for, bytes.
        align: u32,
    },
    /// Depth times block size does not fit the address space.
    #[error("iodepth={depth} x {block_bytes_max} bytes of buffers exceed the address space: lower iodepth or bs")]
    TooLarge {
        /// The depth asked for.
        depth: u32,
        /// The block size asked for, bytes.
        block_bytes_max: u64,
    },
    /// The system refused.
    #[error(
        "{bytes} bytes of buffers: {text}; lower iodepth or bs, or raise the memory limit (ulimit -v, cgroup)",
        text = std::io::Error::from_raw_os_error(*code)
    )]
    Refused {
        /// Bytes asked for.
        bytes: usize,
        /// errno.
        code: i32,
    },
    /// `hugepage-size` is not a page size of this system.
    #[error("hugepage-size={bytes}: not a power of two; write 2m, or another size in /sys/kernel/mm/hugepages")]
    PageSize {
        /// The page size asked for, bytes.
        bytes: u64,
    },
    /// A file cannot be used as memory.
    #[error(
        "mem: {path}: {text}; name a file that can be written, with space for all buffers",
        text = std::io::Error::from_raw_os_error(*code)
    )]
    File {
        /// Path of the file.
        path: String,
        /// errno.
        code: i32,
    },
    /// Memory could not be locked.
    #[error(
        "lockmem={bytes}: {text}; raise the limit (ulimit -l), or lower lockmem",
        text = std::io::Error::from_raw_os_error(*code)
    )]
    Locked {
        /// Bytes asked for.
        bytes: u64,
        /// errno.
        code: i32,
    },
    /// There are not enough huge pages.
    #[error(
        "mem: {pages} huge pages of {page_bytes} bytes: {text}; reserve them with \
         `sysctl -w vm.nr_hugepages={pages}` (more if others use some) or leave mem out",
        text = std::io::Error::from_raw_os_error(*code)
    )]
    HugePages {
        /// Number of pages needed.
        pages: usize,
        /// Size of a page, bytes.
        page_bytes: usize,
        /// errno.
        code: i32,
    },
}

/// One mapping with `depth` places. Pages that no request touches cost no memory.
#[derive(Debug)]
pub struct Arena {
    /// Address of the first place.
    base: NonNull<u8>,
    stride: usize,
    depth: usize,
    mapping: NonNull<u8>,
    mapping_bytes: usize,
}

// SAFETY: the arena owns its mapping alone, and memory is not bound to a thread.
unsafe impl Send for Arena {}

impl Arena {
    /// Maps the memory; no page of it is touched.
    pub fn new(shape: &ArenaShape) -> Result<Arena, ArenaError> {
        let &ArenaShape { depth, block_bytes_max, align, ref memory } = shape;
        if align != 0 && !align.is_power_of_two() {
            return Err(ArenaError::Align { align });
        }
        let page_bytes = match memory {
            Memory::Anonymous | Memory::Shared | Memory::Segment => memory::page_bytes(),
            Memory::Huge(0) | Memory::HugeSegment(0) => memory::huge_page_bytes(),
            &Memory::Huge(bytes) | &Memory::HugeSegment(bytes) => usize::try_from(bytes)
                .ok()
                .filter(|bytes| bytes.is_power_of_two())
                .ok_or(ArenaError::PageSize { bytes })?,
            Memory::File { path, .. } => memory::file_page_bytes(&fsdyno_os::written::path(path)),
        };
        let align = (align as usize).max(memory::page_bytes());
        let stride =
            usize::try_from(block_bytes_max).ok().and_then(|bytes| bytes.max(1).checked_next_multiple_of(align));
        // A mapping begins at a page boundary; for a stricter alignment, a longer mapping is made.
        let slack = align.saturating_sub(page_bytes);
        let too_large = ArenaError::TooLarge { depth, block_bytes_max };
        let Some(stride) = stride else { return Err(too_large) };
        let mapping_bytes = stride
            .checked_mul(depth as usize)
            .and_then(|bytes| bytes.checked_add(slack))
            .and_then(|bytes| bytes.checked_next_multiple_of(page_bytes))
            .filter(|bytes| *bytes <= isize::MAX as usize)
            .ok_or(too_large)?;
        let mapping = memory::map(mapping_bytes, memory).map_err(|code| match memory {
            Memory::Anonymous | Memory::Shared | Memory::Segment => ArenaError::Refused { bytes: mapping_bytes, code },
            Memory::Huge(_) | Memory::HugeSegment(_) => {
                ArenaError::HugePages { pages: mapping_bytes / page_bytes, page_bytes, code }
            }
            Memory::File { path, .. } => ArenaError::File { path: path.clone(), code },
        })?;
        let padding = mapping.as_ptr().align_offset(align);
        assert!(padding <= slack);
        // SAFETY: `padding` is at most `slack`, by which the mapping is longer than its places.
        let base = unsafe { mapping.add(padding) };
        Ok(Arena { base, stride, depth: depth as usize, mapping, mapping_bytes })
    }

    /// Touches the pages of the places, so that they exist; of many places only the first ones, which are used first.
    pub(crate) fn populate(&self) {
        const BYTES_MAX: usize = 256 << 20;
        memory::populate(self.mapping, self.mapping_bytes.min(BYTES_MAX));
    }

    /// Bytes of each place: the largest transfer, rounded up to the alignment.
    #[inline]
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// Number of places.
    #[inline]
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// The buffer of a slot.
    #[inline]
    pub fn buffer<E>(&mut self, slot: &Slot<E>) -> &mut [u8] {
        let address = self.address(slot.index());
        // SAFETY: `address` checked the index; the place is mapped, initialised (zeroed by the kernel) and borrowed
        // from `self` alone. The caller has the slot, so no request that could write here is in flight.
        unsafe { std::slice::from_raw_parts_mut(address, self.stride) }
    }

    /// Address of a place.
    #[inline]
    pub(crate) fn address(&self, index: usize) -> *mut u8 {
        assert!(index < self.depth, "slot of another worker");
        // SAFETY: the index is within the mapping, which `new` sized for `depth` places.
        unsafe { self.base.as_ptr().add(index * self.stride) }
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: these are the values of `new`. Engines whose requests may still be in flight forget the arena
        // instead of dropping it.
        unsafe { memory::unmap(self.mapping, self.mapping_bytes) }
    }
}

/// Memory that stays locked as long as this value lives, so that no other program can use it.
#[derive(Debug)]
pub struct LockedMemory {
    _memory: Option<Arena>,
}

impl LockedMemory {
    /// Locks this number of bytes; 0 locks none.
    pub fn new(bytes: u64) -> Result<LockedMemory, ArenaError> {
        const PART_BYTES: u64 = 1 << 30;
        if bytes == 0 {
            return Ok(LockedMemory { _memory: None });
        }
        let refused = |code| ArenaError::Locked { bytes, code };
        let depth = u32::try_from(bytes.div_ceil(PART_BYTES)).map_err(|_| refused(fsdyno_os::errno::ENOMEM))?;
        let block_bytes_max = bytes.div_ceil(depth.into());
        let memory = Arena::new(&ArenaShape { depth, block_bytes_max, align: 0, memory: Memory::Anonymous })?;
        memory::lock(memory.mapping, memory.mapping_bytes).map_err(refused)?;
        Ok(LockedMemory { _memory: Some(memory) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slot::Slots;

    fn shape(depth: u32, block_bytes_max: u64, align: u32) -> ArenaShape {
        ArenaShape { depth, block_bytes_max, align, memory: Memory::Anonymous }
    }

    #[test]
    fn places_are_aligned_zeroed_and_apart() {
        for align in [0, 512, 4096, 65536, 4 << 20] {
            let mut arena = Arena::new(&shape(3, 5000, align)).unwrap();
            let expected = (align as usize).max(memory::page_bytes());
            assert_eq!(arena.stride(), 5000usize.next_multiple_of(expected));
            let mut slots = Slots::<()>::new(3);
            let taken: Vec<Slot<()>> = std::iter::from_fn(|| slots.take()).collect();
            for slot in &taken {
                let place = arena.buffer(slot);
                assert_eq!(place.as_ptr().align_offset(expected), 0);
                assert!(place.iter().all(|byte| *byte == 0));
                place.fill(slot.index() as u8 + 1);
            }
            for slot in &taken {
                assert!(arena.buffer(slot).iter().all(|byte| *byte == slot.index() as u8 + 1));
            }
        }
    }

    #[test]
    fn untouched_memory_is_not_needed() {
        // 1 TiB of places: far more than the memory of the machine.
        let mut arena = Arena::new(&shape(1 << 20, 1 << 20, 0)).unwrap();
        let mut slots = Slots::<()>::new(1 << 20);
        arena.buffer(&slots.take().unwrap())[0] = 1;
    }

    #[test]
    fn errors_name_the_next_step() {
        let crooked = Arena::new(&shape(1, 4096, 3000)).unwrap_err().to_string();
        assert!(crooked.contains("iomem_align=3000"), "{crooked}");
        let large = Arena::new(&shape(u32::MAX, u32::MAX.into(), 0)).unwrap_err().to_string();
        assert!(large.contains("iodepth=4294967295"), "{large}");
    }

    #[test]
    fn huge_pages_come_or_name_the_sysctl() {
        for memory in [Memory::Huge(0), Memory::Huge(2 << 20), Memory::HugeSegment(0)] {
            if let Err(error) = Arena::new(&ArenaShape { memory, ..shape(2, 4096, 0) }) {
                assert!(error.to_string().contains("vm.nr_hugepages="), "{error}");
            }
        }
        let odd = ArenaShape { memory: Memory::Huge(3 << 20), ..shape(2, 4096, 0) };
        assert!(Arena::new(&odd).unwrap_err().to_string().contains("hugepage-size=3145728"));
    }

    /// The first byte of a new place; the place is overwritten afterwards.
    fn used(memory: &Memory) -> u8 {
        let mut arena = Arena::new(&ArenaShape { memory: memory.clone(), ..shape(2, 4096, 0) }).unwrap();
        let place_of = arena.buffer(&Slots::<()>::new(2).take().unwrap());
        let first = place_of[0];
        place_of.fill(0x77);
        first
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn memory_is_of_every_kind() {
        for memory in [Memory::Shared, Memory::Segment] {
            assert_eq!([used(&memory), used(&memory)], [0, 0], "{memory:?}");
        }
        let directory = tempfile::tempdir().unwrap();
        for shared in [false, true] {
            let path = directory.path().join(shared.to_string());
            std::fs::write(&path, "content of somebody").unwrap();
            let memory = Memory::File { path: fsdyno_job::bytes::shown(&path), shared };
            used(&memory);
            let held = std::fs::read(&path).unwrap();
            assert!(held.len() >= 8192, "it has grown");
            assert_eq!(held.contains(&0x77), shared, "a private mapping changes nothing");
        }
        let absent =
            Memory::File { path: fsdyno_job::bytes::shown(&directory.path().join("absent/file")), shared: true };
        let error = Arena::new(&ArenaShape { memory: absent, ..shape(1, 4096, 0) }).unwrap_err().to_string();
        assert!(error.contains("absent/file"), "{error}");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn memory_is_locked_or_the_limit_is_named() {
        assert!(LockedMemory::new(0).is_ok());
        if let Err(error) = LockedMemory::new(64 << 10) {
            assert!(error.to_string().contains("ulimit -l"), "{error}");
        }
    }

    #[test]
    #[should_panic(expected = "slot of another worker")]
    fn foreign_slots_are_refused() {
        let mut arena = Arena::new(&shape(1, 4096, 0)).unwrap();
        let mut slots = Slots::<()>::new(2);
        let _first = slots.take();
        arena.buffer(&slots.take().unwrap());
    }
}
