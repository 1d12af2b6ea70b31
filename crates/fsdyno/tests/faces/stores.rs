//! Questions to object stores.

mod inspected;
mod judged;
mod kept;

use std::process::Command;
use std::sync::LazyLock;

use fsdyno_results::Study;
use testkit::{ObjectServer, RunResult, Running, ServerBehaviour, TestDirectory, wait_until};

const SECRET: &str = "wJalrXUtnFEMIbPxRfiCYEXAMPLEKEY";

/// All tests of a store. Requests cost money: the budget ends each test, however much time is left.
const MEASURE: &str = "measure s3://bucket/pre --runtime 600 --connections 2 --budget 1664 --json --no-store";

/// Objects of others, beside the folder of a run.
const THEIRS: [&str; 2] = ["/bucket/fsdyno-work-x/theirs", "/bucket/pre/theirs"];

/// A store whose tests have run, and their answer.
struct Measured {
    server: ObjectServer,
    ran: RunResult,
    study: Study,
}

impl Measured {
    fn new(manner: ServerBehaviour) -> Measured {
        let (server, place) = (ObjectServer::start(manner), TestDirectory::new());
        THEIRS.iter().for_each(|path| server.keep(path, b"precious"));
        let ran = ask(&place, &server, MEASURE);
        Measured { study: ran.study(), server, ran }
    }
}

/// An honest store: several tests read the same answer.
static HONEST: LazyLock<Measured> = LazyLock::new(|| Measured::new(ServerBehaviour::Honest));

fn command(place: &TestDirectory, server: &ObjectServer, words: &str) -> Command {
    let mut command = place.command(words);
    command.env("AWS_ENDPOINT_URL", format!("http://{}", server.host()));
    command.envs([("AWS_ACCESS_KEY_ID", "AKID"), ("AWS_SECRET_ACCESS_KEY", SECRET), ("AWS_REGION", "lab-1")]);
    for name in ["AWS_PROFILE", "AWS_ENDPOINT_URL_S3", "AWS_SESSION_TOKEN"] {
        command.env_remove(name);
    }
    command.env("AWS_CONFIG_FILE", "none").env("AWS_SHARED_CREDENTIALS_FILE", "none");
    command
}

fn ask(place: &TestDirectory, server: &ObjectServer, words: &str) -> RunResult {
    Running::start(&mut command(place, server, words)).finish()
}

/// A directory of the test, as a word.
fn directory(place: &TestDirectory) -> String {
    std::fs::create_dir_all(place.path("data")).expect("a directory");
    place.word("data")
}

#[test]
fn a_store_is_measured_by_objects_that_are_gone_afterwards() {
    let tacit = Measured::new(ServerBehaviour::Tacit);
    for (manner, measured) in [(ServerBehaviour::Honest, &*HONEST), (ServerBehaviour::Tacit, &tacit)] {
        let Measured { server, ran, study } = measured;
        assert_eq!(ran.status, Some(0), "{manner:?}: {ran:?}");
        let names: Vec<&str> = study.rows.iter().map(|row| row.pattern.as_str()).collect();
        let mut wanted = vec![
            "put-4k",
            "put-4k-one",
            "get-4k-one",
            "get-4k",
            "head-4k",
            "list",
            "put-1m",
            "get-1m",
            "range-128k",
            "put-8m",
            "get-8m",
            "put-parts",
            "complete",
            "delete-4k",
        ];
        // Who may not list is spared the row, not the rest.
        wanted.retain(|name| *name != "list" || manner == ServerBehaviour::Honest);
        assert_eq!(names, wanted, "{manner:?}: {ran:?}");
        for job in study.rows.iter().filter_map(|row| row.run.as_ref()).flat_map(|run| &run.jobs) {
            let object = job.object.as_deref().expect("counts of objects");
            assert!(object.missing.read == 0 && job.error.is_none(), "{manner:?}: {}", job.name);
        }
        for phase in study.rows.iter().filter_map(|row| row.phase.as_ref()) {
            assert!(phase.operations > 0 && phase.error.is_none(), "{manner:?}: {phase:?}");
        }
        assert_eq!(server.objects().into_keys().collect::<Vec<_>>(), THEIRS, "{manner:?}");
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
fn no_more_requests_are_sent_than_the_budget_has() {
    let Measured { server, study, .. } = &*HONEST;
    let of = |pattern: &str, method: &str| {
        let row = study.rows.iter().find(|row| row.pattern == pattern).and_then(|row| row.run.as_ref()).expect(pattern);
        let answers = row.jobs.iter().filter_map(|job| job.object.as_deref()).map(|object| &object.answers);
        answers.map(|answers| if method == "GET" { answers.read } else { answers.write }).sum::<u64>()
    };
    for (pattern, method) in [("put-4k", "PUT"), ("get-4k", "GET"), ("get-4k-one", "GET"), ("range-128k", "GET")] {
        assert_eq!(of(pattern, method), 128, "{pattern}");
    }
    // Beside the tests: looks at the bucket, the marker, and deletes of what the last test left.
    assert!((1000..1664 + 40).contains(&server.requests()), "{}", server.requests());
}

/// A directory and a bucket do the same number of operations on the same number of bytes, each with the calls of its own,
/// and keep nothing.
#[test]
fn a_store_and_a_directory_are_one_table() {
    let (server, place) = (ObjectServer::start(ServerBehaviour::Honest), TestDirectory::new());
    server.keep("/bucket/pre/theirs", b"precious");
    let words = format!(
        "compare bucket=s3://bucket/pre local={} --rounds 2 --runtime 60 --connections 2 --json --no-store",
        directory(&place)
    );
    let ran = ask(&place, &server, &words).good();
    let study = ran.study();
    let of = |pattern: &str, target: usize| {
        let rows = study.rows.iter().filter(move |row| row.pattern == pattern && row.target == target);
        rows.map(|row| row.phase.clone().expect("a phase")).collect::<Vec<_>>()
    };
    for (pattern, operations, bytes) in [
        ("write-4k", 256, Some(256 * 4096)),
        ("read-4k", 256, Some(256 * 4096)),
        ("stat-4k", 256, None),
        ("remove-4k", 256, None),
        ("write-1m", 32, Some(32 << 20)),
        ("read-1m", 32, Some(32 << 20)),
    ] {
        for target in 0..2 {
            let phases = of(pattern, target);
            let counts: Vec<_> = phases.iter().map(|phase| (phase.operations, phase.failures, phase.bytes)).collect();
            assert_eq!(counts, [(operations, 0, bytes); 2], "{pattern} on {target}: {phases:?}");
        }
    }
    assert!((0..2).all(|target| of("list", target).iter().all(|phase| phase.operations > 0 && phase.failures == 0)));
    // Each operation on the bucket is one request, beside those of a list with pages of 100 names.
    let heads = server.heads();
    let requests = |method: &str, part: &str| {
        let lines = heads.iter().filter_map(|head| head.lines().next());
        lines.filter(|line| line.starts_with(method) && line.contains(part)).count()
    };
    for (method, part, wanted) in [
        ("PUT ", "/k4_", 512),
        ("GET ", "/k4_", 512),
        ("HEAD ", "/k4_", 512),
        ("DELETE ", "/k4_", 512),
        ("PUT ", "/m1_", 64),
        ("GET ", "/m1_", 64),
        ("DELETE ", "/m1_", 32),
        ("GET ", "prefix=pre%2Ffsdyno-work-", 2 * 32 * 3),
    ] {
        let found = requests(method, part);
        // The end of the run lists its folder, too.
        let more = if part.starts_with("prefix") { 1 } else { 0 };
        assert!((wanted..=wanted + more).contains(&found), "{method}{part}: {found}");
    }
    assert_eq!(server.objects().into_keys().collect::<Vec<_>>(), ["/bucket/pre/theirs"]);
    assert_eq!(std::fs::read_dir(place.path("data")).expect("the place").count(), 0);
    assert!(!ran.stdout.contains(SECRET) && !ran.stderr.contains(SECRET));
    // A pattern alone writes what it reads, and that is no row.
    let only = "compare a=s3://bucket/pre b=s3://bucket/other --only read-4k --rounds 1 --json --no-store";
    let study = ask(&place, &server, only).good().study();
    assert!(study.rows.iter().all(|row| row.pattern == "read-4k") && study.rows.len() == 2, "{:?}", study.rows);
    assert!(study.rows.iter().all(|row| row.phase.as_ref().is_some_and(|phase| phase.operations == 256)));
    assert_eq!(server.objects().into_keys().collect::<Vec<_>>(), ["/bucket/pre/theirs"]);
}

/// A directory that is on no mount of a store has no counter: what crossed the network is not visible, and not 0.
#[test]
fn what_no_counter_shows_of_a_mount_is_not_visible() {
    let (server, place) = (ObjectServer::start(ServerBehaviour::Honest), TestDirectory::new());
    let words = format!("attribute s3://bucket/pre {} --json --no-store", directory(&place));
    let study = ask(&place, &server, &words).good().study();
    assert!(!place.path("home/fsdyno").exists(), "no record is saved");
    let said = |words: &str| study.sentences.iter().any(|sentence| sentence.contains(words));
    assert!(said("A read of 1 MiB takes") && said("at the store and"), "{:?}", study.sentences);
    assert!(said("read-1m through the mount: what crossed the network is not visible"), "{:?}", study.sentences);
    assert!(said("Requests per operation are not visible"), "{:?}", study.sentences);
    assert_eq!(study.rows.len(), 2 * 6 * 4);
    assert!(study.rows.iter().all(|row| row.first_error().is_none()));
    assert!(server.objects().is_empty() && std::fs::read_dir(place.path("data")).expect("the place").count() == 0);
}

/// What a store refuses is an error of the row, and the other place is measured all the same.
#[test]
fn a_store_that_fails_cannot_win_a_comparison() {
    let (server, place) = (ObjectServer::start(ServerBehaviour::KeepsMarkersAlone), TestDirectory::new());
    let words = format!(
        "compare bucket=s3://bucket local={} --only write-4k,read-4k --rounds 4 --no-store --json",
        directory(&place)
    );
    let study = ask(&place, &server, &words).study();
    let failed = |row: &&fsdyno_results::Row| row.target == 0;
    let errors: Vec<String> =
        study.rows.iter().filter(failed).filter_map(|row| row.first_error()).map(|e| format!("{e:?}")).collect();
    assert!(!errors.is_empty() && errors.iter().all(|error| error.contains("HTTP 503 SlowDown")), "{errors:?}");
    assert!(study.rows.iter().filter(|row| row.target == 1).all(|row| row.first_error().is_none()));
    assert!(server.objects().is_empty());
}

/// Where keys may not be listed, the others do all the same.
#[test]
fn a_list_that_is_not_allowed_spares_the_rest() {
    let (server, place) = (ObjectServer::start(ServerBehaviour::Tacit), TestDirectory::new());
    let words =
        format!("compare bucket=s3://bucket local={} --only list,stat-4k --rounds 2 --no-store", directory(&place));
    let study = ask(&place, &server, &format!("{words} --json")).good().study();
    let rows = |target: usize, pattern| study.repeats(target, pattern).count();
    assert_eq!([rows(0, "list"), rows(1, "list"), rows(0, "stat-4k"), rows(1, "stat-4k")], [0, 2, 2, 2]);
    let notes: Vec<&str> = study.notes.iter().map(|note| note.text.as_str()).collect();
    let told = notes.iter().filter(|text| text.contains("list is not allowed on bucket")).count();
    assert!(told == 1 && notes.iter().any(|text| text.contains("HTTP 403")), "{notes:?}");
    assert!(server.objects().is_empty());
}

/// The rows of a question about load: each connection is a worker, no object was missing, and nothing is left.
fn check_load(server: &ObjectServer, study: &fsdyno_results::Study, connections: &dyn Fn(&str) -> Option<usize>) {
    for row in &study.rows {
        let jobs = row.run.iter().flat_map(|run| &run.jobs);
        let objects: Vec<_> = jobs.map(|job| job.object.as_deref().expect("counts of objects")).collect();
        assert!(objects.iter().all(|object| object.missing.read == 0) && row.first_error().is_none(), "{row:?}");
        let found = row.phase.as_ref().map_or(objects.len(), |phase| phase.threads as usize);
        assert!(connections(&row.pattern).is_none_or(|wanted| found == wanted), "{}: {found}", row.pattern);
    }
    assert!(server.objects().is_empty(), "{:?}", server.objects().keys());
    let heads = server.heads();
    assert!(heads.iter().all(|head| head.contains("/bucket/pre/fsdyno-work-") || head.contains("/bucket/?")));
}

#[test]
fn a_store_is_swept_over_connections() {
    let (server, place) = (ObjectServer::start(ServerBehaviour::Honest), TestDirectory::new());
    let words = "sweep s3://bucket/pre --runtime 1 --connections 1,2,4 --requests get,put --object-size 4k,128k --json \
                 --budget 4000";
    let study = ask(&place, &server, &format!("{words} --no-store")).good().study();
    let number = |pattern: &str| pattern.rsplit_once("-qd")?.1.parse().ok();
    check_load(&server, &study, &number);
    let of = |pattern: &str| study.repeats(0, pattern).count();
    for group in ["get-4k", "get-128k", "put-4k", "put-128k"] {
        assert_eq!([1, 2, 4].map(|depth| of(&format!("{group}-qd{depth}"))), [4; 3], "{group}");
        assert!(study.sentences.iter().any(|text| text.starts_with(&group[4..]) && text.contains(" connection")));
    }
    assert_eq!(of("fill"), 2);
}

#[test]
fn a_curve_of_a_store_offers_its_loads_over_many_connections() {
    let (server, place) = (ObjectServer::start(ServerBehaviour::Honest), TestDirectory::new());
    let words = "curve s3://bucket/pre --requests put --object-size 4k --runtime 1 --connections 2 --loads 10,50 --json \
                 --budget 3000";
    let study = ask(&place, &server, &format!("{words} --no-store")).good().study();
    let number = |pattern: &str| pattern.rsplit_once("-qd")?.1.parse().ok();
    check_load(&server, &study, &number);
    let loads = study.loads();
    let offered: Vec<(u32, f64)> = loads.iter().map(|load| (load.percent, load.offered_per_s)).collect();
    let capacity = study.repeats(0, "put-4k-qd2").find_map(|row| row.figures()).expect("a capacity").total.iops;
    for (percent, rate) in &offered {
        let wanted = capacity * f64::from(*percent) / 100.0;
        assert!((rate / wanted - 1.0).abs() < 0.05, "{percent} % of {capacity} is not {rate}");
    }
    assert_eq!(offered.len(), 2);
}

/// No question sends more requests than its budget, but those that look and clean up.
#[test]
fn a_budget_is_kept() {
    within_budget("measure", &HONEST.ran, &HONEST.server, 1664);
    for (words, budget) in [
        ("sweep s3://bucket/pre --runtime 1 --connections 1,2 --requests put,get", 600),
        ("curve s3://bucket/pre --runtime 2 --connections 2 --requests get --loads 50", 600),
        ("check s3-standard s3://bucket/pre --quick", 13_320),
    ] {
        let (server, place) = (ObjectServer::start(ServerBehaviour::Honest), TestDirectory::new());
        let ran = ask(&place, &server, &format!("{words} --budget {budget} --no-store"));
        within_budget(words, &ran, &server, budget);
    }
}

fn within_budget(words: &str, ran: &RunResult, server: &ObjectServer, budget: usize) {
    // A check may answer that the store is too slow.
    assert!(matches!(ran.status, Some(0 | 1 | 3)), "{ran:?}");
    let said = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("dollars at most, and "), "{said}");
    let costs = |head: &&String| !head.starts_with("DELETE ") && !head.contains(".fsdyno-work") && !head.contains("/?");
    let sent = server.heads().iter().filter(costs).count();
    assert!(sent <= budget && sent > 100, "{words}: {sent} requests of {budget}");
}

/// Yes, no, or not examined for each function of a store; the exit status says the same.
#[test]
fn the_functions_of_a_store_are_answered_one_by_one() {
    const DENIED: &[&str] = &["list-pages"];
    const ALL: &[&str] =
        &["read-after-write", "overwrite", "delete", "range", "head", "etag", "if-none-match", "list-pages"];
    for (manner, fails, unknown, status) in [
        (ServerBehaviour::Honest, &[][..], &[][..], 0),
        (ServerBehaviour::Careless, &["range", "etag", "if-none-match", "list-pages"], &[], 1),
        (ServerBehaviour::Tacit, &["etag"], DENIED, 1),
        (ServerBehaviour::KeepsMarkersAlone, &[], ALL, 3),
    ] {
        let (server, place) = (ObjectServer::start(manner), TestDirectory::new());
        server.keep("/bucket/pre/theirs", b"precious");
        let words = "check s3-functional s3://bucket/pre --no-store --json --junit j.xml";
        let ran = ask(&place, &server, words);
        assert_eq!(ran.status, Some(status), "{manner:?}: {ran:?}");
        let study = ran.study();
        let of = |verdict| {
            let rows = study.verdicts.iter().filter(|row| row.verdict == verdict);
            rows.map(|row| row.requirement.id.as_str()).collect::<Vec<_>>()
        };
        use fsdyno_results::Verdict::{Fail, Inconclusive, Pass};
        assert_eq!((of(Fail), of(Inconclusive)), (fails.to_vec(), unknown.to_vec()), "{manner:?}");
        assert_eq!(of(Pass).len() + fails.len() + unknown.len(), ALL.len(), "{manner:?}");
        let not_examined = study.verdicts.iter().filter(|row| row.reason.contains("not examined: ")).count();
        assert_eq!(not_examined, unknown.len(), "{manner:?}");
        let counts = format!("tests=\"8\" failures=\"{}\"", fails.len());
        assert!(place.read("j.xml").contains(&counts), "{manner:?}: {}", place.read("j.xml"));
        assert_eq!(server.objects().into_keys().collect::<Vec<_>>(), ["/bucket/pre/theirs"], "{manner:?}");
    }
}

/// A published figure has its tests, over as many connections as they say, and nothing is left.
#[test]
fn a_store_is_held_against_published_figures() {
    let (server, place) = (ObjectServer::start(ServerBehaviour::Honest), TestDirectory::new());
    let words =
        "check s3-standard juicefs-object s3://bucket/pre --size-cap 4m --scale-runtime 0.1 --cap-seconds 1 --json";
    let ran = ask(&place, &server, &format!("{words} --no-store"));
    assert!(matches!(ran.status, Some(0 | 1 | 3)), "{ran:?}");
    let study = ran.study();
    let connections = |pattern: &str| match pattern.split_once('/')? {
        ("s3-standard", "put" | "get") => Some(64),
        ("s3-standard", _) => Some(1),
        _ => Some(4),
    };
    check_load(&server, &study, &connections);
    let measured = |id: &str| study.verdicts.iter().find(|row| row.requirement.id == id).and_then(|row| row.measured);
    let ids = ["put-rate", "get-rate", "first-byte", "one-connection", "put-big", "get-small-time"];
    for id in ids.into_iter().chain(["head", "head-time", "list", "list-time", "delete", "delete-time"]) {
        assert!(measured(id).is_some_and(|figure| figure > 0.0), "{id}: {ran:?}");
    }
    let heads = server.heads();
    let asked = |method: &str, about: &str| {
        heads.iter().filter(|head| head.starts_with(method) && head.contains(about)).count()
    };
    let counts = [asked("HEAD ", "q356x131072_"), asked("GET ", "q356x131072_"), asked("DELETE ", "q356x131072_")];
    assert!(counts[0] >= 356 && counts[1] >= 4 && counts[2] >= 356, "{counts:?}");
    let sources = study.verdicts.iter().map(|row| row.requirement.source.as_str());
    assert!(
        sources.clone().any(|source| source.contains("Amazon S3"))
            && sources.clone().any(|source| source.contains("juicefs"))
    );
}

#[test]
fn buckets_that_keep_what_is_deleted_are_refused_without_a_word() {
    for (manner, says) in [
        (ServerBehaviour::Versioned, "keeps the versions"),
        (ServerBehaviour::Suspended, "keeps the versions"),
        (ServerBehaviour::Locks, "locks its objects"),
    ] {
        let (server, place) = (ObjectServer::start(manner), TestDirectory::new());
        let data = directory(&place);
        for words in ["measure s3://bucket --quick", &format!("compare s3://bucket {data} --only read-4k --rounds 1")] {
            let ran = ask(&place, &server, &format!("{words} --no-store"));
            assert!(ran.status == Some(2) && ran.stderr.contains(says), "{manner:?} {words}: {ran:?}");
            assert!(ran.stderr.contains("--versioned"), "{ran:?}");
            let wrote = server.heads().iter().any(|head| !head.starts_with("GET "));
            assert!(!wrote && server.objects().is_empty(), "{manner:?} {words}");
        }
        let words = format!("compare s3://bucket {data} --only read-4k --rounds 1 --no-store --versioned");
        ask(&place, &server, &words).good();
    }
}

/// A server that answers before its work is done says an error behind a good status. What was sent is taken back.
#[test]
fn an_upload_that_fails_behind_a_good_status_is_an_error() {
    let bad = Measured::new(ServerBehaviour::CompletesBadly);
    for (manner, measured) in [(ServerBehaviour::CompletesBadly, &bad), (ServerBehaviour::Honest, &*HONEST)] {
        let Measured { server, study, .. } = measured;
        let phase =
            |pattern: &str| study.rows.iter().find(|row| row.pattern == pattern).and_then(|row| row.phase.clone());
        let (whole, complete) = (phase("put-parts").expect("a row"), phase("complete").expect("a row"));
        let heads = server.heads();
        let parts =
            heads.iter().filter(|head| head.starts_with("PUT ") && head.contains("?partNumber=")).count() as u64;
        if manner == ServerBehaviour::Honest {
            assert!(whole.failures == 0 && whole.operations > 0, "{whole:?}");
            assert_eq!((whole.bytes, parts), (Some(whole.operations * (16 << 20)), whole.operations * 2));
            assert_eq!(complete.latency.moments.count, whole.operations);
        } else {
            let says = whole.error.as_ref().is_some_and(|error| error.text.contains("HTTP 200 InternalError"));
            assert!(says && whole.operations == 0 && complete.latency.moments.count == 0, "{whole:?}");
            assert!(heads.iter().any(|head| head.starts_with("DELETE ") && head.contains("?uploadId=")), "{parts}");
        }
        assert!(server.open_uploads() == 0 && server.objects().into_keys().eq(THEIRS), "{manner:?}");
    }
}

/// Keys come from where the programs of AWS have them; wherever they come from, they are shown and kept nowhere.
#[test]
fn keys_come_from_profiles_containers_and_machines_and_are_shown_nowhere() {
    let role = format!(r#"{{"AccessKeyId":"ROLE","SecretAccessKey":"{SECRET}","Token":"{SECRET}-token"}}"#);
    let profile = format!("aws_access_key_id=FILE\naws_secret_access_key={SECRET}\n");
    for (source, key_id) in [("profile", "FILE"), ("container", "ROLE"), ("machine", "ROLE"), ("services", "FILE")] {
        let (server, place) = (ObjectServer::start(ServerBehaviour::Honest), TestDirectory::new());
        let (url, roles) = (format!("http://{}", server.host()), "/latest/meta-data/iam/security-credentials/");
        server.keep("/role", role.as_bytes());
        server.keep(roles, b"lab-role");
        server.keep(&format!("{roles}lab-role"), role.as_bytes());
        place.write(
            "config",
            format!(
                "[default]\nregion=lab-1\n[profile lab]\nservices=lab\nregion=lab-1\n{profile}\
            [services lab]\nsqs =\n  endpoint_url = http://127.0.0.1:1\ns3 =\n  endpoint_url = {url}\n"
            ),
        );
        let mut command = command(
            &place,
            &server,
            "compare s3://bucket/a s3://bucket/b --only read-4k --rounds 1 --json --store runs",
        );
        command.env_remove("AWS_ACCESS_KEY_ID").env_remove("AWS_SECRET_ACCESS_KEY");
        command.env("AWS_CONFIG_FILE", "config").env("AWS_EC2_METADATA_SERVICE_ENDPOINT", &url);
        match source {
            "container" => {
                command.env("AWS_CONTAINER_CREDENTIALS_FULL_URI", format!("{url}/role"));
                command.env("AWS_CONTAINER_AUTHORIZATION_TOKEN", SECRET);
            }
            "services" => {
                command.env_remove("AWS_ENDPOINT_URL").env("AWS_PROFILE", "lab");
            }
            "profile" => {
                command.env("AWS_PROFILE", "lab");
            }
            _ => {}
        }
        let ran = Running::start(&mut command).finish().good();
        let heads = server.heads();
        let (asked, signed): (Vec<_>, Vec<_>) = heads.iter().partition(|head| !head.contains("AWS4-HMAC-SHA256"));
        assert!(
            signed.len() > 512 && signed.iter().all(|head| head.contains(&format!("Credential={key_id}/"))),
            "{source}"
        );
        let with_token = signed.iter().filter(|head| head.contains("x-amz-security-token: ")).count();
        assert_eq!(with_token, if key_id == "ROLE" { signed.len() } else { 0 }, "{source}");
        let lines: Vec<&str> = asked.iter().filter_map(|head| head.lines().next()?.split(' ').nth(1)).collect();
        let wanted: &[&str] = match source {
            "container" => &["/role"],
            "machine" => &["/latest/api/token", roles, "/latest/meta-data/iam/security-credentials/lab-role"],
            _ => &[],
        };
        assert_eq!(lines, wanted, "{source}");
        let proof = if source == "machine" { "X-aws-ec2-metadata-token: token-of-the-machine" } else { SECRET };
        assert!(wanted.is_empty() || asked.last().is_some_and(|head| head.contains(proof)), "{asked:?}");
        let kept: String = place.names("runs").iter().map(|name| place.read(&format!("runs/{name}"))).collect();
        assert!(kept.contains("read-4k") && !kept.contains(SECRET), "{source}");
        assert!(!ran.stdout.contains(SECRET) && !ran.stderr.contains(SECRET), "{source}");
    }
    let (server, place) = (ObjectServer::start(ServerBehaviour::Honest), TestDirectory::new());
    for (setting, says) in
        [("credential_process = /bin/show", "comes from credential_process"), ("region = x", "there is no key")]
    {
        place.write("config", format!("[default]\n{setting}\n"));
        let mut command = command(&place, &server, "inspect s3://bucket");
        command.env_remove("AWS_ACCESS_KEY_ID").env_remove("AWS_SECRET_ACCESS_KEY");
        let ran =
            Running::start(command.env("AWS_CONFIG_FILE", "config").env("AWS_EC2_METADATA_DISABLED", "true")).finish();
        assert!(ran.status == Some(2) && ran.stderr.contains(says) && server.heads().is_empty(), "{setting}: {ran:?}");
    }
}

/// Each request and each list has a bound, however slowly bytes and pages come; the same bound spares a server that answers.
#[test]
fn lists_that_do_not_end_are_given_up() {
    for (manner, says) in [
        (ServerBehaviour::SlowPages, Some("has not answered in time")),
        (ServerBehaviour::EndlessPages, Some("list does not end")),
        (ServerBehaviour::Honest, None),
    ] {
        let (server, place) = (ObjectServer::start(manner), TestDirectory::new());
        server.keep("/bucket/pre/theirs", b"precious");
        let mut command = command(&place, &server, "clean s3://bucket/pre");
        let ran = Running::start(command.env("FSDYNO_PATIENCE", "3")).finish();
        match says {
            Some(says) => assert!(ran.status == Some(2) && ran.stderr.contains(says), "{manner:?}: {ran:?}"),
            None => assert!(ran.status == Some(0) && ran.stdout.contains("no fsdyno files"), "{ran:?}"),
        }
        assert!(server.objects().len() == 1 && server.requests() <= 1000, "{manner:?}: {}", server.requests());
    }
}

/// A run that goes on keeps its objects.
#[test]
fn clean_leaves_the_objects_of_a_run_that_goes_on() {
    let (server, place) = (ObjectServer::start(ServerBehaviour::Honest), TestDirectory::new());
    let running = Running::start(&mut command(&place, &server, "measure s3://bucket --runtime 60 --no-store"));
    wait_until("requests", || server.requests() > 50);
    let cleaned = ask(&place, &server, "clean s3://bucket");
    assert!(cleaned.stdout.contains("still uses it"), "{cleaned:?}");
    running.signal("INT");
    let ended = running.finish();
    assert!(server.objects().is_empty() && ended.status == Some(130), "{ended:?} {:?}", server.objects().keys());
}

#[test]
fn each_fault_of_a_store_is_a_sentence() {
    for (manner, says) in [
        (ServerBehaviour::Status(403, "<Error><Code>AccessDenied</Code></Error>"), "HTTP 403 AccessDenied"),
        (ServerBehaviour::Status(307, ""), "HTTP 307"),
        (ServerBehaviour::EndlessHead, "the head of the answer does not end"),
        (ServerBehaviour::EndlessError, "longer than any"),
        (ServerBehaviour::ClosesAtOnce, "closed the connection"),
        (ServerBehaviour::OtherProtocol, "the answer is not HTTP"),
        (ServerBehaviour::OtherLength(9_000_000), "longer than any"),
    ] {
        let (server, place) = (ObjectServer::start(manner), TestDirectory::new());
        for words in ["measure s3://bucket --quick --no-store", "clean s3://bucket"] {
            let ran = ask(&place, &server, words);
            assert!(ran.status == Some(2) && ran.stderr.contains(says), "{manner:?} {words}: {ran:?}");
            assert!(server.heads().len() <= 8, "{manner:?}: {}", server.heads().len());
        }
    }
}

#[test]
fn questions_that_need_a_directory_say_so_before_anything_is_made() {
    let place = TestDirectory::new();
    for (words, next) in
        [("smallfiles s3://b", "`fsdyno measure s3://b`"), ("time s3://b -- true", "`fsdyno attribute s3://b MOUNT`")]
    {
        let ran = place.run(words);
        let says = ran.stderr.contains("needs a directory") && ran.stderr.contains(next);
        assert!(ran.status == Some(2) && says, "{words}: {ran:?}");
    }
    for (words, says) in [
        ("measure http://host/../folder", "one of dots"),
        ("measure https://me:secret@host:8443", "leave out what else there is"),
        ("check s3-functional http://host/folder", "not about WebDAV"),
        ("measure s3://", "names no bucket"),
        ("measure s3://b/../c", "one of dots"),
        ("measure s3://b --like cdm", "--like is for directories"),
        ("measure s3://b --budget 10", "a budget of 10 requests is too small"),
        ("check etcd s3://b", "etcd is about directories, and s3://b is an object store"),
        ("check s3-standard /tmp", "s3-standard is about object stores, and /tmp is a directory"),
        ("check s3-standard s3://b --budget 10", "a budget of 10 requests is too small"),
        ("sweep s3://b --budget 10", "a budget of 10 requests is too small"),
        ("sweep s3://b --requests randrw", "both reads and writes"),
        ("sweep s3://b --size 1g", "--size is for directories"),
        ("sweep s3://b --engine psync", "--engine is for directories"),
        ("sweep /tmp --requests get", "get is a request to an object store"),
        ("curve s3://b --connections 5000", "5,000 connections are too many"),
        ("curve s3://b --expect nfs", "--expect is for directories"),
        ("compare a=/tmp b=s3://b --budget 10", "a budget of 10 requests is too small"),
        ("compare a=/tmp b=s3://b --literal", "--literal is for directories"),
        ("compare a=/tmp b=s3://b --only randread", "randread is no pattern of these places"),
        ("compare a=/tmp b=/var --only read-4k", "read-4k is no pattern of these places"),
        ("compare s3://b", "at least two paths"),
        ("attribute /tmp s3://b", "in this order"),
        ("attribute s3://b s3://c", "in this order"),
    ] {
        let ran = place.run(words);
        assert!(ran.status == Some(2) && ran.stderr.contains(says), "{words}: {ran:?}");
        assert!(!ran.stderr.contains("secret"), "{ran:?}");
    }
}
