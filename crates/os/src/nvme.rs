//! What an NVMe namespace says of its blocks.

/// A namespace, as its device identifies it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Namespace {
    /// Its number on the device.
    pub number: u32,
    /// Number of blocks.
    pub blocks: u64,
    /// How they are formatted.
    pub format: Format,
}

impl Namespace {
    /// Bytes that requests address. `by_device`: protection information is made by the device (`pi_act=1`).
    pub fn bytes(&self, by_device: bool) -> u64 {
        self.blocks.saturating_mul(self.format.transferred_bytes(by_device).into())
    }
}

/// How the blocks of a namespace are formatted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Format {
    /// Data of each block.
    pub block_bytes: u32,
    /// Metadata of each block.
    pub metadata_bytes: u16,
    /// Metadata follows its block in the same buffer (an extended logical block).
    pub in_blocks: bool,
    /// Type of the protection information (1 to 3); 0: there is none.
    pub protection: u8,
    /// It stands in the first bytes of the metadata; otherwise in the last ones.
    pub comes_first: bool,
    /// The size of its checksums.
    pub guard: Guard,
}

/// The checksum of a block's protection information.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Guard {
    /// 16 bits, beside a reference tag of 32 bits.
    #[default]
    Bits16,
    /// 64 bits, beside a reference tag of 48 bits.
    Bits64,
    /// Another size, or a storage tag.
    Other,
}

impl Guard {
    /// Bytes of the checksum and of the reference tag.
    pub fn field_bytes(self) -> (usize, usize) {
        if self == Guard::Bits64 { (8, 6) } else { (2, 4) }
    }

    /// Bytes of the protection information of a block.
    pub fn tuple_bytes(self) -> usize {
        let (guard, reference) = self.field_bytes();
        guard + 2 + reference
    }
}

impl Format {
    /// Reads what the device says about a namespace, and about the extended formats (all zeroes: it knows none). `None`: it
    /// says no size.
    pub fn of(answer: &[u8; 4096], extended: &[u8; 4096]) -> Option<Format> {
        let chosen = usize::from(answer[26] & 0xf) + usize::from(answer[26] >> 5 & 3) * 16;
        let (at, extended_at) = (128 + 4 * chosen, 12 + 4 * chosen);
        let block_bytes = 1u32.checked_shl(answer[at + 2].into()).filter(|bytes| *bytes >= 512)?;
        let extended = u16::from_le_bytes([extended[extended_at], extended[extended_at + 1]]);
        Some(Format {
            block_bytes,
            metadata_bytes: u16::from_le_bytes([answer[at], answer[at + 1]]),
            in_blocks: answer[26] & 0x10 != 0,
            protection: answer[29] & 7,
            comes_first: answer[29] & 8 != 0,
            // Bits 0 to 6: the size of the storage tag.
            guard: match (extended >> 7 & 3, extended & 0x7f) {
                (0, 0) => Guard::Bits16,
                (2, 0) => Guard::Bits64,
                _ => Guard::Other,
            },
        })
    }

    /// Whether the device makes and takes away all metadata, so that none is transferred.
    pub fn is_left_to_device(self, by_device: bool) -> bool {
        self.protection > 0 && by_device && usize::from(self.metadata_bytes) == self.guard.tuple_bytes()
    }

    /// Whether the metadata is transferred within the blocks.
    pub fn is_extended(self, by_device: bool) -> bool {
        self.in_blocks && self.metadata_bytes > 0 && !self.is_left_to_device(by_device)
    }

    /// Bytes of a block in the buffer of a request.
    pub fn transferred_bytes(self, by_device: bool) -> u32 {
        self.block_bytes + if self.is_extended(by_device) { u32::from(self.metadata_bytes) } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_says_how_its_blocks_are_formatted() {
        let mut answer = [0; 4096];
        (answer[26], answer[29]) = (0x11, 0x0a);
        answer[132..136].copy_from_slice(&[64, 0, 12, 0]);
        let mut extended = [0; 4096];
        let found = Format::of(&answer, &extended).unwrap();
        let expected = Format {
            block_bytes: 4096,
            metadata_bytes: 64,
            in_blocks: true,
            protection: 2,
            comes_first: true,
            guard: Guard::Bits16,
        };
        assert_eq!(found, expected);
        for (kind, storage_tag, guard) in [(2, 0, Guard::Bits64), (1, 0, Guard::Other), (2, 16, Guard::Other)] {
            extended[16..18].copy_from_slice(&(kind << 7 | storage_tag as u16).to_le_bytes());
            assert_eq!(Format::of(&answer, &extended), Some(Format { guard, ..expected }));
        }
        assert_eq!(Format::of(&[0; 4096], &extended), None);
    }

    #[test]
    fn requests_address_metadata_that_they_transfer_within_blocks() {
        let format = |metadata_bytes, in_blocks, protection, guard| Format {
            block_bytes: 512,
            metadata_bytes,
            in_blocks,
            protection,
            comes_first: false,
            guard,
        };
        for (format, by_device, by_program) in [
            (format(0, true, 0, Guard::Bits16), 512, 512),
            (format(8, false, 1, Guard::Bits16), 512, 512),
            (format(8, true, 0, Guard::Bits16), 520, 520),
            (format(8, true, 1, Guard::Bits16), 512, 520),
            (format(64, true, 1, Guard::Bits16), 576, 576),
            (format(16, true, 1, Guard::Bits64), 512, 528),
        ] {
            let namespace = Namespace { number: 1, blocks: 10, format };
            let bytes = [true, false].map(|by_device| namespace.bytes(by_device));
            assert_eq!(bytes, [by_device * 10, by_program * 10], "{format:?}");
        }
    }
}
