//! A study: one question about one or more storages, and all runs that answer it. The store saves studies.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Finding, PhaseRecord, Question, TreeRecord, Trust, VerdictRow, test_name};
use crate::evidence::Storage;
use crate::record::{Host, JobError, Note, RunRecord};
use crate::saved::{SavedRecordError, reread, upgrade, upgrade_storage};

/// Version of the study's format; grows whenever a field is added, removed or changes meaning.
pub const STUDY_SCHEMA_VERSION: u32 = 7;

/// One question and its evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Study {
    /// [`STUDY_SCHEMA_VERSION`] of the writer.
    #[schemars(extend("const" = STUDY_SCHEMA_VERSION))]
    pub study_schema: u32,
    /// Unique name, sortable by time: `20261121-171502-measure-3f2a`.
    pub id: String,
    /// What was asked.
    pub question: Question,
    /// Version line of the writer.
    pub version: String,
    /// The words of the command line.
    pub command: Vec<String>,
    /// When it began, ms since the epoch.
    pub started_ms: u64,
    /// When its last run ended, ms since the epoch.
    pub ended_ms: u64,
    /// False when it was stopped before its end, or ranks sent no results.
    pub complete: bool,
    /// Machine and clock.
    pub host: Host,
    /// Name of this machine, as it calls itself.
    pub host_name: Option<String>,
    /// The storages asked about; the first is the baseline.
    pub targets: Vec<Target>,
    /// The rows, in the order they ran.
    pub rows: Vec<Row>,
    /// Answers to requirements (`check`).
    pub verdicts: Vec<VerdictRow>,
    /// The answer in sentences.
    pub sentences: Vec<String>,
    /// What the reader must know about how it was done: sizes adapted, rounds stopped early, a cache not dropped.
    pub notes: Vec<Note>,
}

/// A storage that was asked about.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Target {
    /// Its name in tables: `local`, `nfs`; the path when none was given.
    pub name: String,
    /// The path.
    pub path: String,
    /// What it is.
    pub storage: Storage,
    /// It is memory, used to see how much of the time storage decides, and nobody asks about it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reference: bool,
}

/// One run of one pattern on one target: the repeats of a pattern are rows that differ in `round` alone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Row {
    /// Index into the study's targets.
    pub target: usize,
    /// What was run, the same word for the same thing on every target: `randread-4k-qd32`, `create`.
    pub pattern: String,
    /// For people: `4k random read, depth 32`.
    pub title: String,
    /// Counted from 0.
    pub round: u32,
    /// A command line that does the same by itself; empty when there is none.
    pub command: Vec<String>,
    /// A fio-style run; of a phase on several nodes what each of them did, a job for each.
    pub run: Option<RunRecord>,
    /// A phase of operations, all nodes together.
    pub phase: Option<PhaseRecord>,
    /// What a command of the user's used, beside its phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<TreeRecord>,
    /// What was found against it.
    pub findings: Vec<Finding>,
}

impl Row {
    /// The first error of a job or an operation, and the rank on which it was, if there were several.
    pub fn first_error(&self) -> Option<(String, &JobError)> {
        let of_job = self.run.as_ref().and_then(RunRecord::first_error);
        of_job.or_else(|| Some((String::new(), self.phase.as_ref()?.error.as_ref()?)))
    }

    /// What was asked for: the words of its line without those that name places.
    pub(super) fn plan(&self) -> impl Iterator<Item = &str> {
        let names_a_place = |word: &&String| {
            let key = word.trim_start_matches('-').split('=').next().unwrap_or_default();
            matches!(key, "filename" | "directory" | "name")
        };
        self.command.iter().filter(move |word| !names_a_place(word)).map(String::as_str)
    }

    /// Whether ranks sent no results.
    pub fn lacks_ranks(&self) -> bool {
        self.run.as_ref().is_some_and(|run| !run.missing_ranks().is_empty())
    }

    /// How far the row can be trusted: what ended in an error is invalid, and what nobody examined is not ok.
    pub fn trust(&self) -> Trust {
        let found = Trust::of(&self.findings);
        match () {
            () if self.first_error().is_some() => Trust::Invalid,
            () if self.is_unexamined() => found.max(Trust::Caution),
            () => found,
        }
    }

    /// Operations were done, and nobody looked at what happened beside them: a shell loop, or a study before format 6.
    pub fn is_unexamined(&self) -> bool {
        let unseen = |phase: &PhaseRecord| phase.operations > 0 && phase.conditions.is_none();
        self.tree.is_none() && self.phase.as_ref().is_some_and(unseen)
    }

    /// The pattern's last part without its word, and what stands before: `randread-4k-qd16` with the word `qd` is 16 of
    /// `randread-4k`. `None`: it does not end like that.
    pub fn numbered(&self, word: &str) -> Option<(&str, u32)> {
        let (before, last) = self.pattern.rsplit_once('-')?;
        Some((before, last.strip_prefix(word)?.parse().ok()?))
    }

    /// What was written for an option of the row's first job, by its canonical name.
    pub fn option(&self, name: &str) -> Option<&str> {
        let options = &self.run.as_ref()?.jobs.first()?.options;
        options.iter().rev().find(|(written, _)| written == name).map(|(_, text)| text.as_str())
    }
}

impl Study {
    /// The study as JSON on one line.
    pub fn to_json(&self) -> String {
        let text = serde_json::to_string(self).expect("a study has no map whose keys could fail to be text");
        fsdyno_text::escape::json(&text).into_owned()
    }

    /// Reads what [`Study::to_json`] wrote, or a single run's record as a study of one row.
    ///
    /// # Errors
    /// When the text is neither, or of a newer format.
    pub fn from_json(text: &str) -> Result<Study, SavedRecordError> {
        #[derive(Deserialize)]
        struct Header {
            study_schema: Option<u32>,
        }
        let Header { study_schema } = serde_json::from_str(text)?;
        let mut study: Study = match study_schema {
            None => Study::of_run(RunRecord::from_json(text)?),
            Some(found) if found > STUDY_SCHEMA_VERSION => return Err(SavedRecordError::Newer { found }),
            Some(STUDY_SCHEMA_VERSION) => serde_json::from_str(text)?,
            Some(_) => reread(&upgraded(serde_json::from_str(text)?))?,
        };
        // Older versions called it complete.
        for row in study.rows.iter_mut().filter(|row| row.lacks_ranks()) {
            row.run.iter_mut().for_each(|run| run.complete = false);
            study.complete = false;
        }
        Ok(study)
    }

    /// Whether ranks sent no results.
    pub fn lacks_ranks(&self) -> bool {
        self.rows.iter().any(Row::lacks_ranks)
    }

    /// A fio run as a study: one row per run, whose jobs are told apart in its record.
    pub fn of_run(run: RunRecord) -> Study {
        let title = run.jobs.first().map(|job| job.name.clone()).unwrap_or_default();
        Study {
            study_schema: STUDY_SCHEMA_VERSION,
            id: format!("fio-{}", run.started_ms),
            question: Question::Fio,
            version: run.version.clone(),
            command: run.command.clone(),
            started_ms: run.started_ms,
            ended_ms: run.taken_ms,
            complete: run.complete,
            host: run.only_node().map(|node| node.host.clone()).unwrap_or_default(),
            host_name: None,
            targets: vec![Target::default()],
            verdicts: Vec::new(),
            sentences: Vec::new(),
            notes: Vec::new(),
            rows: vec![Row {
                pattern: title.clone(),
                title,
                command: run.command.clone(),
                findings: run.findings.clone(),
                run: Some(run),
                ..Row::default()
            }],
        }
    }

    /// What the targets are called; no two the same.
    pub fn target_names(&self) -> Vec<String> {
        let named = self.rows.iter().map(|row| row.target.saturating_add(1)).max().unwrap_or(0).max(self.targets.len());
        // A damaged file could name any number: what is beyond the targets by far has no name.
        let count = named.min(self.targets.len() + 16);
        let mut names: Vec<String> = Vec::with_capacity(count);
        for index in 0..count {
            let name = self.target_name(index);
            let name = if names.contains(&name) { format!("{name} ({})", index + 1) } else { name };
            names.push(name);
        }
        names
    }

    /// What a target is called; a run that nobody named is called by its place.
    fn target_name(&self, index: usize) -> String {
        let Some(target) = self.targets.get(index) else { return format!("target {}", index + 1) };
        let storage_of_run = || {
            let run = self.rows.iter().find(|row| row.target == index)?.run.as_ref()?;
            Some(run.storages().next()?.mount.value()?.mount_point.display().to_string())
        };
        [&target.name, &target.path, &target.storage.asked_path]
            .into_iter()
            .find(|name| !name.trim().is_empty())
            .cloned()
            .or_else(storage_of_run)
            .unwrap_or_else(|| "files of the run".to_owned())
    }

    /// Rows of one target and pattern, by round.
    pub fn repeats<'a>(&'a self, target: usize, pattern: &'a str) -> impl Iterator<Item = &'a Row> {
        self.rows.iter().filter(move |row| row.target == target && row.pattern == pattern)
    }

    /// The patterns, in the order they first ran.
    pub fn patterns(&self) -> Vec<&str> {
        let mut patterns: Vec<&str> = Vec::new();
        for row in &self.rows {
            if !patterns.contains(&row.pattern.as_str()) {
                patterns.push(&row.pattern);
            }
        }
        patterns
    }

    /// The patterns that are measured: all but the writing of the file that they use.
    pub fn tests(&self) -> Vec<&str> {
        self.patterns().into_iter().filter(|pattern| *pattern != test_name::FILL).collect()
    }
}

/// An older study as one of this format: its runs have one of their own, and so do its storages.
fn upgraded(mut study: serde_json::Value) -> serde_json::Value {
    study["study_schema"] = STUDY_SCHEMA_VERSION.into();
    for target in study["targets"].as_array_mut().into_iter().flatten() {
        target.get_mut("storage").into_iter().for_each(upgrade_storage);
    }
    for row in study["rows"].as_array_mut().into_iter().flatten() {
        if let Some(run) = row.get_mut("run") {
            upgrade(run);
        }
    }
    study
}
