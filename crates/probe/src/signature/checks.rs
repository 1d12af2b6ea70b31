//! Signatures of a few bytes, which count only if the bytes beside them are plausible too, and signatures without a
//! fixed place.

use super::Ends;

/// Whether the device contains something.
type IsHeld = fn(&Ends) -> bool;

pub(super) const CHECKS: &[(IsHeld, &str)] = &[
    (is_ext, "an ext2/3/4 filesystem"),
    (is_swap, "swap space"),
    (is_md_at_the_end, "a RAID member (md)"),
    (is_zfs, "a part of a ZFS pool"),
    (is_luks_copy, "the second header of an encrypted volume (LUKS2)"),
    (is_xfs_log, "the log of an xfs filesystem"),
    (is_nilfs, "a nilfs2 filesystem"),
    (is_minix, "a minix filesystem"),
    (is_ufs, "a UFS filesystem"),
    (is_hfs, "an HFS filesystem"),
    (is_mac_table, "a partition table (Mac)"),
    (is_sun_table, "a partition table (Sun)"),
    (is_mbr, "a partition table (MBR)"),
];

impl Ends {
    fn u16_le(&self, offset: u64) -> Option<u16> {
        Some(u16::from_le_bytes(self.at(offset, 2)?.try_into().ok()?))
    }

    fn u32_le(&self, offset: u64) -> Option<u32> {
        Some(u32::from_le_bytes(self.at(offset, 4)?.try_into().ok()?))
    }

    /// Whether a number is there, in either byte order.
    fn has_number(&self, offset: u64, number: u32) -> bool {
        self.has(offset, &number.to_le_bytes()) || self.has(offset, &number.to_be_bytes())
    }
}

/// Journals of ext filesystems on separate devices have the same signature.
fn is_ext(ends: &Ends) -> bool {
    ends.has(1_080, b"\x53\xef") && ends.u32_le(1_048).is_some_and(|exponent| exponent <= 6)
}

/// The signature is at the end of the first page. It is another one while the machine sleeps with its memory in the
/// swap space.
fn is_swap(ends: &Ends) -> bool {
    const MARKS: &[&[u8]] =
        &[b"SWAPSPACE2", b"SWAP-SPACE", b"S1SUSPEND\0", b"S2SUSPEND\0", b"ULSUSPEND\0", b"LINHIB0001"];
    let pages = [4_096, 8_192, 16_384, 32_768, 65_536];
    pages.iter().any(|page| MARKS.iter().any(|mark| ends.has(page - 10, mark)))
}

/// Versions 0.90, in either byte order, and 1.0.
fn is_md_at_the_end(ends: &Ends) -> bool {
    const MAGIC: u32 = 0xa92b_4efc;
    let old = (ends.size & !0xffff).checked_sub(0x1_0000);
    let new = (ends.size / 512).checked_sub(16).map(|sector| (sector & !7) * 512);
    old.is_some_and(|offset| ends.has_number(offset, MAGIC)) || new.is_some_and(|offset| ends.has_number(offset, MAGIC))
}

/// Two labels at the start and two at the end, each with a ring of überblocks. A pool writes all labels; remains of a
/// pool that was wiped have fewer.
fn is_zfs(ends: &Ends) -> bool {
    const MAGIC: u64 = 0x00ba_b10c;
    const LABEL: u64 = 256 << 10;
    let whole = ends.size / LABEL * LABEL;
    let labels = [Some(0), Some(LABEL), whole.checked_sub(2 * LABEL), whole.checked_sub(LABEL)];
    let blocks = labels.into_iter().flatten().flat_map(|label| (label + LABEL / 2..label + LABEL).step_by(1_024));
    let marked = |at: &u64| ends.has(*at, &MAGIC.to_le_bytes()) || ends.has(*at, &MAGIC.to_be_bytes());
    blocks.filter(marked).take(4).count() == 4
}

/// LUKS2 may have its second header here, which remains when the first one was overwritten.
fn is_luks_copy(ends: &Ends) -> bool {
    (14..=20).any(|exponent| ends.has(1 << exponent, b"SKUL\xba\xbe"))
}

/// Records of a log on a separate device begin at any sector.
fn is_xfs_log(ends: &Ends) -> bool {
    (0..256 << 10).step_by(512).any(|offset| ends.has(offset, b"\xfe\xed\xba\xbe"))
}

/// The second superblock is in the last whole block of 4 KiB.
fn is_nilfs(ends: &Ends) -> bool {
    let at_the_end = (ends.size / 4_096).checked_sub(1).map(|block| block * 4_096);
    [Some(1_024), at_the_end].into_iter().flatten().any(|offset| {
        ends.u32_le(offset) == Some(2)
            && ends.u16_le(offset + 6) == Some(0x3434)
            && ends.u16_le(offset + 8).is_some_and(|bytes| (32..=1_024).contains(&bytes))
            && ends.u32_le(offset + 20).is_some_and(|exponent| exponent <= 6)
    })
}

/// The inode map must have room for all inodes, and zones are not larger than blocks.
fn is_minix(ends: &Ends) -> bool {
    let at = |offset: u64| ends.u16_le(1_024 + offset).map(u64::from);
    let possible = |inodes: Option<u64>, map_blocks: Option<u64>, block_bits: u64, zone_exponent| {
        let (Some(inodes), Some(blocks)) = (inodes, map_blocks) else { return false };
        inodes > 0 && blocks > 0 && blocks * block_bits > inodes && zone_exponent == Some(0)
    };
    let older = matches!(at(16), Some(0x137f | 0x138f | 0x2468 | 0x2478)) && possible(at(0), at(4), 8_192, at(10));
    let block_bits = at(28).filter(|bytes| bytes.is_power_of_two() && *bytes >= 1_024).map(|bytes| bytes * 8);
    let newest = at(24) == Some(0x4d5a)
        && block_bits.is_some_and(|bits| possible(ends.u32_le(1_024).map(u64::from), at(6), bits, at(12)));
    older || newest
}

fn is_ufs(ends: &Ends) -> bool {
    const MAGIC: [u32; 2] = [0x0001_1954, 0x1954_0119];
    let places = [0, 8 << 10, 64 << 10, 256 << 10];
    places.iter().any(|place| MAGIC.iter().any(|magic| ends.has_number(place + 1_372, *magic)))
}

/// The older filesystem of Mac OS: its blocks are whole sectors, and it has some.
fn is_hfs(ends: &Ends) -> bool {
    let big_endian = |bytes: &[u8]| bytes.iter().fold(0u64, |value, byte| value << 8 | u64::from(*byte));
    let (blocks, block_bytes) = (ends.at(1_042, 2).map(big_endian), ends.at(1_044, 4).map(big_endian));
    ends.has(1_024, b"BD")
        && blocks.is_some_and(|blocks| blocks > 0)
        && block_bytes.is_some_and(|bytes| bytes > 0 && bytes % 512 == 0)
}

fn is_mac_table(ends: &Ends) -> bool {
    ends.has(0, b"ER") && ends.has(512, b"PM\0\0")
}

/// The xor of all its words is 0.
fn is_sun_table(ends: &Ends) -> bool {
    let sum = |sector: &[u8]| sector.chunks_exact(2).fold(0, |sum, word| sum ^ u16::from_be_bytes([word[0], word[1]]));
    ends.has(508, b"\xda\xbe") && ends.at(0, 512).map(sum) == Some(0)
}

/// Its four entries must be plausible, and one of them must be used.
fn is_mbr(ends: &Ends) -> bool {
    let Some(entries) = ends.at(446, 64) else { return false };
    let mut entries = entries.chunks_exact(16);
    let possible = entries.clone().all(|entry| entry[0] & 0x7f == 0);
    ends.has(510, b"\x55\xaa") && possible && entries.any(|entry| entry[4] != 0)
}
