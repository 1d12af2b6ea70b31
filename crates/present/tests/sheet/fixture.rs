//! Makes artificial studies with everything that real ones can contain. They are deterministic.

use std::sync::OnceLock;

use fsdyno_results::evidence::{
    BlockDevice, CacheCounters, DeviceCounters, DirectIo, FuseIdentity, LayerCounters, Ledger, LedgerSample, Moment,
    Mount, NfsIdentity, ProcessCounters, RecordedFact, ServerIdentity, Space, Storage, StorageClass, SystemCounters,
    WireCounters,
};
use fsdyno_results::{
    Access, ClockFacts, DirectionRecord, Finding, Histogram, Host, JobError, JobRecord, JobSetup, Latency,
    LatencySlice, Moments, Note, Number, Question, ReadWrite, Row, RunRecord, STUDY_SCHEMA_VERSION, Severity, Study,
    Target, bucket_of,
};

/// 21 November 2026, 12:02:28 UTC.
pub(crate) const STARTED_MS: u64 = 1_795_262_548_563;

const SECONDS: u64 = 30;
const WORKERS: u32 = 4;
const DEPTH: u32 = 32;
const BLOCK: u64 = 4096;

/// Pattern, title, MB/s of each target, share of reads.
const PATTERNS: [(&str, &str, [f64; 3], f64); 5] = [
    ("read", "4 KiB sequential read", [508.0, 107.0, 428.0], 1.0),
    ("write", "4 KiB sequential write", [256.0, 17.8, 248.0], 0.0),
    ("randread", "4 KiB random read", [405.0, 109.0, 398.0], 1.0),
    ("randwrite", "4 KiB random write", [153.0, 18.8, 160.0], 0.0),
    ("randrw", "4 KiB random read and write", [88.2, 12.1, 123.0], 0.5),
];

/// Evenly distributed values between -1 and 1 that look like noise.
pub(crate) struct Noise(u64);

impl Noise {
    pub(crate) fn new(seed: u64) -> Noise {
        Noise(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// Five patterns on a local disk, NFS and s3fs, eight rounds. It is made only once, as most tests use it.
pub(crate) fn comparison() -> Study {
    static COMPARISON: OnceLock<Study> = OnceLock::new();
    COMPARISON.get_or_init(compared).clone()
}

/// Two patterns of it, with one worker and the first seconds of each run: to write and to read all of it takes longer than what
/// most tests are about.
pub(crate) fn short_comparison() -> Study {
    let mut study = comparison();
    study.rows.retain(|row| ["read", "randrw"].contains(&row.pattern.as_str()));
    for run in study.rows.iter_mut().filter_map(|row| row.run.as_mut()) {
        run.jobs.truncate(1);
        run.jobs.iter_mut().for_each(|job| job.latency_series.truncate(3));
        run.nodes.iter_mut().filter_map(|node| node.ledger.as_mut()).for_each(|ledger| ledger.samples.truncate(3));
    }
    study
}

fn compared() -> Study {
    let mut study = empty(Question::Compare);
    study.targets = vec![
        target("local", "/data", local_disk()),
        target("nfs", "/mnt/nfs", nfs_mount()),
        target("s3", "/mnt/s3", s3fs_mount()),
    ];
    for round in 0..8 {
        for (index, pattern) in PATTERNS.iter().enumerate() {
            for column in 0..3 {
                study.rows.push(row(column, index, pattern, round));
            }
        }
    }
    study.sentences = vec![
        "NFS reads run at the speed of the 1 Gbit/s link (107 of at most 125 MB/s): the link is the limit. NFS writes wait for \
         the server, 14 ms each."
            .into(),
        "The s3 reads are no S3 numbers: 428 MB/s cannot come through a link that carries 125 MB/s, and the wire carried none of \
         them. They came from the local cache of s3fs."
            .into(),
    ];
    study.notes = vec![
        note(
            "cache-not-dropped",
            Severity::Caution,
            "The page cache of the s3fs mount could not be dropped between rounds.",
        ),
        note(
            "size-adapted",
            Severity::Info,
            "1 GiB per worker: a quarter of the machine's memory, as the rules ask for.",
        ),
    ];
    study
}

/// An empty study of a question.
pub(crate) fn empty(question: Question) -> Study {
    Study {
        study_schema: STUDY_SCHEMA_VERSION,
        id: format!("20261121-120228-{}-3f2a", question.word()),
        question,
        version: "fio-3.42-fsdyno-0.1.0".into(),
        command: ["fsdyno", question.word(), "local=/data", "nfs=/mnt/nfs", "s3=/mnt/s3"].map(str::to_owned).to_vec(),
        started_ms: STARTED_MS,
        ended_ms: STARTED_MS + 2_700_000,
        complete: true,
        host: host(),
        host_name: Some("client-7".into()),
        targets: Vec::new(),
        rows: Vec::new(),
        verdicts: Vec::new(),
        sentences: Vec::new(),
        notes: Vec::new(),
    }
}

fn host() -> Host {
    Host {
        kernel: Some("Linux 6.12.9".into()),
        cpus: Some(2),
        memory_bytes: Some(24 << 30),
        clock: Some(ClockFacts {
            source: "tsc".into(),
            cost_ns: 9.5,
            frequency_hz: Some(2_500_000_000),
            drift_ppm: Some(0.4),
        }),
    }
}

pub(crate) fn note(id: &str, severity: Severity, text: &str) -> Note {
    Note { id: id.into(), severity, node: None, job: None, text: text.into() }
}

pub(crate) fn target(name: &str, path: &str, storage: Storage) -> Target {
    Target { name: name.into(), path: path.into(), storage, reference: false }
}

fn mount(point: &str, source: &str, fstype: &str, options: &[&str]) -> RecordedFact<Mount> {
    RecordedFact::Value(Mount {
        mount_point: point.into(),
        source: source.into(),
        fstype: fstype.into(),
        options: options.iter().map(|option| (*option).into()).collect(),
        ..Mount::default()
    })
}

fn local_disk() -> Storage {
    Storage {
        asked_path: "/data".into(),
        resolved_path: RecordedFact::Value("/data".into()),
        mount: mount("/data", "/dev/nvme0n1p2", "ext4", &["rw", "relatime"]),
        class: StorageClass::Block,
        space: RecordedFact::Value(Space { total_bytes: 960_197_124_096, available_bytes: 612_000_000_000 }),
        direct_io: RecordedFact::Value(DirectIo::Aligned { memory_bytes: 4, offset_bytes: 512 }),
        devices: RecordedFact::Value(vec![BlockDevice {
            name: "nvme0n1".into(),
            model: Some("Samsung PM9A3".into()),
            size_bytes: Some(960_197_124_096),
            rotational: Some(false),
            scheduler: Some("none".into()),
            queue_requests: Some(1023),
            write_cache: Some("write back".into()),
            ..BlockDevice::default()
        }]),
        ..Storage::default()
    }
}

fn server(address: &str, connect_ns: u64) -> Option<ServerIdentity> {
    Some(ServerIdentity {
        address: address.into(),
        connect_ns: RecordedFact::Value(connect_ns),
        interface: RecordedFact::Value("eth0".into()),
        link_bits_per_s: RecordedFact::Value(1_000_000_000),
    })
}

pub(crate) fn nfs_mount() -> Storage {
    Storage {
        asked_path: "/mnt/nfs".into(),
        resolved_path: RecordedFact::Value("/mnt/nfs".into()),
        mount: mount(
            "/mnt/nfs",
            "10.0.0.5:/export/data",
            "nfs4",
            &["rw", "vers=4.2", "rsize=1048576", "hard", "nconnect=4"],
        ),
        class: StorageClass::Network,
        space: RecordedFact::Value(Space { total_bytes: 8_000_000_000_000, available_bytes: 3_100_000_000_000 }),
        direct_io: RecordedFact::NotVisible("the kernel does not tell it for nfs4".into()),
        devices: RecordedFact::Value(Vec::new()),
        nfs: Some(NfsIdentity {
            version: Some("4.2".into()),
            rsize_bytes: Some(1 << 20),
            wsize_bytes: Some(1 << 20),
            nconnect: Some(4),
            transport: Some("tcp".into()),
            hard: Some(true),
            synchronous: Some(false),
            attribute_cache_s: Some([3, 60, 30, 60]),
            root: None,
        }),
        server: server("10.0.0.5:2049", 312_000),
        ..Storage::default()
    }
}

fn s3fs_mount() -> Storage {
    Storage {
        asked_path: "/mnt/s3".into(),
        resolved_path: RecordedFact::Value("/mnt/s3".into()),
        mount: mount("/mnt/s3", "s3fs", "fuse.s3fs", &["rw", "nosuid", "nodev"]),
        class: StorageClass::Fuse,
        space: RecordedFact::Value(Space { total_bytes: 1 << 50, available_bytes: 1 << 50 }),
        direct_io: RecordedFact::NotVisible("the daemon decides".into()),
        devices: RecordedFact::NotVisible("a FUSE mount has none of its own".into()),
        fuse: Some(FuseIdentity {
            kind: Some("s3fs".into()),
            daemon_pid: RecordedFact::Value(812),
            command_line: RecordedFact::Value(
                ["s3fs", "bucket", "/mnt/s3", "-o", "use_cache=/var/cache/s3fs"].map(str::to_owned).to_vec(),
            ),
            url: Some("https://s3.example.net".into()),
            cache: Some("use_cache=/var/cache/s3fs".into()),
        }),
        server: server("192.0.2.17:443", 11_400_000),
        remarks: vec!["the daemon keeps a local cache on /dev/nvme0n1p2".into()],
        ..Storage::default()
    }
}

fn row(column: usize, index: usize, pattern: &(&str, &str, [f64; 3], f64), round: u32) -> Row {
    let (word, title, speeds, reads) = *pattern;
    let mut noise = Noise::new(1 + column as u64 * 1000 + index as u64 * 100 + u64::from(round));
    let speed = speeds[column] * 1e6 * (1.0 + 0.03 * noise.next());
    let jobs: Vec<JobRecord> = (0..WORKERS)
        .map(|worker| job(word, worker, speed / f64::from(WORKERS), reads, column, round, &mut noise))
        .collect();
    let mut run = RunRecord::new("fio-3.42-fsdyno-0.1.0", STARTED_MS + 32_000 * u64::from(round));
    run.taken_ms = run.started_ms + SECONDS * 1000;
    run.elapsed_s = SECONDS;
    run.complete = true;
    run.nodes[0].host = host();
    run.jobs = jobs;
    run.nodes[0].ledger = Some(ledger(column, word, speed, reads));
    let findings = findings(column, word, speed, reads);
    let place = ["/data", "/mnt/nfs", "/mnt/s3"][column];
    let command = format!(
        "fsdyno --name={word} --filename={place}/fsdyno.dat --rw={word} --bs=4k --iodepth={DEPTH} --numjobs={WORKERS} --size=1g \
         --direct=1 --ioengine=libaio --runtime={SECONDS} --time_based --group_reporting"
    );
    Row {
        target: column,
        pattern: word.into(),
        title: title.into(),
        round,
        command: command.split_whitespace().map(str::to_owned).collect(),
        run: Some(run),
        phase: None,
        tree: None,
        findings,
    }
}

fn job(word: &str, worker: u32, speed: f64, reads: f64, column: usize, round: u32, noise: &mut Noise) -> JobRecord {
    let setup = JobSetup {
        access: Access::named(word).unwrap(),
        engine: "libaio".into(),
        depth: DEPTH,
        clones: WORKERS,
        thread: true,
        ..JobSetup::default()
    };
    let mut job = JobRecord::new(word, worker + 1, setup);
    job.group_reporting = true;
    job.clone = worker;
    job.options = [("rw", word), ("bs", "4k"), ("iodepth", "32"), ("numjobs", "4"), ("ioengine", "libaio")]
        .map(|(name, text)| (name.to_owned(), text.to_owned()))
        .to_vec();
    job.started_ms = Some(STARTED_MS);
    job.job_runtime_ms = SECONDS * 1000;
    let share = |share: f64, noise: &mut Noise| direction(speed * share, shape(word, column, round), noise);
    if reads > 0.0 {
        job.directions.read = share(reads, noise);
    }
    if reads < 1.0 {
        job.directions.write = share(1.0 - reads, noise);
        let sync_ms = [40, 1_900, 6_200][column];
        job.directions.write.runtime_ms += sync_ms;
        job.final_sync_ns = Some(sync_ms * 1_000_000);
        job.close_ns = Some(1_000_000);
    }
    let ios = job.directions.read.ios + job.directions.write.ios;
    let cpu_ns = ios * [3_100, 5_200, 9_800][column];
    (job.user_ns, job.system_ns) = (cpu_ns / 4, cpu_ns * 3 / 4);
    job.context_switches = ios / 3;
    job.depth_levels = [ios / 1000, ios / 900, ios / 800, ios / 700, ios / 50, ios - ios / 20, 0];
    job.plan.direct = Some(true);
    job.plan.ramp_ms = 5000;
    let latency = if reads > 0.0 { &job.directions.read.clat } else { &job.directions.write.clat };
    job.latency_series = slices(latency, shape(word, column, round), noise);
    if word == "randrw" && column == 2 && round == 1 {
        job.error = Some(JobError { code: 5, function: "io_u error".into(), text: "Input/output error".into() });
    }
    job
}

/// The speed over time: the share of the mean at a second.
fn shape(word: &str, column: usize, round: u32) -> fn(f64) -> f64 {
    match (word, column, round) {
        // A write cache that is full after some time.
        ("write", 0, _) => |second| if second < 11.0 { 1.45 } else { 0.74 },
        ("randwrite", 0, _) => |second| 1.08 - 0.005 * second,
        // A server that stalls in one round.
        ("randread", 1, 2) => |second| if (14.0..16.0).contains(&second) { 0.05 } else { 1.05 },
        ("randrw", 2, _) => |second| if (second as u64).is_multiple_of(6) { 0.4 } else { 1.1 },
        _ => |_| 1.0,
    }
}

fn direction(speed: f64, shape: fn(f64) -> f64, noise: &mut Noise) -> DirectionRecord {
    let ios = (speed * SECONDS as f64 / BLOCK as f64) as u64;
    let mean_ns = f64::from(DEPTH) * SECONDS as f64 * 1e9 / ios.max(1) as f64;
    let mut direction = DirectionRecord {
        bytes: ios * BLOCK,
        ios,
        runtime_ms: SECONDS * 1000,
        slat: latency(2_000.0, 0.2, ios),
        clat: latency(mean_ns * 0.9, 0.16, ios),
        lat: latency(mean_ns * 0.9 + 2_000.0, 0.16, ios),
        ..DirectionRecord::default()
    };
    for window in 1..=2 * SECONDS {
        let second = window as f64 / 2.0;
        let now = speed * shape(second - 0.25) * (1.0 + 0.05 * noise.next());
        direction.bandwidth_samples.record((now / 1024.0) as u64, window * 500);
        direction.iops_samples.record((now / BLOCK as f64) as u64, window * 500);
    }
    direction
}

/// `count` latencies around a median, with a tail: their logarithm follows a logistic distribution.
pub(crate) fn latency(median_ns: f64, spread: f64, count: u64) -> Latency {
    let mut histogram = Histogram::new();
    let mut moments = Moments::default();
    let mut put = |from: f64, to: f64| {
        let share = f64::midpoint(from, to);
        let tail = if share > 0.998 { 2.2 } else { 1.0 };
        let value = (median_ns * tail * (spread * (share / (1.0 - share)).ln()).exp()) as u64;
        let many = (count as f64 * to) as u64 - (count as f64 * from) as u64;
        histogram.add(bucket_of(value), many);
        let wide = u128::from(value);
        let (sum, squares) = (wide * u128::from(many), wide * wide * u128::from(many));
        if many > 0 {
            moments.merge(&Moments { count: many, min: value, max: value, sum, sum_of_squares: squares });
        }
    };
    for step in 0..990 {
        put(f64::from(step) / 1000.0, f64::from(step + 1) / 1000.0);
    }
    // The tail in smaller and smaller steps, up to the last request.
    let mut from = 0.99;
    while 1.0 - from > 1e-7 {
        let to = from + (1.0 - from) / 20.0;
        put(from, to);
        from = to;
    }
    put(from, 1.0);
    Latency { moments, histogram: Some(histogram) }
}

/// The distribution second by second: slower where the speed is lower.
fn slices(latency: &Latency, shape: fn(f64) -> f64, noise: &mut Noise) -> Vec<LatencySlice> {
    let bins: Vec<(u64, u64)> =
        latency.histogram.as_ref().map(|histogram| histogram.bins().collect()).unwrap_or_default();
    let mut slice = |second: u64| {
        let slower = (1.0 + 0.12 * noise.next()) / shape(second as f64 + 0.5);
        let mut classes = std::collections::BTreeMap::new();
        for (value, count) in &bins {
            // Rare latencies occur in some seconds only.
            let due = *count as f64 / SECONDS as f64 + 0.5 * (1.0 + noise.next());
            let part = due as u64;
            if part > 0 {
                *classes.entry(class_of(*value as f64 * slower)).or_insert(0) += part;
            }
        }
        LatencySlice { at_ms: (second + 1) * 1000, classes: classes.into_iter().collect() }
    };
    (0..SECONDS).map(&mut slice).collect()
}

fn class_of(ns: f64) -> u16 {
    let octave = ns.max(1.0).log2().floor();
    (octave * 4.0 + ((ns / octave.exp2() - 1.0) * 4.0).floor()) as u16
}

fn ledger(column: usize, word: &str, speed: f64, reads: f64) -> Ledger {
    let sample = |second: u64, moment| sample(second, moment, column, word, speed, reads);
    let mut samples = vec![sample(0, Moment::Begin)];
    samples.extend((1..SECONDS).map(|second| sample(second, Moment::During)));
    samples.push(sample(SECONDS, Moment::End));
    Ledger { samples, ..Ledger::default() }
}

fn sample(second: u64, moment: Moment, column: usize, word: &str, speed: f64, reads: f64) -> LedgerSample {
    let bytes = ReadWrite::from([reads, 1.0 - reads]).map(|share| (speed * share * second as f64) as u64);
    let moved = |shares: [f64; 2]| bytes.zip(shares.into()).map(|(bytes, share)| (bytes as f64 * share) as u64);
    let counters = |bytes: ReadWrite<u64>| LayerCounters { bytes, operations: bytes.map(|bytes| bytes / BLOCK) };
    let devices = match column {
        0 => RecordedFact::Value(vec![DeviceCounters {
            name: "nvme0n1".into(),
            done: counters(moved([1.0, 1.06])),
            request_ms: [second * 900, 0].into(),
            busy_ms: second * 990,
            weighted_ms: second * 31_400,
            flushes: Some(second),
            ..DeviceCounters::default()
        }]),
        1 => RecordedFact::Value(Vec::new()),
        _ => RecordedFact::NotVisible("a FUSE mount has no device of its own".into()),
    };
    let wire = |share: [f64; 2], witness: &str, exclusive| {
        RecordedFact::Value(WireCounters {
            witness: witness.into(),
            bytes: moved(share),
            exclusive,
            ..WireCounters::default()
        })
    };
    let wire = match column {
        0 => RecordedFact::NotVisible("a local filesystem has no wire".into()),
        1 => wire([1.02, 1.03], "nfs mountstats", true),
        _ => wire([0.0004, 0.31], "sockets of s3fs (pid 812)", true),
    };
    let cache = match column {
        0 => RecordedFact::Value(CacheCounters {
            cached_bytes: 0,
            dirty_bytes: Some(0),
            writeback_bytes: Some(0),
            ..CacheCounters::default()
        }),
        1 => RecordedFact::Value(CacheCounters {
            cached_bytes: 12_000_000,
            dirty_bytes: Some(0),
            writeback_bytes: Some(0),
            ..CacheCounters::default()
        }),
        _ => RecordedFact::Value(CacheCounters {
            cached_bytes: second.min(12) * 300_000_000,
            dirty_bytes: (reads < 1.0).then_some(second.min(4) * 100_000_000),
            writeback_bytes: None,
            evicted_bytes: None,
        }),
    };
    let throttled = column == 0 && word == "randrw";
    LedgerSample {
        at_ms: second * 1000,
        stage: 0,
        moment,
        application: counters(bytes),
        process: RecordedFact::Value(ProcessCounters { call_bytes: bytes, storage_bytes: bytes, cpu_ns: 0 }),
        cache,
        devices,
        wire,
        system: SystemCounters {
            throttled_count: Some(if throttled && second > 9 { (second - 9).min(4) } else { 0 }),
            ..SystemCounters::default()
        },
        ..LedgerSample::default()
    }
}

fn findings(column: usize, word: &str, speed: f64, reads: f64) -> Vec<Finding> {
    let number = |name: &str, value, unit: &str| Number { name: name.into(), value, unit: unit.into() };
    let megabytes = speed / 1e6;
    match (column, word) {
        (0, "write") => vec![Finding {
            id: "speed-drop".into(),
            severity: Severity::Caution,
            node: None, job: None,
            numbers: vec![number("before", speed * 1.45, "B/s"), number("after", speed * 0.74, "B/s")],
            cause: "The speed fell by half after 11 s and stayed there: a write cache was full, and the mean is of both.".into(),
            next: "run it for longer than the cache lasts: --runtime=300".into(),
        }],
        (1, "read" | "randread") => vec![Finding {
            id: "at-link-speed".into(),
            severity: Severity::Info,
            node: None, job: None,
            numbers: vec![number("link", 125e6, "B/s")],
            cause: format!("{megabytes:.0} MB/s are what a link of 1 Gbit/s carries: the link is the limit, not the server."),
            next: "measure the link by itself, or run it on the server".into(),
        }],
        (2, _) if reads > 0.0 => vec![Finding {
            id: "fuse-cache".into(),
            severity: Severity::Invalid,
            node: None, job: None,
            numbers: vec![number("application", speed * 30.0, "B"), number("wire", speed * 0.012, "B")],
            cause: format!(
                "{megabytes:.0} MB/s were read, and the wire carried 0.04 % of it: this is the local cache of s3fs \
                 (use_cache=/var/cache/s3fs), not S3."
            ),
            next: "mount it again without use_cache, or read objects that were never read here".into(),
        }],
        (2, _) => vec![Finding {
            id: "writes-in-cache".into(),
            severity: Severity::Caution,
            node: None, job: None,
            numbers: vec![number("wire share", 0.31, "ratio")],
            cause: "31 % of what was written had left the machine when the last write returned; the rest followed at close.".into(),
            next: "compare the durable figure: it counts the sync and the close".into(),
        }],
        _ => Vec::new(),
    }
}
