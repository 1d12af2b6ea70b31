//! The checksums of `verify=`, as fio 3.33 writes them.

use crc::{CRC_7_MMC, CRC_16_ARC, CRC_32_CKSUM, CRC_32_ISCSI, CRC_64_REDIS, Crc, Table};
use fsdyno_job::VerifyKind;
use sha2::Digest as _;

static CRC7: Crc<u8> = Crc::<u8>::new(&CRC_7_MMC);
static CRC16: Crc<u16> = Crc::<u16>::new(&CRC_16_ARC);
static CRC32: Crc<u32> = Crc::<u32>::new(&CRC_32_CKSUM);
static CRC64: Crc<u64> = Crc::<u64>::new(&CRC_64_REDIS);
/// Used if the processor has no instruction for it (`fsdyno_engine::checksum`).
static CRC32C: Crc<u32, Crc32cTable> = Crc::<u32, Crc32cTable>::new(&CRC_32_ISCSI);

/// A table for sixteen bytes at a time; on x86-64 a small table, because nearly all of these processors have the
/// instruction.
type Crc32cTable = Table<{ if cfg!(target_arch = "x86_64") { 1 } else { 16 } }>;

/// The longest digest on disk, bytes.
pub(super) const LONGEST: usize = 64;

/// XXH32's seed in fio.
const XXH32_SEED: u32 = 1;

/// A function that computes CRC-32C.
pub(super) type Crc32c = fn(&[u8]) -> u32;

/// CRC-32C without its last inversion, as fio has it for headers and data.
pub fn crc32c(bytes: &[u8]) -> u32 {
    !CRC32C.checksum(bytes)
}

/// Writes the digest of `data` into `digest`, whose length is [`VerifyKind::digest_length`].
pub(super) fn digest(kind: VerifyKind, crc32c: Crc32c, data: &[u8], digest: &mut [u8]) {
    match kind {
        VerifyKind::Crc7 => digest.copy_from_slice(&[CRC7.checksum(data)]),
        VerifyKind::Crc16 => digest.copy_from_slice(&CRC16.checksum(data).to_le_bytes()),
        VerifyKind::Crc32 => digest.copy_from_slice(&(!CRC32.checksum(data)).to_le_bytes()),
        VerifyKind::Crc32c => digest.copy_from_slice(&crc32c(data).to_le_bytes()),
        VerifyKind::Crc64 => digest.copy_from_slice(&CRC64.checksum(data).to_le_bytes()),
        VerifyKind::Xxhash => {
            digest.copy_from_slice(&twox_hash::XxHash32::oneshot(XXH32_SEED, data).to_le_bytes());
        }
        VerifyKind::Md5 => digest.copy_from_slice(&md5::Md5::digest(data)),
        VerifyKind::Sha1 => {
            digest.copy_from_slice(&sha1::Sha1::digest(data));
            // The words are in the byte order of the machine.
            digest.chunks_exact_mut(4).for_each(<[u8]>::reverse);
        }
        VerifyKind::Sha256 => sha256(data, digest),
        VerifyKind::Sha512 => digest.copy_from_slice(&sha2::Sha512::digest(data)),
        VerifyKind::Sha3Of224 => digest.copy_from_slice(&sha3::Sha3_224::digest(data)),
        VerifyKind::Sha3Of256 => digest.copy_from_slice(&sha3::Sha3_256::digest(data)),
        VerifyKind::Sha3Of384 => digest.copy_from_slice(&sha3::Sha3_384::digest(data)),
        VerifyKind::Sha3Of512 => digest.copy_from_slice(&sha3::Sha3_512::digest(data)),
        VerifyKind::Meta | VerifyKind::Pattern | VerifyKind::PatternHeader | VerifyKind::Null => {}
    }
}

/// What fio 3.33 stores for SHA-256: the last padded block, whose length field has the lowest byte first, with its
/// first eight bytes replaced by the lowest byte of each word of the state. So it keeps 64 bits of the hash, and the
/// end of the data.
fn sha256(data: &[u8], digest: &mut [u8]) {
    const BLOCK: usize = 64;
    const LENGTH_AT: usize = 56;
    const INITIAL: [u32; 8] =
        [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];
    let mut state = INITIAL;
    let (blocks, rest) = data.as_chunks::<BLOCK>();
    sha2::block_api::compress256(&mut state, blocks);
    let mut last = [0; BLOCK];
    last[..rest.len()].copy_from_slice(rest);
    last[rest.len()] = 0x80;
    if rest.len() >= LENGTH_AT {
        sha2::block_api::compress256(&mut state, &[last]);
        last = [0; BLOCK];
    }
    last[LENGTH_AT..].copy_from_slice(&(data.len() as u64 * 8).to_le_bytes());
    sha2::block_api::compress256(&mut state, &[last]);
    for (byte, word) in last.iter_mut().zip(state) {
        *byte = word as u8;
    }
    digest.copy_from_slice(&last);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Digests that fio 3.33 wrote for 4 KiB blocks with `verify_pattern=0xdeadbeef`; the data begin after the
    /// digest.
    #[test]
    fn digests_are_fio_s() {
        let fio = [
            (VerifyKind::Crc7, "0c"),
            (VerifyKind::Crc16, "2ffc"),
            (VerifyKind::Crc32, "5aca10d4"),
            (VerifyKind::Crc32c, "c10dd61a"),
            (VerifyKind::Crc64, "987137a39ed45ce1"),
            (VerifyKind::Xxhash, "2dd6b400"),
            (VerifyKind::Md5, "86f321f4317f1affcef25b056c377dde"),
            (VerifyKind::Sha1, "02399e9fe76fb2be33c319bc70ec7ea8b410be85"),
            (
                VerifyKind::Sha256,
                "f9063f9b5d0344aedeadbeefdeadbeefdeadbeefdeadbeef8000000000000000\
                 000000000000000000000000000000000000000000000000c07c000000000000",
            ),
            (VerifyKind::Sha3Of224, "5af34c9b2dc31730356242626419f9dbfaabf73d36b4a9cdc60405ec"),
        ];
        let block: Vec<u8> = [0xde, 0xad, 0xbe, 0xef].into_iter().cycle().take(4096).collect();
        for (kind, expected) in fio {
            let length = kind.digest_length();
            let mut found = vec![0; length];
            digest(kind, crc32c, &block[40 + length..], &mut found);
            let found: String = found.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(found, expected, "{kind:?}");
        }
    }
}
