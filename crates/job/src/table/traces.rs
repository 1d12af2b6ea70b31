//! Recorded I/O and zoned devices.

use super::JobRow;
use super::build::*;
use crate::option::{Choice, Status, Status::*};

const TRACES: Status = NotYet("recorded I/O is neither written nor replayed");
const ZONES: Status = NotYet("zones of devices are not built");

const ZONE_MODES: &[Choice] = &[
    Choice::new("none", "No zones"),
    Choice::new("strided", "Do zonesize bytes in a zone, then move on to the next one"),
    Choice::new("zbd", "Zones of a zoned block device").status(ZONES),
];

#[rustfmt::skip]
pub(super) const ROWS: &[JobRow] = &[
    option("write_iolog", text(ignore_text)).tier(3).help("Record the I/O into this file").status(TRACES),
    option("read_iolog", text(ignore_text)).tier(4).help("Replay the I/O of this file").status(TRACES),
    option("read_iolog_chunked", boolean(ignore))
        .tier(4).default("0").help("Read that file piece by piece").status(TRACES),
    option("replay_no_stall", boolean(ignore))
        .tier(4).default("0").help("Replay without the recorded pauses").status(TRACES),
    option("replay_redirect", text(ignore_text)).tier(4).help("Replay onto this file").status(TRACES),
    option("replay_scale", integer(0, COUNT_MAX, ignore))
        .tier(4).default("1").help("Divide recorded offsets by this").status(TRACES),
    option("replay_align", size(0, ignore)).tier(4).default("0").help("Align recorded offsets to this").status(TRACES),
    option("replay_time_scale", integer(1, COUNT_MAX, ignore))
        .tier(4).default("100").help("Stretch recorded pauses by this percentage").status(TRACES),
    option("replay_skip", text(ignore_text)).tier(4).help("Directions to leave out of the replay").status(TRACES),
    option("merge_blktrace_file", text(ignore_text)).tier(4).help("Merge several traces into this file").status(TRACES),
    option("merge_blktrace_scalars", floats(0.0, f64::MAX, 20, ignore_floats))
        .tier(4).help("Percentage that each trace's times are scaled by").status(TRACES),
    option("merge_blktrace_iters", floats(0.0, f64::MAX, 20, ignore_floats))
        .tier(4).help("How often each trace is repeated").status(TRACES),
    option("zonemode", word(ZONE_MODES, |d, word| {
        d.written.strided = word.choice.word == "strided";
        Ok(())
    })).tier(3).default("none").help("How I/O keeps to zones").status(Partial("none and strided")),
    option("zonesize", size(0, |d, bytes| d.written.zones.bytes = bytes))
        .tier(3).default("0").help("Bytes of I/O in one zone before the next"),
    option("zonerange", size(0, |d, bytes| d.written.zones.range = bytes))
        .tier(3).default("0").help("Bytes of one zone; 0 is the zonesize"),
    option("zoneskip", size(0, |d, bytes| d.written.zones.skip = bytes))
        .tier(3).default("0").help("Bytes to leave out between zones").status(Partial("bytes; no zones, no percent")),
    option("zonecapacity", size(0, ignore)).tier(4).default("0").help("Writable bytes of one zone").status(ZONES),
    option("max_open_zones", integer(0, 4096, ignore))
        .tier(4).default("0").help("Zones open for writing, all jobs").status(ZONES),
    option("job_max_open_zones", integer(0, 4096, ignore))
        .tier(4).default("0").help("Zones open for writing, one clone").status(ZONES),
    option("ignore_zone_limits", boolean(ignore))
        .tier(4).default("0").help("Do not ask the device for its zone limits").status(ZONES),
    option("read_beyond_wp", boolean(ignore))
        .tier(4).default("0").help("Read behind the write pointer too").status(ZONES),
    option("zone_reset_threshold", floats(0.0, 1.0, 1, ignore_floats))
        .tier(4).help("Share of written blocks that brings resets").status(ZONES),
    option("zone_reset_frequency", floats(0.0, 1.0, 1, ignore_floats)).tier(4).help("Resets per write").status(ZONES),
    option("recover_zbd_write_error", boolean(ignore))
        .tier(4).default("0").help("Go on behind a failed zone write").status(ZONES),
    option("write_zone_remainder", boolean(ignore))
        .tier(4).default("0").help("Write the rest of a zone that a block does not fill").status(ZONES),
];
