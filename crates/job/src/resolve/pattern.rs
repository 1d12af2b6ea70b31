//! Rules across the options of offsets and sizes.

use super::Rules;
use crate::diagnostic::WarningCode;
use crate::direction::{Direction, PerDirection};
use crate::draft::WrittenValues;
use crate::typed::*;

/// Sizes, seeds, alignment and zones.
pub(super) fn finish(job: &mut Job, written: &WrittenValues, rules: &mut Rules<'_>) {
    let pattern = &mut job.pattern;
    for direction in Direction::ALL {
        pattern.block_size[direction] = match (&written.block_split[direction], written.block_range[direction]) {
            (Some(parts), _) => match parts.as_slice() {
                [(size, _)] => BlockSize::Fixed(*size),
                parts => BlockSize::Split(parts.to_vec()),
            },
            (None, Some((low, high))) if low == high => BlockSize::Fixed(low),
            (None, Some((low, high))) => BlockSize::Range(low, high),
            (None, None) => BlockSize::Fixed(written.block_size[direction]),
        };
    }
    let access = pattern.access;
    let pairs = access.random && access.trims && access.writes && !pattern.sizes_by_sequence;
    if pairs && pattern.block_size.write != pattern.block_size.trim {
        pattern.block_size.write = pattern.block_size.trim.clone();
        let text = "fio: randtrimwrite: a write has the size of the trim before it";
        rules.warn(WarningCode::WithoutEffect, "bs", text);
    }
    pattern.seed = match (written.seed, written.repeat_random) {
        (Some(seed), _) => Seed::Fixed(seed),
        (None, true) => Seed::Repeated,
        (None, false) => Seed::System,
    };
    if pattern.distribution != Distribution::Uniform {
        pattern.random_map = false;
    }
    if let Distribution::Sequence { strides, .. } = &mut pattern.distribution {
        *strides = written.sequence_strides;
    }
    if pattern.access.trims && written.trim_ranges > 1 {
        let text = format!("fio: can't use multiple ranges with IO engine {}", job.submission.engine.name());
        rules.refuse("num_range", text, "leave num_range out: each trim is one range");
    }
    finish_alignment(pattern, written, rules);
    finish_zones(pattern, written, rules);
    if pattern.unaligned_sizes && job.submission.direct {
        rules.warn(WarningCode::UnalignedDirect, "bs_unaligned", "fio: bs_unaligned may not work with raw io");
    }
}

/// With `blockalign` other than the block size, blocks overlap, and a random map cannot tell them apart.
fn finish_alignment(pattern: &mut Pattern, written: &WrittenValues, rules: &mut Rules<'_>) {
    let align = written.block_align;
    if align == PerDirection::default() {
        return;
    }
    let smallest = |direction| pattern.block_size[direction].min();
    let whole = PerDirection {
        read: align.read.unwrap_or(smallest(Direction::Read)),
        write: align.write.unwrap_or(smallest(Direction::Write)),
        trim: align.trim.unwrap_or(smallest(Direction::Trim)),
    };
    let differs = Direction::ALL.into_iter().any(|direction| whole[direction] != smallest(direction));
    pattern.block_align = Some(whole);
    if differs && pattern.random_map && pattern.access.random {
        pattern.random_map = false;
        rules.warn(WarningCode::BlockAlignWithoutMap, "ba", "fio: Any use of blockalign= turns off randommap");
    }
}

/// Checks the rules of `zonemode=zbd`.
fn finish_device_zones(pattern: &mut Pattern, written: &WrittenValues, rules: &mut Rules<'_>) {
    let StridedZones { bytes, range, .. } = written.zones;
    if range > 0 {
        rules.warn(WarningCode::WithoutEffect, "zonerange", "zonerange has no effect with zonemode=zbd");
    }
    let (skip, skip_zones) = match written.zone_skip {
        Amount::Zones(zones) => (0, zones),
        skip => (bytes_to_skip(skip, rules), 0),
    };
    // Blocks lie where the write pointers are, so that no map of blocks says what comes once.
    pattern.random_map = false;
    pattern.zoned = Some(ZonedRules { zone_bytes: bytes, skip, skip_zones, ..written.zoned_rules });
}

/// `zoneskip` as bytes.
fn bytes_to_skip(skip: Amount, rules: &mut Rules<'_>) -> u64 {
    let Amount::Bytes(bytes) = skip else {
        rules.refuse(
            "zoneskip",
            "fio: zoneskip is no count of bytes",
            "write bytes; zonemode=zbd also reads zones: 2z",
        );
        return 0;
    };
    bytes
}

/// What cannot be done on zones, and what only zones have.
pub(super) fn finish_beside_zones(job: &mut Job, rules: &mut Rules<'_>) {
    if job.pattern.zoned.is_none() {
        let files = &job.files;
        let amounts =
            [("size", files.size), ("io_size", job.extent.io_size), ("offset", Some(files.offset))].into_iter();
        let amounts = amounts.chain([("offset_increment", Some(files.offset_increment))]);
        for (option, _) in amounts.filter(|(_, amount)| matches!(amount, Some(Amount::Zones(_)))) {
            let text = format!("fio: {option}: a count of zones needs zonemode=zbd");
            rules.refuse(option, text, "give the bytes of these zones");
        }
        return;
    }
    job.submission.engine_options.resets_zones = job.pattern.access.trims;
    let logs = job.traces.record.is_some() || !job.traces.replay.is_empty();
    let checks_otherwise = job
        .verify
        .as_ref()
        .is_some_and(|verify| verify.only || verify.state_load || verify.backlog.writes > 0 || verify.trims.is_some());
    let refused = [
        (
            checks_otherwise,
            "verify",
            "a reset takes what a later read would check: let the job itself read back at its end",
        ),
        (logs, "zonemode", "recorded I/O has offsets of its own: leave zonemode out"),
        (job.errors.on_write, "continue_on_error", "after a failed write the write pointer is unknown: leave it out"),
    ];
    for (_, option, help) in refused.into_iter().filter(|(refused, ..)| *refused) {
        rules.refuse(option, format!("fio: --zonemode=zbd and {option} are not compatible here."), help);
    }
}

/// Checks the zones of `zonemode=strided`, which move over the file.
fn finish_zones(pattern: &mut Pattern, written: &WrittenValues, rules: &mut Rules<'_>) {
    let StridedZones { bytes, range, .. } = written.zones;
    if written.zoned {
        return finish_device_zones(pattern, written, rules);
    }
    let skip = bytes_to_skip(written.zone_skip, rules);
    if !written.strided {
        if bytes > 0 {
            let text = "fio: --zonemode=none and --zonesize are not compatible.";
            rules.refuse("zonesize", text, "write zonemode=strided, or leave zonesize out");
        } else if range > 0 || skip > 0 {
            let option = if range > 0 { "zonerange" } else { "zoneskip" };
            rules.warn(WarningCode::WithoutEffect, option, format!("{option} has no effect without zonemode=strided"));
        }
        return;
    }
    if bytes == 0 {
        let text = "fio: --zonesize must be specified when using --zonemode=strided.";
        rules.refuse("zonemode", text, "write zonesize=1g, or another size");
        return;
    }
    pattern.strided = Some(StridedZones { bytes, range: if range > 0 { range } else { bytes }, skip });
}
