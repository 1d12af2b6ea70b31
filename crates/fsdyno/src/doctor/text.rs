//! Shows the facts to people: aligned lines under headings.

use fsdyno_present::Page;
use fsdyno_probe::Fact;
use fsdyno_text::quantity::bytes;

use super::findings::{Findings, Floor};
use super::judgement;

/// Column in which values begin.
const LABEL_WIDTH: usize = 34;

/// The whole page, for a terminal of this number of columns.
pub(super) fn page(findings: &Findings, columns: usize) -> String {
    let Findings { debug_build, floors, clock, io_uring_features, .. } = findings;
    let build = if *debug_build { "debug" } else { "release" };
    let mut page = Page::new(judgement::verdict(findings), LABEL_WIDTH, columns);
    for warning in judgement::warnings(findings) {
        page.paragraph("", &format!("warning: {warning}"));
    }
    page.gap();
    page.paragraph("", &judgement::capacity(findings));
    page.heading("Machine");
    page.line("program", &format!("fsdyno {}, {build} build", env!("CARGO_PKG_VERSION")));
    machine(&mut page, findings);
    page.heading("fsdyno's own CPU time per I/O: ioengine=null, 4 KiB random reads");
    floors.iter().for_each(|floor| page.line(&case(floor), &nanoseconds(&floor.cpu_ns)));
    page.heading("Clock");
    page.line("source", &clock.source);
    page.line("cost of one reading", &format!("{:.1} ns", clock.cost_ns));
    if let Some(hz) = clock.frequency_hz {
        page.line("frequency", &format!("{:.3} GHz", hz as f64 / 1e9));
    }
    if let Some(reason) = &clock.fallback_reason {
        page.line("not the time stamp counter", reason);
    }
    page.heading("Engines");
    engines(&mut page, findings);
    // The engine's own line gives the reason.
    let features = io_uring_features
        .as_ref()
        .map_or_else(|_| "none: io_uring is not available".to_owned(), |names| names.join(" "));
    page.line("io_uring features", &features);
    page.heading("Limits");
    limits(&mut page, findings);
    page.into_text()
}

fn machine(page: &mut Page, findings: &Findings) {
    page.line("kernel", &shown(&findings.kernel, String::clone));
    page.line("CPUs online", &shown(&findings.processors_online, u32::to_string));
    page.line("CPUs for this process", &shown(&findings.processors_usable, u32::to_string));
    page.line("memory", &shown(&findings.memory_bytes, |limit| bytes(*limit)));
}

/// The available engines on one line, the others with their reasons.
fn engines(page: &mut Page, findings: &Findings) {
    let usable: Vec<&str> =
        findings.engines.iter().filter(|engine| engine.available.is_ok()).map(|engine| engine.name.name()).collect();
    page.line("available", &if usable.is_empty() { "none".to_owned() } else { usable.join(" ") });
    for engine in &findings.engines {
        if let Err(reason) = &engine.available {
            page.line(engine.name.name(), reason);
        }
    }
}

fn limits(page: &mut Page, findings: &Findings) {
    let limits = &findings.limits;
    page.line("fs.aio-max-nr (libaio requests)", &shown(&limits.aio_max_requests, u64::to_string));
    page.line("fs.aio-nr (of these in use)", &shown(&limits.aio_reserved_requests, u64::to_string));
    page.line("open files (ulimit -n)", &limit(&limits.open_files, u64::to_string));
    page.line("open files, hard limit", &limit(&limits.open_files_hard, u64::to_string));
    page.line("locked memory (ulimit -l)", &limit(&limits.locked_memory_bytes, |limit| bytes(*limit)));
    page.line("kernel.io_uring_disabled", &shown(&limits.io_uring_disabled, u32::to_string));
    page.line("memory of the control group", &limit(&limits.cgroup_memory_bytes, |limit| bytes(*limit)));
}

/// A value, or the reason why it is not visible.
fn shown<T>(fact: &Fact<T>, text: impl Fn(&T) -> String) -> String {
    fact.as_ref().map_or_else(ToString::to_string, text)
}

fn limit(fact: &Fact<Option<u64>>, text: impl Fn(&u64) -> String) -> String {
    shown(fact, |value| value.as_ref().map_or_else(|| "no limit".to_owned(), &text))
}

fn case(floor: &Floor) -> String {
    format!("iodepth={}, {}", floor.iodepth, if floor.gtod_reduce { "gtod_reduce=1" } else { "every I/O timed" })
}

fn nanoseconds(fact: &Fact<f64>) -> String {
    shown(fact, |ns| format!("{ns:.1} ns"))
}
