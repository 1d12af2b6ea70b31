//! Saves the study while it runs, so that the results of a killed run are not lost.

use fsdyno_guide::store::Store;
use fsdyno_guide::{Problem, Watcher};
use fsdyno_os::clock::{Clock, RealClock};
use fsdyno_results::{Row, RunRecord, Study};

use crate::process::saver::Saver;
use crate::process::streams::report_problem;

/// Saves the study with each row that ends, and in between with the running row.
pub(super) struct StudySaver {
    saver: Saver<Study>,
    /// Interval between two saves while a row runs, ns; 0: only when it has ended.
    interval_ns: u64,
    saved_ns: u64,
    /// The study and its running row, still without results; `None`: no row runs.
    running: Option<(Study, Row)>,
}

impl StudySaver {
    pub(super) fn begin(store: Store, interval_s: u32) -> StudySaver {
        let mut reported = false;
        let saver = Saver::begin(move |study| {
            // Reported once; the end says whether it was saved.
            if let (Err(problem), false) = (store.save(study), reported) {
                reported = true;
                let what = format!("not saved yet: {problem}; it is tried again when the run ends");
                report_problem(&Problem { what, ..problem });
            }
        });
        let interval_ns = u64::from(interval_s) * 1_000_000_000;
        StudySaver { saver, interval_ns, saved_ns: RealClock::shared().now_ns(), running: None }
    }
}

impl Watcher for StudySaver {
    fn planned(&mut self, study: &Study, row: &Row) {
        self.running = (self.interval_ns > 0).then(|| (study.clone(), row.clone()));
    }

    fn partial(&mut self, record: &RunRecord) {
        let now_ns = RealClock::shared().now_ns();
        if let Some((study, row)) = self.running.as_ref().filter(|_| now_ns >= self.saved_ns + self.interval_ns) {
            self.saved_ns = now_ns;
            self.saver.offer(with_partial(study, row, record));
        }
    }

    fn grown(&mut self, study: &Study) {
        self.running = None;
        self.saved_ns = RealClock::shared().now_ns();
        self.saver.offer(study.clone());
    }
}

/// The study as if the row ended here.
fn with_partial(study: &Study, row: &Row, record: &RunRecord) -> Study {
    let row = Row { run: Some(record.clone()), ..row.clone() };
    let mut study = Study { ended_ms: record.taken_ms, ..study.clone() };
    study.rows.push(row);
    study
}
