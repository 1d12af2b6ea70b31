//! The report for people.

mod job;
mod latency;
mod summary;

pub use summary::unit_work;

use jiff::tz::TimeZone;
use results::{JobRecord, JobSetup, PerDirection, RunRecord, escape};

use crate::disks::disks_of;
use crate::groups::Table;
use crate::number::Style;

/// The line that announces a job, with a line `...` for its further clones.
pub fn banner(name: &str, group: u32, setup: &JobSetup) -> String {
    let JobSetup { access, block_sizes, sizes_by_sequence, engine, depth, clones, .. } = setup;
    let style = Style::of(setup);
    let PerDirection { read, write, trim } =
        block_sizes.map(|(min, max)| format!("{}-{}", style.bytes(u64::from(min)), style.bytes(u64::from(max))));
    let name = escape::line(name);
    let clones = if *clones > 1 { "...\n" } else { "" };
    let third = if *sizes_by_sequence { "bs_is_seq_rand".to_owned() } else { format!("(T) {trim}") };
    let line = format!(
        "{name}: (g={group}): rw={access}, bs=(R) {read}, (W) {write}, {third}, ioengine={engine}, \
         iodepth={depth}\n{clones}"
    );
    escape::terminal(&line).into_owned()
}

/// `Starting 2 threads and 1 process`.
pub fn starting(threads: u32, processes: u32) -> String {
    let threads_text = format!("{threads} thread{}", if threads == 1 { "" } else { "s" });
    let processes_text = format!("{processes} process{}", if processes == 1 { "" } else { "es" });
    match (threads, processes) {
        (0, _) => format!("Starting {processes_text}\n"),
        (_, 0) => format!("Starting {threads_text}\n"),
        _ => format!("Starting {threads_text} and {processes_text}\n"),
    }
}

/// The results: from the blank line before the first job to the disks. Times are shown in `zone`.
pub fn results(run: &RunRecord, zone: &TimeZone) -> String {
    let table = Table::of(run);
    let mut out = String::from("\n");
    for (row, group) in table.grouped_rows() {
        job::write(&mut out, row, group, run.taken_ms, zone);
    }
    table.groups.iter().for_each(|group| summary::write_group(&mut out, group));
    summary::write_disks(&mut out, &disks_of(run));
    if let Some(idleness) = run.only_node().and_then(|node| node.idleness.as_ref()) {
        summary::write_idleness(&mut out, idleness);
    }
    escape::terminal(&out).into_owned()
}

/// All that a finished run prints, for a saved record: banners, version, start and results.
pub fn full(run: &RunRecord, zone: &TimeZone) -> String {
    let first_clones = run.jobs.iter().filter(|job| job.clone == 0);
    let mut out: String = first_clones.map(|job| banner(&job.name, job.group, &job.setup)).collect();
    out.push_str(&escape::line(&run.version));
    out.push('\n');
    let count = |thread: bool| run.jobs.iter().filter(|job: &&JobRecord| job.setup.thread == thread).count() as u32;
    out.push_str(&starting(count(true), count(false)));
    out.push_str(&results(run, zone));
    out
}
