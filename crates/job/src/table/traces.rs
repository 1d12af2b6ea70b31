//! Rows: recorded I/O and zoned devices.

use super::JobRow;
use super::build::*;
use crate::draft::Draft;
use crate::option::{Choice, Offer::*, Status, Status::*};
use crate::value::{self, Refusal};

const REPLAYED: &str = "iologs of version 2 and 3, traces of blktrace; a log that a job of the same run writes cannot be replayed; not with verify";

/// The kinds of I/O that `replay_skip` can leave out.
const SKIPPED: &[&str] = &["read", "write", "trim", "sync"];
const AFTER_ERROR: Status = Rejected("after a failed write the write pointer is unknown, and the job ends");
const REMAINDER: Status = Rejected("a rest of a zone that no block fits into stays unwritten: the zone is finished");
const ZONED: &str = "jobs that write the same zones at the same time have one range and no verify; devices of a job have zones \
    of one size; verify without verify_backlog and state files; no recorded I/O";
const ZBD: &str = "none and strided are full";
const SHARED_LIMIT: &str = "jobs that write different zones of a device at the same time have equal shares of it";

const ZONE_MODES: &[Choice] = &[
    Choice::new("none", "No zones"),
    Choice::new("strided", "Do zonesize bytes in a zone, then move on to the next one"),
    Choice::new("zbd", "Zones of a zoned block device").status(Partial(ZONED)),
];

#[rustfmt::skip]
pub(super) const ROWS: &[JobRow] = &[
    option("write_iolog", text(|d, text| {
        d.job.traces.record = Some(text.to_owned()).filter(|name| !name.is_empty());
        Ok(())
    })).tier(3).help("Record the I/O into this file").offer(Files),
    option("read_iolog", text(|d, text| {
        d.job.traces.replay = value::names(text);
        Ok(())
    })).tier(4).help("Replay the I/O of these files, separated by colons; clones take them in turn")
        .offer(Files).status(Partial(REPLAYED)),
    option("read_iolog_chunked", boolean(ignore)).tier(4).default("0").help("Read that file piece by piece")
        .status(WithoutEffect("every log is read piece by piece")),
    option("replay_no_stall", boolean(|d, on| d.job.traces.options.no_stall = on))
        .tier(4).default("0").help("Replay without the recorded pauses"),
    option("replay_redirect", text(|d, text| {
        d.job.traces.options.redirect = Some(text.to_owned()).filter(|name| !name.is_empty());
        Ok(())
    })).tier(4).help("Replay onto this file").offer(Files),
    option("replay_scale", integer(0, COUNT_MAX, |d, n| d.job.traces.options.offset_divisor = n.max(1) as u64))
        .tier(4).default("1").help("Divide recorded offsets by this"),
    option("replay_align", size(0, |d, bytes| d.job.traces.options.align = bytes))
        .tier(4).default("0").help("Round recorded offsets down to a multiple of this, a power of two"),
    option("replay_time_scale", integer(1, COUNT_MAX, |d, n| d.job.traces.options.time_percent = count(n)))
        .tier(4).default("100").help("Speed of the recorded times in percent: 200 is twice as fast"),
    option("replay_skip", text(set_skipped))
        .tier(4).help("What to leave out of the replay: read, write, trim, sync, with commas between")
        .offer(Words(SKIPPED)),
    option("merge_blktrace_file", text(|d, text| {
        d.written.merge.file = text.to_owned();
        Ok(())
    })).tier(4).help("Merge the traces of read_iolog into this file, and replay it").offer(Files),
    option("merge_blktrace_scalars", floats(0.0, 1e9, 20, |d, list| d.written.merge.scalars = list.to_vec()))
        .tier(4).help("Percentage that each trace's times are scaled by"),
    option("merge_blktrace_iters", floats(0.0, 1e9, 20, |d, list| d.written.merge.iterations = list.to_vec()))
        .tier(4).help("How often each trace is repeated"),
    option("zonemode", word(ZONE_MODES, |d, word| {
        d.written.strided = word.choice.word == "strided";
        d.written.zoned = word.choice.word == "zbd";
        Ok(())
    })).tier(3).default("none").help("How I/O keeps to zones").status(Partial(ZBD)),
    option("zonesize", size(0, |d, bytes| d.written.zones.bytes = bytes))
        .tier(3).default("0").help("Bytes of I/O in one zone before the next"),
    option("zonerange", size(0, |d, bytes| d.written.zones.range = bytes))
        .tier(3).default("0").help("Bytes of one zone; 0 is the zonesize"),
    option("zoneskip", amount(|d, skip| d.written.zone_skip = skip))
        .tier(3).default("0").help("Bytes or zones (2z) to leave out between zones"),
    option("zonecapacity", size(0, |d, bytes| d.written.zoned_rules.capacity = bytes))
        .tier(4).default("0").help("Writable bytes of one zone, on files and disks without zones; 0: all"),
    option("max_open_zones", integer(0, 4096, |d, n| d.written.zoned_rules.open_max = count(n)))
        .tier(4).default("0").help("Zones open for writing, all jobs; 0 is the device's limit").status(Partial(SHARED_LIMIT)),
    option("job_max_open_zones", integer(0, 4096, |d, n| d.written.zoned_rules.job_open_max = count(n)))
        .tier(4).default("0").help("Zones open for writing, one clone"),
    option("ignore_zone_limits", boolean(|d, on| d.written.zoned_rules.ignores_limits = on))
        .tier(4).default("0").help("Do not ask the device for its zone limits"),
    option("read_beyond_wp", boolean(|d, on| d.written.zoned_rules.reads_beyond = on))
        .tier(4).default("0").help("Read behind the write pointer too"),
    option("zone_reset_threshold", floats(0.0, 1.0, 1, |d, list| d.written.zoned_rules.reset_threshold = list.iter().sum()))
        .tier(4).help("Share of written bytes above which zone_reset_frequency resets zones"),
    option("zone_reset_frequency", floats(0.0, 1.0, 1, |d, list| d.written.zoned_rules.reset_frequency = list.iter().sum()))
        .tier(4).help("Resets per write"),
    option("recover_zbd_write_error", boolean(ignore))
        .tier(4).default("0").help("Go on behind a failed zone write").status(AFTER_ERROR),
    option("write_zone_remainder", boolean(ignore))
        .tier(4).default("0").help("Write the rest of a zone that a block does not fill").status(REMAINDER),
];

fn set_skipped(draft: &mut Draft, text: &str) -> Result<(), Refusal> {
    for word in text.split([',', ':']).map(str::trim) {
        let Some(kind) = SKIPPED.iter().position(|known| *known == word) else {
            return Err(
                Refusal::new(format!("Unknown skip type: {word}")).advise("values are read, write, trim and sync")
            );
        };
        draft.job.traces.options.skip[kind] = true;
    }
    Ok(())
}
