//! Passwords, keys and tokens, which are shown nowhere.

use zeroize::Zeroize;

/// A key, a password, a token. It has neither `Debug` nor `Display` nor a form in records, and its memory is overwritten when
/// it is dropped.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(String);

/// The text that is shown instead of a secret.
pub const HIDDEN: &str = "(hidden)";

impl Secret {
    /// Takes the text.
    pub fn new(text: String) -> Secret {
        Secret(text)
    }

    /// The text, for those who sign or send it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// There is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Overwrites what was made of a secret.
    pub fn overwrite(bytes: &mut [u8]) {
        bytes.zeroize();
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}
