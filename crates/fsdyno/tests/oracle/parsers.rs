//! Runs the two parsers of values without running jobs: fio's by `--debug=parse`, with as many texts as possible in one
//! process because each start of fio calibrates its clock for a tenth of a second; ours in this process.

use std::process::Command;

use fsdyno_job::{Outcome, Request, parse_command_line};
use fsdyno_run::MachineSources;

use crate::tools::{CLOCK, FIO, Tool};

/// An option with a text for its value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Written {
    pub(crate) option: &'static str,
    pub(crate) text: String,
}

/// A parser's result for a text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reading {
    /// It was refused, with these words.
    Refused(String),
    /// It was read: the numbers in their order, with `-` for an empty item.
    Read(Vec<String>),
}

fn word(written: &Written) -> String {
    format!("--{}={}", written.option, written.text)
}

/// How far fio reads.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// Only the numbers: nothing runs.
    Numbers,
    /// Also what options derive from their texts, which `--parse-only` leaves out. The jobs end before their first
    /// request.
    Whole,
}

/// fio's result for each; `None` without fio.
pub(crate) fn fio(all: &[Written], depth: Depth) -> Option<Vec<Reading>> {
    let fio = FIO.as_ref()?;
    let mut readings = Vec::new();
    let mut together = all.len();
    while readings.len() < all.len() {
        let rest = &all[readings.len()..];
        match read_together(fio, &rest[..together.min(rest.len())], depth) {
            Some(read) if !read.is_empty() => {
                readings.extend(read);
                together = all.len();
            }
            // fio died, and its output is lost.
            _ if together == 1 => {
                readings.push(Reading::Refused("fio dies".to_owned()));
                together = all.len();
            }
            _ => together = together.min(rest.len()).div_ceil(2),
        }
    }
    Some(readings)
}

/// The results of one fio for these texts, up to the first that it refuses. `None`: it died.
fn read_together(fio: &Tool, some: &[Written], depth: Depth) -> Option<Vec<Reading>> {
    let directory = testkit::directory();
    let last = if depth == Depth::Numbers { "--parse-only" } else { "--create_only=1" };
    let mut command = Command::new(&fio.program);
    command.args([CLOCK, "--debug=parse", "--ioengine=null", "--size=4k", last]).current_dir(&directory);
    some.iter().for_each(|written| {
        command.args(["--name=drawn".to_owned(), word(written)]);
    });
    let output = testkit::apart(&mut command).output().expect("fio runs");
    output.status.code()?;
    let (told, said) = (testkit::text(&output.stdout), testkit::text(&output.stderr));
    let refuses = ["failed parsing", "requires an argument"].iter().any(|words| said.contains(words));
    // The first piece is about the defaults. fio reads a job's options when the next one begins, and ends at the first
    // that it refuses.
    let mut jobs: Vec<&str> = told.split(" handle_option=name, ptr=drawn\n").skip(1).take(some.len()).collect();
    let refused = (!output.status.success() && refuses).then(|| {
        jobs.pop();
        Reading::Refused(said)
    });
    Some(jobs.iter().map(|lines| Reading::Read(numbers(lines.lines()))).chain(refused).collect())
}

/// The first bytes that fio writes with this pattern, `Some(None)` if it refuses it or crashes; `None` without fio.
pub(crate) fn bytes_by_fio(written: &Written, length: usize) -> Option<Option<Vec<u8>>> {
    let fio = FIO.as_ref()?;
    let directory = testkit::directory();
    let words = ["--name=drawn", "--filename=data", "--size=512", "--bs=512", "--rw=write", "--output=report"];
    let mut command = Command::new(&fio.program);
    let command = testkit::apart(&mut command).arg(CLOCK).args(words).arg(word(written));
    let output = command.current_dir(&directory).output();
    let bytes =
        std::fs::read(directory.path().join("data")).ok().filter(|_| output.is_ok_and(|ran| ran.status.success()));
    Some(bytes.map(|bytes| bytes[..length].to_vec()))
}

/// Our result, and the jobs.
pub(crate) fn ours(written: &Written) -> (Reading, Option<Request>) {
    let words = ["--debug=parse", "--ioengine=null", "--name=drawn"].map(str::to_owned);
    match parse_command_line(
        &[words.to_vec(), vec![word(written), "--parse-only".to_owned()]].concat(),
        &mut MachineSources,
    ) {
        Outcome::Run(request) => {
            let lines = request.trace.iter().flatten().skip_while(|line| !line.starts_with("handle_option=name"));
            (Reading::Read(numbers(lines.map(String::as_str))), Some(*request))
        }
        Outcome::Rejected(rejection) => {
            let texts: Vec<String> = rejection.errors.iter().map(|error| error.render(false)).collect();
            (Reading::Refused(texts.concat()), None)
        }
        Outcome::Immediate(action) => panic!("{written:?} asks for {action:?}"),
    }
}

/// Parses `ret=0, out=5` and `out=0.500000`; an empty item has `ret=1`.
fn numbers<'l>(lines: impl Iterator<Item = &'l str>) -> Vec<String> {
    let number = |line: &'l str| {
        let (before, number) = line.split_once("out=")?;
        Some(if before.contains("ret=1") { "-".to_owned() } else { number.to_owned() })
    };
    lines.filter_map(number).collect()
}
