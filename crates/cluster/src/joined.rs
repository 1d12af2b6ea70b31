//! Merges the records of ranks.

use std::collections::BTreeMap;

use fsdyno_job::ReadWrite;
use fsdyno_results::evidence::{Ledger, LedgerSample, RecordedFact};
use fsdyno_results::{ActiveSpan, ClockOffset, MissingRank, RankRecord, RunRecord};

use crate::clocks::Offset;
use crate::members::{self, RankPartners};
use crate::messages::{Ended, Lost};

/// Marks a record as that of a rank. The spans begin with the stages, ramps included.
pub(crate) fn take_part(record: &mut RunRecord, mut part: RankRecord, ranks: u32, seat: &RankPartners) {
    part.spans = part.spans.into_iter().map(|span| without_ramp(record, span)).collect();
    record.take_part(part, ranks);
    if let [node] = &mut record.nodes[..] {
        node.name.clone_from(&seat.name);
    }
}

fn without_ramp(record: &RunRecord, span: ActiveSpan) -> ActiveSpan {
    let of_stage = record.jobs.iter().filter(|job| job.plan.stage == span.stage);
    let ramp_ns = of_stage.map(|job| job.plan.ramp_ms as i64 * 1_000_000).max().unwrap_or(0);
    ActiveSpan { start_ns: (span.start_ns + ramp_ns).min(span.end_ns), ..span }
}

/// Makes one ledger for each machine: what its ranks did is added up, device counters are taken once.
fn count_machines_once(record: &mut RunRecord) {
    // The first node with a ledger, by machine.
    let mut first: BTreeMap<String, usize> = BTreeMap::new();
    for index in 0..record.nodes.len() {
        let (before, rest) = record.nodes.split_at_mut(index);
        let has_ledger = rest[0].ledger.is_some();
        let first = match first.get(rest[0].machine()) {
            Some(first) => &mut before[*first],
            None => {
                first.extend(has_ledger.then(|| (rest[0].machine().to_owned(), index)));
                continue;
            }
        };
        rest[0].disks.clear();
        rest[0].idleness = None;
        if let (Some(all), Some(own)) = (&mut first.ledger, rest[0].ledger.take()) {
            all.samples.iter_mut().for_each(|sample| add(sample, &own));
            all.files_left_out += own.files_left_out + own.files.len() as u64;
            all.missed += own.missed;
            all.cost_ns += own.cost_ns;
        }
    }
}

/// Adds what another rank of the machine had done at that time.
fn add(sample: &mut LedgerSample, other: &Ledger) {
    let alike = other.samples.iter().filter(|other| (other.stage, other.moment) == (sample.stage, sample.moment));
    let Some(other) = alike.min_by_key(|other| other.at_ms.abs_diff(sample.at_ms)) else { return };
    let sum = |one: &mut ReadWrite<u64>, other: ReadWrite<u64>| {
        one.read += other.read;
        one.write += other.write;
    };
    sum(&mut sample.application.bytes, other.application.bytes);
    sum(&mut sample.application.operations, other.application.operations);
    match (&mut sample.process, &other.process) {
        (RecordedFact::Value(all), RecordedFact::Value(own)) => {
            sum(&mut all.call_bytes, own.call_bytes);
            sum(&mut all.storage_bytes, own.storage_bytes);
            all.cpu_ns += own.cpu_ns;
        }
        // A sum without one of them would be too small.
        (all @ RecordedFact::Value(_), RecordedFact::NotVisible(_)) => all.clone_from(&other.process),
        (RecordedFact::NotVisible(_), _) => {}
    }
    if let (RecordedFact::Value(all), RecordedFact::Value(own)) = (&mut sample.cache, &other.cache) {
        all.cached_bytes += own.cached_bytes;
        all.dirty_bytes = all.dirty_bytes.zip(own.dirty_bytes).map(|(all, own)| all + own);
        all.writeback_bytes = all.writeback_bytes.zip(own.writeback_bytes).map(|(all, own)| all + own);
    }
}

/// Sets in the record how each node's clock differed from the first rank's.
fn set_clocks(record: &mut RunRecord, before: &[(u32, Offset)], after: &[(u32, Offset)]) {
    let by_rank = |clocks: &[(u32, Offset)]| {
        let mut offsets = BTreeMap::new();
        offsets.extend(clocks.iter().copied());
        offsets
    };
    let (before, after) = (by_rank(before), by_rank(after));
    for part in record.nodes.iter_mut().filter_map(|node| node.part.as_mut()) {
        let after = after.get(&part.rank);
        part.clock = before.get(&part.rank).map(|before| ClockOffset {
            before_ns: before.ns,
            after_ns: after.map(|after| after.ns),
            error_ns: after.map_or(before.error_ns, |after| after.error_ns.max(before.error_ns)),
        });
    }
}

/// Makes one record of those of all ranks; `None`: there are none.
pub(crate) fn record_of_all(records: Vec<RunRecord>, ended: &Ended, seats: &[RankPartners]) -> Option<RunRecord> {
    let mut records = records.into_iter();
    // Records of one program, whose nodes have unique names, fit together.
    let mut record = records.next()?.merge_all(records.collect()).ok()?;
    name_lost(&mut record, &ended.lost, seats);
    count_machines_once(&mut record);
    set_clocks(&mut record, &ended.clocks_before, &ended.clocks_after);
    Some(record)
}

/// Records which ranks have no results.
pub(crate) fn name_lost(record: &mut RunRecord, lost: &[Lost], seats: &[RankPartners]) {
    if lost.is_empty() {
        return;
    }
    let missing = |Lost { rank, reason }: &Lost| MissingRank {
        rank: *rank,
        node: Some(members::name(seats, *rank)),
        reason: reason.clone(),
    };
    record.lacks(lost.iter().map(missing).collect());
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsdyno_results::evidence::{DeviceCounters, LayerCounters, Moment};
    use fsdyno_results::{Node, RankRecord};

    fn node(name: &str, bytes: u64) -> Node {
        let moved = LayerCounters { bytes: ReadWrite { read: bytes, write: 0 }, ..LayerCounters::default() };
        let sample = LedgerSample {
            moment: Moment::End,
            application: moved,
            devices: RecordedFact::Value(vec![DeviceCounters { done: moved, ..DeviceCounters::default() }]),
            ..LedgerSample::default()
        };
        let ledger = Some(Ledger { samples: vec![sample], ..Ledger::default() });
        Node { name: name.to_owned(), ledger, part: Some(RankRecord::default()), ..Node::default() }
    }

    #[test]
    fn devices_count_once_for_a_machine_and_what_ranks_did_adds_up() {
        let nodes = vec![node("a:0", 10), node("a:1", 20), node("b", 40)];
        let mut record = RunRecord { nodes, ..RunRecord::default() };
        count_machines_once(&mut record);
        let ledger = |index: usize| record.nodes[index].ledger.as_ref().map(|ledger| &ledger.samples[0]);
        let read = |sample: &LedgerSample| {
            (sample.application.bytes.read, sample.devices.value().map(|devices| devices[0].done.bytes.read))
        };
        assert_eq!(ledger(0).map(read), Some((30, Some(10))));
        assert_eq!((ledger(1).map(read), ledger(2).map(read)), (None, Some((40, Some(40)))));
    }
}
