//! The machine in general words: enough to judge the numbers, nothing that names it.

use std::process::Command;

use super::measure::Bench;

/// Processor, kernel, file system, tools and date, one line each.
pub(super) fn describe(bench: &Bench) -> Vec<String> {
    let mut lines = vec![
        format!("- processor: {} ({} in use)", processor(), bench.processors),
        format!("- kernel: {}", said("uname", &["-sr"])),
        format!("- file system: {}", said("stat", &["-f", "-c", "%T", &bench.directory.to_string_lossy()])),
        format!("- ours: {}", bench.ours.version),
    ];
    lines.push(format!("- beside it: {}", bench.fio.as_ref().map_or("no fio", |fio| fio.version.as_str())));
    lines.push(format!("- date: {}", said("date", &["-u", "+%Y-%m-%d"])));
    lines.push(format!("- runs: {} pairs of {} ms, pinned to one processor", bench.rounds, bench.runtime_ms));
    lines
}

fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("model name"));
    line.and_then(|line| line.split(": ").nth(1)).unwrap_or("unknown").to_owned()
}

fn said(program: &str, words: &[&str]) -> String {
    let output = Command::new(program).args(words).output();
    let text = output.ok().map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    text.filter(|text| !text.is_empty()).unwrap_or_else(|| "unknown".to_owned())
}
