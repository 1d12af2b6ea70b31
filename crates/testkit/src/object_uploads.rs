//! Uploads in parts of a server of objects.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::object_list::{Objects, value_of};

/// S3 takes no smaller parts before the last one, bytes.
const PART_BYTES_MIN: usize = 5 << 20;

/// Those that are not complete, by id: the path of the object, and the parts by number.
#[derive(Default)]
pub(crate) struct Uploads {
    open: BTreeMap<String, (String, BTreeMap<u32, Vec<u8>>)>,
    begun: usize,
}

impl Uploads {
    pub(crate) fn len(&self) -> usize {
        self.open.len()
    }

    /// Status and body for a request about an upload; `fails`: its end says an error behind a good status.
    pub(crate) fn answer(
        &mut self,
        (method, path, query): (&str, &str, &str),
        body: Vec<u8>,
        objects: &mut Objects,
        fails: bool,
    ) -> (u16, Vec<u8>) {
        let id = &*value_of(query, "uploadId");
        match method {
            "GET" => return (200, self.page(path, &value_of(query, "prefix")).into_bytes()),
            "POST" if id.is_empty() => {
                self.begun += 1;
                let id = format!("upload-{}", self.begun);
                self.open.insert(id.clone(), (path.to_owned(), BTreeMap::new()));
                let document =
                    format!("<InitiateMultipartUploadResult><UploadId>{id}</UploadId></InitiateMultipartUploadResult>");
                return (200, document.into_bytes());
            }
            _ => {}
        }
        let Some((_, parts)) = self.open.get_mut(id) else {
            return (404, b"<Error><Code>NoSuchUpload</Code></Error>".to_vec());
        };
        match method {
            "PUT" => {
                parts.insert(value_of(query, "partNumber").parse().unwrap_or(0), body);
                (200, Vec::new())
            }
            "POST" if fails => (200, b"<Error><Code>InternalError</Code></Error>".to_vec()),
            "POST" => {
                let listed = String::from_utf8_lossy(&body).matches("<Part>").count();
                if listed != parts.len() {
                    return (400, b"<Error><Code>InvalidPart</Code></Error>".to_vec());
                }
                if parts.values().rev().skip(1).any(|part| part.len() < PART_BYTES_MIN) {
                    return (400, b"<Error><Code>EntityTooSmall</Code></Error>".to_vec());
                }
                if let Some((path, parts)) = self.open.remove(id) {
                    let joined = parts.into_values().reduce(|mut object, part| {
                        object.extend_from_slice(&part);
                        object
                    });
                    objects.insert(path, Arc::new(joined.unwrap_or_default()));
                }
                (200, b"<CompleteMultipartUploadResult/>".to_vec())
            }
            _ => {
                self.open.remove(id);
                (204, Vec::new())
            }
        }
    }

    fn page(&self, bucket: &str, prefix: &str) -> String {
        let before = format!("{}/{prefix}", bucket.trim_end_matches('/'));
        let ours = self.open.iter().filter(|(_, (path, _))| path.starts_with(&before));
        let each = ours.map(|(id, (path, _))| {
            let key = path.splitn(3, '/').nth(2).unwrap_or_default();
            format!("<Upload><Key>{key}</Key><UploadId>{id}</UploadId></Upload>")
        });
        let all: String = each.collect();
        format!("<ListMultipartUploadsResult><IsTruncated>false</IsTruncated>{all}</ListMultipartUploadsResult>")
    }
}
