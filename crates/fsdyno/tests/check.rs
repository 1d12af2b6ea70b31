//! Tests `fsdyno check`: the verdicts of whole runs, refusals, and what is left behind.

use std::fs;

use fsdyno_results::{Study, TestOrigin, Verdict, VerdictRow};
use testkit::{RunResult, TestDirectory};

fn place() -> TestDirectory {
    TestDirectory::with(&["data", "profiles"])
}

fn run(place: &TestDirectory, words: &[&str]) -> RunResult {
    place.run(&[&["check"], words].concat())
}

/// Checks the data directory; returns the status and the study.
fn check(place: &TestDirectory, words: &[&str]) -> (Option<i32>, Study) {
    let ran = run(place, &[words, &["data", "--profiles", "profiles", "--no-store", "--json", "-q"]].concat());
    assert!(place.names("data").is_empty(), "something was left in the directory");
    (ran.status, ran.study())
}

/// Writes a profile with one synced test of `writes` writes to the folder of own profiles.
fn own(place: &TestDirectory, name: &str, writes: u32, more: &str) {
    let bytes = writes * 512;
    let head = format!(
        "name = \"{name}\"\ntitle = \"Own\"\nabout = \"-\"\napplies-to = \"-\"\nsource = \"A page of ours\"\n\
         read = \"2026-11\"\nkind = \"vendor-requirement\"\nconfidence = \"A\"\n"
    );
    let test = format!(
        "[[test]]\nid = \"wal\"\ntitle = \"synced writes\"\norigin = \"vendor\"\nwords = [\"--name=wal\", \
         \"--directory={{dir}}\", \"--rw=write\", \"--bs=512\", \"--size={bytes}\", \"--fdatasync=1\"]\n"
    );
    place.write(&format!("profiles/{name}.toml"), format!("{head}{test}{more}"));
}

/// A limit on the 99th percentile of the syncs, in seconds.
fn p99(seconds: &str) -> String {
    format!(
        "[[requirement]]\nid = \"p99\"\ntitle = \"p99\"\ntest = \"wal\"\nmetric = \"sync.lat.p99\"\nat-most = {seconds}\n\
         unit = \"s\"\n"
    )
}

fn answer<'s>(study: &'s Study, id: &str) -> &'s VerdictRow {
    study.verdicts.iter().find(|row| row.requirement.id == id).unwrap_or_else(|| panic!("no {id}: {study:?}"))
}

#[test]
fn etcd_is_checked_with_the_published_words_and_a_longer_run() {
    let place = place();
    let (status, study) = check(&place, &["etcd", "--quick"]);
    assert!(study.complete);
    let literal = answer(&study, "wal-fsync-p99");
    let sound = answer(&study, "wal-fsync-p99/wal-60s");
    assert_eq!((literal.origin, sound.origin), (TestOrigin::Vendor, TestOrigin::Sound));
    for row in [literal, sound] {
        assert!(row.measured.is_some_and(|measured| measured > 0.0), "{row:?}");
        assert_eq!((row.requirement.threshold, row.requirement.unit.as_str()), (10.0, "ms"));
        assert!(row.caveats.iter().any(|caveat| caveat.starts_with("shortened")), "{row:?}");
        assert!(row.requirement.job.contains("--bs=2300"), "{row:?}");
        let syncs: u64 = row
            .rows
            .iter()
            .flat_map(|index| &study.rows[*index].run.as_ref().unwrap().jobs)
            .map(|job| job.sync.ios)
            .sum();
        // If the two lines disagree, that is the reason, and a caveat says what the figure rests on.
        let disagree = row.reason.starts_with("the vendor's line says ");
        let counted = |text: &String| text.contains(" values");
        assert!(if disagree { row.caveats.iter().any(counted) } else { counted(&row.reason) }, "{row:?}");
        assert!(syncs > 0, "{row:?}");
    }
    // The speed of this machine decides which verdict; the status must follow from the verdicts.
    let given = |verdict| study.verdicts.iter().any(|row| row.verdict == verdict);
    let expected = match () {
        () if given(Verdict::Fail) => 1,
        () if given(Verdict::Inconclusive) => 3,
        () => 0,
    };
    assert_eq!(status, Some(expected));
}

#[test]
fn an_undecided_test_is_repeated_until_it_is_decided() {
    let place = place();
    // A 99th percentile has an interval from 368 values on: three runs of 150 writes (the last of which is not synced),
    // and each run makes its file anew. The limit is beyond any interval over three runs, even if the disk stalls in
    // one.
    own(&place, "few", 150, &p99("1000000000000"));
    let (status, study) = check(&place, &["few"]);
    let found = answer(&study, "p99");
    assert_eq!((status, found.verdict, found.rows.len()), (Some(0), Verdict::Pass, 3), "{found:?}");
    assert!(found.reason.starts_with("447 values in 3 runs"), "{}", found.reason);
    let rounds: Vec<u32> = study.rows.iter().map(|row| row.round).collect();
    assert_eq!(rounds, [0, 1, 2]);
    let written: Vec<u64> =
        study.rows.iter().map(|row| row.run.as_ref().unwrap().jobs[0].directions.write.ios).collect();
    assert_eq!(written, [150; 3]);
}

#[test]
fn the_cap_ends_the_repeating_and_the_status_is_3() {
    let place = place();
    own(&place, "few", 50, &p99("1000"));
    let (status, study) = check(&place, &["few", "--cap-seconds=0"]);
    let found = answer(&study, "p99");
    assert_eq!((status, found.verdict, found.rows.len()), (Some(3), Verdict::Inconclusive, 1), "{found:?}");
    assert!(found.reason.contains("it takes 368") && found.reason.contains("cap is 0 s"), "{}", found.reason);
}

#[test]
fn a_missed_limit_is_status_1_and_an_example_is_not() {
    let place = place();
    own(&place, "strict", 400, &p99("0.000000001"));
    let (status, study) = check(&place, &["strict"]);
    assert_eq!((status, answer(&study, "p99").verdict), (Some(1), Verdict::Fail));
    own(&place, "example", 400, &format!("{}kind = \"vendor-example\"\n", p99("0.000000001")));
    let (status, study) = check(&place, &["example"]);
    assert_eq!((status, answer(&study, "p99").verdict), (Some(0), Verdict::Reference));
}

#[test]
fn a_broken_gate_keeps_everything_from_being_written() {
    let place = place();
    let fstype = fstype(&place.path("data"));
    let gate = format!(
        "[[gate]]\nid = \"local\"\ntitle = \"another filesystem\"\nnot-on = [\"{fstype}\"]\nbecause = \"so says the page\"\n"
    );
    own(&place, "gated", 400, &format!("{gate}{}", p99("1000")));
    let (status, study) = check(&place, &["gated"]);
    assert_eq!((status, study.rows.len()), (Some(1), 0));
    assert_eq!(answer(&study, "local").reason, format!("this is {fstype}: so says the page"));
    assert_eq!(answer(&study, "p99").verdict, Verdict::NotApplicable);
}

#[test]
fn gates_of_the_shipped_profiles() {
    let place = place();
    for profile in ["prometheus-gate", "gitlab-nfs-gate"] {
        let (status, study) = check(&place, &[profile, "--quick"]);
        assert!(study.notes.iter().all(|note| note.id != "shortened"), "gates take no time: {:?}", study.notes);
        let open: Vec<&VerdictRow> = study.verdicts.iter().filter(|row| row.verdict != Verdict::Pass).collect();
        if ["network", "fuse"].contains(&class(&study)) {
            testkit::skip(&format!("the build is not on a local filesystem: {open:?}"));
            continue;
        }
        assert!(open.is_empty() && status == Some(0), "{profile}: {open:?}");
    }
}

#[test]
fn several_profiles_share_one_study_in_the_order_asked() {
    let place = place();
    own(&place, "first", 400, &p99("1000"));
    let (status, study) = check(&place, &["first", "gitlab-smallfiles", "gitlab-nfs-gate", "--quick"]);
    let profiles: Vec<&str> = study.verdicts.iter().map(|row| row.requirement.profile.as_str()).collect();
    assert!(
        profiles.is_sorted_by_key(|name| ["first", "gitlab-smallfiles", "gitlab-nfs-gate"]
            .iter()
            .position(|asked| asked == name)),
        "{profiles:?}"
    );
    // The times of the published rule scatter on a busy machine, so that its verdict is that it cannot tell.
    let is_open = study.verdicts.iter().any(|row| row.verdict == Verdict::Inconclusive);
    assert_eq!(status, Some(if is_open { 3 } else { 0 }), "{study:?}");
    assert_eq!(answer(&study, "p99").verdict, Verdict::Pass);
    assert_eq!(answer(&study, "write").origin, TestOrigin::Equivalent);
    // Only what was shortened says so.
    let is_shortened = |id| answer(&study, id).caveats.iter().any(|caveat| caveat.starts_with("shortened"));
    assert_eq!(["p99", "write", "read"].map(is_shortened), [true, false, false], "{study:?}");
    assert!(study.notes.iter().any(|note| note.id == "shortened"), "{:?}", study.notes);
}

#[test]
fn mistakes_are_told_with_status_2_and_write_nothing() {
    let place = place();
    let message = |words: &[&str]| run(&place, words).refused("");
    assert!(message(&["etdc", "data"]).contains("did you mean `etcd`?"));
    assert!(message(&["etcd"]).contains("check needs a profile and a directory"));
    assert!(message(&[]).contains("check needs a profile and a directory"));
    assert!(message(&["etcd", "/does/not/exist"]).contains("/does/not/exist does not exist"));
    assert!(message(&["vault", "data", "--tier=lage"]).contains("these profiles have large"));
    assert!(message(&["etcd", "data", "--tier=large"]).contains("none of these profiles has tiers"));
    assert!(message(&["--show", "etdc"]).contains("did you mean `etcd`?"));
    assert!(message(&["etcd", "data", "--profiles", "/does/not/exist"]).contains("cannot read the profiles"));
    assert!(message(&["etcd", "data", "--scale-runtime=2"]).contains("at most 1"));
    own(&place, "typo", 1, &p99("1").replace("lat.p99", "lat.99"));
    let typo = message(&["etcd", "data", "--profiles", "profiles"]);
    assert!(typo.contains("typo.toml:18: there is no figure `sync.lat.99`"), "{typo}");
    assert!(place.names("data").is_empty());
}

#[test]
fn more_than_the_space_is_refused_and_never_shrunk() {
    let place = place();
    let large = p99("1000");
    own(&place, "large", 400, &large);
    let profile = place.read("profiles/large.toml").replace("--size=204800", "--size=900t");
    place.write("profiles/large.toml", profile);
    let message = run(&place, &["large", "data", "--profiles", "profiles", "--no-store"]).refused("--size-cap");
    assert!(message.contains("are usable below the limit"), "{message}");
    let (status, study) = check(&place, &["large", "--size-cap=200k"]);
    let found = answer(&study, "p99");
    assert_eq!((status, found.verdict), (Some(0), Verdict::Pass));
    assert!(found.caveats[0].starts_with("shortened, not the vendor's test"), "{found:?}");
}

#[test]
fn what_is_expected_is_seen_even_where_gates_alone_answer() {
    let place = place();
    let ran = run(&place, &["gitlab-nfs-gate", "data", "--no-store", "--expect", "nfs"]);
    ran.refused("should be nfs, but it is");
}

#[test]
fn only_what_was_shortened_says_so() {
    let place = place();
    let (_, whole) = check(&place, &["gitlab-smallfiles", "--quick"]);
    assert!(whole.notes.iter().all(|note| note.id != "shortened"), "{:?}", whole.notes);
}

#[test]
fn profiles_are_listed_and_shown() {
    let place = place();
    let list = run(&place, &["--list"]).stdout;
    assert!(list.contains("etcd: syncing the write-ahead log\n") && !list.contains("Others"), "{list}");
    assert!(list.lines().all(|line| line.chars().count() <= 80), "{list}");
    let json = run(&place, &["--list", "--json"]).document();
    assert!(json["profiles"].as_array().unwrap().len() >= 22);
    let shown = run(&place, &["--show", "etcd"]).stdout;
    assert!(shown.starts_with("name = \"etcd\"") && shown.contains("--bs=2300"), "{shown}");
    // A profile that was printed can be edited and read again.
    fs::create_dir_all(place.path(".config/fsdyno/profiles")).unwrap();
    let changed = shown.replace("etcd: syncing the write-ahead log", "ours");
    place.write(".config/fsdyno/profiles/etcd.toml", changed);
    let list = run(&place, &["--list"]).stdout;
    let flowing = list.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flowing.contains(" etcd ours (from ") && list.contains("etcd.toml"), "{list}");
}

fn fstype(path: &std::path::Path) -> String {
    let facts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let canonical = fs::canonicalize(path).unwrap();
    let mounts = facts.lines().filter_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        let point = before.split(' ').nth(4)?;
        canonical.starts_with(point).then(|| (point.len(), after.split(' ').next().unwrap_or_default().to_string()))
    });
    mounts.max_by_key(|(length, _)| *length).map(|(_, fstype)| fstype).unwrap()
}

fn class(study: &Study) -> &'static str {
    use fsdyno_results::evidence::StorageClass;
    match study.targets[0].storage.class {
        StorageClass::Network | StorageClass::HostShare => "network",
        StorageClass::Fuse => "fuse",
        _ => "local",
    }
}

/// Requirements that memory cannot meet are not measured; the answer says where to ask instead.
#[test]
fn durable_data_is_not_asked_of_memory() {
    let Ok(memory) = tempfile::tempdir_in("/dev/shm") else { return testkit::skip("no /dev/shm") };
    if fsdyno_probe::path_facts(memory.path()).fstype() != Some("tmpfs") {
        return testkit::skip("/dev/shm is no memory filesystem");
    }
    let place = place();
    let path = memory.path().to_str().unwrap();
    let ran = run(&place, &["etcd", path, "--no-store", "--json", "-q"]);
    let study = ran.study();
    assert!(study.rows.is_empty() && !study.verdicts.is_empty(), "{study:?}");
    let unanswered = |row: &VerdictRow| row.verdict == Verdict::NotApplicable && row.measured.is_none();
    assert!(study.verdicts.iter().all(unanswered), "{:?}", study.verdicts);
    let text = run(&place, &["etcd", path, "--no-store", "-q"]).stdout;
    let flowing = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flowing.contains("not measured") && flowing.contains(&format!("fsdyno inspect {path}")), "{text}");
    assert_eq!(fs::read_dir(memory.path()).unwrap().count(), 0);
}
