//! Tests of what is part of a request's latency, to the nanosecond. Every clock reading, every call and every filling
//! of a buffer takes a time of its own here.

use std::cell::Cell;
use std::rc::Rc;

use fsdyno_engine::{Completion, Engine, Queued, SelfContained, Slot, Slots};
use fsdyno_job::{Access, Direction, Durability, FileService, Pacing, Pattern, PerDirection, Seed};
use fsdyno_os::clock::Clock;
use fsdyno_os::files::OpenFile;
use fsdyno_results::{JobRecord, JobSetup, Moments};
use fsdyno_workload::{BLOCK_OPS, Content, FileRange, Generator, Op, Workload};

use crate::control::{Orders, WorkerCell};
use crate::job_clock::JobClock;
use crate::loops::{Account, Drive, Ended, EngineWithSlots, Loop, LoopParts, Progress, Survival};
use crate::open_files::OpenFiles;
use crate::queueing::Queueing;
use crate::recorder::{Recorder, RecorderOptions};

const CALL_NS: u64 = 1_000;
const READING_NS: u64 = 10;
const FILLING_NS: u64 = 100_000;
const REQUESTS: u64 = 3 * BLOCK_OPS as u64;

/// A clock that advances with each reading.
#[derive(Clone, Default)]
struct AdvancingClock {
    now_ns: Rc<Cell<u64>>,
    readings: Rc<Cell<u64>>,
}

impl AdvancingClock {
    fn pass(&self, ns: u64) {
        self.now_ns.set(self.now_ns.get() + ns);
    }
}

impl Clock for AdvancingClock {
    fn now_ns(&self) -> u64 {
        self.readings.set(self.readings.get() + 1);
        self.pass(READING_NS);
        self.now_ns.get()
    }

    fn sleep_until_ns(&self, _: u64) {}
}

/// An engine that takes a microsecond more for each 4 KiB of the offset, so that requests can be told apart.
struct Slow {
    clock: AdvancingClock,
    buffer: Vec<u8>,
    /// The number of the call that transfers only half.
    short: Option<u64>,
    calls: u64,
}

impl Engine for Slow {
    const SYNCHRONOUS: bool = true;

    type Clock = AdvancingClock;

    fn clock(&self) -> &AdvancingClock {
        &self.clock
    }

    fn queue(&mut self, slot: Slot<Self>, op: &Op, done: u64) -> Queued<Self> {
        self.clock.pass(CALL_NS + op.offset / 4096);
        self.calls += 1;
        let length = if self.short == Some(self.calls) { op.length / 2 } else { op.length - done };
        Queued::Done(Completion { slot, result: length as i64 })
    }

    fn files(&self) -> &[OpenFile] {
        &[]
    }

    fn buffer(&mut self, _: &Slot<Self>) -> &mut [u8] {
        self.clock.pass(FILLING_NS);
        &mut self.buffer
    }
}

/// An account that counts the reads.
struct Reads;

impl Account for Reads {
    fn begin_measuring(&mut self) {}

    fn job_record(&self, recorder: &Recorder, _: u64, _: fsdyno_results::SurvivedErrors) -> Box<JobRecord> {
        let mut record = JobRecord::new("a", 1, JobSetup::default());
        record.directions.read.ios = recorder.completed(Direction::Read);
        Box::new(record)
    }
}

fn workload(writes: bool) -> Workload {
    Workload {
        pattern: Pattern {
            access: Access { reads: !writes, writes, ..Access::READ },
            seed: Seed::Fixed(1),
            ..(*fsdyno_job::draft::Draft::default().job.pattern).clone()
        }
        .into(),
        service: FileService::RoundRobin { per_file: 1 },
        open_files: None,
        files: vec![FileRange { start: 0, length: REQUESTS * 4096, name: std::path::Path::new("file").into() }],
        bytes: REQUESTS * 4096,
        starts_over: false,
        pass_bytes: None,
        verified: false,
        loops: 1,
        time_based: false,
        number_ios: 0,
        backlog: None,
        trims: None,
        durability: Durability::default(),
        pacing: Pacing::default().into(),
        priority_shares: Default::default(),
        zones: Default::default(),
        counts_read_back: false,
        thread_number: 1,
        seed: 1,
    }
}

impl SelfContained for Slow {}

/// The sums of latencies, and the number of clock readings.
fn driven(writes: bool, short: Option<u64>) -> (Moments, u64) {
    driven_after(0, writes, short, &Orders::default(), &WorkerCell::default())
}

/// The same after a ramp of this length.
fn driven_after(ramp_ns: u64, writes: bool, short: Option<u64>, control: &Orders, cell: &WorkerCell) -> (Moments, u64) {
    let clock = AdvancingClock::default();
    let directions = PerDirection { read: !writes, write: writes, trim: false };
    let job = fsdyno_job::draft::Draft::default().job;
    let parts = LoopParts {
        files: OpenFiles::all(&[]),
        used: &[],
        generator: Generator::new(&workload(writes)).unwrap(),
        content: writes.then(|| Content::new(&job.content, 1)),
        queueing: Queueing { depth: 1, batch: 1, reap_min: 1, reap_max: 1, depth_low: 1 },
        recorder: Recorder::new(directions, RecorderOptions::default(), 1),
        phase: JobClock::begin(0, ramp_ns, 0, 500, 500),
        series: None,
        survival: Survival::new((*job.errors).clone(), false),
        governor: None,
        log: None,
        intervals: None,
        time_all: true,
        invalidate: false,
        between_passes: None,
        account: Box::new(Reads),
        control,
        cell,
        progress: Progress::default(),
    };
    let engine = Slow { clock: clock.clone(), buffer: vec![0; 4096], short, calls: 0 };
    let mut drive = Drive::new(EngineWithSlots { engine, slots: Slots::of_self_contained(1) }, parts);
    assert!(matches!(drive.run(), Ended::Finished));
    let shown = crate::recorder::ReportedFigures {
        clat: true,
        slat: false,
        lat: true,
        classes: true,
        bandwidth: false,
        sampled: false,
    };
    let PerDirection { read, write, .. } = drive.parts().recorder.counted(1, shown).directions;
    (if writes { write } else { read }.clat.moments, clock.readings.get())
}

/// Sum of what the calls themselves take.
const CALLS_NS: u64 = REQUESTS * CALL_NS + REQUESTS * (REQUESTS - 1) / 2;

#[test]
fn a_read_takes_its_call_and_one_reading() {
    let (latency, readings) = driven(false, None);
    assert_eq!(latency.count, REQUESTS);
    assert_eq!((latency.min, latency.max), (CALL_NS + READING_NS, CALL_NS + REQUESTS - 1 + READING_NS));
    assert_eq!(latency.sum, u128::from(CALLS_NS + REQUESTS * READING_NS));
    assert_eq!(readings, REQUESTS + 4, "one per request, one at each block's start, one at the end");
}

#[test]
fn the_filling_of_a_buffer_is_in_no_latency() {
    let (latency, readings) = driven(true, None);
    assert_eq!(latency.max, CALL_NS + REQUESTS - 1 + READING_NS);
    assert_eq!(latency.sum, u128::from(CALLS_NS + REQUESTS * READING_NS));
    assert_eq!(readings, 2 * REQUESTS + 4);
}

#[test]
fn a_short_read_is_timed_with_its_rest_and_the_next_one_without() {
    let (latency, _) = driven(false, Some(70));
    assert_eq!(latency.count, REQUESTS);
    let whole = CALL_NS + 69;
    assert_eq!(latency.max, 2 * whole + READING_NS);
    assert_eq!(latency.sum, u128::from(CALLS_NS + whole + REQUESTS * READING_NS));
}

/// An interim record of the ramp is not taken for one of the measured part, even if the next record is late.
#[test]
fn an_interim_record_of_the_warm_up_does_not_outlive_it() {
    let (control, cell) = (Orders::default(), WorkerCell::default());
    let mut warming_up = JobRecord::new("a", 1, JobSetup::default());
    warming_up.directions.read.ios = 7;
    cell.offer_snapshot(control.request_snapshots(), Box::new(warming_up));
    let (latency, _) = driven_after(CALLS_NS / 2, false, None, &control, &cell);
    assert!((1..REQUESTS).contains(&latency.count), "{} of {REQUESTS} were measured", latency.count);
    assert_eq!(cell.snapshot_since(0).map(|record| record.directions.read.ios), Some(0));
}
