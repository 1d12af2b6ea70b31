//! The nodes of a run, and the merging of records of several nodes.

use std::cmp::Reverse;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::evidence::{Ledger, Storage};
use crate::record::{DiskRecord, Host, JobRecord, Note, RunRecord};
use crate::sort;
use crate::studies::Finding;

/// One machine of a run, and what it saw.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Node {
    /// The machine's name; empty: it has none. Notes and findings tell nodes apart by it.
    pub name: String,
    /// Machine and clock.
    pub host: Host,
    /// The storages that the files of its jobs are on, one per mount.
    pub storages: Vec<Storage>,
    /// Block devices behind those files.
    pub disks: Vec<DiskRecord>,
    /// The byte ledger of the run; `None`: it was not taken.
    pub ledger: Option<Ledger>,
    /// How idle its processors were (`--idle-prof`); `None`: nobody asked, or it is not visible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idleness: Option<CpuIdleness>,
}

/// How idle the processors of a machine were during a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuIdleness {
    /// Of all processors together, percent of the run.
    pub system_percent: f64,
    /// Of each that was online, in the order of their numbers; empty unless asked for.
    pub processors: Vec<f64>,
    /// Time of a small piece of work before the run, the mean of some repetitions, us.
    pub unit_us_mean: f64,
    /// Standard deviation of that time between repetitions, us.
    pub unit_us_deviation: f64,
}

/// Why two records cannot be merged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// Written in different formats.
    #[error("one record has format {0}, the other {1}")]
    Schema(u32, u32),
    /// Written by different programs.
    #[error("one record is of {0}, the other of {1}")]
    Version(String, String),
    /// Both have a node of the same name.
    #[error("both records have a node with the name {0:?}")]
    Node(String),
    /// The record is damaged.
    #[error("the job {0} names a node that its record does not have")]
    Job(String),
}

impl RunRecord {
    /// The machine of a run on one. `None`: it ran on several.
    pub fn only_node(&self) -> Option<&Node> {
        match &self.nodes[..] {
            [node] => Some(node),
            _ => None,
        }
    }

    /// The storages that the files are on, of all nodes.
    pub fn storages(&self) -> impl Iterator<Item = &Storage> {
        self.nodes.iter().flat_map(|node| &node.storages)
    }

    /// One record of what ran on different nodes. The order of merging makes no difference: nodes are ordered by name;
    /// jobs by report group, then node, then as they were; notes by node; findings by severity, then node.
    ///
    /// What the records do not share is dropped from the merged run: the command line, and options that were given for
    /// all jobs become options of each job.
    ///
    /// # Errors
    /// When different programs wrote the records, or when two nodes have the same name.
    pub fn merge(mut self, mut other: RunRecord) -> Result<RunRecord, MergeError> {
        self.fits(&other)?;
        if self.command != other.command {
            self.command.clear();
        }
        if self.global_options != other.global_options {
            self.give_options_to_jobs();
            other.give_options_to_jobs();
        }
        self.name_the_node();
        other.name_the_node();
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
        self.notes.extend(notes);
        self.findings.extend(findings);
        self.put_in_order();
        Ok(self)
    }

    fn fits(&self, other: &RunRecord) -> Result<(), MergeError> {
        if self.schema != other.schema {
            return Err(MergeError::Schema(self.schema, other.schema));
        }
        if self.version != other.version {
            return Err(MergeError::Version(self.version.clone(), other.version.clone()));
        }
        let known = |node: &&Node| other.nodes.iter().any(|another| another.name == node.name);
        if let Some(twice) = self.nodes.iter().find(known) {
            return Err(MergeError::Node(twice.name.clone()));
        }
        let stray =
            |run: &RunRecord| run.jobs.iter().find(|job| job.node >= run.nodes.len()).map(|job| job.name.clone());
        stray(self).or_else(|| stray(other)).map_or(Ok(()), |job| Err(MergeError::Job(job)))
    }

    fn give_options_to_jobs(&mut self) {
        let given = std::mem::take(&mut self.global_options);
        for job in &mut self.jobs {
            // A job's own come last: they are the ones that count.
            job.options.splice(0..0, given.iter().cloned());
        }
    }

    /// Notes and findings of the whole run become those of its node.
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
