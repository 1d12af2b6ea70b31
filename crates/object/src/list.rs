//! Answers to questions about a bucket: a page of its keys, and single words such as the state of its versions.

use std::ops::ControlFlow;

use crate::xml;

/// Keys and folders of one page; a server sends at most 1,000.
const NAMES_MAX: usize = 1000;

/// One page of the keys of a bucket (ListObjectsV2).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListPage {
    /// The keys.
    pub keys: Vec<String>,
    /// The beginnings that keys have in common, up to the delimiter.
    pub folders: Vec<String>,
    /// What the next page is asked for with; `None`: this is the last one.
    pub next: Option<String>,
}

impl ListPage {
    /// Reads a page; `None`: the text is none, or has more names than a page may have.
    pub fn parse(document: &[u8]) -> Option<ListPage> {
        let mut page = ListPage::default();
        let mut truncated = false;
        let root = each_text(document, &mut |path, text| match path {
            [_, "Contents", "Key"] => page.keys.push(text.to_owned()),
            [_, "CommonPrefixes", "Prefix"] => page.folders.push(text.to_owned()),
            [_, "NextContinuationToken"] => page.next = Some(text.to_owned()),
            [_, "IsTruncated"] => truncated = text.trim() == "true",
            _ => {}
        })?;
        let is_page = root == "ListBucketResult" && page.keys.len().max(page.folders.len()) <= NAMES_MAX;
        // A page that is not the last one, and does not say how to go on, would hide keys.
        (is_page && truncated == page.next.is_some()).then_some(page)
    }
}

/// The names in a folder of WebDAV, as the server's paths without the first `/` (RFC 4918, PROPFIND); folders end with `/`.
/// `None`: the text is no such answer.
pub fn webdav_names(document: &[u8]) -> Option<Vec<String>> {
    let mut names = Vec::new();
    let root = each_text(document, &mut |path, text| {
        if let [_, "response", "href"] = path {
            // Some servers give whole addresses.
            let path = text
                .trim()
                .split_once("://")
                .map_or(text.trim(), |(_, rest)| rest.split_once('/').map_or("", |(_, path)| path));
            names.push(decoded(path.trim_start_matches('/')));
        }
    })?;
    (root == "multistatus").then_some(names)
}

/// The text of `%XX`.
fn decoded(text: &str) -> String {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or("").as_bytes().to_vec();
    for part in parts {
        match part.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend(format!("%{}", part.get(..2).unwrap_or(part)).bytes()),
        }
        bytes.extend(part.get(2..).unwrap_or("").bytes());
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Key and id of uploads in parts that are not complete, in a page of them; `None`: the text is none.
pub fn open_uploads(document: &[u8]) -> Option<Vec<(String, String)>> {
    let (mut keys, mut ids) = (Vec::new(), Vec::new());
    let root = each_text(document, &mut |path, text| match path {
        [_, "Upload", "Key"] => keys.push(text.to_owned()),
        [_, "Upload", "UploadId"] => ids.push(text.to_owned()),
        _ => {}
    })?;
    let is_page = root == "ListMultipartUploadsResult" && keys.len() == ids.len() && keys.len() <= NAMES_MAX;
    is_page.then(|| keys.into_iter().zip(ids).collect())
}

/// The text of an element directly below the root of this name (empty: of any name); `None`: there is none.
pub fn word_of(document: &[u8], root: &str, element: &str) -> Option<String> {
    let mut word = None;
    let found = each_text(document, &mut |path, text| {
        if path.len() == 2 && path[1] == element {
            word = Some(text.trim().to_owned());
        }
    })?;
    word.filter(|_| root.is_empty() || found == root)
}

/// Gives each element without elements to `sink`, with its path. Returns the name of the root; `None`: the text is no
/// document that can be read.
fn each_text<'d>(document: &'d [u8], sink: &mut dyn FnMut(&[&str], &str)) -> Option<&'d str> {
    xml::each_text(document, &mut |path, text| {
        sink(path, text);
        ControlFlow::Continue(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_webdav_has_names_in_any_form() {
        let page =
            b"<?xml version=\"1.0\"?><D:multistatus xmlns:D=\"DAV:\"><D:response><D:href>/a%20b/</D:href><D:propstat/>\
                     </D:response><D:response><D:href>http://h:1/a%20b/k%5f0</D:href></D:response></D:multistatus>";
        assert_eq!(webdav_names(page), Some(vec!["a b/".to_owned(), "a b/k_0".to_owned()]));
        assert_eq!(webdav_names(b"<html><response><href>/x</href></response></html>"), None);
        assert_eq!(decoded("%zz%4"), "%zz%4");
    }

    const PAGE: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\
        <Name>b</Name><Prefix>p/</Prefix><IsTruncated>true</IsTruncated><NextContinuationToken>t/1=</NextContinuationToken>\
        <Contents><Key>p/a&amp;b &#x263a;</Key><Size>4</Size><Owner><ID>x</ID></Owner></Contents>\
        <Contents><Key>p/c</Key></Contents><CommonPrefixes><Prefix>p/d/</Prefix></CommonPrefixes></ListBucketResult>";

    #[test]
    fn a_page_has_keys_folders_and_what_follows() {
        let page = ListPage::parse(PAGE.as_bytes()).unwrap();
        assert_eq!(page.keys, ["p/a&b \u{263a}", "p/c"]);
        assert_eq!((page.folders.as_slice(), page.next.as_deref()), (&["p/d/".to_owned()][..], Some("t/1=")));
        let empty = ListPage::parse(b"<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>");
        assert_eq!(empty, Some(ListPage::default()));
    }

    #[test]
    fn what_is_no_page_is_none() {
        let endless = PAGE.replace("<NextContinuationToken>t/1=</NextContinuationToken>", "");
        let many = format!("<ListBucketResult>{}</ListBucketResult>", "<Contents><Key>k</Key></Contents>".repeat(1001));
        let long = format!("<ListBucketResult><Contents><Key>{}</Key></Contents></ListBucketResult>", "k".repeat(2000));
        let deep = "<a>".repeat(100);
        let bomb =
            "<!DOCTYPE a [<!ENTITY b \"bb\">]><ListBucketResult><Contents><Key>&b;</Key></Contents></ListBucketResult>";
        let unknown = "<ListBucketResult><Contents><Key>&b;</Key></Contents></ListBucketResult>";
        let cut = &PAGE[..PAGE.len() - 5];
        for text in ["", "<html></html>", "\u{0}", &endless, &many, &long, &deep, bomb, unknown, cut] {
            assert_eq!(ListPage::parse(text.as_bytes()), None, "{:.60}", text);
        }
    }

    #[test]
    fn a_state_is_a_word_below_the_root() {
        let enabled = b"<VersioningConfiguration xmlns=\"x\"><Status>Enabled</Status></VersioningConfiguration>";
        let of = |text: &[u8]| word_of(text, "VersioningConfiguration", "Status");
        assert_eq!(of(enabled).as_deref(), Some("Enabled"));
        assert_eq!(of(b"<VersioningConfiguration/>"), None);
        let other = b"<Other><Status>Enabled</Status></Other>";
        assert_eq!((of(other), word_of(other, "", "Status").as_deref()), (None, Some("Enabled")));
    }

    #[test]
    fn open_uploads_have_a_key_and_an_id() {
        let page = "<ListMultipartUploadsResult><Prefix>p/</Prefix><Upload><Key>p/a&amp;b</Key><UploadId>1-_</UploadId>\
                    <Initiator><ID>x</ID></Initiator></Upload><Upload><UploadId>2</UploadId><Key>p/c</Key></Upload>\
                    </ListMultipartUploadsResult>";
        let wanted = [("p/a&b", "1-_"), ("p/c", "2")].map(|(key, id)| (key.to_owned(), id.to_owned()));
        assert_eq!(open_uploads(page.as_bytes()), Some(wanted.to_vec()));
        assert_eq!(open_uploads(b"<ListMultipartUploadsResult/>"), None);
        assert_eq!(open_uploads(page.replace("<UploadId>2</UploadId>", "").as_bytes()), None);
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_a_reader_fail(text: Vec<u8>) {
            let _ = ListPage::parse(&text);
        }
    }
}
