//! T31: the directory of a question is removed while the question is asked.

use std::path::Path;

use fsdyno_results::{Severity, Study};
use testkit::{TestDirectory, pause};

/// Asks, with `meanwhile` done again and again to the directory of the question; the study as it was kept.
fn measured(meanwhile: impl Fn(&Path)) -> Study {
    let place = TestDirectory::with(&["data"]);
    let mut running = place.start("measure --quick --size=16m --store store data");
    while !running.is_over() {
        place.names("data").iter().for_each(|name| meanwhile(&place.path("data").join(name)));
        pause(10);
    }
    place.studies("store").remove(0)
}

#[test]
fn a_removed_directory_is_caught() {
    let lost = measured(|work| {
        if work.join("measure.dat").exists() {
            let _ = std::fs::remove_dir_all(work);
        }
    });
    let last = lost.rows.last().unwrap();
    let found = last.findings.iter().find(|finding| finding.id == "directory-lost");
    assert_eq!(found.map(|finding| finding.severity), Some(Severity::Invalid), "{:?}", last.findings);
    assert!(!lost.complete);
}

#[test]
fn a_directory_that_is_looked_at_is_not() {
    let whole = measured(|work| drop(std::fs::read_dir(work).map(Iterator::count)));
    assert!(whole.complete);
    assert!(whole.rows.iter().flat_map(|row| &row.findings).all(|finding| finding.id != "directory-lost"));
}
