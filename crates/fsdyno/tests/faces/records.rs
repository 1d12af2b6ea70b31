//! Saved records: they print again what the live run printed.

use crate::program::results;
use testkit::Place;

/// A mix of what a report has: two jobs, a group, errors counted, latencies.
const JOBS: &str = "--ioengine=null --size=256k --group_reporting --name=a --rw=randrw --numjobs=2 --iodepth=4 \
                    --name=b --rw=write --continue_on_error=io --description=words";

/// Saves a record of a run and gives what it printed live.
fn live(place: &Place, words: &str) -> String {
    let ran = place.run(&format!("{words} --record=run.json"));
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    ran.stdout
}

#[track_caller]
fn again(place: &Place, form: &str) -> String {
    let ran = place.run(&format!("report --as {form} run.json"));
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""), "{form}");
    ran.stdout
}

#[test]
fn machine_formats_come_again_byte_for_byte() {
    let place = Place::new();
    for form in ["json", "json+", "terse"] {
        let printed = live(&place, &format!("{JOBS} --output-format={form}"));
        assert!(!printed.is_empty());
        assert_eq!(printed, again(&place, form), "{form}");
    }
    assert_eq!(place.names(""), ["run.json"], "nothing else is left");
}

#[test]
fn terse_versions_come_again() {
    let place = Place::new();
    for version in 2..=5 {
        let printed = live(&place, &format!("{JOBS} --output-format=terse --terse-version={version}"));
        assert_eq!(printed, again(&place, &format!("terse --terse-version {version}")), "{version}");
    }
}

#[test]
fn the_normal_report_comes_again() {
    let place = Place::new();
    let printed = live(&place, JOBS);
    let again = again(&place, "normal");
    assert_eq!(results(&printed), results(&again));
    assert_eq!(again, place.run("report run.json").stdout, "normal is the default");
}

#[test]
fn a_real_file_with_its_disk_comes_again() {
    let place = Place::new();
    let words = "--name=a --filename=data --size=256k --rw=randread --iodepth=4";
    let printed = live(&place, words);
    assert_eq!(results(&printed), results(&again(&place, "normal")));
}

#[test]
fn an_interrupted_run_has_a_record() {
    let place = Place::new();
    let mut running = place.start(
        "--name=a --ioengine=null --size=1m --rw=read --time_based --runtime=600 --record=run.json \
         --eta=always --eta-interval=250ms",
    );
    // Then I/O has been done, and the job has a block in the report.
    running.wait_for("Jobs: 1 (f=1)");
    running.signal("INT");
    let ran = running.finish();
    assert_eq!(results(&ran.stdout), results(&again(&place, "normal")));
    let record: serde_json::Value = serde_json::from_str(&place.read("run.json")).expect("JSON");
    assert_eq!(record["signal"], 2);
    assert_eq!(record["complete"], true);
}

#[test]
fn what_is_no_record_is_told() {
    let place = Place::new();
    place.write("text", "this is text\n");
    place.write("other.json", "{\"jobs\": []}\n");
    live(&place, JOBS);
    let record = place.read("run.json");
    place.write("cut.json", &record[..record.len() / 2]);
    for (name, says) in [
        ("text", "not a run record"),
        ("other.json", "not a run record"),
        ("cut.json", "not a run record"),
        ("missing.json", "no file of that name"),
        (".", "directory"),
    ] {
        let ran = place.run(&format!("report {name}"));
        assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""), "{name}");
        assert!(ran.stderr.contains(name) && ran.stderr.contains(says), "{name}: {}", ran.stderr);
    }
}

#[test]
fn a_newer_record_is_told() {
    let place = Place::new();
    live(&place, JOBS);
    let mut record: serde_json::Value = serde_json::from_str(&place.read("run.json")).expect("JSON");
    record["schema"] = 999.into();
    place.write("run.json", record.to_string());
    let ran = place.run("report run.json");
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""));
    assert!(ran.stderr.contains("format 999") && ran.stderr.contains("newer"), "{}", ran.stderr);
}

#[test]
fn a_record_that_cannot_be_saved_is_told_before_the_run() {
    let place = Place::new();
    let ran = place.run("--name=a --size=64k --rw=write --record=no/such/place.json");
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(1), ""));
    assert!(ran.stderr.contains("--record=no/such/place.json"), "{}", ran.stderr);
    assert_eq!(place.names(""), [""; 0], "nothing was run");
}
