use fsdyno_job::Tls;

use super::*;

fn options(dialect: ObjectDialect, tls: Tls) -> ObjectOptions {
    ObjectOptions { dialect, tls, ..ObjectOptions::default() }
}

fn key() -> Option<Credentials> {
    let secret = Secret::new("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".to_owned());
    Some(Credentials { key_id: "AKIAIOSFODNN7EXAMPLE".to_owned(), secret, token: Secret::default() })
}

fn head_of(options: &ObjectOptions, method: Method, body: &[u8]) -> String {
    let endpoint = Endpoint::parse("h:9000", options.tls.is_on()).unwrap();
    let mut requests = Requests::new(options, &endpoint, key());
    let mut head = SecretBytes::default();
    let request = ObjectRequest { method, path: "/b/k", offset: 8192, length: 4096, body };
    requests.write_head(&mut head, &request, 1_369_353_600);
    let first = head.to_vec();
    let room = head.capacity();
    requests.write_head(&mut head, &request, 1_369_353_600);
    assert_eq!((&*head, head.capacity()), (&*first, room), "the same in the same place");
    String::from_utf8(first).unwrap()
}

#[test]
fn blocks_and_ranges_have_the_urls_of_fio() {
    let webdav = options(ObjectDialect::WebDav, Tls::Off);
    let ranges = ObjectOptions { ranges: true, ..webdav.clone() };
    assert_eq!(head_of(&webdav, Method::Get, b""), "GET /b/k_8192_4096 HTTP/1.1\r\nHost: h:9000\r\n\r\n");
    assert_eq!(head_of(&webdav, Method::Delete, b""), "DELETE /b/k_8192_4096 HTTP/1.1\r\nHost: h:9000\r\n\r\n");
    assert_eq!(
        head_of(&webdav, Method::Put, b"abc"),
        "PUT /b/k_8192_4096 HTTP/1.1\r\nHost: h:9000\r\nContent-Length: 3\r\n\r\n"
    );
    assert_eq!(
        head_of(&ranges, Method::Get, b""),
        "GET /b/k HTTP/1.1\r\nHost: h:9000\r\nRange: bytes=8192-12287\r\n\r\n"
    );
    assert_eq!(head_of(&ranges, Method::Put, b"a"), "PUT /b/k HTTP/1.1\r\nHost: h:9000\r\nContent-Length: 1\r\n\r\n");
}

#[test]
fn names_and_tokens_stand_in_their_headers() {
    let mut plain = options(ObjectDialect::WebDav, Tls::Off);
    (plain.user, plain.password) = ("Aladdin".to_owned(), Secret::new("open sesame".to_owned()));
    // The example of RFC 7617.
    assert!(head_of(&plain, Method::Get, b"").contains("\r\nAuthorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n"));
    let mut swift = options(ObjectDialect::Swift, Tls::Off);
    swift.swift_token = Secret::new("AUTH_tk".to_owned());
    let head = head_of(&swift, Method::Put, b"message digest");
    assert!(head.contains("\r\nX-Auth-Token: AUTH_tk\r\nETag: f96b697d7cb7938d525a2f31aaf161d0\r\n"), "{head}");
    assert!(!head_of(&swift, Method::Get, b"").contains("ETag"));
}

#[test]
fn bodies_are_signed_where_nothing_else_protects_them() {
    let signed = head_of(&options(ObjectDialect::S3, Tls::Off), Method::Put, b"Welcome to Amazon S3.");
    let hash = "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072";
    assert!(signed.contains(&format!("\r\nx-amz-content-sha256: {hash}\r\n")), "{signed}");
    assert!(signed.contains("SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-storage-class, "), "{signed}");
    for tls in [Tls::Checked, Tls::Unchecked] {
        let head = head_of(&options(ObjectDialect::S3, tls), Method::Put, b"Welcome to Amazon S3.");
        assert!(head.contains("\r\nx-amz-content-sha256: UNSIGNED-PAYLOAD\r\n"), "{head}");
    }
    let read = head_of(&options(ObjectDialect::S3, Tls::Off), Method::Get, b"");
    assert!(read.contains("SignedHeaders=host;x-amz-content-sha256;x-amz-date, "), "{read}");
    assert!(read.contains(&format!("\r\nx-amz-content-sha256: {}\r\n", Hex::of(&sha256(b"")).as_str())), "{read}");
}

#[test]
fn keys_of_customers_go_with_what_reads_and_writes() {
    let mut s3 = options(ObjectDialect::S3, Tls::Checked);
    s3.customer_key = Secret::new("01234567890123456789012345678901".to_owned());
    for (method, there) in [(Method::Put, true), (Method::Get, true), (Method::Delete, false)] {
        let head = head_of(&s3, method, b"");
        let lines = "\r\nx-amz-server-side-encryption-customer-algorithm: AES256\r\n\
                     x-amz-server-side-encryption-customer-key: MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=\r\n\
                     x-amz-server-side-encryption-customer-key-md5: ";
        assert_eq!(head.contains(lines), there, "{head}");
    }
}

#[test]
fn names_are_encoded_once() {
    assert_eq!(encoded_path(b"/b/a b+%\xff/~").as_deref(), Some("/b/a%20b%2B%25%FF/~"));
    assert_eq!(encoded_path(b"b/k"), None);
}

#[test]
fn a_question_to_a_bucket_has_its_query_in_the_line_and_in_the_signature() {
    let endpoint = Endpoint::parse("h", false).unwrap();
    let mut requests = Requests::new(&options(ObjectDialect::S3, Tls::Off), &endpoint, key());
    let query = encoded_query(&[("list-type", "2"), ("prefix", "a b/c+&=")]);
    assert_eq!(query, "list-type=2&prefix=a%20b%2Fc%2B%26%3D");
    let mut head_for = |query| {
        let mut head = SecretBytes::default();
        let request = PlainRequest { method: "GET", path: "/b/", query, body: b"", only_new: false };
        requests.write_plain(&mut head, &request, 1_369_353_600);
        String::from_utf8(head.to_vec()).unwrap()
    };
    let signature = |head: &str| head.split_once("Signature=").unwrap().1.to_owned();
    let (with, without) = (head_for(&query), head_for(""));
    assert!(with.starts_with(&format!("GET /b/?{query} HTTP/1.1\r\nHost: h\r\nx-amz-content-sha256: ")), "{with}");
    assert!(without.starts_with("GET /b/ HTTP/1.1\r\n") && !with.contains("storage-class"), "{without}");
    assert_ne!(signature(&with), signature(&without));
    let put = PlainRequest { method: "PUT", path: "/b/k", query: "", body: b"abc", only_new: true };
    let mut head = SecretBytes::default();
    requests.write_plain(&mut head, &put, 1_369_353_600);
    let head = str::from_utf8(&head).unwrap();
    assert!(head.contains("Content-Length: 3\r\nIf-None-Match: *\r\n"), "{head}");
}
