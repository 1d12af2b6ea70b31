//! Asks an NVMe namespace how its blocks are formatted.

use std::os::fd::{AsRawFd, BorrowedFd};

use crate::nvme::{Format, Namespace};

/// `_IO('N', 0x40)`
const NVME_IOCTL_ID: u32 = 0x4E40;
/// `_IOWR('N', 0x41, struct nvme_passthru_cmd)`
const NVME_IOCTL_ADMIN_CMD: u32 = 0xC048_4E41;

/// The kernel's `struct nvme_passthru_cmd`, and `struct nvme_uring_cmd`, which is laid out the same.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[expect(missing_docs, reason = "the fields are those of a command in NVMe's specification")]
pub struct Command {
    pub code: u8,
    pub flags: u8,
    pub reserved: u16,
    pub namespace: u32,
    pub words_2_3: [u32; 2],
    pub metadata: u64,
    pub address: u64,
    pub metadata_bytes: u32,
    pub data_bytes: u32,
    pub words_10_15: [u32; 6],
    pub timeout_ms: u32,
    pub reserved_2: u32,
}

const _: () = assert!(size_of::<Command>() == 72);

/// What the device says about the namespace that is open.
///
/// # Errors
/// The errno of the call that failed; ENOTTY: it is no namespace.
pub fn identify(fd: BorrowedFd<'_>) -> Result<Namespace, i32> {
    // SAFETY: this request takes no argument, so no memory is passed.
    let number = unsafe { libc::ioctl(fd.as_raw_fd(), NVME_IOCTL_ID as _) };
    let Ok(number @ 1..) = u32::try_from(number) else { return Err(last_error()) };
    let answer = identified(fd, number, 0)?;
    // Devices that know no extended formats refuse this.
    let extended = identified(fd, number, 5).unwrap_or_else(|_| Box::new([0; 4096]));
    let blocks = u64::from_le_bytes(std::array::from_fn(|place| answer[place]));
    Ok(Namespace { number, blocks, format: Format::of(&answer, &extended).ok_or(libc::EIO)? })
}

/// One of the device's answers about a namespace.
fn identified(fd: BorrowedFd<'_>, namespace: u32, which: u32) -> Result<Box<[u8; 4096]>, i32> {
    let mut answer = Box::new([0u8; 4096]);
    let mut command = Command {
        code: 6,
        namespace,
        address: answer.as_mut_ptr().expose_provenance() as u64,
        data_bytes: answer.len() as u32,
        words_10_15: [which, 0, 0, 0, 0, 0],
        ..Command::default()
    };
    // SAFETY: the command names a buffer of `data_bytes` bytes, which outlives the call.
    match unsafe { libc::ioctl(fd.as_raw_fd(), NVME_IOCTL_ADMIN_CMD as _, &raw mut command) } {
        0 => Ok(answer),
        ..0 => Err(last_error()),
        _ => Err(libc::EIO),
    }
}

fn last_error() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}
