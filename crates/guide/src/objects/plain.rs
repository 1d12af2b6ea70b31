//! Requests of a check that no job makes: HEAD, DELETE and LIST, on objects of their own.

use fsdyno_results::Row;
use fsdyno_run::metadata::phase_counters::PhaseCounters;

use super::keys::KeySet;
use super::phase::{ObjectPhase, Pace, Test};
use super::work::ObjectWork;
use crate::Problem;
use crate::object_check::{AskedObjects, PlainRequests, PlainVerb};
use crate::smallfiles::WholeFile;
use crate::study::StudyRun;

/// The most seconds of the requests of a run, and again of the writes before them.
const LIMIT_S: u32 = 60;

fn name(asked: &PlainRequests) -> String {
    format!("q{}x{}", asked.objects, asked.object_bytes)
}

/// The keys that these requests are about.
pub(super) fn key_sets(asked: &AskedObjects) -> impl Iterator<Item = KeySet> {
    let set = |asked: &PlainRequests| KeySet {
        name: name(asked),
        block_bytes: asked.object_bytes,
        count: asked.objects.into(),
    };
    asked.plain.iter().map(set)
}

/// Makes the requests of a run, and adds its row; objects that are missing are written before. Returns the row's index.
pub(super) fn run(
    study_run: &mut StudyRun<'_>,
    work: &ObjectWork,
    asked: &PlainRequests,
    mut row: Row,
) -> Result<usize, Problem> {
    let Some(keys) = work.keys.iter().find(|keys| keys.name == name(asked)) else {
        return Err(Problem::new("internal error: requests without their keys"));
    };
    let there: Vec<u32> = (0..asked.objects).collect();
    let (mut counters, step) = (PhaseCounters::begin(None), study_run.begin_step(0, &row.title));
    let pace = Pace { threads: asked.connections, limit_s: LIMIT_S };
    let mut perform = |act, requests: u32| {
        let test = Test { pattern: PlainRequests::PHASE, title: PlainRequests::PHASE, act, set: 0 };
        let phase = ObjectPhase { work, keys, there: &there, test: &test, requests: requests.into() };
        phase.run(study_run, pace, (&mut counters, &step))
    };
    let mut ended = None;
    if row.round == 0 || asked.verb == PlainVerb::Delete {
        ended = Some(perform(WholeFile::Write, asked.objects)?).filter(|writes| writes.record.failures > 0);
    }
    let act = match asked.verb {
        PlainVerb::Head => WholeFile::Stat { asks_anew: true },
        PlainVerb::Delete => WholeFile::Remove,
        PlainVerb::List => WholeFile::List,
    };
    let ended = ended.map_or_else(|| perform(act, asked.requests), Ok)?;
    (row.phase, row.findings) = (Some(ended.record), ended.findings);
    study_run.end_step(&step, row);
    Ok(study_run.study.rows.len() - 1)
}
