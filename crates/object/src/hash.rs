//! SHA-256 and HMAC.

use fsdyno_job::Secret;
use sha2::digest::common::hazmat::{SerializableState, SerializedState};
use sha2::{Digest, Sha256};

/// A hash, or a key that was made from a hash.
pub(crate) type Sum = [u8; 32];

/// The length of a block of SHA-256 in bytes.
const BLOCK: usize = 64;

pub(crate) fn sha256(bytes: &[u8]) -> Sum {
    Sha256::digest(bytes).into()
}

/// A key of HMAC with SHA-256 (RFC 2104), of which both blocks are hashed: each text takes only the time of its own bytes. The
/// hashes are bytes, which can be overwritten.
pub(crate) struct HmacKey {
    inner: SerializedState<Sha256>,
    outer: SerializedState<Sha256>,
}

impl HmacKey {
    /// A key that is longer than a block is replaced by its hash.
    pub(crate) fn new(key: &[u8]) -> HmacKey {
        let mut block = [0; BLOCK];
        if key.len() > BLOCK {
            block[..32].copy_from_slice(&sha256(key));
        } else {
            block[..key.len()].copy_from_slice(key);
        }
        let hashed = |pad: u8| Sha256::new().chain_update(block.map(|byte| byte ^ pad)).serialize();
        let key = HmacKey { inner: hashed(0x36), outer: hashed(0x5c) };
        Secret::overwrite(&mut block);
        key
    }

    pub(crate) fn sum(&self, text: &[u8]) -> Sum {
        // They were made from hashes, so that this does not fail.
        let after = |hashed| Sha256::deserialize(hashed).unwrap_or_default();
        let inner = after(&self.inner).chain_update(text).finalize();
        after(&self.outer).chain_update(inner).finalize().into()
    }
}

impl Drop for HmacKey {
    fn drop(&mut self) {
        Secret::overwrite(&mut self.inner);
        Secret::overwrite(&mut self.outer);
    }
}

/// A hash in hexadecimal digits.
pub(crate) struct Hex([u8; 64]);

impl Hex {
    pub(crate) fn of(sum: &Sum) -> Hex {
        let mut digits = [0; 64];
        for (at, byte) in sum.iter().enumerate() {
            digits[2 * at] = b"0123456789abcdef"[usize::from(byte >> 4)];
            digits[2 * at + 1] = b"0123456789abcdef"[usize::from(byte & 15)];
        }
        Hex(digits)
    }

    pub(crate) fn as_str(&self) -> &str {
        str::from_utf8(&self.0).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cases 1, 2 and 6 of RFC 4231.
    #[test]
    fn hmac_is_that_of_rfc_4231() {
        let shown = |sum| Hex::of(&sum).as_str().to_owned();
        assert_eq!(
            shown(HmacKey::new(&[0x0b; 20]).sum(b"Hi There")),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        );
        assert_eq!(
            shown(HmacKey::new(b"Jefe").sum(b"what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        assert_eq!(
            shown(HmacKey::new(&[0xaa; 131]).sum(b"Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        );
    }
}
