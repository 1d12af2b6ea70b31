//! Heads of requests are those that botocore signs, where Python has it.

use std::process::Command;

use fsdyno_job::{ObjectDialect, ObjectOptions, Secret, Tls};
use fsdyno_object::{Credentials, Endpoint, Method, ObjectRequest, Requests, SecretBytes, encoded_path};

const SCRIPT: &str = r#"
import calendar, sys, time
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
words = iter(sys.argv[1:])
for method, url, body, token in zip(words, words, words, words):
    headers = {"x-amz-storage-class": "STANDARD"} if method == "PUT" else {}
    request = AWSRequest(method=method, url=url, data=body.encode(), headers=headers)
    S3SigV4Auth(Credentials("AKID", "se/cr+et=", token or None), "s3", "eu-central-1").add_auth(request)
    print(calendar.timegm(time.strptime(request.headers["X-Amz-Date"], "%Y%m%dT%H%M%SZ")))
    print(request.headers["X-Amz-Content-SHA256"])
    print(request.headers["Authorization"])
"#;

/// A request to sign.
struct Unsigned {
    method: Method,
    word: &'static str,
    body: &'static str,
    host: &'static str,
    path: String,
    token: &'static str,
}

fn requests() -> Vec<Unsigned> {
    let methods =
        [(Method::Get, "GET", ""), (Method::Put, "PUT", "content of an object"), (Method::Delete, "DELETE", "")];
    let places = [
        ("h.example:9000", "/bucket/key", ""),
        ("[::1]:9000", "/b/k y+%ü", "IQoJ/b3Jp+Z2="),
        ("s3.example", "/b/a/b", "t"),
    ];
    let mut requests = Vec::new();
    for (method, word, body) in methods {
        for (host, name, token) in places {
            let path = encoded_path(name.as_bytes()).expect("it begins with /");
            requests.push(Unsigned { method, word, body, host, path, token });
        }
    }
    requests
}

#[test]
fn signatures_are_those_of_botocore() {
    let all = requests();
    // To load the modules takes longer than to sign: one process signs all.
    let Some(python) = testkit::python("python3") else { return };
    let mut python = Command::new(python);
    python.args(["-c", SCRIPT]);
    for request in &all {
        let url = format!("http://{}{}_4096_20", request.host, request.path);
        python.args([request.word, &url, request.body, request.token]);
    }
    let Some(ran) = python.output().ok().filter(|ran| !testkit::text(&ran.stderr).contains("No module named")) else {
        return testkit::skip("Python has no botocore");
    };
    assert!(ran.status.success(), "{}", testkit::text(&ran.stderr));
    let said = testkit::text(&ran.stdout);
    let said: Vec<&str> = said.lines().collect();
    assert_eq!(said.len(), 3 * all.len(), "{said:?}");
    for (request, said) in all.iter().zip(said.chunks(3)) {
        assert_is_signed_so(request, said);
    }
}

/// Compares our head with the time, the hash and the signature that botocore has printed.
#[track_caller]
fn assert_is_signed_so(request: &Unsigned, said: &[&str]) {
    let [epoch_s, hash, authorization] = said else { panic!("{said:?}") };
    let options =
        ObjectOptions { dialect: ObjectDialect::S3, region: "eu-central-1".to_owned(), ..ObjectOptions::default() };
    assert_eq!(options.tls, Tls::Off);
    let key = Credentials {
        key_id: "AKID".to_owned(),
        secret: Secret::new("se/cr+et=".to_owned()),
        token: Secret::new(request.token.to_owned()),
    };
    let endpoint = Endpoint::parse(request.host, false).expect("a host");
    let mut head = SecretBytes::default();
    let (method, path, body) = (request.method, &request.path, request.body.as_bytes());
    let request = ObjectRequest { method, path, offset: 4096, length: 20, body };
    let mut requests = Requests::new(&options, &endpoint, Some(key));
    requests.write_head(&mut head, &request, epoch_s.parse().expect("seconds"));
    let head = testkit::text(&head);
    assert!(head.contains(&format!("\r\nAuthorization: {authorization}\r\n")), "{head}\n{said:?}");
    assert!(head.contains(&format!("\r\nx-amz-content-sha256: {hash}\r\n")), "{head}\n{said:?}");
}
