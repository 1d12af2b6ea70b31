//! Checks that the catalogue is complete.

use std::collections::BTreeSet;

#[test]
fn every_story_is_complete_and_has_a_name_of_its_own() {
    let explanations: Vec<_> = fsdyno_findings::catalogue().collect();
    let ids: BTreeSet<&str> = explanations.iter().map(|explanation| explanation.id).collect();
    assert_eq!(ids.len(), explanations.len());
    for explanation in explanations {
        assert!(explanation.id.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", explanation.id);
        assert!(
            explanation.trap.starts_with('T') && explanation.trap[1..].parse::<u32>().is_ok(),
            "{}",
            explanation.trap
        );
        for text in
            [explanation.title, explanation.happens, explanation.seen, explanation.advice, explanation.documented]
        {
            assert!(!text.is_empty() && !text.contains("  "), "{}: {text:?}", explanation.id);
        }
    }
    for trap in (1..=9).chain([11]).chain(12..=21).chain([24, 25, 26, 27, 28, 30]) {
        assert!(fsdyno_findings::explanation(&format!("T{trap}")).is_some(), "T{trap}");
    }
}

#[test]
fn stories_are_found_by_id_and_by_number() {
    assert_eq!(fsdyno_findings::explanation("page-cache").unwrap().trap, "T2");
    assert_eq!(fsdyno_findings::explanation("t2").unwrap().id, "page-cache");
    assert_eq!(fsdyno_findings::explanation("T99"), None);
}

#[test]
fn the_document_holds_them_all() {
    let text = fsdyno_findings::markdown();
    assert!(fsdyno_findings::catalogue().all(|explanation| text.contains(&format!("\n## {}\n", explanation.id))));
    assert_eq!(text.lines().filter(|line| line.starts_with("# ")).count(), 1);
}
