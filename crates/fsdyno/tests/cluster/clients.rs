//! Tests that the JSON of several ranks is read by what reads that of fio's client: both programs run the same jobs, fio
//! on two servers of this machine.

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use testkit::{TestDirectory, has, wait_until};

use crate::launcher::ran;

const JOBS: &str = "[global]\nioengine=null\nsize=1m\nrw=randrw\n[a]\n[b]\nnumjobs=2\n";

/// A server of fio, until it goes out of scope.
struct Server {
    process: Child,
    address: String,
}

impl Server {
    fn start() -> Server {
        let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a free port");
        let address = format!("127.0.0.1,{}", free.port());
        let mut fio = Command::new("fio");
        fio.arg(format!("--server={address}")).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Server { process: fio.spawn().expect("fio starts"), address }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What fio's client writes about the jobs on two servers.
fn of_fios_client(place: &TestDirectory) -> Value {
    let servers = [Server::start(), Server::start()];
    let mut document = Value::Null;
    wait_until("answer of fio's servers", || {
        let clients = servers.iter().flat_map(|server| [format!("--client={}", server.address), "job.fio".to_owned()]);
        let mut fio = Command::new("fio");
        fio.args(clients).arg("--output-format=json").current_dir(place.path("")).stdin(Stdio::null());
        let said = testkit::text(&fio.output().expect("fio starts").stdout);
        // What the servers say stands before it.
        let json = said.find('{').and_then(|at| serde_json::from_str(&said[at..]).ok());
        document = json.unwrap_or_default();
        document["client_stats"].as_array().is_some_and(|stats| stats.len() == 7)
    });
    document
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Object(_) => "object",
        Value::Array(_) => "array",
        Value::String(_) => "text",
        Value::Number(number) if number.is_f64() => "number with decimals",
        Value::Number(_) => "whole number",
        _ => "no value of fio",
    }
}

/// Keys of fio's object that ours lacks, has in another order, or has with a value of another kind.
fn differences(fio: &Value, ours: &Value, path: &str) -> Vec<String> {
    if kind(fio) != kind(ours) {
        return vec![format!("{path}: {} with fio, {} here", kind(fio), kind(ours))];
    }
    let (Some(fio), Some(ours)) = (fio.as_object(), ours.as_object()) else { return Vec::new() };
    let shared: Vec<&String> = ours.keys().filter(|key| fio.contains_key(*key)).collect();
    let mut found = Vec::new();
    if !fio.keys().eq(shared) {
        found.push(format!("{path}: {:?} with fio, {:?} here", fio.keys(), ours.keys()));
    }
    for (key, value) in fio {
        found.extend(differences(value, ours.get(key).unwrap_or(&Value::Null), &format!("{path}/{key}")));
    }
    found
}

#[test]
fn client_stats_are_those_of_fios_client() {
    let place = TestDirectory::new();
    place.write("job.fio", JOBS);
    let Some(ours) = ran(&place.path(""), 2, "job.fio --output-format=json") else { return };
    if !has("fio") {
        return;
    }
    let (ours, mut fio) = (ours.good().document(), of_fios_client(&place));
    // fio's client writes the jobs in the order in which its servers answer. Here the ranks follow each other. The entry of
    // all clients is the last with both.
    let jobs_of_fio = &mut fio["client_stats"].as_array_mut().expect("entries")[..6];
    jobs_of_fio.sort_by_key(|entry| entry["port"].as_u64());
    let entries = |document: &Value| document["client_stats"].as_array().expect("entries").clone();
    let names = |document: &Value| -> Vec<String> {
        entries(document).iter().map(|entry| entry["jobname"].as_str().expect("a name").to_owned()).collect()
    };
    assert_eq!(names(&ours), names(&fio));
    for (ours, fio) in entries(&ours).iter().zip(&entries(&fio)) {
        let found = differences(fio, ours, "");
        assert!(found.is_empty(), "{found:#?}");
        assert!(ours["hostname"].as_str().is_some_and(|name| !name.is_empty()), "{ours}");
    }
    let read = |entry: &Value| entry["read"]["io_bytes"].as_u64().expect("bytes");
    let ours = entries(&ours);
    assert_eq!(read(&ours[6]), ours[..6].iter().map(read).sum::<u64>(), "all clients");
}
