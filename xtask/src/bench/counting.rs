//! Counts costs per I/O that do not depend on the clock: instructions by callgrind, heap blocks by dhat, system calls
//! by strace. Each is the slope between a short and a long run, so that the start does not count.

use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use super::tool::Tool;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counter {
    Instructions,
    HeapBlocks,
    SystemCalls,
}

impl Counter {
    fn program(self) -> &'static str {
        if self == Counter::SystemCalls { "strace" } else { "valgrind" }
    }

    fn words(self) -> &'static [&'static str] {
        match self {
            Counter::Instructions => &["--tool=callgrind", "--collect-jumps=no", "--callgrind-out-file=/dev/null"],
            Counter::HeapBlocks => &["--tool=dhat", "--dhat-out-file=/dev/null"],
            Counter::SystemCalls => &["-f", "-c"],
        }
    }

    /// Finds the total in the counting program's stderr.
    fn total(self, stderr: &str) -> Option<f64> {
        let number = |text: &str| text.replace(',', "").trim().parse().ok();
        match self {
            Counter::Instructions => {
                let line = stderr.lines().find(|line| line.contains("Collected :"))?;
                number(line.rsplit(':').next()?)
            }
            Counter::HeapBlocks => {
                let line = stderr.lines().find(|line| line.contains("Total:") && line.contains("blocks"))?;
                number(line.split(" in ").nth(1)?.split(" blocks").next()?)
            }
            Counter::SystemCalls => {
                // `100.00    0.002976           3       906        51 total`: the calls precede the errors.
                let line = stderr.lines().find(|line| line.ends_with(" total"))?;
                number(line.split_whitespace().nth(3)?)
            }
        }
    }
}

pub(super) fn split(words: &str) -> Vec<String> {
    words.split_whitespace().map(str::to_owned).collect()
}

/// The count per I/O of `tool`, from runs of `ios.0` and `ios.1` I/Os.
pub(super) fn per_io(
    counter: Counter,
    tool: &Tool,
    words: &[String],
    directory: &Path,
    ios: (u32, u32),
) -> Result<f64, String> {
    let short = total(counter, tool, words, directory, ios.0)?;
    let long = total(counter, tool, words, directory, ios.1)?;
    Ok((long - short) / f64::from(ios.1 - ios.0))
}

/// Stands for the log of a replay, which is made here: reads all over a file, all at time 0.
pub(super) const REPLAYED: &str = "--read_iolog=replayed";

pub(super) fn write_log(directory: &Path, ios: u32) -> Result<(), String> {
    let failed = |error| format!("no log can be written: {error}");
    let mut log = std::fs::File::create(directory.join("replayed")).map(BufWriter::new).map_err(failed)?;
    write!(log, "fio version 3 iolog\n0 file add\n0 file open\n").map_err(failed)?;
    for number in 0..u64::from(ios) {
        writeln!(log, "0 file read {} 4096", number * 40_503 % 16_777_216 * 4096).map_err(failed)?;
    }
    writeln!(log, "0 file close").and_then(|()| log.flush()).map_err(failed)
}

fn total(counter: Counter, tool: &Tool, words: &[String], directory: &Path, ios: u32) -> Result<f64, String> {
    if words.iter().any(|word| word == REPLAYED) {
        write_log(directory, ios)?;
    }
    let mut command = Command::new(counter.program());
    command.args(counter.words()).arg(&tool.program).args(words).arg(format!("--number_ios={ios}"));
    command.current_dir(directory).stdin(Stdio::null());
    let output = command.output().map_err(|error| format!("{} cannot be run: {error}", counter.program()))?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        let last = stderr.lines().last().unwrap_or("without a word");
        return Err(format!("{} under {} ended with {}: {last}", tool.name, counter.program(), output.status));
    }
    counter.total(&stderr).ok_or_else(|| format!("{} printed no total", counter.program()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_found() {
        let callgrind = "==1== Events    : Ir\n==1== Collected : 106852136\n==1== \n==1== I   refs:      106,852,136\n";
        assert_eq!(Counter::Instructions.total(callgrind), Some(106_852_136.0));
        let dhat = "==1== Total:     1,234,567 bytes in 4,321 blocks\n==1== At t-gmax: 1 bytes in 2 blocks\n";
        assert_eq!(Counter::HeapBlocks.total(dhat), Some(4321.0));
        let with_errors = "% time\n100.00    0.002976           3       906        51 total\n";
        assert_eq!(Counter::SystemCalls.total(with_errors), Some(906.0));
        let without_errors = "100.00    0.002976           3       906           total\n";
        assert_eq!(Counter::SystemCalls.total(without_errors), Some(906.0));
        assert_eq!(Counter::Instructions.total("nothing"), None);
    }
}
