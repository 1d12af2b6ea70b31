//! No finding without a test that makes its trap on real storage, and one where it must be silent.

use std::path::Path;

#[test]
fn every_finding_is_made_and_spared() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut text = std::fs::read_to_string(tests.join("time.rs")).expect("a test is text");
    for folder in ["traps", "lab"] {
        for entry in std::fs::read_dir(tests.join(folder)).expect("the tests are there").flatten() {
            text += &std::fs::read_to_string(entry.path()).expect("a test is text");
        }
    }
    for explanation in fsdyno_findings::catalogue() {
        let named = text.matches(&format!("\"{}\"", explanation.id)).count();
        assert!(named >= 2, "{} is named {named} times in the tests on real storage", explanation.id);
    }
}
