//! `cargo xtask bench`: runs the same cases with fsdyno and fio in turn, and makes a table of their costs.
//!
//! Ratios say how many times better fsdyno is: of a cost, fio's divided by ours; of a rate, ours divided by fio's.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it talks to a person at a terminal")]

mod case;
mod cases;
mod command;
mod counting;
mod depths;
mod digest;
mod floor;
mod gaps;
mod http;
mod machine;
mod measure;
mod pairs;
pub(crate) mod program;
mod small_files;
mod table;
mod tool;

use std::path::PathBuf;

use crate::workspace::{cargo_command, folder, target_directory};
use case::Kind;
use cases::CASES;
use measure::Bench;
use table::{Line, Row};
use tool::Tool;

/// FSDYNO_BIN and FIO_BIN name other binaries.
#[derive(Debug, clap::Parser)]
#[command(name = "cargo xtask bench")]
struct Arguments {
    /// Shorter runs, under two minutes in all; fio's instruction counts are the recorded ones.
    #[arg(long)]
    quick: bool,
    /// Only the rows that no neighbour disturbs (instructions, memory, system calls, allocations), of fsdyno alone; ends
    /// with 1 when one of them misses its "must", or when the program is not position-independent, is not stripped, or is
    /// larger than 8,408,960 bytes.
    #[arg(long)]
    gate: bool,
    /// Also writes docs/benchmarks.md. Its rows stay as they are where nothing was measured, or a value is missing that they
    /// have.
    #[arg(long)]
    write: bool,
    /// Names the cases.
    #[arg(long)]
    list: bool,
    /// Only this case; may be repeated; a part of a name is enough.
    #[arg(long, value_name = "NAME")]
    case: Vec<String>,
}

/// Runs the benchmark; `Ok(false)`: a bound of the gate is missed.
pub(crate) fn run(arguments: &[String]) -> Result<bool, String> {
    let Some(asked) = crate::words::asked::<Arguments>(arguments)? else { return Ok(true) };
    let wanted: Vec<_> = CASES.iter().filter(|case| asked.wants(case.name, &case.kind)).collect();
    if asked.list {
        for case in &wanted {
            println!("{:<24} {}", case.name, case.title);
        }
        return Ok(true);
    }
    if wanted.is_empty() {
        return Err(format!("no case is called {}; --list names them", asked.case.join(" or ")));
    }
    let released = if asked.gate { released() } else { None };
    let is_static = released.is_some();
    let ours = released.map_or_else(ours, Ok)?;
    let objections = if asked.gate { objections(&ours, is_static)? } else { Vec::new() };
    // Heap blocks are counted by replacing the C library's functions, which is not possible in a static program; that
    // the loop allocates nothing is also a test of `run`.
    let wanted = wanted.into_iter().filter(|case| !(is_static && matches!(case.kind, Kind::Allocations { .. })));
    // The gate judges only rows with an absolute bound.
    let fio = if asked.gate { None } else { fio() };
    let bench = Bench::prepare(ours, fio, asked.quick)?;
    let mut lines: Vec<Line> = Vec::new();
    let day = machine::day();
    let rows_of = |lines: &[Line]| -> Vec<Row> { lines.iter().map(|line| Row::of(line, &day)).collect() };
    for case in wanted {
        eprintln!("{} …", case.title);
        lines.extend(bench.measure(case));
        if asked.write {
            // An hour of measuring is not lost when something ends this program.
            write_document(&bench, &rows_of(&lines), false)?;
        }
    }
    let rows = rows_of(&lines);
    println!("\n{}", table::markdown(&rows));
    if asked.write {
        write_document(&bench, &rows, asked.case.is_empty())?;
    }
    let missed: Vec<_> = lines.iter().filter(|line| line.is_missed() && line.deterministic).collect();
    for line in missed.iter().filter(|_| asked.gate) {
        eprintln!("missed: {} {}", line.case, line.measure);
    }
    Ok(!asked.gate || (missed.is_empty() && objections.is_empty()))
}

/// What is wrong with the program's file.
fn objections(tool: &Tool, is_static: bool) -> Result<Vec<&'static str>, String> {
    let path = tool.program.display();
    let program = std::fs::read(&tool.program).map_err(|error| format!("cannot read {path}: {error}"))?;
    let objections = if is_static { program::static_objections(&program) } else { program::objections(&program) };
    objections.iter().for_each(|objection| eprintln!("missed: {path}: {objection}"));
    Ok(objections)
}

impl Arguments {
    fn wants(&self, name: &str, kind: &Kind) -> bool {
        let named = self.case.is_empty() || self.case.iter().any(|part| name.contains(part.as_str()));
        named && (!self.gate || kind.is_deterministic())
    }
}

/// The release program for this machine, unless `FSDYNO_BIN` names another; if it cannot be built, the reason is
/// printed.
fn released() -> Option<Tool> {
    if std::env::var_os("FSDYNO_BIN").is_some() {
        return None;
    }
    let built = crate::dist::static_program().and_then(|program| Tool::find("fsdyno", program));
    built.inspect_err(|reason| eprintln!("not the program of a release: {reason}")).ok()
}

/// Builds the binary and returns its path, unless `FSDYNO_BIN` names one.
fn ours() -> Result<Tool, String> {
    if let Some(path) = std::env::var_os("FSDYNO_BIN") {
        return Tool::find("fsdyno", path.into());
    }
    let status = cargo_command().args(["build", "--release", "--quiet", "-p", "fsdyno"]).status();
    if !status.map_err(|error| format!("cargo cannot be run: {error}"))?.success() {
        return Err("cargo build --release -p fsdyno failed".to_owned());
    }
    Tool::find("fsdyno", target_directory().join("release/fsdyno"))
}

/// fio, if it is installed; otherwise the reason is printed.
fn fio() -> Option<Tool> {
    let path = std::env::var_os("FIO_BIN").map_or_else(|| PathBuf::from("fio"), PathBuf::from);
    Tool::find("fio", path).inspect_err(|error| eprintln!("fsdyno is measured alone: {error}")).ok()
}

/// Writes docs/benchmarks.md: these rows and, unless they are all, those that were not measured now.
fn write_document(bench: &Bench, rows: &[Row], are_all: bool) -> Result<(), String> {
    let path = folder().join("docs/benchmarks.md");
    let cannot = |error: std::io::Error| format!("docs/benchmarks.md cannot be written: {error}");
    let earlier = if are_all { Vec::new() } else { table::rows_of(&std::fs::read_to_string(&path).map_err(cannot)?) };
    let rows = table::joined(CASES.iter().map(|case| case.title), rows, &earlier);
    let text = table::document(&machine::describe(bench), &digest::markdown(&rows), &table::markdown(&rows));
    std::fs::write(&path, text).map_err(cannot)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::tests::asked;

    #[test]
    fn words_are_understood_or_refused() {
        assert!(asked::<Arguments>("--quick --case null").unwrap().quick);
        assert!(asked::<Arguments>("--case").unwrap_err().contains("value is required"));
        assert!(asked::<Arguments>("--fast").unwrap_err().contains("Usage"));
    }

    #[test]
    fn the_gate_asks_only_what_no_neighbour_disturbs() {
        let gate = asked::<Arguments>("--gate").unwrap();
        let timed = CASES.iter().filter(|case| matches!(case.kind, Kind::Job { .. } | Kind::Start)).count();
        let gated = CASES.iter().filter(|case| gate.wants(case.name, &case.kind)).count();
        assert!(timed > 0 && gated > 0 && gated + timed <= CASES.len());
    }

    #[test]
    fn names_are_unique() {
        for case in CASES {
            assert_eq!(CASES.iter().filter(|other| other.name == case.name).count(), 1, "{}", case.name);
        }
    }
}
