//! Tests of engines that transfer no data: operations on names, and the space of files.

use std::path::{Path, PathBuf};

use fsdyno_engine::{Engine, EngineSetup, EngineVisitor, Names, OPERATION, Slots, with_engine};
use fsdyno_job::{Direction, EngineName, StatCall};
use fsdyno_os::errno::{EEXIST, EINVAL, ENOENT};
use fsdyno_workload::{Op, OpKind};

use super::bench::{BLOCK, BLOCKS, Spec, TestFile, Worker, op};

/// Makes requests: a digit is the number of the file, `|` begins a new pass. Returns for each request whether it has an
/// operation's time, or its errno.
struct Requests<'a>(&'a str);

#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Operation,
    Nothing,
    Error(i32),
}

use Outcome::{Error, Nothing, Operation};

impl EngineVisitor for Requests<'_> {
    type Output = Vec<Outcome>;

    fn visit<E: Engine>(self, engine: E, slots: Slots<E>) -> Vec<Outcome> {
        assert!(E::SYNCHRONOUS);
        let mut worker = Worker::new(engine, slots, 1);
        let mut outcomes = Vec::new();
        for word in self.0.chars() {
            if word == '|' {
                worker.engine.begin_pass();
                continue;
            }
            let request = Op { file: word.to_digit(10).unwrap(), ..op(OpKind::Write, 0) };
            outcomes.push(match (worker.perform(&request, 0), worker.engine.operation()) {
                (OPERATION, Some((direction, _))) => {
                    assert_eq!(direction, Direction::Write);
                    Operation
                }
                (OPERATION, None) => Nothing,
                (result, _) => Error(i32::try_from(-result).unwrap()),
            });
        }
        assert_eq!(worker.perform(&op(OpKind::Sync, 0), 0), 0, "a name has nothing to sync");
        outcomes
    }
}

struct TwoFiles {
    directory: tempfile::TempDir,
    paths: [PathBuf; 2],
}

impl TwoFiles {
    fn new() -> TwoFiles {
        let directory = tempfile::tempdir().unwrap();
        let paths = ["one", "two"].map(|name| directory.path().join(name));
        TwoFiles { directory, paths }
    }

    fn with_files() -> TwoFiles {
        let place = TwoFiles::new();
        place.paths.iter().for_each(|path| std::fs::write(path, "content").unwrap());
        place
    }

    fn run(&self, name: EngineName, requests: &str) -> Vec<Outcome> {
        self.run_with(&Spec::new(name, 1), requests)
    }

    fn run_with(&self, spec: &Spec, requests: &str) -> Vec<Outcome> {
        let nothing = TestFile::new(false).unwrap();
        let paths: Vec<&Path> = self.paths.iter().map(PathBuf::as_path).collect();
        let names = Names { paths, counted_as: Direction::Write };
        with_engine(&EngineSetup { files: &[], names, ..nothing.setup(spec) }, Requests(requests)).unwrap()
    }

    fn left(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.directory.path()).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

#[test]
fn files_are_created_once_a_pass_and_keep_what_they_hold() {
    let place = TwoFiles::new();
    std::fs::write(&place.paths[1], "held").unwrap();
    assert_eq!(place.run(EngineName::Filecreate, "0011|0"), [Operation, Nothing, Operation, Nothing, Operation]);
    assert_eq!(std::fs::metadata(&place.paths[0]).unwrap().len(), 0);
    assert_eq!(std::fs::read(&place.paths[1]).unwrap(), b"held");
}

#[test]
fn files_are_looked_up_by_every_call() {
    for stat in [StatCall::Stat, StatCall::Lstat, StatCall::Statx] {
        let spec = Spec::new(EngineName::Filestat, 1).with(|options| options.stat = stat);
        assert_eq!(TwoFiles::with_files().run_with(&spec, "01|1"), [Operation, Operation, Operation]);
        assert_eq!(TwoFiles::new().run_with(&spec, "00"), [Error(ENOENT), Error(ENOENT)]);
    }
}

#[test]
fn files_are_deleted_once() {
    let place = TwoFiles::with_files();
    assert_eq!(place.run(EngineName::Filedelete, "00|0"), [Operation, Nothing, Error(ENOENT)]);
    assert_eq!(place.left(), ["two"]);
}

#[test]
fn files_are_renamed_there_and_back_and_replace_nothing() {
    let place = TwoFiles::with_files();
    assert_eq!(place.run(EngineName::Filerename, "01"), [Operation, Operation]);
    assert_eq!(place.left(), ["one.renamed", "two.renamed"]);
    let place = TwoFiles::with_files();
    assert_eq!(place.run(EngineName::Filerename, "0|0"), [Operation, Operation]);
    assert_eq!(place.left(), ["one", "two"]);
    std::fs::write(place.directory.path().join("one.renamed"), "of somebody").unwrap();
    assert_eq!(place.run(EngineName::Filerename, "0"), [Error(EEXIST)]);
    assert_eq!(std::fs::read(place.directory.path().join("one.renamed")).unwrap(), b"of somebody");
}

#[test]
fn directories_are_made_looked_up_and_removed() {
    let place = TwoFiles::new();
    assert_eq!(place.run(EngineName::Dircreate, "01|0"), [Operation, Operation, Error(EEXIST)]);
    assert_eq!(place.left(), ["one", "two"]);
    std::fs::remove_dir(&place.paths[0]).unwrap();
    assert_eq!(place.run(EngineName::Dirstat, "01"), [Operation, Operation]);
    assert_eq!(place.left(), ["one", "two"], "it makes what is missing");
    assert_eq!(place.run(EngineName::Dirdelete, "0"), [Operation]);
    assert_eq!(place.left(), ["two"]);
    std::fs::write(place.paths[1].join("held"), "content").unwrap();
    assert!(matches!(place.run(EngineName::Dirdelete, "1")[..], [Error(_)]), "a directory with content stays");
    assert!(place.paths[1].join("held").exists());
}

/// A request, whose result in bytes is returned.
struct Change<'a>(&'a Op);

impl EngineVisitor for Change<'_> {
    type Output = i64;

    fn visit<E: Engine>(self, engine: E, slots: Slots<E>) -> i64 {
        Worker::new(engine, slots, 1).perform(self.0, 0)
    }
}

fn change(name: EngineName, request: &Op) -> (i64, Vec<u8>) {
    let ground = TestFile::new(false).unwrap();
    let result = ground.with(&Spec::new(name, 1), Change(request)).unwrap();
    (result, std::fs::read(&ground.path).unwrap())
}

#[test]
fn space_is_reserved_punched_and_cut() {
    let whole = TestFile::new(false).unwrap();
    let before = std::fs::read(&whole.path).unwrap();
    let bytes = BLOCK as i64;
    let behind = op(OpKind::Read, BLOCKS + 4);
    assert_eq!(change(EngineName::Falloc, &behind), (bytes, before.clone()), "space after the end was reserved");
    let (result, grown) = change(EngineName::Falloc, &Op { kind: OpKind::Write, ..behind });
    assert_eq!((result, grown.len() as u64), (bytes, (BLOCKS + 5) * BLOCK));
    assert!(grown.starts_with(&before));
    let (result, punched) = change(EngineName::Falloc, &op(OpKind::Trim, 2));
    assert_eq!((result, punched.len()), (bytes, before.len()));
    assert!(punched[2 * BLOCK as usize..3 * BLOCK as usize].iter().all(|byte| *byte == 0));
    let (result, cut) = change(EngineName::Ftruncate, &op(OpKind::Write, 3));
    assert_eq!((result, cut), (bytes, before[..3 * BLOCK as usize].to_vec()));
}

/// Exchanges the first two blocks of the file with those of the donor. Returns the results, and the file's content.
fn exchange(ground: &TestFile, donor: &Path, in_place: bool) -> Result<([i64; 3], Vec<u8>), String> {
    struct Exchanges;
    impl EngineVisitor for Exchanges {
        type Output = [i64; 3];
        fn visit<E: Engine>(self, engine: E, slots: Slots<E>) -> [i64; 3] {
            let mut worker = Worker::new(engine, slots, 1);
            // The second time the blocks are in the page cache.
            [op(OpKind::Write, 0), op(OpKind::Write, 0), op(OpKind::Read, 0)].map(|op| worker.perform(&op, 0))
        }
    }
    let spec = Spec::new(EngineName::E4defrag, 1).with(|options| {
        options.donor.name = donor.to_str().unwrap().to_owned();
        options.donor.in_place = in_place;
        options.used_range = (0, BLOCKS * BLOCK);
    });
    let setup = ground.setup(&spec);
    let results = with_engine(&setup, Exchanges).map_err(|error| error.to_string())?;
    Ok((results, std::fs::read(&ground.path).unwrap()))
}

#[test]
fn blocks_are_exchanged_with_a_donor_and_the_content_stays() {
    const EXT4: i64 = 0xef53;
    for in_place in [false, true] {
        let ground = TestFile::new(false).unwrap();
        if rustix::fs::statfs(&ground.path).unwrap().f_type as i64 != EXT4 {
            return testkit::skip("the test's directory is not on ext4");
        }
        let before = std::fs::read(&ground.path).unwrap();
        let donor = ground.path.with_file_name("donor");
        let (results, after) = exchange(&ground, &donor, in_place).unwrap();
        let bytes = BLOCK as i64;
        assert_eq!(results, [bytes, bytes, -i64::from(EINVAL)], "reads exchange nothing");
        assert!(before == after, "the file keeps its content");
        let donor_bytes = std::fs::metadata(&donor).unwrap().len();
        assert_eq!(donor_bytes, if in_place { 0 } else { BLOCKS * BLOCK });
    }
}

#[test]
fn a_donor_that_is_the_file_itself_or_no_file_is_refused() {
    let ground = TestFile::new(false).unwrap();
    let before = std::fs::read(&ground.path).unwrap();
    let link = ground.path.with_file_name("link");
    std::os::unix::fs::symlink(&ground.path, &link).unwrap();
    for donor in [&*ground.path, &*link, Path::new("/dev/null")] {
        let refused = exchange(&ground, donor, true).unwrap_err();
        assert!(refused.contains("donorname"), "{refused}");
    }
    assert!(std::fs::read(&ground.path).unwrap() == before);
}

#[test]
fn memory_of_page_fault_keeps_what_was_written_and_ends() {
    struct Copies;
    impl EngineVisitor for Copies {
        type Output = ();
        fn visit<E: Engine>(self, engine: E, slots: Slots<E>) {
            let mut worker = Worker::new(engine, slots, 1);
            let mut perform = |fill: u8, op: &Op| {
                let slot = worker.slots.take().unwrap();
                worker.engine.buffer(&slot).fill(fill);
                let (slot, result) = worker.perform_in(slot, op, 0);
                let first = worker.engine.buffer(&slot)[0];
                worker.slots.put_back(slot);
                (result, first)
            };
            let bytes = BLOCK as i64;
            assert_eq!(perform(7, &op(OpKind::Read, 1)), (bytes, 0), "nobody wrote there");
            assert_eq!(perform(7, &op(OpKind::Write, 1)), (bytes, 7));
            assert_eq!(perform(0, &op(OpKind::Read, 1)), (bytes, 7));
            assert_eq!(perform(3, &op(OpKind::Sync, 0)), (0, 3));
            for beyond in [op(OpKind::Write, 2), op(OpKind::Read, 9), op(OpKind::Trim, 0)] {
                assert_eq!(perform(3, &beyond), (-i64::from(EINVAL), 3), "{beyond:?}");
            }
        }
    }
    let ground = TestFile::new(false).unwrap();
    let spec = Spec::new(EngineName::PageFault, 16).with(|options| options.used_range = (0, 2 * BLOCK));
    ground.with(&spec, Copies).unwrap();
}

#[test]
fn a_file_that_takes_no_splice_leaves_the_pipe_empty() {
    let ground = TestFile::new(false).unwrap();
    let spec = Spec::new(EngineName::Splice, 1);
    struct Twice;
    impl EngineVisitor for Twice {
        type Output = ();
        fn visit<E: Engine>(self, engine: E, slots: Slots<E>) {
            let mut worker = Worker::new(engine, slots, 1);
            let slot = worker.slots.take().unwrap();
            worker.engine.buffer(&slot).fill(0xaa);
            let (slot, result) = worker.perform_in(slot, &Op { file: 1, ..op(OpKind::Write, 0) }, 0);
            assert!(result < 0, "opened for reading alone");
            worker.engine.buffer(&slot).fill(0x55);
            let (slot, result) = worker.perform_in(slot, &op(OpKind::Write, 0), 0);
            assert_eq!(result, BLOCK as i64);
            worker.slots.put_back(slot);
        }
    }
    ground.with(&spec, Twice).unwrap();
    let content = std::fs::read(&ground.path).unwrap();
    assert!(content[..BLOCK as usize].iter().all(|byte| *byte == 0x55), "no byte of the failed write");
}
