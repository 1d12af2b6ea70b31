//! Reads patterns: `0xhex`, decimal numbers, `"text"`, `'file'` and `%o` in any sequence.

use super::Refusal;
use super::number::leading_digits;
use crate::typed::BytePattern;

/// Longest pattern, bytes.
const LONGEST: usize = 128 << 20;

/// Largest number of offsets in one pattern.
const OFFSETS_MAX: usize = 8;

/// Bytes of an offset.
const OFFSET_LENGTH: usize = 8;

/// Reads a pattern into its bytes. Hexadecimal digits are taken in the order written; decimal numbers lowest byte
/// first (negative ones as 32 bits); text between double quotes as it is; files are named between single quotes.
/// Blanks may stand before a decimal number; the digits of a decimal number end where `0x` begins.
pub fn buffer_pattern(text: &str) -> Result<BytePattern, Refusal> {
    let pattern = verify_pattern(text)?;
    match pattern.offsets.is_empty() {
        true => Ok(pattern),
        false => Err(Refusal::new("%o means something only in verify_pattern")),
    }
}

/// Reads a pattern that may also contain `%o`, the offset in the file.
pub fn verify_pattern(text: &str) -> Result<BytePattern, Refusal> {
    let mut pattern = BytePattern::default();
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err(Refusal::new("an empty pattern"));
    }
    while !rest.is_empty() {
        let bytes = &mut pattern.bytes;
        rest = match rest.as_bytes()[0] {
            b'"' => quoted(&rest[1..], bytes)?,
            b'\'' => {
                let (path, rest) = rest[1..].split_once('\'').ok_or_else(no_closing_quote)?;
                pattern.files.push((bytes.len(), path.to_owned()));
                rest
            }
            b'%' if rest.starts_with("%o") => {
                pattern.offsets.push(bytes.len());
                bytes.extend_from_slice(&[0; OFFSET_LENGTH]);
                &rest[2..]
            }
            b'0' if rest.get(..2).is_some_and(|prefix| prefix.eq_ignore_ascii_case("0x")) => {
                hexadecimal(&rest[2..], bytes)?
            }
            b'-' | b'+' | b'0'..=b'9' => decimal(rest, bytes)?,
            byte if byte.is_ascii_whitespace() => decimal(rest.trim_start(), bytes)?,
            _ => return Err(unknown(rest)),
        };
    }
    if pattern.offsets.len() > OFFSETS_MAX {
        return Err(Refusal::new(format!(
            "%o stands {} times, at most {OFFSETS_MAX} are possible",
            pattern.offsets.len()
        )));
    }
    pattern.check_length()?;
    Ok(pattern)
}

impl BytePattern {
    /// Inserts the content of the pattern's files. `read` gives the content, or the reason why it cannot.
    pub(crate) fn read_files(&mut self, read: &mut dyn FnMut(&str) -> Result<Vec<u8>, String>) -> Result<(), Refusal> {
        // The last file comes first, so that the positions before it stay valid.
        while let Some((at, path)) = self.files.pop() {
            let content = read(&path).map_err(|reason| Refusal::new(format!("{path}: {reason}")))?;
            let after = self.offsets.iter_mut().filter(|offset| **offset >= at);
            after.for_each(|offset| *offset += content.len());
            self.bytes.splice(at..at, content);
            self.check_length()?;
        }
        match self.bytes.is_empty() {
            true => Err(Refusal::new("an empty pattern")),
            false => Ok(()),
        }
    }

    fn check_length(&self) -> Result<(), Refusal> {
        match self.bytes.len() {
            0..=LONGEST => Ok(()),
            length => Err(Refusal::new(format!("{length} bytes, but a pattern has at most {LONGEST}"))),
        }
    }
}

fn no_closing_quote() -> Refusal {
    Refusal::new("the closing quote is missing")
}

fn quoted<'a>(text: &'a str, bytes: &mut Vec<u8>) -> Result<&'a str, Refusal> {
    let (inside, rest) = text.split_once('"').ok_or_else(no_closing_quote)?;
    bytes.extend_from_slice(&crate::bytes::bytes(inside));
    Ok(rest)
}

fn hexadecimal<'a>(text: &'a str, bytes: &mut Vec<u8>) -> Result<&'a str, Refusal> {
    let length = text.bytes().take_while(u8::is_ascii_hexdigit).count();
    let (digits, rest) = text.split_at(length);
    if digits.is_empty() {
        return Err(Refusal::new("no hexadecimal digits after 0x"));
    }
    let padded = if length % 2 == 1 { format!("0{digits}") } else { digits.to_owned() };
    for pair in padded.as_bytes().chunks(2) {
        let value = pair.iter().fold(0, |value, digit| value * 16 + (*digit as char).to_digit(16).unwrap_or(0));
        bytes.push(value as u8);
    }
    Ok(rest)
}

fn decimal<'a>(text: &'a str, bytes: &mut Vec<u8>) -> Result<&'a str, Refusal> {
    let sign = usize::from(text.starts_with(['-', '+']));
    let mut length = leading_digits(&text[sign..]).len();
    // This 0 begins the hexadecimal number that follows.
    if text[..sign + length].ends_with('0') && text[sign + length..].starts_with(['x', 'X']) {
        length -= 1;
    }
    let (number, rest) = text.split_at(sign + length);
    if length == 0 {
        return Err(unknown(text));
    }
    let value: i32 = number.parse().map_err(|_| {
        Refusal::new(format!("{number} does not fit 32 bits with their sign")).advise("write it as 0xhex")
    })?;
    let all = value.to_le_bytes();
    let used = all.iter().rposition(|byte| *byte != 0).map_or(1, |last| last + 1);
    bytes.extend_from_slice(&all[..used]);
    Ok(rest)
}

fn unknown(rest: &str) -> Refusal {
    Refusal::new(format!("a pattern cannot go on with {rest}"))
        .advise("a pattern is \"text\" in double quotes (kept from the shell), 'file', 0xhex or a number")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes that fio 3.33 wrote for the same texts.
    #[test]
    fn bytes_are_as_fio_writes_them() {
        for (text, bytes) in [
            ("0xdeadbeef", vec![0xde, 0xad, 0xbe, 0xef]),
            ("0xabc", vec![0x0a, 0xbc]),
            ("\"abcd\"", b"abcd".to_vec()),
            ("123", vec![123]),
            ("256", vec![0, 1]),
            ("70000", vec![0x70, 0x11, 0x01]),
            ("-12", vec![0xf4, 0xff, 0xff, 0xff]),
            ("0xff\"abcd\"-12", vec![0xff, b'a', b'b', b'c', b'd', 0xf4, 0xff, 0xff, 0xff]),
            ("\"ab\"-120xdeadface", vec![b'a', b'b', 0xf4, 0xff, 0xff, 0xff, 0xde, 0xad, 0xfa, 0xce]),
            ("10x5", vec![1, 5]),
            ("00X12", vec![0, 0x12]),
            ("1 2", vec![1, 2]),
            ("+5 -6", vec![5, 0xfa, 0xff, 0xff, 0xff]),
            ("0x123456789abcdef0123", vec![0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x01, 0x23]),
        ] {
            assert_eq!(buffer_pattern(text).map(|pattern| pattern.bytes), Ok(bytes), "{text}");
        }
        for text in
            ["abc", "0x", "-0x5", "1 0x5", "\"a\" \"b\"", "--5", "\"abc", "o", "2147483648", "'file", "%o", "%x", ""]
        {
            assert!(buffer_pattern(text).is_err(), "{text}");
        }
        assert!(verify_pattern(&"%o".repeat(8)).is_ok() && verify_pattern(&"%o".repeat(9)).is_err());
    }

    #[test]
    fn files_and_offsets_keep_their_order() {
        let mut pattern = verify_pattern("%o'one'7%o'two'").unwrap();
        let read = &mut |path: &str| Ok(format!("<{path}>").into_bytes());
        pattern.read_files(read).unwrap();
        assert_eq!(pattern.bytes, b"\0\0\0\0\0\0\0\0<one>\x07\0\0\0\0\0\0\0\0<two>");
        assert_eq!((pattern.offsets, pattern.files), (vec![0, 14], Vec::new()));
        let missing = &mut |_: &str| Err("No such file or directory".to_owned());
        assert!(verify_pattern("'none'").unwrap().read_files(missing).is_err());
        assert!(verify_pattern("'none'").unwrap().read_files(&mut |_| Ok(Vec::new())).is_err(), "nothing repeats");
    }
}
