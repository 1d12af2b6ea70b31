//! Prints JSON in fio's layout: `"key" : value`, two blanks per level, six decimals for every float.

use std::borrow::Cow;
use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};

/// The document and a line feed.
pub(super) fn print(document: &impl Serialize) -> String {
    let mut bytes = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut bytes, Layout { pretty: PrettyFormatter::with_indent(b"  ") });
    document.serialize(&mut serializer).expect("writing values to memory cannot fail");
    bytes.push(b'\n');
    let text = String::from_utf8(bytes).expect("the serializer writes UTF-8");
    let escaped = match fsdyno_text::escape::json_report(&text) {
        Cow::Owned(escaped) => Some(escaped),
        Cow::Borrowed(_) => None,
    };
    escaped.unwrap_or(text)
}

struct Layout {
    pretty: PrettyFormatter<'static>,
}

/// The functions of serde_json's formatter that work as fio does.
macro_rules! as_pretty {
    ($($name:ident($($first:ident)?)),*) => {
        $(fn $name<W: ?Sized + Write>(&mut self, writer: &mut W $(, $first: bool)?) -> io::Result<()> {
            self.pretty.$name(writer $(, $first)?)
        })*
    };
}

impl Formatter for Layout {
    fn write_f64<W: ?Sized + Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        write!(writer, "{value:.6}")
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b" : ")
    }

    as_pretty!(begin_array(), begin_array_value(first), end_array_value(), end_array());
    as_pretty!(begin_object(), begin_object_key(first), end_object_value(), end_object());
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn layout_numbers_and_escapes() {
        let document = json!({ "a": 1, "f": 1e15, "small": 1e-9, "list": [1, 2], "text": "x\"\\\ty\u{1}" });
        let expected = "{\n  \"a\" : 1,\n  \"f\" : 1000000000000000.000000,\n  \"small\" : 0.000000,\n  \
                        \"list\" : [\n    1,\n    2\n  ],\n  \"text\" : \"x\\\"\\\\\\ty\\u0001\"\n}\n";
        assert_eq!(print(&document), expected);
        assert_eq!(serde_json::from_str::<Value>(expected).unwrap()["text"], document["text"]);
    }
}
