//! Tests what each phase leaves behind, what is said when one fails, and that nothing remains.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use fsdyno_os::files::Directory;
use fsdyno_results::{Row, Verdict};
use fsdyno_run::Control;
use tempfile::TempDir;

use super::passes::phase_of;
use super::phases::{METADATA, READ, SmallFilesPhase, WRITE};
use super::*;
use crate::watch::{SilentWatcher, Step, Watcher};

/// Options with fewer files than the rule, and with a tree.
fn few() -> SmallFilesOptions {
    SmallFilesOptions { files: 50, depth: 2, threads: 3, limit_s: 60, ..SmallFilesOptions::default() }
}

/// Runs phases in a directory, one at a time.
struct Run<'a> {
    rows: Rows<'a>,
    suite: Suite,
    study_run: StudyRun<'a>,
}

impl<'a> Run<'a> {
    fn new(
        place: &Path,
        options: SmallFilesOptions,
        (watcher, nodes): &'a mut (SilentWatcher, ThisMachine),
    ) -> Run<'a> {
        let control = Arc::new(Control::default());
        let place = Place { name: "here".into(), path: place.to_path_buf() };
        let places = std::slice::from_ref(&place);
        let caller = Caller { version: "v", command: Vec::new(), control, watcher };
        let study_run = StudyRun::begin(Question::SmallFiles, places, caller);
        let held = Arc::new(Directory::open(&place.path).unwrap());
        let suite = Suite::new(&held, options, NodeRole::ALONE, &mut |_| ()).unwrap();
        Run { rows: Rows::new(0, nodes), suite, study_run }
    }

    fn phase(&mut self, phase: &'static SmallFilesPhase) -> Row {
        let index = self.rows.run(&mut self.study_run, &mut self.suite, phase).unwrap();
        self.study_run.study.rows[index].clone()
    }

    fn named(&mut self, pattern: &str) -> Row {
        let phase = METADATA.iter().find(|phase| phase.pattern == pattern).unwrap();
        self.phase(phase)
    }
}

/// `(operations, failures)` of a row that ran.
fn counts(row: &Row) -> (u64, u64) {
    let phase = row.phase.as_ref().unwrap_or_else(|| panic!("{} did not run", row.title));
    (phase.operations, phase.failures)
}

fn error(row: &Row) -> String {
    let error = row.phase.as_ref().unwrap().error.as_ref().unwrap();
    format!("{}: {}", error.function, error.text)
}

/// The names of all entries below a directory except the tree's directories, without their path.
fn names(root: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(root).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if name == "d0" || name == "d1" {
            names.extend(self::names(&entry.path()))
        } else {
            assert!(names.insert(name))
        }
    }
    names
}

fn expected(families: &[(&str, &str)]) -> BTreeSet<String> {
    let of_family = |(before, after): &(&str, &str)| {
        let (before, after) = (before.to_string(), after.to_string());
        (0..50).map(move |index| format!("{before}{index}{after}"))
    };
    families.iter().flat_map(of_family).collect()
}

#[test]
fn the_rules_files_are_written_and_read() {
    let (place, mut watcher) = (TempDir::new().unwrap(), (SilentWatcher, ThisMachine));
    let mut run = Run::new(place.path(), few(), &mut watcher);
    let write = run.phase(&WRITE);
    assert_eq!(counts(&write), (50, 0));
    assert_eq!(names(&place.path().join("files")), expected(&[("test", ".txt")]));
    // File 6 is in the third of four directories.
    assert_eq!(fs::read(place.path().join("files/d1/d0/test6.txt")).unwrap(), b"test\n");
    let phase = write.phase.unwrap();
    assert_eq!((phase.bytes, phase.threads, phase.latency.moments.count), (Some(250), 3, 50));
    assert_eq!(phase.latency.histogram.unwrap().count(), 50);
    let close = &run.study_run.study.rows[1];
    assert_eq!((close.pattern.as_str(), counts(close)), ("write-close", (50, 0)));
    let read = run.phase(&READ).phase.unwrap();
    assert_eq!((read.operations, read.bytes, read.failures), (50, Some(250), 0));
}

#[test]
fn larger_files_have_their_size_and_no_pattern() {
    let (place, mut watcher) = (TempDir::new().unwrap(), (SilentWatcher, ThisMachine));
    let size_bytes = (1 << 20) + 4321;
    let options = SmallFilesOptions { files: 2, size_bytes, ..SmallFilesOptions::default() };
    let mut run = Run::new(place.path(), options, &mut watcher);
    assert_eq!(counts(&run.phase(&WRITE)), (2, 0));
    assert_eq!(counts(&run.phase(&READ)), (2, 0));
    let bytes = fs::read(place.path().join("files/test1.txt")).unwrap();
    assert_eq!(bytes.len() as u64, size_bytes);
    let different: BTreeSet<&[u8]> = bytes[8..1 << 20].chunks_exact(8).collect();
    assert!(different.len() > 100_000, "{} different words", different.len());
}

#[test]
fn each_phase_does_what_its_name_says() {
    let (place, mut watcher) = (TempDir::new().unwrap(), (SilentWatcher, ThisMachine));
    let root = place.path().join("files");
    let mut run = Run::new(place.path(), few(), &mut watcher);
    run.phase(&WRITE);
    let mut there = vec![("test", ".txt")];
    let mut step = |pattern: &str, gone: Option<&'static str>, new: Option<&'static str>| {
        assert_eq!(counts(&run.named(pattern)), (50, 0), "{pattern}");
        there.retain(|(before, _)| gone != Some(before));
        there.extend(new.map(|before| (before, "")));
        assert_eq!(names(&root), expected(&there), "{pattern}");
    };
    step("stat-hot", None, None);
    step("create", None, Some("empty"));
    step("rename", Some("empty"), Some("moved"));
    step("fsync-file", None, Some("synced"));
    step("fsync-directory", None, Some("entered"));
    step("mkdir", None, Some("directory"));
    assert!(root.join("d0/d1/directory1").is_dir());
    step("rmdir", Some("directory"), None);
    step("symlink", None, Some("link"));
    assert_eq!(fs::read_link(root.join("d0/d1/link1")).unwrap(), Path::new("test1.txt"));
    step("readlink", None, None);
    step("unlink", Some("test"), None);
    let listing = run.named("readdir");
    assert_eq!(counts(&listing), (100, 0));
    // 50 names of each of four families in four directories.
    assert_eq!(listing.title, "readdir, 52 names");
    let parts: Vec<&str> =
        run.study_run.study.rows.iter().map(|row| row.pattern.as_str()).filter(|name| name.contains("only")).collect();
    assert_eq!(parts, ["fsync-file-only", "fsync-directory-only"]);
    // 50 operations are few, and a part of a phase has the findings of the whole.
    judge_passes(&mut run.study_run.study);
    let findings = |name: &str| &run.study_run.study.rows.iter().find(|row| row.pattern == name).unwrap().findings;
    assert_eq!(findings("fsync-file-only"), findings("fsync-file"));
    assert!(findings("fsync-file").iter().any(|finding| finding.job.as_deref() == Some("fsync-file")));
}

#[test]
fn an_operation_that_fails_is_counted_with_its_first_error_and_the_others_go_on() {
    let (place, mut watcher) = (TempDir::new().unwrap(), (SilentWatcher, ThisMachine));
    let root = place.path().join("files");
    let mut run = Run::new(place.path(), few(), &mut watcher);
    run.phase(&WRITE);
    fs::remove_file(root.join("d0/d1/test1.txt")).unwrap();
    fs::write(root.join("d1/d0/test2.txt"), b"tes").unwrap();
    let stat = run.named("stat-hot");
    assert_eq!(counts(&stat), (48, 2));
    let read = run.phase(&READ);
    assert_eq!(counts(&read), (48, 2));
    let errors = [error(&stat), error(&read)];
    let missing = ["stat: No such file or directory", "open: No such file or directory"];
    let short = ["stat: the file has 3 bytes instead of 5", "read: the file has 3 bytes instead of 5"];
    for (index, error) in errors.iter().enumerate() {
        assert!(error == missing[index] || error == short[index], "{error}");
    }
    let listing = run.named("readdir");
    assert_eq!(counts(&listing), (75, 25));
    assert_eq!(error(&listing), "readdir: the listing has 12 names instead of 13");
    assert_eq!(counts(&run.named("unlink")), (49, 1));
}

#[test]
fn a_phase_without_anything_to_work_on_says_so() {
    let (place, mut watcher) = (TempDir::new().unwrap(), (SilentWatcher, ThisMachine));
    let mut run = Run::new(place.path(), SmallFilesOptions { depth: 0, ..few() }, &mut watcher);
    fs::remove_dir(place.path().join("files")).unwrap();
    let link = run.named("symlink");
    assert_eq!((counts(&link), error(&link)), ((0, 50), "symlink: No such file or directory".to_string()));
    assert_eq!(run.named("readlink").phase, None);
    let note = &run.study_run.study.notes[0];
    assert!(note.text.contains("readlink did not run"), "{note:?}");
}

#[test]
fn a_phase_ends_at_its_limit_and_the_rule_does_not() {
    let place = TempDir::new().unwrap();
    let study = asked(place.path(), &SmallFilesOptions { limit_s: 0, ..few() }, &mut SilentWatcher);
    let ran = |pattern: &str| phase_of(&study, pattern).map(|phase| phase.operations);
    assert_eq!((ran("write"), ran("read"), ran("create")), (Some(50), Some(50), None));
    let note = study.notes.iter().find(|note| note.id == "phase-cut").unwrap();
    assert!(note.text.contains("create after 0 of 50"), "{note:?}");
    assert!(study.complete);
}

fn asked(path: &Path, options: &SmallFilesOptions, watcher: &mut dyn Watcher) -> Study {
    with_control(path, options, Arc::new(Control::default()), watcher)
}

fn with_control(path: &Path, options: &SmallFilesOptions, control: Arc<Control>, watcher: &mut dyn Watcher) -> Study {
    let place = Place { name: "here".into(), path: path.to_path_buf() };
    smallfiles(&place, options, &mut ThisMachine, Caller { version: "v", command: Vec::new(), control, watcher })
        .unwrap()
}

#[test]
fn the_published_rule_is_judged_and_nothing_stays() {
    let place = TempDir::new().unwrap();
    let study = asked(
        place.path(),
        // The phases of the rule have no time limit; the others, which the rule says nothing about, end at once.
        &SmallFilesOptions { limit_s: 0, ..SmallFilesOptions::default() },
        &mut SilentWatcher,
    );
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    let judged: Vec<(&str, bool)> =
        study.verdicts.iter().map(|row| (row.requirement.id.as_str(), row.measured.is_some())).collect();
    assert_eq!(judged, [("write-elapsed", true), ("read-elapsed", true)]);
    for verdict in &study.verdicts {
        let row = &study.rows[verdict.rows[0]];
        assert_eq!(counts(row), (1001, 0), "{}", row.pattern);
    }
}

#[test]
fn other_files_are_not_held_against_the_rule() {
    let place = TempDir::new().unwrap();
    let study = asked(place.path(), &few(), &mut SilentWatcher);
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0, "no phase leaves anything");
    let verdicts: Vec<Verdict> = study.verdicts.iter().map(|row| row.verdict).collect();
    assert_eq!(verdicts, [Verdict::NotApplicable; 2]);
    assert!(study.verdicts[0].reason.contains("the rule is for 1,001 files"), "{:?}", study.verdicts);
    assert!(study.rows.iter().all(|row| row.command.is_empty()));
}

/// Stops the study when a step begins.
struct Stopper {
    control: Arc<Control>,
    at: &'static str,
}

impl Watcher for Stopper {
    fn begin(&mut self, step: &Step) {
        if step.title == self.at {
            self.control.stop();
        }
    }
}

#[test]
fn a_stopped_study_keeps_what_it_found_and_leaves_nothing() {
    let place = TempDir::new().unwrap();
    let control = Arc::new(Control::default());
    let mut stopper = Stopper { control: Arc::clone(&control), at: "create" };
    let study = with_control(place.path(), &few(), control, &mut stopper);
    assert!(!study.complete);
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    assert_eq!(phase_of(&study, "write").map(|phase| phase.operations), Some(50));
    let last = study.rows.last().unwrap();
    assert_eq!((last.pattern.as_str(), &last.phase), ("create", &None));
    assert!(study.notes.is_empty(), "{:?}", study.notes);
}

/// Stops the study at the first news of a phase, a tenth of a second after it began.
struct StopsAtFirstPhase(Arc<Control>);

impl Watcher for StopsAtFirstPhase {
    fn progress(&mut self, _step: &Step, _figures: &crate::watch::LiveFigures) {
        self.0.stop();
    }
}

#[test]
fn a_phase_is_stopped_between_two_operations() {
    let place = TempDir::new().unwrap();
    let control = Arc::new(Control::default());
    let mut impatient = StopsAtFirstPhase(Arc::clone(&control));
    // No machine makes this number of files in the time limit.
    let options = SmallFilesOptions { files: 200_000, ..SmallFilesOptions::default() };
    let study = with_control(place.path(), &options, control, &mut impatient);
    let write = phase_of(&study, "write").unwrap();
    assert!(write.operations < 200_000 && write.failures == 0, "{}", write.operations);
    assert_eq!((study.complete, fs::read_dir(place.path()).unwrap().count()), (false, 0));
}

#[test]
fn a_rule_that_was_stopped_is_not_judged() {
    let place = TempDir::new().unwrap();
    let control = Arc::new(Control::default());
    let mut stopper = Stopper { control: Arc::clone(&control), at: "read" };
    let study = with_control(place.path(), &SmallFilesOptions::default(), control, &mut stopper);
    let verdicts: Vec<&str> = study.verdicts.iter().map(|row| row.requirement.id.as_str()).collect();
    assert_eq!(verdicts, ["write-elapsed"]);
}
