//! The sentences with figures of a storage that takes exactly 100 µs (the `sim` engine).

use std::sync::Arc;

use results::Question;
use results::evidence::Seen;

use super::super::lines::{TESTS, Timing};
use super::*;
use crate::study::{Caller, Place, StudyRun, planned_row};
use crate::watch::Unwatched;
use crate::work_directory::{SpaceNeeds, WorkDirectory};

/// What `measure` asks, answered by the simulated storage.
fn simulated() -> Study {
    simulated_runs(&["100us"])
}

/// The same in runs whose requests take so long.
fn simulated_runs(services: &[&str]) -> Study {
    let place = Place { name: "/data".into(), path: "/".into() };
    let mut unwatched = Unwatched;
    let control = Arc::new(run::Control::default());
    let caller = Caller { version: "test", command: Vec::new(), control, watcher: &mut unwatched };
    let mut study_run = StudyRun::begin(Question::Measure, &[place], caller);
    let folder = tempfile::tempdir().unwrap();
    let work = WorkDirectory::open(folder.path(), None, SpaceNeeds::default(), &study_run.control).unwrap();
    for (round, service) in (0..).zip(services) {
        for test in TESTS.iter().filter(|test| test.words[0].ends_with("read")) {
            let words = ["--name=a", "--ioengine=sim", "--size=16m", "--lat_percentiles=1"];
            let mut command: Vec<String> = words.map(str::to_string).to_vec();
            command.push(format!("--sim_service={service}"));
            command.extend(test.words.iter().map(|word| word.to_string()));
            let row = planned_row(0, test.pattern, test.title, round, command);
            study_run.run_row(row, StopRule::AsWritten, &work).unwrap();
        }
    }
    study_run.finish()
}

/// One sentence a line.
fn sentences(study: &Study) -> String {
    of(study).join("\n")
}

#[test]
fn on_a_local_disk() {
    let mut study = simulated();
    study.targets[0].storage.class = StorageClass::Block;
    insta::assert_snapshot!(sentences(&study));
}

#[test]
fn several_runs_are_told_by_their_median_and_not_by_the_first() {
    let mut study = simulated_runs(&["900us", "100us", "100us"]);
    study.targets[0].storage.class = StorageClass::Block;
    let mut one = simulated();
    one.targets[0].storage.class = StorageClass::Block;
    let rate = |study: &Study, round| {
        let row = study.rows.iter().find(|row| row.pattern == test_name::RAND_READ && row.round == round);
        format!("measured {}", number(row.unwrap().figures().unwrap().iops()))
    };
    let text = sentences(&study);
    let took = sentences(&one).lines().find(|line| line.contains("of a 4k read")).unwrap().to_owned();
    assert!(text.contains(&took), "{took}: {text}");
    assert!(text.contains(&rate(&one, 0)) && !text.contains(&rate(&study, 0)), "{text}");
}

#[test]
fn of_the_round_trip() {
    let mut study = simulated();
    let mut lines = Vec::new();
    for class in [StorageClass::Memory, StorageClass::Fuse] {
        study.targets[0].storage.class = class;
        lines.extend(of(&study).into_iter().filter(|sentence| sentence.contains("etwork")));
    }
    let server =
        |connect_ns| ServerIdentity { address: "10.0.0.5:2049".into(), connect_ns, ..ServerIdentity::default() };
    let seen = [Seen::Value(40_000), Seen::Value(400_000), Seen::NotVisible("no response within 1 s".into())];
    for connect_ns in seen {
        lines.extend(round_trip(&study, Some(&server(connect_ns))));
    }
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn of_how_it_was_done() {
    let direct = IoMode { engine: "libaio", direct: true };
    let lines = [
        io_mode(256 << 20, direct, Timing::QUICK),
        io_mode(2 << 30, IoMode { direct: false, ..direct }, Timing::NORMAL),
        published_lines(10 << 30),
        left_out(&["rand-write", "seq-write"], 15),
    ];
    insta::assert_snapshot!(lines.join("\n"));
}
