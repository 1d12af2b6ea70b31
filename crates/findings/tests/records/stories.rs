//! The catalogue is whole.

use std::collections::BTreeSet;

#[test]
fn every_story_is_complete_and_has_a_name_of_its_own() {
    let stories: Vec<_> = findings::catalogue().collect();
    let ids: BTreeSet<&str> = stories.iter().map(|story| story.id).collect();
    assert_eq!(ids.len(), stories.len());
    for story in stories {
        assert!(story.id.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", story.id);
        assert!(story.trap.starts_with('T') && story.trap[1..].parse::<u32>().is_ok(), "{}", story.trap);
        for text in [story.title, story.happens, story.seen, story.advice, story.documented] {
            assert!(!text.is_empty() && !text.contains("  "), "{}: {text:?}", story.id);
        }
    }
    for trap in (1..=9).chain([11]).chain(12..=21).chain([24, 25, 26, 27, 28, 30]) {
        assert!(findings::story(&format!("T{trap}")).is_some(), "T{trap}");
    }
}

#[test]
fn stories_are_found_by_id_and_by_number() {
    assert_eq!(findings::story("page-cache").unwrap().trap, "T2");
    assert_eq!(findings::story("t2").unwrap().id, "page-cache");
    assert_eq!(findings::story("T99"), None);
}

#[test]
fn the_document_holds_them_all() {
    let text = findings::markdown();
    assert!(findings::catalogue().all(|story| text.contains(&format!("\n## {}\n", story.id))));
    assert_eq!(text.lines().filter(|line| line.starts_with("# ")).count(), 1);
}
