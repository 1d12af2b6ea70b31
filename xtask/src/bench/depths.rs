//! Counts instructions per I/O at several iodepths: no option may cost more because more requests are in flight.

use std::path::Path;

use super::case::{Bound, FREE, Target};
use super::counting::{self, Counter, split};
use super::table::Line;
use super::tool::Tool;

/// The iodepths; the cost at the first is the measure for the others.
const DEPTHS: [u32; 3] = [64, 1024, 16_384];

/// At the second depth a request may cost this many times what it costs at the first.
const GROWTH: Target = Target { must: Bound::AtMost(1.3), aim: Bound::AtMost(1.1) };

/// Each option that holds or inspects requests, and the words of its job.
const OPTIONS: &[(&str, &str)] = &[
    ("random map", "--rw=randread"),
    ("norandommap", "--rw=randread --norandommap"),
    ("sequential", "--rw=read"),
    ("serialize_overlap", "--rw=randwrite --serialize_overlap=1"),
    ("serialize_overlap, reads and writes", "--rw=randrw --norandommap --serialize_overlap=1"),
    ("verify_backlog=1024", "--rw=randwrite --verify=crc32c --verify_backlog=1024 --do_verify=0"),
    ("verify_backlog=16", "--rw=randwrite --verify=crc32c --verify_backlog=16"),
    ("rate_iops", "--rw=randread --rate_iops=1000000000"),
    ("flow", "--rw=randread --flow=1 --flow_id=1"),
    ("latency_target", "--rw=randread --latency_target=100s --latency_window=10s --latency_percentile=99"),
    ("write_lat_log", "--rw=randread --write_lat_log=log"),
    ("bssplit", "--rw=randread --bssplit=4k/50:8k/50"),
    ("normal", "--rw=randread --random_distribution=normal:50"),
    ("zoned", "--rw=randread --random_distribution=zoned:50/10:50/90"),
    ("thinktime", "--rw=randread --thinktime=1 --thinktime_blocks=100000000"),
    ("batches of 16", "--rw=randread --iodepth_batch_submit=16 --iodepth_batch_complete_min=16"),
    ("lockfile", "--rw=randread --lockfile=readwrite"),
];

/// Lines for each option: its cost at the first depth, and how many times that it is at the others.
pub(super) fn lines(ours: &Tool, directory: &Path) -> Vec<Line> {
    let of_option = |(option, words): &(&str, &str)| {
        self::option(ours, directory, &format!("null, {option}"), &format!("{words} --size=64g"))
    };
    OPTIONS.iter().flat_map(of_option).collect()
}

fn option(ours: &Tool, directory: &Path, title: &str, words: &str) -> Vec<Line> {
    eprintln!("{title} …");
    let at = |depth: u32| {
        let words = split(&format!("--name=depth --thread --ioengine=null {words} --iodepth={depth}"));
        counting::per_io(Counter::Instructions, ours, &words, directory, (20_000, 60_000))
    };
    let line = |measure: String, value: Result<f64, String>, target: Target| Line {
        case: title.to_owned(),
        measure,
        fio: None,
        ours: value.as_ref().ok().copied(),
        ratio: None,
        target,
        deterministic: true,
        note: value.err(),
    };
    let first = at(DEPTHS[0]);
    let mut lines = vec![line(format!("instructions per I/O, iodepth {}", DEPTHS[0]), first.clone(), FREE)];
    for (number, depth) in DEPTHS.into_iter().enumerate().skip(1) {
        let growth = first.clone().and_then(|first| Ok(at(depth)? / first));
        let target = if number == 1 { GROWTH } else { FREE };
        lines.push(line(format!("iodepth {depth}: times that"), growth, target));
    }
    lines
}
