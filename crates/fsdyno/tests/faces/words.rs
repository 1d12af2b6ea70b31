//! Tests words that print something or choose what runs.

use testkit::TestDirectory;

const JOB_FILE: &str = "[global]\nioengine=null\nsize=64k\n[first]\nrw=read\n[second]\nrw=write\n";

#[test]
fn version_names_the_program_first_unless_a_tool_asks() {
    let place = TestDirectory::new();
    for words in ["--version", "-V"] {
        let ran = place.run(words).good();
        let line = format!("fsdyno {} (runs command lines and job files of fio 3.42)\n", env!("CARGO_PKG_VERSION"));
        assert_eq!((ran.stdout, ran.stderr.as_str()), (line, ""), "{words}");
    }
    // Tools parse this form; `same_face` tests the link called fio.
    for words in ["fio --version", "--version --output-format=json", "-v"] {
        let ran = place.run(words).good();
        assert_eq!(ran.stdout, format!("fio-3.42-fsdyno-{}\n", env!("CARGO_PKG_VERSION")), "{words}");
        assert_eq!(ran.stderr, "", "{words}");
    }
}

#[test]
fn the_bare_name_says_what_a_newcomer_needs() {
    let told = TestDirectory::new().run("").refused("fsdyno measure . ");
    for words in ["fsdyno check etcd .", "fsdyno compare local=", "fsdyno help"] {
        assert!(told.contains(words), "{told}");
    }
}

#[test]
fn every_command_and_topic_has_its_help() {
    let place = TestDirectory::new();
    let page = place.run("help").good().stdout;
    assert!(page.lines().all(|line| line.chars().count() <= 80), "{page}");
    let names = page.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let commands: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
    assert!(commands.len() > 18, "{page}");
    for command in commands {
        let help = place.run(&format!("help {command}")).good().stdout;
        assert_eq!(help, place.run(&format!("{command} --help")).good().stdout, "{command}");
        assert!(help.contains("Usage: fsdyno"), "{help}");
    }
    assert_eq!(place.run("help fio").good().stdout, place.run("fio --help").good().stdout);
    assert!(place.run("help baseline set").good().stdout.contains("fsdyno baseline set"));
    let statuses = place.run("help exit-status").good().stdout;
    assert!(statuses.contains("\n  3       `check`: ") && statuses.contains("\n  128+N "), "{statuses}");
    place.run("help mesure").refused("did you mean `measure`?");
}

#[test]
fn help_goes_to_stdout() {
    let ran = TestDirectory::new().run("fio --help");
    assert_eq!(ran.status, Some(0));
    assert!(ran.stdout.contains("--output-format") && ran.stdout.contains("--cmdhelp"), "{}", ran.stdout);
    assert!(ran.stdout.ends_with("`fsdyno help`.\n"), "the other face is found from here: {}", ran.stdout);
    assert_eq!(ran.stderr, "");
}

#[test]
fn a_question_has_help_too() {
    for words in ["help", "report --help", "doctor --help"] {
        let ran = TestDirectory::new().run(words);
        assert_eq!(ran.status, Some(0), "{words}");
        assert!(ran.stdout.contains("Usage: fsdyno"), "{words}: {}", ran.stdout);
        assert_eq!(ran.stderr, "", "{words}");
    }
}

#[test]
fn whoever_asks_for_help_sees_both_faces() {
    let ran = TestDirectory::new().run("--help");
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""));
    assert!(ran.stdout.contains("\n  measure ") && ran.stdout.contains("`fsdyno fio --help`"), "{}", ran.stdout);
    for words in ["-h", "help"] {
        assert_eq!(TestDirectory::new().run(words).stdout, ran.stdout, "{words}");
    }
}

#[test]
fn a_mistyped_command_is_told_the_nearest_one() {
    let place = TestDirectory::new();
    assert!(
        place
            .run("mesure /tmp")
            .refused("`mesure` is not a command")
            .contains("next: did you mean `fsdyno measure /tmp`? ")
    );
    place.run("nonsense").refused("`nonsense` is not a command, and no job file of that name is here");
    // A job file of that name is used.
    place.write("mesure", "[a]\nioengine=null\nsize=4k\n");
    assert_eq!(place.run("mesure").status, Some(0));
    // A word followed by fio options is a fio command line whose job file is missing.
    for words in ["nosuch.fio", "nosuch --output-format=json"] {
        let ran = place.run(words);
        assert_eq!(ran.status, Some(1), "{}", ran.stderr);
        assert!(ran.stderr.contains("unable to open 'nosuch"), "{}", ran.stderr);
    }
}

#[test]
fn parse_only_makes_nothing() {
    let place = TestDirectory::new();
    let ran = place.run("--parse-only --name=a --size=64k --rw=write");
    assert_eq!((ran.status, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), "", ""));
    assert_eq!(place.names(""), [""; 0]);
    assert_eq!(place.run("--parse-only --name=a --size=64k --rw=wrong").status, Some(1));
}

#[test]
fn showcmd_prints_a_line_that_can_be_run_again() {
    let place = TestDirectory::new();
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
    let place = TestDirectory::new();
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
fn jobs_that_share_a_file_unlink_it_in_silence() {
    for words in [
        "--name=a --filename=f --rw=write --numjobs=4 --unlink=1",
        "--filename=f --unlink=1 --name=a --rw=write --name=b --rw=read --name=c --rw=randrw",
        "--name=a --filename=f:f --rw=write --unlink=1",
        "--name=a --filename=f --rw=write --numjobs=4 --loops=5 --unlink_each_loop=1 --unlink=1",
        "--name=a --filename=f --ioengine=filecreate --filesize=4k --numjobs=2 --unlink=1",
    ] {
        let place = TestDirectory::new();
        let ran = place.run(&format!("--size=64k {words}"));
        assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""), "{words}: {}", ran.stdout);
        assert_eq!(place.names(""), [""; 0], "{words}");
    }
}

#[test]
fn unlink_takes_the_file_away() {
    let place = TestDirectory::new();
    let ran = place.run("--name=a --size=64k --rw=write --unlink=1");
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    assert_eq!(place.names(""), [""; 0]);
    assert_eq!(place.run("--name=a --size=64k --rw=write").status, Some(0));
    assert_eq!(place.names(""), ["a.0.0"]);
}
