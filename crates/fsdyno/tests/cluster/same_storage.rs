//! Tests that ranks are on one storage because one sees what the other has made, whatever their mounts are called.

use std::process::Command;

use fsdyno_results::{RunRecord, Study};
use testkit::{RunResult, Running, TestDirectory, is_root, word};

use crate::launcher::{launcher, program};
use crate::one_record::record;

/// Runs two ranks in mounts of their own; `other` is done for rank 1 alone.
#[track_caller]
fn ran(place: &TestDirectory, other: &str, words: &str) -> Option<RunResult> {
    let program = program()?;
    if !is_root("a mount for each rank") {
        return None;
    }
    let script =
        format!("[ ${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}} = 0 ] || {{ {other}; }}; exec {} {words}", word(program));
    let mut command: Command = launcher(&place.path(""), 2);
    command.args(["unshare", "--mount", "--uts", "sh", "-ec", &script]);
    Some(Running::start(&mut command).finish())
}

const LINE: &str = "--name=a --rw=write --size=1m --bs=64k --directory=data --record=run.json";

/// Whether each rank saw what the first one had made.
fn seen(record: &RunRecord) -> Vec<Option<bool>> {
    let parts = record.nodes.iter().filter_map(|node| node.part.as_ref());
    let mut seen: Vec<_> = parts.map(|part| (part.rank, part.sees_first)).collect();
    seen.sort_unstable();
    seen.into_iter().map(|(_, seen)| seen).collect()
}

/// Mounts an overlay over the ranks' directory: it shows that, and keeps elsewhere what is written.
const OVERLAY: &str = "mount -t tmpfs none other; mkdir other/u other/w; \
                       mount -t overlay -o lowerdir=data,upperdir=other/u,workdir=other/w none data";

#[test]
fn one_directory_by_two_mounts_is_one_storage() {
    let place = TestDirectory::with(&["data", "other"]);
    let Some(ran) = ran(&place, "mount --bind data data", LINE) else { return };
    ran.good();
    let record = record(&place);
    assert_eq!(seen(&record), [Some(true); 2]);
    let ids: Vec<_> = record.nodes.iter().map(|node| node.storages[0].filesystem_id.clone()).collect();
    assert_eq!(ids[0], ids[1]);
    let notes: Vec<&str> = record.notes.iter().map(|note| note.id.as_str()).collect();
    assert!(!notes.contains(&"own-storages"), "{notes:?}");
    assert_eq!(place.names("data").len(), 2, "the files of the ranks alone: {:?}", place.names("data"));
}

#[test]
fn another_directory_is_refused_with_rank_host_and_mount() {
    let place = TestDirectory::with(&["data", "other"]);
    let Some(refused) = ran(&place, "mount --bind other data", LINE) else { return };
    assert_ne!(refused.status, Some(0));
    let error = record(&place).jobs[0].error.clone().expect("it did not run").text;
    for text in [&refused.stderr, &error] {
        let said = text.contains("rank 1 on ") && text.contains("does not see the file that rank 0 has made: ");
        assert!(said && text.contains(&format!(" at {} there, ", place.path("data").display())), "{text}");
    }
    assert_eq!((place.names("data"), place.names("other")), (Vec::new(), Vec::new()));

    let words = "scale data --nodes 1,2 --size=4m --runtime=1 --quiet --json --no-store";
    let refused = ran(&place, "mount --bind other data", words).expect("it ran before");
    assert_ne!(refused.status, Some(0));
    let headline = refused.document()["summary"]["headline"].as_str().expect("a headline").to_owned();
    let here = format!(" at {}: mount the storage", place.path("data").display());
    let said = ["nothing was measured", "rank 1 on ", "which rank 0 has made", &here];
    assert!(said.iter().all(|part| headline.contains(part)), "{headline}");
    assert_eq!((place.names("data"), place.names("other")), (Vec::new(), Vec::new()));
}

#[test]
fn a_layer_that_shows_the_storage_and_writes_elsewhere_is_refused() {
    let place = TestDirectory::with(&["data", "other"]);
    let Some(refused) = ran(&place, OVERLAY, LINE) else { return };
    assert_ne!(refused.status, Some(0));
    assert!(refused.stderr.contains("the ranks are not on the same filesystem: "), "{}", refused.stderr);
    assert!(refused.stderr.contains(" has overlay from none at "), "{}", refused.stderr);
    let words = "scale data --nodes 1,2 --size=4m --runtime=1 --quiet --json --no-store";
    let refused = ran(&place, OVERLAY, words).expect("it ran before");
    let study: Study = refused.study();
    assert!(refused.status != Some(0) && !study.rows.is_empty(), "{}", refused.stderr);
    assert!(refused.stdout.contains(" has overlay from none at "), "{}", refused.stdout);
    assert_eq!(place.names("data"), [""; 0]);
}

#[test]
fn machines_may_have_disks_of_their_own() {
    let place = TestDirectory::with(&["data", "other"]);
    let Some(ran) = ran(&place, "hostname other; mount --bind other data", LINE) else { return };
    ran.good();
    let record = record(&place);
    assert_eq!(seen(&record), [Some(true), Some(false)]);
    let note = record.notes.iter().find(|note| note.id == "own-storages").expect("a note");
    assert!(note.text.contains("rank 1 on other does not see the file that rank 0 has made: "), "{}", note.text);
    assert_eq!((place.names("data").len(), place.names("other").len()), (1, 1));
}

#[test]
fn a_run_that_only_reads_makes_no_file_and_compares_what_it_reads() {
    let place = TestDirectory::with(&["data", "other"]);
    place.write("data/file", vec![7; 1 << 20]);
    let words = "--name=a --rw=read --filename=data/file --readonly --record=run.json";
    let Some(ran) = ran(&place, "chmod 555 data", words) else { return };
    ran.good();
    assert_eq!(seen(&record(&place)), [Some(true); 2]);
    assert_eq!(place.names("data"), ["file"]);
}
