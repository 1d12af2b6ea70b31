//! What is refused touches nothing.

use testkit::Place;

/// Each is refused before anything is written; `precious` is a file of the user.
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
        let place = Place::new();
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
    let place = Place::new();
    let ran = place.run("--name=a --size=1m --rw=write --allow_file_create=0");
    assert_ne!(ran.status, Some(0));
    assert!(ran.stderr.contains("allow_file_create"), "{}", ran.stderr);
    assert_eq!(place.names(""), [""; 0]);
}

/// What was meant stands as a command in the next step, whoever complains.
#[test]
fn a_mistake_is_answered_with_what_was_meant() {
    let place = Place::with(&["data"]);
    for (words, next) in [
        ("./data", "  next: fsdyno measure ./data"),
        ("explain hostcache", "  next: fsdyno explain host-cache"),
        ("mesure .", "  next: fsdyno measure; "),
        ("measure --qick .", "  next: a similar argument exists: '--quick'; fsdyno help measure"),
    ] {
        let ran = place.run(words);
        assert_eq!(ran.status, Some(2), "{words}: {ran:?}");
        assert!(ran.stderr.starts_with("fsdyno: ") && ran.stderr.contains(next), "{words}: {}", ran.stderr);
    }
    assert!(place.names("data").is_empty());
}
