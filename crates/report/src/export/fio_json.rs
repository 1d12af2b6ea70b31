//! fio's JSON, one document for each row, as fio itself would have written it.

use jiff::tz::TimeZone;
use results::Study;

use crate::json;
use crate::summary::Grid;

/// One row's document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FioDocument {
    /// A file name without a path, unique among the study's rows: `03-nfs-randread-4k-r2.json`.
    pub name: String,
    /// The JSON, with the bins of the histograms (`json+`), ending with a line feed.
    pub document: String,
}

/// The study's rows in fio's JSON; phases of operations have no such form and are left out. Times are shown in `zone`.
pub fn fio_json(study: &Study, zone: &TimeZone) -> Vec<FioDocument> {
    let targets = Grid::of(study).targets;
    let width = study.rows.len().to_string().len().max(2);
    let rows = study.rows.iter().enumerate().filter_map(|(index, row)| Some((index, row, row.run.as_ref()?)));
    rows.map(|(index, row, run)| {
        let target = targets.get(row.target).map_or("", String::as_str);
        let words = format!("{}-{}", part_of_a_name(target), part_of_a_name(&row.pattern));
        let name = format!("{:0width$}-{words}-r{}.json", index + 1, row.round + 1);
        FioDocument { name, document: json::document(run, true, zone) }
    })
    .collect()
}

/// Letters and digits that every filesystem takes.
fn part_of_a_name(text: &str) -> String {
    let plain = |character: char| if character.is_ascii_alphanumeric() { character } else { '_' };
    let name: String = text.chars().take(40).map(plain).collect();
    name.trim_matches('_').to_owned()
}
