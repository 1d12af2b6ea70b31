//! Tests `fsdyno doctor` on this machine, whatever it is.

use testkit::TestDirectory;

#[test]
fn the_page_has_its_parts() {
    let place = TestDirectory::new();
    let ran = place.run("doctor");
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""));
    // A debug build has its own warning; but where tests run, runs are possible.
    assert!(ran.stdout.starts_with("ok: ") || ran.stdout.starts_with("caution: "), "{}", ran.stdout);
    for part in [
        "Machine",
        "fsdyno's own CPU time per I/O",
        "iodepth=64, every I/O timed",
        "Clock",
        "Engines",
        "libaio",
        "Limits",
    ] {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
    }
    assert!(ran.stdout.contains("At iodepth 64 fsdyno itself needs about"), "{}", ran.stdout);
    assert_eq!(place.names(""), [""; 0], "it only looks");
}

#[test]
fn the_document_has_its_figures() {
    let ran = TestDirectory::new().run("doctor --json");
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""));
    let document = ran.document();
    let floors = document["generator_floor"].as_array().expect("floors");
    assert_eq!(floors.len(), 4);
    for floor in floors {
        assert!(floor["cpu_ns_per_io"].as_f64().is_some_and(|ns| ns > 0.0), "{floor}");
    }
    assert!(document["clock"]["cost_ns"].as_f64().is_some_and(|ns| ns > 0.0), "{document:#}");
    let psync = document["engines"].as_array().and_then(|all| all.iter().find(|engine| engine["name"] == "psync"));
    assert_eq!(psync.map(|engine| &engine["available"]), Some(&true.into()));
}

#[test]
fn a_word_too_many_is_refused() {
    let ran = TestDirectory::new().run("doctor please");
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""));
    assert!(ran.stderr.contains("please"), "{}", ran.stderr);
}
