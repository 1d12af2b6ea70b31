//! Runs this program as one rank of a run on many nodes: the first rank runs the command, the others follow it.

use std::ffi::OsString;
use std::io::{PipeReader, PipeWriter};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use fsdyno_cluster::{Agent, Ending, Link, OverMpi, Transport, library};
use fsdyno_guide::Problem;
use fsdyno_guide::store::{Store, new_id};
use fsdyno_os::clock::RealClock;
use fsdyno_results::{Question, RunRecord, Study};

use super::accompanied::accompanied;
use super::launcher::Launched;
use super::{hosts, link};
use crate::process::VERSION;
use crate::process::patience::{bounds, seconds};
use crate::process::status::{BY_SIGNAL, GOOD, UNUSABLE};
use crate::process::streams::{print_stderr, report_problem};

/// The variable with the seconds after which a silent rank is named, and the seconds without it.
const SILENCE: &str = "FSDYNO_SILENCE";
const SILENCE_S: u64 = 10;

/// The option before the command by which each rank reads what its partner on another machine wrote.
const SHIFT: &str = "--shift";

/// Commands on several nodes; with other commands only the first rank would answer.
const TOGETHER: [&str; 6] = ["scale", "measure", "compare", "smallfiles", "sweep", "curve"];

/// Commands on one node, with the reason.
const ALONE: [(&str, &str); 2] = [
    ("check", "published requirements are about one client, and sums of several would pass where each of them fails"),
    ("attribute", "it compares two saved runs and loads no storage"),
];

/// Runs the words: on the hosts that they name, as a rank of a launcher, or here alone.
pub(super) fn run(
    launched: Option<Launched>,
    words: &[OsString],
    face: impl FnOnce(&[OsString]) -> ExitCode,
) -> ExitCode {
    match launched {
        Some(launched) => run_as_rank(&launched, words, face),
        None => hosts::run(words).unwrap_or_else(|| face(words)),
    }
}

/// Runs as a rank. `face`: what the first rank does with the words.
fn run_as_rank(launched: &Launched, words: &[OsString], face: impl FnOnce(&[OsString]) -> ExitCode) -> ExitCode {
    let shifted = words.first().is_some_and(|word| word == SHIFT);
    let words = &words[usize::from(shifted)..];
    let asked = words.first().and_then(|word| word.to_str()).unwrap_or_default();
    if let Some((_, reason)) = ALONE.iter().find(|(command, _)| *command == asked) {
        return launched.refuse(asked, reason, &TOGETHER);
    }
    // Both processes then use the same clock with the same calibration.
    RealClock::shared();
    let ended = accompanied(
        |orders, reports| work(launched, orders, reports, shifted, || face(words)),
        |worker, signal| {
            let mpi = OverMpi::begin().expect("MPI begins here alone");
            if mpi.ranks() == 1 {
                return Agent::<OverMpi>::refuse(worker, launched.strangers(&library()));
            }
            let silence = Duration::from_secs(seconds(SILENCE, SILENCE_S));
            let say = |sentence: &str| print_stderr(&format!("fsdyno: {sentence}"));
            match Agent::begin(mpi, VERSION, worker, bounds(), silence, signal, say) {
                Ok(agent) => launched.ending(agent.run()),
                Err(error) => {
                    print_stderr(&format!("fsdyno: a rank cannot begin: {error}"));
                    Ending::Lost(None)
                }
            }
        },
        |record| keep(record, words),
    );
    ended.unwrap_or_else(|error| {
        report_problem(&Problem::new(format!("cannot start a second process as a rank of {launched}: {error}")));
        ExitCode::from(UNUSABLE)
    })
}

fn work(
    launched: &Launched,
    orders: PipeReader,
    reports: PipeWriter,
    shifted: bool,
    face: impl FnOnce() -> ExitCode,
) -> ExitCode {
    let link = match Link::begin(orders, reports) {
        Ok(link) => link::connect(link),
        Err(sentence) => {
            // The other ranks would print the same.
            if launched.is_first() {
                report_problem(&Problem::new(sentence));
            }
            return ExitCode::from(UNUSABLE);
        }
    };
    if link.rank() == 0 {
        if shifted {
            link.shift();
        }
        return face();
    }
    fsdyno_cluster::follow(link, VERSION, bounds());
    ExitCode::from(GOOD)
}

/// Saves the record of the other ranks after the first rank's worker was lost, where the program keeps its runs. The
/// current directory is the last resort, as it may be on the storage with which the worker was lost.
fn keep(record: Option<Box<RunRecord>>, words: &[OsString]) -> u8 {
    let Some(record) = record else {
        print_stderr("fsdyno: the process of rank 0 was lost, and no rank has results");
        return BY_SIGNAL;
    };
    let begun_ms = record.started_ms;
    let study = Study { id: new_id(Question::Fio, begun_ms), ..Study::of_run(*record) };
    let stored = || {
        let store =
            Store::at(store_named(words).as_deref()).ok().filter(|_| !words.iter().any(|word| word == "--no-store"))?;
        store.check_writable().and_then(|()| store.save(&study)).ok()
    };
    let kept = stored().map_or_else(
        || {
            let file = PathBuf::from(format!("fsdyno-ranks-{begun_ms}.json"));
            let text = format!("{}\n", study.to_json());
            fsdyno_os::files::write_whole(&file, fsdyno_os::files::Readers::ByUmask, text.as_bytes()).map(|()| file)
        },
        Ok,
    );
    print_stderr(&match kept {
        Ok(file) => format!(
            "fsdyno: the process of rank 0 was lost; the record of the other ranks is in {}: fsdyno show {}",
            file.display(),
            fsdyno_text::shell::path_as_typed(&file)
        ),
        Err(error) => format!("fsdyno: the process of rank 0 was lost, and the record of the others with it: {error}"),
    });
    BY_SIGNAL
}

/// The directory in which a question was to save its runs.
fn store_named(words: &[OsString]) -> Option<PathBuf> {
    let value = |word: &OsString| word.to_str()?.strip_prefix("--store=").map(PathBuf::from);
    let beside = || words.iter().skip_while(|word| *word != "--store").nth(1).map(PathBuf::from);
    words.iter().find_map(value).or_else(beside)
}
