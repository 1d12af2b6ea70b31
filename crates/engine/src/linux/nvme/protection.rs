//! Metadata of the blocks of a namespace, and the protection information in it: made for writes, checked after
//! reads, or left to the device.

use fsdyno_job::Protection;
use fsdyno_os::nvme::{Format, Guard};

/// The metadata of the blocks of a namespace, with the job's options for it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Metadata {
    pub(super) format: Format,
    pub(super) options: Protection,
}

impl Metadata {
    /// Metadata of each block.
    pub(super) fn bytes(self) -> usize {
        self.format.metadata_bytes.into()
    }

    /// Whether metadata is transferred beside the data.
    pub(super) fn has_buffers(self) -> bool {
        let Format { metadata_bytes, in_blocks, .. } = self.format;
        metadata_bytes > 0 && !in_blocks && !self.format.is_left_to_device(self.options.by_device)
    }

    /// Why the metadata of requests with this number of blocks cannot be transferred.
    pub(super) fn objection(self, blocks: u64) -> Option<String> {
        let needed = blocks.saturating_mul(self.bytes() as u64);
        let protects = self.format.protection > 0;
        if protects && self.format.guard == Guard::Other {
            Some("its guards have neither 16 nor 64 bits, or a storage tag, which is not known here".to_owned())
        } else if protects && self.bytes() < self.format.guard.tuple_bytes() {
            Some("its protection information is not known here".to_owned())
        } else if self.has_buffers() && u64::from(self.options.metadata_bytes) < needed {
            Some(format!("its blocks have metadata: write md_per_io_size={needed}"))
        } else {
            None
        }
    }

    /// The flags of word 12 of a transfer.
    pub(super) fn flags(self) -> u32 {
        const BY_DEVICE: u32 = 1 << 29;
        const CHECKS: u32 = 26;
        let act = if self.options.by_device { BY_DEVICE } else { 0 };
        if self.format.protection == 0 { 0 } else { act | u32::from(self.checked()) << CHECKS }
    }

    /// What is checked: type 3 has no numbers of blocks.
    fn checked(self) -> u8 {
        let checks = self.options.checks;
        if self.format.protection == 3 { checks & !Protection::BLOCK } else { checks }
    }

    /// The reference tag of a block.
    fn reference(self, block: u64) -> u64 {
        block & (u64::MAX >> (64 - 8 * self.format.guard.field_bytes().1))
    }

    /// Words 3, 14 and 15 of a transfer: the reference tag of its first block, and the tag with its mask.
    pub(super) fn tags(self, block: u64) -> [u32; 3] {
        let reference = self.reference(block);
        let tag = u32::from(self.options.tag_mask) << 16 | u32::from(self.options.tag);
        if self.format.protection == 0 { [0; 3] } else { [(reference >> 32) as u32, reference as u32, tag] }
    }

    /// Goes through the blocks of a transfer with their metadata and their numbers, until one of them gives a result.
    fn find_block(
        self,
        first: u64,
        data: &mut [u8],
        metadata: &mut [u8],
        mut look: impl FnMut(u64, &mut [u8], &mut [u8]) -> Option<String>,
    ) -> Option<String> {
        let bytes = self.format.block_bytes as usize;
        if self.format.is_extended(self.options.by_device) {
            let mut blocks = (first..).zip(data.chunks_exact_mut(bytes + self.bytes()));
            return blocks.find_map(|(number, block)| {
                let (data, metadata) = block.split_at_mut(bytes);
                look(number, data, metadata)
            });
        }
        let mut blocks =
            (first..).zip(data.chunks_exact_mut(bytes)).zip(metadata.chunks_exact_mut(self.bytes().max(1)));
        blocks.find_map(|((number, data), metadata)| look(number, data, metadata))
    }

    /// Where the protection information stands in the metadata of a block.
    fn tuple_at(self) -> std::ops::Range<usize> {
        let bytes = self.format.guard.tuple_bytes();
        if self.format.comes_first { 0..bytes } else { self.bytes() - bytes..self.bytes() }
    }

    /// The guard of a block: it covers the metadata before it.
    fn guard(self, data: &[u8], metadata: &[u8]) -> u64 {
        let before = &metadata[..self.tuple_at().start];
        match self.format.guard {
            Guard::Bits64 => !crc64(crc64(u64::MAX, data), before),
            _ => crc(crc(0, data), before).into(),
        }
    }

    /// Makes the protection information of a write in its metadata.
    pub(super) fn protect(self, first: u64, data: &mut [u8], metadata: &mut [u8]) {
        if self.format.protection == 0 || self.options.by_device {
            return;
        }
        let (guard_bytes, reference_bytes) = self.format.guard.field_bytes();
        self.find_block(first, data, metadata, |number, data, metadata| {
            let guard = self.guard(data, metadata).to_be_bytes();
            let tuple = &mut metadata[self.tuple_at()];
            tuple[..guard_bytes].copy_from_slice(&guard[8 - guard_bytes..]);
            tuple[guard_bytes..guard_bytes + 2].copy_from_slice(&self.options.tag.to_be_bytes());
            tuple[guard_bytes + 2..].copy_from_slice(&number.to_be_bytes()[8 - reference_bytes..]);
            None
        });
    }

    /// Checks the protection information of a read. Returns what does not fit, in words.
    pub(super) fn check(self, first: u64, data: &mut [u8], metadata: &mut [u8]) -> Option<String> {
        let (checks, protection) = (self.checked(), self.format.protection);
        if protection == 0 || self.options.by_device || checks == 0 {
            return None;
        }
        let guard_bytes = self.format.guard.field_bytes().0;
        self.find_block(first, data, metadata, |number, data, metadata| {
            let tuple = &metadata[self.tuple_at()];
            let [guard, tag, reference] =
                [&tuple[..guard_bytes], &tuple[guard_bytes..guard_bytes + 2], &tuple[guard_bytes + 2..]].map(number_of);
            // A block with this tag is not checked.
            if tag == u64::from(u16::MAX) && (protection < 3 || reference == self.reference(u64::MAX)) {
                return None;
            }
            let wrong = if checks & Protection::GUARD != 0 && guard != self.guard(data, metadata) {
                "the guard does not fit the data"
            } else if checks & Protection::TAG != 0 && (tag as u16 ^ self.options.tag) & self.options.tag_mask != 0 {
                "the application tag is another one"
            } else if checks & Protection::BLOCK != 0 && reference != self.reference(number) {
                "the reference tag is not the block's"
            } else {
                return None;
            };
            Some(format!("{wrong}: block {number}"))
        })
    }
}

/// The number that these bytes are, the highest one first.
fn number_of(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
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

/// CRC-64 of NVMe (polynomial 0xad93d23594c93659, reflected), continued.
fn crc64(begun: u64, bytes: &[u8]) -> u64 {
    const TABLE: [u64; 256] = table64();
    bytes.iter().fold(begun, |crc, byte| crc >> 8 ^ TABLE[usize::from(crc as u8 ^ byte)])
}

const fn table64() -> [u64; 256] {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        let mut crc = index as u64;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 0 { crc >> 1 } else { crc >> 1 ^ 0x9a6c_9329_ac4b_c9b5 };
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

    fn metadata(metadata_bytes: u16, protection: u8, options: Protection) -> Metadata {
        Metadata { format: Format { block_bytes: 512, metadata_bytes, protection, ..Format::default() }, options }
    }

    fn options(by_device: bool, checks: u8) -> Protection {
        Protection { by_device, checks, metadata_bytes: 128, ..Protection::default() }
    }

    #[test]
    fn guards_are_the_crcs_of_t10_and_nvme() {
        assert_eq!(crc(0, b"123456789"), 0xd0db);
        assert_eq!(crc(crc(0, b"1234"), b"56789"), 0xd0db);
        assert_eq!(!crc64(u64::MAX, &[0; 4096]), 0x6482_d367_eb22_b64e, "an example of NVMe's specification");
        assert_eq!(!crc64(crc64(u64::MAX, &[0xff; 1000]), &[0xff; 3096]), 0xc0dd_ba73_02ec_a3ac);
    }

    #[test]
    fn metadata_has_a_buffer_unless_the_device_makes_all_of_it() {
        let [device, program] = [true, false].map(|by_device| options(by_device, 0));
        assert!(!metadata(0, 0, device).has_buffers() && !metadata(8, 1, device).has_buffers());
        assert!(metadata(8, 1, program).has_buffers() && metadata(64, 1, device).has_buffers());
        assert_eq!(metadata(8, 1, program).objection(16), None);
        assert!(metadata(8, 1, program).objection(17).unwrap().contains("md_per_io_size=136"));
        let mut within = metadata(8, 1, program);
        within.format.in_blocks = true;
        assert!(!within.has_buffers() && within.objection(1 << 20).is_none());
        let mut other = metadata(16, 1, device);
        other.format.guard = Guard::Other;
        assert!(other.objection(1).unwrap().contains("neither 16 nor 64 bits"));
        other.format.guard = Guard::Bits64;
        assert_eq!(other.objection(1 << 20), None);
        other.format.metadata_bytes = 8;
        assert!(other.objection(1).unwrap().contains("not known here"));
    }

    #[test]
    fn commands_have_the_flags_and_tags() {
        assert_eq!(metadata(8, 1, options(true, 7)).flags(), 1 << 29 | 7 << 26);
        assert_eq!(metadata(8, 3, options(false, 7)).flags(), 6 << 26, "type 3 has no numbers of blocks");
        assert_eq!(metadata(8, 0, options(true, 7)).flags(), 0);
        let mut one = metadata(16, 1, options(true, 0));
        assert_eq!(one.tags(3 << 32 | 5), [0, 5, 0xffff_1234]);
        one.format.guard = Guard::Bits64;
        assert_eq!(one.tags(3 << 32 | 5), [3, 5, 0xffff_1234]);
    }

    #[test]
    fn what_is_made_fits_and_what_is_changed_does_not() {
        let all = options(false, Protection::GUARD | Protection::TAG | Protection::BLOCK);
        for (metadata_bytes, protection, comes_first, guard, in_blocks) in [
            (8, 1, false, Guard::Bits16, false),
            (16, 2, false, Guard::Bits16, true),
            (16, 3, true, Guard::Bits16, false),
            (16, 1, false, Guard::Bits64, true),
            (64, 3, false, Guard::Bits64, false),
            (64, 2, true, Guard::Bits64, true),
        ] {
            let format = Format { block_bytes: 512, metadata_bytes, in_blocks, protection, comes_first, guard };
            let with = |options| Metadata { format, options };
            let mut data = vec![0x5a; 2 * format.transferred_bytes(false) as usize];
            let mut apart = vec![0; if in_blocks { 0 } else { 2 * usize::from(metadata_bytes) }];
            with(all).protect(7, &mut data, &mut apart);
            let mut check = |options, first| with(options).check(first, &mut data, &mut apart);
            assert_eq!(check(all, 7), None, "{format:?}");
            assert_eq!(check(all, 8).is_some(), protection != 3, "{format:?}");
            let other = Protection { tag: 0x1235, checks: Protection::TAG, ..all };
            assert_eq!(check(other, 7).as_deref(), Some("the application tag is another one: block 7"));
            assert_eq!(check(Protection { tag_mask: 0xff00, ..other }, 7), None);
            data[600] ^= 1;
            let mut check = |options, first| with(options).check(first, &mut data, &mut apart);
            assert_eq!(check(all, 7).as_deref(), Some("the guard does not fit the data: block 8"), "{format:?}");
            assert_eq!(check(options(false, Protection::BLOCK), 7), None);
        }
    }
}
