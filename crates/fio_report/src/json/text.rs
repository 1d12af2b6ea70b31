//! Prints JSON in fio's layout: `"key" : value`, two blanks per level, six decimals for every float.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};

use crate::sink::Sink;

/// Bytes of a piece.
const PIECE_BYTES: usize = 1 << 16;

/// Gives the document and a line feed to `sink`, in pieces.
pub(super) fn write(document: &impl Serialize, sink: &mut Sink<'_>) -> io::Result<()> {
    let mut pieces = Pieces { bytes: Vec::with_capacity(PIECE_BYTES), sink };
    let layout = Layout { pretty: PrettyFormatter::with_indent(b"  ") };
    document.serialize(&mut Serializer::with_formatter(&mut pieces, layout))?;
    pieces.write_all(b"\n")?;
    pieces.flush()
}

/// Collects the text up to the size of a piece.
struct Pieces<'s, 'f> {
    bytes: Vec<u8>,
    sink: &'s mut Sink<'f>,
}

impl Write for Pieces<'_, '_> {
    /// The serializer writes whole characters, so that each piece is UTF-8.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > PIECE_BYTES {
            self.flush()?;
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let text = std::str::from_utf8(&self.bytes).map_err(io::Error::other)?;
        let given = (self.sink)(&fsdyno_text::escape::json_report(text));
        self.bytes.clear();
        given
    }
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

    fn print(document: &Value) -> String {
        let mut text = String::new();
        let mut keep = |piece: &str| {
            text.push_str(piece);
            Ok(())
        };
        write(document, &mut keep).unwrap();
        text
    }

    #[test]
    fn a_long_document_comes_in_pieces_that_are_its_text() {
        let texts: Vec<String> = (0..40_000).map(|number| format!("\u{e9}\u{1}{number}")).collect();
        let mut pieces = Vec::new();
        let mut keep = |piece: &str| {
            pieces.push(piece.to_owned());
            Ok(())
        };
        write(&texts, &mut keep).unwrap();
        assert!(pieces.len() > 5 && pieces.iter().all(|piece| piece.len() <= 2 * PIECE_BYTES));
        assert_eq!(serde_json::from_str::<Vec<String>>(&pieces.concat()).unwrap(), texts);
    }

    #[test]
    fn nothing_more_is_made_when_a_piece_cannot_be_written() {
        let mut asked = 0;
        let mut full = |_: &str| {
            asked += 1;
            Err(io::Error::from(io::ErrorKind::StorageFull))
        };
        let error = write(&vec![1.0; 100_000], &mut full).unwrap_err();
        assert_eq!((error.kind(), asked), (io::ErrorKind::StorageFull, 1));
    }

    #[test]
    fn layout_numbers_and_escapes() {
        let document = json!({ "a": 1, "f": 1e15, "small": 1e-9, "list": [1, 2], "text": "x\"\\\ty\u{1}" });
        let expected = "{\n  \"a\" : 1,\n  \"f\" : 1000000000000000.000000,\n  \"small\" : 0.000000,\n  \
                        \"list\" : [\n    1,\n    2\n  ],\n  \"text\" : \"x\\\"\\\\\\ty\\u0001\"\n}\n";
        assert_eq!(print(&document), expected);
        assert_eq!(serde_json::from_str::<Value>(expected).unwrap()["text"], document["text"]);
    }
}
