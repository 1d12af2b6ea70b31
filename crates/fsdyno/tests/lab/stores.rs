//! Tests object stores with real servers: rclone's, which knows both styles, IPv6 and TLS, and versitygw with s3fs on it.

use std::process::Command;

use fsdyno_results::{Finding, Severity, Study, Verdict};
use testkit::stack::{inside_beside_others, place};
use testkit::{RunResult, Running, TestDirectory, word};

/// At rclone's server, where somebody else's object must stay. Each part has a server of its own, which stands for a few
/// minutes at most.
fn at_a_server(test: &str, part: fn(&TestDirectory)) {
    inside_beside_others(&format!("stores::{test}"), "store", || {
        std::fs::write(place("LAB_S3_OBJECTS").join("theirs"), "precious").expect("an object");
        part(&TestDirectory::new());
        assert_eq!(objects(), ["theirs"]);
    });
}

#[test]
fn a_real_server_is_measured_and_keeps_nothing() {
    at_a_server("a_real_server_is_measured_and_keeps_nothing", each_test_of_a_store_has_figures);
}

#[test]
fn a_server_is_asked_by_ipv6_and_by_tls_and_the_name_of_its_host() {
    at_a_server("a_server_is_asked_by_ipv6_and_by_tls_and_the_name_of_its_host", ipv6_tls_and_the_name_of_the_host);
}

#[test]
fn a_bucket_of_a_server_and_a_disk_are_compared() {
    at_a_server("a_bucket_of_a_server_and_a_disk_are_compared", a_bucket_and_a_disk_are_one_table);
}

#[test]
fn a_servers_folder_of_webdav_is_measured() {
    at_a_server("a_servers_folder_of_webdav_is_measured", a_folder_of_webdav_is_measured);
}

/// A command that asks the server at the address in this variable.
fn command(here: &TestDirectory, server: &str, words: &str) -> Command {
    let mut command = here.command(words);
    command.env("AWS_ENDPOINT_URL", place(server)).env("AWS_CONFIG_FILE", "config");
    ["AWS_ENDPOINT_URL_S3", "AWS_PROFILE", "AWS_REGION", "AWS_SESSION_TOKEN"].iter().for_each(|name| {
        command.env_remove(name);
    });
    command
}

fn ask(here: &TestDirectory, server: &str, words: &str) -> RunResult {
    Running::start(&mut command(here, server, words)).finish()
}

/// A PUT that the end of its test cuts would leave a part of an object, which could not be read.
fn a_folder_of_webdav_is_measured(here: &TestDirectory) {
    let url = format!("{}/bench", place("LAB_WEBDAV_URL").display());
    let study =
        ask(here, "LAB_S3_URL", &format!("measure {url} --quick --connections 2 --json --no-store")).good().study();
    assert!(study.rows.iter().any(|row| row.pattern == "get-8m"), "{:?}", study.notes);
    for row in &study.rows {
        assert!(row.first_error().is_none(), "{}: {:?}", row.pattern, row.first_error());
    }
}

/// What is in the bucket, as its server's disk shows it.
fn objects() -> Vec<String> {
    let mut names = testkit::names(&place("LAB_S3_OBJECTS"));
    // A folder of versitygw's own.
    names.retain(|name| name != ".sgwtmp");
    names
}

fn each_test_of_a_store_has_figures(here: &TestDirectory) {
    let measured = |runtime_s: u32| {
        let words = format!("measure s3://bench/pre --runtime {runtime_s} --connections 2 --json --no-store");
        ask(here, "LAB_S3_URL", &words).good().study()
    };
    // A test is left out where not each connection writes an object in its time, as on a busy machine.
    let is_whole = |study: &Study| study.notes.iter().all(|note| note.id != "tests-left-out");
    let study = [3, 12].into_iter().map(measured).find(is_whole).unwrap_or_else(|| measured(48));
    let names: Vec<&str> = study.rows.iter().map(|row| row.pattern.as_str()).collect();
    for name in ["put-4k", "get-4k", "head-4k", "list", "range-128k", "put-8m", "put-parts", "complete", "delete-4k"] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    for row in &study.rows {
        assert!(row.first_error().is_none(), "{}: {:?}", row.pattern, row.first_error());
        let missing = row.run.iter().flat_map(|run| &run.jobs).filter_map(|job| job.object.as_deref());
        assert!(missing.map(|object| object.missing.read).sum::<u64>() == 0, "{}", row.pattern);
    }
}

fn ipv6_tls_and_the_name_of_the_host(here: &TestDirectory) {
    let six = ask(here, "LAB_S3_URL_IPV6", "inspect s3://bench").good().stdout;
    assert!(six.contains("[::1]:4568") && six.contains("path style"), "{six}");
    // The server over TLS knows buckets by the name of the host alone.
    here.write("config", "[default]\ns3 =\n  addressing_style = virtual\n");
    let with_authority = |words: &str| {
        Running::start(command(here, "LAB_S3_URL_TLS", words).env("SSL_CERT_FILE", place("LAB_S3_AUTHORITY"))).finish()
    };
    let page = with_authority("inspect s3://bench").good().stdout;
    for says in ["bench.store.lab:4570", "virtual style", "TLSv1_3", "keys may be listed"] {
        assert!(page.contains(says), "{says}: {page}");
    }
    let words = "compare a=s3://bench/a b=s3://bench/b --only write-4k,read-4k --rounds 1 --json --no-store";
    let study = with_authority(words).good().study();
    assert!(study.rows.len() == 4 && study.rows.iter().all(|row| row.first_error().is_none()), "{:?}", study.rows);
    let stranger = ask(here, "LAB_S3_URL_TLS", "inspect s3://bench");
    assert!(stranger.status == Some(2) && stranger.stderr.contains("certificate"), "{stranger:?}");
    here.write("config", "");
}

fn a_bucket_and_a_disk_are_one_table(here: &TestDirectory) {
    let disk = here.path("data");
    std::fs::create_dir(&disk).expect("a directory");
    let words =
        format!("compare bucket=s3://bench/pre local={} --rounds 1 --runtime 20 --json --no-store", word(&disk));
    let study = ask(here, "LAB_S3_URL", &words).good().study();
    for pattern in ["write-4k", "read-4k", "stat-4k", "list", "remove-4k", "write-1m", "read-1m"] {
        let rows: Vec<_> = study.rows.iter().filter(|row| row.pattern == pattern).collect();
        assert_eq!(rows.len(), 2, "{pattern}");
        for row in rows {
            let phase = row.phase.as_ref().expect("a phase");
            assert!(phase.operations > 0 && phase.error.is_none(), "{pattern}: {phase:?}");
        }
    }
    assert!(testkit::names(&disk).is_empty(), "{:?}", testkit::names(&disk));
}

#[test]
fn a_store_and_its_mount_are_told_apart() {
    inside_beside_others("stores::a_store_and_its_mount_are_told_apart", "gateway --rate-mbit 1000", || {
        let here = TestDirectory::new();
        all_functions_work(&here);
        each_test_of_a_store_has_figures(&here);
        the_mount_adds_time_and_no_bytes(&here);
        assert!(objects().is_empty(), "{:?}", objects());
    });
}

fn all_functions_work(here: &TestDirectory) {
    let ran = ask(here, "LAB_S3_URL", "check s3-functional s3://bench --json --no-store").good();
    let study = ran.study();
    let failed: Vec<_> = study.verdicts.iter().filter(|row| row.verdict != Verdict::Pass).collect();
    assert!(study.verdicts.len() >= 8 && failed.is_empty(), "{failed:?}");
}

fn the_mount_adds_time_and_no_bytes(here: &TestDirectory) {
    let (mount, local) = (place("LAB_S3"), here.path("local"));
    std::fs::create_dir_all(&local).expect("a directory");
    let words = format!(
        "compare bucket=s3://bench mount={} local={} --only write-4k,read-1m --rounds 2 --json --no-store",
        word(&mount),
        word(&local)
    );
    let study = ask(here, "LAB_S3_URL", &words).good().study();
    let rates = |target: usize| {
        let rows = study.rows.iter().filter(move |row| row.target == target && row.pattern == "write-4k");
        rows.filter_map(|row| row.phase.as_ref()?.rate_per_s()).fold(0.0, f64::max)
    };
    assert!(rates(0) > rates(1) && rates(1) > 0.0, "{} at the store, {} through the mount", rates(0), rates(1));
    let words = format!("attribute s3://bench {} --json --store=kept", word(&mount));
    let study = ask(here, "LAB_S3_URL", &words).good().study();
    assert!(finding(&study, "retries-hidden").is_none(), "no upload was refused");
    let sentence = study.sentences.iter().find(|sentence| sentence.starts_with("read-1m through the mount"));
    let sentence = sentence.expect("a sentence about bytes");
    assert!(sentence.contains("bytes were received for each byte read"), "{sentence}");
    testkit::stack::show(&study.sentences.join("\n"));
}

/// The finding of this kind on a row of the mount.
fn finding<'s>(study: &'s Study, id: &str) -> Option<&'s Finding> {
    let of_mount = study.rows.iter().filter(|row| row.target == 1);
    of_mount.flat_map(|row| &row.findings).find(|finding| finding.id == id)
}

/// Each second upload of the mount is refused, and sent again by s3fs after some seconds. No write fails.
#[test]
fn uploads_that_a_mount_repeats_are_told() {
    inside_beside_others("stores::uploads_that_a_mount_repeats_are_told", "gateway --refuse-every 2", || {
        let here = TestDirectory::new();
        let words = format!("attribute s3://bench {} --json --store=kept", word(&place("LAB_S3")));
        let study = ask(&here, "LAB_S3_URL", &words).good().study();
        assert!(study.rows.iter().all(|row| row.first_error().is_none()), "{:?}", study.rows);
        let repeats = finding(&study, "retries-hidden").expect("each second upload went again");
        testkit::stack::show(&repeats.cause);
        assert_eq!((repeats.severity, repeats.job.as_deref()), (Severity::Caution, Some("write-1m")));
        assert!(
            study
                .rows
                .iter()
                .filter(|row| row.target == 0)
                .flat_map(|row| &row.findings)
                .all(|found| found.id != "retries-hidden")
        );
    });
}
