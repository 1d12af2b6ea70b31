//! Metadata beside the blocks of a namespace, and the protection information in it: made for writes, checked after
//! reads, or left to the device.

use fsdyno_job::Protection;

/// Bytes of the protection information of a block with a guard of 16 bits.
const TUPLE_BYTES: usize = 8;

/// How the blocks of a namespace are formatted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Format {
    pub(super) block_bytes: u32,
    /// Metadata of each block.
    pub(super) metadata_bytes: u16,
    /// Metadata follows its block in the same buffer.
    in_blocks: bool,
    /// Type of the protection information (1 to 3); 0: there is none.
    kind: u8,
    /// It stands in the first bytes of the metadata; otherwise in the last ones.
    comes_first: bool,
    /// Its guard has more than 16 bits.
    is_long: bool,
}

impl Format {
    /// Reads what the device says about a namespace. `None`: it says no size.
    pub(super) fn of(answer: &[u8; 4096]) -> Option<Format> {
        let at = 128 + 4 * chosen(answer);
        let block_bytes = 1u32.checked_shl(answer[at + 2].into()).filter(|bytes| *bytes >= 512)?;
        Some(Format {
            block_bytes,
            metadata_bytes: u16::from_le_bytes([answer[at], answer[at + 1]]),
            in_blocks: answer[26] & 0x10 != 0,
            kind: answer[29] & 7,
            comes_first: answer[29] & 8 != 0,
            is_long: false,
        })
    }

    /// The same with what the device says about the extended formats; all zeroes: it knows none.
    pub(super) fn extended(self, answer: &[u8; 4096], extended: &[u8; 4096]) -> Format {
        let at = 12 + 4 * chosen(answer);
        let kind = u16::from_le_bytes([extended[at], extended[at + 1]]) >> 7 & 3;
        Format { is_long: kind != 0, ..self }
    }

    /// Whether metadata is transferred beside the data.
    pub(super) fn has_buffers(self, options: Protection) -> bool {
        let by_device = self.kind > 0 && options.by_device && usize::from(self.metadata_bytes) == TUPLE_BYTES;
        self.metadata_bytes > 0 && !by_device
    }

    /// Why the metadata of requests with this number of blocks cannot be transferred.
    pub(super) fn objection(self, options: Protection, blocks: u64) -> Option<String> {
        let needed = blocks.saturating_mul(self.metadata_bytes.into());
        if self.kind > 0 && self.is_long {
            Some("its guards have more than 16 bits, which are not known here".to_owned())
        } else if !self.has_buffers(options) {
            None
        } else if self.in_blocks {
            Some("its metadata stands within the blocks: format the namespace with separate metadata".to_owned())
        } else if self.kind > 0 && usize::from(self.metadata_bytes) < TUPLE_BYTES {
            Some("its protection information is not known here".to_owned())
        } else if u64::from(options.metadata_bytes) < needed {
            Some(format!("its blocks have metadata: write md_per_io_size={needed}"))
        } else {
            None
        }
    }

    /// The flags of word 12 of a transfer.
    pub(super) fn flags(self, options: Protection) -> u32 {
        const BY_DEVICE: u32 = 1 << 29;
        const CHECKS: u32 = 26;
        let act = if options.by_device { BY_DEVICE } else { 0 };
        if self.kind == 0 { 0 } else { act | u32::from(self.checked(options)) << CHECKS }
    }

    /// What is checked: type 3 has no numbers of blocks.
    fn checked(self, options: Protection) -> u8 {
        if self.kind == 3 { options.checks & !Protection::BLOCK } else { options.checks }
    }

    /// Words 14 and 15 of a transfer: the number of its first block, and the tag with its mask.
    pub(super) fn tags(self, options: Protection, block: u64) -> [u32; 2] {
        let tag = u32::from(options.tag_mask) << 16 | u32::from(options.tag);
        if self.kind == 0 { [0, 0] } else { [block as u32, tag] }
    }

    fn tuple_at(self) -> usize {
        if self.comes_first { 0 } else { usize::from(self.metadata_bytes) - TUPLE_BYTES }
    }

    /// The blocks of a transfer, each with its metadata.
    fn blocks<'a>(self, data: &'a [u8], metadata: &'a [u8]) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
        let blocks = data.chunks_exact(self.block_bytes as usize);
        blocks.zip(metadata.chunks_exact(usize::from(self.metadata_bytes).max(1)))
    }

    /// The guard of a block: it covers the metadata before it.
    fn guard(self, data: &[u8], metadata: &[u8]) -> u16 {
        crc(crc(0, data), &metadata[..self.tuple_at()])
    }

    /// Makes the protection information of a write in its metadata.
    pub(super) fn protect(self, options: Protection, block: u64, data: &[u8], metadata: &mut [u8]) {
        if self.kind == 0 || options.by_device {
            return;
        }
        let (at, bytes) = (self.tuple_at(), usize::from(self.metadata_bytes));
        let blocks = data.chunks_exact(self.block_bytes as usize).zip(metadata.chunks_exact_mut(bytes));
        for (number, (data, metadata)) in blocks.enumerate() {
            let guard = self.guard(data, metadata);
            let tuple = &mut metadata[at..at + TUPLE_BYTES];
            tuple[..2].copy_from_slice(&guard.to_be_bytes());
            tuple[2..4].copy_from_slice(&options.tag.to_be_bytes());
            tuple[4..].copy_from_slice(&((block as u32).wrapping_add(number as u32)).to_be_bytes());
        }
    }

    /// Checks the protection information of a read. Returns what does not fit, in words.
    pub(super) fn check(self, options: Protection, block: u64, data: &[u8], metadata: &[u8]) -> Option<String> {
        let checks = self.checked(options);
        if self.kind == 0 || options.by_device || checks == 0 {
            return None;
        }
        self.blocks(data, metadata).enumerate().find_map(|(number, (data, metadata))| {
            let tuple = &metadata[self.tuple_at()..][..TUPLE_BYTES];
            let word = |at: usize| u16::from_be_bytes([tuple[at], tuple[at + 1]]);
            let place = u32::from(word(4)) << 16 | u32::from(word(6));
            // A block with this tag is not checked.
            if word(2) == u16::MAX && (self.kind < 3 || place == u32::MAX) {
                return None;
            }
            let expected = (block as u32).wrapping_add(number as u32);
            let wrong = if checks & Protection::GUARD != 0 && word(0) != self.guard(data, metadata) {
                "the guard does not fit the data"
            } else if checks & Protection::TAG != 0 && (word(2) ^ options.tag) & options.tag_mask != 0 {
                "the application tag is another one"
            } else if checks & Protection::BLOCK != 0 && place != expected {
                "the reference tag is not the block's"
            } else {
                return None;
            };
            Some(format!("{wrong}: block {}", block + number as u64))
        })
    }
}

/// The number of the format in use.
fn chosen(answer: &[u8; 4096]) -> usize {
    usize::from(answer[26] & 0xf) + usize::from(answer[26] >> 5 & 3) * 16
}

/// CRC-16 of T10 (polynomial 0x8bb7), continued.
fn crc(begun: u16, bytes: &[u8]) -> u16 {
    const TABLE: [u16; 256] = table();
    bytes.iter().fold(begun, |crc, byte| crc << 8 ^ TABLE[usize::from((crc >> 8) as u8 ^ byte)])
}

const fn table() -> [u16; 256] {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        let mut crc = (index as u16) << 8;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 0x8000 == 0 { crc << 1 } else { crc << 1 ^ 0x8bb7 };
            bit += 1;
        }
        table[index] = crc;
        index += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(metadata_bytes: u16, kind: u8) -> Format {
        Format { block_bytes: 512, metadata_bytes, kind, ..Format::default() }
    }

    fn options(by_device: bool, checks: u8) -> Protection {
        Protection { by_device, checks, metadata_bytes: 128, ..Protection::default() }
    }

    #[test]
    fn the_guard_is_the_crc_of_t10() {
        assert_eq!(crc(0, b"123456789"), 0xd0db);
        assert_eq!(crc(crc(0, b"1234"), b"56789"), 0xd0db);
    }

    #[test]
    fn a_namespace_says_how_its_blocks_are_formatted() {
        let mut answer = [0; 4096];
        (answer[26], answer[29]) = (0x11, 0x0a);
        answer[132..136].copy_from_slice(&[64, 0, 12, 0]);
        let found = Format::of(&answer).unwrap();
        let expected = Format {
            block_bytes: 4096,
            metadata_bytes: 64,
            in_blocks: true,
            kind: 2,
            comes_first: true,
            is_long: false,
        };
        assert_eq!(found, expected);
        let mut extended = [0; 4096];
        assert_eq!(found.extended(&answer, &extended), found);
        extended[16..18].copy_from_slice(&(2u16 << 7).to_le_bytes());
        let long = found.extended(&answer, &extended);
        assert!(long.objection(options(true, 0), 1).unwrap().contains("more than 16 bits"));
        assert_eq!(Format::of(&[0; 4096]), None);
    }

    #[test]
    fn metadata_has_a_buffer_unless_the_device_makes_all_of_it() {
        assert!(!format(0, 0).has_buffers(options(true, 0)) && !format(8, 1).has_buffers(options(true, 0)));
        assert!(format(8, 1).has_buffers(options(false, 0)) && format(64, 1).has_buffers(options(true, 0)));
        assert_eq!(format(8, 1).objection(options(false, 0), 16), None);
        assert!(format(8, 1).objection(options(false, 0), 17).unwrap().contains("md_per_io_size=136"));
        let within = Format { in_blocks: true, ..format(8, 1) };
        assert!(within.objection(options(false, 0), 1).unwrap().contains("within"));
        assert_eq!(within.objection(options(true, 0), 1 << 20), None);
    }

    #[test]
    fn commands_have_the_flags_and_tags() {
        assert_eq!(format(8, 1).flags(options(true, 7)), 1 << 29 | 7 << 26);
        assert_eq!(format(8, 3).flags(options(false, 7)), 6 << 26, "type 3 has no numbers of blocks");
        assert_eq!(format(8, 0).flags(options(true, 7)), 0);
        assert_eq!(format(8, 1).tags(options(true, 0), 3 << 32 | 5), [5, 0xffff_1234]);
    }

    #[test]
    fn what_is_made_fits_and_what_is_changed_does_not() {
        for (bytes, kind, comes_first) in [(8, 1, false), (16, 2, false), (16, 3, true)] {
            let format = Format { comes_first, ..format(bytes, kind) };
            let all = options(false, Protection::GUARD | Protection::TAG | Protection::BLOCK);
            let mut data = [0x5a; 1024];
            let mut metadata = [0; 32];
            let used = 2 * usize::from(bytes);
            format.protect(all, 7, &data, &mut metadata[..used]);
            assert_eq!(format.check(all, 7, &data, &metadata[..used]), None);
            let place = format.check(all, 8, &data, &metadata[..used]);
            assert_eq!(place.is_some(), kind != 3, "{place:?}");
            data[600] = 0;
            assert_eq!(
                format.check(all, 7, &data, &metadata[..used]).as_deref(),
                Some("the guard does not fit the data: block 8")
            );
            assert_eq!(format.check(options(false, Protection::BLOCK), 7, &data, &metadata[..used]), None);
            let other = Protection { tag: 0x1235, ..all };
            let tag = format.check(Protection { checks: Protection::TAG, ..other }, 7, &data, &metadata[..used]);
            assert_eq!(tag.as_deref(), Some("the application tag is another one: block 7"));
            let masked = Protection { checks: Protection::TAG, tag_mask: 0xff00, ..other };
            assert_eq!(format.check(masked, 7, &data, &metadata[..used]), None);
        }
    }
}
