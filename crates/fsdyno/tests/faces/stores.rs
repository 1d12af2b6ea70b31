//! Questions to object stores.

use std::process::Command;

use testkit::{Manner, ObjectServer, Place, Ran, Running, wait_until};

const SECRET: &str = "wJalrXUtnFEMIbPxRfiCYEXAMPLEKEY";

fn command(place: &Place, server: &ObjectServer, words: &str) -> Command {
    let mut command = place.command(words);
    command.env("AWS_ENDPOINT_URL", format!("http://{}", server.host()));
    command.envs([("AWS_ACCESS_KEY_ID", "AKID"), ("AWS_SECRET_ACCESS_KEY", SECRET), ("AWS_REGION", "lab-1")]);
    for name in ["AWS_PROFILE", "AWS_ENDPOINT_URL_S3", "AWS_SESSION_TOKEN"] {
        command.env_remove(name);
    }
    command.env("AWS_CONFIG_FILE", "none").env("AWS_SHARED_CREDENTIALS_FILE", "none");
    command
}

fn ask(place: &Place, server: &ObjectServer, words: &str) -> Ran {
    Running::start(&mut command(place, server, words)).finish()
}

#[test]
fn a_store_is_measured_by_objects_that_are_gone_afterwards() {
    for manner in [Manner::Honest, Manner::Tacit] {
        let (server, place) = (ObjectServer::start(manner), Place::new());
        server.keep("/bucket/pre/theirs", b"precious");
        server.keep("/bucket/fsdyno-work-x/theirs", b"precious");
        let ran = ask(&place, &server, "measure s3://bucket/pre --quick --connections 2 --json --no-store").good();
        let study = ran.study();
        let names: Vec<&str> = study.rows.iter().map(|row| row.pattern.as_str()).collect();
        let wanted = [
            "put-4k",
            "put-4k-one",
            "get-4k-one",
            "get-4k",
            "put-1m",
            "get-1m",
            "range-128k",
            "put-8m",
            "get-8m",
            "delete-4k",
        ];
        assert_eq!(names, wanted, "{manner:?}: {ran:?}");
        for job in study.rows.iter().filter_map(|row| row.run.as_ref()).flat_map(|run| &run.jobs) {
            let object = job.object.as_deref().expect("counts of objects");
            assert!(object.missing.read == 0 && job.error.is_none(), "{manner:?}: {}", job.name);
        }
        let kept: Vec<String> = server.objects().into_keys().collect();
        assert_eq!(kept, ["/bucket/fsdyno-work-x/theirs", "/bucket/pre/theirs"], "{manner:?}");
        assert!(!ran.stdout.contains(SECRET) && !ran.stderr.contains(SECRET));
        let (heads, own) = (server.heads(), "/bucket/pre/fsdyno-work-");
        assert!(heads.iter().all(|head| head.contains(own) || head.contains("/bucket/?")), "{manner:?}");
        assert!(heads.iter().all(|head| head.contains("/lab-1/s3/aws4_request")), "{manner:?}");
        // The marker is the first that is written, and the last that is deleted.
        let of = |method: &str| heads.iter().filter(|head| head.starts_with(method)).cloned().collect::<Vec<_>>();
        let (puts, deletes) = (of("PUT "), of("DELETE "));
        assert!(puts[0].contains("/.fsdyno-work") && puts[0].contains("If-None-Match: *"), "{}", puts[0]);
        assert!(deletes.last().is_some_and(|head| head.contains("/.fsdyno-work")), "{deletes:?}");
    }
}

#[test]
fn buckets_that_keep_what_is_deleted_are_refused() {
    let (server, place) = (ObjectServer::start(Manner::Versioned), Place::new());
    let ran = ask(&place, &server, "measure s3://bucket --quick --no-store");
    assert!(ran.status == Some(2) && ran.stderr.contains("keeps the versions"), "{ran:?}");
    assert!(server.heads().iter().all(|head| head.starts_with("GET ")) && server.objects().is_empty());
    ask(&place, &server, "measure s3://bucket --quick --connections 2 --no-store --versioned").good();
}

/// A killed run leaves what `clean` finds by its marker; nothing else is touched.
#[test]
fn what_a_killed_run_leaves_is_cleaned_and_nothing_else() {
    let (server, place) = (ObjectServer::start(Manner::Honest), Place::new());
    for moment in 0..6 {
        server.keep("/bucket/pre/theirs", b"precious");
        server.keep("/bucket/pre/fsdyno-work-theirs/k4_0_4096", b"precious");
        let running = Running::start(&mut command(&place, &server, "measure s3://bucket/pre --quick --no-store"));
        let enough = server.heads().len() + [3, 5, 20, 600, 2000, 5000][moment];
        wait_until("requests", || server.heads().len() >= enough);
        running.signal("KILL");
        drop(running);
        let begun: Vec<String> = server.objects().into_keys().filter(|key| key.ends_with("/.fsdyno-work")).collect();
        let marker = begun.first().expect("a run that was killed").clone();
        let folder = marker.trim_end_matches(".fsdyno-work").to_owned();
        server.keep(&format!("{folder}theirs"), b"precious");
        server.keep(&format!("{folder}k4_1_4096"), b"precious");
        let looks = || ask(&place, &server, "clean s3://bucket/pre --dry-run").stdout;
        wait_until("end of the worker", || looks().contains("would be removed"));
        let cleaned = ask(&place, &server, "clean s3://bucket/pre");
        assert!(cleaned.stdout.contains("2 keys of others were left there"), "{cleaned:?}");
        let theirs = [
            format!("{folder}k4_1_4096"),
            format!("{folder}theirs"),
            "/bucket/pre/fsdyno-work-theirs/k4_0_4096".to_owned(),
            "/bucket/pre/theirs".to_owned(),
        ];
        assert_eq!(server.objects().into_keys().collect::<Vec<_>>(), theirs, "{moment}");
        server.forget(&theirs[0]);
        server.forget(&theirs[1]);
    }
}

/// A run that goes on keeps its objects.
#[test]
fn clean_leaves_the_objects_of_a_run_that_goes_on() {
    let (server, place) = (ObjectServer::start(Manner::Honest), Place::new());
    let running = Running::start(&mut command(&place, &server, "measure s3://bucket --runtime 60 --no-store"));
    wait_until("requests", || server.heads().len() > 50);
    let cleaned = ask(&place, &server, "clean s3://bucket");
    assert!(cleaned.stdout.contains("still uses it"), "{cleaned:?}");
    running.signal("INT");
    let ended = running.finish();
    assert!(server.objects().is_empty() && ended.status == Some(130), "{ended:?} {:?}", server.objects().keys());
}

#[test]
fn each_fault_of_a_store_is_a_sentence() {
    for (manner, says) in [
        (Manner::Status(403, "<Error><Code>AccessDenied</Code></Error>"), "HTTP 403 AccessDenied"),
        (Manner::Status(307, ""), "HTTP 307"),
        (Manner::EndlessHead, "the head of the answer does not end"),
        (Manner::EndlessError, "longer than any"),
        (Manner::ClosesAtOnce, "closed the connection"),
        (Manner::OtherProtocol, "the answer is not HTTP"),
        (Manner::OtherLength(9_000_000), "longer than any"),
    ] {
        let (server, place) = (ObjectServer::start(manner), Place::new());
        for words in ["measure s3://bucket --quick --no-store", "clean s3://bucket"] {
            let ran = ask(&place, &server, words);
            assert!(ran.status == Some(2) && ran.stderr.contains(says), "{manner:?} {words}: {ran:?}");
            assert!(server.heads().len() <= 8, "{manner:?}: {}", server.heads().len());
        }
    }
}

#[test]
fn questions_that_need_a_directory_say_so_before_anything_is_made() {
    let place = Place::new();
    for words in [
        "sweep s3://b",
        "curve s3://b",
        "scale s3://b",
        "smallfiles s3://b",
        "check etcd s3://b",
        "compare a=/tmp b=s3://b",
        "attribute s3://b /mnt",
        "time s3://b -- true",
    ] {
        let ran = place.run(words);
        let says = ran.stderr.contains("needs a directory") && ran.stderr.contains("`fsdyno measure s3://b`");
        assert!(ran.status == Some(2) && says, "{words}: {ran:?}");
    }
    for (words, says) in [
        ("measure http://host/folder", "not yet of WebDAV"),
        ("measure s3://", "names no bucket"),
        ("measure s3://b/../c", "one of dots"),
        ("measure s3://b --like cdm", "--like is for directories"),
        ("measure s3://b --budget 10", "a budget of 10 requests is too small"),
    ] {
        let ran = place.run(words);
        assert!(ran.status == Some(2) && ran.stderr.contains(says), "{words}: {ran:?}");
    }
}

/// Three requests that write nothing, and what they show; beside each an honest server that does not show it.
#[test]
fn a_store_is_inspected_without_a_write() {
    let place = Place::new();
    let page = |manner| {
        let server = ObjectServer::start(manner);
        let ran = ask(&place, &server, "inspect s3://bucket/pre").good();
        let document = ask(&place, &server, "inspect s3://bucket/pre --json").good().document();
        assert_eq!(document["server"].as_str(), Some(server.host().as_str()), "{document}");
        let heads = server.heads();
        assert!(heads.len() == 6 && heads.iter().all(|head| head.starts_with("GET /bucket/?")), "{heads:?}");
        assert!(ran.stdout.contains("path style, region lab-1"), "{ran:?}");
        ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let honest = page(Manner::Honest);
    for says in
        ["over one connection", "clock not visible", "versions off", "locks off", "keys may be listed", "no TLS"]
    {
        assert!(honest.contains(says), "{says}: {honest}");
    }
    for (manner, says) in [
        (Manner::Versioned, "versions Enabled"),
        (Manner::ClosesBehindAnswers, "the server closes connections: 3 connections for three requests"),
        (Manner::OldClock, "behind that of this machine: signed requests are refused"),
        (Manner::Tacit, "keys may not be listed (HTTP 403 AccessDenied)"),
    ] {
        let found = page(manner);
        assert!(found.contains(says) && !honest.contains(says), "{manner:?}: {found}");
    }
}
