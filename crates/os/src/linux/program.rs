//! Reduces the memory that this process uses for the program's files.

use std::ffi::{c_int, c_void};
use std::ops::Range;

use rustix::mm::Advice;

/// Removes the pages of the code and constants of the program and its libraries from this process's memory. The
/// system keeps them in its cache, and maps those that are needed again one by one. Most of these pages were only
/// needed at the start, or never: the kernel maps fifteen neighbours with each page. A build with debug assertions keeps
/// its pages: it is ten times as large, and tests start it thousands of times.
pub fn release_program_pages() {
    if !cfg!(debug_assertions) {
        release_objects();
    }
}

/// Returns the number of ranges.
fn release_objects() -> usize {
    let mut released = 0_usize;
    // SAFETY: the function has the type that is asked for, and the count outlives the call, the only one that gets it.
    unsafe { libc::dl_iterate_phdr(Some(release_object), (&raw mut released).cast()) };
    released
}

/// Releases the pages of the program or of one of its libraries.
unsafe extern "C" fn release_object(object: *mut libc::dl_phdr_info, _bytes: usize, released: *mut c_void) -> c_int {
    // SAFETY: the linker describes an object that stays mapped during the call, and hands on the count of the caller,
    // which nobody else looks at meanwhile.
    let (object, released) = unsafe { (&*object, &mut *released.cast::<usize>()) };
    // SAFETY: asking the kernel's list for a value changes nothing.
    let kernel_code = unsafe { libc::getauxval(libc::AT_SYSINFO_EHDR) };
    if object.dlpi_phdr.is_null() || object.dlpi_addr == kernel_code {
        return 0;
    }
    // SAFETY: there is this number of headers from there on, in the mapped object itself.
    let headers = unsafe { std::slice::from_raw_parts(object.dlpi_phdr, object.dlpi_phnum.into()) };
    let page = rustix::param::page_size();
    let ranges = headers.iter().filter_map(|header| unwritten(header, object.dlpi_addr as usize, page));
    *released += ranges.filter(let_go).count();
    0
}

/// The whole pages of a part of an object that is mapped from its file and not writable.
fn unwritten(header: &libc::Elf64_Phdr, base: usize, page: usize) -> Option<Range<usize>> {
    let constant = header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_W == 0;
    let start = base.wrapping_add(header.p_vaddr as usize);
    let end = start.wrapping_add(header.p_memsz as usize);
    constant.then(|| start & !(page - 1)..end.next_multiple_of(page))
}

fn let_go(range: &Range<usize>) -> bool {
    let start = std::ptr::without_provenance_mut(range.start);
    // SAFETY: the range is a part of an object that the linker has mapped from its file, without the right to write: each
    // page is the page cache's page of that file. Touched again, the same page comes back. (Somebody who writes into a
    // library's file changes it under every process that runs it, whether its pages are let go of or not; a debugger's
    // break points are in pages of the process, and are lost.)
    unsafe { rustix::mm::madvise(start, range.len(), Advice::LinuxDontNeed) }.is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_pages_of_what_is_never_written_are_let_go_of() {
        let header = libc::Elf64_Phdr {
            p_type: libc::PT_LOAD,
            p_flags: libc::PF_R | libc::PF_X,
            p_offset: 0x1234,
            p_vaddr: 0x1234,
            p_paddr: 0x1234,
            p_filesz: 0x2000,
            p_memsz: 0x2000,
            p_align: 0x1000,
        };
        assert_eq!(unwritten(&header, 0x40_0000, 0x1000), Some(0x40_1000..0x40_4000));
        let constants = libc::Elf64_Phdr { p_flags: libc::PF_R, ..header };
        assert_eq!(unwritten(&constants, 0, 0x1000), Some(0x1000..0x4000));
        let data = libc::Elf64_Phdr { p_flags: libc::PF_R | libc::PF_W, ..header };
        assert_eq!(unwritten(&data, 0x40_0000, 0x1000), None, "the process has its own copies of these pages");
        let relocated = libc::Elf64_Phdr { p_type: libc::PT_GNU_RELRO, p_flags: libc::PF_R, ..header };
        assert_eq!(unwritten(&relocated, 0x40_0000, 0x1000), None, "a part of data");
    }

    #[test]
    fn the_program_goes_on_without_its_code() {
        assert!(release_objects() >= 2, "the program and a library");
        assert_eq!(std::hint::black_box(usage_of_much()), 499_500);
    }

    /// A function that is compiled in and called.
    #[inline(never)]
    fn usage_of_much() -> u64 {
        (0..1000).map(std::hint::black_box).sum()
    }
}
