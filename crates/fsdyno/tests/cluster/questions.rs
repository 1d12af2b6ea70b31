//! Tests questions to all ranks: small files and comparisons.

use fsdyno_results::{ActiveWindow, Latency, Node, Row, RunRecord, Study};
use testkit::{TestDirectory, wait_until};

use crate::launcher::{agent_and_worker, command, launcher, program, ran, runs, signal};
use crate::one_record::on_own_filesystems;

/// What a question has left in a directory.
pub(crate) fn left(place: &TestDirectory) -> Vec<String> {
    place.names("").into_iter().filter(|name| name.starts_with("fsdyno-work")).collect()
}

#[track_caller]
pub(crate) fn row<'s>(study: &'s Study, pattern: &str) -> &'s Row {
    study.rows.iter().find(|row| row.pattern == pattern).unwrap_or_else(|| panic!("no {pattern}"))
}

#[track_caller]
pub(crate) fn run(row: &Row) -> &RunRecord {
    row.run.as_ref().unwrap_or_else(|| panic!("{} ran on one", row.pattern))
}

fn window(run: &RunRecord) -> ActiveWindow {
    run.ranks_record.as_ref().expect("they ran together").windows[0]
}

/// Where each rank had the files of a row, without the part before the question's directory.
fn places(row: &Row) -> Vec<String> {
    let run = run(row);
    let rank = |node: &Node| node.part.as_ref().map(|part| part.rank);
    let mut places: Vec<_> =
        run.jobs.iter().map(|job| (rank(&run.nodes[job.node]), job.plan.files[0].clone())).collect();
    places.sort();
    let below =
        |path: String| path.split_once("fsdyno-work-").and_then(|(_, path)| Some(path.split_once('/')?.1.to_owned()));
    places.into_iter().filter_map(|(_, path)| below(path)).collect()
}

#[test]
fn small_files_of_all_ranks_add_up_phase_after_phase() {
    let place = TestDirectory::new();
    let words = "smallfiles . --files-per-dir=10 --depth=1 --branch=4 --quiet --json --no-store";
    let Some(ran) = ran(&place.path(""), 3, words) else { return };
    let study: Study = ran.good().study();
    let mut ended_ms = 0;
    for row in study.rows.iter().filter(|row| row.run.is_some()) {
        let (phase, run) = (row.phase.as_ref().expect("a phase"), run(row));
        assert_eq!((run.nodes.len(), run.jobs.len()), (3, 3), "{}", row.pattern);
        if phase.operations == 0 {
            continue;
        }
        let of_each: Vec<_> = run.jobs.iter().map(fsdyno_results::JobRecord::mixed).collect();
        assert_eq!(of_each.iter().map(|job| job.ios).sum::<u64>(), phase.operations, "{}", row.pattern);
        let mut latency = Latency::default();
        of_each.iter().for_each(|job| latency.merge(&job.lat));
        assert_eq!(latency, phase.latency, "{}", row.pattern);
        let window = window(run);
        assert_eq!((window.ranks, window.whole_ns()), (3, phase.elapsed_ns), "{}", row.pattern);
        assert!(run.started_ms >= ended_ms, "{} began before the last phase was over", row.pattern);
        ended_ms = run.taken_ms;
    }
    for pattern in ["write", "read", "stat-hot", "create", "rename", "mkdir", "unlink", "write-close"] {
        let phase = row(&study, pattern).phase.as_ref().expect("a phase");
        assert_eq!((phase.operations, phase.failures, phase.threads), (120, 0, 3), "{pattern}");
    }
    assert_eq!(row(&study, "write").phase.as_ref().and_then(|phase| phase.bytes), Some(600));
    assert_eq!(row(&study, "readdir").phase.as_ref().map(|phase| phase.operations), Some(300));
    assert_eq!(places(row(&study, "create")), ["files", "rank-1/files", "rank-2/files"]);
    assert!(
        study.sentences[0].starts_with("3 nodes together, each in a directory of its own"),
        "{:?}",
        study.sentences
    );
    assert_eq!(left(&place), [""; 0]);
}

#[test]
fn with_shift_small_files_are_read_by_another_rank() {
    let place = TestDirectory::new();
    let words = "--shift smallfiles . --files=10 --quiet --json --no-store";
    let Some(ran) = ran(&place.path(""), 3, words) else { return };
    let study: Study = ran.good().study();
    let of = |pattern: &str| {
        (places(row(&study, pattern)), row(&study, pattern).phase.as_ref().map(|phase| phase.operations))
    };
    assert_eq!(of("write"), (vec!["files".into(), "rank-1/files".into(), "rank-2/files".into()], Some(30)));
    assert_eq!(of("read"), (vec!["rank-1/files".into(), "rank-2/files".into(), "files".into()], Some(30)));
}

#[test]
fn ranks_may_share_a_directory_of_small_files() {
    let place = TestDirectory::new();
    let words = "--shift smallfiles . --files=10 --shared --quiet --json --no-store";
    let Some(ran) = ran(&place.path(""), 3, words) else { return };
    let study: Study = ran.good().study();
    for pattern in ["write", "read", "create", "symlink", "readlink", "unlink"] {
        let phase = row(&study, pattern).phase.as_ref().expect("a phase");
        assert_eq!((phase.operations, phase.failures), (30, 0), "{pattern}");
        assert_eq!(places(row(&study, pattern)), ["shared"; 3], "{pattern}");
    }
    assert_eq!(row(&study, "readdir").title, "readdir, 60 names");
    assert!(study.sentences[0].starts_with("3 nodes together, in one directory"), "{:?}", study.sentences);
    assert_eq!(left(&place), [""; 0]);
}

#[test]
fn places_are_compared_from_all_ranks() {
    let place = TestDirectory::with(&["one", "two"]);
    let words = "compare a=one b=two --rounds=2 --runtime=1 --size=1m --only=write,randread --quiet --json --no-store";
    let Some(ran) = ran(&place.path(""), 2, words) else { return };
    let study: Study = ran.good().study();
    let turns: Vec<(u32, usize)> =
        study.rows.iter().filter(|row| row.pattern == "write").map(|row| (row.round, row.target)).collect();
    assert_eq!(turns, [(0, 0), (0, 1), (1, 1), (1, 0)]);
    for row in &study.rows {
        let run = run(row);
        let together = run.ranks_record.as_ref().expect("they ran together");
        assert_eq!((run.nodes.len(), together.ranks, together.missing.len()), (2, 2, 0));
        let bytes: u64 = run.jobs.iter().map(|job| job.mixed().bytes).sum();
        assert_eq!(row.figures().map(|figures| figures.total.bytes), Some(bytes), "the sum of both");
    }
    assert_eq!((place.names("one").len(), place.names("two").len()), (0, 0));
}

/// Starts a long small-files question on three ranks, and waits until each rank has some files.
#[track_caller]
fn begun(place: &TestDirectory) -> Option<(testkit::Running, Vec<u32>)> {
    let words = "smallfiles . --files=100000 --store=kept";
    let running = testkit::Running::start(&mut command(&place.path(""), 3, program()?, words));
    let workers = (0..3).map(|rank| agent_and_worker(running.id(), rank).1).collect();
    wait_until("files of the last rank", || {
        let Some(work) = left(place).pop() else { return false };
        std::fs::read_dir(place.path(&work).join("rank-2/files")).is_ok_and(|mut names| names.next().is_some())
    });
    Some((running, workers))
}

#[test]
fn small_files_leave_nothing_after_a_signal() {
    let place = TestDirectory::new();
    let Some((running, workers)) = begun(&place) else { return };
    signal(running.id(), "INT");
    let ran = running.finish();
    assert_ne!(ran.status, Some(0));
    wait_until("end of the workers", || workers.iter().all(|process| !runs(*process)));
    assert_eq!(left(&place), [""; 0]);
    assert!(!place.names("kept").is_empty(), "a record is kept");
}

#[test]
fn small_files_of_a_rank_that_is_killed_are_removed_by_the_others() {
    let place = TestDirectory::new();
    let Some((running, workers)) = begun(&place) else { return };
    signal(workers[1], "KILL");
    testkit::pause(500);
    signal(workers[0], "TERM");
    let ran = running.finish();
    assert_ne!(ran.status, Some(0));
    wait_until("end of the workers", || workers.iter().all(|process| !runs(*process)));
    assert_eq!(left(&place), [""; 0]);
    let study =
        std::fs::read_to_string(place.path("kept").join(place.names("kept").last().expect("a record"))).unwrap();
    let study = Study::from_json(&study).unwrap();
    let missing = run(row(&study, "write")).ranks_record.as_ref().map(|together| together.missing.clone());
    assert!(missing.is_some_and(|missing| missing.len() == 1 && missing[0].rank == 1), "{:?}", study.rows.len());
}

#[test]
fn small_files_of_the_others_go_when_the_first_rank_is_lost() {
    let place = TestDirectory::new();
    let Some((running, workers)) = begun(&place) else { return };
    signal(workers[0], "KILL");
    let ran = running.finish();
    assert_ne!(ran.status, Some(0));
    wait_until("end of the workers", || workers.iter().all(|process| !runs(*process)));
    // Its directory is left for `fsdyno clean`, and contains only its own files.
    let work = left(&place).pop().expect("a directory");
    assert_eq!(place.names(&work).into_iter().filter(|name| name.starts_with("rank-")).collect::<Vec<_>>(), [""; 0]);
}

/// The rank cannot open the question's directory, which is on the storage of the others.
#[test]
fn a_rank_with_another_mount_is_named_in_the_answer() {
    let place = TestDirectory::new();
    let words = "measure data --quick --only=seq-write --size=4m --no-store --json";
    let Some(ran) = on_own_filesystems(&place, "tmpfs", [0, 8, 0], words) else { return };
    assert_ne!(ran.status, Some(0));
    let document = ran.document();
    let summary = &document["summary"];
    for said in [&summary["headline"], &summary["tests"][0]["error"]] {
        let said = said.as_str().unwrap();
        assert!(said.contains("rank 1 on ") && said.contains("No such file or directory"), "{said}");
        assert!(!said.contains("Input/output error"), "{said}");
    }
    assert!(!ran.stderr.contains("Input/output error"), "{}", ran.stderr);
    assert_eq!(left(&place), [""; 0]);
}

/// Every form of the answer says which rank failed, and why; its phase is invalid.
#[test]
fn a_rank_that_cannot_write_its_small_files_is_named_in_each_form() {
    let Some(program) = program() else { return };
    let place = TestDirectory::new();
    // The second rank's files can hold no byte.
    let script = format!(
        "[ ${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}} = 1 ] && trap '' XFSZ && ulimit -f 0; exec {} smallfiles . --files=10 \
         --limit=1 --quiet --json",
        testkit::word(program)
    );
    let mut command = launcher(&place.path(""), 3);
    command.args(["sh", "-c", &script]);
    let ran = testkit::Running::start(&mut command).finish();
    let document = ran.document();
    let summary = &document["summary"];
    let test = summary["tests"].as_array().unwrap().iter().find(|test| test["name"] == "write").unwrap();
    assert_eq!((&test["trust"], &summary["trust"]["trust"]), (&"invalid".into(), &"invalid".into()));
    for said in [&summary["headline"], &test["error"]] {
        let said = said.as_str().unwrap();
        assert!(said.contains("rank 1 on ") && said.contains("File too large"), "{said}");
    }
    let shown = place.run("show last --wide --store home/fsdyno").stdout;
    let write = shown.lines().find(|line| line.starts_with("write ")).unwrap_or_else(|| panic!("{shown}"));
    assert!(write.ends_with("invalid"), "{write}");
    let unbroken = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(unbroken.contains("tests failed: write, the first of them, with rank 1 on "), "{shown}");
    assert_eq!(left(&place), [""; 0]);
}

/// What each rank of a row has done.
pub(crate) fn of_each_rank(row: &Row) -> Vec<u64> {
    run(row).jobs.iter().map(|job| job.mixed().ios).collect()
}

#[test]
fn ranks_use_one_file_in_segments() {
    let place = TestDirectory::new();
    let words = "--shift scale . --nodes=1,3 --shared --rw=write,read --bs=47008 --block=94016 --size=2m --runtime=1 \
                 --wear-out --quiet --json --no-store";
    let Some(ran) = ran(&place.path(""), 3, words) else { return };
    let study: Study = ran.good().study();
    assert!(study.rows.iter().all(|row| row.first_error().is_none()), "{:?}", study.rows);
    let fill = run(&study.rows[0]);
    // 22 blocks of two requests each.
    assert!(fill.jobs.iter().all(|job| job.directions.write.bytes == 22 * 94_016), "{:?}", study.rows[0]);
    let of_three = study.rows.iter().filter(|row| row.pattern.ends_with("-n3"));
    for ranks in of_three.map(of_each_rank) {
        assert!(ranks[0] > 0 && ranks == [ranks[0]; 3], "{ranks:?}");
    }
    assert_eq!(left(&place), [""; 0]);
}
