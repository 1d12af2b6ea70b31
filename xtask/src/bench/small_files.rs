//! Costs of many small files: CPU time of jobs that only make, examine and remove files; and of the phases of `smallfiles`,
//! compared with the bare system calls (`crates/os/examples/bare_files.rs`).

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::case::Target;
use super::floor;
use super::pairs::{alternate, median};
use super::table::{self, Line};
use super::tool::{self, RunWrapper, Tool};

/// Number of files of a job of ours, and of fio's: its cost for each file grows with their number, so that fewer of them
/// flatter it.
const FILES: (u32, u32) = (100_000, 10_000);

/// The phases that are compared with bare calls, by their names in both outputs.
const PHASES: [&str; 6] = ["write", "read", "stat-hot", "create", "rename", "unlink"];

/// CPU time of the whole process for each file, us, of both tools.
pub(super) fn job(
    ours: &Tool,
    fio: Option<&Tool>,
    directory: &Path,
    words: &str,
    target: Target,
) -> Result<Line, String> {
    let place = directory.join("files");
    let (fio, ours) = alternate(3, fio.is_some(), |is_ours| {
        empty(&place)?;
        let (tool, files) = match (fio, is_ours) {
            (Some(fio), false) => (fio, FILES.1),
            _ => (ours, FILES.0),
        };
        let words = format!(
            "--name=files --directory=files --thread --nrfiles={files} --filesize=4k --bs=4k --openfiles=1 \
             --fallocate=none {words}"
        );
        let run = tool::run(tool, &super::counting::split(&words), directory, RunWrapper::Timed)?;
        let cpu_s = run.cpu_s.ok_or("GNU time is not installed")?;
        Ok(cpu_s * 1e6 / f64::from(files))
    })?;
    empty(&place)?;
    let ratio = median(&fio.iter().zip(&ours).map(|(fio, ours)| fio / ours).collect::<Vec<f64>>());
    Ok(Line {
        case: String::new(),
        measure: format!("CPU per file, us (fio: {} files)", FILES.1),
        fio: median(&fio).map(table::number),
        ours: median(&ours),
        ratio,
        target,
        deterministic: false,
        note: None,
    })
}

fn empty(place: &Path) -> Result<(), String> {
    let _ = std::fs::remove_dir_all(place);
    std::fs::create_dir_all(place).map_err(|error| format!("{}: {error}", place.display()))
}

/// One line for each phase.
pub(super) fn phases(ours: &Tool, directory: &Path, files: u32, target: Target) -> Result<Vec<Line>, String> {
    let bare = floor::built("fsdyno-os", "bare_files")?;
    let place = directory.join("files");
    let (bare, ours) = alternate(5, true, |is_ours| {
        empty(&place)?;
        if is_ours {
            let words = format!("smallfiles files --files={files} --limit=60 --quiet --no-store --json");
            let run = tool::run(ours, &super::counting::split(&words), directory, RunWrapper::Bare)?;
            return of_study(&run.stdout);
        }
        let output = Command::new(&bare).arg(&place).arg(files.to_string()).output();
        let output = output.map_err(|error| format!("{}: {error}", bare.display()))?;
        of_lines(&String::from_utf8_lossy(&output.stdout))
            .ok_or_else(|| format!("{}: {}", bare.display(), String::from_utf8_lossy(&output.stderr).trim()))
    })?;
    empty(&place)?;
    let line = |(number, phase): (usize, &&str)| {
        let of = |costs: &[Vec<f64>]| costs.iter().map(|costs| costs[number]).collect::<Vec<f64>>();
        let (bare, ours) = (of(&bare), of(&ours));
        let times: Vec<f64> = ours.iter().zip(&bare).map(|(ours, bare)| ours / bare).collect();
        Line {
            case: String::new(),
            measure: format!("{phase}: CPU per operation, times that of bare calls"),
            fio: None,
            ours: median(&times),
            ratio: None,
            target,
            deterministic: false,
            note: median(&bare).map(|bare_ns| format!("bare calls take {} ns", table::number(bare_ns))),
        }
    };
    Ok(PHASES.iter().enumerate().map(line).collect())
}

/// CPU time of each phase per operation, ns, over its passes.
fn of_study(stdout: &str) -> Result<Vec<f64>, String> {
    let document: Value = serde_json::from_str(stdout).map_err(|error| format!("stdout: {error}"))?;
    let rows = document["rows"].as_array().ok_or("the study has no rows")?;
    let cost = |phase: &&str| {
        let passes = rows.iter().map(|row| &row["phase"]).filter(|found| found["name"] == **phase);
        let costs: Vec<f64> =
            passes.filter_map(|found| Some(found["cpu_ns"].as_f64()? / found["operations"].as_f64()?)).collect();
        median(&costs).filter(|cost| cost.is_finite()).ok_or_else(|| format!("the study has no phase {phase}"))
    };
    PHASES.iter().map(cost).collect()
}

/// The same from the output of the bare calls.
fn of_lines(output: &str) -> Option<Vec<f64>> {
    let cost = |phase: &&str| output.lines().find_map(|line| line.strip_prefix(*phase)?.trim().parse().ok());
    PHASES.iter().map(cost).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_outputs_have_costs_by_phase() {
        let lines = "write 6.0\nread 1.0\nstat-hot 2.0\ncreate 3.0\nrename 4.0\nunlink 5.5\n";
        assert_eq!(of_lines(lines), Some(vec![6.0, 1.0, 2.0, 3.0, 4.0, 5.5]));
        assert_eq!(of_lines("write 6.0\n"), None);
        let row = |(number, phase): (usize, &&str)| {
            format!(r#"{{"phase":{{"name":"{phase}","operations":2,"cpu_ns":{}}}}}"#, number * 10)
        };
        let rows: Vec<String> = PHASES.iter().enumerate().map(row).collect();
        let study = format!(r#"{{"rows":[{},{{"phase":null}}]}}"#, rows.join(","));
        assert_eq!(of_study(&study), Ok(vec![0.0, 5.0, 10.0, 15.0, 20.0, 25.0]));
        assert!(of_study(r#"{"rows":[]}"#).is_err_and(|error| error.contains("write")));
    }
}
