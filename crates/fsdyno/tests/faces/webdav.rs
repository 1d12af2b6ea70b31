//! Questions to folders of WebDAV.

use std::process::Command;

use testkit::{ObjectServer, RunResult, Running, ServerBehaviour, TestDirectory, wait_until};

const PASSWORD: &str = "wJalrXUtnFEMIbPxRfiCYEXAMPLEKEY";

fn command(place: &TestDirectory, words: &str) -> Command {
    let mut command = place.command(words);
    command.envs([("FSDYNO_HTTP_USER", "me"), ("FSDYNO_HTTP_PASS", PASSWORD)]);
    command
}

fn ask(place: &TestDirectory, words: &str) -> RunResult {
    Running::start(&mut command(place, words)).finish()
}

#[test]
fn a_folder_of_webdav_is_measured_and_left_as_it_was() {
    let (server, place) = (ObjectServer::start(ServerBehaviour::Honest), TestDirectory::new());
    server.keep("/pre/theirs", b"precious");
    let url = format!("http://{}/pre", server.host());
    let ran = ask(&place, &format!("measure {url} --quick --connections 2 --budget 1664 --json --no-store")).good();
    let study = ran.study();
    let names: Vec<&str> = study.rows.iter().map(|row| row.pattern.as_str()).collect();
    assert!(
        ["put-4k", "get-4k", "head-4k", "range-128k", "delete-4k"].iter().all(|name| names.contains(name)),
        "{ran:?}"
    );
    assert!(!names.contains(&"list") && !names.contains(&"put-parts"), "{names:?}");
    let left_out: Vec<&str> =
        study.notes.iter().map(|note| &*note.text).filter(|text| text.contains("WebDAV")).collect();
    assert_eq!(left_out, ["list is left out: not by WebDAV", "put-parts is left out: not by WebDAV"]);
    for row in &study.rows {
        assert!(row.first_error().is_none(), "{}: {:?}", row.pattern, row.first_error());
        let missing = row.run.iter().flat_map(|run| &run.jobs).filter_map(|job| job.object.as_deref());
        assert_eq!(missing.map(|object| object.missing.read).sum::<u64>(), 0, "{}", row.pattern);
    }
    assert_eq!(server.objects().into_keys().collect::<Vec<_>>(), ["/pre/theirs"]);
    let (heads, login) = (server.heads(), "Authorization: Basic bWU6");
    assert!(heads.iter().all(|head| head.contains("/pre/fsdyno-work-") && head.contains(login)), "{heads:?}");
    assert!(heads[0].starts_with("MKCOL ") && heads.iter().all(|head| !head.contains("AWS4")), "{}", heads[0]);
    // The folder goes last, and only as it is empty.
    let last: Vec<&str> = heads.iter().rev().take(3).map(|head| head.split(' ').next().unwrap_or("")).collect();
    assert_eq!(last, ["DELETE", "PROPFIND", "DELETE"]);
    assert!(!ran.stdout.contains(PASSWORD) && !ran.stderr.contains(PASSWORD));
    let page = ask(&place, &format!("inspect {url}")).good().stdout;
    assert!(page.contains("WebDAV") && page.contains("keys may be listed"), "{page}");
}

/// Writes an object of 6 MiB, more than buffers hold, to a server that waits this time before it takes it; the job's time is
/// over before. Returns the bytes that the server keeps.
fn written_to(wait_ms: u64, mode: &str) -> usize {
    let server = ObjectServer::start(ServerBehaviour::KeepsParts(wait_ms));
    let host = server.host();
    let words = format!("--name=w --ioengine=http --http_mode={mode} --http_host={host} --filename=/pre/o --rw=write");
    let words = format!("{words} --bs=6m --size=6m --runtime=1 --time_based --http_s3_keyid=AKID --http_s3_key=secret");
    TestDirectory::new().run(&words).good();
    // The server takes it behind the end of the job, too.
    wait_until("the part that has come", || !server.objects().is_empty());
    server.objects().remove("/pre/o_0_6291456").expect("an object").len()
}

/// A folder of WebDAV keeps the part of an object that has come, which nobody can read: a write that the end of its job would
/// cut goes on up to 5 s, and one second for each MiB. Stores keep whole objects alone.
#[test]
fn a_write_to_webdav_is_not_cut_at_once() {
    assert_eq!(written_to(2000, "webdav"), 6 << 20);
    assert!(written_to(16_000, "webdav") < 6 << 20, "its time is bounded");
    assert!(written_to(2000, "s3") < 6 << 20, "a store keeps no part");
}

#[test]
fn what_a_killed_run_leaves_is_cleaned_and_nothing_else() {
    let (server, place) = (ObjectServer::start(ServerBehaviour::Honest), TestDirectory::new());
    let url = format!("http://{}/pre", server.host());
    server.hold("GET", 1, false);
    let running = Running::start(&mut command(&place, &format!("measure {url} --quick --no-store")));
    wait_until("request that is held", || server.holds());
    running.signal("KILL");
    running.finish_with_signal();
    server.let_go();
    let folder = server.objects().into_keys().find_map(|key| Some(key.strip_suffix(".fsdyno-work")?.to_owned()));
    let folder = folder.expect("a marker");
    server.keep("/pre/theirs", b"precious");
    server.keep(&format!("{folder}k4_007_4096"), b"precious");
    let refused = ask(&place, &format!("clean {url}"));
    assert!(refused.stdout.contains("keys of others were left there"), "{refused:?}");
    let theirs = ["/pre/theirs".to_owned(), format!("{folder}k4_007_4096")];
    let mut left: Vec<String> = server.objects().into_keys().collect();
    left.sort_by_key(|key| key.contains("fsdyno"));
    assert_eq!(left, theirs);
}
