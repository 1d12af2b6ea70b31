//! Writes the normal report, for people.

mod job;
mod latency;
mod summary;

pub use summary::unit_work;

use fsdyno_results::{DiskRecord, JobRecord, JobSetup, Node, PerDirection, RunRecord};
use fsdyno_text::escape;
use jiff::tz::TimeZone;

use crate::clients::{self, Client};
use crate::disks::{disks_of, listed};
use crate::groups::Table;
use crate::number::Style;

/// The line that announces a job, with a line `...` for its further clones.
pub fn banner(name: &str, group: u32, setup: &JobSetup) -> String {
    let JobSetup { access, block_sizes, sizes_by_sequence, engine, depth, clones, .. } = setup;
    let style = Style::of(setup);
    let PerDirection { read, write, trim } =
        block_sizes.map(|(min, max)| format!("{}-{}", style.bytes(min), style.bytes(max)));
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
    let mut out = String::new();
    match clients::clients(run) {
        Some(clients) => write_clients(&mut out, run, &clients, zone),
        None => write_table(&mut out, run, &Table::of(run), &disks_of(run), zone),
    }
    if let Some(idleness) = run.only_node().and_then(|node| node.idleness.as_ref()) {
        summary::write_idleness(&mut out, idleness);
    }
    escape::terminal(&out).into_owned()
}

fn write_table(out: &mut String, run: &RunRecord, table: &Table<'_>, disks: &[&DiskRecord], zone: &TimeZone) {
    out.push('\n');
    for (row, group) in table.grouped_rows() {
        job::write(out, row, group, run.taken_ms, zone);
    }
    table.groups.iter().for_each(|group| summary::write_group(out, group));
    summary::write_disks(out, disks);
}

/// Writes the report of each client below its name; then one block of all, if there are several.
fn write_clients(out: &mut String, run: &RunRecord, clients: &[Client<'_>], zone: &TimeZone) {
    for client in clients {
        out.push_str(&before_lines_of(client.node));
        write_table(out, run, &client.table, &listed(&client.node.disks), zone);
    }
    if let Some(all) = clients::all(clients) {
        all.grouped_rows().for_each(|(row, group)| job::write_sum(out, row, group, run.taken_ms, zone));
    }
}

fn before_lines_of(node: &Node) -> String {
    format!("<{}> ", escape::line(&node.name))
}

/// Everything that a finished run prints, for a saved record: banners, version, start and results.
pub fn full(run: &RunRecord, zone: &TimeZone) -> String {
    if run.nodes.len() > 1 {
        return announcements(run) + &results(run, zone);
    }
    let first_clones = run.jobs.iter().filter(|job| job.clone == 0);
    let mut out: String = first_clones.map(|job| banner(&job.name, job.group, &job.setup)).collect();
    out.push_str(&escape::line(&run.version));
    out.push('\n');
    let count = |thread: bool| run.jobs.iter().filter(|job: &&JobRecord| job.setup.thread == thread).count() as u32;
    out.push_str(&starting(count(true), count(false)));
    out.push_str(&results(run, zone));
    out
}

/// The lines that a run's clients print before its end, each after the client's name.
fn announcements(run: &RunRecord) -> String {
    let mut out = String::new();
    for (index, node) in run.nodes.iter().enumerate() {
        let jobs = || run.jobs.iter().filter(move |job| job.node == index);
        let count = |thread: bool| jobs().filter(|job| job.setup.thread == thread).count() as u32;
        let mut said: String =
            jobs().filter(|job| job.clone == 0).map(|job| banner(&job.name, job.group, &job.setup)).collect();
        said.push_str(&starting(count(true), count(false)));
        for line in said.lines() {
            out.push_str(&format!("{}{line}\n", before_lines_of(node)));
        }
    }
    escape::terminal(&out).into_owned()
}
