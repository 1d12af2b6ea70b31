//! Tests of the table as a whole: what holds for every row.

use std::collections::HashSet;

use proptest::prelude::*;

use super::*;
use crate::direction::PerDirection;
use crate::option::{Kind, Status, Value};
use crate::typed::{Amount, Job};
use crate::value::{Reading, Word};

#[test]
fn names_are_unique_for_every_engine() {
    let engines: HashSet<&str> = job_rows().flat_map(|row| row.engines).copied().chain([""]).collect();
    for engine in engines {
        let mut seen = HashSet::new();
        for name in rows_for(engine).flat_map(|row| row.names()).chain(PROGRAM.iter().map(|row| row.name)) {
            assert!(seen.insert(name), "{name} twice for engine {engine:?}");
        }
    }
}

#[test]
fn every_row_is_complete() {
    fn check<T>(row: &crate::option::OptionRow<T>) {
        assert!(row.help.len() >= 4 && !row.help.ends_with('.'), "help of {}", row.name);
        assert!((1..=4).contains(&row.tier), "tier of {}", row.name);
        let mut words = HashSet::new();
        for choice in row.kind.choices() {
            assert!(words.insert(choice.word), "{} has {} twice", row.name, choice.word);
            assert!(!choice.help.is_empty() && !choice.word.contains([':', ' ', ',']), "{}={}", row.name, choice.word);
            if choice.status != Status::Full {
                assert!(!choice.status.reason().is_empty(), "{}={}", row.name, choice.word);
            }
        }
        if row.status != Status::Full {
            assert!(!row.status.reason().is_empty(), "reason of {}", row.name);
        }
    }
    job_rows().for_each(check);
    PROGRAM.iter().for_each(check);
    for (_, name) in SHORT_OPTIONS {
        assert!(PROGRAM.iter().any(|row| row.name == *name), "{name}");
    }
}

/// The options that the contract and nearly every guide use.
#[test]
fn options_of_the_first_tier_are_full() {
    for row in job_rows().filter(|row| row.tier == 1) {
        assert_eq!(row.status, Status::Full, "{}", row.name);
    }
    for row in PROGRAM.iter().filter(|row| row.tier == 1) {
        assert_eq!(row.status, Status::Full, "{}", row.name);
    }
}

fn resolved(row: &JobRow, text: Option<&str>) -> Job {
    let mut draft = Draft::default();
    if let Some(text) = text {
        let mut reading = Reading::default();
        let value = row.interpret(Some(text), &mut reading).unwrap_or_else(|e| panic!("{} {text}: {e:?}", row.name));
        assert_eq!(reading.notes, Vec::<String>::new(), "{}", row.name);
        row.kind.apply(&mut draft, &value.value).unwrap_or_else(|e| panic!("{} {text}: {e:?}", row.name));
    }
    let job = crate::resolve::finish_alone(draft).unwrap_or_else(|| panic!("{} {text:?}", row.name));
    Job { options: Vec::new().into(), ..job }
}

/// A job without the option has the value that the table calls the default.
#[test]
fn defaults_change_nothing() {
    // With a given seed, even the default's value, random sequences continue from loop to loop.
    for row in job_rows().filter(|row| row.name != "randseed") {
        if let Some(default) = row.default {
            assert_eq!(resolved(row, Some(default)), resolved(row, None), "{}", row.name);
        }
    }
    for row in PROGRAM {
        if let Some(default) = row.default {
            let mut settings = crate::settings::Settings::default();
            let value = row.interpret(Some(default), &mut Reading::default()).unwrap().value;
            row.kind.apply(&mut settings, &value).unwrap();
            assert_eq!(settings, crate::settings::Settings::default(), "{}", row.name);
        }
    }
}

/// Flags and booleans that are not built are accepted when they are off.
#[test]
fn off_is_always_accepted() {
    for row in job_rows() {
        if matches!(row.kind, Kind::Flag(_) | Kind::Bool(_)) {
            let interpreted = row.interpret(Some("0"), &mut Reading::default());
            assert!(interpreted.is_ok_and(|interpreted| interpreted.remark.is_none()), "{}", row.name);
        }
    }
}

fn list<V: Clone + std::fmt::Debug + 'static>(
    items: impl Strategy<Value = V> + Clone + 'static,
) -> impl Strategy<Value = PerDirection<Option<V>>> {
    // At least one item is there: an option without a value is tested elsewhere.
    let item = prop::option::of(items.clone());
    (items, item.clone(), item).prop_map(|(read, write, trim)| PerDirection { read: Some(read), write, trim })
}

/// Draws a value that the row's grammar allows.
fn values(row: &'static JobRow) -> BoxedStrategy<Value> {
    /// Times are drawn in whole microseconds, as they are printed.
    fn times() -> std::ops::Range<u64> {
        0..100_000_000_000
    }
    const LARGEST: u64 = i64::MAX as u64;
    let ns = |us: u64| us * 1_000;
    match &row.kind {
        Kind::Switch(_) => Just(Value::Nothing).boxed(),
        Kind::OptionalText(_) => "[a-z/.]{1,20}".prop_map(|text| Value::Optional(Some(text))).boxed(),
        Kind::Flag(_) => any::<bool>().prop_map(Value::Flag).boxed(),
        Kind::Bool(_) => any::<bool>().prop_map(Value::Bool).boxed(),
        Kind::Integer { min, max, .. } => (*min..=*max).prop_map(Value::Integer).boxed(),
        Kind::Numbers { min, max, .. } => list(*min..=LARGEST.min(*max)).prop_map(Value::Numbers).boxed(),
        Kind::Size { min, .. } => (*min..=LARGEST).prop_map(Value::Size).boxed(),
        Kind::SizeRange { min, .. } => {
            let end = *min..=LARGEST;
            (end.clone(), end).prop_map(|(a, b)| Value::SizeRange(a.min(b), a.max(b))).boxed()
        }
        Kind::SizeRanges(_) => {
            let ends = (1..=u64::from(u32::MAX), 1..=u64::from(u32::MAX)).prop_map(|(a, b)| (a.min(b), a.max(b)));
            list(ends).prop_map(Value::SizeRanges).boxed()
        }
        Kind::Amount(_) => prop_oneof![
            (0..=LARGEST).prop_map(|bytes| Value::Amount(Amount::Bytes(bytes))),
            (0..=100_u32).prop_map(|percent| Value::Amount(Amount::Percent(percent))),
            (0..=LARGEST).prop_map(|zones| Value::Amount(Amount::Zones(zones))),
        ]
        .boxed(),
        Kind::Time { .. } => times().prop_map(move |us| Value::Time(ns(us))).boxed(),
        Kind::TimeRange { .. } => {
            (times(), times()).prop_map(move |(a, b)| Value::TimeRange(ns(a.min(b)), ns(a.max(b)))).boxed()
        }
        Kind::Times { .. } => list(times().prop_map(ns)).prop_map(Value::Times).boxed(),
        Kind::Word { choices, .. } => (0..choices.len(), "[0-9./%:]{1,8}")
            .prop_map(|(index, tail)| {
                let choice = &choices[index];
                Value::Word(Word { choice, tail: choice.tail.map(|_| tail) })
            })
            .boxed(),
        Kind::Floats { min, max, count, .. } => {
            prop::collection::vec(*min..=max.min(1e9), 1..=*count).prop_map(Value::Floats).boxed()
        }
        Kind::Text(_) => "[a-z0-9/.$]{1,20}".prop_map(Value::Text).boxed(),
    }
}

fn rows_and_values() -> impl Strategy<Value = (&'static JobRow, Value)> {
    let rows: Vec<&'static JobRow> = job_rows().collect();
    prop::sample::select(rows).prop_flat_map(|row| values(row).prop_map(move |value| (row, value)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    /// The text of a value is read back as the same value.
    #[test]
    fn printed_values_read_back((row, value) in rows_and_values()) {
        let text = value.to_string();
        let mut reading = Reading::default();
        let read = row.kind.read(row.name, Some(&text), &mut reading);
        prop_assert_eq!(read, Ok(value), "{}={}", row.name, text);
        prop_assert!(reading.notes.is_empty());
    }
}

/// Texts that are drawn for each reader. Each night `cargo xtask sentences` sets `FSDYNO_CASES` to 5,000.
fn texts() -> ProptestConfig {
    let cases = std::env::var("FSDYNO_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig::with_cases(cases.unwrap_or(512))
}

proptest! {
    #![proptest_config(texts())]

    /// No text makes a reader panic.
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,24}") {
        let mut draft = Draft::default();
        for row in job_rows() {
            if let Ok(value) = row.kind.read(row.name, Some(&text), &mut Reading::default()) {
                let _ = row.kind.apply(&mut draft, &value);
            }
        }
    }

    /// The same for texts that look like values.
    #[test]
    fn any_likely_text_is_read_or_refused(text in "[-0-9kmgtp%b.:,/xsz\" ]{0,16}") {
        let mut draft = Draft::default();
        for row in job_rows() {
            if let Ok(value) = row.kind.read(row.name, Some(&text), &mut Reading::default()) {
                let _ = row.kind.apply(&mut draft, &value);
            }
        }
    }
}
