//! Judges the passes of a phase on several nodes: each node by its own counters, then all nodes compared.

use fsdyno_results::{Finding, Node, PhaseRecord, Row, RunRecord};
use fsdyno_stats::sort;

use super::judged;
use crate::node_comparison;
use crate::passes::Passes;
use crate::traps::{foreign_load, slow_node, too_noisy, too_short};

/// The passes of a phase as one node did them.
pub(crate) struct OnNode<'a> {
    pub(crate) node: &'a Node,
    /// One record for each pass.
    records: Vec<PhaseRecord>,
}

impl<'a> OnNode<'a> {
    /// The nodes of a phase; empty where it ran on one.
    pub(crate) fn all(rows: &[&'a Row]) -> Vec<OnNode<'a>> {
        let mut all: Vec<OnNode<'a>> = Vec::new();
        let runs = rows.iter().filter(|row| row.phase.is_some()).filter_map(|row| row.run.as_ref());
        for run in runs.filter(|run| run.nodes.len() > 1) {
            for (node, record) in records(run) {
                match all.iter_mut().find(|known| known.node.name == node.name) {
                    Some(known) => known.records.push(record),
                    None => all.push(OnNode { node, records: vec![record] }),
                }
            }
        }
        all
    }

    /// Calls `look` with these passes.
    pub(crate) fn with<T>(&self, syncs: bool, look: impl FnOnce(&Passes<'_>) -> T) -> T {
        self.with_records(syncs, &self.records, look)
    }

    fn with_records<T>(&self, syncs: bool, records: &[PhaseRecord], look: impl FnOnce(&Passes<'_>) -> T) -> T {
        let records: Vec<&PhaseRecord> = records.iter().filter(|record| record.operations > 0).collect();
        look(&Passes { host: &self.node.host, storage: self.node.storages.first(), syncs, records: &records })
    }

    /// Number of operations over all passes, and their time, ms.
    pub(crate) fn done(&self) -> (u64, u64) {
        let sum = |figure: fn(&PhaseRecord) -> u64| self.records.iter().map(figure).fold(0, u64::saturating_add);
        (sum(|record| record.operations), sum(|record| record.elapsed_ns) / 1_000_000)
    }
}

/// Each node of a pass with its record.
fn records(run: &RunRecord) -> impl Iterator<Item = (&Node, PhaseRecord)> {
    run.jobs.iter().filter_map(|job| {
        let node = run.nodes.get(job.node)?;
        let sum =
            |of: fn(&fsdyno_results::DirectionRecord) -> u64| job.directions.iter().map(|(_, moved)| of(moved)).sum();
        let span = node.part.as_ref().and_then(|part| part.spans.first());
        let of_clock_ms = job.directions.iter().map(|(_, moved)| moved.runtime_ms).max().unwrap_or(0);
        let of_span = span.map(|span| span.end_ns.saturating_sub(span.start_ns));
        let elapsed_ns = of_span.and_then(|ns| u64::try_from(ns).ok()).unwrap_or(of_clock_ms.saturating_mul(1_000_000));
        let bytes: u64 = sum(|moved| moved.bytes);
        let record = PhaseRecord {
            name: job.name.clone(),
            operations: sum(|moved| moved.ios),
            threads: job.setup.clones,
            bytes: (bytes > 0).then_some(bytes),
            elapsed_ns,
            cache: job.description.clone(),
            conditions: job.conditions.as_deref().cloned(),
            ..PhaseRecord::default()
        };
        Some((node, record))
    })
}

/// All findings; `whole`: the passes of all nodes together.
pub(super) fn judge(whole: &Passes<'_>, nodes: &[OnNode<'_>], rows: &[&Row]) -> Vec<Finding> {
    let mut found: Vec<Finding> =
        [too_short::of_phase(whole), too_noisy::of_phase(whole)].into_iter().flatten().collect();
    for (index, on_node) in nodes.iter().enumerate() {
        let mut of_node = on_node.with(whole.syncs, judged);
        // Ranks on one machine see its devices together.
        let is_there = |other: &&OnNode<'_>| other.node.machine() == on_node.node.machine();
        if !nodes[..index].iter().any(|other| is_there(&other)) {
            let machine = of_machine(&nodes.iter().filter(is_there).collect::<Vec<_>>());
            of_node.extend(on_node.with_records(whole.syncs, &machine, foreign_load::of_phase));
        }
        let name = &on_node.node.name;
        found.extend(of_node.into_iter().map(|finding| Finding { node: Some(name.clone()), ..finding }));
    }
    let is_said = rows.iter().flat_map(|row| &row.findings).any(|finding| finding.id == slow_node::ID);
    if let Some(first) = rows.iter().filter_map(|row| row.run.as_ref()?.jobs.first()).next().filter(|_| !is_said) {
        let names: Vec<&str> = nodes.iter().map(|on_node| on_node.node.name.as_str()).collect();
        let all: Vec<_> = nodes.iter().map(OnNode::done).collect();
        found.extend(slow_node::of(&names, &node_comparison::JobOnNodes::of_phase(first, &all)));
    }
    sort::by_key(&mut found, |finding| std::cmp::Reverse(finding.severity));
    found
}

/// The passes of the ranks of one machine: its device counters are taken once, the ranks' operations are added up.
/// Empty where a rank has no result of a pass.
fn of_machine(ranks: &[&OnNode<'_>]) -> Vec<PhaseRecord> {
    let mut all = ranks[0].records.clone();
    for rank in &ranks[1..] {
        if rank.records.len() != all.len() {
            return Vec::new();
        }
        for (sum, own) in all.iter_mut().zip(&rank.records) {
            sum.operations += own.operations;
            let Some(seen) = &mut sum.conditions else { continue };
            let own = own.conditions.as_ref().and_then(|conditions| conditions.own_storage_bytes);
            seen.own_storage_bytes = seen.own_storage_bytes.zip(own).map(|(sum, own)| sum.plus(own));
        }
    }
    all
}
