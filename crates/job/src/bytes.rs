//! Carries any bytes in a `String`. Words, job files and names are bytes, most often UTF-8. In a text of the fio
//! language a byte that is not UTF-8 is written as a character of its own, from [`FIRST`] to [`LAST`]; it becomes
//! that byte again where a name leaves the program. If the text itself holds such a character, that character is
//! escaped byte by byte, so that two names never become one.

use std::borrow::Cow;
use std::path::Path;

/// Stands for the byte 0x80. The range lies in a plane for private use.
pub const FIRST: char = '\u{10fe80}';
/// Stands for the byte 0xff.
pub const LAST: char = '\u{10feff}';

/// The text that stands for these bytes.
pub fn text(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match byte(character) {
                None => text.push(character),
                Some(_) => character.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| text.push(escaped(byte))),
            }
        }
        text.extend(chunk.invalid().iter().map(|byte| escaped(*byte)));
    }
    text
}

/// The bytes that the text stands for.
pub fn bytes(text: &str) -> Cow<'_, [u8]> {
    if text.chars().all(|character| byte(character).is_none()) {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut bytes = Vec::with_capacity(text.len());
    for character in text.chars() {
        match byte(character) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    Cow::Owned(bytes)
}

/// The text for a path that the system gave.
pub fn shown(path: &Path) -> String {
    text(path.as_os_str().as_encoded_bytes())
}

/// The byte that a character stands for.
fn byte(character: char) -> Option<u8> {
    (FIRST..=LAST).contains(&character).then_some((u32::from(character) & 0xff) as u8)
}

/// The character for a byte that is not UTF-8 (0x80 and up).
fn escaped(byte: u8) -> char {
    char::from_u32(u32::from(FIRST) + u32::from(byte & 0x7f)).unwrap_or(FIRST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_a_text_and_every_text_a_name() {
        for name in
            [&b"plain"[..], "größer".as_bytes(), b"x\xffy", b"\x80\xc3", b"\xed\xa0\x80", "\u{10feff}".as_bytes()]
        {
            let text = text(name);
            assert_eq!(bytes(&text), name, "{text:?}");
        }
        assert!(matches!(bytes("größer"), Cow::Borrowed(_)));
        assert_eq!(text(b"x\xffy"), "x\u{10feff}y");
        // A private character cannot be used to write a byte that is not in the text.
        assert_ne!(text("\u{10feff}".as_bytes()), text(b"\xff"));
    }

    proptest::proptest! {
        #[test]
        fn no_byte_is_lost(name in proptest::collection::vec(proptest::num::u8::ANY, 0..40)) {
            assert_eq!(bytes(&text(&name)), name.as_slice());
        }
    }
}
