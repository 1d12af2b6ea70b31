//! Each command that answers something answers programs too.

use testkit::Place;

#[test]
fn conditions_are_tests_of_a_ci_system() {
    let place = Place::with(&["store"]);
    let saved = testkit::workspace().join("crates/results/tests/saved/format-4.json").display().to_string();
    let diff = format!("diff {saved} {saved} --store store");
    place
        .run(&[diff.split(' ').collect::<Vec<_>>(), vec!["--fail-if", "mix.iops < -5%", "--junit=ci.xml"]].concat())
        .good();
    let document = place.read("ci.xml");
    assert!(
        document.starts_with("<?xml ") && document.contains("tests=\"1\" failures=\"0\" skipped=\"1\""),
        "{document}"
    );
    assert!(document.contains("name=\"mix.iops &lt; -5%\"><skipped message=\"mix: one run each"), "{document}");
    place.run(&format!("{diff} --junit=ci.xml")).refused("--fail-if");
}

#[test]
fn verdicts_are_tests_of_a_ci_system() {
    let place = Place::with(&["data"]);
    let check = "check gitlab-nfs-gate data --no-store";
    let ran = place.run(&format!("{check} --junit=ci.xml"));
    assert!(matches!(ran.status, Some(0 | 1 | 3)), "{ran:?}");
    let document = place.read("ci.xml");
    assert!(document.contains("<testsuite name=\"fsdyno check\"") && document.contains("<testcase "), "{document}");
    // Before anything is measured, and nothing is left.
    let ran = place.run(&format!("{check} --junit=missing/ci.xml"));
    ran.refused("--junit: cannot write missing/ci.xml: ");
    assert_eq!(place.names(""), ["ci.xml", "data"]);
}

#[test]
fn each_answer_is_one_document() {
    let place = Place::with(&["store", "data"]);
    let saved = testkit::workspace().join("crates/results/tests/saved/format-4.json").display().to_string();
    place.run(&format!("baseline set good {saved} --store store")).good();
    std::fs::copy(&saved, place.path("store/run.json")).expect("a run is saved");
    for (words, key) in [
        ("runs --store store", "runs"),
        ("show last --store store", "rows"),
        ("history last --store store", "runs"),
        ("baseline list --store store", "baselines"),
        ("explain", "findings"),
        ("explain page-cache", "advice"),
        ("inspect data", "storage"),
        ("clean data", "directories"),
        ("clean data --dry-run", "dry_run"),
        ("doctor", "limits"),
        ("check --list", "profiles"),
        ("config", "settings"),
    ] {
        let document = place.run(&format!("{words} --json")).good().document();
        assert!(document.get(key).is_some(), "{words}: no {key} in {document}");
    }
    let history = place.run("history last --store store --json").document();
    let test = &history["runs"][0]["tests"][0];
    assert_eq!((test["pattern"].as_str(), test["trust"].as_str()), (Some("mix"), Some("caution")), "{history}");
    assert!(test["figures"]["iops"].as_f64().is_some_and(|iops| (4776.0..4778.0).contains(&iops)), "{test}");
    assert!(test["figures"]["p99"].is_null(), "unknown is not 0: {test}");
}
