//! Tests SIGKILL at any request of a question to an object store, and `clean` afterwards. `FSDYNO_KILLS` is the number of
//! kills.

use std::process::Command;

use crate::kills::{Moments, kills};
use testkit::{ObjectServer, Running, ServerBehaviour, TestDirectory, wait_until};

/// Kinds of moments: each kill has a kind, and fewer kills are spread over all kinds.
const KINDS: usize = 50;

/// How many times the question is killed on each push: at one of the first requests, of the last DELETE, of the POST, of
/// the other DELETE, and at two of all requests.
const FEW: usize = 6;

/// Moments side by side, each with a server and a place of its own: a run mostly waits.
const LANES: usize = 2;

/// The least budget, so that the number of requests, and not the time, ends each test.
const QUESTION: &str = "measure s3://bucket/pre --runtime 60 --connections 2 --budget 1664 --no-store";

fn command(place: &TestDirectory, server: &ObjectServer, words: &str) -> Command {
    let mut command = place.command(words);
    command.env("AWS_ENDPOINT_URL", format!("http://{}", server.host()));
    command.envs([("AWS_ACCESS_KEY_ID", "AKID"), ("AWS_SECRET_ACCESS_KEY", "secret"), ("AWS_REGION", "lab-1")]);
    command.envs([("AWS_CONFIG_FILE", "none"), ("AWS_SHARED_CREDENTIALS_FILE", "none")]);
    command.env_remove("AWS_ENDPOINT_URL_S3").env_remove("AWS_SESSION_TOKEN");
    command
}

/// Starts a command, and kills it at the request that is held; it may have ended before.
fn killed(place: &TestDirectory, server: &ObjectServer, words: &str) {
    let mut running = Running::start(&mut command(place, server, words));
    let mut is_over = false;
    wait_until("the request, or the end", || {
        is_over = running.is_over();
        server.holds() || is_over
    });
    if !is_over {
        running.signal("KILL");
    }
    running.finish();
    server.let_go();
}

/// Keys of others: beside the runs, in a folder with the name of one, and where a run would write.
const THEIRS: [&str; 3] =
    ["/bucket/fsdyno-work-1-1-00000001/.fsdyno-work", "/bucket/pre/fsdyno-work-theirs/k4_0_4096", "/bucket/pre/theirs"];

#[test]
#[expect(clippy::disallowed_methods, reason = "a test may panic where there is no thread")]
fn killed_at_any_request_nothing_of_ours_stays_and_nothing_is_lost() {
    let (server, place) = (ObjectServer::start(ServerBehaviour::Honest), TestDirectory::new());
    let count = |method: &str| server.heads().iter().filter(|head| head.starts_with(method)).count();
    Running::start(&mut command(&place, &server, QUESTION)).finish().good();
    let (all, deletes) = (server.requests(), count("DELETE "));
    assert!(all > 1000 && deletes > 100, "{all} requests, {deletes} of them DELETE");
    let count_of_kills = kills(FEW);
    let mut moments = Moments::begin();
    let posts = count("POST ");
    let drawn = |kill: usize| {
        // Of the kinds that a kill stands for, one is drawn.
        let drawn_kind = moments.next() as usize % (KINDS / count_of_kills).max(1);
        let (kind, drawn) = (kill * KINDS / count_of_kills + drawn_kind, moments.next() as usize);
        let (method, number) = match kind {
            0..8 => ("", kind + 1),
            8..16 => ("DELETE ", deletes - (kind - 8)),
            // A POST begins or completes an upload in parts.
            16..24 => ("POST ", 1 + drawn % posts),
            24..30 => ("DELETE ", 1 + drawn % deletes),
            // The second half of a run moves most of the bytes.
            _ => ("", 1 + drawn % if kill.is_multiple_of(4) { all } else { all / 2 }),
        };
        let what = format!("killed at request {number} {method}(seed {:#x})", moments.seed);
        let of_question = Kill { method, number, done: moments.next().is_multiple_of(2), what };
        let of_clean =
            Kill { method: "DELETE ", number: 1 + drawn % 7, done: kill.is_multiple_of(2), what: String::new() };
        (of_question, kill.is_multiple_of(3).then_some(of_clean))
    };
    let kills: Vec<(Kill, Option<Kill>)> = (0..count_of_kills).map(drawn).collect();
    std::thread::scope(|scope| {
        for lane in 0..LANES {
            let kills = kills.iter().skip(lane).step_by(LANES);
            scope.spawn(|| {
                let (server, place) = (ObjectServer::start(ServerBehaviour::Honest), TestDirectory::new());
                THEIRS.iter().for_each(|path| server.keep(path, b"precious"));
                kills.for_each(|(kill, of_clean)| is_cleaned(&place, &server, kill, of_clean.as_ref()));
            });
        }
    });
}

/// The request at which a command is killed.
struct Kill {
    method: &'static str,
    number: usize,
    /// Whether it has its effect.
    done: bool,
    what: String,
}

/// Kills the question, and perhaps what cleans behind it; then all is cleaned.
fn is_cleaned(place: &TestDirectory, server: &ObjectServer, kill: &Kill, of_clean: Option<&Kill>) {
    let what = &kill.what;
    server.hold(kill.method, kill.number, kill.done);
    killed(place, server, QUESTION);
    // The working process dies a moment after the one that was killed.
    let clean = |words: &str| Running::start(&mut command(place, server, words)).finish();
    wait_until(what, || !clean("clean s3://bucket/pre --dry-run").stdout.contains("still uses it"));
    // One that is killed itself leaves the rest to the next one.
    if let Some(kill) = of_clean {
        server.hold(kill.method, kill.number, kill.done);
        killed(place, server, "clean s3://bucket/pre");
    }
    let cleaned = clean("clean s3://bucket/pre").good();
    assert!(!cleaned.stdout.contains("still uses it"), "{what}: {cleaned:?}");
    assert_eq!(server.objects().into_keys().collect::<Vec<_>>(), THEIRS, "{what}");
    assert_eq!(server.open_uploads(), 0, "{what}");
    assert!(server.objects().values().all(|object| object.as_slice() == b"precious"), "{what}");
}

/// Keys that somebody else wrote into the folder of a run that was killed, more than a page has: they stay, and are named.
#[test]
fn keys_of_others_in_the_folder_of_a_run_stay() {
    let (server, place) = (ObjectServer::start(ServerBehaviour::Honest), TestDirectory::new());
    server.hold("PUT ", 40, false);
    killed(&place, &server, QUESTION);
    let marker = server.objects().into_keys().find(|key| key.ends_with("/.fsdyno-work")).expect("a marker");
    let folder = marker.trim_end_matches(".fsdyno-work");
    let mut theirs: Vec<String> = (0..10_000).map(|number| format!("{folder}k4_{number:05}")).collect();
    theirs.push(format!("{folder}k4_1_4096"));
    theirs.sort();
    theirs.iter().for_each(|path| server.keep(path, b"precious"));
    let clean = || Running::start(&mut command(&place, &server, "clean s3://bucket/pre")).finish();
    let mut cleaned = clean();
    wait_until("the end of the run", || {
        let is_used = cleaned.stdout.contains("still uses it");
        if is_used {
            cleaned = clean();
        }
        !is_used
    });
    assert!(cleaned.stdout.contains("10001 keys of others were left there"), "{cleaned:?}");
    assert_eq!(server.objects().into_keys().collect::<Vec<_>>(), theirs);
}
