//! Zones of block devices: BLKREPORTZONE, BLKRESETZONE, BLKFINISHZONE.

use std::os::fd::{AsRawFd, BorrowedFd};

use crate::zones::{Zone, ZoneAction, ZoneState};

/// `_IOWR(0x12, 130, struct blk_zone_report)`
const BLKREPORTZONE: u32 = 0xC010_1282;
/// `_IOW(0x12, 131, struct blk_zone_range)`
const BLKRESETZONE: u32 = 0x4010_1283;
/// `_IOR(0x12, 132, __u32)`
const BLKGETZONESZ: u32 = 0x8004_1284;
/// `_IOW(0x12, 136, struct blk_zone_range)`
const BLKFINISHZONE: u32 = 0x4010_1288;

/// The kernel counts in these, whatever the block size of the device is.
const SECTOR_BYTES: u64 = 512;

/// Zones per call.
const ZONES_AT_ONCE: usize = 256;

/// The answer says what can be written of each zone (Linux 5.9).
const HAS_CAPACITY: u32 = 1;

/// The kernel's `struct blk_zone`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Reported {
    start: u64,
    length: u64,
    write_pointer: u64,
    kind: u8,
    condition: u8,
    others: [u8; 6],
    capacity: u64,
    reserved: [u8; 24],
}

/// The kernel's `struct blk_zone_report`, with its zones.
#[repr(C)]
struct Report {
    sector: u64,
    count: u32,
    flags: u32,
    zones: [Reported; ZONES_AT_ONCE],
}

const _: () = assert!(size_of::<Reported>() == 64 && size_of::<Report>() == 16 + 64 * ZONES_AT_ONCE);

/// The zones from the one that contains `from` to the one before `to`, bytes.
pub(crate) fn report(fd: BorrowedFd<'_>, from: u64, to: u64) -> Result<Vec<Zone>, i32> {
    let nothing = Reported {
        start: 0,
        length: 0,
        write_pointer: 0,
        kind: 0,
        condition: 0,
        others: [0; 6],
        capacity: 0,
        reserved: [0; 24],
    };
    let mut zones: Vec<Zone> = Vec::new();
    let mut next = from;
    while next < to {
        let mut report = Box::new(Report {
            sector: next / SECTOR_BYTES,
            count: ZONES_AT_ONCE as u32,
            flags: 0,
            zones: [nothing; ZONES_AT_ONCE],
        });
        // SAFETY: the kernel reads the head and writes at most `count` zones behind it, for which there is room; the
        // layout is the kernel's, as asserted above, and all bytes are valid values.
        checked(unsafe { libc::ioctl(fd.as_raw_fd(), BLKREPORTZONE as _, std::ptr::from_mut(&mut *report)) })?;
        let found = &report.zones[..ZONES_AT_ONCE.min(report.count as usize)];
        let has_capacity = report.flags & HAS_CAPACITY != 0;
        zones.extend(found.iter().map(|zone| meaning(zone, has_capacity)).filter(|zone| zone.start < to));
        match found.last() {
            Some(last) if last.length > 0 => next = (last.start + last.length).saturating_mul(SECTOR_BYTES),
            _ => break,
        }
    }
    Ok(zones)
}

/// Whether a device has zones.
pub fn are_in(fd: BorrowedFd<'_>) -> bool {
    let mut sectors: u32 = 0;
    // SAFETY: the request writes a 32-bit number, which `sectors` holds until the call returns.
    checked(unsafe { libc::ioctl(fd.as_raw_fd(), BLKGETZONESZ as _, &raw mut sectors) }).is_ok() && sectors > 0
}

/// The result of a call that returns -1 and sets errno.
fn checked(answer: libc::c_int) -> Result<(), i32> {
    if answer == 0 { Ok(()) } else { Err(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)) }
}

fn meaning(zone: &Reported, has_capacity: bool) -> Zone {
    const CONVENTIONAL: u8 = 1;
    let state = match (zone.kind, zone.condition) {
        (CONVENTIONAL, 0) => ZoneState::Conventional,
        (_, 1) => ZoneState::Empty,
        (_, 2..=4) => ZoneState::Active,
        (_, 14) => ZoneState::Full,
        _ => ZoneState::Unusable,
    };
    let capacity = if has_capacity { zone.capacity } else { zone.length };
    let written = match state {
        ZoneState::Conventional => zone.length,
        ZoneState::Empty => 0,
        ZoneState::Active => zone.write_pointer.saturating_sub(zone.start),
        // The write pointer has no meaning.
        ZoneState::Full | ZoneState::Unusable => capacity,
    };
    let [start, length, capacity, written] =
        [zone.start, zone.length, capacity, written].map(|sectors| sectors.saturating_mul(SECTOR_BYTES));
    Zone { start, length, capacity, written, state }
}

/// Has the device do this with the zones of a range.
///
/// # Errors
/// errno.
pub fn manage(fd: BorrowedFd<'_>, action: ZoneAction, offset: u64, length: u64) -> Result<(), i32> {
    let request = match action {
        ZoneAction::Reset => BLKRESETZONE,
        ZoneAction::Finish => BLKFINISHZONE,
    };
    let range = [offset / SECTOR_BYTES, length / SECTOR_BYTES];
    // SAFETY: the request reads two 64-bit numbers, which `range` holds until the call returns.
    checked(unsafe { libc::ioctl(fd.as_raw_fd(), request as _, range.as_ptr()) })
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;

    fn reported(kind: u8, condition: u8, write_pointer: u64) -> Reported {
        Reported {
            start: 80,
            length: 20,
            write_pointer,
            kind,
            condition,
            others: [0; 6],
            capacity: 15,
            reserved: [0; 24],
        }
    }

    #[test]
    fn sectors_are_bytes_and_a_full_zone_has_no_write_pointer() {
        let zone = |written, state| Zone { start: 40960, length: 10240, capacity: 7680, written, state };
        assert_eq!(meaning(&reported(2, 1, 80), true), zone(0, ZoneState::Empty));
        assert_eq!(meaning(&reported(2, 4, 84), true), zone(2048, ZoneState::Active));
        assert_eq!(meaning(&reported(2, 14, u64::MAX), true), zone(7680, ZoneState::Full));
        assert_eq!(meaning(&reported(2, 15, u64::MAX), true), zone(7680, ZoneState::Unusable));
        let conventional = meaning(&reported(1, 0, u64::MAX), false);
        assert_eq!((conventional.written, conventional.state), (10240, ZoneState::Conventional));
    }

    #[test]
    fn what_has_no_zones_says_so() {
        let file = std::fs::File::open("/dev/null").unwrap();
        assert_eq!(report(file.as_fd(), 0, 4096), Err(libc::ENOTTY));
        assert_eq!(manage(file.as_fd(), ZoneAction::Reset, 0, 4096), Err(libc::ENOTTY));
    }
}
