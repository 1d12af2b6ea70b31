//! Signatures in the first blocks of a device: the filesystem or volume on it.

/// A mark at a fixed place.
struct Mark {
    offset: usize,
    bytes: &'static [u8],
    name: &'static str,
}

const fn mark(offset: usize, bytes: &'static [u8], name: &'static str) -> Mark {
    Mark { offset, bytes, name }
}

/// Marks long enough that chance does not write them.
const MARKS: &[Mark] = &[
    mark(0, b"XFSB", "an xfs filesystem"),
    mark(65_600, b"_BHRfS_M", "a btrfs filesystem"),
    mark(0, b"LUKS\xba\xbe", "an encrypted volume (LUKS)"),
    mark(24, b"LVM2 001", "an LVM physical volume"),
    mark(536, b"LVM2 001", "an LVM physical volume"),
    mark(1048, b"LVM2 001", "an LVM physical volume"),
    mark(1560, b"LVM2 001", "an LVM physical volume"),
    // Swap's mark ends the first page, which is 4, 16 or 64 KiB.
    mark(4_086, b"SWAPSPACE2", "swap space"),
    mark(16_374, b"SWAPSPACE2", "swap space"),
    mark(65_526, b"SWAPSPACE2", "swap space"),
    mark(4_096, b"\xfc\x4e\x2b\xa9", "a RAID member (md)"),
    mark(0, b"\xfc\x4e\x2b\xa9", "a RAID member (md)"),
    mark(1_024, b"\x10\x20\xf5\xf2", "an f2fs filesystem"),
    mark(1_024, b"\xe2\xe1\xf5\xe0", "an erofs filesystem"),
    mark(0, b"hsqs", "a squashfs filesystem"),
    mark(32_769, b"CD001", "an ISO 9660 filesystem"),
    mark(3, b"NTFS    ", "an NTFS filesystem"),
    mark(3, b"EXFAT   ", "an exFAT filesystem"),
    mark(82, b"FAT32   ", "a FAT filesystem"),
    mark(54, b"FAT16   ", "a FAT filesystem"),
    mark(54, b"FAT12   ", "a FAT filesystem"),
    mark(0, b"bluestore block device", "a Ceph OSD (BlueStore)"),
    mark(512, b"EFI PART", "a partition table (GPT)"),
    mark(4_096, b"EFI PART", "a partition table (GPT)"),
];

/// Bytes from the start of a device that [`signature_of`] wants to see.
pub const HEAD_BYTES: usize = 68 * 1024;

/// Names what the first bytes of a device announce, best effort: marks at the end of the device are not seen.
pub fn signature_of(head: &[u8]) -> Option<&'static str> {
    let found = MARKS.iter().find(|mark| {
        let place = mark.offset..mark.offset + mark.bytes.len();
        head.get(place) == Some(mark.bytes)
    });
    match found {
        Some(mark) => Some(mark.name),
        None if is_ext(head) => Some("an ext2/3/4 filesystem"),
        None if is_mbr(head) => Some("a partition table (MBR)"),
        None => None,
    }
}

/// The mark has two bytes only, so the block size must be possible too.
fn is_ext(head: &[u8]) -> bool {
    let block_size_exponent = head.get(1048..1052).map(little_endian);
    head.get(1080..1082) == Some(b"\x53\xef") && block_size_exponent.is_some_and(|exponent| exponent <= 6)
}

/// The mark has two bytes only, so the four entries must be possible too.
fn is_mbr(head: &[u8]) -> bool {
    let Some(entries) = head.get(446..510) else { return false };
    let entries = entries.chunks_exact(16);
    let possible = entries.clone().all(|entry| entry[0] & 0x7f == 0);
    let used = entries.clone().any(|entry| entry[4] != 0);
    head.get(510..512) == Some(b"\x55\xaa") && possible && used
}

fn little_endian(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mark_is_seen_at_its_place() {
        for mark in MARKS {
            let mut head = vec![0; HEAD_BYTES];
            head[mark.offset..mark.offset + mark.bytes.len()].copy_from_slice(mark.bytes);
            assert_eq!(signature_of(&head), Some(mark.name));
        }
    }

    #[test]
    fn zeroes_and_short_heads_hold_nothing() {
        assert_eq!(signature_of(&vec![0; HEAD_BYTES]), None);
        assert_eq!(signature_of(&[]), None);
        assert_eq!(signature_of(b"XF"), None);
    }

    #[test]
    fn ext_needs_a_possible_block_size() {
        let mut head = vec![0; HEAD_BYTES];
        head[1080..1082].copy_from_slice(b"\x53\xef");
        head[1048] = 2;
        assert_eq!(signature_of(&head), Some("an ext2/3/4 filesystem"));
        head[1050] = 1;
        assert_eq!(signature_of(&head), None);
    }

    #[test]
    fn mbr_needs_a_possible_table() {
        let mut head = vec![0; HEAD_BYTES];
        head[510..512].copy_from_slice(b"\x55\xaa");
        assert_eq!(signature_of(&head), None, "no entry is used");
        head[450] = 0x83;
        assert_eq!(signature_of(&head), Some("a partition table (MBR)"));
        head[446] = 0x12;
        assert_eq!(signature_of(&head), None, "no such status byte");
    }
}
