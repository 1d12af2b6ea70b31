//! The targets of a device-mapper device: DM_TABLE_STATUS. The kernel shows the types of targets nowhere else.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

/// Room for the head and about a hundred targets.
const ANSWER_BYTES: usize = 32 << 10;

/// `_IOWR(0xfd, 12, struct dm_ioctl)`
const DM_TABLE_STATUS: u32 = 0xC138_FD0C;

/// The version of the interface that all kernels with this call have.
const VERSION: [u32; 3] = [4, 0, 0];

/// The buffer was too small.
const FLAG_BUFFER_FULL: u32 = 1 << 8;
/// Reading the status of a thin pool must not make it commit.
const FLAG_NO_FLUSH: u32 = 1 << 11;

/// The kernel's `struct dm_ioctl`.
#[repr(C)]
#[derive(Clone, Copy)]
struct MapperHeader {
    version: [u32; 3],
    data_size: u32,
    data_start: u32,
    target_count: u32,
    open_count: i32,
    flags: u32,
    event_number: u32,
    padding: u32,
    device: u64,
    name: [u8; 128],
    uuid: [u8; 129],
    data: [u8; 7],
}

/// The head with room for the answer.
#[repr(C)]
struct Request {
    head: MapperHeader,
    answer: [u8; ANSWER_BYTES - size_of::<MapperHeader>()],
}

const _: () = assert!(size_of::<MapperHeader>() == 312 && size_of::<Request>() == ANSWER_BYTES);

/// Position of the type in the kernel's `struct dm_target_spec`, after start, length, status and the offset of the
/// next target.
const TYPE: std::ops::Range<usize> = 24..40;
const NEXT: std::ops::Range<usize> = 20..24;

/// The types of a device's targets, without repetitions, in the order of its table.
pub(crate) fn targets(control: &Path, major: u32, minor: u32) -> io::Result<Vec<String>> {
    let control = File::open(control)?;
    let mut request = Box::new(Request {
        head: MapperHeader {
            version: VERSION,
            data_size: ANSWER_BYTES as u32,
            data_start: size_of::<MapperHeader>() as u32,
            target_count: 0,
            open_count: 0,
            flags: FLAG_NO_FLUSH,
            event_number: 0,
            padding: 0,
            device: number(major, minor),
            name: [0; 128],
            uuid: [0; 129],
            data: [0; 7],
        },
        answer: [0; ANSWER_BYTES - size_of::<MapperHeader>()],
    });
    // SAFETY: the kernel reads the head of `request` and writes at most `data_size` bytes from its beginning, which is
    // its size; the layout is the kernel's, as asserted above, and all bytes are valid values.
    if unsafe { libc::ioctl(control.as_raw_fd(), DM_TABLE_STATUS as _, std::ptr::from_mut(&mut *request)) } != 0 {
        return Err(io::Error::last_os_error());
    }
    if request.head.flags & FLAG_BUFFER_FULL != 0 {
        return Err(io::Error::other("it has too many targets"));
    }
    let start = (request.head.data_start as usize).saturating_sub(size_of::<MapperHeader>());
    Ok(types(request.answer.get(start..).unwrap_or_default(), request.head.target_count))
}

/// A device number as the kernel writes it into 64 bits.
fn number(major: u32, minor: u32) -> u64 {
    u64::from(minor & 0xff) | u64::from(major) << 8 | u64::from(minor & !0xff) << 12
}

/// The types in an answer with this number of targets; targets outside of the answer are ignored.
fn types(answer: &[u8], count: u32) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut at = 0;
    for _ in 0..count {
        let Some(target) = answer.get(at..) else { break };
        let (Some(name), Some(next)) = (target.get(TYPE), target.get(NEXT)) else { break };
        let name: Vec<u8> = name.iter().copied().take_while(|byte| *byte != 0).collect();
        let name = String::from_utf8_lossy(&name).into_owned();
        if !found.contains(&name) {
            found.push(name);
        }
        // The offset counts from the first target.
        at = u32::from_ne_bytes(next.try_into().unwrap_or_default()) as usize;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(name: &str, next: u32, text: &str) -> Vec<u8> {
        let mut bytes = vec![0; 40];
        bytes[NEXT].copy_from_slice(&next.to_ne_bytes());
        bytes[TYPE][..name.len()].copy_from_slice(name.as_bytes());
        bytes.extend(text.bytes());
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes
    }

    #[test]
    fn each_type_once_and_nothing_from_outside() {
        let mut answer = target("linear", 48, "0");
        answer.extend(target("thin", 96, "128 255"));
        answer.extend(target("linear", 40_000, ""));
        assert_eq!(types(&answer, 3), ["linear", "thin"]);
        assert_eq!(types(&answer, 1), ["linear"]);
        assert_eq!(types(&answer, 9), ["linear", "thin"], "the fourth would be behind the answer");
        assert_eq!(types(&answer[..30], 1), Vec::<String>::new());
    }

    #[test]
    fn numbers_as_the_kernel_writes_them() {
        assert_eq!(number(253, 3), 0xfd03);
        assert_eq!(number(253, 0x1203), 0x0120_fd03);
    }

    #[test]
    fn what_is_not_the_device_mapper_is_refused() {
        assert_eq!(targets(Path::new("/no/such/place"), 253, 0).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert!(targets(Path::new("/dev/null"), 253, 0).is_err(), "this device does not know the call");
    }
}
