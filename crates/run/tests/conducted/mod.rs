//! Command lines, planned and conducted in this process.

use std::sync::Arc;

use job::{Job, Machine, Outcome, Sources};
use probe::HostFacts;
use results::RunRecord;
use run::{Control, Heading, Observer};

/// No job files, no variables.
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
    match job::parse_command_line(&words, &mut Nothing) {
        Outcome::Run(request) => request.jobs,
        other => panic!("{words:?}: {other:?}"),
    }
}

/// Plans the jobs for this machine and runs them.
#[track_caller]
pub(crate) fn conduct(jobs: &[Job], control: Arc<Control>, observer: &mut dyn Observer) -> RunRecord {
    let plan = run::plan::plan(jobs, &HostFacts::gather(run::plan::paths(jobs)), 1);
    assert!(plan.rejections.is_empty(), "{:?}", plan.rejections);
    run::conduct(plan, Heading::default(), control, observer)
}
