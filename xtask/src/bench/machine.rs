//! Describes the machine: enough to judge the figures, nothing that identifies it.

use std::process::Command;

use super::measure::Bench;

/// CPU, kernel, filesystem, tools and date, one line each.
pub(super) fn describe(bench: &Bench) -> Vec<String> {
    let mut lines = vec![
        format!("- processor: {} ({} in use)", processor(), bench.processors),
        format!("- kernel: {}", kernel()),
        format!("- file system: {}", output_of("stat", &["-f", "-c", "%T", &bench.directory.to_string_lossy()])),
        format!("- fsdyno: {}", bench.ours.version),
    ];
    lines.push(format!("- fio: {}", bench.fio.as_ref().map_or("not installed", |fio| fio.version.as_str())));
    lines.push(format!("- date: {}", day()));
    lines.push(format!("- load average at the end: {} (1 is this benchmark)", load()));
    lines.push(format!("- runs: {} pairs of {} ms, pinned to one processor", bench.rounds, bench.runtime_ms));
    lines
}

/// Today, in the form of ISO 8601.
pub(super) fn day() -> String {
    output_of("date", &["-u", "+%Y-%m-%d"])
}

/// Name and version of the kernel, without the suffix of its builder.
fn kernel() -> String {
    let text = output_of("uname", &["-sr"]);
    text.split('-').next().unwrap_or("unknown").to_owned()
}

/// Runnable threads over the last minute.
fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().unwrap_or("unknown").to_owned()
}

fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("model name"));
    line.and_then(|line| line.split(": ").nth(1)).unwrap_or("unknown").to_owned()
}

fn output_of(program: &str, words: &[&str]) -> String {
    let output = Command::new(program).args(words).output();
    let text = output.ok().map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    text.filter(|text| !text.is_empty()).unwrap_or_else(|| "unknown".to_owned())
}
