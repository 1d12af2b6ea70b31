//! JUnit's XML, which CI systems show as test results.

use maud::{PreEscaped, html};
use results::{Study, Verdict, escape};

/// A test of the document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// What it belongs to.
    pub class: String,
    /// Its name.
    pub name: String,
    /// How it ended.
    pub outcome: Outcome,
}

/// How a test ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Well.
    Passed,
    /// Not well, and why.
    Failed(String),
    /// Nobody can tell, and why.
    Skipped(String),
}

/// The verdicts of a study: a requirement without PASS or FAIL is a test that was skipped.
pub fn cases(study: &Study) -> Vec<Case> {
    let case = |row: &results::VerdictRow| Case {
        class: row.requirement.profile.clone(),
        name: row.requirement.title.clone(),
        outcome: match row.verdict {
            Verdict::Pass => Outcome::Passed,
            Verdict::Fail => Outcome::Failed(row.reason.clone()),
            other => Outcome::Skipped(format!("{}: {}", other.word(), row.reason)),
        },
    };
    study.verdicts.iter().map(case).collect()
}

/// The document of these tests.
pub fn junit(suite: &str, cases: &[Case]) -> String {
    let failed = cases.iter().filter(|case| matches!(case.outcome, Outcome::Failed(_))).count();
    let skipped = cases.iter().filter(|case| matches!(case.outcome, Outcome::Skipped(_))).count();
    let document = html! {
        (PreEscaped("<?xml version=\"1.0\"?>\n"))
        testsuites tests=(cases.len()) failures=(failed) errors="0" {
            testsuite name=(suite) tests=(cases.len()) failures=(failed) skipped=(skipped) errors="0" {
                @for Case { class, name, outcome } in cases {
                    testcase classname=(class) name=(name) {
                        @match outcome {
                            Outcome::Passed => {}
                            Outcome::Failed(why) => { failure message=(why) {} }
                            Outcome::Skipped(why) => { skipped message=(why) {} }
                        }
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
        let case = |name: &str, outcome| Case { class: "etcd".into(), name: name.into(), outcome };
        let all = [
            case("a", Outcome::Passed),
            case("p99 < 10 ms", Outcome::Failed("\"11.7\" & more\u{1b}".into())),
            case("c", Outcome::Skipped("INCONCLUSIVE: one run".into())),
        ];
        assert_eq!(
            junit("check", &all),
            "<?xml version=\"1.0\"?>\n<testsuites tests=\"3\" failures=\"1\" errors=\"0\">\
             <testsuite name=\"check\" tests=\"3\" failures=\"1\" skipped=\"1\" errors=\"0\">\
             <testcase classname=\"etcd\" name=\"a\"></testcase>\
             <testcase classname=\"etcd\" name=\"p99 &lt; 10 ms\">\
             <failure message=\"&quot;11.7&quot; &amp; more\\u{1b}\"></failure></testcase>\
             <testcase classname=\"etcd\" name=\"c\"><skipped message=\"INCONCLUSIVE: one run\"></skipped></testcase>\
             </testsuite></testsuites>\n"
        );
    }
}
