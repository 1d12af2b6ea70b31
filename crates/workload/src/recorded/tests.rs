//! Tests of the requests that are read from iologs and traces of blktrace, and of the errors in them.

use std::io;

use super::*;
use crate::op::OpKind;

/// A log in memory.
#[derive(Debug)]
struct Text(Vec<u8>);

impl LogInput for Text {
    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        let rest = self.0.get(offset as usize..).unwrap_or_default();
        // Short reads, so that a read never returns whole lines.
        let length = rest.len().min(into.len()).min(17);
        into[..length].copy_from_slice(&rest[..length]);
        Ok(length)
    }
}

type Request = (u32, OpKind, u64, u64, u64);

/// The requests of a log: file, kind, offset, length, recorded time.
fn requests(text: &str, options: &ReplayOptions) -> Result<Vec<Request>, String> {
    let summary = Summary::of(&mut text.as_bytes(), options).map_err(|error| error.to_string())?;
    let mut recorded = Recorded::new(Arc::new(Text(text.into())), options);
    let (mut block, mut requests) = (Block::new(), Vec::new());
    while recorded.refill(&mut block) {
        for (index, op) in block.ops[..block.len].iter().enumerate() {
            let due_ns = block.intended_ns.as_ref().map_or(NO_INSTANT, |stamps| stamps[index]);
            requests.push((op.file, op.kind, op.offset, op.length, due_ns));
        }
        block.len = 0;
    }
    assert_eq!(recorded.fault(), None, "the second reading finds no error either");
    assert_eq!(summary.requests, requests.len() as u64);
    Ok(requests)
}

const LOG: &str = "fio version 3 iolog\n\
    500 a add\n500 b add\n510 a open\n510 b open\n\
    1500 a write 4097 4096\n2000 b read 0 8192\n2000 a sync 4097 0\n3501 b trim 12288 4096\n4000 a close\n";

#[test]
fn requests_keep_their_moments() {
    use OpKind::{Read, Sync, Trim, Write};
    let plain = requests(LOG, &ReplayOptions::default()).unwrap();
    let expected = [
        (0, Write, 4097, 4096, 1_000_000),
        (1, Read, 0, 8192, 1_500_000),
        (0, Sync, 0, 0, 1_500_000),
        (1, Trim, 12288, 4096, 3_001_000),
    ];
    assert_eq!(plain, expected);
    let of = |options: ReplayOptions| requests(LOG, &options).unwrap();
    let faster = of(ReplayOptions { time_percent: 300, ..Default::default() });
    assert_eq!(faster.iter().map(|request| request.4).collect::<Vec<_>>(), [333_333, 500_000, 500_000, 1_000_333]);
    let slower = of(ReplayOptions { time_percent: 1, ..Default::default() });
    assert_eq!(slower[3].4, 300_100_000);
    let skipping = of(ReplayOptions { skip: [true, false, false, true], ..Default::default() });
    assert_eq!(
        skipping,
        [expected[0], expected[3]].map(|(_, kind, at, length, due)| (u32::from(kind == Trim), kind, at, length, due))
    );
    let placed = of(ReplayOptions { offset_divisor: 2, align: 512, ..Default::default() });
    assert_eq!(placed.iter().map(|request| request.2).collect::<Vec<_>>(), [2048, 0, 0, 6144]);
    let stalled = of(ReplayOptions { no_stall: true, ..Default::default() });
    assert!(stalled.iter().all(|request| request.4 == NO_INSTANT) && stalled.len() == 4);
    let redirect = ReplayOptions { redirect: Some("c".to_owned()), ..Default::default() };
    assert!(of(redirect.clone()).iter().all(|request| request.0 == 0));
    let summary = Summary::of(&mut LOG.as_bytes(), &redirect).unwrap();
    assert_eq!((summary.files.len(), summary.files[0].name.as_str(), summary.files[0].end), (1, "c", 16384));
}

#[test]
fn version_2_waits_count_from_the_begin() {
    let log =
        "fio version 2 iolog\na add\na open\na write 0 512\na wait 30 0\na write 512 512\na read 0 512\na close\n";
    let due: Vec<u64> = requests(log, &ReplayOptions::default()).unwrap().iter().map(|request| request.4).collect();
    assert_eq!(due, [NO_INSTANT, 30_000_000, NO_INSTANT]);
}

#[test]
fn a_second_header_goes_on_behind_the_first_part() {
    let twice = format!("{LOG}{LOG}");
    let due: Vec<u64> = requests(&twice, &ReplayOptions::default()).unwrap().iter().map(|request| request.4).collect();
    assert_eq!(due[..4], [1_000_000, 1_500_000, 1_500_000, 3_001_000]);
    assert_eq!(due[4..], [4_500_000, 5_000_000, 5_000_000, 6_501_000]);
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    let refused = |lines: &str| {
        requests(&format!("fio version 3 iolog\n0 a add\n0 a open\n{lines}"), &ReplayOptions::default()).unwrap_err()
    };
    assert_eq!(refused("5 a frob 0 4096\n"), "line 4: bad iolog file action: frob");
    assert_eq!(refused("5 a write 0\n"), "line 4: bad iolog3: 5 a write 0");
    assert_eq!(refused("5 a datasync\n"), "line 4: bad iolog3: 5 a datasync");
    assert_eq!(
        refused("5 a write 0 4096\n4 a write 0 4096\n"),
        "line 5: recorded at 4 us, but the one before at 5 us: the log is out of order"
    );
    assert_eq!(
        refused("5 a write 0 4096\n6 a write 0 40"),
        "line 5: the log ends within a line: a part may be missing"
    );
    assert_eq!(refused("5 b write 0 4096\n"), "line 4: b has not been added before");
    assert_eq!(refused("5 a write 0 0\n"), "line 4: write of 0 bytes");
    assert_eq!(refused("5 a write 9223372036854775807 4096\n"), "line 4: write beyond the end of any file");
    assert_eq!(refused("5 a write 99999999999999999999 1\n"), "line 4: bad iolog3: 5 a write 99999999999999999999 1");
    assert_eq!(refused("5 a wait 3 0\n"), "line 4: bad iolog file action: wait");
    assert_eq!(refused(""), "line 3: the log holds no I/O that is replayed");
    assert!(refused(&"x".repeat(5000)).starts_with("line 4: longer than 4096 bytes"));
    let text = |text: &str| requests(text, &ReplayOptions::default()).unwrap_err();
    assert!(text("0 a add\n").starts_with("line 1: no header"));
    assert!(text("").starts_with("line 1: the log holds no I/O"));
    assert_eq!(text("fio version 1 iolog\n"), "line 1: iolog version 1 is not supported, only 2 and 3");
}

/// A record of blktrace from time, sector, bytes and action; `behind` is the data after it.
fn block(swapped: bool, (time_ns, sector, bytes, action): (u64, u64, u32, u32), behind: &[u8]) -> Vec<u8> {
    let mut record = Vec::new();
    let mut put = |number: u64, length: usize| {
        let bytes = &number.to_le_bytes()[..length];
        let in_order: Vec<u8> = if swapped { bytes.iter().rev().copied().collect() } else { bytes.to_vec() };
        record.extend(in_order);
    };
    put(0x6561_7407, 4);
    put(1, 4);
    put(time_ns, 8);
    put(sector, 8);
    put(bytes.into(), 4);
    put(action.into(), 4);
    put(1, 4);
    put(7 << 20 | 1, 4);
    put(0, 4);
    put(0, 2);
    put(behind.len() as u64, 2);
    [record.as_slice(), behind].concat()
}

/// A trace of two writes, a read that is merged into another one, a flush, a discard, and a write of no bytes.
fn trace(swapped: bool) -> Vec<u8> {
    let of = |time_ns, sector, bytes, action| block(swapped, (time_ns, sector, bytes, action), &[]);
    [
        block(swapped, (0, 0, 0, 0x400_0001), &[9; 16]),
        of(1_000_000, 0, 4096, 0x12_0001),
        of(1_001_000, 0, 4096, 0x82_0008),
        of(101_000_000, 8, 8192, 0x11_0001),
        of(101_000_100, 8, 4096, 0x11_0001),
        of(101_000_200, 24, 4096, 0x11_0002),
        of(101_900_000, 8, 8192, 0x81_0008),
        of(201_000_000, 0, 0, 0x16_0001),
        of(251_000_000, 32, 4096, 0x2012_0001),
        of(301_000_000, 40, 0, 0x12_0001),
        of(351_000_000, 3, 1536, 0x1a_0001),
    ]
    .concat()
}

fn requests_of(trace: &[u8], options: &ReplayOptions) -> Result<(Summary, Vec<Request>), String> {
    let summary = Summary::of(&mut &*trace, options).map_err(|error| error.to_string())?;
    let mut records = Records::new(options);
    let mut requests = Vec::new();
    let mut input = trace;
    while let Some(record) = records.next(&mut input).unwrap() {
        let op = record.op;
        requests.push((op.file, op.kind, op.offset, op.length, record.due_ns));
    }
    Ok((summary, requests))
}

#[test]
fn traces_of_both_orders_of_bytes_are_replayed() {
    use OpKind::{Read, Sync, Trim, Write};
    let expected = [
        (0, Write, 0, 4096, 0),
        (0, Read, 4096, 8192, 100_000_000),
        (0, Read, 4096, 4096, 100_000_100),
        (0, Sync, 0, 0, 200_000_000),
        (0, Trim, 16384, 4096, 250_000_000),
        (0, Write, 1536, 1536, 350_000_000),
    ];
    for swapped in [false, true] {
        let (summary, requests) = requests_of(&trace(swapped), &ReplayOptions::default()).unwrap();
        assert_eq!(requests, expected);
        assert_eq!((summary.files[0].name.as_str(), summary.depth), ("7:1", Some(1)));
    }
    let aligned = ReplayOptions { align: 4096, time_percent: 200, ..Default::default() };
    let (_, requests) = requests_of(&trace(false), &aligned).unwrap();
    assert_eq!(requests[5], (0, Write, 0, 4096, 175_000_000));
}

#[test]
fn what_is_wrong_with_a_trace_is_said_with_its_record() {
    let whole = trace(false);
    let refused = |bytes: &[u8]| requests_of(bytes, &ReplayOptions::default()).unwrap_err();
    let cut = "the trace ends within a record: a part is missing";
    assert_eq!(refused(&whole[..whole.len() - 1]), format!("record 11: {cut}"));
    assert_eq!(refused(&whole[..60]), format!("record 1: {cut}"));
    let mut damaged = whole.clone();
    damaged[64 + 48] ^= 1 << 4;
    assert_eq!(refused(&damaged), "record 3: bad blktrace version 23");
    damaged[64 + 48 + 2] = 0;
    assert_eq!(refused(&damaged), "record 3: this is no record of blktrace: the trace is damaged");
    let early = [whole.clone(), block(false, (1, 0, 512, 0x11_0001), &[])].concat();
    assert_eq!(
        refused(&early),
        "record 12: recorded at 1 ns, but the one before at 351000000 ns: the log is out of order"
    );
    assert_eq!(refused(&whole[..64]), "record 1: the log holds no I/O that is replayed");
}

#[test]
fn merged_traces_come_in_the_order_of_their_times() {
    let one = |times: &[u64], sector| -> Arc<dyn LogInput> {
        let records = times.iter().flat_map(|time| block(sector == 8, (*time, sector, 512, 0x11_0001), b"behind"));
        Arc::new(Text(records.collect()))
    };
    let merged = |parts: Vec<TraceToMerge>| {
        let mut out = Vec::new();
        merge(parts, &mut out).unwrap();
        let (_, requests) = requests_of(&out, &ReplayOptions::default()).unwrap();
        requests.iter().map(|(_, _, offset, _, due_ns)| (*due_ns, offset / 512)).collect::<Vec<_>>()
    };
    let part = |log: Arc<dyn LogInput>, scale_percent, passes| TraceToMerge { log, scale_percent, passes };
    let (first, second) = (one(&[0, 100, 200], 0), one(&[50, 100, 300], 8));
    let both = merged(vec![part(Arc::clone(&first), 100.0, 1), part(Arc::clone(&second), 100.0, 1)]);
    assert_eq!(both, [(0, 0), (50, 8), (100, 0), (100, 8), (200, 0), (300, 8)]);
    let scaled = merged(vec![part(first, 50.0, 2), part(second, 200.0, 1)]);
    assert_eq!(scaled, [(0, 0), (50, 0), (100, 0), (100, 0), (100, 8), (150, 0), (200, 0), (200, 8), (600, 8)]);
    let text: Arc<dyn LogInput> = Arc::new(Text(LOG.into()));
    let error = merge(vec![part(text, 100.0, 1)], &mut Vec::new()).unwrap_err().to_string();
    assert_eq!(error, "record 0: this is not a trace of blktrace");
}

/// Draws logs of several files and writes them twice: as fio does, and with additional blanks, which only the
/// thorough reading accepts. Both give the same requests.
#[test]
fn both_ways_of_reading_a_line_agree() {
    let mut state = 7_u64;
    let mut draw = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for round in 0..200 {
        let (mut tight, mut at_us) = (format!("fio version 3 iolog\n{0} a add\n{0} ab add\n", draw(9)), 10);
        for _ in 0..draw(300) + 1 {
            at_us += draw(3) * draw(5_000_000_000);
            let word =
                ["read", "write", "write", "read", "trim", "sync", "datasync", "sync_file_range"][draw(8) as usize];
            let (offset, length) = (draw(1 << 40), draw(1 << 20) + 1);
            let file = ["a", "a", "ab"][draw(3) as usize];
            tight.push_str(&format!("{at_us} {file} {word} {offset} {length}\n"));
        }
        let loose = tight.replace(' ', "  ").replace("fio  version  3  iolog", "fio version 3 iolog");
        let options = ReplayOptions {
            time_percent: draw(400) as u32 + 1,
            offset_divisor: draw(3) + 1,
            align: [0, 512, 4096][draw(3) as usize],
            skip: std::array::from_fn(|kind| round % 3 == 0 && draw(3) == kind as u64),
            redirect: (round % 5 == 0).then(|| "other".to_owned()),
            ..Default::default()
        };
        assert_eq!(requests(&tight, &options), requests(&loose, &options), "{tight}\n{options:?}");
    }
}
