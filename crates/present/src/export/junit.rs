//! Writes JUnit XML, which CI systems show as test results.

use fsdyno_results::{Row, RunRecord, Study, Verdict};
use fsdyno_text::escape;
use maud::{PreEscaped, html};

use crate::headline::VerdictLine;

/// A test case of the document.
#[derive(Clone, Debug, PartialEq)]
pub struct TestCase {
    /// The class that it belongs to.
    pub class: String,
    /// The case's name.
    pub name: String,
    /// The result.
    pub outcome: Outcome,
    /// The figure and its limit, in words; `None`: there is none.
    pub figure: Option<String>,
    /// Time, s; `None`: not known.
    pub time_s: Option<f64>,
}

/// The result of a test case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Passed.
    Passed,
    /// Failed, with the reason.
    Failed(String),
    /// Skipped (no result), with the reason.
    Skipped(String),
}

/// The verdicts of a study as test cases: a requirement without PASS or FAIL is skipped.
pub fn cases(study: &Study) -> Vec<TestCase> {
    let lines = crate::headline::verdict::of(study);
    let case = |(row, line): (&fsdyno_results::VerdictRow, &VerdictLine)| TestCase {
        class: row.requirement.profile.clone(),
        name: row.requirement.title.clone(),
        outcome: match row.verdict {
            Verdict::Pass => Outcome::Passed,
            Verdict::Fail => Outcome::Failed(row.reason.clone()),
            other => Outcome::Skipped(format!("{}: {}", other.word(), row.reason)),
        },
        figure: row.measured.map(|_| line.words()),
        time_s: took_s(row.rows.iter().filter_map(|index| study.rows.get(*index))),
    };
    study.verdicts.iter().zip(&lines).map(case).collect()
}

/// The time that these rows took together, s; `None`: none has one.
pub fn took_s<'r>(rows: impl Iterator<Item = &'r Row>) -> Option<f64> {
    let of_row = |row: &Row| {
        // Where begin and end are one time, the length is not known.
        let lasted_ms = |run: &RunRecord| run.taken_ms.checked_sub(run.started_ms).filter(|ms| *ms > 0);
        let of_run = || row.run.as_ref().and_then(lasted_ms).map(|ms| ms as f64 / 1e3);
        row.phase.as_ref().map(|phase| phase.elapsed_ns as f64 / 1e9).or_else(of_run)
    };
    rows.filter_map(of_row).reduce(|one, other| one + other)
}

/// The document of these test cases.
pub fn junit(suite: &str, cases: &[TestCase]) -> String {
    let failed = cases.iter().filter(|case| matches!(case.outcome, Outcome::Failed(_))).count();
    let skipped = cases.iter().filter(|case| matches!(case.outcome, Outcome::Skipped(_))).count();
    let document = html! {
        (PreEscaped("<?xml version=\"1.0\"?>\n"))
        testsuites tests=(cases.len()) failures=(failed) errors="0" {
            testsuite name=(suite) tests=(cases.len()) failures=(failed) skipped=(skipped) errors="0" {
                @for TestCase { class, name, outcome, figure, time_s } in cases {
                    testcase classname=(class) name=(name) time=[time_s.map(|time_s| format!("{time_s:.3}"))] {
                        @match outcome {
                            Outcome::Passed => {}
                            Outcome::Failed(why) => { failure message=(why) {} }
                            Outcome::Skipped(why) => { skipped message=(why) {} }
                        }
                        @if let Some(figure) = figure { system-out { (figure) } }
                    }
                }
            }
        }
    };
    format!("{}\n", escape::terminal(&document.into_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_counted_and_texts_are_no_markup() {
        let case = |name: &str, outcome| TestCase {
            class: "etcd".into(),
            name: name.into(),
            outcome,
            figure: (name == "a").then(|| "p99: 8 ms, < 10 ms".into()),
            time_s: (name == "a").then_some(60.25),
        };
        let all = [
            case("a", Outcome::Passed),
            case("p99 < 10 ms", Outcome::Failed("\"11.7\" & more\u{1b}".into())),
            case("c", Outcome::Skipped("INCONCLUSIVE: one run".into())),
        ];
        assert_eq!(
            junit("check", &all),
            "<?xml version=\"1.0\"?>\n<testsuites tests=\"3\" failures=\"1\" errors=\"0\">\
             <testsuite name=\"check\" tests=\"3\" failures=\"1\" skipped=\"1\" errors=\"0\">\
             <testcase classname=\"etcd\" name=\"a\" time=\"60.250\"><system-out>p99: 8 ms, &lt; 10 ms</system-out></testcase>\
             <testcase classname=\"etcd\" name=\"p99 &lt; 10 ms\">\
             <failure message=\"&quot;11.7&quot; &amp; more\\u{1b}\"></failure></testcase>\
             <testcase classname=\"etcd\" name=\"c\"><skipped message=\"INCONCLUSIVE: one run\"></skipped></testcase>\
             </testsuite></testsuites>\n"
        );
    }
}
