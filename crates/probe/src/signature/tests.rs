//! Each signature is written to its place on a device of zeroes. Devices that real tools have formatted are in the
//! tests of the program.

use std::io::Cursor;

use super::*;

/// Larger than head and tail together, and not a multiple of the units of any format.
const SIZE: u64 = (4 << 20) + 24_576 + 512;

/// A device of zeroes that contains these bytes.
struct Device(Vec<u8>);

impl Device {
    fn new() -> Device {
        Device(vec![0; SIZE as usize])
    }

    fn with(mut self, offset: u64, bytes: &[u8]) -> Device {
        let start = offset as usize;
        self.0[start..start + bytes.len()].copy_from_slice(bytes);
        self
    }

    fn holds(&self) -> Option<&'static str> {
        signature_of(&Ends::read(Cursor::new(&self.0), Some(self.0.len() as u64)).unwrap())
    }
}

#[test]
fn each_mark_is_seen_at_its_place() {
    for mark in MARKS {
        let offset = u64::from(mark.offset);
        let offset = if mark.from_end { SIZE - offset } else { offset };
        assert_eq!(Device::new().with(offset, mark.bytes).holds(), Some(mark.name), "at {offset}");
    }
}

#[test]
fn zeroes_and_short_devices_hold_nothing() {
    assert_eq!(Device::new().holds(), None);
    for bytes in [&b""[..], b"XF", &[0; 512], &[0xff; 70_000]] {
        assert_eq!(Device(bytes.to_vec()).holds(), None, "{} bytes", bytes.len());
    }
    assert_eq!(Device(b"XFSB".to_vec()).holds(), Some("an xfs filesystem"));
}

#[test]
fn without_a_size_the_head_alone_is_judged() {
    let device = Device::new().with(SIZE - 512, b"EFI PART");
    assert_eq!(device.holds(), Some("a partition table (GPT)"));
    assert_eq!(signature_of(&Ends::read(Cursor::new(&device.0), None).unwrap()), None);
    let device = Device::new().with(0, b"XFSB");
    assert!(signature_of(&Ends::read(Cursor::new(&device.0), None).unwrap()).is_some());
}

#[test]
fn bytes_that_chance_could_write_hold_nothing() {
    // The device was written by a benchmark before: no signature of a few bytes is found in random bytes.
    let mut state = 1u64;
    for round in 0..8 {
        let mut device = Device::new();
        for word in device.0.chunks_exact_mut(8) {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            word.copy_from_slice(&(state ^ state >> 29).to_le_bytes());
        }
        assert_eq!(device.holds(), None, "round {round}");
    }
}

#[test]
fn ext_needs_a_possible_block_size() {
    let name = Some("an ext2/3/4 filesystem");
    assert_eq!(Device::new().with(1_080, b"\x53\xef").with(1_048, &[2]).holds(), name);
    assert_eq!(Device::new().with(1_080, b"\x53\xef").with(1_050, &[1]).holds(), None);
}

#[test]
fn swap_ends_a_page_whether_awake_or_asleep() {
    for page in [4_096, 8_192, 16_384, 32_768, 65_536] {
        for mark in [&b"SWAPSPACE2"[..], b"S1SUSPEND\0", b"LINHIB0001"] {
            assert_eq!(Device::new().with(page - 10, mark).holds(), Some("swap space"), "page of {page}");
        }
    }
}

#[test]
fn md_is_seen_at_the_end() {
    let name = Some("a RAID member (md)");
    let old = (SIZE & !0xffff) - 0x1_0000;
    assert_eq!(Device::new().with(old, b"\xfc\x4e\x2b\xa9").holds(), name, "0.90");
    assert_eq!(Device::new().with(old, b"\xa9\x2b\x4e\xfc").holds(), name, "0.90 of a big-endian machine");
    let new = ((SIZE / 512 - 16) & !7) * 512;
    assert_eq!(Device::new().with(new, b"\xfc\x4e\x2b\xa9").holds(), name, "1.0");
}

#[test]
fn zfs_has_blocks_in_several_labels() {
    const LABEL: u64 = 256 << 10;
    let last = SIZE / LABEL * LABEL - LABEL;
    let places = [LABEL / 2, LABEL + LABEL / 2 + 1_024, last - LABEL / 2, last + LABEL / 2];
    let device = |count: usize, number: [u8; 8]| {
        places[..count].iter().fold(Device::new(), |device, at| device.with(*at, &number)).holds()
    };
    let name = Some("a part of a ZFS pool");
    assert_eq!(device(4, 0x00ba_b10c_u64.to_le_bytes()), name);
    assert_eq!(device(4, 0x00ba_b10c_u64.to_be_bytes()), name);
    assert_eq!(device(3, 0x00ba_b10c_u64.to_le_bytes()), None, "the remains of a wiped pool");
}

#[test]
fn second_headers_and_logs_are_seen() {
    let name = Some("the second header of an encrypted volume (LUKS2)");
    for at in [0x4000, 0x8000, 0x4_0000, 0x10_0000] {
        assert_eq!(Device::new().with(at, b"SKUL\xba\xbe").holds(), name, "at {at}");
    }
    let name = Some("the log of an xfs filesystem");
    for at in [0, 512, (256 << 10) - 512] {
        assert_eq!(Device::new().with(at, b"\xfe\xed\xba\xbe").holds(), name, "at {at}");
    }
}

#[test]
fn nilfs_has_a_superblock_at_either_end() {
    let mut block = [0; 24];
    block[0] = 2;
    block[6..10].copy_from_slice(b"\x34\x34\x18\x01");
    block[20] = 2;
    let last = (SIZE / 4_096 - 1) * 4_096;
    for at in [1_024, last] {
        assert_eq!(Device::new().with(at, &block).holds(), Some("a nilfs2 filesystem"), "at {at}");
    }
    assert_eq!(Device::new().with(1_030, b"\x34\x34").holds(), None);
}

#[test]
fn minix_needs_room_for_its_inodes() {
    let older = |magic: u16| {
        let mut block = [0; 18];
        (block[0], block[4]) = (32, 1);
        block[16..].copy_from_slice(&magic.to_le_bytes());
        Device::new().with(1_024, &block)
    };
    for magic in [0x137f, 0x138f, 0x2468, 0x2478] {
        assert_eq!(older(magic).holds(), Some("a minix filesystem"), "{magic:x}");
    }
    assert_eq!(older(0x138f).with(1_028, &[0]).holds(), None, "no map of inodes");
    let mut newest = [0; 30];
    (newest[0], newest[6]) = (64, 1);
    newest[24..].copy_from_slice(b"\x5a\x4d\0\0\0\x10");
    assert_eq!(Device::new().with(1_024, &newest).holds(), Some("a minix filesystem"));
}

#[test]
fn ufs_hfs_and_tables_of_other_machines() {
    let ufs = Device::new().with(65_536 + 1_372, b"\x19\x01\x54\x19");
    assert_eq!(ufs.holds(), Some("a UFS filesystem"));
    assert_eq!(Device::new().with(8_192 + 1_372, b"\0\x01\x19\x54").holds(), Some("a UFS filesystem"));
    let hfs = |block_bytes: &[u8]| Device::new().with(1_024, b"BD").with(1_042, b"\x10\0").with(1_044, block_bytes);
    assert_eq!(hfs(b"\0\0\x10\0").holds(), Some("an HFS filesystem"));
    assert_eq!(hfs(b"\0\0\x10\x01").holds(), None);
    assert_eq!(Device::new().with(0, b"ER").with(512, b"PM").holds(), Some("a partition table (Mac)"));
    let sun = Device::new().with(508, b"\xda\xbe\xda\xbe");
    assert_eq!(sun.holds(), Some("a partition table (Sun)"));
    assert_eq!(sun.with(100, b"\x01").holds(), None, "its sum is wrong");
}

#[test]
fn mbr_needs_a_possible_table() {
    let ended = || Device::new().with(510, b"\x55\xaa");
    assert_eq!(ended().holds(), None, "no entry is used");
    assert_eq!(ended().with(450, b"\x83").holds(), Some("a partition table (MBR)"));
    assert_eq!(ended().with(450, b"\x83").with(446, b"\x12").holds(), None, "no such status byte");
}
