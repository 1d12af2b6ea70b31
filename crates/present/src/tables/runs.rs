//! Lists the saved studies.

use std::collections::BTreeMap;

use fsdyno_results::{Digest, Question, Trust, test_name};
use fsdyno_stats::median;
use fsdyno_text::escape;
use fsdyno_text::quantity::counted;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::json;

use super::history::{Test, by_round};
use super::table::{Form, Table};

/// One line per study, the oldest first. `baselines` maps a name to an id.
pub fn runs(studies: &[Digest], baselines: &BTreeMap<String, String>, columns: usize) -> String {
    let mut table = Table::new(&["run", "when", "<of", "<figure", "<trust"]).sparing(&["when", "of"]);
    for study in studies {
        let mut id = study.id.clone();
        for (name, named) in baselines {
            if *named == study.id {
                id.push_str(&format!(" = {name}"));
            }
        }
        table.row(vec![
            id,
            when(study.started_ms),
            ending(&places(study), columns.saturating_sub(OTHERS)),
            joined(&figure(study), columns),
            trust(study).to_string(),
        ]);
    }
    if table.is_empty() { String::new() } else { escape::terminal(&table.shown(Form::Text { columns })).into_owned() }
}

/// The same as a JSON document.
pub fn runs_json(studies: &[Digest], baselines: &BTreeMap<String, String>) -> String {
    let listed = studies.iter().map(|study| {
        let names: Vec<&String> = baselines.iter().filter(|(_, id)| **id == study.id).map(|(name, _)| name).collect();
        json!({
            "id": study.id,
            "question": study.question.word(),
            "started_ms": study.started_ms,
            "complete": study.complete,
            "targets": study.targets.iter().map(|target| &target.path).collect::<Vec<_>>(),
            "rows": study.rows,
            "figure": figure(study),
            "trust": trust(study),
            "baselines": names,
        })
    });
    crate::list_document(counted(studies.len() as u64, "saved run"), "runs", listed)
}

/// Below this width a figure may take two lines, columns.
const NARROW: usize = 80;

/// The figure without line breaks; on a narrow terminal it may break after the number with its unit.
fn joined(figure: &str, columns: usize) -> String {
    match figure.rsplit_once(' ').filter(|_| columns < NARROW) {
        Some((before, unit)) => format!("{before}\u{a0}{unit}"),
        None => figure.replace(' ', "\u{a0}"),
    }
}

/// Width of the other columns except baseline and time (the run's id contains the time), columns.
const OTHERS: usize = 68;

/// The least width of a place that distinguishes it from others, characters.
const LEAST: usize = 12;

/// The end of a long text: the end of a path says more than its beginning.
fn ending(text: &str, columns: usize) -> String {
    let (length, columns) = (text.chars().count(), columns.max(LEAST));
    if length <= columns {
        text.to_owned()
    } else {
        format!("…{}", text.chars().skip(length + 1 - columns).collect::<String>())
    }
}

/// The tests that represent a run of several, where they ran.
const HEADLINES: [&str; 2] = [test_name::RAND_READ, test_name::SEQ_READ];

/// The figure by which a run is listed, of its first place: `rand-read 67,204 IOPS`; of a series the largest. Empty: it
/// has none.
fn figure(study: &Digest) -> String {
    let of = |pattern| Some((Test::of(std::slice::from_ref(study), 0, pattern)?, pattern));
    let found = |pattern| {
        let (test, pattern) = of(pattern)?;
        let value = median(&by_round(study, 0, pattern, test.measure))?;
        Some((value, format!("{pattern} {} {}", test.shown(value), test.unit)))
    };
    let patterns = study.patterns();
    let figures = || patterns.iter().filter_map(|pattern| found(pattern));
    let shown = match study.question {
        Question::Sweep | Question::Curve | Question::Scale => figures().max_by(|one, other| one.0.total_cmp(&other.0)),
        _ => HEADLINES.iter().find_map(|pattern| found(pattern)).or_else(|| figures().next()),
    };
    shown.map(|(_, words)| words).unwrap_or_default()
}

/// A time given in ms since the epoch: `2026-11-22 04:31 UTC`.
pub(super) fn when(started_ms: u64) -> String {
    let moment = i64::try_from(started_ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
    moment.map_or("?".to_string(), |moment| moment.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d %H:%M UTC").to_string())
}

fn places(study: &Digest) -> String {
    let names: Vec<&str> = study.targets.iter().map(|target| target.name.as_str()).collect();
    names.join(", ")
}

/// The worst trust of the rows, or that the study is incomplete, or that a row failed.
fn trust(study: &Digest) -> &'static str {
    match () {
        () if study.lacks_ranks => "incomplete",
        () if !study.complete => "stopped",
        () if study.failed => "failed",
        () if study.trust == Trust::Caution => Digest::trust_word(study.tests.iter()),
        () => study.trust.word(),
    }
}
