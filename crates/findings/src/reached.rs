//! Computes which of a job's bytes reached the storage, by the most exact counter of each layer.

use fsdyno_results::evidence::StorageClass;
use fsdyno_results::{Finding, ReadWrite, RunRecord};

use crate::evidence::{Evidence, Flow, JobInStage, Transfer};
use crate::traps::host_cache;

/// Bytes of a stage that the storage read or wrote, and who counted them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    /// At most what the jobs moved: readahead, journals and mirrors are not counted.
    pub bytes: ReadWrite<u64>,
    /// The counter's name: `vda`, `vda for this process`, `nfs mountstats`.
    pub witness: String,
}

/// For a stage of the run on a node; `None`: not visible, or others' bytes cannot be told from the run's.
pub fn reached(record: &RunRecord, node: usize, stage: u32) -> Option<Reached> {
    let evidence = Evidence::of(record).nth(node)?;
    // Bytes from a cache below the device went through the device as well.
    let answered = |finding: &&Finding| finding.id == host_cache::ID && evidence.concerns(finding.node.as_deref());
    if record.findings.iter().any(|finding| answered(&finding)) {
        return None;
    }
    let mut of_stage =
        evidence.stages.iter().filter(|one| one.flow.as_ref().is_some_and(|flow| flow.begin.stage == stage));
    let (stage, None) = (of_stage.next()?, of_stage.next()) else { return None };
    let flow = stage.flow.as_ref()?;
    if stage.class()? == StorageClass::Memory {
        return None;
    }
    let of = |direction| match flow.application.bytes[direction] {
        0 => Some((0, None)),
        asked => below(&stage.rows, flow, direction).map(|(bytes, witness)| (bytes.min(asked), Some(witness))),
    };
    let (read, write) = (of(Transfer::Read)?, of(Transfer::Write)?);
    Some(Reached { bytes: [read.0, write.0].into(), witness: read.1.or(write.1)? })
}

/// What reached the lowest layers: each image in a page cache may keep a part.
fn below(rows: &[JobInStage<'_>], flow: &Flow<'_>, direction: Transfer) -> Option<(u64, String)> {
    if let Some(wire) = &flow.wire {
        return Some((wire.bytes[direction], wire.witness.to_owned()));
    }
    let storage = flow.storage[direction].as_ref().filter(|storage| !storage.shared)?;
    let mut bytes = storage.bytes;
    let mut seen = Vec::new();
    for device in rows.iter().flat_map(JobInStage::loops) {
        let direct = device.image.as_ref().is_some_and(|image| image.direct == Some(true));
        if direct || seen.contains(&&device.name) {
            continue;
        }
        seen.push(&device.name);
        let image = flow.below_loop(device, direction).filter(|image| !image.shared)?;
        bytes = bytes.saturating_sub(flow.moved(&device.name)?[direction].saturating_sub(image.bytes));
    }
    Some((bytes, storage.witness.clone()))
}
