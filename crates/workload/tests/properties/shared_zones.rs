//! Workers that write the same zones, in any order of their steps: the device, which refuses what is not at a write pointer,
//! refuses nothing.

use fsdyno_job::ZonedRules;
use fsdyno_workload::{KnownZones, Zone, ZoneKind, ZoneTurn};

use super::*;

const KIB: u64 = 1024;
const ZONE: u64 = 64 * KIB;
const CAPACITY: u64 = 50 * KIB;
const ZONES: usize = 6;

/// The write pointers of a device, and the number of writes in flight in each zone.
#[derive(Default)]
struct Device {
    written: [u64; ZONES],
    in_flight: [u32; ZONES],
    /// Bytes of the write in flight.
    pending: [u64; ZONES],
    finished: [bool; ZONES],
    open_max: usize,
}

impl Device {
    fn zone(op: &Op) -> usize {
        (op.offset / ZONE) as usize
    }

    fn begin(&mut self, op: &Op) {
        let zone = Device::zone(op);
        if op.kind == OpKind::Read {
            let end = op.offset % ZONE + op.length;
            assert!(end <= self.written[zone] - self.pending[zone], "{op:?}: beyond what is written");
            return;
        }
        assert_eq!(self.in_flight[zone], 0, "{op:?}: the zone has another request");
        match op.kind {
            OpKind::Write => {
                assert!(!self.finished[zone], "{op:?}: the zone is finished");
                assert_eq!(op.offset % ZONE, self.written[zone], "{op:?}: not at the write pointer");
                self.written[zone] += op.length;
                assert!(op.length > 0 && self.written[zone] <= CAPACITY, "{op:?}: more than the zone takes");
                self.in_flight[zone] += 1;
                self.pending[zone] = op.length;
            }
            OpKind::ZoneFinish => self.finished[zone] = true,
            OpKind::ZoneReset => {
                (self.written[zone], self.finished[zone]) = (0, false);
            }
            OpKind::Trim => {
                (self.written[zone], self.finished[zone]) = (0, false);
                self.in_flight[zone] += 1;
            }
            _ => {}
        }
        let is_open = |zone: &usize| {
            let full = self.finished[*zone] || self.written[*zone] == CAPACITY && self.in_flight[*zone] == 0;
            self.written[*zone] > 0 && !full
        };
        let open = (0..ZONES).filter(is_open).count();
        assert!(self.open_max == 0 || open <= self.open_max, "{open} zones are open");
    }
}

/// A worker with the requests that it has in flight.
struct Worker {
    generator: Generator,
    block: Block,
    cursor: usize,
    in_flight: Vec<Op>,
    bytes: u64,
    ended: bool,
}

impl Worker {
    fn new(workload: &Workload) -> Worker {
        let zone = Zone { capacity: CAPACITY, written: 0, kind: ZoneKind::Sequential };
        workload.zones.set(vec![vec![zone; ZONES]]);
        let mut generator = Generator::new(workload).unwrap();
        generator.obey_zones(workload);
        Worker { generator, block: Block::new(), cursor: 0, in_flight: Vec::new(), bytes: 0, ended: false }
    }

    /// Issues the next request, if its turn has come. False: no request follows.
    fn issue(&mut self, device: &mut Device) -> bool {
        if self.cursor == self.block.len {
            self.cursor = 0;
            loop {
                match self.generator.refill(&mut self.block) {
                    Refill::Ops => break,
                    Refill::Pass => {}
                    Refill::Done => return false,
                }
            }
        }
        let next = self.block.ops[self.cursor];
        let waits = |op: &Op| op.kind == OpKind::Write && Device::zone(op) == Device::zone(&next);
        if next.kind == OpKind::ZoneFinish && self.in_flight.iter().any(waits) {
            return true;
        }
        match self.generator.take_turn(&mut self.block, self.cursor) {
            ZoneTurn::Taken => {}
            ZoneTurn::Busy => return true,
            ZoneTurn::Over => return false,
        }
        let op = self.block.ops[self.cursor];
        self.cursor += 1;
        device.begin(&op);
        if op.kind.direction().is_some() {
            self.in_flight.push(op);
        }
        true
    }

    fn complete(&mut self, device: &mut Device, number: usize) {
        if self.in_flight.is_empty() {
            return;
        }
        let op = self.in_flight.swap_remove(number % self.in_flight.len());
        if matches!(op.kind, OpKind::Write | OpKind::Trim) {
            device.in_flight[Device::zone(&op)] -= 1;
            device.pending[Device::zone(&op)] = 0;
        }
        self.bytes += op.length;
        self.generator.leave_turn(Some(&op), true);
    }

    fn end(&mut self, device: &mut Device) {
        while !self.in_flight.is_empty() {
            self.complete(device, 0);
        }
        self.generator.leave_turn(None, false);
        self.ended = true;
    }
}

fn rules() -> impl Strategy<Value = ZonedRules> {
    let limits = prop_oneof![Just((0, 0)), Just((2, 0)), Just((3, 1)), Just((1, 0))];
    let resets = prop_oneof![2 => Just((0.0, 0.0)), 1 => Just((0.3, 0.1))];
    (limits, resets).prop_map(|((open_max, job_open_max), (reset_frequency, reset_threshold))| ZonedRules {
        zone_bytes: ZONE,
        open_max,
        job_open_max,
        reset_frequency,
        reset_threshold,
        ..ZonedRules::default()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 300 } else { 3000 }))]

    #[test]
    fn one_request_at_a_time_works_on_a_zone(
        rules in rules(),
        kinds in prop::collection::vec((any::<bool>(), 0..4_u32, 1..4_u64), 2..5),
        steps in prop::collection::vec((0..8_usize, 0..200_u32), 400),
    ) {
        let zones = KnownZones::of_workers();
        let one = workload(0, ZONES as u64 * ZONE);
        let workloads = kinds.iter().enumerate().map(|(number, (random, kind, blocks))| {
            let mut workload = Workload { zones: zones.for_another(), thread_number: number as u32 + 1, ..one.clone() };
            workload.pattern.zoned = Some(rules);
            workload.pattern.random_map = false;
            workload.pattern.access = match kind {
                0 => access(*random, true, true),
                1 => Access { trims: true, ..access(*random, false, false) },
                _ => access(*random, false, true),
            };
            let size = BlockSize::Range(4 * KIB, blocks * 4 * KIB);
            workload.pattern.block_size = PerDirection { read: size.clone(), write: size, trim: BlockSize::Fixed(ZONE) };
            (workload.bytes, workload.starts_over) = (2 * one.bytes, true);
            workload
        });
        let workloads: Vec<Workload> = workloads.collect();
        let mut workers: Vec<Worker> = workloads.iter().map(Worker::new).collect();
        let mut device = Device { open_max: rules.open_max as usize, ..Device::default() };
        // A few steps in a drawn order, one of which may be the last of its worker; then all in turn, up to their ends.
        for (number, chance) in &steps {
            let count = workers.len();
            let worker = &mut workers[number % count];
            if worker.ended {
                continue;
            }
            if *chance == 0 || worker.in_flight.len() < 4 && chance % 2 == 0 && !worker.issue(&mut device) {
                worker.end(&mut device);
            } else if chance % 2 == 1 {
                worker.complete(&mut device, *chance as usize);
            }
        }
        for turn in 0.. {
            assert!(turn < 10_000, "somebody waits for ever");
            for worker in workers.iter_mut().filter(|worker| !worker.ended) {
                worker.complete(&mut device, turn);
                if !worker.issue(&mut device) {
                    worker.end(&mut device);
                }
            }
            if workers.iter().all(|worker| worker.ended) {
                break;
            }
        }
    }
}
