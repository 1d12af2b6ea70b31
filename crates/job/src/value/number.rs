//! Integers and byte counts.

use super::{Reading, Refusal, split_leading_blank};
use crate::typed::Amount;

/// Reads a count of bytes (or of anything else that takes `k`, `m`, ...): 0 to 2^64-1.
pub fn size(text: &str, reading: &mut Reading) -> Result<u64, Refusal> {
    let (blank, trimmed) = split_leading_blank(text);
    if trimmed.starts_with('-') {
        return Err(Refusal::new("a negative number has no meaning here"));
    }
    let (digits, suffix) = split_digits(trimmed)?;
    let factor = factor(trimmed, digits, suffix, reading)?;
    if blank && !suffix.is_empty() {
        return Err(Refusal::new(format!("a blank before {trimmed} makes fio drop its unit and read {digits}"))
            .advise(format!("write {trimmed} right after the =")));
    }
    let number = parse_digits(digits)?;
    number.checked_mul(factor).ok_or_else(|| Refusal::new("larger than 2^64-1"))
}

/// Reads an integer that may be negative; the same suffixes as [`size`].
pub fn integer(text: &str, reading: &mut Reading) -> Result<i64, Refusal> {
    let (blank, trimmed) = split_leading_blank(text);
    let (sign, magnitude) = match trimmed.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, trimmed),
    };
    let written = if blank { format!(" {magnitude}") } else { magnitude.to_owned() };
    let number = size(&written, reading)?;
    i64::try_from(number).map(|n| sign * n).map_err(|_| Refusal::new("larger than 2^63-1"))
}

/// Reads bytes or a percentage (`50%`, 0 to 100).
pub fn amount(text: &str, reading: &mut Reading) -> Result<Amount, Refusal> {
    let trimmed = text.trim_start();
    if let Some(number) = trimmed.strip_suffix('%') {
        let percent = size(number, reading)?;
        return match u32::try_from(percent) {
            Ok(percent) if percent <= 100 => Ok(Amount::Percent(percent)),
            _ => Err(Refusal::new(format!("{percent} % is more than 100 %")).advise("give 0% to 100%")),
        };
    }
    if trimmed.ends_with(['z', 'Z']) && trimmed[..trimmed.len() - 1].bytes().all(|b| b.is_ascii_digit()) {
        return Err(Refusal::new("a count of zones needs zonemode=zbd, which is not supported yet"));
    }
    size(text, reading).map(Amount::Bytes)
}

/// Splits `4kb` into `4` and `kb`; hexadecimal digits belong to the number.
fn split_digits(text: &str) -> Result<(&str, &str), Refusal> {
    let hexadecimal = text.get(..2).is_some_and(|prefix| prefix.eq_ignore_ascii_case("0x"));
    let end = if hexadecimal {
        2 + text[2..].bytes().take_while(u8::is_ascii_hexdigit).count()
    } else {
        text.bytes().take_while(u8::is_ascii_digit).count()
    };
    if end == 0 || (hexadecimal && end == 2) {
        return Err(Refusal::new("not a number"));
    }
    let (digits, suffix) = text.split_at(end);
    if hexadecimal && !suffix.is_empty() {
        return Err(Refusal::new(format!("a hexadecimal number takes no unit: fio drops the {suffix}"))
            .advise("write the number without a unit, or in decimal"));
    }
    Ok((digits, suffix))
}

fn parse_digits(digits: &str) -> Result<u64, Refusal> {
    let parsed = match digits.get(..2) {
        Some("0x" | "0X") => u64::from_str_radix(&digits[2..], 16),
        _ => digits.parse(),
    };
    parsed.map_err(|_| Refusal::new("larger than 2^64-1"))
}

/// What a suffix multiplies by. Units of one letter and with `b` follow kb_base, units with `ib` the other base.
fn factor(text: &str, digits: &str, suffix: &str, reading: &mut Reading) -> Result<u64, Refusal> {
    let lower = suffix.trim_end().to_ascii_lowercase();
    if matches!(lower.as_str(), "" | "b" | "byte" | "bytes") {
        return Ok(1);
    }
    if lower.len() > 1 && lower.strip_prefix('.').is_some_and(|zeros| zeros.bytes().all(|digit| digit == b'0')) {
        reading.notes.push(format!("{text} is read as {digits}; write {digits}"));
        return Ok(1);
    }
    if lower.starts_with('.') {
        return Err(fraction(text, reading.kb_base));
    }
    let exponent = match lower.as_bytes()[0] {
        b'k' => 1,
        b'm' => 2,
        b'g' => 3,
        b't' => 4,
        b'p' => 5,
        _ => return Err(unknown_unit(digits, suffix)),
    };
    let other_base = if reading.kb_base == 1024 { 1000_u64 } else { 1024 };
    let base = match &lower[1..] {
        "" | "b" => reading.kb_base,
        "i" if reading.kb_base == 1024 => reading.kb_base,
        "i" => {
            return Err(Refusal::new(format!("fio reads {suffix} as {} under kb_base=1000", &suffix[..1]))
                .advise(format!("write {digits}{suffix}b for 1024s, {digits}{} for 1000s", &suffix[..1])));
        }
        "ib" => {
            if reading.kb_base == 1024 {
                let bytes = parse_digits(digits)?.saturating_mul(other_base.pow(exponent));
                let letter = &suffix[..1];
                reading.notes.push(format!(
                    "{digits}{suffix} means {bytes} bytes, a power of 1000, as fio documents for kb_base=1024; \
                     write {digits}{letter} for powers of 1024"
                ));
            }
            other_base
        }
        _ => return Err(unknown_unit(digits, suffix)),
    };
    Ok(base.pow(exponent))
}

fn unknown_unit(digits: &str, suffix: &str) -> Refusal {
    Refusal::new(format!("unknown unit {suffix}, which fio would drop and read {digits}"))
        .advise("units are k, m, g, t, p; plain numbers are bytes")
}

/// `1.5g` is 1 to fio. Says what to write instead, in the next smaller unit where that is exact.
fn fraction(text: &str, kb_base: u64) -> Refusal {
    let number_end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let whole = text.split('.').next().unwrap_or_default();
    let refusal = Refusal::new(format!("fractions are not numbers here: fio would read {whole} and drop the rest"));
    let smaller = match text[number_end..].to_ascii_lowercase().as_str() {
        "m" | "mb" => "k",
        "g" | "gb" => "m",
        "t" | "tb" => "g",
        "p" | "pb" => "t",
        "k" | "kb" => "",
        _ => return refusal.advise("write a whole number"),
    };
    match text[..number_end].parse::<f64>() {
        Ok(value) => refusal.advise(format!("write {}{smaller}", (value * kb_base as f64).round())),
        Err(_) => refusal.advise("write a whole number"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Result<u64, Refusal> {
        size(text, &mut Reading::default())
    }

    #[test]
    fn units_are_powers_of_kb_base() {
        for (text, value) in [
            ("0", 0),
            ("010", 10),
            ("4096", 4096),
            ("4096b", 4096),
            ("4bytes", 4),
            ("4k", 4096),
            ("4K", 4096),
            ("4kb", 4096),
            ("4ki", 4096),
            ("3m", 3 << 20),
            ("2gb", 2 << 30),
            ("1T", 1 << 40),
            ("1pb", 1 << 50),
            ("0x10", 16),
            ("0x1b", 27),
            (" 64", 64),
        ] {
            assert_eq!(bytes(text), Ok(value), "{text}");
        }
        assert_eq!(size("4k", &mut Reading::new(1000)), Ok(4000));
        assert_eq!(size("4kib", &mut Reading::new(1000)), Ok(4096));
    }

    #[test]
    fn the_inverted_unit_is_kept_and_noted() {
        let mut reading = Reading::default();
        assert_eq!(size("4KiB", &mut reading), Ok(4000));
        assert!(reading.notes[0].contains("4000 bytes"), "{:?}", reading.notes);
    }

    #[test]
    fn what_fio_misreads_is_refused_with_advice() {
        for text in ["1.5g", "4x", "1e", "1s", "0x1k", " 64k", "4*1024", "1KiBs", "4 k", "-1", "", "x", "0x"] {
            assert!(bytes(text).is_err(), "{text}");
        }
        assert_eq!(bytes("1.5g").unwrap_err().advice.unwrap(), "write 1536m");
        assert_eq!(bytes(" 64k").unwrap_err().advice.unwrap(), "write 64k right after the =");
        assert!(bytes("18446744073709551615").is_ok());
        assert!(bytes("18446744073709551616").is_err());
        assert!(bytes("999999999999p").is_err());
    }

    #[test]
    fn percentages_end_at_a_hundred() {
        let read = |text| amount(text, &mut Reading::default());
        assert_eq!(read("50%"), Ok(Amount::Percent(50)));
        assert_eq!(read("4g"), Ok(Amount::Bytes(4 << 30)));
        assert!(read("101%").is_err());
        assert!(read("2z").unwrap_err().reason.contains("zonemode"));
    }

    #[test]
    fn integers_may_be_negative() {
        assert_eq!(integer("-5", &mut Reading::default()), Ok(-5));
        assert_eq!(integer("-8k", &mut Reading::default()), Ok(-8192));
        assert!(integer("--5", &mut Reading::default()).is_err());
    }
}
