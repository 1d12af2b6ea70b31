//! Tests recorded I/O on the virtual clock: exact to the nanosecond.

use std::io::Write;
use std::os::unix::net::UnixListener;

use serde_json::{Value, json};
use testkit::TestDirectory;

/// Writes at 0, 1, 2 and 3.001 ms.
const LOG: &str = "fio version 3 iolog\n0 data add\n0 data open\n0 data write 0 4096\n1000 data write 4096 4096\n\
                   1500 data sync 4096 0\n2000 data write 8192 4096\n3001 data read 0 4096\n3100 data close\n";

/// Replays the log on the virtual device, 100 µs for each request.
fn replay(place: &TestDirectory, words: &str) -> Value {
    let job = "--name=sim --ioengine=sim --sim_service=100us --output-format=json";
    place.run(&format!("fio {job} {words}")).good().document()
}

/// `lateness_ns` of the only job.
fn lateness(document: &Value) -> Value {
    document["fsdyno"]["replays"][0]["lateness_ns"].clone()
}

fn at<'d>(document: &'d Value, path: &str) -> &'d Value {
    document.pointer(&format!("/jobs/0/{path}")).unwrap_or_else(|| panic!("no {path}: {document:#}"))
}

#[test]
fn each_request_keeps_its_moment() {
    let place = TestDirectory::new();
    place.write("log", LOG);
    let whole = replay(&place, "--read_iolog=log");
    assert_eq!(
        (at(&whole, "write/total_ios"), at(&whole, "read/total_ios"), at(&whole, "sync/total_ios")),
        (&json!(3), &json!(1), &json!(1))
    );
    // 3.001 ms and the last request.
    assert_eq!(at(&whole, "read/runtime"), &json!(4));
    assert_eq!((&whole["fsdyno"]["replays"][0]["requests"], &lateness(&whole)["max"]), (&json!(5), &json!(0)));
    let twice = replay(&place, "--read_iolog=log --replay_time_scale=200");
    assert_eq!((at(&twice, "read/runtime"), &lateness(&twice)["max"]), (&json!(2), &json!(0)));
    let skipped = replay(&place, "--read_iolog=log --replay_skip=write,sync");
    assert_eq!((at(&skipped, "read/runtime"), at(&skipped, "write/total_ios")), (&json!(4), &json!(0)));
    let flat_out = replay(&place, "--read_iolog=log --replay_no_stall=1");
    assert_eq!((at(&flat_out, "read/runtime"), &flat_out["fsdyno"]["replays"]), (&json!(1), &Value::Null));
}

#[test]
fn lateness_is_exact_and_does_not_add_up() {
    let place = TestDirectory::new();
    let many = |gap_us: u64, count: u64| {
        let requests: String = (0..count).map(|n| format!("{} data read {} 4096\n", n * gap_us, n * 4096)).collect();
        format!("fio version 3 iolog\n0 data add\n0 data open\n{requests}{} data close\n", count * gap_us)
    };
    // A device of 100 µs: request n of those due every 50 µs begins 50 n µs late.
    place.write("burst", many(50, 10));
    let late = lateness(&replay(&place, "--read_iolog=burst"));
    assert_eq!((&late["max"], &late["p99"]), (&json!(9 * 50_000), &Value::Null));
    // With two in flight none is late.
    assert_eq!(lateness(&replay(&place, "--read_iolog=burst --iodepth=2 --sim_channels=2"))["max"], json!(0));
    // A burst of 10, then a pause: what follows is in time, where fio would be 450 µs late.
    let text = many(50, 10);
    let text = text.replace(&format!("{} data close\n", 500), "10000 data read 0 4096\n10000 data close\n");
    place.write("pause", text);
    let whole = replay(&place, "--read_iolog=pause");
    assert_eq!((at(&whole, "read/runtime"), &lateness(&whole)["max"]), (&json!(11), &json!(450_000)));
    place.write("long", many(50, 2000));
    let most = |words: &str| lateness(&replay(&place, words))["max"].clone();
    assert_eq!(most("--read_iolog=long"), json!(1999 * 50_000));
    assert_eq!(most("--read_iolog=long --replay_time_scale=50"), json!(0), "the device is as fast as that");
}

#[test]
fn what_is_recorded_is_what_is_replayed() {
    let place = TestDirectory::new();
    let recorded =
        "--filename=data --rw=randrw --bsrange=4k-16k --size=256k --fsync=3 --rate_iops=1000 --write_iolog=first";
    replay(&place, recorded);
    let first = place.read("first");
    // Each rate has its own schedule, and a sync its place among the requests.
    assert!(first.starts_with("fio version 3 iolog\n0 data add\n0 data open\n0 data "), "{first}");
    let requests = |text: &str| {
        let lines =
            text.lines().filter(|line| ["read", "write", "sync"].contains(&line.split(' ').nth(2).unwrap_or("")));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let ours = replay(&place, "--read_iolog=first");
    let count = |kind: &str| requests(&first).iter().filter(|line| line.contains(&format!(" {kind} "))).count();
    for (kind, path) in [("read", "read/total_ios"), ("write", "write/total_ios"), ("sync", "sync/total_ios")] {
        assert_eq!(at(&ours, path), &json!(count(kind)), "{kind}");
    }
    assert_eq!(lateness(&ours)["max"], json!(0));
}

#[expect(clippy::disallowed_methods, reason = "a test may panic where there is no thread")]
#[test]
fn logs_come_through_streams_too() {
    let place = TestDirectory::new();
    place.write("log", LOG);
    let listener = UnixListener::bind(place.path("socket")).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| listener.accept().unwrap().0.write_all(LOG.as_bytes()).unwrap());
        assert_eq!(at(&replay(&place, "--read_iolog=socket"), "write/total_ios"), &json!(3));
    });
    let ran = testkit::shell(&format!(
        "cd {} && {} fio --name=a --ioengine=sim --read_iolog=- --output-format=json < log",
        place.word(""),
        testkit::program()
    ));
    let document: Value = serde_json::from_str(&ran).unwrap();
    assert_eq!(at(&document, "write/total_ios"), &json!(3));
}

#[test]
fn clones_take_logs_in_turn() {
    let place = TestDirectory::new();
    place.write("log", LOG);
    place.write("other", LOG.replace("write", "read"));
    let both = replay(&place, "--read_iolog=log:other --numjobs=3");
    let writes: Vec<_> = both["jobs"].as_array().unwrap().iter().map(|job| job["write"]["total_ios"].clone()).collect();
    assert_eq!(writes, [3, 0, 3]);
    let group = replay(&place, "--read_iolog=log:other --numjobs=2 --group_reporting");
    assert_eq!((at(&group, "write/total_ios"), at(&group, "read/total_ios")), (&json!(3), &json!(5)));
}

/// Errors in a log are reported before anything is done.
#[test]
fn a_log_that_cannot_be_replayed_touches_nothing() {
    let place = TestDirectory::new();
    let refused = |log: &str, words: &str, says: &str| {
        place.write("log", log);
        let ran = place.run(&format!("fio --name=a --read_iolog=log {words}"));
        assert!(ran.status == Some(1) && ran.stderr.contains(says), "no `{says}` in {ran:?}");
        assert!(!place.path("data").exists(), "{ran:?}");
    };
    refused(&LOG.replace("8192 4096", "8192"), "", "read_iolog=log: line 7: bad iolog3: 2000 data write 8192");
    refused(&LOG.replace("3001", "1999"), "", "line 8: recorded at 1999 us, but the one before at 2000 us");
    refused(&LOG.replace("sync", "frob"), "", "line 6: bad iolog file action: frob");
    refused(LOG, "--readonly", "writes or trims data, but fio is in read-only mode");
    refused(&LOG.replace("write", "read"), "", "line 4 needs data, which is not there");
    refused(LOG, "--verify=crc32c", "verify with read_iolog");
    refused(LOG, "--rate_iops=5", "a rate with read_iolog");
    refused(LOG, "--replay_align=3k", "replay_align=3072 is not a power of two");
    place.write("short", "x".repeat(4096));
    refused(
        &LOG.replace("write", "read").replace("data", "short"),
        "",
        "line 7 goes up to byte 12288 of short, which has 4096",
    );
    let missing = place.run("fio --name=a --read_iolog=missing");
    assert!(
        missing.status == Some(1) && missing.stderr.contains("read_iolog=missing: No such file or directory"),
        "{missing:?}"
    );
    assert_eq!(place.names(""), ["log", "short"]);
}

/// A blktrace record of a queued request.
fn queued(time_ns: u64, sector: u64, bytes: u32, action: u32) -> Vec<u8> {
    let (device, none) = (7_u32 << 20 | 1, 0_u32);
    let head = [0x6561_7407_u32.to_le_bytes(), none.to_le_bytes()].concat();
    let place = [time_ns.to_le_bytes(), sector.to_le_bytes()].concat();
    let rest: Vec<u8> = [bytes, action, none, device, none, none].into_iter().flat_map(u32::to_le_bytes).collect();
    [head, place, rest].concat()
}

#[test]
fn traces_are_replayed_and_merged() {
    const READ: u32 = 0x11_0001;
    const WRITE: u32 = 0x12_0001;
    let place = TestDirectory::new();
    place.write("one", [queued(500_000, 0, 4096, READ), queued(2_500_000, 8, 4096, WRITE)].concat());
    place.write("two", [queued(1_000_000, 16, 8192, READ), queued(1_200_000, 0, 0, WRITE)].concat());
    let one = replay(&place, "--read_iolog=one --replay_redirect=data");
    assert_eq!((at(&one, "write/runtime"), at(&one, "read/io_bytes")), (&json!(3), &json!(4096)));
    assert_eq!(lateness(&one)["max"], json!(0));
    let merge = "--read_iolog=one:two --merge_blktrace_file=both --replay_redirect=data";
    let both = replay(&place, &format!("{merge} --merge_blktrace_scalars=100:200 --merge_blktrace_iters=1:2"));
    // The second one at 2 ms and again at 4 ms, while the first ends at 2.5 ms.
    assert_eq!((at(&both, "read/io_bytes"), at(&both, "read/runtime")), (&json!(4096 + 2 * 8192), &json!(4)));
    assert_eq!(std::fs::metadata(place.path("both")).unwrap().len(), 4 * 48, "records alone");
    let only = place.run(&format!("fio --name=a {merge} --merge-blktrace-only")).good();
    assert!(only.stdout.is_empty() && !place.path("data").exists(), "{only:?}");
    let wrong = place.run(&format!("fio --name=a {merge} --merge_blktrace_iters=3"));
    assert!(wrong.status == Some(1) && wrong.stderr.contains("merge_blktrace_iters(1) != nr_logs(2)"), "{wrong:?}");
    let unknown = place.run("fio --name=a --read_iolog=one");
    assert!(unknown.status == Some(1), "{unknown:?}");
    place.write("cut", &queued(500_000, 0, 4096, READ)[..40]);
    let cut = place.run("fio --name=a --read_iolog=cut --replay_redirect=data");
    assert!(cut.stderr.contains("record 1: the trace ends within a record"), "{cut:?}");
}
