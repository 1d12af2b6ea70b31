//! Tests that several ranks ask one bucket together: `scale s3://`.

use std::process::Command;

use fsdyno_results::Study;
use testkit::stack::{inside_beside_others, place, show};
use testkit::{ObjectServer, RunResult, Running, ServerBehaviour, TestDirectory, wait_until};

use crate::launcher::{agent_and_worker, command, program, runs, signal};
use crate::questions::run;

fn asking(here: &TestDirectory, server: &ObjectServer, ranks: u32, words: &str) -> Option<Command> {
    let mut command = command(&here.path(""), ranks, program()?, words);
    command.env("AWS_ENDPOINT_URL", format!("http://{}", server.host())).env_remove("AWS_ENDPOINT_URL_S3");
    command.envs([("AWS_ACCESS_KEY_ID", "AKID"), ("AWS_SECRET_ACCESS_KEY", "secret"), ("AWS_REGION", "lab-1")]);
    command.env("AWS_CONFIG_FILE", "none").env("AWS_SHARED_CREDENTIALS_FILE", "none").env_remove("AWS_SESSION_TOKEN");
    Some(command)
}

fn ask(here: &TestDirectory, server: &ObjectServer, ranks: u32, words: &str) -> Option<RunResult> {
    Some(Running::start(&mut asking(here, server, ranks, words)?).finish())
}

const SCALE: &str = "scale s3://bucket/pre --connections 2 --object-size 64k --runtime 1 --quiet --no-store";

/// Steps of one and two ranks: both do their part, each on its own keys, and the rows hold what both did.
#[track_caller]
fn both_do_their_part(study: &Study) {
    assert!(study.complete && !study.rows.is_empty(), "{:?}", study.notes);
    for row in &study.rows {
        assert!(row.first_error().is_none(), "{}: {:?}", row.pattern, row.first_error());
        let (record, nodes) = (run(row), if row.pattern.ends_with("-n1") { 1 } else { 2 });
        assert_eq!(record.nodes.len(), nodes, "{}", row.pattern);
        let missing = record.jobs.iter().filter_map(|job| job.object.as_deref()).map(|object| object.missing.read);
        assert_eq!(missing.sum::<u64>(), 0, "{}", row.pattern);
    }
    let [get, put] = &study.sentences[..2] else { panic!("{:?}", study.sentences) };
    assert!(get.starts_with("64k GET: ") && put.starts_with("64k PUT: ") && get.contains("2 nodes"), "{get} {put}");
}

#[test]
fn ranks_have_objects_of_their_own_and_one_budget() {
    let (server, here) = (ObjectServer::start(ServerBehaviour::Honest), TestDirectory::new());
    server.keep("/bucket/pre/theirs", b"precious");
    let Some(ran) = ask(&here, &server, 2, &format!("{SCALE} --nodes 1,2 --requests get,put --json")) else { return };
    both_do_their_part(&ran.good().study());
    let heads = server.heads();
    let written = |name: &str| heads.iter().filter(|head| head.starts_with("PUT ") && head.contains(name)).count();
    assert!(written("/o_") > 256 && written("/o-r1_") > 256, "{} and {}", written("/o_"), written("/o-r1_"));
    assert_eq!(server.objects().into_keys().collect::<Vec<_>>(), ["/bucket/pre/theirs"]);
    // 512 objects are written and deleted; all nodes share the rest.
    let before = server.requests();
    let words = format!("{SCALE} --nodes 2 --requests get --budget 1100 --json");
    let study = ask(&here, &server, 2, &words).expect("as before").good().study();
    let asked: u64 = study.rows.iter().map(|row| run(row).jobs.iter().map(|job| job.mixed().ios).sum::<u64>()).sum();
    assert!((513..=1100).contains(&asked), "{asked}");
    // Beside it: DELETE of each object, marker, bucket state, pages of its list and of its uploads.
    assert!(server.requests() - before <= 1100 + 512 + 10, "{}", server.requests() - before);
    let small = ask(&here, &server, 2, &format!("{SCALE} --nodes 2 --budget 500")).expect("as before");
    assert!(small.status == Some(2) && small.stderr.contains("a budget of 500 requests is too small"), "{small:?}");
}

#[test]
fn questions_of_one_node_are_refused_and_nothing_is_written() {
    let (server, here) = (ObjectServer::start(ServerBehaviour::Honest), TestDirectory::new());
    for words in ["measure s3://bucket", "sweep s3://bucket", "curve s3://bucket", "compare a=s3://bucket b=s3://other"]
    {
        let Some(ran) = ask(&here, &server, 2, &format!("{words} --no-store")) else { return };
        assert_ne!(ran.status, Some(0), "{ran:?}");
        assert!(ran.stderr.contains("from one node, and this run has 2"), "{ran:?}");
        assert!(ran.stderr.contains("fsdyno scale s3://bucket --nodes 1,2"), "{ran:?}");
    }
    let few = ask(&here, &server, 2, "scale s3://bucket --nodes 1,4 --no-store").expect("as before");
    assert!(few.stderr.contains("4 nodes are needed, and this run has 2"), "{few:?}");
    assert_eq!(server.requests(), 0);
}

/// The first rank is killed while both write: what either has left is cleaned by its marker.
#[test]
fn what_killed_ranks_leave_is_cleaned() {
    let (server, here) = (ObjectServer::start(ServerBehaviour::Honest), TestDirectory::new());
    server.keep("/bucket/pre/theirs", b"precious");
    let words = format!("{} --nodes 2 --requests put", SCALE.replace("--runtime 1", "--runtime 60"));
    let Some(mut started) = asking(&here, &server, 2, &words) else { return };
    let running = Running::start(&mut started);
    let workers: Vec<u32> = (0..2).map(|rank| agent_and_worker(running.id(), rank).1).collect();
    wait_until("objects of both", || {
        let objects = server.objects();
        ["/o_", "/o-r1_"].iter().all(|name| objects.keys().any(|key| key.contains(name)))
    });
    signal(workers[0], "KILL");
    running.finish();
    wait_until("end of the workers", || workers.iter().all(|process| !runs(*process)));
    assert!(server.objects().len() > 1, "there is something to clean");
    ask(&here, &server, 1, "clean s3://bucket/pre").expect("as before").good();
    assert_eq!(server.objects().into_keys().collect::<Vec<_>>(), ["/bucket/pre/theirs"]);
}

#[test]
fn ranks_measure_a_real_server() {
    if program().is_none() {
        return;
    }
    inside_beside_others("stores::ranks_measure_a_real_server", "gateway", || {
        let here = TestDirectory::new();
        let program = program().expect("it was built before the stack stood");
        let words = SCALE.replace("bucket", "bench");
        let mut command =
            command(&here.path(""), 2, program, &format!("{words} --nodes 1,2 --requests get,put --json"));
        command.env("AWS_ENDPOINT_URL", place("LAB_S3_URL")).env("AWS_CONFIG_FILE", "none");
        let study = Running::start(&mut command).finish().good().study();
        both_do_their_part(&study);
        show(&study.sentences.join("\n"));
        let mut left = testkit::names(&place("LAB_S3_OBJECTS"));
        // A folder of versitygw's own; it keeps empty folders of keys.
        left.retain(|name| name != ".sgwtmp" && name != "pre");
        assert!(left.is_empty(), "{left:?}");
    });
}
