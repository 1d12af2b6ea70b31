//! A place of a question about whole objects: a bucket with objects, or a directory with files of the same number and
//! sizes.

use fsdyno_results::{Finding, PhaseRecord};
use fsdyno_run::metadata::phase_counters::PhaseCounters;
use fsdyno_stats::sort;

use super::keys::KeySet;
use super::phase::{Ended, ObjectPhase, Pace, Test};
use super::server::Store;
use super::work::{Bucket, ObjectWork};
use crate::Problem;
use crate::smallfiles::{NodeRole, SmallFilesOptions, Suite, WholeFile, of_whole_files};
use crate::study::{Place, StudyRun};
use crate::watch::Step;
use crate::work_directory::{SpaceNeeds, WorkDirectory};

/// Objects, or files, of one size.
pub(super) struct Set {
    pub(super) name: &'static str,
    pub(super) object_bytes: u64,
    pub(super) count: u32,
}

/// In the order in which they are used.
pub(super) const SETS: [Set; 2] =
    [Set { name: "k4", object_bytes: 4 << 10, count: 256 }, Set { name: "m1", object_bytes: 1 << 20, count: 32 }];

/// Number of lists of a test that lists.
pub(super) const LISTINGS: u32 = 32;

const fn test(pattern: &'static str, title: &'static str, act: WholeFile, set: usize) -> Test {
    Test { pattern, title, act, set }
}

/// In the order in which they run: what is read was written before.
pub(super) const TESTS: [Test; 7] = [
    test("write-4k", "write 4 KiB whole (PUT; open, write, fsync, close)", WholeFile::Write, 0),
    test("read-4k", "read 4 KiB whole (GET; open, read, close)", WholeFile::Read, 0),
    test("stat-4k", "attributes (HEAD; stat)", WholeFile::Stat { asks_anew: false }, 0),
    test("list", "list of 256 names (LIST; readdir)", WholeFile::List, 0),
    test("remove-4k", "remove (DELETE; unlink)", WholeFile::Remove, 0),
    test("write-1m", "write 1 MiB whole (PUT; open, write, fsync, close)", WholeFile::Write, 1),
    test("read-1m", "read 1 MiB whole (GET; open, read, close)", WholeFile::Read, 1),
];

/// The tests of what a mount adds, in this order. The second read finds what the first one left in caches.
pub(super) const TESTS_OF_MOUNT: [Test; 6] = [
    test("write-4k", "write 4 KiB whole (PUT; open, write, fsync, close)", WholeFile::Write, 0),
    test("read-4k", "read 4 KiB whole (GET; open, read, close)", WholeFile::Read, 0),
    test("again-4k", "read 4 KiB again (GET; open, read, close)", WholeFile::ReadAgain, 0),
    test("write-1m", "write 1 MiB whole (PUT; open, write, fsync, close)", WholeFile::Write, 1),
    test("read-1m", "read 1 MiB whole (GET; open, read, close)", WholeFile::Read, 1),
    test("again-1m", "read 1 MiB again (GET; open, read, close)", WholeFile::ReadAgain, 1),
];

/// The lists of the keys that a run may write.
pub(super) fn key_sets() -> Vec<KeySet> {
    let set =
        |set: &Set| KeySet { name: set.name.to_owned(), block_bytes: set.object_bytes, count: u64::from(set.count) };
    SETS.iter().map(set).collect()
}

/// A place with what the question has there.
pub(super) struct Site {
    way: Way,
    counters: Option<PhaseCounters>,
    pace: Pace,
    /// Why keys may not be listed, once the server was asked.
    list_refusal: Option<Option<String>>,
}

enum Way {
    Files {
        work: WorkDirectory,
        /// The files of the present set, with its number.
        suite: Option<(usize, Box<Suite>)>,
    },
    Objects {
        work: Box<ObjectWork>,
        /// The numbers of the objects of each set that are there.
        there: [Vec<u32>; SETS.len()],
    },
}

/// A finished test.
pub(super) struct Done {
    pub(super) record: PhaseRecord,
    pub(super) findings: Vec<Finding>,
}

impl Site {
    /// Makes a work directory, or writes the marker in a bucket.
    pub(super) fn open(
        study_run: &mut StudyRun<'_>,
        place: &Place,
        expected: Option<&str>,
        (pace, keeps): (Pace, bool),
    ) -> Result<Site, Problem> {
        study_run.watcher.looks(&place.path);
        if !place.is_object_store() {
            let bytes = SETS.iter().map(|set| set.object_bytes * u64::from(set.count)).sum();
            let work = WorkDirectory::open(&place.path, expected, SpaceNeeds::bytes(bytes), &study_run.control)?;
            return Ok(Site { way: Way::Files { work, suite: None }, counters: None, pace, list_refusal: None });
        }
        let bucket = Bucket::connect(Store::of(place, study_run.control.bounds())?)?;
        let (work, unseen) = ObjectWork::open(bucket, key_sets(), keeps)?;
        study_run.watcher.looked();
        if let Some(unseen) = unseen {
            study_run.note("bucket-unseen", fsdyno_results::Severity::Info, unseen);
        }
        let way = Way::Objects { work: Box::new(work), there: Default::default() };
        Ok(Site { way, counters: Some(PhaseCounters::begin(None)), pace, list_refusal: None })
    }

    /// The directory that must still be there.
    pub(super) fn check(&self) -> Result<(), Problem> {
        if let Way::Files { work, .. } = &self.way { work.check() } else { Ok(()) }
    }

    /// Why the place does not allow a test; `None`: it does.
    pub(super) fn refusal(&mut self, test: &Test) -> Result<Option<String>, Problem> {
        let Way::Objects { work, .. } = &mut self.way else { return Ok(None) };
        if test.act != WholeFile::List {
            return Ok(None);
        }
        if self.list_refusal.is_none() {
            self.list_refusal = Some(work.bucket.refuses_lists()?);
        }
        Ok(self.list_refusal.clone().flatten())
    }

    /// Runs a test. One that uses what is not there writes it before, outside the test.
    pub(super) fn run(&mut self, study_run: &mut StudyRun<'_>, test: &Test, step: &Step) -> Result<Done, Problem> {
        if !self.has_objects(study_run, test)? {
            let write = TESTS.iter().find(|other| other.set == test.set && other.act == WholeFile::Write);
            if let Some(write) = write {
                self.perform(study_run, write, step)?;
            }
        }
        self.perform(study_run, test, step)
    }

    /// Whether the test can begin; a test that writes begins with nothing.
    fn has_objects(&mut self, study_run: &mut StudyRun<'_>, test: &Test) -> Result<bool, Problem> {
        let writes = test.act == WholeFile::Write;
        let (work, suite) = match &mut self.way {
            Way::Objects { there, .. } => return Ok(writes || !there[test.set].is_empty()),
            Way::Files { work, suite } => (work, suite),
        };
        if writes || suite.as_ref().is_none_or(|(set, _)| *set != test.set) {
            let counters = suite.take().map(|(_, suite)| suite.into_counters());
            let is_first = counters.is_none();
            study_run.empty(work)?;
            let set = &SETS[test.set];
            let options = SmallFilesOptions {
                files: set.count,
                size_bytes: set.object_bytes,
                threads: self.pace.threads,
                limit_s: self.pace.limit_s,
                ..SmallFilesOptions::default()
            };
            let next = &mut |path: &std::path::Path| study_run.watcher.looks(path);
            let mut made = Suite::new(work.open_directory(), options, NodeRole::ALONE, next)?.with_counters(counters);
            if is_first {
                made.watch_others(&study_run.control);
            }
            *suite = Some((test.set, Box::new(made)));
            return Ok(writes);
        }
        let phase = of_whole_files(test.pattern, test.act);
        Ok(suite.as_ref().is_some_and(|(_, suite)| suite.has_work(&phase)))
    }

    fn perform(&mut self, study_run: &mut StudyRun<'_>, test: &Test, step: &Step) -> Result<Done, Problem> {
        let pace = self.pace;
        match &mut self.way {
            Way::Files { suite: Some((_, suite)), .. } => {
                let act = match test.act {
                    WholeFile::Stat { .. } => WholeFile::Stat { asks_anew: suite.asks_anew() },
                    act => act,
                };
                let phase = of_whole_files(test.pattern, act);
                let done = suite.perform(&phase, &study_run.control, step, &mut *study_run.watcher)?;
                Ok(Done { record: done.record, findings: done.findings })
            }
            Way::Files { suite: None, .. } => Err(Problem::new("internal error: a test without its files")),
            Way::Objects { work, there } => {
                let counters = self.counters.get_or_insert_with(|| PhaseCounters::begin(None));
                let (keys, there) = (&work.keys[test.set], &mut there[test.set]);
                let requests = match test.act {
                    WholeFile::Write => keys.count,
                    WholeFile::List => u64::from(LISTINGS),
                    _ => there.len() as u64,
                };
                let phase = ObjectPhase { work, keys, there, test, requests };
                let Ended { record, done, findings } = phase.run(study_run, pace, (counters, step))?;
                match test.act {
                    // An earlier round may have written more of them.
                    WholeFile::Write => {
                        there.extend(done);
                        sort::by(there, Ord::cmp);
                        there.dedup();
                    }
                    WholeFile::Remove => there.retain(|index| done.binary_search(index).is_err()),
                    WholeFile::Read | WholeFile::ReadAgain | WholeFile::Stat { .. } | WholeFile::List => {}
                }
                Ok(Done { record, findings })
            }
        }
    }

    /// Removes all that the question has made.
    pub(super) fn close(self, study_run: &mut StudyRun<'_>) {
        match self.way {
            Way::Files { work, suite } => {
                drop(suite);
                study_run.remove_work_directory(work);
            }
            Way::Objects { work, .. } => work.close_in(study_run),
        }
    }
}
