use super::*;

const GOOD: &str = r#"name = "mine"
title = "Mine"
about = "About."
applies-to = "anything"
source = "A page"
read = "2026-11"
kind = "vendor-requirement"
confidence = "A"

[[test]]
id = "wal"
title = "synced writes"
origin = "vendor"
words = ["--name=a", "--directory={dir}", "--rw=write", "--size=1m", "--fdatasync=1"]

[[test]]
id = "wal-long"
title = "longer"
sound-for = "wal"
why = "too short"
words = ["--name=a", "--directory={dir}", "--rw=write", "--size=1m", "--fdatasync=1", "--runtime=9", "--time_based"]

[[requirement]]
id = "p99"
title = "99th percentile"
test = "wal"
metric = "sync.lat.p99"
at-most = 10
unit = "ms"
"#;

fn read(text: &str) -> Result<Profile, String> {
    Profile::read("mine.toml", text).map_err(|problem| problem.what)
}

fn with(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from}");
    read(&GOOD.replacen(from, to, 1)).unwrap_err()
}

#[test]
fn a_profile_is_read() {
    let profile = read(GOOD).unwrap();
    assert_eq!((profile.tests.len(), profile.requirements.len()), (2, 1));
    assert_eq!(profile.tests[1].origin, TestOrigin::Sound);
    let asked = &profile.requirements[0];
    assert_eq!((asked.threshold, asked.unit_size, asked.bound), (10.0, 1e6, Bound::AtMost));
    assert_eq!(asked.source, profile.source);
}

#[test]
fn mistakes_are_named_with_their_line() {
    assert_eq!(
        with("kind =", "kindd ="),
        "mine.toml:7: unknown field `kindd`, expected one of `name`, `title`, `about`, `applies-to`, `only-on`, `source`, `read`, `kind`, `confidence`, `gate`, `test`, `requirement`"
    );
    assert!(with("sync.lat.p99", "sync.lat.99").starts_with("mine.toml:27: there is no figure `sync.lat.99`"));
    assert!(with("\"ms\"", "\"mss\"").starts_with("mine.toml:29: unit `mss` is none of"));
    assert_eq!(with("\"ms\"", "\"MB/s\""), "mine.toml:29: sync.lat.p99 is a time, and MB/s is a rate of bytes");
    assert!(with("--rw=write", "--rw=wirte").starts_with("mine.toml:14: "));
    assert!(with("test = \"wal\"", "test = \"wla\"").starts_with("mine.toml:26: there is no test `wla`"));
    assert!(with("sound-for = \"wal\"", "sound-for = \"wla\"").starts_with("mine.toml:19: there is no test `wla`"));
    assert!(with("origin = \"vendor\"\n", "").starts_with("mine.toml:11: `origin` is missing"));
    assert!(with("at-most = 10\n", "").ends_with("one of at-most and at-least"));
    assert!(with("at-most = 10", "at-most = -1").ends_with("a limit is above 0, and -1 is not"));
    assert!(with("id = \"wal-long\"", "id = \"wal\"").ends_with("two tests have the id `wal`"));
}

#[test]
fn a_figure_must_come_from_its_test_and_the_sound_one() {
    let read_only = with("--rw=write", "--rw=read");
    assert!(read_only.starts_with("mine.toml:27: ") && read_only.contains("test `wal`"), "{read_only}");
    let no_sync = with("\"--size=1m\", \"--fdatasync=1\", \"--runtime=9\"", "\"--size=1m\", \"--runtime=9\"");
    assert_eq!(
        no_sync,
        "mine.toml:27: sync.lat.p99 cannot come from the test `wal-long`: its test syncs nothing (fsync= or fdatasync=)"
    );
}

#[test]
fn a_gate_has_one_condition() {
    let gate = |more: &str| {
        let text = format!("{GOOD}\n[[gate]]\nid = \"g\"\ntitle = \"a gate\"\nbecause = \"so\"\n{more}\n");
        read(&text).map(|profile| profile.gates[0].condition.clone())
    };
    assert_eq!(gate("not-on = [\"nfs\"]"), Ok(Condition::NotOn(vec!["nfs".to_string()])));
    assert_eq!(gate("free-bytes = 5"), Ok(Condition::FreeBytes(5)));
    assert!(gate("").unwrap_err().contains("a gate has one of"));
    assert!(gate("lock = \"flock\"\nfree-bytes = 5").unwrap_err().contains("a gate has one of"));
    assert!(gate("lock = \"none\"").unwrap_err().contains("flock"));
}

#[test]
fn bands_run_from_the_best_to_the_worst() {
    let bands = "band = [{ limit = 2, name = \"fine\" }, { limit = 10, name = \"poor\" }, { name = \"awful\" }]\n";
    let profile = read(&format!("{GOOD}{bands}")).unwrap();
    let asked = &profile.requirements[0];
    assert_eq!(
        [1.0, 2.0, 2.1, 99.0].map(|value| asked.band(value)),
        [Some("fine"), Some("fine"), Some("poor"), Some("awful")]
    );
    let rate = Requirement { bound: Bound::AtLeast, ..asked.clone() };
    assert_eq!(rate.band(11.0), Some("fine"));
    assert_eq!(read(GOOD).unwrap().requirements[0].band(1.0), None);
}

#[test]
fn a_tier_leaves_the_others_and_their_tests_out() {
    let more = r#"
[[test]]
id = "rate"
title = "rate"
origin = "ours"
words = ["--name=a", "--directory={dir}", "--rw=write", "--size=1m"]
[[requirement]]
id = "large"
title = "rate"
test = "rate"
metric = "write.iops"
at-least = 1
unit = "IOPS"
tier = "large"
[[requirement]]
id = "small"
title = "99th percentile"
test = "wal"
metric = "sync.lat.p99"
at-most = 20
unit = "ms"
tier = "small"
vendors-test-only = true
"#;
    let profile = read(&format!("{GOOD}{more}")).unwrap();
    let ids = |tier| profile.requirements_of(tier).iter().map(|asked| asked.id.as_str()).collect::<Vec<_>>();
    let tests = |tier| profile.tests_of(tier).iter().map(|test| test.id.as_str()).collect::<Vec<_>>();
    assert_eq!(profile.tiers(), ["large", "small"]);
    assert_eq!((ids(None), tests(None)), (vec!["p99", "large", "small"], vec!["wal", "wal-long", "rate"]));
    assert_eq!((ids(Some("small")), tests(Some("small"))), (vec!["p99", "small"], vec!["wal", "wal-long"]));
    assert_eq!(ids(Some("of another profile")), ids(None));
    let small = profile.requirements.last().unwrap();
    assert!(small.rests_on(&profile.tests[0]) && !small.rests_on(&profile.tests[1]));
}
