//! Reads the documents of object stores: elements with texts, without document types. What servers send needs no more of XML.

use std::ops::ControlFlow;

/// The longest text: no key of a store has more bytes.
const TEXT_BYTES_MAX: usize = 1024;

/// The most elements within each other.
const DEPTH_MAX: usize = 8;

/// The longest error code.
const CODE_BYTES_MAX: usize = 64;

/// The error code of an S3 error document, such as `NoSuchKey` or `SignatureDoesNotMatch`. Returns `None` when the text is not an error
/// document. What comes behind the code may be missing.
pub fn error_code(document: &[u8]) -> Option<String> {
    let mut code = None;
    let _ = each_text(document, &mut |path, text| match path {
        ["Error", "Code"] => {
            code = Some(text.trim().to_owned());
            ControlFlow::Break(())
        }
        ["Error", ..] => ControlFlow::Continue(()),
        _ => ControlFlow::Break(()),
    });
    code.filter(|code| {
        (1..=CODE_BYTES_MAX).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// Gives each element without elements to `sink`, with the names on the way to it, until it breaks. Returns the name of the
/// root; `None`: the text is no document, has a document type, a text that is longer than a key, or too many elements
/// within each other.
pub(crate) fn each_text<'d>(
    document: &'d [u8],
    sink: &mut dyn FnMut(&[&str], &str) -> ControlFlow<()>,
) -> Option<&'d str> {
    // A part of a document can end within a character.
    let mut rest = document.utf8_chunks().next()?.valid();
    let (mut open, mut root, mut text, mut is_leaf): (Vec<&str>, &str, String, bool) = Default::default();
    while let Some((before, markup)) = rest.split_once('<') {
        push_text(&mut text, before)?;
        if let Some(comment) = markup.strip_prefix("!--") {
            rest = comment.split_once("-->")?.1;
        } else if let Some(data) = markup.strip_prefix("![CDATA[") {
            let (data, after) = data.split_once("]]>")?;
            text.push_str(data);
            rest = after;
        } else if markup.starts_with('!') {
            return None;
        } else if let Some(instruction) = markup.strip_prefix('?') {
            rest = instruction.split_once("?>")?.1;
        } else if let Some(end) = markup.strip_prefix('/') {
            let (name, after) = end.split_once('>')?;
            if open.last() != Some(&name.trim_end()) {
                return None;
            }
            if is_leaf {
                let path: Vec<&str> = open.iter().map(|name| local(name)).collect();
                if sink(&path, &text).is_break() {
                    return Some(root);
                }
            }
            is_leaf = false;
            open.pop();
            rest = after;
        } else {
            let (tag, after) = tag(markup)?;
            let name = tag.split(|letter: char| letter.is_ascii_whitespace() || letter == '/').next()?;
            if name.is_empty() || (open.is_empty() && !root.is_empty()) {
                return None;
            }
            // An element that ends at once has no text.
            if !tag.ends_with('/') {
                if root.is_empty() {
                    root = local(name);
                }
                open.push(name);
                text.clear();
                is_leaf = true;
            }
            rest = after;
        }
        if text.len() > TEXT_BYTES_MAX || open.len() > DEPTH_MAX {
            return None;
        }
    }
    (open.is_empty() && !root.is_empty() && rest.trim().is_empty()).then_some(root)
}

/// The name without its namespace.
fn local(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, local)| local)
}

/// What stands before the end of a tag, and what behind it: a value in quotation marks may contain `>`.
fn tag(markup: &str) -> Option<(&str, &str)> {
    let mut quote = None;
    let end = markup.find(|letter| match (quote, letter) {
        (None, '"' | '\'') => {
            quote = Some(letter);
            false
        }
        (None, letter) => letter == '>',
        (Some(open), letter) => {
            quote = quote.filter(|_| open != letter);
            false
        }
    })?;
    Some((&markup[..end], &markup[end + 1..]))
}

/// Appends a text with its references; `None`: one of them is unknown, as all are that a document defines.
fn push_text(text: &mut String, written: &str) -> Option<()> {
    let mut parts = written.split('&');
    text.push_str(parts.next()?);
    for part in parts {
        let (name, after) = part.split_once(';')?;
        text.push(match name {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "apos" => '\'',
            _ => {
                let number = name.strip_prefix('#')?;
                let number = number
                    .strip_prefix('x')
                    .map_or_else(|| number.parse().ok(), |hex| u32::from_str_radix(hex, 16).ok());
                char::from_u32(number?)?
            }
        });
        text.push_str(after);
    }
    Some(())
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
        assert_eq!(
            error_code(b"<Error><Code>SlowDown</Code><Mess").as_deref(),
            Some("SlowDown"),
            "only its beginning is kept"
        );
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

    /// The elements without elements, as `path=text`, and the root.
    fn read(document: &str) -> (Vec<String>, Option<String>) {
        let mut all = Vec::new();
        let root = each_text(document.as_bytes(), &mut |path, text| {
            all.push(format!("{}={text}", path.join("/")));
            ControlFlow::Continue(())
        });
        (all, root.map(str::to_owned))
    }

    #[test]
    fn texts_have_their_path_however_they_are_written() {
        let document = "<?xml version='1.0'?><!-- <x> --><n:a b='>' c=\"/>\"><d/><n:e f=\"'>\">1 &lt;&#50;&#x33;<![CDATA[<&>]]></n:e >\
                        <g><h></h></g></n:a>\n";
        assert_eq!(read(document), (vec!["a/e=1 <23<&>".to_owned(), "a/g/h=".to_owned()], Some("a".to_owned())));
    }

    #[test]
    fn what_is_no_document_has_no_root() {
        for text in [
            "<a><b></a></b>",
            "<a",
            "<a b='>",
            "<a>&b;</a>",
            "<a>&#xd800;</a>",
            "<a>&amp</a>",
            "</a>",
            "<a></a><b></b>",
            "<a></a>x",
            "<a><![CDATA[</a>",
            "<a><!-- </a>",
            "<>x</>",
            "< a>x</ a>",
        ] {
            assert_eq!(read(text).1, None, "{text}");
        }
    }
}
