//! Tests that JSON on stdout is valid whatever happens.

use testkit::TestDirectory;

/// Two jobs on the virtual device, one of which has an error in its fifth I/O.
const ONE_FAILS: &str = "--ioengine=sim --sim_service=100us --size=400k --rw=randread --name=good \
                         --name=bad --sim_faults=error:EIO@5";

#[test]
fn a_job_that_fails_leaves_the_results_of_the_others() {
    let ran = TestDirectory::new().run(&format!("{ONE_FAILS} --output-format=json"));
    assert_eq!(ran.status, Some(1));
    let document = ran.document();
    let (good, bad) = (&document["jobs"][0], &document["jobs"][1]);
    assert_eq!((good["error"].as_i64(), good["read"]["total_ios"].as_u64()), (Some(0), Some(100)));
    assert_eq!((bad["error"].as_i64(), bad["read"]["io_bytes"].as_u64()), (Some(5), Some(4 * 4096)));
    assert!(ran.stderr.contains("Input/output error"), "{}", ran.stderr);
}

#[test]
fn the_normal_report_has_both_too() {
    let ran = TestDirectory::new().run(ONE_FAILS);
    assert_eq!(ran.status, Some(1));
    assert!(ran.stdout.contains("good: (groupid=0, jobs=1): err= 0:"), "{}", ran.stdout);
    assert!(ran.stdout.contains("bad: (groupid=0, jobs=1): err= 5 ("), "{}", ran.stdout);
}

#[test]
fn a_job_that_cannot_start_leaves_the_results_of_the_others() {
    let place = TestDirectory::new();
    let ran =
        place.run("--name=bad --filename=nosuch --rw=read --name=good --size=64k --rw=write --output-format=json");
    assert_eq!(ran.status, Some(1));
    let document = ran.document();
    assert_eq!(document["jobs"][1]["write"]["io_bytes"], 65536);
    assert_ne!(document["jobs"][0]["error"], 0);
    assert_eq!(place.names(""), ["good.0.0"]);
}

#[test]
fn every_job_fails() {
    let ran = TestDirectory::new().run("--name=bad --filename=nosuch --rw=read --numjobs=3 --output-format=json");
    assert_eq!(ran.status, Some(3));
    assert_eq!(ran.document()["jobs"].as_array().map(Vec::len), Some(3));
}

#[test]
fn names_and_descriptions_that_need_escapes() {
    let place = TestDirectory::new();
    place.write("jobs.fio", "[quote\"back\\slash]\ndescription=tab\there \"x\"\nioengine=null\nsize=4k\nrw=read\n");
    let ran = place.run("jobs.fio --output-format=json");
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    assert_eq!(ran.document()["jobs"][0]["jobname"], "quote\"back\\slash");
}

#[test]
fn each_interval_gives_a_whole_document() {
    let place = TestDirectory::new();
    let words = "--name=a --ioengine=null --size=1m --rw=read --time_based --runtime=600 --output-format=json";
    let mut running = place.start(&format!("{words} --status-interval=50ms"));
    running.wait_until("three documents", |running| running.stdout().matches("\n}\n").count() >= 3);
    running.signal("INT");
    let ran = running.finish();
    assert_eq!(ran.status, Some(128));
    let documents = ran.documents();
    assert!(documents.len() >= 4, "three interim ones and the last");
    let totals: Vec<u64> =
        documents.iter().map(|document| document["jobs"][0]["read"]["total_ios"].as_u64().expect("a count")).collect();
    assert!(totals.windows(2).all(|pair| pair[0] <= pair[1]), "they count from the beginning: {totals:?}");
    assert!(totals[0] < totals[totals.len() - 1], "{totals:?}");
}

#[test]
fn a_record_of_each_interval_is_saved() {
    let place = TestDirectory::new();
    let words = "--name=a --ioengine=null --size=1m --rw=read --time_based --runtime=600 --record=run.json";
    let mut running = place.start(&format!("{words} --status-interval=50ms"));
    let saved = place.path("run.json");
    running.wait_until("an interim record", |_| saved.exists());
    let record: serde_json::Value = serde_json::from_str(&place.read("run.json")).expect("a whole record");
    assert_eq!(record["complete"], false);
    running.signal("KILL");
    assert_eq!(running.finish().status, None);
    assert_eq!(place.run("report run.json").status, Some(0), "a killed run leaves what was saved");
}
