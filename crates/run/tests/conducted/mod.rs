//! Plans and runs command lines in this process.

use std::sync::Arc;

use fsdyno_job::{Job, Machine, Outcome, Request, Settings, Sources};
use fsdyno_results::RunRecord;
use fsdyno_run::{CommandLine, Conditions, Control, Observer, StopRule};

/// Sources without job files and variables.
struct Nothing;

impl Sources for Nothing {
    fn job_file(&mut self, _: &str) -> Result<String, String> {
        Err("no files here".to_owned())
    }

    fn variable(&self, _: &str) -> Option<String> {
        None
    }

    fn machine(&self) -> Machine {
        Machine { page_bytes: 4096, memory_mib: 1024, processors: 1 }
    }
}

/// The jobs of a command line.
#[track_caller]
pub(crate) fn jobs(words: &str) -> Vec<Job> {
    let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
    match fsdyno_job::parse_command_line(&words, &mut Nothing) {
        Outcome::Run(request) => request.jobs,
        other => panic!("{words:?}: {other:?}"),
    }
}

/// Plans the jobs for this machine and runs them.
#[track_caller]
pub(crate) fn conduct(jobs: &[Job], control: Arc<Control>, observer: &mut dyn Observer) -> RunRecord {
    let request = Request {
        settings: Settings::default(),
        jobs: jobs.to_vec(),
        global_options: Vec::new(),
        warnings: Vec::new(),
        trace: Vec::new(),
    };
    let line = CommandLine { words: Vec::new(), request };
    let planned = line.look(|_| ()).plan(1).expect("the jobs can be planned");
    planned.identify_storages().run(Conditions { version: "", control, stop_rule: StopRule::AsWritten }, observer)
}
