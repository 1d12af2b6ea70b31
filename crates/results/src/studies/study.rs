//! A study: one question about one or more storages, and all runs that answer it. The store saves studies.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Finding, PhaseRecord, Question, TreeRecord, Trust, VerdictRow, test_name};
use crate::evidence::Storage;
use crate::record::{Host, JobError, Note, RunRecord};
use crate::saved::{SavedRecordError, reread, upgrade, upgrade_storage};
use crate::structs_as_objects;

/// Version of the study's format; it grows whenever a field is added, removed or changes its meaning.
pub const STUDY_SCHEMA_VERSION: u32 = 7;

/// One question and its evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Study {
    /// The writer's version of the format.
    #[schemars(extend("const" = STUDY_SCHEMA_VERSION))]
    pub study_schema: u32,
    /// Unique name, sortable by time: `20261121-171502-measure-3f2a`.
    pub id: String,
    /// The question.
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
    /// The storages that were asked about; the first is the baseline.
    pub targets: Vec<Target>,
    /// The rows, in the order they ran.
    pub rows: Vec<Row>,
    /// Verdicts of the requirements (`check`).
    pub verdicts: Vec<VerdictRow>,
    /// The answer in sentences.
    pub sentences: Vec<String>,
    /// Notes about how it was done: sizes that were adapted, rounds that were stopped early, a cache that was not
    /// dropped.
    pub notes: Vec<Note>,
}

/// A storage that was asked about.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Target {
    /// Its name in tables: `local`, `nfs`; the path if no name was given.
    pub name: String,
    /// The path.
    pub path: String,
    /// The storage at this path.
    pub storage: Storage,
    /// Whether it is memory that only serves as a reference, to see how much of the time the storage decides.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reference: bool,
}

/// One run of one pattern on one target. Repeats of a pattern are rows that differ only in `round`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Row {
    /// Index into the study's targets.
    pub target: usize,
    /// What was run, with the same word for the same pattern on every target: `randread-4k-qd32`, `create`.
    pub pattern: String,
    /// Title for people: `4k random read, depth 32`.
    pub title: String,
    /// Number of the round, counted from 0.
    pub round: u32,
    /// A command line that does the same; empty: there is none.
    pub command: Vec<String>,
    /// The record of a fio run; for a phase on several nodes, a job for each node.
    pub run: Option<RunRecord>,
    /// The record of a phase, all nodes together.
    pub phase: Option<PhaseRecord>,
    /// What a command of the user used, in addition to its phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<TreeRecord>,
    /// The findings of the row.
    pub findings: Vec<Finding>,
}

impl Row {
    /// The first error of a job or an operation, with its rank if there were several.
    pub fn first_error(&self) -> Option<(String, &JobError)> {
        let of_job = self.run.as_ref().and_then(RunRecord::first_error);
        of_job.or_else(|| Some((String::new(), self.phase.as_ref()?.error.as_ref()?)))
    }

    /// The words of the command line without those that name places.
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

    /// Trust of the row: an error makes it invalid; without an examination it is not ok.
    pub fn trust(&self) -> Trust {
        let found = Trust::of(&self.findings);
        match () {
            () if self.first_error().is_some() => Trust::Invalid,
            () if self.is_unexamined() => found.max(Trust::Caution),
            () => found,
        }
    }

    /// Whether operations were done and nobody looked at the conditions: a shell loop, or a study before format 6.
    pub fn is_unexamined(&self) -> bool {
        let unseen = |phase: &PhaseRecord| phase.operations > 0 && phase.conditions.is_none();
        self.tree.is_none() && self.phase.as_ref().is_some_and(unseen)
    }

    /// Splits a pattern before its last number: `randread-4k-qd16` with the word `qd` gives `randread-4k` and 16.
    /// `None`: the pattern does not end like that.
    pub fn numbered(&self, word: &str) -> Option<(&str, u32)> {
        let (before, last) = self.pattern.rsplit_once('-')?;
        Some((before, last.strip_prefix(word)?.parse().ok()?))
    }

    /// The value that was written for an option of the row's first job, by the option's canonical name.
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

    /// Reads the text of [`Study::to_json`], or a single run's record as a study of one row.
    ///
    /// # Errors
    /// If the text is neither, or has a newer format.
    pub fn from_json(text: &str) -> Result<Study, SavedRecordError> {
        #[derive(Deserialize)]
        struct Header {
            study_schema: Option<u32>,
        }
        let Header { study_schema } = structs_as_objects::from_str(text)?;
        let mut study: Study = match study_schema {
            None => Study::of_run(RunRecord::from_json(text)?),
            Some(found) if found > STUDY_SCHEMA_VERSION => return Err(SavedRecordError::Newer { found }),
            Some(STUDY_SCHEMA_VERSION) => structs_as_objects::from_str(text)?,
            Some(_) => reread(&upgraded(serde_json::from_str(text)?))?,
        };
        // Older versions called such a row complete.
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

    /// A fio run as a study with one row; its record keeps the jobs apart.
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

    /// The names of the targets, all different.
    pub fn target_names(&self) -> Vec<String> {
        let named = self.rows.iter().map(|row| row.target.saturating_add(1)).max().unwrap_or(0).max(self.targets.len());
        // A damaged file could name any number: indices far beyond the targets get no name.
        let count = named.min(self.targets.len() + 16);
        let mut names: Vec<String> = Vec::with_capacity(count);
        for index in 0..count {
            let name = self.target_name(index);
            let name = if names.contains(&name) { format!("{name} ({})", index + 1) } else { name };
            names.push(name);
        }
        names
    }

    /// The name of a target; the target of a run without a name is called by its path.
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

    /// The patterns that are measured: all except the one that writes the file.
    pub fn tests(&self) -> Vec<&str> {
        self.patterns().into_iter().filter(|pattern| *pattern != test_name::FILL).collect()
    }
}

/// Upgrades an older study to this format: its runs and storages have formats of their own.
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
