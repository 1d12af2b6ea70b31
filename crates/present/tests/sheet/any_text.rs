//! Checks that no text of a study or record can control a terminal, a spreadsheet or a renderer, in any form.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use fsdyno_fio_report::terse::Version;
use fsdyno_fio_report::{Details, FORMATS};
use fsdyno_present::{export, inspect, sheet, tables};
use fsdyno_results::{Question, RunRecord, Study, changes};
use fsdyno_text::escape::is_hostile;
use jiff::tz::TimeZone;
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::Value;

use crate::{fixture, odd};

/// A study as JSON, with the positions of its free texts.
struct Sample {
    document: Value,
    texts: Vec<String>,
}

static SAMPLES: LazyLock<Vec<Sample>> = LazyLock::new(|| {
    let mut comparison = fixture::short_comparison();
    // One row of each place.
    comparison.rows.truncate(3);
    let sweeps = [Question::Sweep, Question::Curve].map(odd::sweep);
    let studies = [comparison, odd::small_files(), odd::check(), odd::failed_job(), odd::timed()];
    studies.into_iter().chain(sweeps).map(Sample::of).collect()
});

impl Sample {
    fn of(study: Study) -> Sample {
        let mut document: Value = serde_json::from_str(&study.to_json()).unwrap();
        let mut pointers = Vec::new();
        strings(&document, String::new(), &mut pointers);
        // A list of fixed words refuses other words; that is found once for all items of a list.
        let mut known: BTreeMap<String, bool> = BTreeMap::new();
        pointers.retain(|pointer| {
            let kind = pointer.replace(|character: char| character.is_ascii_digit(), "");
            if let Some(is_text) = known.get(&kind) {
                return *is_text;
            }
            let own = document.pointer_mut(pointer).map(|text| std::mem::replace(text, "any text".into()));
            let is_text = Study::deserialize(&document).is_ok();
            *document.pointer_mut(pointer).unwrap() = own.unwrap();
            known.insert(kind, is_text);
            is_text
        });
        Sample { document, texts: pointers }
    }

    /// The study with these texts in place of its own.
    fn with(&self, texts: &[String]) -> Study {
        let mut document = self.document.clone();
        for (pointer, text) in self.texts.iter().zip(texts.iter().cycle()) {
            *document.pointer_mut(pointer).unwrap() = text.as_str().into();
        }
        serde_json::from_value(document).unwrap()
    }
}

fn strings(value: &Value, pointer: String, found: &mut Vec<String>) {
    match value {
        Value::String(_) => found.push(pointer),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| strings(item, format!("{pointer}/{index}"), found));
        }
        Value::Object(keys) => {
            for (key, item) in keys {
                strings(item, format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1")), found);
            }
        }
        _ => {}
    }
}

/// Each form of a study, by name.
fn forms(study: &Study) -> BTreeMap<&'static str, String> {
    let runs: Vec<&RunRecord> = study.rows.iter().filter_map(|row| row.run.as_ref()).collect();
    let of_runs = |form: &dyn Fn(&RunRecord) -> String| runs.iter().map(|run| form(run)).collect::<String>();
    let storages = study.targets.iter().map(|target| &target.storage);
    let names = BTreeMap::from([(study.sentences.concat(), study.id.clone())]);
    let studies = std::slice::from_ref(study);
    let found = changes(study, study, &[]);
    let listed: Vec<fsdyno_results::Digest> = studies.iter().map(fsdyno_results::Digest::of).collect();
    let shown = tables::Changes {
        found: &found,
        base: study.id.clone(),
        new: study.version.clone(),
        obstacles: &study.sentences,
        next: tables::JudgementCommand::of(study),
        wide: true,
    };
    let mut forms = BTreeMap::from([
        ("text", tables::text(study, 80)),
        ("markdown", tables::markdown(study)),
        ("summary of a ticket", export::markdown(study)),
        ("csv", export::csv(study)),
        ("openmetrics", export::openmetrics(study)),
        ("html", sheet::html(studies, &sheet::SheetOptions::default())),
        ("study", study.to_json()),
        ("runs", tables::runs(&listed, &names, 80)),
        ("runs as json", tables::runs_json(&listed, &names)),
        ("history", tables::history(&listed, 80)),
        ("history as json", tables::history_json(&listed)),
        ("changes", shown.text(80)),
        ("changes in Markdown", shown.markdown()),
        ("changes as json", shown.json()),
        ("inspect", storages.clone().map(|storage| inspect::text(storage, &study.host, 80)).collect()),
        ("inspect as json", storages.map(|storage| inspect::json(storage, &study.host, &study.version)).collect()),
        ("record", of_runs(&RunRecord::to_json)),
    ]);
    let details = Details { terse: Version::V5, evidence: true, remarks: true, announced: false, zone: TimeZone::UTC };
    forms.extend(FORMATS.iter().map(|format| (format.word, of_runs(&|run| format.report(run, &details)))));
    forms
}

/// Texts with characters that control terminals, spreadsheets and renderers, and any other text.
fn text() -> impl Strategy<Value = String> {
    let order = prop_oneof![
        Just("\u{1b}[2J".to_owned()),
        Just("\u{1b}]0;title\u{7}".to_owned()),
        Just("\u{9b}31m\u{202e}\u{2066}\u{200f}\u{2028}".to_owned()),
        Just("=HYPERLINK(\"http://x\")".to_owned()),
        Just("\t@a\r\n-b\u{8}`\u{7f}`".to_owned()),
        any::<String>(),
    ];
    prop::collection::vec(order, 0..4).prop_map(|pieces| pieces.concat())
}

/// Number of sets of texts. Each night `cargo xtask sentences` sets `FSDYNO_CASES` to 5,000, and has 50 sets.
fn sets() -> u32 {
    let cases = std::env::var("FSDYNO_CASES").ok().and_then(|cases| cases.parse::<u32>().ok());
    cases.map_or(2, |cases| (cases / 100).max(1))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(sets()))]

    #[test]
    fn no_form_passes_on_an_order(texts in prop::collection::vec(text(), 1..8)) {
        for sample in SAMPLES.iter() {
            let study = sample.with(&texts);
            for (form, written) in forms(&study) {
                // The page contains licences and a third-party script, which use tabs.
                let is_order = |character| is_hostile(character) && character != '\n' && !(form == "html" && character == '\t');
                let order = written.find(is_order).map(|at| written[at..].chars().take(20).collect::<String>());
                prop_assert_eq!(order, None, "in {}", form);
            }
        }
    }
}

#[test]
fn the_samples_have_texts_everywhere() {
    let texts: usize = SAMPLES.iter().map(|sample| sample.texts.len()).sum();
    assert!(texts > 300, "{texts}");
    assert!(SAMPLES.iter().any(|sample| sample.texts.iter().any(|pointer| pointer.ends_with("/mount_point"))));
}
