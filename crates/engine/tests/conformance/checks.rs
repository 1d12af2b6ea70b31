//! The checks that every engine must pass.

use fsdyno_engine::{Engine, EngineVisitor, Slot, Slots};
use fsdyno_os::clock::Clock;
use fsdyno_os::errno::{EACCES, EBADF, ECANCELED, EOPNOTSUPP};
use fsdyno_os::files::OpenFile;
use fsdyno_workload::{Op, OpKind};

use super::bench::{BLOCK, BLOCKS, PATIENCE, READ_ONLY, Spec, TAIL, TestFile, Worker, fresh, op};

/// One check. Each gets a fresh file and a fresh engine.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Check {
    WhatIsWrittenIsRead,
    EndOfFile,
    RestOfATransfer,
    FullQueue,
    RefusedRequest,
    Tokens,
    Capacity,
    OneCall,
    NothingInFlight,
    Syncs,
    Discard,
    Cancel,
    DroppedInFlight,
    RandomTraffic,
    AnotherFile,
    Clocks,
}

impl Check {
    pub(crate) const ALL: [Check; 16] = [
        Check::WhatIsWrittenIsRead,
        Check::EndOfFile,
        Check::RestOfATransfer,
        Check::FullQueue,
        Check::RefusedRequest,
        Check::Tokens,
        Check::Capacity,
        Check::OneCall,
        Check::NothingInFlight,
        Check::Syncs,
        Check::Discard,
        Check::Cancel,
        Check::DroppedInFlight,
        Check::RandomTraffic,
        Check::AnotherFile,
        Check::Clocks,
    ];
}

/// A check with its engine and file.
pub(crate) struct Run<'a> {
    pub(crate) check: Check,
    pub(crate) spec: &'a Spec,
    pub(crate) test_file: &'a TestFile,
}

impl EngineVisitor for Run<'_> {
    type Output = ();

    fn visit<E: Engine>(self, engine: E, slots: Slots<E>) {
        let Run { check, spec, test_file } = self;
        assert_eq!(engine.files().len(), test_file.files.len());
        let waits = spec.name.is_synchronous_at(spec.depth) && !spec.offload;
        assert_eq!(E::SYNCHRONOUS, waits, "{:?}: the table of engines says so", spec.name);
        let worker = Worker::new(engine, slots, spec.depth);
        match check {
            Check::WhatIsWrittenIsRead => what_is_written_is_read(worker, spec, test_file),
            Check::EndOfFile => end_of_file(worker, spec),
            Check::RestOfATransfer => rest_of_a_transfer(worker, spec),
            Check::FullQueue => full_queue(worker, spec),
            Check::RefusedRequest => refused_request(worker, spec),
            Check::Tokens => tokens(worker, spec),
            Check::Capacity => capacity(worker, spec),
            Check::OneCall => one_call(worker, spec),
            Check::NothingInFlight => nothing_in_flight(worker),
            Check::Syncs => syncs(worker),
            Check::Discard => discard(worker, spec),
            Check::Cancel => cancel(worker, spec),
            Check::DroppedInFlight => dropped_in_flight(worker, spec),
            Check::RandomTraffic => random_traffic(worker, spec),
            Check::AnotherFile => another_file(worker, spec, test_file),
            Check::Clocks => clocks(worker),
        }
    }
}

fn stamp<E>(slot: &Slot<E>, round: u64) -> u8 {
    (slot.index() as u64 * 17 + round * 5 + 1) as u8
}

/// All slots write different blocks at the same time, and read them back.
fn what_is_written_is_read<E: Engine>(mut worker: Worker<E>, spec: &Spec, test_file: &TestFile) {
    for round in 0..3 {
        while let Some(slot) = worker.slots.take() {
            let stamp = stamp(&slot, round);
            worker.engine.buffer(&slot)[..BLOCK as usize].fill(stamp);
            let op = op(OpKind::Write, slot.index() as u64);
            worker.queue(slot, &op, 0).unwrap();
        }
        for (slot, result) in worker.drain() {
            assert_eq!(result, BLOCK as i64);
            worker.slots.put_back(slot);
        }
        while let Some(slot) = worker.slots.take() {
            worker.engine.buffer(&slot)[..BLOCK as usize].fill(0);
            let op = op(OpKind::Read, slot.index() as u64);
            worker.queue(slot, &op, 0).unwrap();
        }
        for (slot, result) in worker.drain() {
            assert_eq!(result, BLOCK as i64);
            if spec.stores() {
                let stamp = stamp(&slot, round);
                assert!(worker.engine.buffer(&slot)[..BLOCK as usize].iter().all(|byte| *byte == stamp));
            }
            worker.slots.put_back(slot);
        }
    }
    if spec.stores() {
        assert_eq!(worker.perform(&op(OpKind::Sync, 0), 0), 0);
        let slot = worker.slots.take().unwrap();
        let content = std::fs::read(&test_file.path).unwrap();
        let begin = slot.index() * BLOCK as usize;
        assert!(content[begin..begin + BLOCK as usize].iter().all(|byte| *byte == stamp(&slot, 2)));
    }
}

/// The last block is short; reads beyond it return no bytes.
fn end_of_file<E: Engine>(mut worker: Worker<E>, spec: &Spec) {
    let last = op(OpKind::Read, BLOCKS);
    let beyond = op(OpKind::Read, BLOCKS + 1);
    if !spec.stores() {
        assert_eq!(worker.perform(&last, 0), BLOCK as i64, "without a file there is no end of file");
        return;
    }
    assert_eq!(worker.perform(&last, 0), TAIL as i64);
    assert_eq!(worker.perform(&beyond, 0), 0);
    if !spec.direct {
        assert_eq!(worker.perform(&last, TAIL), 0, "the rest of a short read");
    }
}

/// Only the missing bytes are transferred, to their position in the buffer.
fn rest_of_a_transfer<E: Engine>(mut worker: Worker<E>, spec: &Spec) {
    let done = BLOCK / 2;
    let slot = worker.slots.take().unwrap();
    worker.engine.buffer(&slot).fill(0xee);
    let (slot, result) = worker.perform_in(slot, &op(OpKind::Read, 3), done);
    assert_eq!(result, (BLOCK - done) as i64);
    if !spec.stores() {
        return;
    }
    let buffer = worker.engine.buffer(&slot);
    assert!(buffer[..done as usize].iter().all(|byte| *byte == 0xee), "bytes of the first part stay");
    for (at, byte) in buffer[..BLOCK as usize].iter().enumerate().skip(done as usize) {
        assert_eq!(*byte, fresh(3 * BLOCK + at as u64));
    }
    buffer[..BLOCK as usize].fill(0x11);
    let (slot, result) = worker.perform_in(slot, &op(OpKind::Write, 5), done);
    assert_eq!(result, (BLOCK - done) as i64);
    let (slot, _) = worker.perform_in(slot, &op(OpKind::Read, 5), 0);
    let buffer = worker.engine.buffer(&slot);
    assert_eq!(buffer[done as usize - 1], fresh(5 * BLOCK + done - 1));
    assert!(buffer[done as usize..BLOCK as usize].iter().all(|byte| *byte == 0x11));
}

/// An engine takes `depth` requests, or returns `Full` with the slot, and takes that request after a reap.
fn full_queue<E: Engine>(mut worker: Worker<E>, spec: &Spec) {
    let mut accepted = 0;
    for round in 0..4 {
        while let Some(slot) = worker.slots.take() {
            let request = op(OpKind::Read, (slot.index() as u64 + round) % BLOCKS);
            if let Err(refused) = worker.queue(slot, &request, 0) {
                let back = worker.drain();
                assert!(!back.is_empty(), "a full engine has requests in flight");
                worker.queue(refused, &request, 0).expect("a drained engine has room");
                back.into_iter().for_each(|(slot, _)| worker.slots.put_back(slot));
                accepted += 1;
                // Only this request was left: go on with the next round.
                break;
            }
            accepted += 1;
        }
        for (slot, result) in worker.drain() {
            assert_eq!(result, BLOCK as i64);
            worker.slots.put_back(slot);
        }
    }
    assert!(accepted >= 4, "{spec:?}");
    assert_eq!(worker.slots.in_flight(), 0);
}

/// A request that fails has a negative result; other requests are not affected.
fn refused_request<E: Engine>(mut worker: Worker<E>, spec: &Spec) {
    if !spec.stores() {
        return;
    }
    let forbidden = Op { file: READ_ONLY, ..op(OpKind::Write, 0) };
    for _ in 0..3 {
        let mut forbidden_slot = None;
        while let Some(slot) = worker.slots.take() {
            let index = slot.index();
            let request = if forbidden_slot.is_none() { forbidden } else { op(OpKind::Read, index as u64) };
            forbidden_slot = forbidden_slot.or(Some(index));
            worker.queue(slot, &request, 0).unwrap();
        }
        for (slot, result) in worker.drain() {
            let refusals = [EBADF, EACCES].map(|code| -i64::from(code));
            match Some(slot.index()) == forbidden_slot {
                true => assert!(refusals.contains(&result), "{result}"),
                false => assert_eq!(result, BLOCK as i64),
            }
            worker.slots.put_back(slot);
        }
    }
}

/// Every slot is returned exactly once per request (`Worker` checks this).
fn tokens<E: Engine>(mut worker: Worker<E>, spec: &Spec) {
    let mut back = 0;
    for round in 0..50 {
        for _ in 0..=(round % spec.depth) {
            let slot = worker.slots.take().unwrap();
            let request = op(OpKind::Read, u64::from(round) % BLOCKS);
            worker.queue(slot, &request, 0).unwrap();
        }
        let all = worker.drain();
        assert_eq!(all.len() as u32, round % spec.depth + 1);
        back += all.len();
        all.into_iter().for_each(|(slot, _)| worker.slots.put_back(slot));
    }
    assert!(back >= 50);
    assert_eq!(worker.slots.in_flight(), 0);
}

/// `max` and the vector's capacity limit the completions returned; the others are returned later.
fn capacity<E: Engine>(mut worker: Worker<E>, spec: &Spec) {
    if E::SYNCHRONOUS {
        return;
    }
    while let Some(slot) = worker.slots.take() {
        let request = op(OpKind::Read, slot.index() as u64);
        worker.queue(slot, &request, 0).unwrap();
    }
    worker.submit();
    let mut narrow = Vec::with_capacity(1);
    let address = narrow.as_ptr();
    let depth = spec.depth as usize;
    assert_eq!(worker.engine.reap(depth, depth, PATIENCE, &mut narrow).unwrap(), 1);
    assert_eq!(worker.engine.reap(1, depth, PATIENCE, &mut narrow).unwrap(), 0, "there is no room");
    assert_eq!((narrow.len(), narrow.as_ptr()), (1, address));
    worker.completions.append(&mut narrow);
    let mut left = depth - 1;
    if left > 1 {
        assert_eq!(worker.engine.reap(2, 2, PATIENCE, &mut worker.completions).unwrap(), 2);
        left -= 2;
    }
    if left > 0 {
        let count = worker.engine.reap(left, 1, PATIENCE, &mut worker.completions).unwrap();
        assert_eq!(count, 1, "max limits min");
    }
    assert_eq!(worker.drain().len(), depth);
}

/// One call that submits and reaps has the same result as two calls.
fn one_call<E: Engine>(mut worker: Worker<E>, spec: &Spec) {
    if E::SYNCHRONOUS {
        return;
    }
    let depth = spec.depth as usize;
    for round in 0..3 {
        while let Some(slot) = worker.slots.take() {
            let request = op(OpKind::Read, slot.index() as u64);
            worker.queue(slot, &request, 0).unwrap();
        }
        // A `min` above the number in flight does not wait for ever; submitting nothing is not an error.
        let (engine, completions) = (&mut worker.engine, &mut worker.completions);
        let (taken, reaped) = engine.submit_and_reap(depth + round, usize::MAX, PATIENCE, completions).unwrap();
        assert!(taken <= depth && reaped <= taken, "{taken} taken, {reaped} back");
        assert_eq!(engine.submit_and_reap(0, 0, PATIENCE, completions).unwrap(), (depth - taken, 0));
        worker.staged = 0;
        let back = worker.drain();
        assert_eq!(back.len(), depth);
        for (slot, result) in back {
            assert_eq!(result, BLOCK as i64);
            worker.slots.put_back(slot);
        }
    }
}

/// Reaping with nothing in flight returns at once.
fn nothing_in_flight<E: Engine>(mut worker: Worker<E>) {
    let Worker { engine, completions, .. } = &mut worker;
    for min in [0, 1, 1000] {
        assert_eq!(engine.reap(min, usize::MAX, None, completions).unwrap(), 0);
    }
    assert_eq!(engine.submit().unwrap(), 0);
    assert!(completions.is_empty());
}

fn syncs<E: Engine>(mut worker: Worker<E>) {
    for _ in 0..2 {
        assert_eq!(worker.perform(&op(OpKind::Write, 1), 0), BLOCK as i64);
        for kind in [OpKind::Sync, OpKind::DataSync, OpKind::SyncRange] {
            let result = worker.perform(&op(kind, 1), 0);
            let lacking = cfg!(windows) && kind == OpKind::SyncRange && result == -i64::from(EOPNOTSUPP);
            assert!(result == 0 || lacking, "{kind:?}: {result}");
        }
    }
}

/// A discarded range reads as zeroes, if the filesystem supports discards.
fn discard<E: Engine>(mut worker: Worker<E>, spec: &Spec) {
    let result = worker.perform(&op(OpKind::Trim, 2), 0);
    if spec.stores() && result == -i64::from(EOPNOTSUPP) {
        println!("{:?}: this file system punches no holes", spec.name);
        return;
    }
    assert_eq!(result, BLOCK as i64);
    if spec.stores() {
        let slot = worker.slots.take().unwrap();
        let (slot, _) = worker.perform_in(slot, &op(OpKind::Read, 2), 0);
        assert!(worker.engine.buffer(&slot)[..BLOCK as usize].iter().all(|byte| *byte == 0));
    }
}

/// After a cancel every request still completes, carried out or not.
fn cancel<E: Engine>(mut worker: Worker<E>, spec: &Spec) {
    worker.engine.cancel().unwrap();
    while let Some(slot) = worker.slots.take() {
        let request = op(OpKind::Read, slot.index() as u64);
        worker.queue(slot, &request, 0).unwrap();
    }
    worker.submit();
    worker.engine.cancel().unwrap();
    let cancelled = -i64::from(ECANCELED);
    let back = worker.drain();
    assert_eq!(back.len() as u32, spec.depth);
    for (slot, result) in back {
        assert!(result == BLOCK as i64 || result == cancelled, "{result}");
        worker.slots.put_back(slot);
    }
    assert_eq!(worker.perform(&op(OpKind::Read, 0), 0), BLOCK as i64, "the engine works after a cancel");
}

/// An engine that is dropped with requests in flight leaves nothing behind that could do harm.
fn dropped_in_flight<E: Engine>(mut worker: Worker<E>, _spec: &Spec) {
    while let Some(slot) = worker.slots.take() {
        let request = op(OpKind::Read, slot.index() as u64);
        worker.queue(slot, &request, 0).unwrap();
    }
    worker.submit();
    drop(worker);
}

/// Random requests are compared with a model of the file; requests in flight never overlap.
fn random_traffic<E: Engine>(mut worker: Worker<E>, spec: &Spec) {
    if !spec.stores() {
        return;
    }
    let mut model: Vec<u8> = (0..BLOCKS * BLOCK).map(fresh).collect();
    let mut random = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = move |below: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % below
    };
    let unit = if spec.direct { BLOCK } else { 1 };
    let mut requests: Vec<Op> = vec![op(OpKind::Read, 0); spec.depth as usize];
    for _ in 0..60 {
        // Each slot uses only the blocks whose number modulo the depth is its own.
        while let Some(slot) = worker.slots.take() {
            let lanes = BLOCKS / u64::from(spec.depth);
            let block = next(lanes) * u64::from(spec.depth) + slot.index() as u64;
            let skip = next(BLOCK / 2) / unit * unit;
            let length = (next(BLOCK / 2) + 1).next_multiple_of(unit);
            let kind = if next(2) == 0 { OpKind::Read } else { OpKind::Write };
            let request = Op { kind, offset: block * BLOCK + skip, length, file: 0, priority: 0 };
            let stamp = next(256) as u8;
            worker.engine.buffer(&slot)[..length as usize].fill(stamp);
            if kind == OpKind::Write {
                model[request.offset as usize..][..length as usize].fill(stamp);
            }
            requests[slot.index()] = request;
            worker.queue(slot, &request, 0).unwrap();
        }
        for (slot, result) in worker.drain() {
            let request = requests[slot.index()];
            assert_eq!(result, request.length as i64);
            let range = request.offset as usize..request.offset as usize + request.length as usize;
            assert_eq!(worker.engine.buffer(&slot)[..request.length as usize], model[range], "{request:?}");
            worker.slots.put_back(slot);
        }
    }
}

/// A descriptor is replaced by another file: requests reach the new file, and only that one.
fn another_file<E: Engine>(mut worker: Worker<E>, spec: &Spec, test_file: &TestFile) {
    // On Windows a handle cannot be given another file.
    if !spec.stores() || cfg!(windows) {
        return;
    }
    const FILE: u32 = 5;
    let before = std::fs::read(&test_file.path).unwrap();
    let other = test_file.path.with_extension("other");
    std::fs::write(&other, vec![0; before.len()]).unwrap();
    // The file was used before: an engine that remembers a position must not use it for the new file.
    assert_eq!(worker.perform(&op(OpKind::Read, 1), 0), BLOCK as i64);
    let place = &test_file.files[0];
    place.replace(OpenFile::open(&other, place.mode()).unwrap()).unwrap();
    worker.engine.reassign(0, FILE).unwrap();
    let slot = worker.slots.take().unwrap();
    worker.engine.buffer(&slot).fill(0x77);
    let (slot, result) = worker.perform_in(slot, &Op { file: FILE, ..op(OpKind::Write, 2) }, 0);
    assert_eq!(result, BLOCK as i64);
    let (slot, result) = worker.perform_in(slot, &Op { file: FILE, ..op(OpKind::Read, 2) }, 0);
    assert_eq!((result, worker.engine.buffer(&slot)[0]), (BLOCK as i64, 0x77));
    let (_, result) = worker.perform_in(slot, &Op { file: FILE, ..op(OpKind::Sync, 0) }, 0);
    assert_eq!(result, 0);
    assert!(std::fs::read(&test_file.path).unwrap() == before, "{:?} wrote to the file before", spec.name);
    let written = std::fs::read(&other).unwrap();
    let place = 2 * BLOCK as usize..3 * BLOCK as usize;
    assert!(
        written[place].iter().all(|byte| *byte == 0x77) && written[..2 * BLOCK as usize].iter().all(|byte| *byte == 0)
    );
}

fn clocks<E: Engine>(worker: Worker<E>) {
    let clock = worker.engine.clock().clone();
    let begin = clock.now_ns();
    clock.sleep_until_ns(begin + 1000);
    clock.spin_until_ns(begin + 2000);
    assert!(clock.now_ns() >= begin + 2000);
}
