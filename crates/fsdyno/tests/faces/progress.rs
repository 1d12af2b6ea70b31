//! Tests the progress line: where and when it is shown.

use testkit::TestDirectory;

/// It sleeps between its requests.
const ENDLESS: &str = "--name=a --ioengine=null --size=1m --rw=randread --thinktime=1ms --time_based --runtime=600";

#[test]
fn it_overwrites_itself() {
    let mut running = TestDirectory::new().start(&format!("{ENDLESS} --eta=always --eta-interval=250ms"));
    running.wait_for("Jobs: 1 (f=1)\rJobs: 1 (f=1)");
    // Rates and the remaining time are shown once they have settled.
    running.wait_until("the whole line", |running| {
        running.stdout().split('\r').any(|line| {
            line.starts_with("Jobs: 1 (f=1): [r(1)][")
                && line.contains(" IOPS][eta ")
                && line.trim_end().ends_with("s]")
        })
    });
    running.signal("INT");
    let ran = running.finish();
    let lines = ran.stdout.lines().filter(|line| line.contains("Jobs: ")).count();
    assert_eq!(lines, 1, "all in one line: {}", ran.stdout);
    assert!(ran.stdout.contains("\r\nfio: terminating on signal 2\n"), "{:?}", ran.stdout);
}

#[test]
fn it_can_begin_new_lines() {
    let mut running =
        TestDirectory::new().start(&format!("{ENDLESS} --eta=always --eta-interval=250ms --eta-newline=1"));
    running.wait_for("Jobs: 1 (f=1)\n");
    running.signal("INT");
    assert_eq!(running.finish().status, Some(128));
}

#[test]
fn it_stays_away_when_told_or_when_nobody_looks() {
    for words in ["--eta=never", "--eta=auto", ""] {
        let words = format!(
            "--name=a --ioengine=null --size=1m --rw=read --thinktime=1ms --time_based --runtime=700ms {words}"
        );
        let ran = TestDirectory::new().run(&format!("{words} --eta-interval=250ms"));
        assert_eq!(ran.status, Some(0), "{}", ran.stderr);
        assert!(!ran.stdout.contains("Jobs: ") && !ran.stdout.contains('\r'), "{}", ran.stdout);
    }
}

#[test]
fn it_does_not_get_into_a_document() {
    let ran = TestDirectory::new().run(
        "--name=a --ioengine=null --size=1m --rw=read --thinktime=1ms --time_based --runtime=700ms --eta=always --eta-interval=250ms \
         --eta-newline=1 --output-format=json",
    );
    ran.document();
}

#[test]
fn it_shows_beside_a_file() {
    let place = TestDirectory::new();
    let mut running =
        place.start(&format!("{ENDLESS} --eta=always --eta-interval=250ms --output=report.json --output-format=json"));
    running.wait_for("Jobs: 1 (f=1)\r");
    running.signal("INT");
    assert_eq!(running.finish().status, Some(128));
    serde_json::from_str::<serde_json::Value>(&place.read("report.json")).expect("one document");
}
