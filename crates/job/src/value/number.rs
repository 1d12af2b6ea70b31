//! Integers, counts, shares and byte counts.

use super::{Reading, Refusal};
use crate::typed::Amount;

/// Reads a count of bytes (or of anything else that takes `k`, `m`, ...): 0 to 2^63-1.
pub fn size(text: &str, reading: &mut Reading) -> Result<u64, Refusal> {
    let parts = SplitNumber::of(text)?;
    if parts.negative {
        return Err(Refusal::new(NEGATIVE));
    }
    parts.number(reading)
}

/// Reads an integer that may be negative; the same suffixes as [`size`].
pub fn integer(text: &str, reading: &mut Reading) -> Result<i64, Refusal> {
    let parts = SplitNumber::of(text)?;
    let number = parts.number(reading)?.cast_signed();
    Ok(if parts.negative { -number } else { number })
}

/// Reads the number of a switch, which takes no unit.
pub fn switch(text: &str) -> Result<i64, Refusal> {
    let parts = SplitNumber::of(text)?;
    let number = i32::try_from(parts.value()?).ok().filter(|_| parts.suffix.trim().is_empty());
    let number = i64::from(number.ok_or_else(|| Refusal::new("this is a switch").advise("write 0 or 1"))?);
    Ok(if parts.negative { -number } else { number })
}

/// Reads bytes, a percentage (`50%`, 0 to 100) or a count of zones (`4z`). Several `%`, as scripts write them, count as
/// one.
pub fn amount(text: &str, reading: &mut Reading) -> Result<Amount, Refusal> {
    let parts = SplitNumber::of(text)?;
    if parts.negative {
        return Err(Refusal::new(NEGATIVE));
    }
    if parts.suffix.starts_with('%') && !parts.blank && !parts.hexadecimal {
        if !parts.suffix.bytes().all(|byte| byte == b'%') {
            return Err(Refusal::new(format!("nothing may follow the % of {}", parts.text)));
        }
        return match parts.digits.parse() {
            Ok(percent @ 0..=100) => Ok(Amount::Percent(percent)),
            _ => Err(Refusal::new(format!("{} % is more than 100 %", parts.digits)).advise("give 0% to 100%")),
        };
    }
    if parts.text.ends_with('%') {
        let reason = "a percentage is a whole number right before the %";
        return Err(parts.misread(reason, reading.kb_base).advise("write it as 50%"));
    }
    if matches!(parts.suffix, "z" | "Z") && !parts.blank && !parts.hexadecimal {
        return parts.value().map(Amount::Zones);
    }
    size(text, reading).map(Amount::Bytes)
}

/// Reads the count after a colon, as in `randread:8`.
pub fn count(text: &str) -> Result<u32, Refusal> {
    let trimmed = text.trim();
    let digits = leading_digits(trimmed);
    let too_large = || Refusal::new(format!("{digits} is larger than 2^32-1"));
    match digits.len() {
        0 => Err(Refusal::new("not a count")),
        length if length == trimmed.len() => digits.parse().map_err(|_| too_large()),
        _ => Err(Refusal::misread("a count is a whole number without a unit", &digits)),
    }
}

/// Reads a percentage of a list, as in `4k/60`.
pub fn share(text: &str) -> Result<u32, Refusal> {
    let share = count(text.trim_end_matches('%'))?;
    if share > 100 {
        return Err(Refusal::new(format!("{text} is not a percentage (0 to 100)")));
    }
    Ok(share)
}

pub(super) fn leading_digits(text: &str) -> &str {
    &text[..text.bytes().take_while(u8::is_ascii_digit).count()]
}

/// A number split as fio splits it: the unit follows the digits directly, and the rest is dropped.
pub(super) struct SplitNumber<'t> {
    /// The text without the blanks and the sign before it.
    text: &'t str,
    /// Whether blanks separate number and unit: fio takes no unit then.
    pub blank: bool,
    pub negative: bool,
    pub digits: &'t str,
    /// Whether the digits begin with `0x`: fio takes no unit then.
    pub hexadecimal: bool,
    pub suffix: &'t str,
}

impl<'t> SplitNumber<'t> {
    pub(super) fn of(text: &'t str) -> Result<SplitNumber<'t>, Refusal> {
        let trimmed = text.trim_start();
        let blank = trimmed.len() != text.len();
        let (negative, text) = match trimmed.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, trimmed.strip_prefix('+').unwrap_or(trimmed)),
        };
        let hexadecimal = text.get(..2).is_some_and(|prefix| prefix.eq_ignore_ascii_case("0x"));
        let length = match hexadecimal {
            true => 2 + text[2..].bytes().take_while(u8::is_ascii_hexdigit).count(),
            false => leading_digits(text).len(),
        };
        if length == 0 || (hexadecimal && length == 2) {
            return Err(Refusal::new("not a number"));
        }
        let (digits, suffix) = text.split_at(length);
        Ok(SplitNumber { text, blank, negative, digits, hexadecimal, suffix })
    }

    pub(super) fn value(&self) -> Result<u64, Refusal> {
        let parsed = match self.hexadecimal {
            true => i64::from_str_radix(&self.digits[2..], 16),
            false => self.digits.parse(),
        };
        parsed.map(i64::unsigned_abs).map_err(|_| Refusal::new("larger than 2^63-1"))
    }

    /// The number and the unit that fio reads: the unit is the letters directly after the decimal digits. With `0x`
    /// anywhere, all digits are hexadecimal. `None`: fio refuses the text too.
    pub(super) fn taken_by_fio(&self) -> Option<(u64, String)> {
        let item = self.text.split(',').next().unwrap_or_default().to_ascii_lowercase();
        let number = match item.contains("0x") {
            true => {
                let digits = item.strip_prefix("0x").unwrap_or(&item);
                i64::from_str_radix(&digits[..digits.bytes().take_while(u8::is_ascii_hexdigit).count()], 16)
            }
            false => leading_digits(&item).parse(),
        };
        let unit = if self.blank { "" } else { &item[leading_digits(&item).len()..] };
        let number = number.ok().filter(|number| *number < i64::MAX)?;
        Some((number.unsigned_abs(), unit.to_owned()))
    }

    /// The refusal of a text that fio misreads. fio multiplies by the unit of the first letter, whatever follows, and
    /// counts a percentage from the largest number down.
    fn misread(&self, reason: &str, kb_base: u64) -> Refusal {
        let Some((number, unit)) = self.taken_by_fio() else { return Refusal::new(reason) };
        let letter = unit.chars().next().and_then(|letter| "kmgtp".find(letter));
        let binary = unit.get(1..).is_some_and(|rest| rest.starts_with("ib"));
        let base = if binary { other_base(kb_base) } else { kb_base };
        let number = number.wrapping_mul(letter.map_or(1, |exponent| base.pow(exponent as u32 + 1)));
        let sign = if self.negative { "-" } else { "" };
        match unit.starts_with('%') {
            true if self.negative => Refusal::new(reason),
            true => Refusal::misread(reason, &(u64::MAX - number)),
            false => Refusal::misread(reason, &format_args!("{sign}{number}")),
        }
    }

    /// The number without its sign, if fio reads the same number.
    fn number(&self, reading: &mut Reading) -> Result<u64, Refusal> {
        let factor = self.factor(reading)?;
        let number = self.value()?.checked_mul(factor).filter(|number| i64::try_from(*number).is_ok());
        number.ok_or_else(|| Refusal::new("larger than 2^63-1"))
    }

    /// The factor of the suffix. Units of one letter and units with `b` follow kb_base; units with `ib` follow the
    /// other base.
    fn factor(&self, reading: &mut Reading) -> Result<u64, Refusal> {
        let (digits, suffix, kb_base) = (self.digits, self.suffix.trim_end(), reading.kb_base);
        let misread = |reason: &str| self.misread(reason, kb_base);
        let lower = suffix.to_ascii_lowercase();
        if matches!(lower.as_str(), "" | "b" | "byte" | "bytes") {
            return Ok(1);
        }
        if suffix.contains([',', ':', '-']) {
            return Err(Refusal::new(ONE_OF_THEM));
        }
        if self.hexadecimal {
            return Err(
                misread("a hexadecimal number takes no unit").advise("write the number without a unit, or in decimal")
            );
        }
        if lower.len() > 1 && lower.strip_prefix('.').is_some_and(|zeros| zeros.bytes().all(|digit| digit == b'0')) {
            reading.notes.push(format!("{} is read as {digits}; write {digits}", self.text));
            return Ok(1);
        }
        let first = lower.chars().next().unwrap_or_default();
        let exponent = match "kmgtp".find(first) {
            Some(index) => index as u32 + 1,
            None => return Err(self.without_unit(first, misread, kb_base)),
        };
        let base = match (&lower[1..], kb_base) {
            ("" | "b", _) | ("i", 1024) => kb_base,
            ("i", _) => {
                return Err(misread(&format!("{suffix} is no unit under kb_base=1000"))
                    .advise(format!("write {digits}{suffix}b for 1024s, {digits}{} for 1000s", &suffix[..1])));
            }
            ("ib", _) => other_base(kb_base),
            _ => return Err(misread(&format!("unknown unit {suffix}")).advise(UNITS)),
        };
        if self.blank {
            return Err(misread(&format!("a blank before {}", self.text))
                .advise(format!("write {} right after the =", self.text)));
        }
        if base == 1000 && kb_base == 1024 {
            let (bytes, letter) = (self.value()?.saturating_mul(base.pow(exponent)), &suffix[..1]);
            reading.notes.push(format!(
                "{digits}{suffix} means {bytes} bytes, a power of 1000, as fio documents for kb_base=1024; write \
                 {digits}{letter} for powers of 1024"
            ));
        }
        Ok(base.pow(exponent))
    }

    /// The refusal of a text after the digits that is not a unit.
    fn without_unit(&self, first: char, misread: impl Fn(&str) -> Refusal, kb_base: u64) -> Refusal {
        match first {
            '.' => misread("fractions are not numbers here").advise(whole(self.text, kb_base)),
            '%' => misread("a percentage has no meaning here"),
            // fio refuses it too.
            'z' => Refusal::new(format!("unknown unit {}", self.suffix)).advise(UNITS),
            _ => misread(&format!("unknown unit {}", self.suffix.trim())).advise(UNITS),
        }
    }
}

/// The base of `kib`, if `k` has this base.
fn other_base(kb_base: u64) -> u64 {
    if kb_base == 1024 { 1000 } else { 1024 }
}

const NEGATIVE: &str = "a negative number has no meaning here";
pub(super) const ONE_OF_THEM: &str = "one number only: fio would keep one of them";
const UNITS: &str = "units are k, m, g, t, p; plain numbers are bytes";

/// Advice instead of a fraction: the next smaller unit, where it gives the exact value.
fn whole(text: &str, kb_base: u64) -> String {
    let number_end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let smaller = match text[number_end..].to_ascii_lowercase().as_str() {
        "m" | "mb" => "k",
        "g" | "gb" => "m",
        "t" | "tb" => "g",
        "p" | "pb" => "t",
        "k" | "kb" => "",
        _ => return "write a whole number".to_owned(),
    };
    match text[..number_end].parse::<f64>() {
        Ok(value) => format!("write {}{smaller}", (value * kb_base as f64).round()),
        Err(_) => "write a whole number".to_owned(),
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
        assert!(bytes("9223372036854775807").is_ok());
        assert!(bytes("9223372036854775808").is_err());
        assert!(bytes("999999999999p").is_err());
    }

    #[test]
    fn percentages_end_at_a_hundred() {
        let read = |text| amount(text, &mut Reading::default());
        assert_eq!(read("50%"), Ok(Amount::Percent(50)));
        assert_eq!(read("4g"), Ok(Amount::Bytes(4 << 30)));
        assert!(read("101%").is_err());
        assert_eq!((read("2z"), read("0Z")), (Ok(Amount::Zones(2)), Ok(Amount::Zones(0))));
        assert!(read("0x2z").is_err() && read("2 z").is_err() && read("2zz").is_err());
    }

    #[test]
    fn integers_may_be_negative() {
        assert_eq!(integer("-5", &mut Reading::default()), Ok(-5));
        assert_eq!(integer("-8k", &mut Reading::default()), Ok(-8192));
        assert!(integer("--5", &mut Reading::default()).is_err());
    }
}
