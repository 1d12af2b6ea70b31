//! Tests what the answers of a server of objects say.

use fsdyno_results::{Histogram, JobRecord, ObjectRecord, Severity};

use crate::scene::*;

/// A worker of `ioengine=http` that reads objects of 4 KiB; its answers came at once.
fn worker(answers: u64, change: impl Fn(&mut ObjectRecord)) -> JobRecord {
    let mut job = reader("job");
    job.setup.engine = "http".into();
    job.setup.block_sizes.read = (4096, 4096);
    let mut object = ObjectRecord::default();
    object.answers.read = answers;
    change(&mut object);
    job.object = Some(Box::new(object));
    job
}

/// The finding of this kind on these workers of one job.
fn found(id: &str, workers: Vec<JobRecord>) -> Option<(Severity, String)> {
    let findings = fsdyno_findings::of_run(&on_disk(workers));
    let of_kind = findings.into_iter().find(|finding| finding.id == id);
    of_kind.map(|finding| (finding.severity, finding.cause))
}

fn severity(id: &str, worker: JobRecord) -> Option<Severity> {
    found(id, vec![worker]).map(|(severity, _)| severity)
}

#[test]
fn answers_without_an_object_weigh_from_one_per_cent_on() {
    let missing = |count| worker(1000, move |object| object.missing.read = count);
    assert_eq!(severity("object-missing", missing(0)), None);
    assert_eq!(severity("object-missing", missing(9)), Some(Severity::Info));
    assert_eq!(severity("object-missing", missing(10)), Some(Severity::Invalid));
    // All workers of a row together.
    let (severity, cause) = found("object-missing", vec![missing(10), missing(0)]).expect("some are missing");
    assert!(severity == Severity::Info && cause.starts_with("10 of 2000 reads"), "{cause}");
}

#[test]
fn refused_requests_limit_the_rate_from_one_in_a_thousand_on() {
    let refused = |status, count| worker(1000, move |object| object.statuses.extend([(status, count)]));
    assert_eq!(severity("throttled", refused(503, 1)), Some(Severity::Caution));
    assert_eq!(severity("throttled", refused(429, 1)), Some(Severity::Caution));
    assert_eq!(severity("throttled", refused(500, 1000)), None);
    assert_eq!(found("throttled", vec![refused(503, 1), refused(200, 1000)]), None);
}

#[test]
fn connections_are_new_for_one_request_in_ten() {
    let opened = |count| worker(100, move |object| object.reconnects = count);
    assert_eq!(severity("no-keep-alive", opened(10)), Some(Severity::Caution));
    // Servers end connections after a hundred requests, or a few.
    assert_eq!(severity("no-keep-alive", opened(9)), None);
    assert_eq!(severity("no-keep-alive", worker(15, |object| object.reconnects = 15)), None);
}

#[test]
fn one_object_is_hot_when_it_is_read_four_times() {
    let reads = |passes: u64, files: &str, range: bool| {
        let mut job = worker(1000, |_| {});
        job.options.push(("filename".to_owned(), files.to_owned()));
        job.plan.span_bytes = Some(MIB);
        job.directions.read.bytes = passes * MIB;
        if range {
            job.options.push(("http_object_mode".to_owned(), "range".to_owned()));
        }
        job
    };
    let one = |passes| reads(passes, "/b/a\\:1", true);
    assert_eq!(severity("hot-object", one(4)), Some(Severity::Caution));
    assert_eq!(severity("hot-object", one(3)), None);
    assert_eq!(severity("hot-object", reads(8, "/b/a:/b/c", true)), None);
    // Without ranges the parts of the file are objects.
    assert_eq!(severity("hot-object", reads(8, "/b/a\\:1", false)), None);
    let whole_of = |passes| {
        let mut whole = reads(passes, "/b/a", false);
        whole.setup.block_sizes.read = (MIB, MIB);
        whole
    };
    assert_eq!(severity("hot-object", whole_of(4)), Some(Severity::Caution));
    // The next worker has the next object.
    let mut next = whole_of(4);
    next.plan.offset_bytes = MIB;
    assert_eq!(found("hot-object", vec![whole_of(4), next]), None);
    // Who finds nothing reads nothing.
    let mut missing = one(4);
    missing.object.as_mut().expect("it is there").missing.read = 1000;
    assert_eq!(severity("hot-object", missing), None);
}

/// A worker whose answers have these times to the first byte, and for the rest, ms.
fn timed(first_ms: u64, rest_ms: &[u64]) -> JobRecord {
    let of = |all: &[u64]| {
        let mut times = Histogram::new();
        (0..25).for_each(|_| all.iter().for_each(|ms| times.record(ms * 1_000_000)));
        times
    };
    worker(100, |object| (object.first_byte, object.body) = (of(&[first_ms]), of(rest_ms)))
}

#[test]
fn a_first_byte_long_before_the_last_is_told_for_small_objects() {
    let first_byte = |job| severity("first-byte-only", job);
    assert_eq!(first_byte(timed(5, &[20])), Some(Severity::Info));
    assert_eq!(first_byte(timed(5, &[18])), None);
    assert_eq!(first_byte(timed(0, &[0])), None);
    let mut large = timed(5, &[30]);
    large.setup.block_sizes.read = (4096, MIB);
    assert_eq!(first_byte(large), None);
}

#[test]
fn a_delayed_acknowledgement_has_its_time() {
    let delayed = |job| severity("delayed-ack", job);
    assert_eq!(delayed(timed(1, &[41])), Some(Severity::Caution));
    // It is the more exact of the two.
    assert_eq!(severity("first-byte-only", timed(1, &[41])), None);
    assert_eq!(delayed(timed(1, &[30])), None);
    assert_eq!(delayed(timed(1, &[55])), None);
    // A spread that has the time in its middle.
    assert_eq!(delayed(timed(1, &[10, 30, 41, 60])), None);
    let mut large = timed(1, &[41]);
    large.setup.block_sizes.read = (MIB, MIB);
    assert_eq!(delayed(large), None);
}

#[test]
fn clocks_are_compared_where_answers_have_a_date() {
    let ahead = |ahead_s| severity("clock-skew", worker(1, move |object| object.ahead_s = ahead_s));
    assert_eq!(ahead(None), None);
    assert_eq!([59, -59].map(|ahead_s| ahead(Some(ahead_s))), [None; 2]);
    assert_eq!([60, -899].map(|ahead_s| ahead(Some(ahead_s))), [Some(Severity::Info); 2]);
    assert_eq!([900, i64::MIN].map(|ahead_s| ahead(Some(ahead_s))), [Some(Severity::Caution); 2]);
}

#[test]
fn one_address_of_several_is_told() {
    let at = |address: &'static str, resolved| {
        worker(16, move |object| (object.addresses, object.resolved) = (vec![address.to_owned()], resolved))
    };
    let told = |workers| found("one-endpoint", workers).map(|(severity, _)| severity);
    assert_eq!(told(vec![at("a", Some(2)), at("a", Some(2))]), Some(Severity::Caution));
    assert_eq!(told(vec![at("a", Some(2)), at("b", Some(2))]), None);
    assert_eq!(told(vec![at("a", Some(1)), at("a", Some(1))]), None);
    assert_eq!(told(vec![at("a", None), at("a", None)]), None);
    // One worker has one connection.
    assert_eq!(told(vec![at("a", Some(2))]), None);
}

#[test]
fn the_clients_own_work_is_weighed_against_its_time() {
    let with = |cpu_s: u64, waited_s: u64, sign_s: Option<u64>| {
        let mut job = worker(1 << 20, |object| object.sign_ns = sign_s.map(|s| s * 1_000_000_000));
        (job.user_ns, job.run_queue_wait_ns) = (cpu_s * 1_000_000_000, Some(waited_s * 1_000_000_000));
        job
    };
    // Ten seconds.
    assert_eq!(severity("client-bound", with(9, 0, None)), Some(Severity::Caution));
    assert_eq!(severity("client-bound", with(8, 0, None)), None);
    assert_eq!(severity("client-bound", with(8, 2, None)), Some(Severity::Caution));
    let (_, cause) = found("client-bound", vec![with(10, 0, Some(3))]).expect("it is busy");
    assert!(cause.contains("TLS took 0 % of the time, hashes and signatures 30 %"), "{cause}");
    assert_eq!(severity("checksum-cost", with(1, 0, Some(1))), Some(Severity::Caution));
    assert_eq!(severity("checksum-cost", with(1, 0, None)), None);
    let mut ramp = with(1, 0, Some(1));
    ramp.plan.ramp_ms = 1_000;
    assert_eq!(severity("checksum-cost", ramp), None);
}

#[test]
fn a_window_limits_what_is_sent_from_a_fifth_of_its_time_on() {
    // Of ten seconds.
    let limited = |limited_ms: u64, sending_ms: u64| {
        severity(
            "rwnd-limited",
            worker(1000, |object| {
                (object.window_limited_ns, object.sending_ns) =
                    (Some(limited_ms * 1_000_000), Some(sending_ms * 1_000_000));
            }),
        )
    };
    assert_eq!([limited(1_900, 10_000), limited(2_100, 10_000)], [None, Some(Severity::Info)]);
    assert_eq!([limited(900, 1_000), limited(1_100, 1_100)], [None, Some(Severity::Info)]);
    assert_eq!(severity("rwnd-limited", worker(1000, |_| {})), None);
}
