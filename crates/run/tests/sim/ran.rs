//! Runs jobs on the virtual device.

use std::sync::Arc;

use fsdyno_job::Job;
use fsdyno_results::{JobRecord, Latency, RunRecord};
use fsdyno_run::{Control, Observer, View};

use crate::conducted;

/// A microsecond, ns.
pub(crate) const US: u64 = 1000;
/// A millisecond, ns.
pub(crate) const MS: u64 = 1_000_000;
/// A second, ns.
pub(crate) const S: u64 = 1_000_000_000;

/// The jobs of a command line: 1,000 random reads of 4 KiB, each served in 100 µs, unless the words say otherwise.
#[track_caller]
pub(crate) fn jobs(words: &str) -> Vec<Job> {
    let defaults = "--ioengine=sim --sim_service=100us --size=4000k --bs=4k --rw=randread --verify_state_save=0";
    let name = if words.contains("--name") { "" } else { "--name=sim" };
    conducted::jobs(&format!("{defaults} {name} {words}"))
}

/// A function that is called several times per second during a run, with the interim records so far.
pub(crate) type Watch<'run> = &'run mut dyn FnMut(&View<'_>, &Control, &[RunRecord]);

/// An observer that keeps everything.
struct Listener<'run> {
    messages: Vec<String>,
    interims: Vec<RunRecord>,
    ask_interim: bool,
    watch: Option<Watch<'run>>,
    control: Arc<Control>,
}

impl Observer for Listener<'_> {
    fn message(&mut self, text: &str) {
        self.messages.push(text.to_owned());
    }

    fn watch(&mut self, view: &View<'_>) {
        if let Some(watch) = &mut self.watch {
            watch(view, &self.control, &self.interims);
        }
    }

    fn wants_interim(&mut self, _: &View<'_>) -> bool {
        self.ask_interim
    }

    fn interim(&mut self, record: &RunRecord) {
        self.interims.push(record.clone());
    }
}

/// The result of a run.
pub(crate) struct RunResult {
    /// The record.
    pub(crate) record: RunRecord,
    /// The interim records.
    pub(crate) interims: Vec<RunRecord>,
    /// The messages.
    pub(crate) messages: Vec<String>,
}

impl RunResult {
    /// The record of the only worker.
    #[track_caller]
    pub(crate) fn job(&self) -> &JobRecord {
        assert_eq!(self.record.jobs.len(), 1);
        &self.record.jobs[0]
    }
}

/// Plans and runs the jobs. `watch` also turns interim records on.
#[track_caller]
pub(crate) fn conduct(jobs: &[Job], watch: Option<Watch<'_>>) -> RunResult {
    let control = Arc::new(Control::default());
    let mut listener = Listener {
        messages: Vec::new(),
        interims: Vec::new(),
        ask_interim: watch.is_some(),
        watch,
        control: Arc::clone(&control),
    };
    let record = conducted::conduct(jobs, control, &mut listener);
    RunResult { record, interims: listener.interims, messages: listener.messages }
}

/// Runs a command line.
#[track_caller]
pub(crate) fn simulate(words: &str) -> RunResult {
    conduct(&jobs(words), None)
}

/// Runs the command line of one worker, which must end without an error.
#[track_caller]
pub(crate) fn simulate_one(words: &str) -> JobRecord {
    let ran = simulate(words);
    let job = ran.job().clone();
    assert_eq!(job.error, None, "{:?}", ran.messages);
    job
}

/// Checks that moments and histogram contain exactly these values, ns.
#[track_caller]
pub(crate) fn assert_exact(latency: &Latency, values: impl IntoIterator<Item = u64>) {
    let mut expected = Latency::with_histogram();
    values.into_iter().for_each(|value| expected.record(value));
    assert_eq!(latency.moments, expected.moments);
    if let Some(histogram) = &latency.histogram {
        assert_eq!(Some(histogram), expected.histogram.as_ref());
    }
}

/// `count` times the same value.
pub(crate) fn times(count: usize, value: u64) -> impl Iterator<Item = u64> {
    std::iter::repeat_n(value, count)
}
