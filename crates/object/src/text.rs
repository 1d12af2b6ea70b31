//! Encodes bytes in the alphabets of requests: base64 and percent-encoding.

/// Base64 with padding (RFC 4648).
pub(crate) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let number = (0..3).fold(0u32, |number, at| number << 8 | u32::from(three.get(at).copied().unwrap_or(0)));
        for digit in 0..4 {
            let used = digit <= three.len();
            text.push(if used { DIGITS[(number >> (18 - 6 * digit) & 63) as usize] as char } else { '=' });
        }
    }
    text
}

/// Appends a byte in the form that it has in a path (RFC 3986): `%XX`, unless the byte is an unreserved character.
pub(crate) fn push_encoded(text: &mut String, byte: u8) {
    if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
        text.push(byte as char);
    } else {
        let digit = |number: u8| b"0123456789ABCDEF"[usize::from(number)] as char;
        text.extend(['%', digit(byte >> 4), digit(byte & 15)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of RFC 4648.
    #[test]
    fn base64_is_that_of_rfc_4648() {
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
        assert_eq!(base64(&[0xff, 0xef]), "/+8=");
    }
}
