use super::*;

const KIB: u64 = 1024;

/// Four sequential zones of 64 KiB, of which 48 KiB can be written, with these bytes written.
fn zones(written_kib: [u64; 4], rules: ZonedRules) -> DeviceZones {
    let zone = |written| Zone { capacity: 48 * KIB, written: written * KIB, kind: ZoneKind::Sequential };
    let rules = ZonedRules { zone_bytes: 64 * KIB, ..rules };
    DeviceZones::new(rules, 0, 1024 * KIB, written_kib.map(zone).to_vec())
}

/// Offset and length of each write, KiB, with the actions on zones between them.
fn sequence(zones: &mut DeviceZones, writes: usize, length: u64, random: &[u64]) -> Vec<(&'static str, u64, u64)> {
    let mut seen = Vec::new();
    let mut at = 0;
    for number in 0..writes {
        let offset = random.get(number).map_or(at, |kib| kib * KIB);
        let Some(placed) = zones.write(offset, length * KIB, length * KIB) else {
            seen.push(("end", 0, 0));
            break;
        };
        at = placed.next;
        let write = Op { offset: placed.offset, length: placed.length, file: 0, kind: OpKind::Write, priority: 0 };
        let mut next = Some(zones.led(write));
        while let Some(op) = next {
            let base = if op.kind == OpKind::Write { 0 } else { 1024 * KIB };
            seen.push((op.kind.word(), (op.offset - base) / KIB, op.length / KIB));
            next = zones.following();
        }
    }
    seen
}

#[test]
fn a_sequence_writes_what_can_be_written_of_each_zone() {
    let mut zones = zones([0, 0, 0, 0], ZonedRules::default());
    let seen = sequence(&mut zones, 4, 24, &[]);
    assert_eq!(seen, [("write", 0, 24), ("write", 24, 24), ("write", 64, 24), ("write", 88, 24)]);
    assert!(zones.states.open.is_empty(), "full zones are not open");
}

#[test]
fn a_rest_that_no_block_fits_into_is_finished() {
    let mut zones = zones([0, 0, 0, 0], ZonedRules::default());
    let seen = sequence(&mut zones, 3, 20, &[]);
    assert_eq!(seen, [("write", 0, 20), ("write", 20, 20), ("zone_finish", 0, 64), ("write", 64, 20)]);
}

#[test]
fn writes_go_on_at_the_write_pointer_and_full_zones_are_reset() {
    let mut zones = zones([48, 8, 0, 0], ZonedRules::default());
    let seen = sequence(&mut zones, 3, 8, &[32, 96, 0]);
    let expected = [("zone_reset", 0, 64), ("write", 0, 8), ("write", 72, 8), ("write", 8, 8)];
    assert_eq!(seen, expected);
    assert_eq!(zones.states.open, [1, 0]);
}

#[test]
fn no_more_zones_are_open_than_allowed() {
    for limit in [(1, 0), (0, 1), (1, 3)] {
        let rules = ZonedRules { open_max: limit.0, job_open_max: limit.1, ..ZonedRules::default() };
        let mut zones = zones([0, 0, 0, 0], rules);
        let seen = sequence(&mut zones, 3, 24, &[64, 128, 192]);
        assert_eq!(seen, [("write", 64, 24), ("write", 88, 24), ("write", 192, 24)], "{limit:?}");
    }
    // More zones are open than allowed: they are filled first.
    let rules = ZonedRules { open_max: 1, ..ZonedRules::default() };
    let mut zones = zones([24, 0, 24, 0], rules);
    assert_eq!(sequence(&mut zones, 2, 24, &[64, 192]), [("write", 24, 24), ("write", 152, 24)]);
}

#[test]
fn zones_are_reset_as_often_as_asked() {
    let rules = ZonedRules { reset_frequency: 0.5, reset_threshold: 0.125, ..ZonedRules::default() };
    let mut zones = zones([0, 0, 0, 0], rules);
    // 32 KiB of 256 KiB come before the first reset.
    let words: Vec<_> = sequence(&mut zones, 7, 8, &[0; 7]).into_iter().map(|seen| seen.0).collect();
    assert_eq!(words, ["write", "write", "write", "write", "write", "zone_reset", "write", "write"]);
}

#[test]
fn reads_stay_below_the_write_pointer() {
    let mut some = zones([16, 0, 8, 0], ZonedRules::default());
    let read = |zones: &mut DeviceZones, kib: u64, random| {
        zones.read(kib * KIB, 8 * KIB, 8 * KIB, random).map(|placed| (placed.offset / KIB, placed.next / KIB))
    };
    assert_eq!(read(&mut some, 0, false), Some((0, 8)));
    assert_eq!(read(&mut some, 8, false), Some((8, 64)));
    assert_eq!(read(&mut some, 64, false), Some((128, 192)));
    assert_eq!(read(&mut some, 192, false), None, "nothing is written there or later");
    assert_eq!(read(&mut some, 200, true), Some((128, 192)));
    assert_eq!(read(&mut some, 24, true), Some((0, 8)), "folded into what is written");
    assert_eq!(read(&mut zones([0; 4], ZonedRules::default()), 0, true), None);
    assert!(some.can_be_read(16 * KIB) && !some.can_be_read(17 * KIB));
    let beyond = ZonedRules { reads_beyond: true, ..ZonedRules::default() };
    assert_eq!(read(&mut zones([0; 4], beyond), 64, false), Some((64, 72)));
}

#[test]
fn conventional_zones_are_written_anywhere_and_dead_ones_not_at_all() {
    let mut zones = zones([0, 0, 0, 0], ZonedRules::default());
    zones.states.zones[0] = Zone { capacity: 64 * KIB, written: 64 * KIB, kind: ZoneKind::Conventional };
    zones.states.zones[1].kind = ZoneKind::Unusable;
    let seen = sequence(&mut zones, 3, 8, &[40, 64, 8]);
    assert_eq!(seen, [("write", 40, 8), ("write", 128, 8), ("write", 8, 8)]);
}

#[test]
fn a_trim_empties_the_zone() {
    let mut zones = zones([48, 0, 8, 0], ZonedRules::default());
    let trim = |zones: &mut DeviceZones, kib: u64, random| {
        zones.trim(kib * KIB, random).map(|placed| (placed.offset / KIB, placed.length / KIB, placed.next / KIB))
    };
    assert_eq!(trim(&mut zones, 64, true), Some((128, 64, 192)), "one that holds data");
    assert!(zones.states.open.is_empty() && zones.states.written == 48 * KIB);
    assert_eq!(trim(&mut zones, 0, false), Some((0, 64, 64)));
    assert_eq!(trim(&mut zones, 64, true), Some((64, 64, 128)), "all are empty");
    assert_eq!((trim(&mut zones, 256, false), zones.states.written), (None, 0));
}

#[test]
fn counted_zones_are_reset_without_a_device() {
    let rules = ZonedRules { are_counted: true, ..ZonedRules::default() };
    let mut zones = zones([48, 0, 0, 0], rules);
    assert_eq!(sequence(&mut zones, 1, 24, &[0]), [("zone_reset", 0, 0), ("write", 0, 24)]);
}
