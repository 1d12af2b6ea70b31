//! Shows the table of `time`: each command on each storage, with the storage's part.

use fsdyno_results::Trust;
use fsdyno_text::quantity::{bytes, number};

use super::table::{Form, Table};
use crate::headline::{Headline, TimeFigures, seconds};

/// Wall time, CPU time and the storage's part of each command on each storage.
pub(super) fn table(headline: &Headline, form: Form) -> String {
    let Some(first) = headline.times.first() else { return String::new() };
    let several = headline.times.iter().any(|time| time.name != first.name);
    let headers = ["", "wall", "min", "max", "CPU", "waits", "+\u{a0}sync", "requests", "bytes", "<"];
    let mut table = Table::new(&headers).sparing(&["min|max", "waits", "bytes"]);
    for time in &headline.times {
        table.row(row(headline, time, several));
    }
    table.shown(form)
}

fn row(headline: &Headline, time: &TimeFigures, several: bool) -> Vec<String> {
    let name = if several { format!("{} {}", time.name, time.target) } else { time.target.clone() };
    let test = headline.tests.iter().find(|test| test.name == time.name && test.target == time.target);
    let mark = match test.map(|test| (test.error.is_some(), test.trust)) {
        Some((true, _)) => "failed",
        Some((false, Trust::Ok)) | None => "",
        Some((false, trust)) => trust.word(),
    };
    let shown = |value: Option<f64>, words: &dyn Fn(f64) -> String| value.map_or("-".to_owned(), words);
    let wall = time.wall_s;
    vec![
        name,
        shown(wall.map(|wall| wall.median), &seconds),
        shown(wall.map(|wall| wall.least), &seconds),
        shown(wall.map(|wall| wall.most), &seconds),
        shown(time.cpu_s, &seconds),
        shown(time.waits_s, &seconds),
        shown(time.sync_s, &seconds),
        shown(time.requests, &number),
        shown(time.bytes, &|moved| bytes(moved as u64)),
        mark.to_owned(),
    ]
}

/// Sentences on how it was measured.
pub(super) fn how_measured(headline: &Headline, form: Form) -> String {
    let runs = match headline.times.iter().map(|time| time.runs).max() {
        None | Some(0) => return String::new(),
        Some(1) => "One run each".to_owned(),
        Some(runs) => format!("Medians of {runs} runs"),
    };
    let mut states: Vec<(&str, Vec<String>)> = Vec::new();
    for time in headline.times.iter().filter(|time| !time.reference) {
        let Some(state) = time.cache.as_deref() else { continue };
        match states.iter_mut().find(|(known, _)| *known == state) {
            Some((_, names)) if names.contains(&time.target) => {}
            Some((_, names)) => names.push(time.target.clone()),
            None => states.push((state, vec![time.target.clone()])),
        }
    }
    let caches = match &states[..] {
        [] => String::new(),
        [(state, _)] => format!(" Caches before each: {state}."),
        several => {
            let of_each = several.iter().map(|(state, names)| format!("{state} ({})", names.join(", ")));
            format!(" Caches before each: {}.", of_each.collect::<Vec<_>>().join("; "))
        }
    };
    form.paragraph(&format!(
        "{runs}.{caches} wall: until the last process had ended; waits: wall without CPU; + sync: what was still in memory \
         afterwards; requests and bytes: of the storage, with the sync."
    ))
}
