use std::cell::RefCell;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::*;

fn study(id: &str, started_ms: u64) -> Study {
    let mut study = Study::of_run(fsdyno_results::RunRecord::new("fio-3.42-test", started_ms));
    study.id = id.to_string();
    study
}

#[test]
fn what_is_kept_is_found_by_id_beginning_file_name_and_age() {
    let folder = tempfile::tempdir().unwrap();
    let opened = || Store::at(Some(&folder.path().join("new/store"))).unwrap();
    let store = opened();
    store.check_writable().unwrap();
    assert_eq!(opened().find("last").unwrap_err().next.as_deref(), Some("fsdyno measure ."));
    let path = store.save(&study("20261101-a", 1)).unwrap();
    store.save(&study("20261102-b", 2)).unwrap();
    store.set_baseline("good", "20261101-a").unwrap();
    for word in ["20261101-a", "20261101", path.to_str().unwrap(), "good"] {
        assert_eq!(store.find(word).unwrap().id, "20261101-a", "{word}");
    }
    assert_eq!(opened().find("last").unwrap().id, "20261102-b");
    fs::copy(&path, store.directory().join("copied.json")).unwrap();
    fs::remove_file(&path).unwrap();
    assert_eq!(opened().find("good").unwrap().id, "20261101-a", "a baseline whose file has another name");
    fs::rename(store.directory().join("copied.json"), &path).unwrap();
    assert!(store.find("202611").unwrap_err().what.contains("matches several runs: 20261101-a, 20261102-b"));
    assert!(store.find("x").unwrap_err().what.contains("no saved run x"));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!([mode(store.directory()), mode(&folder.path().join("new")), mode(&path)], [0o700, 0o700, 0o600]);
    assert_eq!(mode(&store.baselines_file()), 0o600);
    let left: Vec<_> = fs::read_dir(store.directory()).unwrap().collect();
    assert_eq!(left.len(), 3, "no draft and no probe is left");
}

#[test]
fn the_latest_of_a_question_is_the_latest_that_was_finished() {
    let folder = tempfile::tempdir().unwrap();
    let store = || Store::at(Some(folder.path())).unwrap();
    let here = &[String::new()][..];
    let latest = |question, paths, holds: fn(&Study) -> bool| {
        store().latest(question, paths, holds).map_or("none".to_owned(), |study| study.id)
    };
    assert_eq!(latest(Question::Compare, here, |_| true), "none");
    for (id, complete) in [("2026-compare-1", true), ("2027-compare-2", true), ("2028-compare-3", false)] {
        let mut study = study(id, 1);
        (study.question, study.complete) = (Question::Compare, complete);
        store().save(&study).unwrap();
    }
    fs::write(folder.path().join("2029-compare-4.json"), "{").unwrap();
    assert_eq!(latest(Question::Compare, here, |_| true), "2027-compare-2");
    assert_eq!(latest(Question::Compare, here, |study| study.id.starts_with("2026")), "2026-compare-1");
    assert_eq!(latest(Question::Measure, here, |_| true), "none");
    assert_eq!(latest(Question::Compare, &["/elsewhere".to_owned()], |_| true), "none");
}

/// The ids in a store, and the warnings.
fn listed(directory: &Path) -> (Vec<String>, Vec<String>) {
    thread_local!(static HEARD: RefCell<Vec<String>> = RefCell::default());
    let store = Store::at(Some(directory)).unwrap();
    let store = store.warning(|problem| HEARD.with(|heard| heard.borrow_mut().push(problem.what.clone())));
    let ids = store.digests().unwrap().iter().map(|study| study.id.clone()).collect();
    (ids, HEARD.take())
}

#[test]
fn runs_are_named_by_how_long_ago_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let store = || Store::at(Some(folder.path())).unwrap();
    (1..4).for_each(|number| drop(store().save(&study(&format!("run-{number}"), number)).unwrap()));
    let found = |word: &str| store().find(word).map(|study| study.id);
    assert_eq!(
        ["last", "last-0", "previous", "last-1", "last-2"].map(|word| found(word).unwrap()),
        ["run-3", "run-3", "run-2", "run-2", "run-1"]
    );
    assert!(found("last-3").unwrap_err().what.contains("fewer are saved"));
    assert!(found("last-x").unwrap_err().what.contains("no saved run last-x"));
}

#[test]
fn runs_alone_are_removed_and_no_baseline() {
    let folder = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    let store = || Store::at(Some(folder.path())).unwrap();
    (1..7).for_each(|number| drop(store().save(&study(&format!("run-{number}"), number)).unwrap()));
    fs::write(folder.path().join("notes.txt"), "mine").unwrap();
    fs::write(outside.path().join("run.json"), study("outside", 9).to_json()).unwrap();
    std::os::unix::fs::symlink(outside.path().join("run.json"), folder.path().join("run-9.json")).unwrap();
    store().set_baseline("good", "run-2").unwrap();
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let remove = |list: &[&str]| store().remove(&words(list));
    let outside_name = outside.path().join("run.json").display().to_string();
    for refused in [&["run-1", "run-2"][..], &["run-1", "no-such"], &[&outside_name], &["../run-1"], &["run-"]] {
        assert!(remove(refused).is_err(), "{refused:?}");
        assert!(folder.path().join("run-1.json").exists(), "{refused:?}: all or nothing");
    }
    assert!(remove(&["good"]).unwrap_err().what.contains("is the baseline good"));
    assert_eq!(remove(&["run-1", "last"]).unwrap(), ["run-1", "outside"]);
    assert!(outside.path().join("run.json").exists(), "the link alone was the store's");
    let none: Vec<String> = Vec::new();
    assert_eq!(store().keep(2).unwrap(), [words(&["run-3", "run-4"]), words(&["good"])]);
    let left: Vec<String> = store().digests().unwrap().iter().map(|study| study.id.clone()).collect();
    assert_eq!(left, ["run-2", "run-5", "run-6"]);
    assert!(folder.path().join("notes.txt").exists());
    assert_eq!(store().keep(9).unwrap(), [none.clone(), none]);
}

#[test]
fn an_odd_file_costs_one_warning_and_hides_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let store = Store::at(Some(folder.path())).unwrap();
    store.save(&study("good", 1)).unwrap();
    fs::write(path("bad.json"), "{").unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, path("fifo.json"), rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
    fs::File::create(path("large.json")).unwrap().set_len(3 << 30).unwrap();
    fs::create_dir(path("directory.json")).unwrap();
    for (target, name) in [("/dev/zero", "zero.json"), ("fifo.json", "to-fifo.json"), ("nothing", "to-nothing.json")] {
        std::os::unix::fs::symlink(target, path(name)).unwrap();
    }
    let odd = std::os::unix::ffi::OsStrExt::from_bytes(b"\xff.json");
    fs::write(folder.path().join::<&std::ffi::OsStr>(odd), study("unnamed", 2).to_json()).unwrap();
    let (ids, mut warnings) = listed(folder.path());
    assert_eq!(ids, ["good"]);
    warnings.sort();
    let of = |name: &str, reason: &str| {
        let of_file = |warning: &&String| warning.contains(&format!("/{name}: "));
        let warnings: Vec<&String> = warnings.iter().filter(of_file).collect();
        assert!(matches!(&warnings[..], [one] if one.contains(reason)), "{name}: {warnings:?}");
    };
    of("bad.json", "not a run record");
    of("large.json", "it holds more than 536870912 bytes");
    of("to-nothing.json", "No such file");
    of("\u{fffd}.json", "not valid UTF-8");
    of("directory.json", "it is a directory");
    for name in ["fifo.json", "zero.json", "to-fifo.json"] {
        of(name, "it is not a regular file");
        let problem = store.find(path(name).to_str().unwrap()).unwrap_err();
        assert!(problem.what.contains("it is not a regular file"), "{problem}");
    }
    assert_eq!(warnings.len(), 8);
    assert_eq!(store.find("good").unwrap().id, "good");
    assert_eq!(Store::at(Some(folder.path())).unwrap().find("last").unwrap().id, "good");
}

/// A store of `count` runs, each of some KiB.
fn of_many_runs(count: u64) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(Some(folder.path())).unwrap();
    for number in 0..count {
        let mut study = study(&format!("2026-measure-{number:05}"), number);
        study.sentences.push("x".repeat(4096));
        fs::write(store.path_of(&study.id), study.to_json()).unwrap();
    }
    folder
}

/// Writes an index in which each run has another id: a listed id then tells whether the index or the file was read.
fn forge_index(directory: &Path) {
    let mut entries = list::read(directory, |_| ()).unwrap();
    entries.iter_mut().for_each(|entry| entry.digest.id.insert_str(0, "from-index-"));
    index::Index::write(directory, &entries);
}

#[test]
fn a_list_reads_the_runs_that_its_index_lacks_and_no_others() {
    let folder = of_many_runs(600);
    let (ids, warnings) = listed(folder.path());
    assert_eq!((ids.len(), ids.is_sorted()), (600, true));
    assert!(matches!(&warnings[..], [one] if one.contains("reading 600 saved runs in ")), "{warnings:?}");
    forge_index(folder.path());
    let read = || listed(folder.path()).0.into_iter().filter(|id| !id.starts_with("from-index-")).collect::<Vec<_>>();
    assert_eq!(read(), [""; 0]);
    let store = Store::at(Some(folder.path())).unwrap();
    // The length and the clock tick are the same as before.
    for id in ["2026-measure-00300", "new"] {
        let mut run = study(id, 300);
        run.sentences.push("y".repeat(4096));
        store.save(&run).unwrap();
    }
    fs::remove_file(folder.path().join("2026-measure-00007.json")).unwrap();
    assert_eq!(read(), ["2026-measure-00300", "new"]);
    assert_eq!(listed(folder.path()).0.len(), 600);
    assert_eq!(store.find("last").unwrap().id, "2026-measure-00599");
}

#[test]
fn an_index_that_cannot_be_used_is_made_anew() {
    let folder = of_many_runs(300);
    let path = folder.path().join(".fsdyno-index");
    let truth = listed(folder.path()).0;
    let good = fs::read(&path).unwrap();
    let damage: [fn(&mut Vec<u8>); 6] = [
        |bytes| bytes.clear(),
        |bytes| bytes.truncate(bytes.len() / 2),
        |bytes| bytes[0] ^= 1,
        |bytes| *bytes.last_mut().unwrap() ^= 1,
        |bytes| {
            let middle = bytes.len() / 2;
            bytes[middle] ^= 0x40;
        },
        |bytes| bytes.push(0),
    ];
    for damage in damage {
        forge_index(folder.path());
        let mut bytes = fs::read(&path).unwrap();
        damage(&mut bytes);
        fs::write(&path, bytes).unwrap();
        assert_eq!(listed(folder.path()).0, truth);
        assert_eq!(fs::read(&path).unwrap(), good, "it was written anew");
    }
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert_eq!(listed(folder.path()), (truth, Vec::new()), "where none can be written, there is none");
}

#[test]
fn a_small_store_has_no_index() {
    let folder = of_many_runs(20);
    assert_eq!(listed(folder.path()).0.len(), 20);
    assert!(!folder.path().join(".fsdyno-index").exists());
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test may panic where there is no thread")]
fn programs_that_list_and_save_at_the_same_time_see_all_that_was_there() {
    let folder = of_many_runs(300);
    std::thread::scope(|scope| {
        for writer in 0..2 {
            let store = Store::at(Some(folder.path())).unwrap();
            scope.spawn(move || {
                for number in 0..20 {
                    store.save(&study(&format!("2027-{writer}-{number}"), 1000 + number)).unwrap();
                    fs::remove_file(store.directory().join(".fsdyno-index")).unwrap_or_default();
                }
            });
            scope.spawn(|| {
                for _ in 0..4 {
                    let (ids, warnings) = listed(folder.path());
                    assert!(ids.len() >= 300 && ids[..300].is_sorted() && warnings.is_empty(), "{warnings:?}");
                }
            });
        }
    });
    assert_eq!(listed(folder.path()).0.len(), 340);
}

#[test]
fn ids_sort_by_time() {
    let id = new_id(Question::Measure, 1_763_726_400_000);
    assert!(id.starts_with("20251121-120000-measure-"), "{id}");
    assert_eq!(id.len(), "20251121-120000-measure-ffff".len());
}

#[test]
fn a_next_step_can_be_typed_with_a_store_of_any_name() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(Some(&folder.path().join("my runs"))).unwrap();
    store.check_writable().unwrap();
    store.save(&study("20261101-a", 1)).unwrap();
    let next = store.find("nothing").unwrap_err().next.unwrap();
    assert!(next.contains(&format!("`fsdyno runs '--store={}/my runs'`", folder.path().display())), "{next}");
}
