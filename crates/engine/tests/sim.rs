//! Tests of the virtual device against hand arithmetic.

use std::time::Duration;

use fsdyno_engine::{Completion, Engine, EngineSetup, EngineVisitor, Names, Queued, Slots, with_engine};
use fsdyno_job::{EngineName, EngineOptions, Memory, SimDevice, SimFault, SimFaultKind};
use fsdyno_os::clock::{Clock, RealClock};
use fsdyno_os::files::Advice;
use fsdyno_workload::{Op, OpKind};

const READ: Op = Op { kind: OpKind::Read, offset: 0, length: 4096, file: 0, priority: 0 };

fn with_device<V: EngineVisitor>(depth: u32, sim: SimDevice, visitor: V) -> V::Output {
    let setup = EngineSetup {
        name: EngineName::Sim,
        files: &[],
        names: Names::NONE,
        depth,
        block_bytes_max: 4096,
        memory_align: 0,
        memory: Memory::Anonymous,
        sync_range_flags: 0,
        offload: false,
        populated: false,
        discards_alone: false,
        advice: Advice::Normal,
        options: EngineOptions { sim, ..EngineOptions::default() },
        clock: RealClock::shared(),
    };
    with_engine(&setup, visitor).expect("the virtual device is always there")
}

fn device(service_ns: u64, channels: u32) -> SimDevice {
    SimDevice { service_ns, channels, queue: 0, faults: Vec::new() }
}

/// Keeps `depth` requests in flight until `total` are done.
struct Saturate {
    depth: u32,
    total: u64,
}

/// Result of a saturated device.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    latency_ns_sum: u64,
    latency_ns_max: u64,
    end_ns: u64,
    results: Vec<i64>,
}

impl EngineVisitor for Saturate {
    type Output = Outcome;

    fn visit<E: Engine>(self, mut engine: E, mut slots: Slots<E>) -> Outcome {
        let clock = engine.clock().clone();
        let mut starts_ns = vec![0; self.depth as usize];
        let mut completions = Vec::with_capacity(self.depth as usize);
        let mut queued = 0;
        let mut outcome = Outcome { latency_ns_sum: 0, latency_ns_max: 0, end_ns: 0, results: Vec::new() };
        while (outcome.results.len() as u64) < self.total {
            while queued < self.total
                && let Some(slot) = slots.take()
            {
                starts_ns[slot.index()] = clock.now_ns();
                assert!(matches!(engine.queue(slot, &READ, 0), Queued::Staged));
                engine.submit().unwrap();
                queued += 1;
            }
            engine.reap(1, 1, None, &mut completions).unwrap();
            for Completion { slot, result } in completions.drain(..) {
                let latency_ns = clock.now_ns() - starts_ns[slot.index()];
                outcome.latency_ns_sum += latency_ns;
                outcome.latency_ns_max = outcome.latency_ns_max.max(latency_ns);
                outcome.results.push(result);
                slots.put_back(slot);
            }
        }
        outcome.end_ns = clock.now_ns();
        outcome
    }
}

#[test]
fn one_channel_queues_what_it_cannot_serve() {
    // 8 in flight, 10 us each: the first eight wait 10, 20, ... 80 us, the other 992 wait 80 us.
    let outcome = with_device(8, device(10_000, 1), Saturate { depth: 8, total: 1000 });
    assert_eq!(outcome.latency_ns_sum, 360_000 + 992 * 80_000);
    assert_eq!(outcome.latency_ns_max, 80_000);
    assert_eq!(outcome.end_ns, 1000 * 10_000);
}

#[test]
fn enough_channels_serve_at_once() {
    // D <= C: every latency is S, and N requests take N / D times S.
    let outcome = with_device(4, device(10_000, 16), Saturate { depth: 4, total: 1000 });
    assert_eq!((outcome.latency_ns_sum, outcome.latency_ns_max), (1000 * 10_000, 10_000));
    assert_eq!(outcome.end_ns, 250 * 10_000);
}

#[test]
fn some_channels_share_the_queue() {
    // D = 12, C = 4: latencies of S, 2S and 3S for four each, then 3S; N / C times S in all.
    let outcome = with_device(12, device(10_000, 4), Saturate { depth: 12, total: 1200 });
    assert_eq!(outcome.latency_ns_sum, 4 * (10_000 + 20_000 + 30_000) + 1188 * 30_000);
    assert_eq!(outcome.latency_ns_max, 30_000);
    assert_eq!(outcome.end_ns, 300 * 10_000);
}

#[test]
fn faults_happen_where_the_script_says() {
    let fault = |number, kind| SimFault { number, kind };
    let faults = vec![
        fault(6, SimFaultKind::EndOfFile),
        fault(2, SimFaultKind::Error(5)),
        fault(4, SimFaultKind::Short(512)),
        fault(5, SimFaultKind::Stall(1_000_000)),
        fault(5, SimFaultKind::Short(9999)),
    ];
    let sim = SimDevice { faults, ..device(1000, 1) };
    let outcome = with_device(1, sim, Saturate { depth: 1, total: 7 });
    assert_eq!(outcome.results, [4096, -5, 4096, 512, 4096, 0, 4096]);
    assert_eq!(outcome.end_ns, 7 * 1000 + 1_000_000);
    assert_eq!(outcome.latency_ns_max, 1_001_000);
}

#[test]
fn a_stall_holds_up_one_channel_alone() {
    let faults = vec![SimFault { number: 1, kind: SimFaultKind::Stall(95_000) }];
    let sim = SimDevice { faults, ..device(10_000, 2) };
    // The first takes 105 us on one channel; the other channel serves ten meanwhile and one more by 110 us.
    let outcome = with_device(2, sim, Saturate { depth: 2, total: 12 });
    assert_eq!(outcome.latency_ns_max, 105_000);
    assert_eq!(outcome.latency_ns_sum, 105_000 + 11 * 10_000);
    assert_eq!(outcome.end_ns, 110_000);
}

/// Makes the steps that `Saturate` does not make.
struct Steps;

impl EngineVisitor for Steps {
    type Output = ();

    fn visit<E: Engine>(self, mut engine: E, mut slots: Slots<E>) {
        let clock = engine.clock().clone();
        let mut completions = Vec::with_capacity(4);
        // Two requests fit; the third is refused and its slot is returned.
        for _ in 0..2 {
            let slot = slots.take().unwrap();
            assert!(matches!(engine.queue(slot, &READ, 0), Queued::Staged));
        }
        let slot = slots.take().unwrap();
        let Queued::Full(slot) = engine.queue(slot, &READ, 0) else { panic!("the queue holds two") };
        assert_eq!(engine.reap(1, 4, None, &mut completions).unwrap(), 0, "nothing is submitted yet");
        assert_eq!(engine.submit().unwrap(), 2);
        assert_eq!(clock.now_ns(), 0, "submitting takes no time");
        assert_eq!(engine.reap(0, 4, None, &mut completions).unwrap(), 0, "polling takes no time");
        assert_eq!(clock.now_ns(), 0);
        // The timeout ends the wait at its time.
        let timeout = Some(Duration::from_nanos(400));
        assert_eq!(engine.reap(1, 4, timeout, &mut completions).unwrap(), 0);
        assert_eq!(clock.now_ns(), 400);
        assert_eq!(engine.reap(2, 4, timeout, &mut completions).unwrap(), 0);
        assert_eq!(engine.reap(2, 4, timeout, &mut completions).unwrap(), 1, "the first ends at 1000");
        assert_eq!(clock.now_ns(), 1200, "the wait ended with the second request, at 2000");
        // A request that waits for a channel is cancelled at once: the second one is in service, the third is not.
        assert!(matches!(engine.queue(slot, &READ, 0), Queued::Staged));
        engine.submit().unwrap();
        engine.cancel().unwrap();
        assert_eq!(engine.reap(0, 4, None, &mut completions).unwrap(), 1);
        assert_eq!(completions.last().unwrap().result, -i64::from(rustix::io::Errno::CANCELED.raw_os_error()));
        assert_eq!(engine.reap(1, 4, None, &mut completions).unwrap(), 1);
        assert_eq!((completions.last().unwrap().result, clock.now_ns()), (4096, 2000));
    }
}

#[test]
fn full_queues_timeouts_and_cancellation() {
    with_device(4, SimDevice { queue: 2, ..device(1000, 1) }, Steps);
}

/// A worker that only polls.
struct Poll;

impl EngineVisitor for Poll {
    type Output = u64;

    fn visit<E: Engine>(self, mut engine: E, mut slots: Slots<E>) -> u64 {
        let mut completions = Vec::with_capacity(1);
        assert!(matches!(engine.queue(slots.take().unwrap(), &READ, 0), Queued::Staged));
        engine.submit().unwrap();
        for _ in 0..10_000 {
            if engine.reap(0, 1, None, &mut completions).unwrap() == 1 {
                return engine.clock().now_ns();
            }
        }
        panic!("the time did not advance");
    }
}

#[test]
fn polling_without_end_does_not_stop_the_time() {
    assert_eq!(with_device(1, device(5_000_000, 1), Poll), 5_000_000);
}
