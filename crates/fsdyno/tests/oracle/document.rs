//! Parses JSON as both tools write it: the order of keys and the kind of numbers are kept, because parsers of fio's
//! output depend on both. (`1` and `1.0` differ here.)

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::{differences, tools};

/// A JSON value with the order of its keys (duplicates included) and the kind of its numbers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    Object(Vec<(String, Node)>),
    List(Vec<Node>),
    Text(String),
    Integer(i128),
    Float(f64),
    Other,
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Node, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Node;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("JSON")
            }
            fn visit_bool<E>(self, _: bool) -> Result<Node, E> {
                Ok(Node::Other)
            }
            fn visit_unit<E>(self) -> Result<Node, E> {
                Ok(Node::Other)
            }
            fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
                Ok(Node::Integer(value.into()))
            }
            fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
                Ok(Node::Integer(value.into()))
            }
            fn visit_f64<E>(self, value: f64) -> Result<Node, E> {
                Ok(Node::Float(value))
            }
            fn visit_str<E>(self, value: &str) -> Result<Node, E> {
                Ok(Node::Text(value.to_owned()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Node, A::Error> {
                let mut list = Vec::new();
                while let Some(item) = items.next_element()? {
                    list.push(item);
                }
                Ok(Node::List(list))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Node, A::Error> {
                let mut object = Vec::new();
                while let Some(entry) = entries.next_entry()? {
                    object.push(entry);
                }
                Ok(Node::Object(object))
            }
        }
        deserializer.deserialize_any(Any)
    }
}

impl Node {
    fn kind(&self) -> &'static str {
        match self {
            Node::Object(_) => "object",
            Node::List(_) => "list",
            Node::Text(_) => "string",
            Node::Integer(_) => "integer",
            Node::Float(_) => "float",
            Node::Other => "true, false or null",
        }
    }

    /// The value under `key` of an object.
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        let Node::Object(entries) = self else { return None };
        entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The value at a path such as `read/total_ios`.
    pub(crate) fn at(&self, path: &str) -> Option<&Node> {
        path.split('/').try_fold(self, Node::get)
    }

    /// The entries of `jobs`.
    pub(crate) fn jobs(&self) -> &[Node] {
        match self.get("jobs") {
            Some(Node::List(jobs)) => jobs,
            _ => &[],
        }
    }
}

/// The one document on `stdout`; nothing may precede or follow it.
pub(crate) fn parse_only_document(stdout: &str) -> Result<Node, String> {
    serde_json::from_str(stdout).map_err(|error| format!("stdout is not one JSON document: {error}"))
}

/// All documents on `stdout`, one after the other, as `--status-interval` gives them.
pub(crate) fn parse_documents(stdout: &str) -> Result<Vec<Node>, String> {
    let stream = serde_json::Deserializer::from_str(stdout).into_iter();
    stream.collect::<Result<_, _>>().map_err(|error| format!("stdout is not a row of JSON documents: {error}"))
}

/// fio prints messages before the document when a job fails: they are skipped. Without a document: `None`.
pub(crate) fn skip_to_document(stdout: &str) -> Option<&str> {
    if stdout.starts_with("{\n") { Some(stdout) } else { stdout.find("\n{\n").map(|at| &stdout[at + 1..]) }
}

/// The document on `stdout`, and what stands before and after it; without a document the first is empty.
pub(crate) fn cut_out(stdout: &str) -> (String, String) {
    const END: &str = "\n}\n";
    let Some(document) = skip_to_document(stdout) else { return (String::new(), stdout.to_owned()) };
    let (before, length) =
        (stdout.len() - document.len(), document.find(END).map_or(document.len(), |at| at + END.len()));
    (document[..length].to_owned(), stdout[..before].to_owned() + &document[length..])
}

/// Checks that floats have six decimals and no exponent: strict readers split there.
pub(crate) fn check_float_text(document: &str) -> Vec<String> {
    let values = document.lines().filter_map(|line| line.split_once("\" : ").map(|(_, value)| value));
    let numbers = values.map(|value| value.trim_end_matches(',')).filter(|value| !value.starts_with('"'));
    let floats = numbers.filter(|value| value.contains(['.', 'e', 'E']));
    floats
        .filter(|value| value.split_once('.').is_none_or(|(_, decimals)| decimals.len() != 6))
        .map(|value| format!("JSON: the float {value} does not have six decimals"))
        .collect()
}

/// Compares keys, their order, kinds of values, and the values that do not depend on the clock. `path` has the form of
/// the table of differences: `jobs[].read.iops`.
pub(crate) fn compare(path: &str, fio: &Node, ours: &Node, found: &mut Vec<String>) {
    match (fio, ours) {
        (Node::Object(fio), Node::Object(ours)) => compare_objects(path, fio, ours, found),
        (Node::List(fio), Node::List(ours)) => {
            if fio.len() != ours.len() {
                found.push(format!("JSON {path}: {} entries in fio, {} in ours", fio.len(), ours.len()));
            }
            for (fio, ours) in fio.iter().zip(ours) {
                compare(&format!("{path}[]"), fio, ours, found);
            }
        }
        (fio, ours) if fio.kind() != ours.kind() => {
            found.push(format!("JSON {path}: {} in fio, {} in ours", fio.kind(), ours.kind()));
        }
        (fio, ours) if is_exact(path) && fio != ours => {
            found.push(format!("JSON {path}: {fio:?} in fio, {ours:?} in ours"));
        }
        _ => {}
    }
}

fn compare_objects(path: &str, fio: &[(String, Node)], ours: &[(String, Node)], found: &mut Vec<String>) {
    if path.ends_with(".bins") {
        // One key for each latency that occurred.
        return;
    }
    let fio = &without_repeats(fio);
    let ours = &if tools::comparing_fio_with_itself() { without_repeats(ours) } else { ours.to_vec() };
    let fio_keys: Vec<&str> = fio.iter().map(|(key, _)| key.as_str()).collect();
    let known = |key: &str, value: &Node| {
        let allowed = differences::is_valueless_flag(path, value) || differences::is_added_key(&child(path, key));
        !fio_keys.contains(&key) && allowed
    };
    let shared: Vec<&(String, Node)> = ours.iter().filter(|(key, value)| !known(key, value)).collect();
    let our_keys: Vec<&str> = shared.iter().map(|(key, _)| key.as_str()).collect();
    if fio_keys == our_keys {
        for ((key, fio), (_, ours)) in fio.iter().zip(shared) {
            compare(&child(path, key), fio, ours, found);
        }
        return;
    }
    let missing: Vec<_> = fio_keys.iter().filter(|key| !our_keys.contains(key)).collect();
    let added: Vec<_> = our_keys.iter().filter(|key| !fio_keys.contains(key)).collect();
    if missing.is_empty() && added.is_empty() {
        found.push(format!("JSON {path}: order of keys {fio_keys:?} in fio, {our_keys:?} in ours"));
    } else {
        found.push(format!("JSON {path}: missing {missing:?}, added {added:?}"));
    }
    for (key, fio) in fio {
        if let Some((_, ours)) = ours.iter().find(|(name, _)| name == key) {
            compare(&child(path, key), fio, ours, found);
        }
    }
}

/// The entries without repeated options: fio lists an option as often as it was given, although only the last one
/// counts and strict readers refuse repeated keys. The last ones are kept.
fn without_repeats(entries: &[(String, Node)]) -> Vec<(String, Node)> {
    let is_last = |index: usize, key: &str| entries[index + 1..].iter().all(|(later, _)| later != key);
    entries
        .iter()
        .enumerate()
        .filter(|(index, (key, _))| is_last(*index, key))
        .map(|(_, entry)| entry.clone())
        .collect()
}

fn child(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Whether the words of the case determine the value, whatever the machine.
fn is_exact(path: &str) -> bool {
    const EXACT: [&str; 8] = [
        "jobs[].jobname",
        "jobs[].groupid",
        "jobs[].error",
        "jobs[].desc",
        "jobs[].latency_depth",
        "jobs[].latency_target",
        "jobs[].latency_percentile",
        "jobs[].latency_window",
    ];
    EXACT.contains(&path) || path.starts_with("jobs[].job options.") || path.starts_with("global options.")
}

/// Compares the depths at submission of all jobs, for cases whose queue is always full.
pub(crate) fn compare_depths(fio: &Node, ours: &Node, found: &mut Vec<String>) {
    for (index, (fio, ours)) in fio.jobs().iter().zip(ours.jobs()).enumerate() {
        for key in ["iodepth_level", "iodepth_submit"] {
            compare_value(index, key, fio, ours, found);
        }
    }
}

/// Compares bytes and numbers of I/Os of all jobs, for cases whose words fix them.
pub(crate) fn compare_counts(fio: &Node, ours: &Node, found: &mut Vec<String>) {
    for (index, (fio, ours)) in fio.jobs().iter().zip(ours.jobs()).enumerate() {
        for direction in ["read", "write", "trim", "mixed"] {
            for key in
                ["io_bytes", "io_kbytes", "total_ios", "short_ios", "drop_ios", "lat_ns/N", "clat_ns/N", "slat_ns/N"]
            {
                compare_value(index, &format!("{direction}/{key}"), fio, ours, found);
            }
        }
        compare_value(index, "sync/total_ios", fio, ours, found);
        compare_value(index, "total_err", fio, ours, found);
        compare_value(index, "first_error", fio, ours, found);
    }
}

fn compare_value(index: usize, path: &str, fio: &Node, ours: &Node, found: &mut Vec<String>) {
    let (fio, ours) = (fio.at(path), ours.at(path));
    if fio != ours {
        found.push(format!("jobs[{index}] {path}: {fio:?} in fio, {ours:?} in ours"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn differences_of(fio: &str, ours: &str) -> Vec<String> {
        let mut found = Vec::new();
        compare("", &parse_only_document(fio).unwrap(), &parse_only_document(ours).unwrap(), &mut found);
        found
    }

    #[test]
    fn kinds_order_and_keys_count() {
        assert_eq!(differences_of(r#"{"a":1,"b":2.5}"#, r#"{"a":7,"b":0.1}"#), Vec::<String>::new());
        assert_eq!(differences_of(r#"{"a":1}"#, r#"{"a":1.0}"#), ["JSON a: integer in fio, float in ours"]);
        assert_eq!(differences_of(r#"{"a":1,"b":2}"#, r#"{"b":2,"a":1}"#).len(), 1);
        assert_eq!(differences_of(r#"{"a":1,"b":2}"#, r#"{"a":1,"c":2}"#), [r#"JSON : missing ["b"], added ["c"]"#]);
    }

    #[test]
    fn known_additions_are_accepted_only_where_they_belong() {
        assert_eq!(
            differences_of(r#"{"jobs":[{"a":1}]}"#, r#"{"jobs":[{"job_start":5,"a":1}]}"#),
            Vec::<String>::new()
        );
        assert_eq!(differences_of(r#"{"jobs":[]}"#, r#"{"job_start":5,"jobs":[]}"#).len(), 1);
        let (fio, ours) = (r#"{"global options":{}}"#, r#"{"global options":{"thread":""}}"#);
        assert_eq!(differences_of(fio, ours), Vec::<String>::new());
    }

    #[test]
    fn options_written_twice_appear_once() {
        let (twice, once) = (r#"{"global options":{"a":"1","a":"2"}}"#, r#"{"global options":{"a":"2"}}"#);
        assert_eq!(differences_of(twice, once), Vec::<String>::new());
        assert_eq!(differences_of(twice, twice).is_empty(), tools::comparing_fio_with_itself());
    }

    #[test]
    fn exact_values_are_compared() {
        assert_eq!(differences_of(r#"{"jobs":[{"error":0}]}"#, r#"{"jobs":[{"error":5}]}"#).len(), 1);
    }

    #[test]
    fn floats_have_six_decimals() {
        assert!(check_float_text("  \"a\" : 1.500000,\n  \"b\" : 7\n").is_empty());
        assert_eq!(check_float_text("  \"a\" : 1.5,\n  \"b\" : \"0.1\"\n").len(), 1);
        assert_eq!(check_float_text("  \"a\" : 1e9\n").len(), 1);
    }

    #[test]
    fn messages_before_a_document_are_skipped_for_fio_only() {
        assert_eq!(skip_to_document("fio: pid=1\n{\n}\n"), Some("{\n}\n"));
        assert!(parse_only_document("fio: pid=1\n{\n}\n").is_err());
        assert_eq!(skip_to_document("nothing"), None);
        let parts = |document: &str, rest: &str| (document.to_owned(), rest.to_owned());
        assert_eq!(cut_out("a: (g=0)\n{\n  {\n  }\n}\n\nreport\n"), parts("{\n  {\n  }\n}\n", "a: (g=0)\n\nreport\n"));
        assert_eq!(cut_out("nothing"), parts("", "nothing"));
    }
}
