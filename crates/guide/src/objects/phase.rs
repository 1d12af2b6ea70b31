//! A phase of requests for whole objects of a bucket.

use std::ffi::CString;
use std::sync::Arc;

use fsdyno_results::{Finding, PhaseRecord};
use fsdyno_run::metadata::operations::Item;
use fsdyno_run::metadata::phase_counters::PhaseCounters;
use fsdyno_run::metadata::{Task, perform};
use fsdyno_stats::sort;

use super::answers::{self, Tallies};
use super::calls::on_objects;
use super::keys::KeySet;
use super::work::ObjectWork;
use crate::Problem;
use crate::smallfiles::WholeFile;
use crate::smallfiles::relay::Relay;
use crate::study::StudyRun;
use crate::watch::Step;
use crate::work_directory::reason;

/// What is done with the objects, or files, of a set.
pub(super) struct Test {
    pub(super) pattern: &'static str,
    pub(super) title: &'static str,
    pub(super) act: WholeFile,
    /// The number of its set of keys.
    pub(super) set: usize,
}

/// How much is done at once, and for how long.
#[derive(Clone, Copy)]
pub(super) struct Pace {
    pub(super) threads: u32,
    pub(super) limit_s: u32,
}

/// What a phase does.
pub(super) struct ObjectPhase<'a> {
    pub(super) work: &'a ObjectWork,
    pub(super) keys: &'a KeySet,
    /// The numbers of the objects that are there.
    pub(super) there: &'a [u32],
    pub(super) test: &'a Test,
    /// The number of requests: the objects take turns.
    pub(super) requests: u64,
}

/// What a phase did.
pub(super) struct Ended {
    pub(super) record: PhaseRecord,
    /// The numbers of the objects that it was done with, sorted.
    pub(super) done: Vec<u32>,
    pub(super) findings: Vec<Finding>,
}

impl ObjectPhase<'_> {
    /// Runs it.
    pub(super) fn run(
        &self,
        study_run: &mut StudyRun<'_>,
        pace: Pace,
        (counters, step): (&mut PhaseCounters, &Step),
    ) -> Result<Ended, Problem> {
        let Test { pattern, title, act, .. } = *self.test;
        let tallies = Tallies::default();
        let task = Task {
            title: title.to_owned(),
            prepare: on_objects(&self.work.bucket.store, act, self.keys.block_bytes, &tallies),
            has_part: false,
            threads: pace.threads,
            items: self.items(),
            limit_ns: Some(u64::from(pace.limit_s) * 1_000_000_000),
            wears_out: false,
            more_ns: 0,
            control: Arc::clone(&study_run.control),
        };
        let glance = counters.look();
        let mut outcome = perform(task, &mut Relay { step, watcher: &mut *study_run.watcher }).map_err(|error| {
            Problem::new(format!("cannot start a thread: {}", reason(&error))).with_next("ask for fewer --connections")
        })?;
        let conditions = counters.since(&glance, outcome.waited_ns);
        let moves_data = matches!(act, WholeFile::Write | WholeFile::Read | WholeFile::ReadAgain);
        let record = outcome.record(pattern, pace.threads, moves_data.then_some(self.keys.block_bytes));
        let record = PhaseRecord { conditions: Some(conditions), ..record };
        sort::by(&mut outcome.done, Ord::cmp);
        let findings = answers::findings(&tallies, &record, (act, self.keys.block_bytes), &study_run.study);
        Ok(Ended { record, done: outcome.done, findings })
    }

    fn items(&self) -> Vec<Item> {
        let folder = &self.work.folder;
        let item = |index: u32, name: String, expected: u64| {
            Some(Item { index, name: CString::new(name).ok()?, other: None, expected })
        };
        let object =
            |index: u32| item(index, format!("{folder}{}", self.keys.key(u64::from(index))), self.keys.block_bytes);
        let requests = u32::try_from(self.requests).unwrap_or(u32::MAX);
        match self.test.act {
            WholeFile::Write => (0..requests).filter_map(object).collect(),
            WholeFile::List => {
                let before = format!("{folder}{}_", self.keys.name);
                (0..requests).filter_map(|index| item(index, before.clone(), self.there.len() as u64)).collect()
            }
            _ => self.there.iter().cycle().take(requests as usize).filter_map(|index| object(*index)).collect(),
        }
    }
}
