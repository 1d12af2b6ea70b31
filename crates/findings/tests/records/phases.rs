//! Tests the findings on passes of a phase, and the examined aspects of phases and runs.

use fsdyno_findings::{Aspect, Passes, examined, of_passes, of_phase_rows};
use fsdyno_results::evidence::{Image, Layer, LayerKind, RecordedFact, Storage, StorageClass};
use fsdyno_results::{
    ClockFacts, DeviceTraffic, Finding, Host, JobError, JobRecord, JobSetup, Node, PhaseConditions, PhaseRecord,
    PhaseWire, Question, RankRecord, Row, RunRecord, Study, Target,
};

use crate::scene::{GIB, MIB, direct, disk_storage, look, on, on_disk, rates, reader};

const MS: u64 = 1_000_000;

/// A pass of a thousand operations that took 20 ms, with everything visible and nothing disturbed.
fn pass(name: &str) -> PhaseRecord {
    let device = DeviceTraffic { name: "vda".into(), bytes: [0, 4 * MIB].into(), flushes: None };
    PhaseRecord {
        name: name.into(),
        operations: 1_000,
        threads: 1,
        elapsed_ns: 20 * MS,
        conditions: Some(PhaseConditions {
            wire: None,
            between_ns: 21 * MS,
            run_queue_wait_ns: Some(MS),
            total_ms: Some(40),
            busy_ms: Some(20),
            steal_ms: Some(0),
            throttled_us: Some(0),
            device: RecordedFact::Value(device),
            stack: Vec::new(),
            own_storage_bytes: Some([0, 4 * MIB].into()),
            foreign_bytes_per_s: RecordedFact::Value([0.0, 1e6].into()),
        }),
        ..PhaseRecord::default()
    }
}

/// Three passes, each changed by `change`.
fn three(name: &str, change: impl Fn(&mut PhaseRecord, &mut PhaseConditions)) -> Vec<PhaseRecord> {
    let changed = |_| {
        let mut pass = pass(name);
        let mut conditions = pass.conditions.take().unwrap();
        change(&mut pass, &mut conditions);
        PhaseRecord { conditions: Some(conditions), ..pass }
    };
    (0..3).map(changed).collect()
}

fn found(passes: &[PhaseRecord]) -> Vec<Finding> {
    let host = Host { clock: Some(tsc()), ..Host::default() };
    let records: Vec<&PhaseRecord> = passes.iter().collect();
    let storage = disk_storage();
    let syncs = passes[0].name.starts_with("fsync");
    of_passes(&Passes { host: &host, storage: Some(&storage), syncs, records: &records })
}

fn ids(passes: &[PhaseRecord]) -> Vec<String> {
    found(passes).into_iter().map(|finding| finding.id).collect()
}

fn tsc() -> ClockFacts {
    ClockFacts { source: "tsc".into(), cost_ns: 20.0, frequency_hz: None, drift_ppm: None }
}

#[test]
fn passes_that_nobody_disturbed_have_no_finding() {
    assert_eq!(found(&three("create", |_, _| {})), []);
    assert_eq!(found(&[pass("create")]), []);
}

#[test]
fn workers_that_wait_for_a_cpu_are_starved_and_a_moment_is_no_wait() {
    let waiting = |wait_ns| three("create", move |_, seen| seen.run_queue_wait_ns = Some(wait_ns));
    let starved = found(&waiting(15 * MS));
    assert_eq!(starved[0].id, "cpu-starved");
    assert!(starved[0].cause.contains("waited for a CPU 75 % of the time"), "{}", starved[0].cause);
    assert_eq!(ids(&waiting(3 * MS)), Vec::<String>::new(), "15 %");
    // The wait is more than a fifth of this short time, but not more than a migrated thread's.
    let short = three("stat-hot", |pass, seen| (pass.elapsed_ns, seen.run_queue_wait_ns) = (2 * MS, Some(MS)));
    assert_eq!(ids(&short), Vec::<String>::new());
    let held = three("create", |_, seen| seen.throttled_us = Some(2_000));
    assert!(found(&held)[0].cause.contains("control group"));
    let stolen = three("create", |_, seen| (seen.total_ms, seen.steal_ms) = (Some(100), Some(30)));
    assert!(found(&stolen)[0].cause.contains("hypervisor"));
}

#[test]
fn passes_that_differ_are_too_noisy_and_one_that_differs_is_not() {
    let taking = |times: [u64; 3]| -> Vec<PhaseRecord> {
        times.into_iter().map(|ms| PhaseRecord { elapsed_ns: ms * MS, ..pass("create") }).collect()
    };
    assert_eq!(ids(&taking([20, 40, 100])), ["too-noisy"]);
    assert_eq!(ids(&taking([20, 21, 200])), Vec::<String>::new());
    assert_eq!(ids(&taking([20, 40, 100])[..2]), Vec::<String>::new(), "of two nobody knows which is usual");
    // Passes that wait for a CPU vary, and have that finding alone.
    let mut starved = taking([20, 40, 100]);
    starved[2].conditions.as_mut().unwrap().run_queue_wait_ns = Some(80 * MS);
    assert_eq!(ids(&starved), ["cpu-starved"]);
}

#[test]
fn what_others_moved_is_foreign_and_journals_are_not() {
    let moved = |name: &str, read: u64, write: u64| {
        let device = DeviceTraffic { name: "vda".into(), bytes: [read, write].into(), flushes: None };
        ids(&three(name, move |_, seen| seen.device = RecordedFact::Value(device.clone())))
    };
    assert_eq!(moved("create", 10 * MIB, 0), ["foreign-load"]);
    assert_eq!(moved("create", 0, 60 * MIB), ["foreign-load"]);
    assert_eq!(moved("fsync-file", 0, 60 * MIB), Vec::<String>::new(), "a sync writes its journal");
    assert_eq!(moved("fsync-file", 0, 400 * MIB), ["foreign-load"]);
    let before = three("create", |_, seen| seen.foreign_bytes_per_s = RecordedFact::Value([0.0, 50e6].into()));
    assert_eq!(ids(&before), ["foreign-load"]);
    let unseen = three("create", |_, seen| {
        (seen.device, seen.foreign_bytes_per_s) = (RecordedFact::default(), RecordedFact::default());
    });
    assert_eq!(ids(&unseen), Vec::<String>::new());
}

#[test]
fn cold_files_come_from_storage() {
    let reading = |cache: &str, read: u64| {
        let cache = cache.to_owned();
        ids(&three("open-read", move |pass, seen| {
            (pass.bytes, pass.cache) = (Some(5_000), Some(cache.clone()));
            seen.own_storage_bytes = Some([read, 0].into());
        }))
    };
    assert_eq!(reading("data cold, names hot", 4 * MIB), Vec::<String>::new());
    assert_eq!(reading("data cold, names hot", 4096), ["page-cache"]);
    assert_eq!(reading("hot", 0), Vec::<String>::new(), "it is meant to be");
    assert_eq!(reading("17 files still cached", 4 * MIB), ["page-cache"]);
}

#[test]
fn data_of_whole_files_that_a_mount_sent_again_is_told() {
    let wire = |sent: Option<u64>| PhaseWire {
        daemon_sockets: sent.map(|sent| [0, sent].into()),
        bytes: [0, 3 * 10_000 * MIB].into(),
        ..PhaseWire::default()
    };
    // A thousand files of this size in each pass, and what the mount's program sent for them.
    let sent = |name: &str, file_bytes: u64, sent: Option<u64>| {
        let told = ids(&three(name, |pass, seen| {
            (pass.bytes, seen.wire) = (Some(1_000 * file_bytes), Some(wire(sent)));
        }));
        told.contains(&"retries-hidden".to_owned())
    };
    assert!(sent("fsync-1m", MIB, Some(1_500 * MIB)));
    assert!(!sent("fsync-1m", MIB, Some(1_490 * MIB)));
    assert!(!sent("fsync-1m", MIB, None), "the interface has the traffic of all programs");
    assert!(!sent("fsync-4k", 4096, Some(1_500 * MIB)), "heads are as long as such data");
    assert!(!sent("create", MIB, Some(1_500 * MIB)), "nobody waits until they are stored");
}

#[test]
fn a_few_operations_are_too_short_and_a_slow_clock_is_seen() {
    assert_eq!(ids(&three("create", |pass, _| pass.operations = 20)), ["too-short"]);
    let quick = three("stat-hot", |pass, _| pass.elapsed_ns = 100_000);
    assert_eq!(ids(&quick), ["clock"], "40 of 100 ns");
}

/// A thousand files that were each synced, with the bytes that the device wrote and its flushes.
fn synced(name: &str, written: u64, flushes: Option<u64>) -> Vec<PhaseRecord> {
    let device = DeviceTraffic { name: "vda".into(), bytes: [0, written].into(), flushes };
    three(name, move |pass, seen| {
        pass.bytes = (name == "fsync-file").then_some(5_000);
        seen.device = RecordedFact::Value(device.clone());
    })
}

#[test]
fn syncs_of_files_that_stored_or_flushed_nothing_are_seen() {
    assert_eq!(ids(&synced("fsync-file", 16 * MIB, Some(1_000))), Vec::<String>::new());
    assert_eq!(ids(&synced("fsync-file", 16 * MIB, None)), Vec::<String>::new(), "no device counts flushes");
    let found = found(&synced("fsync-file", 16 * MIB, Some(2)));
    assert_eq!((found[0].id.as_str(), found[0].severity), ("sync-not-flushed", fsdyno_results::Severity::Invalid));
    assert!(found[0].cause.contains("3,000 syncs, and vda got 6 flushes"), "{}", found[0].cause);
    assert_eq!(ids(&synced("fsync-file", MIB, Some(1_000))), ["sync-ignored"]);
    assert_eq!(ids(&synced("fsync-directory", MIB, Some(1_000))), Vec::<String>::new(), "a sector each");
    assert_eq!(ids(&synced("fsync-directory", 1024, Some(1_000))), ["sync-ignored"]);
    assert_eq!(ids(&synced("create", 0, Some(0))), Vec::<String>::new(), "it syncs nothing");
}

/// The same on a loop device, whose file's filesystem may omit the flush of the disk.
#[test]
fn flushes_that_end_below_a_loop_device() {
    let on_loop = |passed: Option<u64>, named: bool| {
        let layer = |kind: LayerKind, name: &str, below: Vec<Layer>| Layer {
            kind,
            name: name.into(),
            below,
            image: (kind == LayerKind::Loop).then(|| Image { path: "/disk/image".into(), ..Image::default() }),
            ..Layer::default()
        };
        let middle = layer(LayerKind::Filesystem, "ext4", vec![layer(LayerKind::Disk, "sda", vec![])]);
        let mut storage = disk_storage();
        storage.layers = vec![layer(LayerKind::Loop, "vda", vec![middle])];
        let device = |name: &str, flushes| DeviceTraffic { name: name.into(), bytes: [0, MIB].into(), flushes };
        let mut records = synced("fsync-file", 16 * MIB, Some(1_000));
        for seen in records.iter_mut().filter_map(|pass| pass.conditions.as_mut()).filter(|_| named) {
            seen.stack = vec![device("vda", Some(1_000)), device("sda", passed)];
        }
        let rows = records.into_iter().map(|phase| Row { phase: Some(phase), ..Row::default() }).collect();
        let study = study(storage, rows);
        let found = of_phase_rows(&study, &study.rows.iter().collect::<Vec<_>>());
        found.into_iter().map(|finding| (finding.id, finding.cause)).collect::<Vec<_>>()
    };
    let found = on_loop(Some(3), true);
    assert_eq!(found[0].0, "sync-not-flushed");
    assert!(found[0].1.starts_with("vda got 3,000 flushes, and sda below its file 9: "), "{found:?}");
    assert_eq!(on_loop(Some(1_000), true), []);
    assert_eq!(on_loop(None, true), [], "the disk counts none");
    assert_eq!(on_loop(Some(3), false), [], "nobody looked below");
}

#[test]
fn passes_that_failed_are_not_quoted() {
    let passes = |failed: bool| {
        let rows = [1_000, 30_000, 60_000].map(|ms| {
            let error =
                failed.then(|| JobError { code: 5, function: "open".into(), text: "Input/output error".into() });
            Row { phase: Some(PhaseRecord { elapsed_ns: ms * 1_000_000, error, ..pass("create") }), ..Row::default() }
        });
        let study = study(disk_storage(), rows.into());
        of_phase_rows(&study, &study.rows.iter().collect::<Vec<_>>())
            .into_iter()
            .map(|found| found.id)
            .collect::<Vec<_>>()
    };
    assert_eq!(passes(false), ["too-noisy"]);
    assert_eq!(passes(true), Vec::<String>::new());
}

/// A pass of a thousand operations on each of these nodes, with its time there.
fn pass_on_nodes(round: u32, nodes: &[(&str, u64)], change: impl Fn(&str, &mut PhaseConditions)) -> Row {
    let mut run = RunRecord::new("test", 1);
    run.nodes.clear();
    for (index, (name, ms)) in nodes.iter().enumerate() {
        let mut job = JobRecord::new("create", 1, JobSetup { clones: 1, ..JobSetup::default() });
        (job.node, job.directions.write.ios, job.directions.write.runtime_ms) = (index, 1_000, *ms);
        let mut conditions = pass("create").conditions.unwrap();
        change(name, &mut conditions);
        job.conditions = Some(Box::new(conditions));
        run.jobs.push(job);
        let host = Host { clock: Some(tsc()), ..Host::default() };
        let part = Some(RankRecord { rank: index as u32, ..RankRecord::default() });
        run.nodes.push(Node { name: (*name).into(), host, storages: vec![disk_storage()], part, ..Node::default() });
    }
    let whole = PhaseRecord { conditions: Some(PhaseConditions::default()), operations: 3_000, ..pass("create") };
    Row { round, phase: Some(whole), run: Some(run), ..Row::default() }
}

type Names = Vec<(String, Option<String>)>;

/// The findings on three such passes, and the aspects that were not visible.
fn on_nodes(nodes: &[(&str, u64)], change: impl Fn(&str, &mut PhaseConditions)) -> (Names, Vec<Aspect>) {
    let rows = (0..3).map(|round| pass_on_nodes(round, nodes, &change)).collect();
    let study = study(disk_storage(), rows);
    let rows: Vec<&Row> = study.rows.iter().collect();
    let found = of_phase_rows(&study, &rows).into_iter().map(|finding| (finding.id, finding.node)).collect();
    (found, examined(&study, &rows).unwrap().not_visible)
}

#[test]
fn each_node_of_a_phase_is_judged_by_what_it_saw_and_the_slow_one_is_named() {
    let even = [("a", 100), ("b", 110), ("c", 100), ("d", 105)];
    let on = |id: &str, node: &str| vec![(id.to_owned(), Some(node.to_owned()))];
    assert_eq!(on_nodes(&even, |_, _| {}), (vec![], vec![]));
    let mut uneven = even;
    uneven[2].1 = 500;
    assert_eq!(on_nodes(&uneven, |_, _| {}).0, on("slow-node", "c"));
    assert_eq!(on_nodes(&[("a", 20), ("b", 90)], |_, _| {}), (vec![], vec![Aspect::SlowNode]), "over in no time");
    let starved = |name: &str, seen: &mut PhaseConditions| {
        seen.run_queue_wait_ns = Some(if name == "b" { 60 * MS } else { 0 });
    };
    assert_eq!(on_nodes(&even, starved).0, on("cpu-starved", "b"));
    let blind = |name: &str, seen: &mut PhaseConditions| {
        if name == "d" {
            (seen.device, seen.foreign_bytes_per_s) = (RecordedFact::default(), RecordedFact::default());
        }
    };
    assert_eq!(
        on_nodes(&even, blind),
        (vec![], vec![Aspect::Device, Aspect::ForeignLoad]),
        "of one node it is not seen"
    );
}

#[test]
fn what_ranks_of_one_machine_read_is_not_foreign() {
    let reading = |all_mib: u64| {
        on_nodes(&[("m:0", 100), ("m:1", 100)], move |_, seen| {
            seen.own_storage_bytes = Some([20 * MIB, 0].into());
            let bytes = [all_mib * MIB, 0].into();
            seen.device = RecordedFact::Value(DeviceTraffic { name: "vda".into(), bytes, flushes: None });
        })
    };
    assert_eq!(reading(40).0, vec![]);
    assert_eq!(reading(60).0, vec![("foreign-load".to_owned(), Some("m:0".to_owned()))]);
}

fn study(storage: Storage, rows: Vec<Row>) -> Study {
    let mut study = Study::of_run(RunRecord::new("test", 1));
    study.question = Question::SmallFiles;
    study.host.clock = Some(tsc());
    study.targets = vec![Target { storage, ..Target::default() }];
    study.rows = rows;
    study
}

fn of_phase(passes: Vec<PhaseRecord>, storage: Storage) -> (Vec<Aspect>, Vec<Aspect>) {
    let row = |(round, phase)| Row { round, phase: Some(phase), ..Row::default() };
    let study = study(storage, (0..).zip(passes).map(row).collect());
    let looked = examined(&study, &study.rows.iter().collect::<Vec<_>>()).unwrap();
    (looked.examined, looked.not_visible)
}

#[test]
fn what_was_examined_of_a_phase_follows_from_its_record() {
    use Aspect::*;
    let seen = of_phase(three("create", |_, _| {}), disk_storage());
    assert_eq!(seen, (vec![Clock, CpuContention, Device, Length, Variation, ForeignLoad], vec![]));
    // One pass shows no variation; a container sees neither devices nor waits.
    let mut one = pass("create");
    let conditions = one.conditions.as_mut().unwrap();
    (conditions.run_queue_wait_ns, conditions.device) = (None, RecordedFact::default());
    let seen = of_phase(vec![one], disk_storage());
    assert_eq!(seen, (vec![Clock, Length, ForeignLoad], vec![CpuContention, Device, Variation]));
    // No conditions: as before format 6, and for the shell loops, which have three passes.
    let old = || PhaseRecord { conditions: None, ..pass("create") };
    let (looked, unseen) = of_phase(vec![old(), old(), old()], disk_storage());
    assert_eq!((looked, unseen.len()), (vec![], 6));
    // Memory has neither a device nor neighbours on it.
    let memory = Storage { class: StorageClass::Memory, ..Storage::default() };
    assert_eq!(of_phase(three("create", |_, _| {}), memory), (vec![Clock, CpuContention, Length, Variation], vec![]));
    let cold = three("open-read", |pass, _| (pass.bytes, pass.cache) = (Some(5_000), Some("cold".into())));
    assert!(of_phase(cold, disk_storage()).0.contains(&Cache));
    let unseen = three("open-read", |pass, _| pass.cache = Some("not visible".into()));
    assert_eq!(of_phase(unseen, disk_storage()).1, [Cache]);
}

fn of_run(record: RunRecord) -> Option<(Vec<Aspect>, Vec<Aspect>)> {
    let study = study(disk_storage(), vec![Row { run: Some(record), ..Row::default() }]);
    let looked = examined(&study, &[&study.rows[0]])?;
    Some((looked.examined, looked.not_visible))
}

#[test]
fn what_was_examined_of_a_run_follows_from_its_record() {
    use Aspect::*;
    let job = || rates(direct(reader("a")), &[400; 10]);
    let mut seen = on_disk(vec![job()]);
    look(&mut seen, 0, [4 * GIB, 0], [4 * GIB, 0]);
    seen.nodes[0].host.clock = Some(tsc());
    seen.jobs[0].run_queue_wait_ns = Some(0);
    let all = Aspect::ALL.into_iter().filter(|aspect| !matches!(aspect, SlowNode | Network)).collect();
    assert_eq!(of_run(seen.clone()), Some((all, vec![])));
    // Only the record of the job itself.
    let blind = RunRecord { jobs: seen.jobs.clone(), ..on_disk(vec![]) };
    let expected = (vec![Length, Variation], vec![Clock, CpuContention, Cache, Device, ForeignLoad]);
    assert_eq!(of_run(blind), Some(expected));
    // A few blocks do not show a cache.
    let mut little = seen.clone();
    little.jobs[0].directions.read.bytes = 8192;
    assert_eq!(of_run(little).unwrap().1, [Cache]);
    // A server's other users are not visible from here.
    let network = on(StorageClass::Network, vec![job()]);
    assert!(of_run(network).unwrap().1.contains(&ForeignLoad));
    let mut simulated = seen;
    simulated.jobs[0].setup.engine = "null".into();
    assert_eq!(of_run(simulated), None, "it touches no storage");
}
