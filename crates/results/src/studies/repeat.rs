//! One run of one pattern on one target.

use std::borrow::Cow;

use super::{Finding, Lane, PhaseRecord, Row, Trust};
use crate::evidence::Ledger;
use crate::record::{DirectionRecord, JobRecord, Latency, RunRecord};
use crate::{Direction, RANKS_APART};

/// One run of one pattern on one target, or one report row of a fio command line.
pub struct Repeat<'a> {
    /// The row that this is, or is a part of.
    pub row: &'a Row,
    /// The test's name.
    pub pattern: String,
    /// Title for people.
    pub title: String,
    /// The workers separately, because they keep the series.
    pub workers: Vec<&'a JobRecord>,
    /// The workers merged, without their series; `None` for a phase.
    pub merged: Option<JobRecord>,
    /// The operations of a phase.
    pub phase: Option<&'a PhaseRecord>,
}

impl<'a> Repeat<'a> {
    /// The repeats of a row: one, but for a fio command line one for each row of its report.
    pub fn of_row(row: &'a Row, split: bool) -> Vec<Repeat<'a>> {
        // A phase on several nodes also has a job for each node.
        let run = row.run.as_ref().filter(|_| row.phase.is_none());
        let groups = run.map_or_else(Vec::new, |run| groups(run, split));
        if groups.is_empty() {
            let (pattern, title) = (row.pattern.clone(), row.title.clone());
            return vec![Repeat { row, pattern, title, workers: Vec::new(), merged: None, phase: row.phase.as_ref() }];
        }
        let several = groups.len() > 1;
        let mut repeats: Vec<Repeat<'a>> = Vec::new();
        for workers in groups {
            let mut merged = JobRecord::merged(workers.iter().copied()).unwrap_or_default();
            if !split {
                merged.count_what_completed();
            }
            let (mut pattern, mut title) = (row.pattern.clone(), row.title.clone());
            if several {
                title.clone_from(&merged.name);
                pattern.clone_from(&merged.name);
                // Two jobs with the same name are two rows, not two rounds.
                let same = repeats.iter().filter(|repeat| repeat.title == title).count();
                if same > 0 {
                    pattern = format!("{pattern}#{}", same + 1);
                }
            }
            repeats.push(Repeat { row, pattern, title, workers, merged: Some(merged), phase: None });
        }
        repeats
    }

    /// The run that this is a part of.
    pub fn run(&self) -> Option<&'a RunRecord> {
        self.row.run.as_ref()
    }

    /// The byte ledger of the run; `None`: there is none, or it ran on several nodes.
    pub fn ledger(&self) -> Option<&'a Ledger> {
        let node = self.workers.first()?.node;
        let on_one = self.workers.iter().all(|worker| worker.node == node);
        self.run()?.nodes.get(node).filter(|_| on_one)?.ledger.as_ref()
    }

    /// The stage of the run, counted from 0.
    pub fn stage(&self) -> u32 {
        self.workers.first().map_or(0, |worker| worker.plan.stage)
    }

    /// The findings of the row, and those of its run that the row does not repeat; not findings of other jobs.
    pub fn findings(&self) -> impl Iterator<Item = &'a Finding> + use<'a> {
        let name = self.merged.as_ref().map(|merged| merged.name.clone());
        let of_run = self.row.run.as_ref().map_or(&[][..], |run| &run.findings[..]);
        let of_row = &self.row.findings;
        let others = of_run.iter().filter(move |finding| !of_row.contains(finding));
        let nodes: Option<Vec<&'a str>> = self.run().filter(|run| run.nodes.len() > 1).map(|run| {
            self.workers.iter().filter_map(|worker| Some(run.nodes.get(worker.node)?.name.as_str())).collect()
        });
        let is_of_others = move |finding: &Finding| match (&finding.node, &nodes) {
            (Some(node), Some(nodes)) => !nodes.is_empty() && !nodes.contains(&node.as_str()),
            _ => false,
        };
        let is_of_job = move |finding: &Finding| match (&finding.job, &name) {
            (Some(job), Some(name)) => job == name,
            _ => true,
        };
        of_row.iter().chain(others).filter(move |finding| is_of_job(finding) && !is_of_others(finding))
    }

    /// Whether it did any I/O or operation.
    pub fn ran(&self) -> bool {
        let requests =
            |merged: &JobRecord| merged.sync.ios + merged.directions.iter().map(|(_, of)| of.ios).sum::<u64>();
        self.phase.is_some_and(|phase| phase.operations > 0)
            || self.merged.as_ref().is_some_and(|all| requests(all) > 0)
    }

    /// Whether its figures answer the question: it ran without an error, and no finding makes them invalid.
    pub fn counts(&self) -> bool {
        self.ran() && self.trust() < Trust::Invalid
    }

    /// The worst of its findings. An error makes it invalid; without an examination it is not ok.
    pub fn trust(&self) -> Trust {
        let found = Trust::of(self.findings());
        match () {
            () if self.error().is_some() => Trust::Invalid,
            () if self.row.is_unexamined() => found.max(Trust::Caution),
            () => found,
        }
    }

    /// The error that ended it, in words.
    pub fn error(&self) -> Option<String> {
        let of_job = || {
            let failed = self.workers.iter().find(|worker| worker.error.is_some())?;
            let rank = self.run().map(|run| run.rank_before_error(failed)).unwrap_or_default();
            Some((rank, failed.error.as_ref()?))
        };
        let (rank, error) = if self.phase.is_some() { self.row.first_error() } else { of_job() }?;
        Some(match (error.function.as_str(), error.code) {
            (RANKS_APART, _) => error.text.clone(),
            // An error that is not a system call's has no number.
            (_, 0) => format!("{rank}{}", error.text),
            (function, code) => format!("{rank}{} ({function}, errno {code})", error.text),
        })
    }

    /// The latency of one lane, as the tables on the terminal show it (`DirectionRecord::latency`); for a sampled
    /// run, of the timed requests. Empty if the lane had no requests; `None` if no latency was kept.
    pub fn latency(&self, lane: Lane) -> Option<Cow<'_, Latency>> {
        if let Some(phase) = self.phase {
            return matches!(lane, Lane::Operation | Lane::Request).then_some(Cow::Borrowed(&phase.latency));
        }
        let merged = self.merged.as_ref()?;
        let direction = match lane {
            Lane::Read => Direction::Read,
            Lane::Write => Direction::Write,
            Lane::Sync => return Some(Cow::Borrowed(&merged.sync.lat)),
            Lane::Operation => return None,
            Lane::Request => {
                let mut all = self.latency(Lane::Read)?.into_owned();
                all.merge(self.latency(Lane::Write)?.as_ref());
                return Some(Cow::Owned(all));
            }
        };
        let sampled = merged.sampled_latency.as_deref().map(|latencies| &latencies[direction]);
        Some(Cow::Borrowed(complete_latency(&merged.directions[direction], sampled)?))
    }

    /// Whether only some of the requests were timed.
    pub fn is_sampled(&self) -> bool {
        self.merged.as_ref().is_some_and(|merged| merged.timed_one_in > 1)
    }
}

impl JobRecord {
    /// Counts requests at their completion. fio counts requests at their issue but bytes at their completion; after a
    /// ramp the two differ by the requests in flight at its end.
    pub fn count_what_completed(&mut self) {
        let completed = Direction::ALL.map(|direction| self.completed_ios(direction));
        for (direction, ios) in Direction::ALL.into_iter().zip(completed) {
            self.directions[direction].ios = ios;
        }
    }

    /// The requests that completed in the measured time.
    pub fn completed_ios(&self, direction: Direction) -> u64 {
        let in_flight = u64::from(self.setup.depth) * u64::from(self.members.max(1));
        let direction = &self.directions[direction];
        // Either all completed requests were timed, or none; with any other difference, the count means something
        // else.
        let timed = direction.clat.moments.count;
        if direction.ios.abs_diff(timed) <= in_flight && timed > 0 { timed } else { direction.ios }
    }
}

fn complete_latency<'a>(direction: &'a DirectionRecord, sampled: Option<&'a Latency>) -> Option<&'a Latency> {
    if direction.ios == 0 {
        return Some(&direction.clat);
    }
    let kept = |latency: &&Latency| latency.histogram.is_some() && latency.moments.count > 0;
    direction.response_or_latency().or_else(|| sampled.filter(kept))
}

/// The workers of each row: as the report groups them, or all in one row.
fn groups(run: &RunRecord, split: bool) -> Vec<Vec<&JobRecord>> {
    let mut groups: Vec<Vec<&JobRecord>> = Vec::new();
    for job in run.jobs.iter().filter(|job| job.setup.shown) {
        match groups.last_mut() {
            Some(group) if !split || belongs(job, group[0]) => group.push(job),
            _ => groups.push(vec![job]),
        }
    }
    groups
}

fn belongs(job: &JobRecord, first: &JobRecord) -> bool {
    job.group_reporting && first.group_reporting && job.group == first.group
}
