//! What a server of objects says of a bucket: a page of its keys, the state of its versions and locks.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What is kept, by path. An answer shares the bytes of an object: a copy takes longer than all else.
pub(crate) type Objects = BTreeMap<String, Arc<Vec<u8>>>;

/// Names of a page, unless fewer are asked for: small, so that tests have several pages.
const PAGE_NAMES: usize = 100;

/// The document for this query about the bucket with this path.
pub(crate) fn about_bucket(objects: &Objects, path: &str, query: &str, versions: &str) -> String {
    if query.starts_with("versioning") {
        return format!("<VersioningConfiguration>{versions}</VersioningConfiguration>");
    }
    if query.starts_with("object-lock") {
        return "<Error><Code>ObjectLockConfigurationNotFoundError</Code></Error>".to_owned();
    }
    let value = |name: &str| value_of(query, name);
    let (prefix, delimiter, after) = (value("prefix"), value("delimiter"), value("continuation-token"));
    let names_max = value("max-keys").parse().unwrap_or(PAGE_NAMES).min(PAGE_NAMES);
    let bucket = format!("{}/", path.trim_end_matches('/'));
    // Keys as such, and what they have in common up to the delimiter.
    let mut names: BTreeSet<String> = BTreeSet::new();
    let paths = objects.range(bucket.clone()..).map_while(|(path, _)| path.strip_prefix(&bucket));
    for key in paths.map(decoded) {
        let Some(rest) = key.strip_prefix(&*prefix) else { continue };
        let end = rest.find('/').filter(|_| !delimiter.is_empty()).map(|at| prefix.len() + at + 1);
        let name = &key[..end.unwrap_or(key.len())];
        if name > &*after && !names.contains(name) {
            names.insert(name.to_owned());
        }
    }
    let left: Vec<&String> = names.iter().collect();
    let mut document = String::from("<ListBucketResult>");
    for name in left.iter().take(names_max) {
        let shown = name.replace('&', "&amp;").replace('<', "&lt;");
        document.push_str(&match name.ends_with('/') && !delimiter.is_empty() {
            true => format!("<CommonPrefixes><Prefix>{shown}</Prefix></CommonPrefixes>"),
            false => format!("<Contents><Key>{shown}</Key><Size>1</Size></Contents>"),
        });
    }
    if left.len() > names_max {
        let last = left[names_max - 1];
        document
            .push_str(&format!("<IsTruncated>true</IsTruncated><NextContinuationToken>{last}</NextContinuationToken>"));
    }
    document + "</ListBucketResult>"
}

/// What WebDAV says of a folder: itself, and what is directly in it.
pub(crate) fn folder(objects: &Objects, path: &str) -> String {
    let mut names = BTreeSet::from([path.to_owned()]);
    for rest in objects.keys().filter_map(|name| name.strip_prefix(path)) {
        let end = rest.find('/').map_or(rest.len(), |at| at + 1);
        names.insert(format!("{path}{}", &rest[..end]));
    }
    let all: String = names.iter().map(|name| format!("<D:response><D:href>{name}</D:href></D:response>")).collect();
    format!("<D:multistatus xmlns:D=\"DAV:\">{all}</D:multistatus>")
}

/// A page without names, after which another one comes.
pub(crate) fn page_with_next(query: &str) -> String {
    let next = value_of(query, "continuation-token").parse::<u64>().unwrap_or(0) + 1;
    format!(
        "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>{next}</NextContinuationToken></ListBucketResult>"
    )
}

pub(crate) fn value_of<'q>(query: &'q str, name: &str) -> Cow<'q, str> {
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.into_iter().find(|(known, _)| *known == name).map(|(_, value)| decoded(value)).unwrap_or_default()
}

/// The text of `%XX`.
fn decoded(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return text.into();
    }
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let [first, others @ ..] = rest {
        let code = others.get(..2).and_then(|digits| u8::from_str_radix(str::from_utf8(digits).ok()?, 16).ok());
        match (first, code) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &others[2..];
            }
            _ => {
                bytes.push(*first);
                rest = others;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned().into()
}
