//! Runs one tool once, and measures its cost.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// fsdyno or fio.
#[derive(Clone, Debug)]
pub(super) struct Tool {
    pub(super) name: &'static str,
    pub(super) program: PathBuf,
    pub(super) version: String,
}

impl Tool {
    /// Asks the program for its version; an error says why it cannot be used.
    pub(super) fn find(name: &'static str, program: PathBuf) -> Result<Tool, String> {
        let output = Command::new(&program).arg("--version").output();
        let output = output.map_err(|error| format!("{} cannot be run: {error}", program.display()))?;
        let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        if !output.status.success() || version.is_empty() {
            return Err(format!("{} --version fails", program.display()));
        }
        Ok(Tool { name, program, version })
    }
}

/// The figures that the job reports.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct JobCost {
    /// I/Os of all directions.
    pub(super) ios: f64,
    /// User and system time of the workers for each I/O, ns.
    pub(super) cpu_ns: f64,
    /// User time of the workers for each I/O, ns.
    pub(super) user_ns: f64,
    /// I/Os per second.
    pub(super) iops: f64,
}

/// A run with the cost of its whole process.
pub(super) struct Run {
    pub(super) stdout: String,
    /// From before the start to after the end.
    pub(super) wall: Duration,
    /// Peak memory as the kernel counts it, MiB; `None` unless asked for.
    pub(super) memory_mib: Option<f64>,
    /// User and system time of the whole process, s; `None` unless asked for.
    pub(super) cpu_s: Option<f64>,
}

/// How a run is wrapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunWrapper {
    /// Not at all: the wall time is the tool's alone.
    Bare,
    /// By GNU time, for the peak of memory and the CPU time.
    Timed,
    /// By taskset on one processor.
    Pinned(usize),
}

/// Runs the tool in `directory` to its end.
pub(super) fn run(tool: &Tool, words: &[String], directory: &Path, wrapped: RunWrapper) -> Result<Run, String> {
    let cost_file = directory.join("cost.txt");
    let mut command = match wrapped {
        RunWrapper::Bare => Command::new(&tool.program),
        RunWrapper::Timed => {
            let mut command = Command::new("time");
            command.args(["-f", "%M %U %S", "-o"]).arg(&cost_file).arg(&tool.program);
            command
        }
        RunWrapper::Pinned(processor) => {
            let mut command = Command::new("taskset");
            command.args(["-c", &processor.to_string()]).arg(&tool.program);
            command
        }
    };
    command.args(words).current_dir(directory).stdin(Stdio::null());
    let start = Instant::now();
    let output = command.output().map_err(|error| format!("{command:?} cannot be run: {error}"))?;
    let wall = start.elapsed();
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        let first = stderr.lines().next().unwrap_or("without a word");
        return Err(format!("{} ended with {}: {first}", tool.name, output.status));
    }
    let [kibibytes, user_s, system_s] = if wrapped == RunWrapper::Timed { costs(&cost_file) } else { [None; 3] };
    Ok(Run {
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        wall,
        memory_mib: kibibytes.map(|kibibytes| kibibytes / 1024.0),
        cpu_s: user_s.zip(system_s).map(|(user_s, system_s)| user_s + system_s),
    })
}

/// What GNU time has written: peak memory, KiB, user time and system time, s.
fn costs(cost_file: &Path) -> [Option<f64>; 3] {
    let text = std::fs::read_to_string(cost_file).unwrap_or_default();
    let mut numbers = text.lines().last().unwrap_or_default().split_whitespace().map(|word| word.parse().ok());
    std::array::from_fn(|_| numbers.next().flatten())
}

/// The costs in a JSON document of either tool, summed over its jobs.
pub(super) fn job_cost(stdout: &str) -> Result<JobCost, String> {
    let start = stdout.find('{').ok_or("no JSON on stdout")?;
    let document: Value = serde_json::from_str(&stdout[start..]).map_err(|error| format!("stdout: {error}"))?;
    let jobs = document["jobs"].as_array().ok_or("the document has no jobs")?;
    let (mut ios, mut user_ns, mut system_ns, mut iops) = (0.0, 0.0, 0.0, 0.0);
    for job in jobs {
        let number = |value: &Value| value.as_f64().ok_or_else(|| format!("not a number: {value}"));
        let runtime_ns = number(&job["job_runtime"])? * 1e6;
        user_ns += number(&job["usr_cpu"])? / 100.0 * runtime_ns;
        system_ns += number(&job["sys_cpu"])? / 100.0 * runtime_ns;
        for direction in ["read", "write", "trim"] {
            ios += number(&job[direction]["total_ios"])?;
            iops += number(&job[direction]["iops"])?;
        }
    }
    if ios == 0.0 {
        return Err("the job did nothing".to_owned());
    }
    Ok(JobCost { ios, cpu_ns: (user_ns + system_ns) / ios, user_ns: user_ns / ios, iops })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_divided_by_the_ios() {
        let direction = |ios: u32| format!(r#"{{"total_ios":{ios},"iops":{ios}.0}}"#);
        let text = format!(
            r#"note {{"jobs":[{{"job_runtime":2,"usr_cpu":25.0,"sys_cpu":50.0,"read":{},"write":{},"trim":{}}}]}}"#,
            direction(750),
            direction(250),
            direction(0)
        );
        let cost = job_cost(&text).unwrap();
        assert_eq!(cost, JobCost { ios: 1000.0, cpu_ns: 1500.0, user_ns: 500.0, iops: 1000.0 });
        assert!(job_cost("nothing").is_err());
    }
}
