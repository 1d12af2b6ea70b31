//! The file or device behind a loop device: LOOP_GET_STATUS64. /sys shows only a name, which another mount namespace
//! may not have.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use crate::mapper::LoopBacking;

const LOOP_GET_STATUS64: u32 = 0x4C05;

/// The kernel's `struct loop_info64`: its first three numbers, then the rest.
#[repr(C)]
struct Status {
    device: u64,
    inode: u64,
    device_of_node: u64,
    others: [u64; 26],
}

const _: () = assert!(size_of::<Status>() == 232);

pub(crate) fn backing(device: &File) -> io::Result<LoopBacking> {
    let mut status = Status { device: 0, inode: 0, device_of_node: 0, others: [0; 26] };
    // SAFETY: the kernel writes one `struct loop_info64`, which has the size of `status`, as asserted above, and all
    // bytes are valid values.
    if unsafe { libc::ioctl(device.as_raw_fd(), LOOP_GET_STATUS64 as _, &raw mut status) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(meaning(&status))
}

/// For a file the third number is 0, or on older kernels the number of its filesystem.
fn meaning(status: &Status) -> LoopBacking {
    match status.device_of_node {
        0 => LoopBacking::File { device: status.device, inode: status.inode },
        same if same == status.device => LoopBacking::File { device: same, inode: status.inode },
        node => LoopBacking::Device(node),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_devices_are_told_apart() {
        let status = |device_of_node| Status { device: 5, inode: 7, device_of_node, others: [0; 26] };
        assert_eq!(meaning(&status(0)), LoopBacking::File { device: 5, inode: 7 });
        assert_eq!(meaning(&status(5)), LoopBacking::File { device: 5, inode: 7 }, "an older kernel");
        assert_eq!(meaning(&status(0x810)), LoopBacking::Device(0x810));
    }

    #[test]
    fn what_is_no_loop_device_says_so() {
        assert!(backing(&File::open("/dev/null").unwrap()).is_err());
    }
}
