//! Writes a study as fio's JSON: one document for each row.

use fsdyno_results::Study;
use jiff::tz::TimeZone;

use super::document;

/// One row's document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedDocument {
    /// A file name without a path, unique among the study's rows: `03-nfs-randread-4k-r2.json`.
    pub name: String,
    /// The JSON, with the bins of the histograms (`json+`), ending with a line feed.
    pub document: String,
}

/// The study's rows in fio's JSON. Phases of operations have no such form and are left out. Times are in `zone`.
pub fn documents(study: &Study, zone: &TimeZone) -> Vec<NamedDocument> {
    let targets = study.target_names();
    let width = study.rows.len().to_string().len().max(2);
    let rows = study.rows.iter().enumerate().filter_map(|(index, row)| Some((index, row, row.run.as_ref()?)));
    rows.map(|(index, row, run)| {
        let target = targets.get(row.target).map_or("", String::as_str);
        let words = format!("{}-{}", part_of_a_name(target), part_of_a_name(&row.pattern));
        let name = format!("{:0width$}-{words}-r{}.json", index + 1, row.round + 1);
        NamedDocument { name, document: document(run, true, zone) }
    })
    .collect()
}

/// The text with only letters and digits that every filesystem accepts.
fn part_of_a_name(text: &str) -> String {
    let plain = |character: char| if character.is_ascii_alphanumeric() { character } else { '_' };
    let name: String = text.chars().take(40).map(plain).collect();
    name.trim_matches('_').to_owned()
}
