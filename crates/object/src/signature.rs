//! Signs requests with version 4 of AWS' signatures, in a header.

use fsdyno_job::Secret;

use crate::SecretBytes;
use crate::hash::{Hex, HmacKey, sha256};
use crate::time::Stamp;

const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// The parts of a request that the signature covers.
#[derive(Clone, Copy, Debug)]
pub struct Canonical<'a> {
    /// The method: `GET`, …
    pub method: &'a str,
    /// The path as the request has it, encoded once.
    pub path: &'a str,
    /// The parameters of the query, sorted and encoded; empty when the request has none.
    pub query: &'a str,
    /// Names in lower case and sorted, each with its value without blanks around it.
    pub headers: &'a [(&'a str, &'a str)],
    /// The hash of the body, or the word that says that the body is not signed.
    pub payload: &'a str,
}

/// Signs requests with one key.
pub struct Signer {
    key_id: String,
    /// The secret with the prefix `AWS4`, from which the key of each day is made.
    secret: Secret,
    region: String,
    service: &'static str,
    /// The day that `key` is for.
    day: [u8; 8],
    key: HmacKey,
    /// A buffer that all signatures use in turn: to hash many short parts takes longer than to join them before.
    text: SecretBytes,
}

/// The initial capacity for what is hashed, so that no later request allocates memory for it.
const TEXT_BYTES: usize = 2048;

impl Signer {
    /// Makes a signer for a region and a service (`s3`).
    pub fn new(key_id: &str, secret: Secret, region: &str, service: &'static str) -> Signer {
        let (key_id, region) = (key_id.to_owned(), region.to_owned());
        let secret = Secret::new(format!("AWS4{}", secret.reveal()));
        Signer {
            key_id,
            secret,
            region,
            service,
            day: [0; 8],
            key: HmacKey::new(&[]),
            text: SecretBytes::with_capacity(TEXT_BYTES),
        }
    }

    /// Appends the header `Authorization` with its line end. Allocates nothing when the header fits into the capacity of
    /// `head`.
    pub fn authorize(&mut self, head: &mut SecretBytes, request: &Canonical<'_>, at: &Stamp) {
        self.make_key_of(at.day());
        let canonical = canonical_hash(&mut self.text, request);
        let (stamp, day) = (at.as_str(), at.day());
        let to_sign: [&str; 11] = [
            ALGORITHM,
            "\n",
            stamp,
            "\n",
            day,
            "/",
            &self.region,
            "/",
            self.service,
            "/aws4_request\n",
            canonical.as_str(),
        ];
        self.text.clear();
        to_sign.iter().for_each(|part| self.text.push(part.as_bytes()));
        let signature = Hex::of(&self.key.sum(&self.text));
        let scope = [day, "/", &self.region, "/", self.service, "/aws4_request, SignedHeaders="];
        let mut put = |text: &str| head.push(text.as_bytes());
        ["Authorization: ", ALGORITHM, " Credential=", &self.key_id, "/"].into_iter().chain(scope).for_each(&mut put);
        signed_names(request, &mut put);
        [", Signature=", signature.as_str(), "\r\n"].into_iter().for_each(put);
    }

    /// Makes the key of this day, unless the signer has it.
    fn make_key_of(&mut self, day: &str) {
        if self.day == day.as_bytes() {
            return;
        }
        self.day.copy_from_slice(day.as_bytes());
        self.key = HmacKey::new(self.secret.reveal().as_bytes());
        for part in [day.as_bytes(), self.region.as_bytes(), self.service.as_bytes(), b"aws4_request"] {
            self.key = HmacKey::new(&self.key.sum(part));
        }
    }
}

fn signed_names(request: &Canonical<'_>, put: &mut impl FnMut(&str)) {
    for (at, (name, _)) in request.headers.iter().enumerate() {
        put(if at == 0 { "" } else { ";" });
        put(name);
    }
}

/// The hash of the request in its canonical form, which is made in `text`.
fn canonical_hash(text: &mut SecretBytes, request: &Canonical<'_>) -> Hex {
    text.clear();
    let mut put = |part: &str| text.push(part.as_bytes());
    [request.method, "\n", request.path, "\n", request.query, "\n"].into_iter().for_each(&mut put);
    for (name, value) in request.headers {
        [name, ":", value, "\n"].into_iter().for_each(&mut put);
    }
    put("\n");
    signed_names(request, &mut put);
    put("\n");
    put(request.payload);
    Hex::of(&sha256(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    fn signature(service: &'static str, request: &Canonical<'_>, epoch_s: u64) -> String {
        let (id, secret) = match service {
            "s3" => ("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
            _ => ("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
        };
        let mut signer = Signer::new(id, Secret::new(secret.to_owned()), "us-east-1", service);
        let mut head = SecretBytes::default();
        signer.authorize(&mut head, request, &Stamp::of_epoch_s(epoch_s));
        let head = str::from_utf8(&head).unwrap();
        assert!(head.starts_with(&format!("Authorization: AWS4-HMAC-SHA256 Credential={id}/")), "{head}");
        head.trim_end().rsplit_once("Signature=").unwrap().1.to_owned()
    }

    /// The examples of "Authenticating Requests: Using the Authorization Header" of the S3 manual.
    #[test]
    fn the_examples_of_the_s3_manual_have_their_signatures() {
        const MAY_24: u64 = 1_369_353_600;
        const STAMP: &str = "20130524T000000Z";
        let host = ("host", "examplebucket.s3.amazonaws.com");
        let (date, hash) = (("x-amz-date", STAMP), ("x-amz-content-sha256", EMPTY));
        let headers = [host, ("range", "bytes=0-9"), hash, date];
        let get = Canonical { method: "GET", path: "/test.txt", query: "", headers: &headers, payload: EMPTY };
        assert_eq!(signature("s3", &get, MAY_24), "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
        let body = Hex::of(&crate::hash::sha256(b"Welcome to Amazon S3."));
        assert_eq!(body.as_str(), "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072");
        let headers = [
            ("date", "Fri, 24 May 2013 00:00:00 GMT"),
            host,
            ("x-amz-content-sha256", body.as_str()),
            date,
            ("x-amz-storage-class", "REDUCED_REDUNDANCY"),
        ];
        let put = Canonical {
            method: "PUT",
            path: "/test%24file.text",
            query: "",
            headers: &headers,
            payload: body.as_str(),
        };
        assert_eq!(signature("s3", &put, MAY_24), "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
        let headers = [host, hash, date];
        for (query, wanted) in [
            ("lifecycle=", "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
            ("max-keys=2&prefix=J", "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
        ] {
            let request = Canonical { method: "GET", path: "/", query, headers: &headers, payload: EMPTY };
            assert_eq!(signature("s3", &request, MAY_24), wanted, "{query}");
        }
    }

    /// Requests of AWS' test suite for version 4.
    #[test]
    fn requests_of_the_test_suite_have_their_signatures() {
        let headers = [("host", "example.amazonaws.com"), ("x-amz-date", "20150830T123600Z")];
        for (method, path, query, wanted) in [
            ("GET", "/", "", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
            ("POST", "/", "", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
            (
                "GET",
                "/",
                "Param1=value1&Param2=value2",
                "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
            ),
            (
                "GET",
                "/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
                "",
                "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f",
            ),
        ] {
            let request = Canonical { method, path, query, headers: &headers, payload: EMPTY };
            assert_eq!(signature("service", &request, 1_440_938_160), wanted, "{method} {path} {query}");
        }
    }

    /// Each day has its own key. A return to an earlier day makes the same key again.
    #[test]
    fn the_key_follows_the_day() {
        let mut signer = Signer::new("a", Secret::new("b".to_owned()), "r", "s3");
        let headers = [("host", "h")];
        let request = Canonical { method: "GET", path: "/", query: "", headers: &headers, payload: EMPTY };
        let mut at = |seconds| {
            let mut head = SecretBytes::default();
            signer.authorize(&mut head, &request, &Stamp::of_epoch_s(seconds));
            head.to_vec()
        };
        let first = at(0);
        assert_ne!(first, at(86_400));
        assert_eq!(first, at(0));
    }
}
