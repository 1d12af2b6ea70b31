//! Words that print something or choose what runs.

use testkit::Place;

const JOB_FILE: &str = "[global]\nioengine=null\nsize=64k\n[first]\nrw=read\n[second]\nrw=write\n";

#[test]
fn version_begins_as_tools_expect() {
    let ran = Place::new().run("--version");
    assert_eq!(ran.status, Some(0));
    assert!(ran.stdout.starts_with("fio-3.42-fsdyno-"), "{}", ran.stdout);
    assert_eq!(ran.stdout.lines().count(), 1);
    assert_eq!(ran.stderr, "");
}

#[test]
fn help_goes_to_stdout() {
    let ran = Place::new().run("fio --help");
    assert_eq!(ran.status, Some(0));
    assert!(ran.stdout.contains("--output-format") && ran.stdout.contains("--cmdhelp"), "{}", ran.stdout);
    assert!(ran.stdout.ends_with("`fsdyno help`.\n"), "the other face is found from here: {}", ran.stdout);
    assert_eq!(ran.stderr, "");
}

#[test]
fn a_question_has_help_too() {
    for words in ["help", "report --help", "doctor --help"] {
        let ran = Place::new().run(words);
        assert_eq!(ran.status, Some(0), "{words}");
        assert!(ran.stdout.contains("Usage: fsdyno"), "{words}: {}", ran.stdout);
        assert_eq!(ran.stderr, "", "{words}");
    }
}

#[test]
fn whoever_asks_for_help_sees_both_faces() {
    let ran = Place::new().run("--help");
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""));
    assert!(ran.stdout.contains("\n  measure ") && ran.stdout.contains("`fsdyno fio --help`"), "{}", ran.stdout);
    for words in ["-h", "help"] {
        assert_eq!(Place::new().run(words).stdout, ran.stdout, "{words}");
    }
}

#[test]
fn a_mistyped_question_is_told_the_nearest_one() {
    let place = Place::new();
    let ran = place.run("mesure /tmp");
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""));
    assert!(ran.stderr.contains("'measure'"), "{}", ran.stderr);
    // A job file of that name is one.
    place.write("mesure", "[a]\nioengine=null\nsize=4k\n");
    assert_eq!(place.run("mesure").status, Some(0));
    // What resembles nothing is a job file that is missing.
    assert!(place.run("nosuch").stderr.contains("unable to open 'nosuch' job file"));
}

#[test]
fn parse_only_makes_nothing() {
    let place = Place::new();
    let ran = place.run("--parse-only --name=a --size=64k --rw=write");
    assert_eq!((ran.status, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), "", ""));
    assert_eq!(place.names(""), [""; 0]);
    assert_eq!(place.run("--parse-only --name=a --size=64k --rw=wrong").status, Some(1));
}

#[test]
fn showcmd_prints_a_line_that_can_be_run_again() {
    let place = Place::new();
    place.write("jobs.fio", JOB_FILE);
    let ran = place.run("--showcmd jobs.fio");
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    let line = ran.stdout.trim();
    assert!(line.starts_with("fio ") && line.contains("--name=second"), "{line}");
    let again = place.run(&format!("{line} --output-format=json"));
    assert_eq!(again.document()["jobs"][1]["jobname"], "second");
}

#[test]
fn a_section_runs_alone() {
    let place = Place::new();
    place.write("jobs.fio", JOB_FILE);
    let ran = place.run("--section=second --output-format=json jobs.fio");
    let document = ran.document();
    let jobs = document["jobs"].as_array().expect("jobs");
    assert_eq!(jobs.len(), 1);
    assert_eq!(jobs[0]["jobname"], "second");
    assert_eq!(jobs[0]["write"]["io_bytes"], 65536);
    let missing = place.run("--section=third jobs.fio");
    assert_eq!(missing.status, Some(1));
    assert!(missing.stderr.contains("third"), "{}", missing.stderr);
}

#[test]
fn unlink_takes_the_file_away() {
    let place = Place::new();
    let ran = place.run("--name=a --size=64k --rw=write --unlink=1");
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    assert_eq!(place.names(""), [""; 0]);
    assert_eq!(place.run("--name=a --size=64k --rw=write").status, Some(0));
    assert_eq!(place.names(""), ["a.0.0"]);
}
