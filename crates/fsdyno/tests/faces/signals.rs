//! A signal ends the run with a report, or asks for one.

use crate::program::{Place, results};

/// Would run for ten minutes.
const ENDLESS: &str = "--name=a --ioengine=null --size=1m --rw=randread --time_based --runtime=600";

/// The same, and says when I/O has been done: a job without any has no block in the report.
const ENDLESS_WATCHED: &str = "--eta=always --eta-interval=250ms --name=a --ioengine=null --size=1m --rw=randread \
                               --time_based --runtime=600";

/// What it says then.
const IO_WAS_DONE: &str = "Jobs: 1 (f=1)";

#[test]
fn sigint_and_sigterm_end_the_run_with_its_report() {
    for (name, number) in [("INT", 2), ("TERM", 15)] {
        let mut running = Place::new().start(ENDLESS_WATCHED);
        running.wait_for(IO_WAS_DONE);
        running.signal(name);
        let ran = running.finish();
        assert_eq!(ran.status, Some(128), "{name}");
        assert!(ran.stdout.contains(&format!("\nfio: terminating on signal {number}\n")), "{}", ran.stdout);
        assert!(results(&ran.stdout).contains("err= 0:"), "{}", ran.stdout);
        assert!(results(&ran.stdout).contains("   READ: bw="), "{}", ran.stdout);
    }
}

#[test]
fn the_document_of_an_interrupted_run_is_whole() {
    let place = Place::new();
    let words = "--name=a --size=64k --rw=randwrite --time_based --runtime=600 --output-format=json";
    let mut running = place.start(words);
    let file = place.path("a.0.0");
    running.wait_until("data", |_| std::fs::metadata(&file).is_ok_and(|data| data.len() > 0));
    running.signal("INT");
    let ran = running.finish();
    assert_eq!(ran.status, Some(128));
    let document = ran.document();
    assert_eq!(document["jobs"][0]["error"], 0);
    assert!(ran.stderr.contains("terminating on signal 2"), "{}", ran.stderr);
}

#[test]
fn a_signal_that_comes_twice_does_not_lose_the_report() {
    // timeout(1) sends it to its child and to the group that the child is in.
    for _ in 0..10 {
        let place = Place::new();
        let mut running = place.start(ENDLESS);
        running.wait_for("Starting 1 process\n");
        running.signal_twice("INT");
        let ran = running.finish();
        assert_eq!(ran.status, Some(128));
        assert!(ran.stdout.contains("Run status group 0"), "{}", ran.stdout);
    }
}

#[test]
fn a_failed_job_adds_to_the_status() {
    let mut running = Place::new().start(&format!("{ENDLESS} --name=bad --filename=nosuch --ioengine=psync --size=0"));
    running.wait_until("the failure", |running| running.stderr.text().contains("bad: you need to specify size"));
    running.wait_for("Starting");
    running.signal("INT");
    assert_eq!(running.finish().status, Some(129));
}

#[test]
fn later_stages_do_not_begin() {
    let words = format!("{ENDLESS} --name=late --stonewall --size=64k --rw=write --filename=late");
    let place = Place::new();
    let mut running = place.start(&words);
    running.wait_for("Starting 2 processes\n");
    running.signal("INT");
    let ran = running.finish();
    assert_eq!(ran.status, Some(128));
    assert!(!ran.stdout.contains("late: (groupid"), "{}", ran.stdout);
}

#[test]
fn sigusr1_asks_for_a_report_in_between() {
    let mut running = Place::new().start(ENDLESS);
    running.wait_for("Starting 1 process\n");
    running.signal("USR1");
    running.wait_for("Run status group 0 (all jobs):");
    running.signal("INT");
    let ran = running.finish();
    assert_eq!(ran.status, Some(128));
    assert_eq!(ran.stdout.matches("Run status group 0 (all jobs):").count(), 2, "{}", ran.stdout);
}

#[test]
fn the_data_of_an_interrupted_writer_stays() {
    let place = Place::new();
    let mut running = place.start("--name=a --size=64k --rw=write --time_based --runtime=600");
    running.wait_for("Starting");
    let file = place.path("a.0.0");
    running.wait_until("data", |_| std::fs::metadata(&file).is_ok_and(|data| data.len() == 65536));
    running.signal("INT");
    assert_eq!(running.finish().status, Some(128));
    assert_eq!(place.names(), ["a.0.0"]);
}
