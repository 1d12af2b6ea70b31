//! Merges a phase over several nodes. Each node makes the record of a run with one job from it, so that nodes are
//! merged and compared as in any other run.

use std::path::PathBuf;

use fsdyno_results::evidence::Storage;
use fsdyno_results::{
    Host, JobRecord, JobSetup, Latency, Node, PhaseConditions, PhaseRecord, RanksRecord, RunRecord, SurvivedErrors,
};
use serde::{Deserialize, Serialize};

use super::node_role::NodeRole;
use super::options::SmallFilesOptions;
use super::phases::{FileUse, SmallFilesPhase, named};
use super::suite::{PhaseResult, Suite};

/// The order to run a phase, as it is sent to the other nodes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PhaseOrder {
    /// The options of the question.
    pub options: SmallFilesOptions,
    /// The phase's name.
    phase: String,
}

impl PhaseOrder {
    /// Whether it is for files that were made with the same options.
    pub fn is_for(&self, suite: &Suite) -> bool {
        self.options == suite.options
    }

    /// The phase of this order; `None`: it comes from another version.
    pub fn phase(&self) -> Option<&'static SmallFilesPhase> {
        named(&self.phase)
    }
}

impl Suite {
    /// The order for a phase, for the other nodes.
    pub fn order(&self, phase: &SmallFilesPhase) -> PhaseOrder {
        PhaseOrder { options: self.options.clone(), phase: phase.pattern.to_owned() }
    }

    /// This machine, with the storage that the files are on.
    pub fn node(&self) -> Node {
        let storage: Storage = fsdyno_probe::storage_of(self.context.root.path());
        let host: Host = fsdyno_probe::host();
        Node { name: fsdyno_probe::host_name().unwrap_or_default(), host, storages: vec![storage], ..Node::default() }
    }

    /// The directory of a rank's files.
    fn directory_of(&self, owner: u32) -> PathBuf {
        let own = if self.is_shared() { PathBuf::new() } else { NodeRole::directory_of(owner) };
        self.place().join(own).join(self.root())
    }

    /// This node's part of a phase as the record of a run.
    pub fn as_run(&self, phase: &SmallFilesPhase, done: &PhaseResult, node: Node, version: &str) -> RunRecord {
        let PhaseRecord { operations, failures, error, bytes, elapsed_ns, cpu_ns, latency, cache, conditions, .. } =
            &done.record;
        let setup = JobSetup { engine: "smallfiles".to_owned(), clones: self.options.threads, ..JobSetup::default() };
        let mut job = JobRecord::new(phase.pattern, 1, setup);
        let moved = if phase.changes() { &mut job.directions.write } else { &mut job.directions.read };
        (moved.ios, moved.bytes, moved.lat) = (*operations, bytes.unwrap_or(0), latency.clone());
        moved.runtime_ms = elapsed_ns.div_ceil(1_000_000);
        job.job_runtime_ms = moved.runtime_ms * u64::from(self.options.threads);
        job.run_queue_wait_ns = conditions.as_ref().and_then(|seen| seen.run_queue_wait_ns);
        job.conditions = conditions.clone().map(Box::new);
        (job.user_ns, job.system_ns) = (cpu_ns.saturating_sub(done.system_ns), done.system_ns);
        if let Some(part) = &done.part {
            (job.sync.ios, job.sync.lat) = (part.moments.count, part.clone());
        }
        let first = error.as_ref().map_or(0, |error| error.code);
        job.survived_errors = Some(SurvivedErrors { total: *failures, first });
        job.error.clone_from(error);
        job.description.clone_from(cache);
        job.plan.files = vec![fsdyno_job::bytes::shown(&self.directory_of(self.role.owner(phase)))];
        (job.plan.file_count, job.plan.synchronous_engine) = (done.planned, true);
        // A phase that was cut short did less than planned.
        job.plan.runtime_ms = done.cut.then_some(u64::from(self.options.limit_s) * 1000);
        let now_ms = fsdyno_run::now_ms();
        let started_ms = now_ms.saturating_sub(moved_ms(&job));
        job.started_ms = Some(started_ms);
        let findings = done.findings.clone();
        let taken_ms = now_ms;
        let run = RunRecord::new(version, started_ms);
        RunRecord { taken_ms, complete: true, nodes: vec![node], jobs: vec![job], findings, ..run }
    }
}

fn moved_ms(job: &JobRecord) -> u64 {
    job.directions.read.runtime_ms.max(job.directions.write.runtime_ms)
}

impl PhaseResult {
    /// The sum over all nodes. The time runs from the first operation of any node to the last, as mdtest counts it.
    pub fn joined(self, phase: &SmallFilesPhase, mut run: RunRecord) -> PhaseResult {
        let mut all = PhaseResult { cut: false, planned: 0, part: None, run: None, ..self };
        let mut record = PhaseRecord { name: all.record.name, ..PhaseRecord::default() };
        let mut part = Latency::default();
        for job in &mut run.jobs {
            let moved = job.mixed();
            record.operations += moved.ios;
            record.failures += job.survived_errors.map_or(0, |errors| errors.total);
            record.error = record.error.or_else(|| job.error.clone());
            record.threads += job.setup.clones;
            record.latency.merge(&moved.lat);
            record.cpu_ns += job.user_ns + job.system_ns;
            if phase.moves_data {
                *record.bytes.get_or_insert_default() += moved.bytes;
            }
            part.merge(&std::mem::take(&mut job.sync).lat);
            all.cut |= job.plan.runtime_ms.is_some();
            all.planned += job.plan.file_count;
        }
        record.elapsed_ns = run.ranks_record.as_ref().map_or(0, elapsed_ns);
        record.cache = cache(&run.jobs);
        // The counters of its devices are in each node's own record.
        let run_queue_wait_ns = run.jobs.iter().map(|job| job.run_queue_wait_ns).sum();
        record.conditions = Some(PhaseConditions { run_queue_wait_ns, ..PhaseConditions::default() });
        run.findings.splice(0..0, fsdyno_findings::between_nodes(&run));
        all.findings.clone_from(&run.findings);
        all.part = phase.part.map(|_| part);
        (all.record, all.run) = (record, Some(run));
        all
    }
}

fn elapsed_ns(together: &RanksRecord) -> u64 {
    together.windows.first().map_or(0, fsdyno_results::ActiveWindow::whole_ns)
}

/// The state of the caches, with a remark where the nodes differ.
fn cache(jobs: &[JobRecord]) -> Option<String> {
    let first = jobs.first()?.description.clone()?;
    let same = jobs.iter().all(|job| job.description.as_ref() == Some(&first));
    Some(if same { first } else { format!("{first}; other nodes differ") })
}

impl SmallFilesPhase {
    /// Whether the phase makes, renames or removes names.
    fn changes(&self) -> bool {
        !matches!(self.acts, FileUse::Uses(_) | FileUse::Lists | FileUse::Searches)
    }
}
