//! Tests that each command with an answer also has one for programs.

use std::sync::LazyLock;

use serde_json::Value;
use testkit::{Running, TestDirectory};

#[test]
fn conditions_are_tests_of_a_ci_system() {
    let place = TestDirectory::with(&["store"]);
    let saved = saved();
    let later = std::fs::read_to_string(&saved).expect("a saved run").replacen("1795353235698", "1795353295698", 1);
    place.write("later.json", &later);
    let diff = format!("diff {saved} later.json --store store");
    place
        .run(&[diff.split(' ').collect::<Vec<_>>(), vec!["--fail-if", "mix.iops < -5%", "--junit=ci.xml"]].concat())
        .good();
    let document = place.read("ci.xml");
    assert!(
        document.starts_with("<?xml ") && document.contains("tests=\"1\" failures=\"0\" skipped=\"1\""),
        "{document}"
    );
    assert!(document.contains("name=\"mix.iops &lt; -5%\"><skipped message=\"mix: one run each"), "{document}");
    place.run(&format!("{diff} --junit=ci.xml")).refused("--fail-if");
}

#[test]
fn verdicts_are_tests_of_a_ci_system() {
    let place = TestDirectory::with(&["data"]);
    let check = "check gitlab-nfs-gate data --no-store";
    let ran = place.run(&format!("{check} --junit=ci.xml"));
    assert!(matches!(ran.status, Some(0 | 1 | 3)), "{ran:?}");
    let document = place.read("ci.xml");
    assert!(document.contains("<testsuite name=\"fsdyno check\"") && document.contains("<testcase "), "{document}");
    // It is refused before the measurement, and nothing is left.
    let ran = place.run(&format!("{check} --junit=missing/ci.xml"));
    ran.refused("--junit: cannot write missing/ci.xml: ");
    assert_eq!(place.names(""), ["ci.xml", "data"]);
}

#[test]
fn job_start_is_told_by_the_clock_that_was_asked_for() {
    let place = TestDirectory::new();
    let job = "--name=a --ioengine=null --size=4k --output-format=json";
    let start = |words: &str| {
        let document = place.run(&format!("{job} {words}")).good().document();
        document["jobs"][0]["job_start"].as_u64().expect("a number")
    };
    // Since boot, and since 1970.
    let (monotonic_ms, wall_ms) = (start("--job_start_clock_id=1"), start("--job_start_clock_id=0"));
    let up = std::fs::read_to_string("/proc/uptime").expect("Linux tells it");
    let up_s: f64 = up.split(' ').next().and_then(|text| text.parse().ok()).expect("seconds");
    assert!(monotonic_ms as f64 <= up_s * 1000.0 + 10.0 && wall_ms > 1_600_000_000_000, "{monotonic_ms} {wall_ms}");
    let unknown = place.run(&format!("{job} --job_start_clock_id=77"));
    assert_eq!(unknown.status, Some(1));
    assert!(unknown.stderr.contains("job_start_clock_id=77: this system cannot read"), "{}", unknown.stderr);
}

/// All requests of 8 KiB have a priority of their own, and no others: the log's column, the split figures and the sizes
/// count the same requests.
#[test]
fn latencies_are_split_by_priority() {
    let place = TestDirectory::new();
    let job = "--name=a --ioengine=libaio --iodepth=8 --rw=randrw --size=1m --bssplit=4k/50:8k/50 --output-format=json";
    let words = "--cmdprio_bssplit=8k/100/2/7,8k/100 --prioclass=2 --prio=4 --log_prio=1 --write_lat_log=a";
    let document = place.run(&format!("{job} {words}")).good().document();
    let log = place.read("a_clat.1.log");
    for (number, name, own) in [("0", "read", (2, 7, "0x4007")), ("1", "write", (1, 0, "0x2000"))] {
        let lines = |bytes: &str, priority: &str| {
            let tail = format!(", {number}, {bytes}, {priority}");
            log.lines().filter(|line| line.ends_with(&tail)).count() as u64
        };
        let direction = &document["jobs"][0][name];
        let priorities = direction["prios"].as_array().expect("two priorities");
        let expected = [(2, 4, lines("4096", "0x4004")), (own.0, own.1, lines("8192", own.2))];
        for (priority, (class, level, count)) in priorities.iter().zip(expected) {
            let numbers = ["prioclass", "prio", "priohint"].map(|key| priority[key].as_u64());
            assert_eq!(numbers, [class, level, 0].map(Some), "{priority}");
            assert_eq!(priority["clat_ns"]["N"].as_u64(), Some(count), "{log}");
        }
        assert_eq!((priorities.len(), expected[0].2 + expected[1].2), (2, direction["total_ios"].as_u64().unwrap()));
    }
    let one = place.run(&format!("{job} --cmdprio_percentage=100 --cmdprio_class=2")).good();
    assert!(!one.stdout.contains("\"prios\""), "one priority is that of all figures: {}", one.stdout);
}

#[test]
fn a_program_ends_with_its_job_and_a_job_with_its_program() {
    let place = TestDirectory::new();
    let job = "--name=a --ioengine=exec --output-format=json";
    place.write("waits.sh", "trap 'echo asked; exit 0' TERM\nwhile :; do sleep 0.01; done\n");
    place.run(&format!("{job} --program=sh --arguments=waits.sh --runtime=1")).good();
    assert_eq!(place.read("a.stdout"), "asked\n");
    // It has no runtime.
    let document = place.run(&format!("{job} --program=echo --arguments=%n")).good().document();
    assert_eq!((place.read("a.stdout").as_str(), document["jobs"][0]["read"]["io_bytes"].as_u64()), ("a\n", Some(0)));
    let failed = place.run(&format!("{job} --program=false"));
    assert!(failed.status != Some(0) && failed.stderr.contains("false has ended with an error"), "{failed:?}");
    let missing = place.run(&format!("{job} --program=nosuch --std_redirect=0"));
    assert!(missing.status != Some(0) && missing.stderr.contains("nosuch could not be started"), "{missing:?}");
}

#[test]
fn computing_ends_with_the_last_job_that_does_io() {
    let place = TestDirectory::new();
    let computes = "--name=a --ioengine=cpuio --cpuload=50 --cpuchunks=1000 --exit_on_io_done=1";
    let reads = "--name=b --ioengine=null --size=64k --rate=128k";
    let document = place.run(&format!("{computes} {reads} --output-format=json")).good().document();
    let ios = |job: usize| document["jobs"][job]["read"]["total_ios"].as_u64().expect("a number");
    assert!(ios(0) > 1, "some bursts in half a second: {document}");
    assert_eq!(ios(1), 16);
    // Bursts can be counted like requests.
    let document =
        place.run("--name=a --ioengine=cpuio --cpuload=99 --cpuchunks=10 --number_ios=100 --output-format=json");
    assert_eq!(document.good().document()["jobs"][0]["read"]["total_ios"].as_u64(), Some(100));
}

/// A saved fio run of the previous format.
fn saved() -> String {
    testkit::workspace().join("crates/results/tests/saved/format-4.json").display().to_string()
}

/// Two saved studies of two rounds, the first named `good`: the files of a store.
static STUDIES: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
    let place = TestDirectory::with(&["store", "data"]);
    for _ in 0..2 {
        let words = "measure data --size=16m --runtime=1 --only=read-latency --runs=2 --store store -q";
        place.run(words).good();
    }
    place.run("baseline set good previous --store store").good();
    let files = place.names("store").into_iter();
    files.map(|name| (format!("store/{name}"), place.read(&format!("store/{name}")))).collect()
});

/// A place with these studies.
fn with_studies() -> TestDirectory {
    let place = TestDirectory::with(&["store", "data"]);
    STUDIES.iter().for_each(|(name, text)| place.write(name, text));
    place
}

/// Each command with its words, and a key of its document besides the summary.
const ANSWERS: &[(&str, &str)] = &[
    ("measure data --size=16m --runtime=1 --only=read-latency --no-store", "rows"),
    ("smallfiles data --files=20 --threads=1 --depth=1 --no-store", "rows"),
    ("check gitlab-nfs-gate data --no-store", "verdicts"),
    ("check --list", "profiles"),
    ("check --show etcd", "toml"),
    ("compare a=data b=store --size=16m --runtime=1 --rounds=1 --only=randread --bs=1m --no-store", "rows"),
    ("sweep data --size=16m --runtime=1 --iodepth=1 --bs=1m --no-store", "rows"),
    ("curve data --size=16m --runtime=1 --iodepth=1 --loads=1 --no-store", "rows"),
    ("compare good last --store store", "changes"),
    ("diff good last --store store", "changes"),
    ("attribute good client.json --store store", "patterns"),
    ("history last --store store", "runs"),
    ("baseline list --store store", "baselines"),
    ("baseline set again last --store store", "baselines"),
    ("runs --store store", "runs"),
    ("show last --store store", "rows"),
    ("explain", "findings"),
    ("explain page-cache", "advice"),
    ("inspect data", "storage"),
    ("clean data", "directories"),
    ("clean data --dry-run", "dry_run"),
    ("doctor", "limits"),
    ("config", "settings"),
];

/// A schema's objections to documents. `None`: nothing here validates schemas, which is printed.
fn against(schema: &str, documents: &[Value]) -> Option<Vec<String>> {
    let check = testkit::python("check-jsonschema")?;
    let place = TestDirectory::new();
    place.write("schema", &place.run(&["schema", schema]).good().stdout);
    let mut command = place.program(testkit::word(&check), "--output-format=json --schemafile=schema");
    for (number, document) in documents.iter().enumerate() {
        let name = format!("{number}.json");
        place.write(&name, document.to_string());
        command.arg(name);
    }
    let verdict = Running::start(&mut command).finish().document();
    assert!(verdict["parse_errors"].as_array().is_none_or(Vec::is_empty), "{verdict}");
    Some(verdict["errors"].as_array().expect("a list").iter().map(Value::to_string).collect())
}

#[test]
fn each_answer_is_one_document_with_its_summary_first() {
    let place = with_studies();
    let mut client: Value = serde_json::from_str(&place.studies("store")[1].to_json()).expect("JSON");
    client["targets"][0]["storage"]["class"] = "network".into();
    place.write("client.json", client.to_string());
    let mut studies = Vec::new();
    for (words, key) in ANSWERS {
        let ran = place.run(&format!("{words} --json"));
        assert!(matches!(ran.status, Some(0 | 1 | 3)), "{words}: {ran:?}");
        let document = ran.document();
        assert!(document.get(key).is_some(), "{words}: no {key} in {document}");
        assert_eq!(document.as_object().and_then(|members| members.keys().next()).map(String::as_str), Some("summary"));
        let headline = &document["summary"]["headline"];
        assert!(headline.as_str().is_some_and(|text| !text.is_empty()), "{words}: {headline}");
        if document.get("study_schema").is_some() {
            studies.push(document);
        }
    }
    assert!(studies.len() > 5, "{}", studies.len());
    if let Some(errors) = against("study", &studies) {
        assert_eq!(errors, [""; 0]);
    }
    let history = place.run("history last --store store --json").document();
    let runs = history["runs"].as_array().cloned().unwrap_or_default();
    // The row of the fill is no test.
    let test = &runs[0]["tests"][0];
    assert_eq!((runs.len(), test["pattern"].as_str(), test["rounds"].as_u64()), (2, Some("read-latency"), Some(2)));
    assert!(test["figures"]["iops"].as_f64().is_some_and(|iops| iops > 0.0), "{test}");
    assert!(test["intervals"]["iops"].is_null(), "two rounds say nothing of a third: {test}");
}

#[test]
fn what_is_refused_is_a_document_too() {
    let place = TestDirectory::with(&["store"]);
    for (words, what) in [
        ("measure missing", "missing does not exist"),
        ("measure . --nonsense", "measure has no option `--nonsense`"),
        ("measure . --only=nonsense", "`nonsense` is no value of --only"),
        ("measure . --github", "GITHUB_STEP_SUMMARY is not set"),
        ("diff a b --store store", "a"),
        ("diff a b --github", "GITHUB_STEP_SUMMARY is not set"),
        ("show nothing --store store", "nothing"),
        ("check nonsense .", "nonsense"),
        ("check", "check needs a profile"),
        ("explain nonsense", "there is no finding `nonsense`"),
        ("inspect . --expect=nonsense", "should be nonsense"),
        ("compare a=. --force", "--force"),
        ("clean missing", "missing"),
    ] {
        let ran = place.run(&format!("{words} --json"));
        assert_eq!(ran.status, Some(2), "{words}: {ran:?}");
        let document = ran.document();
        assert!(document["summary"]["headline"].is_null(), "{words}: {document}");
        assert_eq!(document["summary"]["error"]["code"], 2, "{words}: {document}");
        let told = document["summary"]["error"]["sentence"].as_str().unwrap_or_default();
        assert!(told.contains(what) && ran.stderr.contains(what), "{words}: {ran:?}");
        let path = &document["summary"]["error"]["path"];
        let is_named = path.as_str().is_some_and(|path| path.ends_with("missing"));
        assert!(is_named || !words.ends_with(" missing"), "{words}: {document}");
    }
}

#[test]
fn saved_documents_keep_to_their_schemas() {
    let place = TestDirectory::new();
    // An older record is printed in the current format.
    let study = place.run(&["show", &saved(), "--json"]).good().document();
    let Some(errors) = against("study", &[study]) else { return };
    assert_eq!(errors, [""; 0]);
    place.run("--name=a --ioengine=null --size=1m --rw=randrw --fsync=8 --record=run.json").good();
    let record: Value = serde_json::from_str(&place.read("run.json")).expect("JSON");
    let mut other = record.clone();
    other["jobs"][0]["directions"]["read"]["bytes"] = "many".into();
    other["schema"] = 1.into();
    let errors = against("record", &[record, other]).expect("what has read the study");
    let of_other = errors.iter().filter(|error| error.contains("1.json")).count();
    assert_eq!((errors.len(), of_other), (2, 2), "a schema that allows anything says nothing: {errors:?}");
}

#[test]
fn the_lines_for_jq_print_what_they_promise() {
    if !testkit::has("jq") {
        return;
    }
    let place = with_studies();
    std::os::unix::fs::symlink(testkit::program(), place.path("fsdyno")).expect("a link is made");
    let page = std::fs::read_to_string(testkit::workspace().join("docs/json.md")).expect("the page is there");
    let lines: Vec<&str> = page.lines().filter(|line| line.starts_with("fsdyno ")).collect();
    assert_eq!(lines.len(), 3);
    for line in lines {
        let line = line.replacen(" --json", " --store store --json", 1);
        let ran = place.program("bash", &["-o", "pipefail", "-c", &format!("PATH=$PWD:$PATH; {line}")]).output();
        let ran = ran.expect("bash is there");
        let printed = testkit::text(&ran.stdout);
        assert!(ran.status.success(), "{line}: {}", testkit::text(&ran.stderr));
        let is_about_trust = line.contains("select");
        assert!(is_about_trust || printed.contains("read-latency\t"), "{line}: {printed}");
    }
}

#[test]
fn the_page_of_a_ci_run_gets_the_answer() {
    let place = with_studies();
    place.write("page.md", "before\n");
    let add = |words: &str| {
        let ran = place.command(words).env("GITHUB_STEP_SUMMARY", place.path("page.md")).output().expect("it runs");
        assert!(ran.status.success(), "{words}: {}", testkit::text(&ran.stderr));
    };
    add("measure data --size=16m --runtime=1 --only=read-latency --no-store --github");
    add("diff good last --store store --github");
    let page = place.read("page.md");
    assert!(page.starts_with("before\n") && page.contains("- **trust** "), "{page}");
    assert!(page.contains("| read-latency ") && page.contains("- **base** "), "{page}");
    let ran = place.command("diff good last --store store --github").env("GITHUB_STEP_SUMMARY", "no/page.md").output();
    let ran = ran.expect("it runs");
    assert_eq!((ran.status.code(), ran.stdout.len()), (Some(2), 0));
    assert!(testkit::text(&ran.stderr).contains("--github: cannot write no/page.md"), "{}", testkit::text(&ran.stderr));
}

#[test]
fn the_options_of_a_group_are_those_that_its_jobs_share() {
    let group = |ours: &str, others: &str| {
        let place = TestDirectory::new();
        let head = "[global]\nioengine=null\nsize=64k\ngroup_reporting\n";
        place.write("jobs.fio", format!("{head}[writes]\n{ours}\n[reads]\n{others}\n"));
        let document = place.run("--output-format=json jobs.fio").good().document();
        assert_eq!(document["jobs"].as_array().map(Vec::len), Some(1));
        (document["jobs"][0]["jobname"].clone(), document["jobs"][0]["job options"].clone())
    };
    let (name, options) = group("filename=a\nrw=write\nbs=8k\nnumjobs=2", "filename=b\nrw=read\nbs=8k\nnumjobs=2");
    assert_eq!((name, options), ("writes".into(), serde_json::json!({ "bs": "8k", "numjobs": "2" })));
    let (name, options) = group("rw=write", "rw=read");
    assert_eq!((name, options), ("writes".into(), serde_json::json!({})), "the key stays for its readers");
}
