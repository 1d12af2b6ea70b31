//! Determines which aspects of a test were examined before it is called ok. It uses the same evidence as the findings,
//! so that no test is ok where nobody could look.

use fsdyno_results::evidence::StorageClass;
use fsdyno_results::{PhaseRecord, Row, RunRecord, Study, TreeRecord};

use crate::evidence::{BYTES_MIN, Evidence, JobInStage, Stage, Transfer};
use crate::node_comparison::{JobOnNodes, jobs_on_nodes};
use crate::passes::Passes;
use crate::phases::OnNode;
use crate::traps::page_cache::cold_bytes;
use crate::traps::{cpu_starved, not_visible, too_noisy};
use crate::without_storage;

/// An aspect of a test that findings examine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Aspect {
    /// The cost of reading the clock.
    Clock,
    /// Whether the test's threads waited for CPUs.
    CpuContention,
    /// Whether the storage or a cache answered.
    Cache,
    /// What the device or the network moved.
    Device,
    /// Whether there was enough I/O to judge.
    Length,
    /// Whether the rate was steady, from second to second or from pass to pass.
    Variation,
    /// What others moved on the same device.
    ForeignLoad,
    /// Whether a timed command uses the network itself, so that its time is not the storage's.
    Network,
    /// Whether a node was slower than the others.
    SlowNode,
}

impl Aspect {
    /// All aspects.
    pub const ALL: [Aspect; 9] = [
        Aspect::Clock,
        Aspect::CpuContention,
        Aspect::Cache,
        Aspect::Device,
        Aspect::Length,
        Aspect::Variation,
        Aspect::ForeignLoad,
        Aspect::Network,
        Aspect::SlowNode,
    ];

    /// The aspect's name: `CPU contention`.
    pub fn word(self) -> &'static str {
        match self {
            Aspect::Clock => "clock",
            Aspect::CpuContention => "CPU contention",
            Aspect::Cache => "cache",
            Aspect::Device => "device",
            Aspect::Length => "length",
            Aspect::Variation => "variation",
            Aspect::ForeignLoad => "foreign load",
            Aspect::Network => "network of the command",
            Aspect::SlowNode => "slow node",
        }
    }
}

/// The aspects of a test that were examined, and those that were not visible. An aspect that does not apply, such as
/// the device of a storage in memory, is in neither.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Examination {
    /// The aspects that findings could examine.
    pub examined: Vec<Aspect>,
    /// The aspects that were not visible.
    pub not_visible: Vec<Aspect>,
}

/// Whether an aspect of one run could be examined; `None`: it does not apply.
type Looked = Option<bool>;

/// The aspects of a test on one target, over all of its runs or passes. `None`: the test did not run, failed, or
/// touches no storage.
pub fn examined(study: &Study, rows: &[&Row]) -> Option<Examination> {
    let records: Vec<&PhaseRecord> = rows.iter().filter_map(|row| row.phase.as_ref()).collect();
    let records: Vec<&PhaseRecord> = records.into_iter().filter(|record| record.operations > 0).collect();
    let commands: Vec<&Row> = rows.iter().copied().filter(|row| row.tree.is_some()).collect();
    let looks: Vec<[Looked; Aspect::ALL.len()]> = if !commands.is_empty() {
        let storage = rows.first().and_then(|row| study.targets.get(row.target)).map(|target| &target.storage);
        let class = storage.map_or(StorageClass::Unknown, |storage| storage.class);
        vec![Aspect::ALL.map(|aspect| of_commands(&commands, class, aspect))]
    } else if records.is_empty() {
        let runs = rows.iter().filter(|row| row.phase.is_none()).filter_map(|row| row.run.as_ref());
        runs.filter(|run| !without_storage(run)).flat_map(of_run).collect()
    } else if let nodes @ [_, ..] = &OnNode::all(rows)[..] {
        let compared: Vec<_> = nodes.iter().map(OnNode::done).collect();
        let compared = records_compared(rows, &compared);
        let of_node =
            |on_node: &OnNode<'_>| on_node.with(false, |passes| Aspect::ALL.map(|aspect| of_phase(passes, aspect)));
        let with_others = |mut look: [Looked; Aspect::ALL.len()]| {
            look[Aspect::SlowNode as usize] = Some(compared);
            look
        };
        nodes.iter().filter(|on_node| on_node.done().0 > 0).map(of_node).map(with_others).collect()
    } else {
        let storage = rows.first().and_then(|row| study.targets.get(row.target)).map(|target| &target.storage);
        let passes = Passes { host: &study.host, storage, syncs: false, records: &records };
        vec![Aspect::ALL.map(|aspect| of_phase(&passes, aspect))]
    };
    let mut examination = Examination::default();
    for (index, aspect) in Aspect::ALL.into_iter().enumerate() {
        let mut of_aspect = looks.iter().filter_map(|look| look[index]).peekable();
        if of_aspect.peek().is_some() {
            let list =
                if of_aspect.all(|seen| seen) { &mut examination.examined } else { &mut examination.not_visible };
            list.push(aspect);
        }
    }
    (!looks.is_empty()).then_some(examination)
}

/// Whether the passes of a phase took long enough on each node to show a slow node.
fn records_compared(rows: &[&Row], done: &[(u64, u64)]) -> bool {
    let first = rows.iter().find_map(|row| row.run.as_ref()?.jobs.first());
    first.is_some_and(|first| JobOnNodes::of_phase(first, done).nodes.len() == done.len())
}

/// Whether an aspect of a timed command's runs could be examined.
fn of_commands(rows: &[&Row], class: StorageClass, aspect: Aspect) -> Looked {
    let all = |look: fn(&TreeRecord) -> bool| Some(rows.iter().filter_map(|row| row.tree.as_ref()).all(look));
    match aspect {
        // A command has no required length, and its start was chosen by the user.
        Aspect::Length | Aspect::Clock | Aspect::SlowNode => None,
        Aspect::Cache => rows.iter().any(|row| is_cold_here_only(row)).then_some(false),
        Aspect::CpuContention => Some(cpu_starved::is_visible(rows)),
        Aspect::Variation => Some(rows.len() >= too_noisy::PASSES_MIN),
        Aspect::Device | Aspect::ForeignLoad if class == StorageClass::Memory => None,
        Aspect::Device => all(|tree| tree.during.devices.value().is_some() || tree.during.wire.value().is_some()),
        Aspect::ForeignLoad => all(|tree| tree.during.devices.value().is_some() && tree.storage_bytes.is_some()),
        Aspect::Network => all(network_was_quiet),
    }
}

/// Whether only the caches of this machine were dropped: those of a server or daemon are not visible.
fn is_cold_here_only(row: &Row) -> bool {
    let cache = row.phase.as_ref().and_then(|phase| phase.cache.as_deref()).unwrap_or_default();
    ["client ", "kernel "].iter().any(|of| cache.starts_with(of))
}

/// Whether the place's traffic explains all bytes on the machine's interfaces; else some may be the command's own.
fn network_was_quiet(tree: &TreeRecord) -> bool {
    /// Bytes of the machine's own background traffic during a command.
    const CHATTER: u64 = 16 << 10;
    /// Factor for headers, which the place does not count: they at most double small messages.
    const HEADERS: u64 = 2;
    let of_place = tree.during.wire.value().filter(|wire| wire.exclusive).map_or(0, |wire| wire.bytes.sum());
    tree.network_bytes.is_some_and(|moved| moved.sum() <= CHATTER + HEADERS * of_place)
}

/// Whether an aspect of a phase's passes could be examined.
fn of_phase(passes: &Passes<'_>, aspect: Aspect) -> Looked {
    let conditions = passes.conditions();
    let all = |look: fn(&fsdyno_results::PhaseConditions) -> bool| {
        Some(conditions.as_ref().is_some_and(|all| all.iter().all(|seen| look(seen))))
    };
    let in_memory = passes.class() == StorageClass::Memory;
    match aspect {
        Aspect::Network => None,
        // A single node has nothing to be compared with.
        Aspect::SlowNode => None,
        // Without conditions nothing was examined.
        Aspect::Length => Some(conditions.is_some()),
        Aspect::Clock => Some(passes.host.clock.is_some() && conditions.is_some()),
        Aspect::CpuContention => all(|seen| seen.run_queue_wait_ns.is_some()),
        Aspect::Variation => Some(conditions.is_some() && passes.rates().len() >= too_noisy::PASSES_MIN),
        Aspect::Device | Aspect::ForeignLoad | Aspect::Cache if in_memory => None,
        Aspect::Device => all(|seen| seen.device.value().is_some()),
        Aspect::ForeignLoad => all(|seen| {
            seen.foreign_bytes_per_s.value().is_some()
                || (seen.device.value().is_some() && seen.own_storage_bytes.is_some())
        }),
        // A cache matters only for phases that are meant to be cold.
        Aspect::Cache if cold_bytes(passes).is_some() => all(|seen| seen.own_storage_bytes.is_some()),
        Aspect::Cache => {
            let unseen = |record: &&PhaseRecord| {
                record.cache.as_deref().is_some_and(|cache| cache == "not visible" || cache.contains("data cold"))
            };
            passes.records.iter().any(unseen).then_some(false)
        }
    }
}

/// The examined aspects of each row of a run that did something.
fn of_run(run: &RunRecord) -> Vec<[Looked; Aspect::ALL.len()]> {
    let mut all = Vec::new();
    for evidence in Evidence::of(run) {
        let did = evidence.rows().filter(|(_, row)| row.ios() > 0 && row.ended_well());
        all.extend(did.map(|(stage, row)| Aspect::ALL.map(|aspect| of_row(&evidence, stage, row, aspect))));
    }
    all
}

fn of_row(evidence: &Evidence<'_>, stage: &Stage<'_>, row: &JobInStage<'_>, aspect: Aspect) -> Looked {
    let flow = stage.flow.as_ref();
    let has_no_device = matches!(row.class(), StorageClass::Memory | StorageClass::Kernel);
    match aspect {
        Aspect::Network => None,
        Aspect::SlowNode => {
            let nodes = evidence.record.nodes.len();
            (nodes > 1).then(|| {
                jobs_on_nodes(evidence.record).iter().any(|job| job.first.name == row.name && job.nodes.len() == nodes)
            })
        }
        Aspect::Length => Some(true),
        Aspect::Clock => match &evidence.node.host.clock {
            Some(clock) if clock.source == "virtual" => None,
            clock => Some(clock.is_some()),
        },
        Aspect::CpuContention => {
            Some(flow.is_some() && row.workers.iter().all(|worker| worker.run_queue_wait_ns.is_some()))
        }
        // A paced row's rate was asked for.
        Aspect::Variation if row.paced() => None,
        Aspect::Variation => Some(row.rates().values.len() >= too_noisy::VALUES_MIN),
        Aspect::Device | Aspect::ForeignLoad | Aspect::Cache if has_no_device => None,
        Aspect::Device => Some(flow.is_some_and(|flow| flow.device.is_some() || flow.wire.is_some())),
        Aspect::ForeignLoad => {
            let on_disk = matches!(stage.class(), Some(StorageClass::Block | StorageClass::Device));
            Some(on_disk && row.judgeable() && flow.is_some_and(|flow| flow.device.is_some()))
        }
        Aspect::Cache => {
            let moved = |direction: &Transfer| row.done(*direction).bytes > 0;
            let enough = |direction: &Transfer| row.done(*direction).bytes >= BYTES_MIN;
            let looked = |direction: Transfer| {
                enough(&direction) && flow.is_some_and(|flow| not_visible::seen(stage, row, flow, direction))
            };
            let mut moved = Transfer::BOTH.into_iter().filter(moved).peekable();
            moved.peek().is_some().then(|| moved.all(looked))
        }
    }
}
