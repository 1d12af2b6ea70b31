//! Tests object stores with a real server: rclone's, which knows both styles, IPv6 and TLS.

use std::process::Command;

use testkit::stack::{inside_beside_others, place};
use testkit::{Place, RunResult, Running, word};

#[test]
fn a_real_server_is_measured_and_keeps_nothing() {
    inside_beside_others("stores::a_real_server_is_measured_and_keeps_nothing", "store", || {
        let here = Place::new();
        std::fs::write(place("LAB_S3_OBJECTS").join("theirs"), "precious").expect("an object");
        each_test_of_a_store_has_figures(&here);
        ipv6_tls_and_the_name_of_the_host(&here);
        a_bucket_and_a_disk_are_one_table(&here);
        assert_eq!(objects(), ["theirs"]);
    });
}

/// A command that asks the server at the address in this variable.
fn command(here: &Place, server: &str, words: &str) -> Command {
    let mut command = here.command(words);
    command.env("AWS_ENDPOINT_URL", place(server)).env("AWS_CONFIG_FILE", "config");
    ["AWS_ENDPOINT_URL_S3", "AWS_PROFILE", "AWS_REGION", "AWS_SESSION_TOKEN"].iter().for_each(|name| {
        command.env_remove(name);
    });
    command
}

fn ask(here: &Place, server: &str, words: &str) -> RunResult {
    Running::start(&mut command(here, server, words)).finish()
}

/// What is in the bucket, as its server's disk shows it.
fn objects() -> Vec<String> {
    testkit::names(&place("LAB_S3_OBJECTS"))
}

fn each_test_of_a_store_has_figures(here: &Place) {
    let study =
        ask(here, "LAB_S3_URL", "measure s3://bench/pre --runtime 3 --connections 2 --json --no-store").good().study();
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

fn ipv6_tls_and_the_name_of_the_host(here: &Place) {
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

fn a_bucket_and_a_disk_are_one_table(here: &Place) {
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
