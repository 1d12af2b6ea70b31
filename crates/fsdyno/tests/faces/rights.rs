//! The policy of least rights in docs/object-storage.md, as a server judges it that checks rights and signatures (moto).

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use testkit::{Running, TestDirectory, wait_until};

/// Requests that need no rights: they make user, policy, key and bucket.
const REQUESTS_TO_SET_UP: usize = 4;

/// A server of moto, with a bucket and a user.
struct Moto {
    process: Child,
    port: u16,
    key_id: String,
    secret: String,
}

impl Moto {
    /// The user has the rights of this policy. `None`: moto is not installed, which is printed.
    fn start(policy: &str) -> Option<Moto> {
        let port = TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a port").port();
        let mut command = Command::new(testkit::python("moto_server")?);
        command.args(["-H", "127.0.0.1", "-p", &port.to_string()]).stdout(Stdio::null()).stderr(Stdio::null());
        command.env("INITIAL_NO_AUTH_ACTION_COUNT", REQUESTS_TO_SET_UP.to_string());
        let process = command.spawn().ok()?;
        let mut moto = Moto { process, port, key_id: String::new(), secret: String::new() };
        wait_until("moto takes connections", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        moto.iam("Action=CreateUser&UserName=bench");
        let policy: String = policy.bytes().map(|byte| format!("%{byte:02x}")).collect();
        moto.iam(&format!("Action=PutUserPolicy&UserName=bench&PolicyName=p&PolicyDocument={policy}"));
        let key = moto.iam("Action=CreateAccessKey&UserName=bench");
        let word = |name: &str| {
            let after = key.split_once(&format!("<{name}>")).unwrap_or_else(|| panic!("no {name} in {key}")).1;
            after.split('<').next().unwrap_or_default().to_owned()
        };
        (moto.key_id, moto.secret) = (word("AccessKeyId"), word("SecretAccessKey"));
        moto.ask("PUT /bucket", "s3", "");
        Some(moto)
    }

    fn iam(&self, words: &str) -> String {
        self.ask("POST /", "iam", &format!("{words}&Version=2010-05-08"))
    }

    fn ask(&self, request: &str, service: &str, body: &str) -> String {
        let scope = format!("Credential=root/20260101/us-east-1/{service}/aws4_request");
        let length = body.len();
        let text = format!(
            "{request} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Length: {length}\r\nContent-Type: \
             application/x-www-form-urlencoded\r\nAuthorization: AWS4-HMAC-SHA256 {scope}, SignedHeaders=host, \
             Signature=0\r\n\r\n{body}"
        );
        let mut socket = TcpStream::connect(("127.0.0.1", self.port)).expect("it takes connections");
        socket.write_all(text.as_bytes()).expect("it takes a request");
        let mut answer = String::new();
        socket.read_to_string(&mut answer).expect("an answer");
        assert!(answer.starts_with("HTTP/1.1 200"), "{request}: {answer}");
        answer
    }

    /// Runs the program with the user's key.
    fn run(&self, place: &TestDirectory, words: &str) -> testkit::RunResult {
        let mut command = place.command(words);
        command.env("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{}", self.port));
        command.envs([("AWS_ACCESS_KEY_ID", &self.key_id), ("AWS_SECRET_ACCESS_KEY", &self.secret)]);
        command.env("AWS_REGION", "us-east-1").env("AWS_CONFIG_FILE", "none");
        for name in ["AWS_PROFILE", "AWS_ENDPOINT_URL_S3", "AWS_SESSION_TOKEN"] {
            command.env_remove(name);
        }
        Running::start(&mut command).finish()
    }
}

impl Drop for Moto {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The policy as the document has it, for the bucket and the prefix of the test.
fn policy() -> String {
    let text = include_str!("../../../../docs/object-storage.md");
    let (_, after) = text.split_once("```json\n").expect("the document has a policy");
    after.split("```").next().unwrap_or_default().replace("BUCKET", "bucket").replace("PREFIX", "pre")
}

const MEASURE: &str = "measure s3://bucket/pre --quick --connections 2 --json --no-store";

#[test]
fn the_rights_of_the_document_are_enough() {
    let Some(moto) = Moto::start(&policy()) else { return };
    let place = TestDirectory::new();
    let study = moto.run(&place, MEASURE).good().study();
    let jobs: Vec<_> = study.rows.iter().filter_map(|row| row.run.as_ref()).flat_map(|run| &run.jobs).collect();
    assert!(jobs.len() >= 9 && jobs.iter().all(|job| job.error.is_none()), "{}", study.rows.len());
    assert!(study.notes.iter().all(|note| note.id != "left-behind"), "{:?}", study.notes);
    // Beside the folders of runs nothing may be written.
    let elsewhere = "--name=w --ioengine=http --http_mode=s3 --http_s3_region=us-east-1 --rw=write --bs=4k --size=4k";
    let host = format!("--http_host=127.0.0.1:{} --filename=/bucket/pre/other", moto.port);
    let refused = moto.run(&place, &format!("fio {elsewhere} {host}"));
    assert!(refused.stderr.contains("HTTP status code 403"), "{refused:?}");
    let written = moto.run(&place, &format!("fio {elsewhere} {host}").replace("pre/other", "pre/fsdyno-work-x/o"));
    written.good();
}

#[test]
fn none_of_the_rights_to_objects_can_be_spared() {
    for (right, sentence) in [("s3:PutObject", "refuses to write an object"), ("s3:DeleteObject", "refuses a delete")] {
        let less = policy().replace(&format!("\"{right}\""), "\"s3:GetObject\"");
        let Some(moto) = Moto::start(&less) else { return };
        let ran = moto.run(&TestDirectory::new(), MEASURE);
        assert!(ran.stderr.contains(sentence), "{right}: {ran:?}");
    }
}
