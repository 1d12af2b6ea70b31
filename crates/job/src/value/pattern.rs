//! Buffer patterns: `0xhex`, decimal numbers and `"text"` in any sequence.

use super::Refusal;

/// Longest pattern that is kept, bytes.
const LONGEST: usize = 512;

/// Reads a pattern into its bytes. Hexadecimal digits come in the order written, decimal numbers lowest byte
/// first (negative ones as 32 bits), text as it stands between double quotes.
pub fn buffer_pattern(text: &str) -> Result<Vec<u8>, Refusal> {
    let mut bytes = Vec::new();
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err(Refusal::new("an empty pattern"));
    }
    while !rest.is_empty() {
        rest = match rest.as_bytes()[0] {
            b'"' => quoted(&rest[1..], &mut bytes)?,
            b'\'' => {
                return Err(Refusal::new("a pattern from a file is not supported yet")
                    .advise("write the bytes as 0xhex or \"text\""));
            }
            b'0' if rest.get(..2).is_some_and(|prefix| prefix.eq_ignore_ascii_case("0x")) => {
                hexadecimal(&rest[2..], &mut bytes)?
            }
            b'-' | b'0'..=b'9' => decimal(rest, &mut bytes)?,
            _ => {
                return Err(Refusal::new(format!("a pattern cannot begin with {rest}"))
                    .advise("a pattern is \"text\" in double quotes (kept from the shell), 0xhex or a number"));
            }
        };
    }
    if bytes.len() > LONGEST {
        return Err(Refusal::new(format!("{} bytes, but a pattern has at most {LONGEST}", bytes.len())));
    }
    Ok(bytes)
}

fn quoted<'a>(text: &'a str, bytes: &mut Vec<u8>) -> Result<&'a str, Refusal> {
    let (inside, rest) = text.split_once('"').ok_or_else(|| Refusal::new("the closing quote is missing"))?;
    bytes.extend_from_slice(inside.as_bytes());
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
    let negative = text.starts_with('-');
    let start = usize::from(negative);
    let length = text[start..].bytes().take_while(u8::is_ascii_digit).count();
    let (digits, rest) = text.split_at(start + length);
    let too_large = || Refusal::new(format!("{digits} does not fit 32 bits")).advise("write it as 0xhex");
    if negative {
        let value: i32 = digits.parse().map_err(|_| too_large())?;
        bytes.extend_from_slice(&value.to_le_bytes());
    } else {
        let value: u32 = digits.parse().map_err(|_| too_large())?;
        let all = value.to_le_bytes();
        let used = all.iter().rposition(|byte| *byte != 0).map_or(1, |last| last + 1);
        bytes.extend_from_slice(&all[..used]);
    }
    Ok(rest)
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
        ] {
            assert_eq!(buffer_pattern(text), Ok(bytes), "{text}");
        }
        for text in ["abc", "0x", "\"abc", "o", "4294967296", "'file'", ""] {
            assert!(buffer_pattern(text).is_err(), "{text}");
        }
    }
}
