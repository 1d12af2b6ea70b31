//! What the answers of a store say of requests that no engine makes: the same findings as of a job's.

use std::sync::{Arc, Mutex, PoisonError};

use fsdyno_engine::ObjectTally;
use fsdyno_job::Access;
use fsdyno_results::{Finding, JobRecord, JobSetup, Node, PhaseRecord, RunRecord, Study};

use crate::smallfiles::WholeFile;

/// The counts of the workers of a phase, each left here as its worker ends.
pub(super) type Tallies = Arc<Mutex<Vec<ObjectTally>>>;

/// The findings of a phase that ended. `object_bytes`: the size of what one request reads or writes.
pub(super) fn findings(
    tallies: &Tallies,
    record: &PhaseRecord,
    (act, object_bytes): (WholeFile, u64),
    study: &Study,
) -> Vec<Finding> {
    let tallies = std::mem::take(&mut *tallies.lock().unwrap_or_else(PoisonError::into_inner));
    let workers = tallies.len().max(1) as u64;
    let mut run = RunRecord { nodes: vec![Node::default()], ..RunRecord::default() };
    for tally in &tallies {
        let mut setup = JobSetup { engine: "http".to_owned(), ..JobSetup::default() };
        let reads = matches!(act, WholeFile::Read | WholeFile::ReadAgain);
        let writes = act == WholeFile::Write;
        setup.access = Access { random: false, reads, writes, trims: !reads && !writes };
        setup.block_sizes.read = (object_bytes, object_bytes);
        let mut job = JobRecord::new(&record.name, 1, setup);
        let direction = if writes { &mut job.directions.write } else { &mut job.directions.read };
        (direction.ios, direction.runtime_ms) = (record.operations / workers, record.elapsed_ns / 1_000_000);
        direction.bytes = record.bytes.unwrap_or(0) / workers;
        job.job_runtime_ms = record.elapsed_ns / 1_000_000;
        job.user_ns = record.cpu_ns / workers;
        let waited_ns = record.conditions.as_ref().and_then(|conditions| conditions.run_queue_wait_ns);
        job.run_queue_wait_ns = waited_ns.map(|waited_ns| waited_ns / workers);
        job.object = Some(Box::new(fsdyno_run::object_record(tally)));
        run.jobs.push(job);
    }
    let mut found = fsdyno_findings::of_answers(&run);
    crate::advice::advise(&mut found, study);
    found
}
