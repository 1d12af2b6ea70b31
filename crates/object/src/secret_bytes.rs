//! A buffer for texts that have secrets in them.

use std::fmt;
use std::ops::Deref;

use fsdyno_job::Secret;

/// A buffer for texts that have secrets in them. Its memory is overwritten before it is freed: also the memory that it leaves
/// when it grows.
#[derive(Default)]
pub struct SecretBytes(Vec<u8>);

impl SecretBytes {
    /// Empty, with room for this number of bytes.
    pub fn with_capacity(bytes: usize) -> SecretBytes {
        SecretBytes(Vec::with_capacity(bytes))
    }

    /// The number of bytes for which there is room.
    pub fn capacity(&self) -> usize {
        self.0.capacity()
    }

    /// Appends these bytes. Allocates nothing where there is room for them.
    #[inline]
    pub fn push(&mut self, bytes: &[u8]) {
        let needed = self.0.len() + bytes.len();
        if needed > self.0.capacity() {
            self.grow(needed);
        }
        self.0.extend_from_slice(bytes);
    }

    /// Keeps the first bytes.
    pub fn truncate(&mut self, bytes: usize) {
        self.0.truncate(bytes);
    }

    /// Removes all bytes and keeps the room.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    #[cold]
    fn grow(&mut self, needed: usize) {
        let mut larger = SecretBytes::with_capacity(needed.next_power_of_two());
        larger.0.extend_from_slice(&self.0);
        // The smaller one is overwritten as it is dropped.
        *self = larger;
    }
}

impl fmt::Write for SecretBytes {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push(text.as_bytes());
        Ok(())
    }
}

impl Deref for SecretBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for SecretBytes {
    fn drop(&mut self) {
        // All of its room: a longer text may have stood there before.
        self.0.resize(self.0.capacity(), 0);
        Secret::overwrite(&mut self.0);
    }
}
