//! Tests that the dashboard and the alerts of `deploy/` ask for what is exported: names of series, labels, values of labels.

use std::collections::{BTreeMap, BTreeSet};

use fsdyno_present::export::openmetrics;
use fsdyno_results::{Question, Study};
use serde_json::Value;

use crate::exports::check_metrics;
use crate::{fixture, odd};

/// The labels that Prometheus adds to each series.
const ADDED: [&str; 2] = ["instance", "job"];

fn exported() -> Vec<String> {
    let studies: [Study; 4] = [fixture::comparison(), odd::small_files(), odd::check(), odd::sweep(Question::Sweep)];
    studies.iter().map(openmetrics).collect()
}

/// The values of each label of each name of a series.
type Series = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

fn series() -> Series {
    let mut series = Series::new();
    for text in exported() {
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let (name, labels) = line.split_once('{').expect("each series has labels");
            let known = series.entry(name.to_owned()).or_default();
            for label in labels.rsplit_once("\"}").expect("their end").0.split("\",") {
                let (label, value) = label.split_once("=\"").expect("a label");
                known.entry(label.to_owned()).or_default().insert(value.to_owned());
            }
        }
    }
    series
}

/// The texts between two marks.
fn between<'a>(text: &'a str, begin: &str, end: &str) -> Vec<&'a str> {
    text.split(begin).skip(1).filter_map(|rest| Some(rest.split_once(end)?.0.trim())).collect()
}

/// The names of series in a query, each with what stands in its braces.
fn selectors(query: &str) -> Vec<(&str, &str)> {
    let selector = |(at, _): (usize, &str)| {
        let rest = &query[at..];
        let end = rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').unwrap_or(rest.len());
        let braces = rest[end..].strip_prefix('{').and_then(|inside| inside.split_once('}'));
        (&rest[..end], braces.map_or("", |(inside, _)| inside))
    };
    query.match_indices("fsdyno_").map(selector).collect()
}

/// Checks a query; `shown`: the labels that a person is shown of its answer. Returns the names of its series.
fn check(series: &Series, query: &str, shown: &[&str]) -> Vec<String> {
    let selectors = selectors(query);
    assert!(!selectors.is_empty(), "{query}");
    for (index, (name, matchers)) in selectors.iter().enumerate() {
        let labels = series.get(*name).unwrap_or_else(|| panic!("{name} is not exported: {query}"));
        let has = |label: &str| ADDED.contains(&label) || labels.contains_key(label);
        for matcher in matchers.split(',').filter(|matcher| !matcher.is_empty()) {
            let (label, value) = matcher.split_once('=').expect("a matcher");
            let value = value.trim_matches('"');
            let is_known = || labels.get(label).is_some_and(|values| values.contains(value));
            assert!(has(label) && (value.starts_with('~') || is_known()), "{matcher} of {name}: {labels:?}");
        }
        let matched = between(query, "on (", ")").into_iter().flat_map(|labels| labels.split(", "));
        // An answer has the labels of the first series.
        let all = matched.chain(shown.iter().copied().filter(|_| index == 0));
        let unknown: Vec<&str> = all.filter(|label| !has(label)).collect();
        assert!(unknown.is_empty(), "{name} has no {unknown:?}: {query}");
    }
    selectors.into_iter().map(|(name, _)| name.to_owned()).collect()
}

fn deployed(path: &str) -> String {
    std::fs::read_to_string(format!("{}/../../deploy/{path}", env!("CARGO_MANIFEST_DIR"))).expect("it is there")
}

#[test]
fn the_dashboard_asks_for_series_and_labels_that_are_exported() {
    let dashboard: Value = serde_json::from_str(&deployed("grafana/fsdyno.json")).expect("JSON");
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let (panels, series) = (list(&dashboard["panels"]), series());
    let mut asked = BTreeSet::new();
    for target in panels.iter().flat_map(|panel| list(&panel["targets"])) {
        let legend = text(&target["legendFormat"]);
        let shown = between(&legend, "{{", "}}");
        // Two hosts may measure the same path, and one host several.
        assert!(legend.is_empty() || shown.starts_with(&["instance", "place"]), "{legend}");
        asked.extend(check(&series, &text(&target["expr"]), &shown));
    }
    let variables = list(&dashboard["templating"]["list"]);
    for variable in variables.iter().filter(|variable| variable["type"] == "query") {
        let query = text(&variable["definition"]);
        assert_eq!(variable["query"]["query"], query.as_str());
        asked.extend(check(&series, &query, &[query.trim_end_matches(')').rsplit(", ").next().expect("a label")]));
    }
    let all: String = panels.iter().map(Value::to_string).collect();
    let used = |name: &str| all.contains(&format!("${name}\\\"")) || all.contains(&format!("${{{name}}}"));
    assert!(variables.iter().all(|variable| used(&text(&variable["name"]))), "each variable chooses something: {all}");
    let families: BTreeSet<String> = exported().iter().flat_map(|text| check_metrics(text).into_keys()).collect();
    let has_panel = |name: &String| asked.iter().any(|asked| asked.starts_with(name.as_str()));
    assert_eq!(families.iter().filter(|name| !has_panel(name)).collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn the_alerts_ask_for_series_and_labels_that_are_exported() {
    let (rules, series) = (deployed("prometheus/fsdyno.rules.yaml"), series());
    let alerts: Vec<&str> = rules.split("- alert: ").skip(1).collect();
    assert_eq!(alerts.len(), 4);
    for alert in alerts {
        let [query] = between(alert, "expr: ", "labels:")[..] else { panic!("{alert}") };
        let shown = between(alert, "{{ $labels.", " }}");
        assert!(shown.contains(&"place") && shown.contains(&"instance"), "{alert}");
        check(&series, query, &shown);
    }
}
