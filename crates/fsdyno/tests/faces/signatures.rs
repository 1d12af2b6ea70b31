//! Heads of requests are those that botocore signs, where Python has it.

use std::process::Command;

use fsdyno_job::{ObjectDialect, ObjectOptions, Secret, Tls};
use fsdyno_object::{Credentials, Endpoint, Method, ObjectRequest, Requests, SecretBytes, encoded_path};

const SCRIPT: &str = r#"
import calendar, sys, time
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
method, url, body, token = sys.argv[1:5]
headers = {"x-amz-storage-class": "STANDARD"} if method == "PUT" else {}
request = AWSRequest(method=method, url=url, data=body.encode(), headers=headers)
S3SigV4Auth(Credentials("AKID", "se/cr+et=", token or None), "s3", "eu-central-1").add_auth(request)
print(calendar.timegm(time.strptime(request.headers["X-Amz-Date"], "%Y%m%dT%H%M%SZ")))
print(request.headers["X-Amz-Content-SHA256"])
print(request.headers["Authorization"])
"#;

#[test]
fn signatures_are_those_of_botocore() {
    if !Command::new("python3").args(["-c", "import botocore.auth"]).output().is_ok_and(|ran| ran.status.success()) {
        return testkit::skip("Python has no botocore");
    }
    for (method, word, body) in
        [(Method::Get, "GET", ""), (Method::Put, "PUT", "content of an object"), (Method::Delete, "DELETE", "")]
    {
        for (host, name, token) in [
            ("h.example:9000", "/bucket/key", ""),
            ("[::1]:9000", "/b/k y+%ü", "IQoJ/b3Jp+Z2="),
            ("s3.example", "/b/a/b", "t"),
        ] {
            let path = encoded_path(name.as_bytes()).expect("it begins with /");
            let url = format!("http://{host}{path}_4096_20");
            let ran = Command::new("python3").args(["-c", SCRIPT, word, &url, body, token]).output().expect("it runs");
            assert!(ran.status.success(), "{}", testkit::text(&ran.stderr));
            let said = testkit::text(&ran.stdout);
            let [epoch_s, hash, authorization] = said.lines().collect::<Vec<_>>()[..] else { panic!("{said}") };
            let options = ObjectOptions {
                dialect: ObjectDialect::S3,
                region: "eu-central-1".to_owned(),
                ..ObjectOptions::default()
            };
            assert_eq!(options.tls, Tls::Off);
            let key = Credentials {
                key_id: "AKID".to_owned(),
                secret: Secret::new("se/cr+et=".to_owned()),
                token: Secret::new(token.to_owned()),
            };
            let endpoint = Endpoint::parse(host, false).expect("a host");
            let mut head = SecretBytes::default();
            let request = ObjectRequest { method, path: &path, offset: 4096, length: 20, body: body.as_bytes() };
            let mut requests = Requests::new(&options, &endpoint, Some(key));
            requests.write_head(&mut head, &request, epoch_s.parse().expect("seconds"));
            let head = testkit::text(&head);
            assert!(head.contains(&format!("\r\nAuthorization: {authorization}\r\n")), "{head}\n{said}");
            assert!(head.contains(&format!("\r\nx-amz-content-sha256: {hash}\r\n")), "{head}\n{said}");
        }
    }
}
