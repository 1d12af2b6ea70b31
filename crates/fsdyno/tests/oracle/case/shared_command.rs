//! Runs rows as jobs of one command, because the start of fio takes ten times the CPU of a small job. The rows run one after
//! the other, each in its own directory, and each is compared as if it had run alone: its jobs of the document, its part of
//! the report, the files of its directory.

use std::collections::BTreeSet;
use std::path::Path;

use super::{Case, Forms, Look, compare_nodes, compare_reports, failure};
use crate::document::{self, Node};
use crate::tools::{self, FIO, OURS, RunResult, Tool};
use crate::{differences, left_behind};

/// A row: its name, and its case.
pub(crate) type Row = (&'static str, Case);

/// Number of rows in a command.
const ROWS_MAX: usize = 12;

/// Defines one test whose rows run as jobs of a few commands. A row is written as in `cases!`; its words begin with the
/// `--name` of its job, both tools end it with status 0, and it leaves files only in its job's directory.
macro_rules! shared_commands {
    ($($name:ident: $case:expr;)*) => {
        #[test]
        fn rows_of_shared_commands() {
            crate::case::shared_command::check(&[$((stringify!($name), $case)),*]);
        }
    };
}
pub(crate) use shared_commands;

/// Runs the rows with both tools and fails with all differences, each with the name of its row.
pub(crate) fn check(rows: &[Row]) {
    let Some(fio) = FIO.as_ref() else {
        testkit::skip("fio is not installed");
        return;
    };
    let failures: Vec<String> = rows.chunks(ROWS_MAX).filter_map(|rows| check_command(fio, rows)).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn check_command(fio: &Tool, rows: &[Row]) -> Option<String> {
    let command = command_of(rows);
    let formats = Forms { json: true, normal: true, terse: None }.words();
    let [fio_ran, our_ran] = [fio, &OURS].map(|tool| tools::run(tool, &command, &formats));
    let mut found = Vec::new();
    compare(rows, &fio_ran, &our_ran, &mut found);
    (!found.is_empty()).then(|| failure(&command, &formats, &found, &fio_ran, &our_ran))
}

/// The command with the jobs of all rows.
fn command_of(rows: &[Row]) -> Case {
    let mut command = Case::default();
    for (row, case) in rows {
        assert!(runs_as_job(case), "{row} cannot share a command: it belongs into cases!");
        let mut separates = Some("--stonewall".to_owned());
        for word in &case.words {
            match word.strip_prefix("--name=") {
                Some(job) => {
                    command.words.extend([format!("--name={row}.{job}"), format!("--directory={row}")]);
                    command.words.extend(separates.take());
                }
                None => command.words.push(word.clone()),
            }
        }
        // Its directory must exist before the run.
        command.files.push((format!("{row}/keep").leak(), Vec::new()));
        command.files.extend(case.files.iter().map(|(name, text)| (&*format!("{row}/{name}").leak(), text.clone())));
    }
    command
}

/// Whether the words are only about jobs, and everything that is compared belongs to them.
fn runs_as_job(case: &Case) -> bool {
    let of_jobs = case.words.first().is_some_and(|word| word.starts_with("--name="));
    let compared = |look: &Look| matches!(look, Look::Counts | Look::Depths | Look::Report | Look::Left(_));
    let alone = case.verbatim || case.apart || case.shell.is_some() || case.chosen.is_some() || case.needs.is_some();
    of_jobs && !alone && case.environment.is_empty() && case.looks.iter().all(compared)
}

fn compare(rows: &[Row], fio: &RunResult, ours: &RunResult, found: &mut Vec<String>) {
    if [fio.status, ours.status] != [Some(0); 2] {
        found.push(format!("exit status: {:?} in fio, {:?} in ours", fio.status, ours.status));
    }
    // fio itself speaks of a file that another job has just deleted.
    if !ours.stderr.is_empty() && !tools::comparing_fio_with_itself() {
        found.push("stderr is not empty".to_owned());
    }
    let outputs = [fio, ours].map(|ran| document::cut_out(&ran.stdout));
    let parsed = outputs.each_ref().map(|(text, _)| document::parse_only_document(text));
    let (fio_document, mut our_document) = match parsed {
        [Ok(fio), Ok(ours)] => (fio, ours),
        [fio, ours] => {
            let errors = [("fio", fio.err()), ("ours", ours.err())];
            found.extend(errors.iter().filter_map(|(tool, error)| Some(format!("{tool}: {}", error.as_ref()?))));
            return;
        }
    };
    found.extend(document::check_float_text(&outputs[1].0));
    differences::take_remarks(&mut our_document);
    for (row, case) in rows {
        let mut of_row = Vec::new();
        let [fio_jobs, our_jobs] = [&fio_document, &our_document].map(|document| with_jobs_of(row, document));
        if fio_jobs.jobs().is_empty() {
            of_row.push("fio's document has no job of it".to_owned());
        }
        compare_nodes(case, &fio_jobs, &our_jobs, &mut of_row);
        for look in &case.looks {
            match look {
                Look::Report => {
                    let reports = [&outputs[0].1, differences::without_remarks(&outputs[1].1)];
                    let [fio, ours] = reports.map(|report| report_of(row, rows, report));
                    compare_reports(&fio, &ours, None, &mut of_row);
                }
                Look::Left(depth) => {
                    let [fio, ours] = [fio, ours].map(|ran| ran.directory.path().join(row));
                    left_behind::compare(*depth, &fio, &ours, &mut of_row);
                }
                _ => {}
            }
        }
        found.extend(of_row.into_iter().map(|difference| format!("{row}: {difference}")));
    }
    let [fio_names, our_names] = [fio, ours].map(|ran| names_in(ran.directory.path()));
    if fio_names != our_names {
        found.push(format!("files: {fio_names:?} in fio, {our_names:?} in ours"));
    }
}

/// The document without the jobs of other rows.
fn with_jobs_of(row: &str, document: &Node) -> Node {
    let prefix = format!("{row}.");
    let is_of_row = |job: &Node| matches!(job.at("jobname"), Some(Node::Text(name)) if name.starts_with(&prefix));
    let mut document = document.clone();
    if let Node::Object(entries) = &mut document {
        for (_, value) in entries.iter_mut().filter(|(key, _)| key == "jobs") {
            if let Node::List(jobs) = value {
                jobs.retain(is_of_row);
            }
        }
    }
    document
}

/// The report without the lines of other rows: their jobs, and the groups of these. What is about the whole command stays.
fn report_of(row: &str, rows: &[Row], report: &str) -> String {
    let is_of = |name: &str, line: &str| line.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
    let mut groups = BTreeSet::new();
    let mut kept = true;
    let mut part = String::new();
    for line in report.lines() {
        if let Some((owner, _)) = rows.iter().find(|(name, _)| is_of(name, line)) {
            kept = *owner == row;
            let group = line.split_once("(groupid=").and_then(|(_, rest)| rest.split(',').next());
            groups.extend(group.filter(|_| kept));
        } else if let Some(rest) = line.strip_prefix("Run status group ") {
            kept = rest.split(' ').next().is_some_and(|group| groups.contains(group));
        } else if line.starts_with("Starting ") || line.starts_with("Disk stats") {
            kept = true;
        }
        if kept {
            part.push_str(line);
            part.push('\n');
        }
    }
    part
}

fn names_in(directory: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(directory).expect("the directory of a run is readable");
    entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::line;

    #[test]
    fn each_row_has_its_jobs_its_group_and_what_is_about_all() {
        let rows = ["a", "ab"].map(|name| (name, Case::default()));
        let report = "a.x: (g=0): rw=read\n...\nab.x: (g=1): rw=read\nStarting 2 processes\n\na.x: (groupid=0, jobs=1)\n  read\n\
                      ab.x: (groupid=1, jobs=1)\n  write\n\nRun status group 0 (all jobs):\n   READ\n\nRun status group 1 (all jobs):\n  \
                      WRITE\n\nDisk stats (read/write):\n  vda\n";
        let part = "ab.x: (g=1): rw=read\nStarting 2 processes\n\nab.x: (groupid=1, jobs=1)\n  write\n\nRun status group 1 \
                    (all jobs):\n  WRITE\n\nDisk stats (read/write):\n  vda\n";
        assert_eq!(report_of("ab", &rows, report), part);
    }

    #[test]
    fn only_words_of_jobs_share_a_command() {
        assert!(runs_as_job(&line("--name=a --size=4k").counts()));
        assert!(!runs_as_job(&line("--size=4k --name=a")));
        assert!(!runs_as_job(&line("--name=a").says("refused")));
        assert!(!runs_as_job(&line("--name=a").shell("\"$@\"")));
    }
}
