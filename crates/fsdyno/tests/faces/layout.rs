//! Tests the layout: its messages, and what is left when it is interrupted.

use testkit::TestDirectory;

/// A layout that takes longer than anybody waits, and reserves nothing.
const LONG: &str = "--name=a --size=200g --fallocate=none --rw=read --findings=all";

#[test]
fn a_long_layout_is_foretold_and_leaves_nothing_when_it_is_interrupted() {
    let place = TestDirectory::new();
    let mut running = place.start(LONG);
    running.wait_for("a: Laying out IO file (1 file / 204800MiB)\n");
    running.wait_until("a forecast", |running| running.stderr().contains("note: laying out 204800 MiB will take"));
    running.signal("INT");
    let ran = running.finish();
    assert_eq!(ran.status, Some(128), "{}", ran.stderr);
    assert!(ran.stdout.contains("\nfio: terminating on signal 2\n"), "{}", ran.stdout);
    assert!(ran.stderr.contains("incomplete file was removed"), "{}", ran.stderr);
    assert_eq!(place.names(""), [""; 0]);
}

#[test]
fn a_document_of_an_interrupted_layout_is_whole() {
    let place = TestDirectory::new();
    let mut running = place.start(&format!("{LONG} --output-format=json"));
    running.wait_until("a forecast", |running| running.stderr().contains("note: laying out"));
    running.signal("TERM");
    let ran = running.finish();
    assert_eq!(ran.status, Some(128), "{}", ran.stderr);
    let document = ran.document();
    assert_eq!((&document["jobs"][0]["error"], &document["jobs"][0]["read"]["io_bytes"]), (&0.into(), &0.into()));
    assert_eq!(place.names(""), [""; 0]);
}

#[test]
fn a_layout_shows_its_progress() {
    let place = TestDirectory::new();
    let mut running = place.start(&format!("{LONG} --eta=always"));
    running.wait_for("Layout: ");
    running.signal("INT");
    let ran = running.finish();
    assert_eq!(ran.status, Some(128));
    let progress = ran.stdout.split(['\r', '\n']).find(|line| line.starts_with("Layout: ")).expect("a progress line");
    assert!(progress.contains("/204800 MiB [") && progress.contains("[eta "), "{progress}");
}

#[test]
fn files_that_were_complete_stay_when_a_later_layout_is_interrupted() {
    let place = TestDirectory::new();
    place.write("notes.txt", "precious");
    let mut running =
        place.start("--name=first --size=1m --rw=read --name=second --size=200g --fallocate=none --rw=read");
    running.wait_for("second: Laying out IO file");
    running.signal("INT");
    assert_eq!(running.finish().status, Some(128));
    assert_eq!(place.names(""), ["first.0.0", "notes.txt"]);
    assert_eq!(std::fs::metadata(place.path("first.0.0")).expect("the first file").len(), 1 << 20);
}

#[test]
fn a_file_that_serves_is_read_as_it_is() {
    let place = TestDirectory::new();
    place.write("data", "x".repeat(65536));
    let ran = place.run("--name=a --filename=data --size=64k --rw=read");
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    assert!(!ran.stdout.contains("Laying out"), "{}", ran.stdout);
    assert_eq!(place.read("data"), "x".repeat(65536));
}
