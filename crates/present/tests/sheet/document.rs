//! Parses an HTML document as strictly as the sheet is written: every element is closed by its own end tag.

/// An element: its name and attributes.
#[derive(Debug)]
pub(crate) struct Element {
    pub(crate) name: String,
    pub(crate) attributes: Vec<(String, String)>,
    /// Names of the enclosing elements, outermost first.
    pub(crate) inside: Vec<String>,
}

impl Element {
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Elements without an end tag.
const VOID: [&str; 3] = ["meta", "br", "hr"];

/// All elements of a document, in order.
///
/// # Panics
/// When an element is not closed, is closed by another's end tag, or has an attribute twice.
pub(crate) fn elements(html: &str) -> Vec<Element> {
    let mut elements = Vec::new();
    let mut open: Vec<String> = Vec::new();
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        rest = &rest[start..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            rest = &comment[comment.find("-->").expect("a comment ends") + 3..];
            continue;
        }
        let end = end_of_tag(rest);
        let tag = &rest[1..end];
        rest = &rest[end + 1..];
        if tag.starts_with('!') {
            continue;
        }
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "the end tag fits: …{}", &rest[..rest.len().min(80)]);
            continue;
        }
        let element = element(tag, &open);
        if !VOID.contains(&element.name.as_str()) {
            open.push(element.name.clone());
        }
        // The content of these is no markup.
        if ["script", "style"].contains(&element.name.as_str()) {
            let end = rest.find(&format!("</{}", element.name)).expect("a script or style ends");
            rest = &rest[end..];
        }
        elements.push(element);
    }
    assert!(open.is_empty(), "open at the end: {open:?}");
    elements
}

/// The position of the tag's `>`; one inside quotes does not count.
fn end_of_tag(text: &str) -> usize {
    let mut quoted = false;
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            b'>' if !quoted => return index,
            _ => {}
        }
    }
    panic!("a tag ends: {}", &text[..text.len().min(80)]);
}

fn element(tag: &str, inside: &[String]) -> Element {
    let (name, mut rest) = tag.split_once(' ').unwrap_or((tag, ""));
    let mut attributes: Vec<(String, String)> = Vec::new();
    while !rest.trim().is_empty() {
        rest = rest.trim_start();
        let end = rest.find(['=', ' ']).unwrap_or(rest.len());
        let key = rest[..end].to_owned();
        rest = &rest[end..];
        let mut value = "";
        if let Some(quoted) = rest.strip_prefix("=\"") {
            let end = quoted.find('"').expect("a value ends");
            value = &quoted[..end];
            rest = &quoted[end + 1..];
        }
        assert!(!attributes.iter().any(|(known, _)| *known == key), "{key} twice in <{tag}>");
        attributes.push((key, value.to_owned()));
    }
    Element { name: name.to_owned(), attributes, inside: inside.to_vec() }
}
