//! Compresses log samples into a zlib stream of one block with the fixed codes of RFC 1951. Each sample repeats most
//! of the one before, so that references describe nearly all of it; a general compressor would make the program a
//! tenth larger.

/// Remembered positions are indexed by a hash of this size of the four bytes there.
const HASH_BITS: u32 = 12;

/// Largest distance and largest length of a reference.
const DISTANCE_MAX: usize = 32 << 10;
const LENGTH_MAX: usize = 258;

/// The symbol that ends a block.
const END: u32 = 256;

/// Returns the zlib stream of `data`.
pub(super) fn zlib(data: &[u8]) -> Vec<u8> {
    // The header: a window of 32 KiB, the usual compression level.
    let mut bits = BitStream { out: vec![0x78, 0x9c], pending: 0, count: 0 };
    // The block is the last one and uses the fixed codes.
    bits.put(0b011, 3);
    let mut seen = vec![None; 1 << HASH_BITS];
    let mut at = 0;
    while at < data.len() {
        match repeated(data, at, &mut seen) {
            Some((length, distance)) => {
                bits.reference(length as u32, distance as u32);
                at += length;
            }
            None => {
                bits.symbol(u32::from(data[at]));
                at += 1;
            }
        }
    }
    bits.symbol(END);
    bits.put(0, 7);
    bits.out.extend_from_slice(&adler32(data).to_be_bytes());
    bits.out
}

/// Length and distance of an earlier copy of the bytes at `at`. Remembers the position.
fn repeated(data: &[u8], at: usize, seen: &mut [Option<u32>]) -> Option<(usize, usize)> {
    let next: [u8; 4] = data.get(at..at + 4)?.try_into().ok()?;
    let hash = u32::from_le_bytes(next).wrapping_mul(0x9E37_79B1) >> (u32::BITS - HASH_BITS);
    let before = seen[hash as usize].replace(at as u32)? as usize;
    if at - before > DISTANCE_MAX {
        return None;
    }
    let length = data[at..].iter().zip(&data[before..]).take(LENGTH_MAX).take_while(|(now, then)| now == then).count();
    (length >= next.len()).then_some((length, at - before))
}

/// A bit stream, written from the lowest bit of each byte.
struct BitStream {
    out: Vec<u8>,
    pending: u64,
    count: u32,
}

impl BitStream {
    fn put(&mut self, value: u32, bits: u32) {
        self.pending |= u64::from(value) << self.count;
        self.count += bits;
        while self.count >= 8 {
            self.out.push(self.pending as u8);
            self.pending >>= 8;
            self.count -= 8;
        }
    }

    /// Writes a Huffman code, which begins with its highest bit.
    fn code(&mut self, code: u32, bits: u32) {
        self.put(code.reverse_bits() >> (u32::BITS - bits), bits);
    }

    fn symbol(&mut self, symbol: u32) {
        match symbol {
            0..144 => self.code(0x30 + symbol, 8),
            144..256 => self.code(0x190 + symbol - 144, 9),
            256..280 => self.code(symbol - 256, 7),
            _ => self.code(0xc0 + symbol - 280, 8),
        }
    }

    /// Writes a reference to `length` bytes (4 to [`LENGTH_MAX`]) that lie `distance` bytes before. A symbol names a
    /// range whose size is a power of two; the bits after it give the number in this range.
    fn reference(&mut self, length: u32, distance: u32) {
        let (longer, further) = (length - 3, distance - 1);
        let extra = longer.max(4).ilog2() - 2;
        if length as usize == LENGTH_MAX {
            self.symbol(285);
        } else {
            self.symbol(257 + 4 * extra + (longer >> extra));
            self.put(longer & ((1 << extra) - 1), extra);
        }
        let extra = further.max(2).ilog2() - 1;
        self.code(2 * extra + (further >> extra), 5);
        self.put(further & ((1 << extra) - 1), extra);
    }
}

fn adler32(data: &[u8]) -> u32 {
    const MODULUS: u32 = 65_521;
    let (mut sum, mut sum_of_sums) = (1, 0);
    // The sums over this number of bytes fit into 32 bits without a remainder operation.
    for part in data.chunks(5552) {
        for byte in part {
            sum += u32::from(*byte);
            sum_of_sums += sum;
        }
        sum %= MODULUS;
        sum_of_sums %= MODULUS;
    }
    sum_of_sums << 16 | sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn comes_back(data: &[u8]) -> usize {
        let compressed = zlib(data);
        let inflated = miniz_oxide::inflate::decompress_to_vec_zlib(&compressed).expect("a stream, with its checksum");
        assert!(inflated == data, "{} bytes", data.len());
        compressed.len()
    }

    #[test]
    fn everything_comes_back() {
        comes_back(b"");
        comes_back(b"abc");
        comes_back(&(0..=255).collect::<Vec<u8>>());
        let unlike: Vec<u8> = (0..10_000_u32).flat_map(|n| n.wrapping_mul(0x9E37_79B1).to_be_bytes()).collect();
        // References of every length, and of distances up to the longest one and beyond.
        for length in 4..600 {
            let apart = length * length / 10 + 300;
            comes_back(&[&unlike[..length], &unlike[..apart], &unlike[..length]].concat());
        }
        comes_back(&vec![0xff; 100_000]);
    }

    #[test]
    fn samples_take_a_fraction() {
        let sample = |n: u64| [n / 10, 4000 + n * 7919 % 997, 1 << 31, 4096, n * 4096];
        let samples: Vec<u8> = (0..10_000).flat_map(sample).flat_map(u64::to_le_bytes).collect();
        let length = comes_back(&samples);
        assert!(length < samples.len() / 3, "{length} bytes of {}", samples.len());
    }
}
