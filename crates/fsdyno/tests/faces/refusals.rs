//! Tests that what is refused touches nothing.

use testkit::TestDirectory;

/// Each line is refused before anything is written; `precious` is a file of the user.
const REFUSED: &[(&str, &str)] = &[
    ("--name=a --filename=precious --size=1m --rw=write --ioengine=nosuch", "nosuch"),
    ("--name=a --filename=precious --size=1m --rw=write --iodepth=x", "iodepth"),
    ("--name=a --filename=precious --size=1m --rw=wrote", "wrote"),
    ("--readonly --name=a --filename=precious --size=1m --rw=write", "read-only"),
    ("--name=a --filename=precious --size=1m --rw=randrw --readonly", "read-only"),
    ("--name=a --filename=precious --size=1m --rw=read --name=b --directory=nosuch --size=1m", "nosuch"),
    ("--name=a --filename=precious --size=2k --bs=4k --rw=write", "2048 < 4096"),
    ("--name=a --filename=precious --size=1m --rw=write --output=no/such/place", "no/such/place"),
    ("--name=a --filename=precious --size=1m --rw=write --record=no/such/place", "no/such/place"),
    ("--name=a --filename=precious --size=1m --rw=write --output-format=xml", "xml"),
    ("--name=a --filename=precious --size=1m --rw=write nosuch.fio", "nosuch.fio"),
];

#[test]
fn files_of_the_user_stay_as_they_were() {
    for (words, says) in REFUSED {
        let place = TestDirectory::new();
        place.write("precious", "precious");
        let ran = place.run(words);
        assert_eq!(ran.status, Some(1), "{words}: {}", ran.stdout);
        assert!(ran.stderr.contains(says), "{words}: {}", ran.stderr);
        assert!(!ran.stdout.contains("Run status") || !ran.stdout.contains("bw="), "{words}: {}", ran.stdout);
        assert_eq!(place.names(""), ["precious"], "{words}");
        assert_eq!(place.read("precious"), "precious", "{words}");
    }
}

#[test]
fn a_job_that_may_not_create_files_creates_none() {
    let place = TestDirectory::new();
    let ran = place.run("--name=a --size=1m --rw=write --allow_file_create=0");
    assert_ne!(ran.status, Some(0));
    assert!(ran.stderr.contains("allow_file_create"), "{}", ran.stderr);
    assert_eq!(place.names(""), [""; 0]);
}

/// The meant word is a command in the next step, whoever refuses.
#[test]
fn a_mistake_is_answered_with_what_was_meant() {
    let place = TestDirectory::with(&["data"]);
    for (words, next) in [
        ("./data", "  next: fsdyno measure ./data"),
        ("explain hostcache", "  next: did you mean `fsdyno explain host-cache`? `fsdyno explain` shows all"),
        ("mesure .", "  next: did you mean `fsdyno measure .`? `fsdyno help` shows all commands"),
        ("measure --qick .", "  next: did you mean `--quick`? `fsdyno help measure` shows all"),
        ("measure --engine=io_urng .", "  next: did you mean `io_uring`? `fsdyno help measure` shows all"),
        ("time data --recipe gti", "  next: did you mean `git`? the recipes are git, "),
        ("check etdc data", "  next: did you mean `etcd`? `fsdyno check --list` shows all"),
        ("show lsat", "  next: did you mean `last`? `fsdyno runs` shows all"),
    ] {
        let ran = place.run(words);
        assert_eq!(ran.status, Some(2), "{words}: {ran:?}");
        assert!(ran.stderr.starts_with("fsdyno: ") && ran.stderr.contains(next), "{words}: {}", ran.stderr);
    }
    assert!(place.names("data").is_empty());
}

/// The fio face uses the same form, below fio's own lines; a list of all words follows, but not of the many engines.
#[test]
fn a_mistake_in_fios_language_is_answered_with_what_was_meant() {
    let place = TestDirectory::new();
    let told = |words: &str| {
        let ran = place.run(&format!("--name=a --size=4k {words}"));
        assert_eq!(ran.status, Some(1), "{words}: {ran:?}");
        ran.stderr
    };
    let engine = told("--ioengine=libiao");
    let lines = "fio: engine libiao not loadable\nfio: failed to load engine\n  at word 3 of the command line: \
                 --ioengine=libiao\n  next: did you mean `libaio`? `--enghelp` shows all engines\n";
    assert_eq!(engine, lines);
    let option = told("--iodepht=4");
    assert!(option.ends_with("\n  next: did you mean `iodepth`? `--cmdhelp=all` shows all options\n"), "{option}");
    let word = told("--rw=raed");
    let at = |text: &str| word.find(text).unwrap_or_else(|| panic!("no {text} in {word}"));
    assert!(at("  next: did you mean `read`?\n") < at("valid values: read"), "{word}");
    assert!(told("--ioengine=zzzz").contains("valid values"), "where nothing is near, all are listed");
}
