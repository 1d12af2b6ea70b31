//! Tests reports during a run and after a signal, and the names of the binary.

use crate::case::{Case, cases, line};
use crate::document;
use crate::tools::{self, FIO, OURS, RunResult, Tool};

/// Sends a signal to the tool a second after the tool was started: sh starts background processes with SIGINT ignored.
/// `$!` is the tool itself because sh starts it without a shell.
const INTERRUPTED: &str = r#""$@" & tool=$!
until [ $((0x$(sed -n 's/^SigCgt:[[:space:]]*//p' /proc/$tool/status) & 2)) != 0 ]; do
kill -0 $tool || exit 99; sleep 0.05; done; sleep 1.5; kill -INT $tool; wait $tool"#;

/// A job that only a signal ends.
fn endless() -> Case {
    line("--name=a --ioengine=null --size=1m --rw=randread --rate_iops=1000 --time_based --runtime=600")
}

/// Runs `case` with both tools and passes the results to `compare`.
fn with_both(case: &Case, extra: &[&str], compare: impl Fn(&Tool, &RunResult)) {
    let Some(fio) = FIO.as_ref() else {
        testkit::skip("fio is not installed");
        return;
    };
    let extra: Vec<String> = extra.iter().map(|word| (*word).to_owned()).collect();
    for tool in [fio, &*OURS] {
        compare(tool, &tools::run(tool, case, &extra));
    }
}

cases! {
    exit_status_after_sigint: endless().shell(INTERRUPTED).report();
    status_interval_in_the_report: line("--name=a --ioengine=null --size=1m --rw=read --rate_iops=1000 --time_based --runtime=1 --status-interval=400ms").verbatim();
    status_interval_too_small: line("--name=a --ioengine=null --size=1m --rw=read --status-interval=0").verbatim();
}

#[test]
fn an_interrupted_run_still_gives_its_document() {
    with_both(&endless().shell(INTERRUPTED), &["--output-format=json"], |tool, ran| {
        assert_eq!(ran.status, Some(128), "{}: {}", tool.name, ran.stderr);
        let text = document::skip_to_document(&ran.stdout).unwrap_or_else(|| panic!("{}: no document", tool.name));
        let node = document::parse_only_document(text).unwrap_or_else(|error| panic!("{}: {error}", tool.name));
        let total = node.jobs()[0].at("read/total_ios").cloned();
        let Some(document::Node::Integer(total)) = total else { panic!("{}: {total:?}", tool.name) };
        assert!(total > 0, "{}: nothing was counted", tool.name);
        if tool.name == "fsdyno" && !tools::comparing_fio_with_itself() {
            assert!(ran.stdout.starts_with('{'), "only the document stands on stdout");
        }
    });
}

/// A job that still waits for its `startdelay` does not begin.
#[test]
fn a_signal_before_a_job_begins() {
    for signal in ["INT", "TERM"] {
        let case = line(
            "--ioengine=null --size=1m --rw=read --name=a --rate_iops=1000 --time_based --runtime=600 --name=b --startdelay=600",
        );
        let told = INTERRUPTED.replace("-INT", &format!("-{signal}")).leak();
        with_both(&case.shell(told), &["--output-format=json"], |tool, ran| {
            assert_eq!(ran.status, Some(128), "{}: {}", tool.name, ran.stderr);
            let text = document::skip_to_document(&ran.stdout).unwrap_or_else(|| panic!("{}: no document", tool.name));
            let node = document::parse_only_document(text).unwrap_or_else(|error| panic!("{}: {error}", tool.name));
            let of = |job: usize, figure: &str| match node.jobs()[job].at(figure) {
                Some(document::Node::Integer(value)) => *value,
                other => panic!("{}: {other:?}", tool.name),
            };
            assert!(of(0, "read/total_ios") > 0, "{}: the first job had begun", tool.name);
            assert_eq!([of(1, "read/total_ios"), of(1, "error")], [0, 0], "{}: {signal}", tool.name);
        });
    }
}

#[test]
fn each_interval_gives_a_document() {
    let case = line(
        "--name=a --ioengine=null --size=1m --rw=read --rate_iops=1000 --time_based --runtime=1500ms --status-interval=500ms",
    );
    with_both(&case, &["--output-format=json"], |tool, ran| {
        let documents = document::parse_documents(&ran.stdout).unwrap_or_else(|error| panic!("{}: {error}", tool.name));
        assert!(documents.len() >= 2, "{}: {} documents", tool.name, documents.len());
        let counts: Vec<_> =
            documents.iter().map(|node| format!("{:?}", node.jobs()[0].at("read/total_ios"))).collect();
        assert!(counts.windows(2).all(|pair| pair[0] != pair[1] || documents.len() > 2), "{}: {counts:?}", tool.name);
    });
}

#[test]
fn a_link_called_fio_and_the_word_fio_are_the_same_face() {
    let directory = testkit::directory();
    let link = directory.path().join("fio");
    std::os::unix::fs::symlink(&OURS.program, &link).expect("a link is made");
    let words = ["--name=a", "--ioengine=null", "--size=64k", "--output-format=json"];
    let mut programs = vec![(link, vec![])];
    if !tools::comparing_fio_with_itself() {
        programs.push((OURS.program.clone(), vec!["fio"]));
    }
    for (program, first) in programs {
        let output = std::process::Command::new(program).args(first).args(words).output().expect("the binary runs");
        assert!(output.status.success());
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let node = document::parse_only_document(&text).expect("one document");
        assert_eq!(node.jobs()[0].at("read/io_bytes"), Some(&document::Node::Integer(65536)));
    }
}
