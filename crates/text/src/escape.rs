//! Escapes text. Names, paths and messages come from users, files and kernels; control sequences in them for a
//! terminal, a spreadsheet or a renderer are made visible. Each output format has one function, which all its writers
//! use.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The characters that stand for the bytes 0x80 to 0xff in texts that are not UTF-8, as in `fsdyno_job::bytes`.
pub const BYTES: std::ops::RangeInclusive<char> = '\u{10fe80}'..='\u{10feff}';

/// Whether a character is hostile: control characters, which a terminal obeys; characters that change the direction
/// of writing, which hide their neighbours; and separators of lines other than the line feed.
pub fn is_hostile(character: char) -> bool {
    match character {
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        '\u{2028}' | '\u{2029}' => true,
        byte if BYTES.contains(&byte) => true,
        other => other.is_control(),
    }
}

/// Text of several lines for a terminal: line feeds stay, a tab becomes a blank, hostile characters are shown by
/// number.
pub fn terminal(text: &str) -> Cow<'_, str> {
    visible(text, |character| character == '\n')
}

/// A name or a path within a line: a line feed in it does not begin a line.
pub fn line(text: &str) -> Cow<'_, str> {
    visible(text, |_| false)
}

/// A JSON document with the same values: hostile characters that JSON allows raw in a string are escaped.
pub fn json(document: &str) -> Cow<'_, str> {
    json_with(document, false)
}

/// The same for other readers than this program: a byte that is not UTF-8 is shown as `\xff`.
pub fn json_report(document: &str) -> Cow<'_, str> {
    json_with(document, true)
}

fn json_with(document: &str, bytes_shown: bool) -> Cow<'_, str> {
    replaced(
        document,
        |character| is_hostile(character) && !matches!(character, '\n' | '\t'),
        |text, character| match character {
            byte if bytes_shown && BYTES.contains(&byte) => {
                text.push('\\');
                push_number(text, byte);
            }
            other => other.encode_utf16(&mut [0; 2]).iter().for_each(|unit| {
                let _ = write!(text, "\\u{unit:04x}");
            }),
        },
    )
}

/// Text of users within a line of Markdown: nothing in it is markup.
pub fn markdown(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for character in line(text).chars() {
        match character {
            '\\' | '|' | '*' | '_' | '`' | '[' | ']' | '#' | '~' => {
                plain.push('\\');
                plain.push(character);
            }
            '<' => plain.push_str("&lt;"),
            '>' => plain.push_str("&gt;"),
            '&' => plain.push_str("&amp;"),
            other => plain.push(other),
        }
    }
    plain
}

/// A sentence of this program in Markdown, with code between backticks and words of users anywhere: the code stays
/// code, and nothing else is markup.
pub fn markdown_sentence(sentence: &str) -> String {
    let pieces: Vec<&str> = sentence.split('`').collect();
    // An empty piece means backticks in a row or at an end: then they are certainly not pairs.
    let paired = pieces.len() % 2 == 1 && pieces.iter().skip(1).step_by(2).all(|code| !code.is_empty());
    if !paired || sentence.contains("``") {
        return markdown(sentence);
    }
    let written = pieces.iter().enumerate().map(|(index, piece)| match index % 2 {
        0 => markdown(piece),
        _ => format!("`{}`", line(piece)),
    });
    written.collect()
}

/// Lines of a block of code in Markdown: nothing in them ends the block.
pub fn markdown_code(lines: &str) -> String {
    terminal(lines).replace("```", "` ` `")
}

/// A field of CSV (RFC 4180). A field that begins with `=`, `+`, `-` or `@` and is not a number is changed, so that
/// no spreadsheet takes it for a formula.
pub fn csv(field: &str) -> String {
    let shown = terminal(field);
    let formula = shown.trim_start().starts_with(['=', '+', '-', '@']) && shown.parse::<f64>().is_err();
    let shown = if formula { format!("'{shown}") } else { shown.into_owned() };
    if shown.contains(['"', ',', '\n', '\'']) { format!("\"{}\"", shown.replace('"', "\"\"")) } else { shown }
}

/// A field of a terse line: nothing in it begins a new field or line.
pub fn terse(field: &str) -> Cow<'_, str> {
    replaced(
        field,
        |character| character == ';' || is_hostile(character),
        |text, character| match character {
            ';' | '\n' | '\r' | '\t' => text.push(' '),
            other => push_number(text, other),
        },
    )
}

/// The value of a label of OpenMetrics: backslash, quote and line feed are escaped; hostile characters have no escape
/// there.
pub fn openmetrics(value: &str) -> Cow<'_, str> {
    replaced(
        value,
        |character| matches!(character, '\\' | '"') || is_hostile(character),
        |text, character| match character {
            '\\' => text.push_str("\\\\"),
            '"' => text.push_str("\\\""),
            '\n' => text.push_str("\\n"),
            byte if BYTES.contains(&byte) => {
                text.push('\\');
                push_number(text, byte);
            }
            _ => text.push(char::REPLACEMENT_CHARACTER),
        },
    )
}

/// A whole page of HTML, whose markup was escaped before.
pub fn html(page: &str) -> Cow<'_, str> {
    replaced(
        page,
        |character| is_hostile(character) && !matches!(character, '\n' | '\t'),
        |text, character| match BYTES.contains(&character) {
            true => push_number(text, character),
            false => text.push(char::REPLACEMENT_CHARACTER),
        },
    )
}

/// Appends the number of a hostile character, or `\xff` for a byte.
fn push_number(text: &mut String, character: char) {
    match BYTES.contains(&character) {
        true => {
            let _ = write!(text, "\\x{:02x}", u32::from(character) & 0xff);
        }
        false => text.extend(character.escape_unicode()),
    }
}

fn visible(text: &str, stays: impl Fn(char) -> bool) -> Cow<'_, str> {
    replaced(
        text,
        |character| is_hostile(character) && !stays(character),
        |text, character| match character {
            '\t' => text.push(' '),
            other => push_number(text, other),
        },
    )
}

/// The text with some characters replaced by `put`; it is copied only if `must` is true for a character.
fn replaced(text: &str, must: impl Fn(char) -> bool, put: impl Fn(&mut String, char)) -> Cow<'_, str> {
    if !text.contains(&must) {
        return Cow::Borrowed(text);
    }
    let mut result = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if must(character) { put(&mut result, character) } else { result.push(character) }
    }
    Cow::Owned(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NASTY: &str = "a\u{1b}]0;x\u{7}\t\u{202e}b\u{9b}\r\nc";

    #[test]
    fn a_terminal_takes_no_order_from_a_name() {
        assert_eq!(terminal(NASTY), "a\\u{1b}]0;x\\u{7} \\u{202e}b\\u{9b}\\u{d}\nc");
        assert_eq!(line("a\nb"), "a\\u{a}b");
        assert!(matches!(terminal("größer als 5 µs\n"), Cow::Borrowed(_)), "plain text is not copied");
    }

    #[test]
    fn a_byte_that_is_no_utf8_is_shown_everywhere() {
        let name = "x\u{10feff}y";
        for shown in [terminal(name), line(name), terse(name), html(name), markdown_code(name).into(), csv(name).into()]
        {
            assert_eq!(shown, r"x\xffy");
        }
        assert_eq!(openmetrics(name), r"x\\xffy");
        let document = serde_json::json!({ "name": name }).to_string();
        let name_in = |document: &str| serde_json::from_str::<serde_json::Value>(document).unwrap()["name"].clone();
        assert_eq!((name_in(&json_report(&document)), name_in(&json(&document))), (r"x\xffy".into(), name.into()));
    }

    #[test]
    fn json_keeps_its_values() {
        let value = serde_json::json!({ "name": NASTY, "beyond": "\u{1f600}" });
        let text = serde_json::to_string_pretty(&value).unwrap();
        let escaped = json(&text);
        assert!(!escaped.contains(|character| is_hostile(character) && character != '\n'), "{escaped}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&escaped).unwrap(), value);
    }

    #[test]
    fn markdown_is_no_markup() {
        assert_eq!(markdown("a|b `c` <d>\n[e](f)"), "a\\|b \\`c\\` &lt;d&gt;\\\\u{a}\\[e\\](f)");
        assert_eq!(markdown_sentence("see `fsdyno clean a*b` and a*b"), "see `fsdyno clean a*b` and a\\*b");
        assert_eq!(markdown_sentence("a ` b"), "a \\` b");
        assert_eq!(markdown_sentence("a `` b `c`"), "a \\`\\` b \\`c\\`");
        assert_eq!(markdown_code("a\n```\n\u{1b}"), "a\n` ` `\n\\u{1b}");
    }

    #[test]
    fn a_spreadsheet_gets_no_formula() {
        for formula in ["=1+1", "@a", "+a", "-a", "\t=1", " =1"] {
            assert!(csv(formula).starts_with("\"'"), "{formula:?}: {}", csv(formula));
        }
        assert_eq!(csv("\r=1"), "\\u{d}=1");
        assert_eq!(csv("-5.25"), "-5.25");
        assert_eq!(csv("a=b"), "a=b");
        assert_eq!(csv("say \"hi\", you"), "\"say \"\"hi\"\", you\"");
    }

    #[test]
    fn a_terse_field_is_one_field_and_a_label_is_one_label() {
        assert_eq!(terse("a;b\nc\u{1b}"), "a b c\\u{1b}");
        assert_eq!(openmetrics("a\"b\\c\nd\u{1b}"), "a\\\"b\\\\c\\nd\u{fffd}");
        assert_eq!(html("a\u{0}b\u{202e}c\nd"), "a\u{fffd}b\u{fffd}c\nd");
    }
}
