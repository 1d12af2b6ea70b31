//! Lists the saved studies.

use std::collections::BTreeMap;

use fsdyno_results::{Digest, DigestTest, Question, Trust, test_name};
use fsdyno_text::escape;
use fsdyno_text::quantity::counted;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::json;

use super::history::Test;
use super::table::{Form, Table};

/// One line per study, the oldest first, with its time; where that has no room, each day has a line above its studies.
/// `baselines` maps a name to an id.
pub fn runs(studies: &[Digest], baselines: &BTreeMap<String, String>, columns: usize) -> String {
    let form = Form::Text { columns };
    let mut with_time = Table::new(&["run", "when", "<of", "<figure", "<trust"]);
    let mut by_day = Table::new(&["run", "<of", "<figure", "<trust"]).sparing(&["of"]);
    let mut day = String::new();
    let figures: Vec<String> = studies.iter().map(|study| joined(&figure(study), columns)).collect();
    let widest = |words: &mut dyn Iterator<Item = &str>| words.map(|word| word.chars().count()).max().unwrap_or(0);
    // The columns beside the place, each with a blank; not the time.
    let others = widest(&mut studies.iter().map(|study| study.id.as_str()))
        + widest(&mut figures.iter().map(String::as_str)).max("figure".len())
        + widest(&mut studies.iter().map(trust)).max("trust".len())
        + 3;
    for (study, figure) in studies.iter().zip(&figures) {
        let mut id = study.id.clone();
        for (name, named) in baselines {
            if *named == study.id {
                id.push_str(&format!(" = {name}"));
            }
        }
        if day != formatted(study.started_ms, DAY) {
            day = formatted(study.started_ms, DAY);
            by_day.row(vec![day.clone()]);
        }
        let of = ending(&places(study), columns.saturating_sub(others));
        let row = vec![id, of, figure.clone(), trust(study).to_string()];
        with_time.row([&row[..1], &[when(study.started_ms)], &row[1..]].concat());
        by_day.row(row);
    }
    let table = if with_time.fits(form) { with_time } else { by_day };
    if table.is_empty() { String::new() } else { escape::terminal(&table.shown(form)).into_owned() }
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

/// The figure without line breaks; on a narrow terminal it may break between the number with its unit and its name.
fn joined(figure: &str, columns: usize) -> String {
    let whole = figure.replace(' ', "\u{a0}");
    match figure.rsplit_once(' ').filter(|_| columns < NARROW) {
        Some(_) if figure.contains(", ") => whole.replace(",\u{a0}", ", "),
        Some((before, unit)) => format!("{before}\u{a0}{unit}"),
        None => whole,
    }
}

/// The least width of a place that distinguishes it from others, characters.
const LEAST: usize = 12;

/// The end of a long text: the end of a path says more than its beginning.
pub(super) fn ending(text: &str, columns: usize) -> String {
    let (length, columns) = (text.chars().count(), columns.max(LEAST));
    if length <= columns {
        text.to_owned()
    } else {
        format!("…{}", text.chars().skip(length + 1 - columns).collect::<String>())
    }
}

/// The tests that represent a run of several, where they ran.
const HEADLINES: [&str; 2] = [test_name::RAND_READ, test_name::SEQ_READ];

/// The figure by which a run is listed, of its first place: `rand-read 67,204 IOPS`; of a series the largest, with its
/// number: `67,204 IOPS, depth 16`. An invalid test has no figure here. Empty: nothing was measured.
fn figure(study: &Digest) -> String {
    let valid = |pattern: &str| study.test(0, pattern).filter(|test| test.trust < Trust::Invalid);
    let found = |pattern| {
        let test = Test::of(std::slice::from_ref(study), 0, pattern)?;
        let value = valid(pattern)?.figure(test.measure)?;
        let shown = format!("{} {}", test.shown(value), test.unit);
        Some((
            value,
            numbered(pattern).map_or_else(|| format!("{pattern} {shown}"), |number| format!("{shown}, {number}")),
        ))
    };
    let patterns = study.patterns();
    let figures = || patterns.iter().filter_map(|pattern| found(pattern));
    let shown = match study.question {
        Question::Sweep | Question::Curve | Question::Scale => figures().max_by(|one, other| one.0.total_cmp(&other.0)),
        _ => HEADLINES.iter().find_map(|pattern| found(pattern)).or_else(|| figures().next()),
    };
    let is_invalid = || patterns.iter().any(|pattern| study.test(0, pattern).is_some_and(DigestTest::was_tried));
    shown.map(|(_, words)| words).or_else(|| is_invalid().then(|| "no valid figure".to_owned())).unwrap_or_default()
}

/// What distinguishes a test of a series from the others: `depth 16` of `randread-4k-qd16`; `None`: it is of no series.
fn numbered(pattern: &str) -> Option<String> {
    let (_, last) = pattern.rsplit_once('-')?;
    let number = |word: &str| last.strip_prefix(word)?.parse::<u32>().ok();
    let of_load = || number("load").map(|percent| format!("{percent} % load"));
    let of_nodes = || number("n").map(|nodes| counted(u64::from(nodes), "node"));
    number("qd").map(|depth| format!("depth {depth}")).or_else(of_load).or_else(of_nodes)
}

/// The form of a day: `2026-11-22 UTC`.
const DAY: &str = "%Y-%m-%d UTC";

/// A time given in ms since the epoch: `2026-11-22 04:31 UTC`.
pub(super) fn when(started_ms: u64) -> String {
    formatted(started_ms, "%Y-%m-%d %H:%M UTC")
}

fn formatted(started_ms: u64, form: &str) -> String {
    let moment = i64::try_from(started_ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
    moment.map_or("?".to_string(), |moment| moment.to_zoned(TimeZone::UTC).strftime(form).to_string())
}

fn places(study: &Digest) -> String {
    let names: Vec<&str> = study.targets.iter().map(|target| target.name.as_str()).collect();
    names.join(", ")
}

/// The worst trust of the tests, or that the study is incomplete, or that a row failed.
fn trust(study: &Digest) -> &'static str {
    match () {
        () if study.lacks_ranks => "incomplete",
        () if !study.complete => "stopped",
        () if study.failed => "failed",
        () if study.trust == Trust::Caution && !study.tests.is_empty() => Digest::trust_word(study.tests.iter()),
        () => study.trust.word(),
    }
}
