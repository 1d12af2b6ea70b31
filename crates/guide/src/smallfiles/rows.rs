//! Makes the rows of the phases. Each phase runs on all nodes; one with a call that is timed by itself makes two rows.

use fsdyno_results::{PhaseRecord, Row, Severity, Study, test_name};
use fsdyno_text::quantity::count;

use super::phases::{FileUse, READ, SmallFilesPhase, WRITE};
use super::shell;
use super::suite::{PhaseResult, Suite};
use crate::Problem;
use crate::nodes::Nodes;
use crate::study::{StudyRun, planned_row};

/// At most this number of phases that were cut short is named.
const CUTS_NAMED: usize = 3;

/// The rows of one target, and its phases that were cut short.
pub(crate) struct Rows<'n> {
    target: usize,
    /// The pass, counted from 0.
    pub(crate) round: u32,
    /// What follows the phase's name in that of its row.
    pub(crate) suffix: String,
    nodes: &'n mut dyn Nodes,
    /// The phase's title and how far it came in the first pass that was cut short: `rename`, `after 17 of 1,001`.
    cuts: Vec<(&'static str, String)>,
}

impl<'n> Rows<'n> {
    pub(crate) fn new(target: usize, nodes: &'n mut dyn Nodes) -> Rows<'n> {
        Rows { target, round: 0, suffix: String::new(), nodes, cuts: Vec::new() }
    }

    /// Runs a phase and adds its row, and the row of the call that is timed by itself; returns the index of the first.
    pub(crate) fn run(
        &mut self,
        study_run: &mut StudyRun<'_>,
        suite: &mut Suite,
        phase: &'static SmallFilesPhase,
    ) -> Result<usize, Problem> {
        let title = match phase.acts {
            // Directories differ by one or two names per family at most.
            FileUse::Lists => format!("readdir, {} names", count(suite.names_listed(phase))),
            _ => phase.title.to_string(),
        };
        let pattern = format!("{}{}", phase.pattern, self.suffix);
        let mut row = planned_row(self.target, &pattern, &title, self.round, command(suite, phase));
        let step = study_run.begin_step(self.target, &title);
        let mut part = None;
        if !suite.has_work(phase) && !study_run.stopped() {
            let text = format!("{} did not run: the files or directories that it needs could not be made", phase.title);
            study_run.note("phase-without-files", Severity::Caution, text);
        } else if !study_run.stopped() {
            let StudyRun { version, control, watcher, study, .. } = &mut *study_run;
            let mut notes = Vec::new();
            let who = crate::nodes::PhaseContext { version, control, notes: &mut notes };
            let mut done = self.nodes.phase(suite, phase, who, &step, *watcher)?;
            // All phases say the same about the nodes.
            notes.retain(|note| !study.notes.contains(note));
            study.notes.extend(notes);
            crate::advice::advise(&mut done.findings, study);
            part = self.keep(&mut row, phase, done);
        }
        study_run.end_step(&step, row);
        let index = study_run.study.rows.len() - 1;
        // It ran together with the other row: it is no step of its own.
        study_run.study.rows.extend(part);
        Ok(index)
    }

    /// Fills the row; returns the row of the call that is timed by itself.
    fn keep(&mut self, row: &mut Row, phase: &SmallFilesPhase, done: PhaseResult) -> Option<Row> {
        let PhaseResult { record, part, findings, planned, cut, run, .. } = done;
        let is_new = !self.cuts.iter().any(|(title, _)| *title == phase.title);
        if cut && is_new {
            let attempted = record.operations + record.failures;
            self.cuts.push((phase.title, format!("after {} of {}", count(attempted), count(planned))));
        }
        let part = part.zip(phase.part).map(|(latency, (pattern, title))| {
            let phase = PhaseRecord { name: pattern.into(), latency, bytes: None, error: None, ..record.clone() };
            Row { phase: Some(phase), ..planned_row(self.target, pattern, title, self.round, Vec::new()) }
        });
        (row.phase, row.run, row.findings) = (Some(record), run, findings);
        part
    }

    /// Adds a note on the phases that were cut short.
    pub(super) fn note_cuts(&self, study_run: &mut StudyRun<'_>, limit_s: u32) {
        if !self.cuts.is_empty() {
            // The rows of the others say how far they came.
            let named = &self.cuts[..self.cuts.len().min(CUTS_NAMED)];
            let named: Vec<String> = named.iter().map(|(title, how_far)| format!("{title} {how_far}")).collect();
            let more = self.cuts.len() - named.len();
            let more = if more > 0 { format!("; and {more} more") } else { String::new() };
            let list = named.join("; ");
            let text = format!("stopped at the time limit of {limit_s} s each (--limit): {list}{more}");
            study_run.note("phase-cut", Severity::Caution, text);
        }
    }
}

/// The shell loop of a phase, for phases that have one.
fn command(suite: &Suite, phase: &SmallFilesPhase) -> Vec<String> {
    match phase.pattern {
        _ if !suite.options.is_published() || suite.role.ranks > 1 => Vec::new(),
        name if name == WRITE.pattern => shell::words(shell::WRITE_LOOP),
        name if name == READ.pattern => shell::words(shell::READ_LOOP),
        _ => Vec::new(),
    }
}

/// Judges the passes of each phase together; each pass gets all findings, and so does each pass of a part of it.
pub fn judge_passes(study: &mut Study) {
    for pattern in study.patterns().into_iter().map(str::to_owned).collect::<Vec<_>>() {
        for target in 0..study.targets.len() {
            let whole = test_name::phase_of_part(&pattern).unwrap_or(&pattern);
            let rows: Vec<&Row> = study.repeats(target, whole).collect();
            let mut found = fsdyno_findings::of_phase_rows(study, &rows);
            crate::advice::advise_passes(&mut found, study, &rows);
            let passes = study.rows.iter_mut().filter(|row| row.target == target && row.pattern == pattern);
            passes.filter(|row| row.phase.is_some()).for_each(|row| row.findings.extend(found.iter().cloned()));
        }
    }
}
