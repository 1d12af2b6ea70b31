//! The nodes of a run, and the merging of records of several nodes.

use std::cmp::Reverse;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::evidence::{Ledger, Moment, Storage};
use crate::ranks::{ActiveWindow, MissingRank, RankRecord, RanksRecord};
use crate::record::{DiskRecord, Host, JobError, JobRecord, Note, RunRecord};
use crate::severity::Severity;
use crate::studies::Finding;
use fsdyno_stats::{Histogram, sort};

/// One machine of a run, with its evidence.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Node {
    /// The machine's name; empty: it has none. Notes and findings name nodes by it.
    pub name: String,
    /// Machine and clock.
    pub host: Host,
    /// The storages of its jobs' files; jobs refer to them by index.
    pub storages: Vec<Storage>,
    /// Block devices behind those files.
    pub disks: Vec<DiskRecord>,
    /// The byte ledger of the run; `None`: no ledger was taken.
    pub ledger: Option<Ledger>,
    /// How idle its processors were (`--idle-prof`); `None`: not asked for, or not visible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idleness: Option<CpuIdleness>,
    /// Its rank in a run of several ranks; `None`: it ran alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<RankRecord>,
}

impl Node {
    /// The machine's name. Several ranks on one machine are nodes with the names `machine:0`, `machine:1`.
    pub fn machine(&self) -> &str {
        let numbered = self.name.rsplit_once(':').filter(|(_, rank)| rank.parse::<u32>().is_ok());
        numbered.filter(|_| self.part.is_some()).map_or(&self.name, |(machine, _)| machine)
    }

    /// The text before an error: `rank 1 on b: `.
    pub fn rank_before_error(&self) -> String {
        self.part
            .as_ref()
            .map_or_else(|| format!("{}: ", self.name), |part| format!("rank {} on {}: ", part.rank, self.name))
    }
}

/// How idle the processors of a machine were during a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuIdleness {
    /// Idle time of all processors together, percent of the run.
    pub system_percent: f64,
    /// Idle time of each online processor, in the order of their numbers; empty unless asked for.
    pub processors: Vec<f64>,
    /// Time of a small piece of work before the run, mean of some repetitions, us.
    pub unit_us_mean: f64,
    /// Standard deviation of this time, us.
    pub unit_us_deviation: f64,
}

/// With more nodes than this, the values of each second are left out, because they are most of a record.
const SERIES_NODES_MAX: usize = 256;

/// Id of the note that they were left out.
const NO_SERIES: &str = "series-left-out";

fn is_of_series(note: &Note) -> bool {
    note.id == NO_SERIES
}

/// Why two records cannot be merged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// The records have different formats.
    #[error("one record has format {0}, the other {1}")]
    Schema(u32, u32),
    /// Different versions wrote the records.
    #[error("one record is of {0}, the other of {1}")]
    Version(String, String),
    /// Both records have a node of the same name.
    #[error("both records have a node with the name {0:?}")]
    Node(String),
    /// The record is damaged.
    #[error("the job {0} names a node that its record does not have")]
    Job(String),
}

/// The function in the error of ranks that cannot run together. All ranks have this error; its text names the rank.
pub const RANKS_APART: &str = "ranks";

impl RunRecord {
    /// The rank on which a job failed, to be written before its error: `rank 1 on b: `. Empty for a run on one
    /// machine.
    pub fn rank_before_error(&self, job: &JobRecord) -> String {
        let is_of_all = job.error.as_ref().is_some_and(|error| error.function == RANKS_APART);
        let node = self.nodes.get(job.node).filter(|_| self.nodes.len() > 1 && !is_of_all);
        node.map(Node::rank_before_error).unwrap_or_default()
    }

    /// The error of the first job that failed, with its rank if there were several.
    pub fn first_error(&self) -> Option<(String, &JobError)> {
        let job = self.jobs.iter().find(|job| job.error.is_some())?;
        Some((self.rank_before_error(job), job.error.as_ref()?))
    }

    /// The node of a run on one machine. `None`: it ran on several.
    pub fn only_node(&self) -> Option<&Node> {
        match &self.nodes[..] {
            [node] => Some(node),
            _ => None,
        }
    }

    /// The storages of the files, of all nodes.
    pub fn storages(&self) -> impl Iterator<Item = &Storage> {
        self.nodes.iter().flat_map(|node| &node.storages)
    }

    /// Makes the record of one machine the record of one of `ranks` ranks, to be merged with the others.
    pub fn take_part(&mut self, part: RankRecord, ranks: u32) {
        let windows = part.spans.iter().map(ActiveWindow::of).collect();
        self.ranks_record = Some(RanksRecord { ranks, missing: Vec::new(), windows });
        if let [Node { part: own, .. }] = &mut self.nodes[..] {
            *own = Some(part);
        }
    }

    /// Adds ranks without results: then the record is not complete.
    pub fn lacks(&mut self, missing: Vec<MissingRank>) {
        let together = self.ranks_record.get_or_insert_default();
        together.merge(RanksRecord { missing, ..RanksRecord::default() });
        self.complete = false;
    }

    /// The ranks without results.
    pub fn missing_ranks(&self) -> &[MissingRank] {
        self.ranks_record.as_ref().map_or(&[], |together| &together.missing)
    }

    /// The machines that ranks ran on. Several ranks of one machine share its name up to the last colon.
    pub fn machines(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.nodes.iter().map(Node::machine).collect();
        fsdyno_stats::sort::by(&mut names, Ord::cmp);
        names.dedup();
        names
    }

    /// Merges records of different nodes into one. The order of merging makes no difference: nodes are ordered by
    /// name; jobs by report group, then node, then their order before; notes by node; findings by severity, then
    /// node.
    ///
    /// Facts that the records do not share are dropped from the run: the command line; and options that were given
    /// for all jobs become options of each job.
    ///
    /// # Errors
    /// If different programs wrote the records, or if two nodes have the same name.
    pub fn merge(self, other: RunRecord) -> Result<RunRecord, MergeError> {
        self.merge_all(vec![other])
    }

    /// Merges many records, with the cost of one sorting.
    ///
    /// # Errors
    /// See [`RunRecord::merge`].
    pub fn merge_all(mut self, others: Vec<RunRecord>) -> Result<RunRecord, MergeError> {
        self.fits(&others)?;
        if others.iter().any(|other| other.command != self.command) {
            self.command.clear();
        }
        let options_differ = others.iter().any(|other| other.global_options != self.global_options);
        self.prepare(options_differ);
        let nodes = others.iter().map(|other| other.nodes.len()).sum::<usize>() + self.nodes.len();
        // Lost ranks count: the others have left out their series before they knew.
        let nodes = nodes.max(self.ranks_record.as_ref().map_or(0, |together| together.ranks as usize));
        let has_shed = others.iter().any(|other| other.notes.iter().any(is_of_series));
        let sheds = nodes > SERIES_NODES_MAX || has_shed;
        let nodes = if sheds { usize::MAX } else { nodes };
        self.compact(nodes);
        if sheds && !self.notes.iter().any(is_of_series) {
            let text = format!(
                "with more than {SERIES_NODES_MAX} nodes the record has no figures of each second; totals, latencies and \
                 findings are complete"
            );
            self.notes.push(Note::new(NO_SERIES, Severity::Info, text));
        }
        self.jobs.reserve(others.iter().map(|other| other.jobs.len()).sum());
        for mut other in others {
            other.prepare(options_differ);
            other.compact(nodes);
            self.take(other);
        }
        self.put_in_order();
        if sheds {
            self.notes.dedup_by(|one, other| is_of_series(one) && is_of_series(other));
        }
        Ok(self)
    }

    /// Leaves out what a merged record of `nodes` nodes leaves out, so that it need not be sent.
    pub fn shed_series(&mut self, nodes: usize) {
        if nodes <= SERIES_NODES_MAX {
            return;
        }
        self.jobs.iter_mut().for_each(JobRecord::drop_series);
        for ledger in self.nodes.iter_mut().filter_map(|node| node.ledger.as_mut()) {
            ledger.samples.retain(|sample| sample.moment != Moment::During);
        }
    }

    /// Reduces the memory of the record. `nodes`: of the merged record.
    fn compact(&mut self, nodes: usize) {
        self.jobs.iter_mut().flat_map(JobRecord::histograms).for_each(Histogram::pack);
        self.shed_series(nodes);
    }

    /// Copies facts about all jobs, or about the only node, to each job.
    fn prepare(&mut self, options_differ: bool) {
        if options_differ {
            self.give_options_to_jobs();
        }
        self.name_the_node();
    }

    fn take(&mut self, other: RunRecord) {
        let RunRecord {
            schema: _,
            version: _,
            started_ms,
            taken_ms,
            elapsed_s,
            complete,
            command: _,
            global_options: _,
            nodes,
            ranks_record: together,
            jobs,
            notes,
            signal,
            findings,
        } = other;
        self.started_ms = self.started_ms.min(started_ms);
        self.taken_ms = self.taken_ms.max(taken_ms);
        self.elapsed_s = self.elapsed_s.max(elapsed_s);
        self.complete &= complete;
        self.signal = self.signal.max(signal);
        let before = self.nodes.len();
        self.jobs.extend(jobs.into_iter().map(|job| JobRecord { node: job.node + before, ..job }));
        self.nodes.extend(nodes);
        if let Some(together) = together {
            self.ranks_record.get_or_insert_default().merge(together);
        }
        self.notes.extend(notes);
        self.findings.extend(findings);
    }

    fn fits(&self, others: &[RunRecord]) -> Result<(), MergeError> {
        let mut names: Vec<&str> = Vec::new();
        for run in std::iter::once(self).chain(others) {
            if self.schema != run.schema {
                return Err(MergeError::Schema(self.schema, run.schema));
            }
            if self.version != run.version {
                return Err(MergeError::Version(self.version.clone(), run.version.clone()));
            }
            if let Some(stray) = run.jobs.iter().find(|job| job.node >= run.nodes.len()) {
                return Err(MergeError::Job(stray.name.clone()));
            }
            names.extend(run.nodes.iter().map(|node| node.name.as_str()));
        }
        fsdyno_stats::sort::by(&mut names, Ord::cmp);
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(MergeError::Node(pair[0].to_owned())),
            None => Ok(()),
        }
    }

    fn give_options_to_jobs(&mut self) {
        let given = std::mem::take(&mut self.global_options);
        for job in &mut self.jobs {
            // A job's own options come last, because the last one counts.
            job.options.splice(0..0, given.iter().cloned());
        }
    }

    /// Names the node in notes and findings of the whole run.
    fn name_the_node(&mut self) {
        let [Node { name, .. }] = &self.nodes[..] else { return };
        let nodes = self.notes.iter_mut().map(|note| &mut note.node);
        for node in nodes.chain(self.findings.iter_mut().map(|finding| &mut finding.node)) {
            node.get_or_insert_with(|| name.clone());
        }
    }

    fn put_in_order(&mut self) {
        let names: Vec<String> = self.nodes.iter().map(|node| node.name.clone()).collect();
        sort::by(&mut self.nodes, |one, other| one.name.cmp(&other.name));
        for job in &mut self.jobs {
            job.node = self.nodes.partition_point(|node| node.name < names[job.node]);
        }
        sort::by_key(&mut self.jobs, |job| (job.group, job.node));
        for (number, job) in (1..).zip(&mut self.jobs) {
            job.thread_number = number;
        }
        sort::by(&mut self.notes, |one, other| note_key(one).cmp(&note_key(other)));
        sort::by(&mut self.findings, |one, other| finding_key(one).cmp(&finding_key(other)));
    }
}

fn note_key(note: &Note) -> impl Ord + '_ {
    (&note.node, &note.id, &note.job, &note.text)
}

fn finding_key(finding: &Finding) -> impl Ord + '_ {
    (Reverse(finding.severity), &finding.node, &finding.id, &finding.job, &finding.cause)
}
