//! `runs`, `show`, `clean`: saved studies, and work directories of killed runs.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use fsdyno_guide::Problem;
use fsdyno_guide::store::Store;
#[cfg(all(feature = "object", target_os = "linux"))]
use fsdyno_guide::study::Place;
use fsdyno_guide::study::check_places;
use fsdyno_guide::work_directory::{CleanOptions, Cleaned, Outcome, clean};
use fsdyno_run::SignalWatch;
use fsdyno_text::escape;
use fsdyno_text::quantity::counted;
use serde_json::{Value, json};

use super::answer::shown_as;
use crate::process::first_look::FirstAccessGuard;
use crate::process::patience;
use crate::process::status::UNUSABLE;
use crate::process::streams::{columns, print, print_page, print_stderr, refused, report_problem, shown};
use crate::process::supervisor::supervised;

/// List saved runs, or remove some.
#[derive(Debug, Args)]
pub(crate) struct Runs {
    /// Remove these runs: names, beginnings of names, `last`, `previous`, `last-2`.
    #[arg(long, value_name = "RUN", num_args = 1.., conflicts_with = "keep")]
    delete: Vec<String>,
    /// Keep the latest N runs and all baselines, and remove the others.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    keep: Option<usize>,
    /// One JSON document.
    #[arg(long)]
    json: bool,
    /// Directory of saved runs [default: $XDG_DATA_HOME/fsdyno, on Windows %LOCALAPPDATA%\fsdyno].
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
}

/// Print a saved run again.
#[derive(Debug, Args)]
pub(crate) struct Show {
    /// A run's name or the beginning of it, a baseline's name, a file, `last`, `previous` or `last-2`.
    run: String,
    /// Print one JSON document: the summary, then the whole record.
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Print Markdown, for a ticket.
    #[arg(long)]
    markdown: bool,
    /// Print all figures, findings and reasons on a terminal too, and not only what fits 24 lines; files and pipes
    /// always
    /// have all.
    #[arg(long, conflicts_with_all = ["json", "markdown"])]
    wide: bool,
    /// Directory of saved runs [default: $XDG_DATA_HOME/fsdyno, on Windows %LOCALAPPDATA%\fsdyno].
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
}

/// Remove the files that killed runs left in a directory, and only those.
#[derive(Debug, Args)]
pub(crate) struct Clean {
    /// The directory that was measured, or the object store: s3://BUCKET/PREFIX.
    path: PathBuf,
    /// Only list what would be removed.
    #[arg(long)]
    dry_run: bool,
    /// Also remove files of another machine, which may still use them.
    #[arg(long)]
    others: bool,
    /// Also remove files of other users.
    #[arg(long)]
    any_owner: bool,
    /// One JSON document.
    #[arg(long)]
    json: bool,
}

/// The store, with a warning for files that are no saved runs.
pub(super) fn opened(directory: Option<&Path>) -> Result<Store, Problem> {
    Ok(Store::at(directory)?.warning(report_problem))
}

/// Reports the problem, if there is one, and returns the exit status.
pub(super) fn ended(result: Result<ExitCode, Problem>) -> ExitCode {
    result.unwrap_or_else(|problem| ExitCode::from(refused(&problem)))
}

/// Prints a page for people.
pub(super) fn printed_page(page: &str) -> ExitCode {
    if print_page(page) { ExitCode::SUCCESS } else { ExitCode::from(UNUSABLE) }
}

/// Prints a text for programs, or one without verdicts.
pub(super) fn printed(text: &str) -> ExitCode {
    shown(&escape::terminal(text))
}

impl Runs {
    pub(crate) fn run(self) -> ExitCode {
        ended(if self.delete.is_empty() && self.keep.is_none() { self.list() } else { self.remove() })
    }

    fn remove(self) -> Result<ExitCode, Problem> {
        let store = opened(self.store.as_deref())?;
        let [removed, baselines] = match self.keep {
            Some(latest) => store.keep(latest)?,
            None => [store.remove(&self.delete)?, Vec::new()],
        };
        let headline = format!("{} removed", counted(removed.len() as u64, "saved run"));
        if self.json {
            let parts = json!({ "removed": removed, "baselines": baselines });
            return Ok(printed(&fsdyno_present::document(headline, parts)));
        }
        let each: String = removed.iter().map(|id| format!("removed {id}\n")).collect();
        let stay = match &baselines[..] {
            [] => String::new(),
            [only] => format!("; the baseline {only} stays"),
            all => format!("; the baselines {} stay", all.join(", ")),
        };
        Ok(printed(&format!("{each}{headline} from {}{stay}\n", store.directory().display())))
    }

    fn list(self) -> Result<ExitCode, Problem> {
        let store = opened(self.store.as_deref())?;
        let (runs, baselines) = (store.digests()?, store.known_baselines());
        if self.json {
            return Ok(printed(&fsdyno_present::tables::runs_json(runs, &baselines)));
        }
        if runs.is_empty() {
            print_stderr(&format!("no runs are saved in {} yet", store.directory().display()));
        }
        Ok(printed_page(&fsdyno_present::tables::runs(runs, &baselines, columns())))
    }
}

impl Show {
    pub(crate) fn run(self) -> ExitCode {
        let found = opened(self.store.as_deref()).and_then(|store| store.find(&self.run));
        ended(found.map(|study| {
            let shown = shown_as(self.json, self.markdown, self.wide, &study);
            if self.json || self.markdown { printed(&shown) } else { printed_page(&shown) }
        }))
    }
}

impl Clean {
    pub(crate) fn run(self) -> ExitCode {
        ExitCode::from(supervised(|| self.clean().unwrap_or_else(|problem| refused(&problem))))
    }

    fn clean(self) -> Result<u8, Problem> {
        let control = Arc::new(patience::control());
        let signals = SignalWatch::begin(Arc::clone(&control))
            .map_err(|error| Problem::new(format!("cannot handle signals: {error}")))?;
        let bounds = control.bounds();
        let mut looks = FirstAccessGuard::new(control);
        let options = CleanOptions { only_look: self.dry_run, others: self.others, any_owner: self.any_owner, bounds };
        check_places("clean", 1, self.path.to_str().into_iter())?;
        let found = clean_place(&self.path, options, &mut looks)?;
        drop((looks, signals));
        let failed = found.left.iter().any(|left| matches!(left.outcome, Outcome::Failed(_)));
        let text = if self.json { cleaned_json(&found, self.dry_run) } else { self.cleaned(&found) };
        let written = print(&escape::terminal(&text));
        Ok(if failed || !written { UNUSABLE } else { 0 })
    }

    fn cleaned(&self, found: &Cleaned) -> String {
        let mut text = String::new();
        for left in &found.left {
            let weight = left
                .weight
                .map(|(entries, bytes)| format!(" ({entries} entries, {})", fsdyno_text::quantity::bytes(bytes)));
            let what = outcome(&left.outcome);
            text.push_str(&format!("{}{}: {what}\n", left.directory.display(), weight.unwrap_or_default()));
        }
        if found.drafts > 0 {
            let files = if found.drafts == 1 { "unfinished file" } else { "unfinished files" };
            let what = if self.dry_run { "would be removed" } else { "removed" };
            let (path, count) = (self.path.display(), found.drafts);
            text.push_str(&format!("{path}: {count} {files} of killed runs: {what}\n"));
        }
        if text.is_empty() {
            text = format!("no fsdyno files are left in {}\n", self.path.display());
        }
        text
    }
}

/// Cleans a directory or an object store.
fn clean_place(path: &Path, options: CleanOptions, looks: &mut FirstAccessGuard) -> Result<Cleaned, Problem> {
    #[cfg(all(feature = "object", target_os = "linux"))]
    if let Some(place) = Some(Place::at(path)).filter(Place::is_object_store) {
        return fsdyno_guide::objects::clean(&place, options, looks);
    }
    clean(path, options, looks)
}

/// What was done with a directory, in words.
fn outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Removed => "removed".to_string(),
        Outcome::Found => "would be removed".to_string(),
        Outcome::InUse(pid) => {
            format!("not removed: process {pid} still uses it, or cannot be checked from here")
        }
        Outcome::OtherHost(host) => {
            format!("not removed: made by another machine, {host}, which may still use it (--others removes it)")
        }
        Outcome::OtherOwner(user) => format!("not removed: belongs to user {user} (--any-owner removes it)"),
        Outcome::NotOurs => "not removed: it has no fsdyno marker".to_string(),
        Outcome::Failed(reason) => format!("FAILED: {reason}"),
    }
}

fn cleaned_json(found: &Cleaned, dry_run: bool) -> String {
    let directories = found.left.iter().map(|left| {
        json!({
            "path": fsdyno_job::bytes::shown(&left.directory),
            "removed": left.outcome == Outcome::Removed,
            "outcome": outcome(&left.outcome),
            "entries": left.weight.map(|(entries, _)| entries),
            "bytes": left.weight.map(|(_, bytes)| bytes),
        })
    });
    let directories: Vec<Value> = directories.collect();
    let removed = found.left.iter().filter(|left| left.outcome == Outcome::Removed).count();
    let headline = format!("{removed} of {} work directories removed", directories.len());
    fsdyno_present::document(headline, json!({"dry_run": dry_run, "directories": directories, "drafts": found.drafts}))
}
