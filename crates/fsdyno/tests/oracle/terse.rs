//! Compares the terse lines: parsers depend on the number of fields and on the kind of each field.

/// Compares the terse lines of two outputs.
pub(crate) fn compare(version: u8, fio: &str, ours: &str, found: &mut Vec<String>) {
    let (fio, ours) = (lines(version, fio), lines(version, ours));
    if fio.is_empty() || fio.len() != ours.len() {
        found.push(format!("terse: {} lines in fio, {} in ours", fio.len(), ours.len()));
    }
    for (fio, ours) in fio.iter().zip(&ours) {
        compare_line(fio, ours, found);
    }
}

/// The lines that begin with the version; version 2 of the format has no field with fio's own version.
fn lines(version: u8, text: &str) -> Vec<Vec<&str>> {
    let start = format!("{version};");
    text.lines().filter(|line| line.starts_with(&start)).map(|line| line.split(';').collect()).collect()
}

fn compare_line(fio: &[&str], ours: &[&str], found: &mut Vec<String>) {
    if fio.len() != ours.len() {
        found.push(format!("terse: {} fields in fio, {} in ours", fio.len(), ours.len()));
    }
    for (index, (fio, ours)) in fio.iter().zip(ours).enumerate() {
        // Fields are counted from 1, as in the format's documents.
        let is_version = index == 1 && fio.starts_with("fio-") && ours.starts_with("fio-");
        if !is_version && kind(fio) != kind(ours) {
            found.push(format!("terse: field {}: {fio:?} in fio, {ours:?} in ours", index + 1));
        }
    }
}

/// The form of a field with its numbers masked: `#`, `#.######`, `#.##%`, `99.000000%=#`, or a word as it is.
fn kind(field: &str) -> String {
    if let Some((percentile, value)) = field.split_once("%=") {
        return format!("{percentile}%={}", kind(value));
    }
    let digits = field.trim_end_matches('%');
    let is_number =
        digits.starts_with(|c: char| c.is_ascii_digit()) && digits.chars().all(|c| c.is_ascii_digit() || c == '.');
    if !is_number {
        return field.to_owned();
    }
    let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    format!("number with {decimals} decimals{}", if field.ends_with('%') { "%" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn differences_of(fio: &str, ours: &str) -> usize {
        let mut found = Vec::new();
        compare(3, fio, ours, &mut found);
        found.len()
    }

    #[test]
    fn fields_are_counted_and_their_forms_compared() {
        let fio = "banner\n3;fio-3.33;a;0;12;1.500000;5.000000%=7;1.0%;vda\n";
        assert_eq!(differences_of(fio, "3;fio-3.42-own;a;0;9999;0.000000;5.000000%=0;22.5%;vda\n"), 0);
        assert_eq!(differences_of(fio, "3;fio-3.42-own;a;0;9999;0.000000;5.000000%=0;22.5%\n"), 1);
        assert_eq!(differences_of(fio, "3;fio-3.42-own;a;0;9999;0.0;5.0%=0;22.5%;vdb\n"), 3);
        assert_eq!(differences_of(fio, ""), 1);
        assert_eq!(differences_of("", ""), 1);
    }
}
