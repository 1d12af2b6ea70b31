//! Makes the heads of a job's requests. The parts that all heads share are made once.

use std::fmt::Write;

use fsdyno_job::{ObjectDialect, ObjectOptions, Secret};
use md5::{Digest, Md5};

use crate::hash::{Hex, sha256};
use crate::signature::{Canonical, Signer};
use crate::text::{base64, push_encoded};
use crate::time::Stamp;
use crate::{Credentials, Endpoint, SecretBytes};

/// Stands in place of the hash of a body that TLS protects: hashing a body costs more than sending it.
const UNSIGNED: &str = "UNSIGNED-PAYLOAD";

/// The hash of no bytes, which most requests have.
const HASH_OF_NOTHING: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// The initial capacity for the line of a signature, so that no later request allocates memory for it.
const LINE_BYTES: usize = 1024;

/// What a request does with an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Reads the object or a part of it.
    Get,
    /// Writes the whole object.
    Put,
    /// Removes the object.
    Delete,
}

impl Method {
    fn word(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Put => "PUT",
            Method::Delete => "DELETE",
        }
    }
}

/// One request.
#[derive(Clone, Copy, Debug)]
pub struct ObjectRequest<'a> {
    /// What the request does.
    pub method: Method,
    /// The name of the job's file, as [`encoded_path`] returns it.
    pub path: &'a str,
    /// The first byte that is read or written, counted from the start of the file.
    pub offset: u64,
    /// How many bytes are read or written.
    pub length: u64,
    /// The bytes that a `Put` writes; empty for other methods.
    pub body: &'a [u8],
}

/// A request about a bucket or a whole object, beside those that are measured.
#[derive(Clone, Copy, Debug)]
pub struct PlainRequest<'a> {
    /// `GET`, `HEAD`, `PUT`, `POST`, `DELETE`; of WebDAV `MKCOL`, `PROPFIND`.
    pub method: &'static str,
    /// Made by [`encoded_path`].
    pub path: &'a str,
    /// Made by [`encoded_query`]; empty: there is none.
    pub query: &'a str,
    /// What is written.
    pub body: &'a [u8],
    /// Refused by the server if the object exists.
    pub only_new: bool,
}

/// Makes the heads of requests.
pub struct Requests {
    authority: String,
    /// Whether each file is one object, of which requests read parts; otherwise each block is an object.
    ranges: bool,
    access: Access,
}

/// How a request proves who sends it.
enum Access {
    /// With this line of the head; the line is empty when the server asks for no proof.
    Line(Secret),
    /// With this token of a session. The head also has the MD5 sum of each body.
    Swift(Secret),
    /// With a signature.
    Signed(Box<Signed>),
}

struct Signed {
    signer: Signer,
    token: Secret,
    storage_class: String,
    customer_key: Option<CustomerKey>,
    signs_bodies: bool,
    /// The time that `stamp` shows, in seconds since 1970.
    second: u64,
    stamp: Stamp,
    /// A buffer that all signatures use in turn.
    line: SecretBytes,
}

/// The part of a request that is signed: path and query as they stand in its head.
struct Signable<'a> {
    method: &'static str,
    path: std::ops::Range<usize>,
    query: std::ops::Range<usize>,
    body: &'a [u8],
}

/// The key with which the server encrypts an object, and which the server does not keep.
struct CustomerKey {
    algorithm: String,
    key: Secret,
    sum: String,
}

impl Requests {
    /// Prepares the requests of a job. With TLS, bodies are not signed, because TLS protects them.
    pub fn new(options: &ObjectOptions, endpoint: &Endpoint, key: Option<Credentials>) -> Requests {
        let access = match (options.dialect, key) {
            (ObjectDialect::S3, Some(key)) => Access::Signed(Box::new(Signed::new(options, key))),
            (ObjectDialect::Swift, _) => Access::Swift(options.swift_token.clone()),
            _ => Access::Line(basic(options)),
        };
        Requests { authority: endpoint.authority.clone(), ranges: options.ranges, access }
    }

    /// Requests that all have this line in their heads, which may be secret, and no signature.
    pub fn with_line(endpoint: &Endpoint, line: Secret) -> Requests {
        Requests { authority: endpoint.authority.clone(), ranges: false, access: Access::Line(line) }
    }

    /// Whether the signature of a request covers its body.
    pub fn signs_bodies(&self) -> bool {
        matches!(&self.access, Access::Signed(signed) if signed.signs_bodies)
    }

    /// Replaces the content of `head` by the head of this request. Allocates nothing when the longest head fits into the
    /// capacity of `head`.
    pub fn write_head(&mut self, head: &mut SecretBytes, request: &ObjectRequest<'_>, epoch_s: u64) {
        head.clear();
        let method = request.method.word();
        put(head, &[method, " ", request.path]);
        if !self.ranges {
            write_number(head, "_", request.offset);
            write_number(head, "_", request.length);
        }
        let path = method.len() + 1..head.len();
        put(head, &[" HTTP/1.1\r\nHost: ", &self.authority, "\r\n"]);
        match request.method {
            Method::Put => {
                write_number(head, "Content-Length: ", request.body.len() as u64);
                put(head, &["\r\n"]);
            }
            Method::Get if self.ranges => {
                write_number(head, "Range: bytes=", request.offset);
                write_number(head, "-", (request.offset + request.length).saturating_sub(1));
                put(head, &["\r\n"]);
            }
            Method::Get | Method::Delete => {}
        }
        match &mut self.access {
            Access::Line(line) => put(head, &[line.reveal()]),
            Access::Swift(token) => {
                put(head, &["X-Auth-Token: ", token.reveal(), "\r\n"]);
                if request.method == Method::Put {
                    put(head, &["ETag: "]);
                    Md5::digest(request.body).iter().for_each(|byte| put_hex(head, *byte));
                    put(head, &["\r\n"]);
                }
            }
            Access::Signed(signed) => {
                let what = Signable { method, path, query: 0..0, body: request.body };
                signed.sign(head, &self.authority, what, request.method, epoch_s);
            }
        }
        put(head, &["\r\n"]);
    }

    /// Replaces `head` by the head of this request. Only stores with signatures, and those without any keys, are asked.
    pub fn write_plain(&mut self, head: &mut SecretBytes, request: &PlainRequest<'_>, epoch_s: u64) {
        head.clear();
        put(head, &[request.method, " ", request.path]);
        let path = request.method.len() + 1..head.len();
        let mut query = head.len()..head.len();
        if !request.query.is_empty() {
            put(head, &["?", request.query]);
            query = path.end + 1..head.len();
        }
        put(head, &[" HTTP/1.1\r\nHost: ", &self.authority, "\r\n"]);
        if matches!(request.method, "PUT" | "POST") {
            write_number(head, "Content-Length: ", request.body.len() as u64);
            put(head, &["\r\n"]);
        }
        if request.method == "PROPFIND" {
            put(head, &["Depth: 1\r\n"]);
        }
        if request.only_new {
            put(head, &["If-None-Match: *\r\n"]);
        }
        match &mut self.access {
            Access::Line(line) | Access::Swift(line) => put(head, &[line.reveal()]),
            Access::Signed(signed) => {
                let what = Signable { method: request.method, path, query, body: request.body };
                signed.sign(head, &self.authority, what, Method::Delete, epoch_s);
            }
        }
        put(head, &["\r\n"]);
    }
}

impl Signed {
    fn new(options: &ObjectOptions, key: Credentials) -> Signed {
        let customer_key = Some(&options.customer_key).filter(|key| !key.is_empty()).map(|key| CustomerKey {
            algorithm: options.customer_algorithm.clone(),
            key: Secret::new(base64(key.reveal().as_bytes())),
            sum: base64(&Md5::digest(key.reveal().as_bytes())),
        });
        Signed {
            signer: Signer::new(&key.key_id, key.secret, &options.region, "s3"),
            token: key.token,
            storage_class: options.storage_class.clone(),
            customer_key,
            signs_bodies: !options.tls.is_on(),
            second: 0,
            stamp: Stamp::of_epoch_s(0),
            line: SecretBytes::with_capacity(LINE_BYTES),
        }
    }

    /// `class`: the method of a measured request, which decides about the headers of encryption and storage class.
    fn sign(&mut self, head: &mut SecretBytes, authority: &str, what: Signable<'_>, class: Method, epoch_s: u64) {
        if self.second != epoch_s {
            (self.second, self.stamp) = (epoch_s, Stamp::of_epoch_s(epoch_s));
        }
        let stamp = self.stamp;
        let hash = (self.signs_bodies && !what.body.is_empty()).then(|| Hex::of(&sha256(what.body)));
        let without = if self.signs_bodies { HASH_OF_NOTHING } else { UNSIGNED };
        let payload = hash.as_ref().map_or(without, Hex::as_str);
        // The signature needs the headers in the order of their names.
        let mut headers = [("", ""); 8];
        let mut count = 0;
        let mut add = |name, value| {
            headers[count] = (name, value);
            count += 1;
        };
        add("host", authority);
        add("x-amz-content-sha256", payload);
        add("x-amz-date", stamp.as_str());
        if !self.token.is_empty() {
            add("x-amz-security-token", self.token.reveal());
        }
        if let Some(key) = self.customer_key.as_ref().filter(|_| class != Method::Delete) {
            add("x-amz-server-side-encryption-customer-algorithm", &key.algorithm);
            add("x-amz-server-side-encryption-customer-key", key.key.reveal());
            add("x-amz-server-side-encryption-customer-key-md5", &key.sum);
        }
        if class == Method::Put {
            add("x-amz-storage-class", &self.storage_class);
        }
        let headers = &headers[..count];
        for (name, value) in &headers[1..] {
            put(head, &[name, ": ", value, "\r\n"]);
        }
        // The signature reads the path in `head`, so it is made in a second buffer and appended.
        let (before, mut line) = (std::mem::take(head), std::mem::take(&mut self.line));
        let canonical = Canonical {
            method: what.method,
            path: str::from_utf8(&before[what.path]).unwrap_or_default(),
            query: str::from_utf8(&before[what.query]).unwrap_or_default(),
            headers,
            payload,
        };
        self.signer.authorize(&mut line, &canonical, &stamp);
        *head = before;
        head.push(&line);
        line.clear();
        self.line = line;
    }
}

/// The header line for a user with a password; empty when the job has neither.
fn basic(options: &ObjectOptions) -> Secret {
    if options.user.is_empty() && options.password.is_empty() {
        return Secret::default();
    }
    // Joined at once: a text that grows leaves copies.
    let pair = Secret::new([&options.user, ":", options.password.reveal()].concat());
    let word = Secret::new(base64(pair.reveal().as_bytes()));
    Secret::new(["Authorization: Basic ", word.reveal(), "\r\n"].concat())
}

fn put(head: &mut SecretBytes, texts: &[&str]) {
    texts.iter().for_each(|text| head.push(text.as_bytes()));
}

fn put_hex(head: &mut SecretBytes, byte: u8) {
    head.push(&[byte >> 4, byte & 15].map(|digit| b"0123456789abcdef"[usize::from(digit)]));
}

fn write_number(head: &mut SecretBytes, before: &str, number: u64) {
    put(head, &[before]);
    // Writing to memory cannot fail.
    let _ = write!(head, "{number}");
}

/// A query of names with values, which must come in the order of their names: signatures cover it as it stands.
pub fn encoded_query(pairs: &[(&str, &str)]) -> String {
    let mut query = String::new();
    for (name, value) in pairs {
        query.push_str(if query.is_empty() { "" } else { "&" });
        name.bytes().for_each(|byte| push_encoded(&mut query, byte));
        query.push('=');
        value.bytes().for_each(|byte| push_encoded(&mut query, byte));
    }
    query
}

/// Makes the path of a request from the name of a file. Returns `None` when the name does not begin with `/`.
pub fn encoded_path(name: &[u8]) -> Option<String> {
    let mut path = String::with_capacity(name.len());
    for byte in name.strip_prefix(b"/").map(|_| name)? {
        if *byte == b'/' { path.push('/') } else { push_encoded(&mut path, *byte) }
    }
    Some(path)
}

#[cfg(test)]
mod tests;
