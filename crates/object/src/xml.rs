//! Reads error documents of object stores. A document with a document type is refused, because its entities can grow
//! without bound.

use quick_xml::Reader;
use quick_xml::events::Event;

/// The longest code that is read.
const CODE_BYTES_MAX: usize = 64;

/// The code of an error document, for example `SignatureDoesNotMatch`. Returns `None` when the text is not an error
/// document.
pub fn error_code(document: &[u8]) -> Option<String> {
    let mut reader = Reader::from_reader(document);
    let mut path: Vec<bool> = Vec::new();
    loop {
        match reader.read_event().ok()? {
            Event::Start(element) => {
                let wanted = if path.is_empty() { "Error" } else { "Code" };
                let known = element.local_name().into_inner() == wanted && path.len() < 2;
                if path.is_empty() && !known {
                    return None;
                }
                path.push(known);
            }
            Event::End(_) => drop(path.pop()),
            Event::Text(text) if path == [true, true] => {
                let code = text.trim();
                let is_code = !code.is_empty() && code.len() <= CODE_BYTES_MAX;
                return (is_code && code.bytes().all(|byte| byte.is_ascii_alphanumeric())).then(|| code.to_owned());
            }
            Event::DocType(_) | Event::Eof => return None,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_has_a_code() {
        let document = b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Resource><Code>Not</Code></Resource>\
                         <Code>SlowDown</Code><Message>x</Message></Error>";
        assert_eq!(error_code(document).as_deref(), Some("SlowDown"));
        let spaced = b"<Error xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"> <Code> NoSuchKey </Code></Error>";
        assert_eq!(error_code(spaced).as_deref(), Some("NoSuchKey"));
    }

    #[test]
    fn what_is_no_error_has_none() {
        let bomb = b"<!DOCTYPE a [<!ENTITY b \"bb\"><!ENTITY c \"&b;&b;\">]><Error><Code>&c;</Code></Error>";
        let long = format!("<Error><Code>{}</Code></Error>", "x".repeat(CODE_BYTES_MAX + 1));
        let order = b"<Error><Code>\x1b[2J</Code></Error>";
        for text in [&b""[..], b"<html><Error><Code>A</Code></Error></html>", b"\x00\xff", bomb, order] {
            assert_eq!(error_code(text), None);
        }
        assert_eq!(error_code(long.as_bytes()), None);
    }
}
