//! Makes records by hand: a disk, a machine with 24 GiB of memory, jobs of ten seconds.

use fsdyno_results::evidence::*;
use fsdyno_results::{Access, Finding, JobRecord, JobSetup, Moments, ReadWrite, RunRecord, Severity};

pub(crate) const GIB: u64 = 1 << 30;
pub(crate) const MIB: u64 = 1 << 20;

/// Runtime of each job, ms.
const RUNTIME_MS: u64 = 10_000;

/// A reader of its own file on the disk: 4 GiB, read once, through the page cache.
pub(crate) fn reader(name: &str) -> JobRecord {
    let mut job =
        JobRecord::new(name, 1, JobSetup { access: Access::named("randread").unwrap(), ..JobSetup::default() });
    job.started_ms = Some(1_000);
    job.job_runtime_ms = RUNTIME_MS;
    job.directions.read.bytes = 4 * GIB;
    job.directions.read.ios = 1 << 20;
    job.directions.read.runtime_ms = RUNTIME_MS;
    job.plan.files = vec![format!("/data/{name}")];
    job.plan.file_count = 1;
    job.plan.span_bytes = Some(4 * GIB);
    job.plan.io_bytes = Some(4 * GIB);
    job.plan.direct = Some(false);
    job.plan.invalidated = Some(true);
    job.plan.synchronous_engine = true;
    job
}

/// A writer of the same size, without any sync.
pub(crate) fn writer(name: &str) -> JobRecord {
    let mut job = reader(name);
    job.setup.access = Access::named("write").unwrap();
    std::mem::swap(&mut job.directions.read, &mut job.directions.write);
    job
}

/// The same job with direct I/O.
pub(crate) fn direct(mut job: JobRecord) -> JobRecord {
    job.plan.direct = Some(true);
    job
}

/// The same job with an asynchronous engine.
pub(crate) fn queued(mut job: JobRecord, engine: &str, depth: u32) -> JobRecord {
    job.setup.engine = engine.into();
    job.setup.depth = depth;
    job.plan.synchronous_engine = false;
    job
}

/// The same job with these mean latencies, ns.
pub(crate) fn latencies(mut job: JobRecord, slat_ns: u64, clat_ns: u64) -> JobRecord {
    let of = |value: u64| {
        let mut moments = Moments::default();
        (0..100).for_each(|_| moments.record(value));
        moments
    };
    job.directions.read.slat.moments = of(slat_ns);
    job.directions.read.clat.moments = of(clat_ns);
    job
}

/// The same job with rates: one value per half second, MiB/s, for as many seconds as there are values.
pub(crate) fn rates(mut job: JobRecord, mib_per_s: &[u64]) -> JobRecord {
    let lane = if job.directions.read.ios > 0 { &mut job.directions.read } else { &mut job.directions.write };
    for (second, rate) in (0..).zip(mib_per_s) {
        for half in 1..=2 {
            lane.bandwidth_samples.record(rate * 1024, second * 1000 + half * 500);
        }
    }
    lane.runtime_ms = mib_per_s.len() as u64 * 1000;
    job.job_runtime_ms = lane.runtime_ms;
    job
}

/// A block filesystem at /data on vda.
pub(crate) fn disk_storage() -> Storage {
    Storage {
        asked_path: "/data".into(),
        class: StorageClass::Block,
        mount: RecordedFact::Value(Mount {
            mount_point: "/data".into(),
            source: "/dev/vda".into(),
            fstype: "ext4".into(),
            device: DeviceNumber { major: 254, minor: 0 },
            ..Mount::default()
        }),
        devices: RecordedFact::Value(vec![BlockDevice {
            name: "vda".into(),
            rotational: Some(true),
            ..BlockDevice::default()
        }]),
        ..Storage::default()
    }
}

/// A run of these jobs on the disk, without a ledger.
pub(crate) fn on_disk(jobs: Vec<JobRecord>) -> RunRecord {
    let mut record = RunRecord::new("fio-3.42-fsdyno-test", 1_000);
    record.nodes[0].host.memory_bytes = Some(24 * GIB);
    record.nodes[0].host.cpus = Some(8);
    record.jobs = jobs;
    record.nodes[0].storages = vec![disk_storage()];
    record.complete = true;
    record
}

/// The same files on a storage of another class.
pub(crate) fn on(class: StorageClass, jobs: Vec<JobRecord>) -> RunRecord {
    let mut record = on_disk(jobs);
    record.nodes[0].storages[0].class = class;
    if !matches!(class, StorageClass::Block | StorageClass::Device) {
        record.nodes[0].storages[0].devices = RecordedFact::Value(Vec::new());
    }
    record
}

/// Adds two samples, ten seconds apart: what the jobs of the stage moved and what vda did.
pub(crate) fn look(record: &mut RunRecord, stage: u32, application: [u64; 2], device: [u64; 2]) {
    let ledger = record.nodes[0].ledger.get_or_insert_with(Ledger::default);
    let mut begin = ledger.samples.last().cloned().unwrap_or_else(first_look);
    begin.stage = stage;
    begin.moment = Moment::Begin;
    let mut end = begin.clone();
    end.moment = Moment::End;
    end.at_ms += RUNTIME_MS;
    let (application, device) = (ReadWrite::from(application), ReadWrite::from(device));
    end.application.bytes = end.application.bytes.plus(application);
    end.application.operations = end.application.operations.plus(application.map(|bytes| bytes / 4096));
    if let RecordedFact::Value(process) = &mut end.process {
        process.storage_bytes.read += device.read;
        process.storage_bytes.write += application.write;
    }
    if let RecordedFact::Value(devices) = &mut end.devices {
        let done = &mut devices[0].done;
        done.bytes = done.bytes.plus(device);
        done.operations = done.operations.plus(device.map(|bytes| bytes / 4096));
    }
    ledger.samples.extend([begin, end]);
}

/// The last sample.
pub(crate) fn last(record: &mut RunRecord) -> &mut LedgerSample {
    record.nodes[0].ledger.as_mut().unwrap().samples.last_mut().unwrap()
}

/// vda's counters in the last sample.
pub(crate) fn vda(record: &mut RunRecord) -> &mut DeviceCounters {
    match &mut last(record).devices {
        RecordedFact::Value(devices) => &mut devices[0],
        RecordedFact::NotVisible(reason) => panic!("{reason}"),
    }
}

fn first_look() -> LedgerSample {
    let device = DeviceCounters { name: "vda".into(), ..DeviceCounters::default() };
    LedgerSample {
        process: RecordedFact::Value(ProcessCounters::default()),
        cache: RecordedFact::Value(CacheCounters {
            dirty_bytes: Some(0),
            writeback_bytes: Some(0),
            ..CacheCounters::default()
        }),
        devices: RecordedFact::Value(vec![device]),
        ..LedgerSample::default()
    }
}

/// Adds a file of the run with its state before and after: size, written bytes, allocated bytes.
pub(crate) fn file(record: &mut RunRecord, path: &str, state: FileState) {
    let ledger = record.nodes[0].ledger.get_or_insert_with(Ledger::default);
    ledger.files.push(FileEvidence {
        path: path.into(),
        before: RecordedFact::Value(state),
        after: RecordedFact::Value(state),
        ..FileEvidence::default()
    });
}

/// The ids and severities of the findings above information.
pub(crate) fn found(record: &RunRecord) -> Vec<(String, Severity)> {
    counting(fsdyno_findings::of_run(record))
}

/// The same without the findings that every very short run has.
pub(crate) fn found_in_a_moment(record: &RunRecord) -> Vec<(String, Severity)> {
    let mut found = found(record);
    found.retain(|(id, _)| id != "too-short");
    found
}

/// The same for the plan.
pub(crate) fn preflight(record: &RunRecord) -> Vec<(String, Severity)> {
    counting(fsdyno_findings::of_plan(record))
}

fn counting(findings: Vec<Finding>) -> Vec<(String, Severity)> {
    let worse = findings.into_iter().filter(|finding| finding.severity > Severity::Info);
    worse.map(|finding| (finding.id, finding.severity)).collect()
}

/// The finding of this kind.
pub(crate) fn one(record: &RunRecord, id: &str) -> Finding {
    let all = fsdyno_findings::of_run(record);
    all.iter().find(|finding| finding.id == id).cloned().unwrap_or_else(|| panic!("no {id} in {all:#?}"))
}

pub(crate) fn caution(id: &str) -> Vec<(String, Severity)> {
    vec![(id.to_owned(), Severity::Caution)]
}

pub(crate) fn invalid(id: &str) -> Vec<(String, Severity)> {
    vec![(id.to_owned(), Severity::Invalid)]
}
