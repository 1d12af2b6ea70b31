//! Shows the figures of a plan, run by run.

use fsdyno_results::{Digest, DigestTest, Measure, Question, SMALL_BYTES, interval_of_rounds, test_name};
use fsdyno_stats::Scatter;
use fsdyno_text::escape;
use fsdyno_text::quantity::{counted, latency, number, rate_number, rate_unit};

use serde_json::json;

use super::changes::scatter;
use super::measure::reach;
use super::table::{Form, Table};

/// A test with the metric that represents it.
pub(super) struct Test<'a> {
    pattern: &'a str,
    pub(super) measure: Measure,
    pub(super) unit: &'static str,
}

impl<'a> Test<'a> {
    /// Bytes for large requests, their number for small ones; `None`: no run has such a figure, or the rate belongs to
    /// another test.
    pub(super) fn of(studies: &[Digest], target: usize, pattern: &'a str) -> Option<Test<'a>> {
        let measured =
            |test: &&DigestTest| [Measure::Iops, Measure::Wall].iter().any(|measure| !test.values(*measure).is_empty());
        let test = studies.iter().filter_map(|study| study.test(target, pattern)).find(measured)?;
        if test.is_phase && test_name::phase_of_part(pattern).is_some() {
            return None;
        }
        let first = |measure| test.values(measure).first().copied().unwrap_or_default();
        let (measure, unit) = match test.is_phase {
            true if !test.values(Measure::Wall).is_empty() => (Measure::Wall, "wall"),
            true => (Measure::Iops, "ops/s"),
            false if first(Measure::Rate) < first(Measure::Iops) * SMALL_BYTES => (Measure::Iops, "IOPS"),
            false => (Measure::Rate, rate_unit()),
        };
        Some(Test { pattern, measure, unit })
    }

    pub(super) fn shown(&self, value: f64) -> String {
        match self.measure {
            Measure::Rate => rate_number(value),
            Measure::Wall => latency(value),
            _ => number(value),
        }
    }
}

/// One line per study: the main figures of the patterns over time; a table per target.
pub fn history(studies: &[Digest], columns: usize) -> String {
    let Some(first) = studies.first() else { return String::new() };
    let form = Form::Text { columns };
    let runs = counted(studies.len() as u64, "run");
    let names: Vec<&str> = first.targets.iter().map(|target| target.name.as_str()).collect();
    let title = first.question.title(&names.join(", "));
    let title = if title.ends_with('?') { format!("{title} {runs}") } else { format!("{title}: {runs}") };
    let tests = |target: usize| -> Vec<Test<'_>> {
        first.patterns().into_iter().filter_map(|pattern| Test::of(studies, target, pattern)).collect()
    };
    if (0..first.targets.len().max(1)).all(|target| tests(target).is_empty()) {
        return escape::terminal(&form.paragraph(&format!("{title}, without a figure: nothing was measured.")))
            .into_owned();
    }
    // The remark on rounds is shown only where there are any.
    let repeated = studies.iter().flat_map(|study| &study.tests).any(|test| test.rounds.len() > 1);
    let medians =
        if repeated { "; medians of the rounds, ± the interval of the median from three rounds on" } else { "" };
    let until = match first.question {
        Question::Time => "a command's time is until its last process has ended",
        _ => "writes count until they are durable",
    };
    let mut text = form.paragraph(&format!("{title}{medians}; {until}."));
    for target in 0..first.targets.len().max(1) {
        if first.targets.len() > 1 {
            text.push_str(&format!("\n{} = {}\n", first.targets[target].name, first.targets[target].path));
        }
        let tests = tests(target);
        let all = trend(studies, target, &tests);
        let mut from = 0;
        while from < tests.len() {
            // A table takes the number of tests that fit beside each other.
            let shown = from..from + all.fitting(1 + from, form).max(1);
            let mut table = all.with_columns(1 + shown.start..1 + shown.end);
            from = shown.end;
            table.set_last(studies.iter().map(|study| trust(study, target, &tests[shown.clone()])));
            text.push_str(&format!("\n{}", table.explained(form)));
        }
    }
    escape::terminal(&text).into_owned()
}

/// The same as a JSON document, with all figures: bytes per second, ns, percent of a CPU.
pub fn history_json(studies: &[Digest]) -> String {
    let tests = |study: &Digest| -> Vec<serde_json::Value> {
        let each_target = study.targets.iter().enumerate();
        let tests = each_target.flat_map(|(target, place)| {
            study.patterns().into_iter().map(move |pattern| {
                let test = study.test(target, pattern);
                let each = |of: &dyn Fn(Measure) -> serde_json::Value| -> serde_json::Map<String, serde_json::Value> {
                    let figure = |measure: Measure| of(measure);
                    Measure::ALL.into_iter().map(|measure| (measure.word().to_owned(), figure(measure))).collect()
                };
                json!({
                    "target": place.path,
                    "pattern": pattern,
                    "figures": each(&|measure| test.and_then(|test| test.figure(measure)).into()),
                    "intervals": each(&|measure| json!(interval_of_rounds(&by_round(study, target, pattern, measure)))),
                    "rounds": test.map_or(0, |test| test.rounds.len()),
                    "trust": test.filter(|test| test.was_tried()).map(|test| test.trust.word()),
                })
            })
        });
        tests.collect()
    };
    let runs = studies.iter().map(|study| {
        json!({
            "id": study.id,
            "started_ms": study.started_ms,
            "complete": study.complete,
            "tests": tests(study),
        })
    });
    let headline = format!("{} of the same plan", counted(studies.len() as u64, "run"));
    crate::list_document(headline, "runs", runs)
}

/// The figure of each round that has it.
pub(super) fn by_round(study: &Digest, target: usize, pattern: &str, measure: Measure) -> Vec<f64> {
    study.test(target, pattern).map(|test| test.values(measure)).unwrap_or_default()
}

/// The trust of these tests of a study.
fn trust(study: &Digest, target: usize, tests: &[Test<'_>]) -> String {
    let shown = tests.iter().filter_map(|test| study.test(target, test.pattern));
    Digest::trust_word(shown).to_string()
}

/// The figures of these tests on one target, run by run.
fn trend(studies: &[Digest], target: usize, tests: &[Test<'_>]) -> Table {
    let names = tests.iter().map(|test| test_name::title_of_phase(test.pattern));
    let headers: Vec<&str> = ["run"].into_iter().chain(names).chain(["<trust"]).collect();
    let mut table = Table::new(&headers);
    let units = tests.iter().map(|test| test.unit.to_owned());
    table.row([String::new()].into_iter().chain(units).chain([String::new()]).collect());
    for study in studies {
        let mut cells = vec![study.id.clone()];
        for test in tests {
            let values = by_round(study, target, test.pattern, test.measure);
            let shown = |figure: f64| format!("{}{}", test.shown(figure), reach(figure, interval_of_rounds(&values)));
            let figure = study.test(target, test.pattern).and_then(|of| of.figure(test.measure));
            cells.push(figure.map_or("-".to_string(), shown));
        }
        cells.push(trust(study, target, tests));
        table.row(cells);
    }
    if let Some(cells) = scatter_row(studies, target, tests) {
        table.row(cells);
    }
    table
}

/// The variation between runs, by which `diff` widens its intervals when the last of them is its base. `None`: too few
/// runs.
fn scatter_row(studies: &[Digest], target: usize, tests: &[Test<'_>]) -> Option<Vec<String>> {
    let whole: Vec<&Digest> = studies.iter().filter(|study| study.complete).collect();
    let last = whole.last()?;
    let of = |test: &Test<'_>| {
        fsdyno_results::scatter(
            &whole,
            target,
            test.pattern,
            test.measure,
            last.test(target, test.pattern).map_or(0, |test| test.rounds.len()),
        )
    };
    let found: Vec<Scatter> = tests.iter().map(of).collect();
    if found.iter().all(|found| *found == Scatter::Assumed) {
        return None;
    }
    let cell = |found: &Scatter| match found {
        Scatter::Assumed => "-".to_string(),
        seen => format!("±{}", scatter(*seen)),
    };
    Some(["run to run".to_string()].into_iter().chain(found.iter().map(cell)).chain([String::new()]).collect())
}
