//! The list of kept studies.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use results::quantity::counted;
use results::{Digest, escape};
use serde_json::json;

use super::table::{Form, Table};

/// One line per study, the oldest first. `baselines` maps a name to an id.
pub fn runs(studies: &[Digest], baselines: &BTreeMap<String, String>, columns: usize) -> String {
    let mut table = Table::new(&["run", "<when (UTC)", "<of", "<trust"]).sparing(&["when (UTC)"]);
    for study in studies {
        let mut id = study.id.clone();
        for (name, named) in baselines {
            if *named == study.id {
                id.push_str(&format!(" = {name}"));
            }
        }
        table.row(vec![
            id,
            when(study),
            ending(&places(study), columns.saturating_sub(OTHERS)),
            trust(study).to_string(),
        ]);
    }
    if table.is_empty() { String::new() } else { escape::terminal(&table.shown(Form::Text { columns })).into_owned() }
}

/// The same as one JSON document.
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
            "trust": trust(study),
            "baselines": names,
        })
    });
    crate::list_document(counted(studies.len() as u64, "saved run"), "runs", listed)
}

/// Columns beside the places, without the name of a baseline.
const OTHERS: usize = 57;

/// The least of a place that tells it from others, characters.
const LEAST: usize = 12;

/// The end of a long text, which tells more of a path than its beginning.
fn ending(text: &str, columns: usize) -> String {
    let (length, columns) = (text.chars().count(), columns.max(LEAST));
    if length <= columns {
        text.to_owned()
    } else {
        format!("…{}", text.chars().skip(length + 1 - columns).collect::<String>())
    }
}

fn when(study: &Digest) -> String {
    let moment = i64::try_from(study.started_ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
    moment.map_or("?".to_string(), |moment| moment.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d %H:%M").to_string())
}

fn places(study: &Digest) -> String {
    let names: Vec<&str> = study.targets.iter().map(|target| target.name.as_str()).collect();
    names.join(", ")
}

/// The worst of the rows; a study that is not complete says so, and one in which something failed.
fn trust(study: &Digest) -> &'static str {
    match () {
        () if study.lacks_ranks => "incomplete",
        () if !study.complete => "stopped",
        () if study.failed => "failed",
        () => study.trust.word(),
    }
}
