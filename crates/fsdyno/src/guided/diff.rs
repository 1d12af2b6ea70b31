//! Compares saved runs: `diff`, `history`, `baseline`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use fsdyno_guide::Problem;
use fsdyno_guide::study::is_object_store;
use fsdyno_present::export::junit::{Outcome, TestCase, junit, took_s};
use fsdyno_present::tables::{Changes, JudgementCommand, change_in_words};
use fsdyno_results::{
    Change, Digest, Measure, Row, Significance, Study, Trust, changes, earlier, is_repeat, obstacles,
};
use fsdyno_text::quantity::counted;

use super::answer::Shared;
use super::answer_file::AnswerFile;
use super::step_summary::StepSummary;
use super::stored::{ended, opened, printed, printed_page};
use crate::process::status::{FAILED, UNUSABLE};
use crate::process::streams::{columns, print_stderr, print_stderr_fitted, report_problem};

/// What changed between two saved runs, and whether the change is larger than the noise.
#[derive(Debug, Args)]
pub(crate) struct Diff {
    /// The earlier run: a name, the beginning of one, a baseline's name, a file, `previous` or `last-2`.
    base: String,
    /// The later run.
    new: String,
    /// Exit status 1 if this is true: `randread.iops < -5%`, `write.p99 > 10%`, `any.rate < -5%`. Only a change that
    /// the rounds confirm counts, with its whole interval beyond the limit. Both runs need four rounds or more, and
    /// none that is invalid. The interval includes how much runs differ: as the runs of the same plan kept before BASE
    /// show, or ±3 % with fewer than three of them.
    #[arg(long, value_name = "CONDITION")]
    fail_if: Vec<String>,
    /// Write each condition as a test of JUnit's XML to this file; one that cannot be judged is skipped.
    #[arg(long, value_name = "FILE", requires = "fail_if")]
    junit: Option<PathBuf>,
    /// Append the changes in Markdown to the file that $GITHUB_STEP_SUMMARY names, for the page of a CI run.
    #[arg(long)]
    github: bool,
    /// Compare even if plan, version or machine differ; the output says so.
    #[arg(long)]
    force: bool,
    /// All figures, even where nothing changed.
    #[arg(long)]
    wide: bool,
    /// One JSON document.
    #[arg(long)]
    json: bool,
    /// Directory of saved runs [default: $XDG_DATA_HOME/fsdyno, on Windows %LOCALAPPDATA%\fsdyno].
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
}

/// The figures of a plan over all its saved runs.
#[derive(Debug, Args)]
pub(crate) struct History {
    /// A run of the plan: a name, the beginning of one, a file, or `last`.
    #[arg(default_value = "last")]
    run: String,
    /// One JSON document: the medians of each figure, run by run.
    #[arg(long)]
    json: bool,
    /// Directory of saved runs [default: $XDG_DATA_HOME/fsdyno, on Windows %LOCALAPPDATA%\fsdyno].
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
}

/// Names for saved runs.
#[derive(Debug, Args)]
pub(crate) struct Baseline {
    #[command(subcommand)]
    what: BaselineWhat,
    /// One JSON document.
    #[arg(long, global = true)]
    json: bool,
    /// Directory of saved runs [default: $XDG_DATA_HOME/fsdyno, on Windows %LOCALAPPDATA%\fsdyno].
    #[arg(long, value_name = "DIR", global = true)]
    store: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum BaselineWhat {
    /// Give a run this name.
    Set {
        /// The name.
        name: String,
        /// The run.
        run: String,
    },
    /// List the names.
    List,
}

/// A condition on a change.
#[derive(Clone, Debug, PartialEq)]
struct Condition {
    pattern: String,
    measure: Measure,
    less: bool,
    percent: f64,
}

impl Condition {
    /// Parses `PATTERN.FIGURE < -5%`. An unknown figure or pattern is an error, as such a condition would never hold.
    fn parse(text: &str, known: &[Change]) -> Result<Condition, Problem> {
        let wrong = |reason: String| {
            Problem::new(format!("--fail-if `{text}`: {reason}"))
                .with_next("write PATTERN.FIGURE < PERCENT%, such as `randread.iops < -5%`")
        };
        let (left, less, right) = match (text.split_once('<'), text.split_once('>')) {
            (Some((left, right)), None) => (left, true, right),
            (None, Some((left, right))) => (left, false, right),
            _ => return Err(wrong("it needs exactly one of < and >".to_string())),
        };
        let number =
            right.trim().strip_suffix('%').ok_or_else(|| wrong("the limit must be a percentage".to_string()))?;
        let percent: f64 = number.trim().parse().map_err(|_| wrong(format!("`{}` is not a number", number.trim())))?;
        let (pattern, word) = left
            .trim()
            .rsplit_once('.')
            .ok_or_else(|| wrong("the pattern before the figure is missing".to_string()))?;
        let words: Vec<&str> = Measure::ALL.iter().map(|measure| measure.word()).collect();
        let measure = Measure::ALL
            .into_iter()
            .find(|measure| measure.word() == word)
            .ok_or_else(|| wrong(format!("`{word}` is not one of {}", words.join(", "))))?;
        if pattern != "any" && !known.iter().any(|change| change.pattern == pattern) {
            let mut patterns: Vec<&str> = known.iter().map(|change| change.pattern.as_str()).collect();
            patterns.dedup();
            return Err(wrong(format!("`{pattern}` is not one of {}, any", patterns.join(", "))));
        }
        let has = |measure| known.iter().any(|change| change.pattern == pattern && change.measure == measure);
        if has(Measure::Wall) && !has(measure) {
            let figures: Vec<&str> =
                Measure::ALL.into_iter().filter(|measure| has(*measure)).map(Measure::word).collect();
            return Err(wrong(format!("a command has no {word}; it has {}", figures.join(", "))));
        }
        Ok(Condition { pattern: pattern.to_string(), measure, less, percent })
    }

    fn is_about(&self, change: &Change) -> bool {
        change.measure == self.measure && (self.pattern == "any" || self.pattern == change.pattern)
    }

    /// Whether it certainly holds: the rounds confirm the change, and its whole interval is beyond the limit.
    fn holds(&self, change: &Change) -> bool {
        let beyond = |(low, high): (f64, f64)| if self.less { high < self.percent } else { low > self.percent };
        self.is_about(change) && change.confirmed_percent().is_some_and(beyond)
    }

    /// Why changes that the condition is about cannot be judged; `None`: all can be.
    fn unjudged(&self, found: &[Change]) -> Option<String> {
        let cannot = |change: &&Change| change.shown == Significance::Unknown || change.trust == Trust::Invalid;
        let mut open = found.iter().filter(|change| self.is_about(change)).filter(cannot);
        let first = open.next()?;
        let others = match open.count() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        if first.trust == Trust::Invalid {
            return Some(format!("{}{others}: a round that is invalid shows no change", first.pattern));
        }
        let rounds = match first.rounds {
            (1, 1) => "one run each".to_string(),
            (before, after) => format!("{before} and {after} rounds"),
        };
        Some(format!("{}{others}: {rounds} cannot separate a change from noise; each side needs four", first.pattern))
    }
}

/// What to do where the plans of two runs differ.
const SAME_PLAN: &str = "repeat the run with the same plan (the same --size where the files differ) on the same machine, or compare \
                         anyway with --force";
/// The same for stores: what is read are the objects that were written in the time.
const SAME_OBJECTS: &str = "repeat both runs with the same options, and a --runtime in which the store writes all objects, or compare \
                            anyway with --force";

impl Condition {
    /// The changes for which it holds, each in words.
    fn failures(&self, found: &[Change]) -> Vec<String> {
        found.iter().filter(|change| self.holds(change)).map(change_in_words).collect()
    }

    /// The condition in these words as a test of JUnit's, about this run; its time is that of the run's tests.
    fn case(
        &self,
        (words, run, new): (&str, &str, &Study),
        found: &[Change],
        (failures, unjudged): (&[String], Option<String>),
    ) -> TestCase {
        let outcome = match unjudged {
            _ if !failures.is_empty() => Outcome::Failed(failures.join("; ")),
            Some(reason) => Outcome::Skipped(reason),
            None => Outcome::Passed,
        };
        let changed = found.iter().filter(|change| self.is_about(change));
        let figure = Some(changed.map(change_in_words).collect::<Vec<_>>().join("; "));
        let is_asked = |row: &&Row| {
            let target = new.targets.get(row.target).map(|target| &target.name);
            let is_its = |change: &Change| {
                change.pattern == row.pattern && change.target.as_ref().is_none_or(|name| Some(name) == target)
            };
            found.iter().any(|change| self.is_about(change) && is_its(change))
        };
        let time_s = took_s(new.rows.iter().filter(is_asked));
        TestCase { class: run.into(), name: words.into(), outcome, figure, time_s }
    }
}

impl Diff {
    /// The same for `compare RUN RUN`.
    pub(super) fn between(base: &str, new: &str, fail_if: Vec<String>, force: bool, shared: &Shared) -> Diff {
        let (base, new) = (base.to_string(), new.to_string());
        let Shared { json, github, store, wide, .. } = shared.clone();
        Diff { base, new, fail_if, junit: None, github, force, wide, json, store }
    }

    pub(crate) fn run(self) -> ExitCode {
        ended(self.compare())
    }

    fn compare(self) -> Result<ExitCode, Problem> {
        let report = self.junit.as_deref().map(|path| AnswerFile::claim("--junit", path)).transpose()?;
        let step_summary = if self.github { Some(StepSummary::open()?) } else { None };
        let store = opened(self.store.as_deref())?;
        let (base, new) = (store.find(&self.base)?, store.find(&self.new)?);
        if base.id == new.id && base.started_ms == new.started_ms {
            return Err(Problem::new(format!("`{}` and `{}` are the same run, {}", self.base, self.new, base.id))
                .with_next("fsdyno diff previous last"));
        }
        let reasons = obstacles(&base, &new);
        if !reasons.is_empty() && !self.force {
            return Err(Problem::new(format!("{} and {} cannot be compared: {}", base.id, new.id, reasons.join("; ")))
                .with_next(if new.targets.iter().any(|target| is_object_store(&target.path)) {
                    SAME_OBJECTS
                } else {
                    SAME_PLAN
                }));
        }
        let found = changes(&base, &new, &earlier(&Digest::of(&base), &Digest::of(&new), store.digests()?));
        if found.is_empty() {
            return Err(Problem::new(format!("{} and {} have no figure in common", base.id, new.id)));
        }
        let conditions: Vec<Condition> =
            self.fail_if.iter().map(|text| Condition::parse(text, &found)).collect::<Result<_, _>>()?;
        let shown = Changes {
            found: &found,
            base: called(&base),
            new: called(&new),
            obstacles: &reasons,
            next: JudgementCommand::of(&new),
            wide: self.wide,
        };
        let status = if self.json { printed(&shown.json()) } else { printed_page(&shown.text(columns())) };
        let mut cases = Vec::new();
        for (condition, words) in conditions.iter().zip(&self.fail_if) {
            let (failures, unjudged) = (condition.failures(&found), condition.unjudged(&found));
            for what in &failures {
                print_stderr_fitted(&format!("fails `{words}`: {what}"), 2);
            }
            if let Some(reason) = &unjudged {
                print_stderr_fitted(&format!("cannot judge `{words}` for {reason}"), 2);
            }
            cases.push(condition.case((words, &shown.new, &new), &found, (&failures, unjudged)));
        }
        let written = [
            report.map(|file| file.write(&junit("fsdyno diff", &cases))),
            step_summary.map(|file| file.append(&shown.markdown())),
        ];
        let problems: Vec<Problem> = written.into_iter().flatten().filter_map(Result::err).collect();
        problems.iter().for_each(report_problem);
        let failed = cases.iter().any(|case| matches!(case.outcome, Outcome::Failed(_)));
        Ok(match () {
            () if !problems.is_empty() => ExitCode::from(UNUSABLE),
            () if failed => ExitCode::from(FAILED),
            () => status,
        })
    }
}

/// The description of a run: its id, and its question.
fn called(study: &Study) -> String {
    let targets: Vec<&str> = study.targets.iter().map(|target| target.path.as_str()).collect();
    format!("{} ({})", study.id, targets.join(", "))
}

impl History {
    pub(crate) fn run(self) -> ExitCode {
        ended(self.list())
    }

    fn list(self) -> Result<ExitCode, Problem> {
        let store = opened(self.store.as_deref())?;
        let run = Digest::of(&store.find(&self.run)?);
        let mut runs = store.into_digests()?;
        runs.retain(|other| is_repeat(other, &run));
        Ok(if self.json {
            printed(&fsdyno_present::tables::history_json(&runs))
        } else {
            printed_page(&fsdyno_present::tables::history(&runs, columns()))
        })
    }
}

impl Baseline {
    pub(crate) fn run(self) -> ExitCode {
        ended(self.act())
    }

    fn act(self) -> Result<ExitCode, Problem> {
        let store = opened(self.store.as_deref())?;
        match &self.what {
            BaselineWhat::Set { name, run } => {
                if fsdyno_guide::store::before_last(name).is_some() || name.contains('/') {
                    return Err(Problem::new(format!("`{name}` cannot be the name of a baseline")));
                }
                let study = store.find(run)?;
                store.set_baseline(name, &study.id)?;
                let mut set = BTreeMap::new();
                set.insert(name.clone(), study.id);
                Ok(self.shown(set))
            }
            BaselineWhat::List => {
                let baselines = store.baselines()?;
                if baselines.is_empty() {
                    print_stderr("no baseline is set: `fsdyno baseline set NAME RUN` names a saved run");
                }
                Ok(self.shown(baselines))
            }
        }
    }

    fn shown(&self, baselines: BTreeMap<String, String>) -> ExitCode {
        printed(&if self.json {
            let headline = counted(baselines.len() as u64, "baseline");
            fsdyno_present::document(headline, serde_json::json!({ "baselines": baselines }))
        } else {
            baselines.iter().map(|(name, id)| format!("{name} = {id}\n")).collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsdyno_present::Headline;
    use fsdyno_results::{Interval, Question};
    use fsdyno_stats::Scatter;
    use testkit::draw::numbers;

    fn change(measure: Measure, (low, high): (f64, f64), shown: Significance) -> Change {
        let ratio = (low + high) / 2.0;
        Change {
            target: None,
            pattern: "randread".into(),
            measure,
            base: 100.0,
            new: 100.0 * ratio,
            ratio,
            interval: Some(Interval { low, high, confidence: 0.95 }),
            scatter: Scatter::Assumed,
            p_value: None,
            rounds: (5, 5),
            shown,
            trust: Trust::Ok,
        }
    }

    #[test]
    fn conditions_hold_for_what_the_rounds_confirm_beyond_the_limit() {
        let known = [change(Measure::Iops, (0.88, 0.92), Significance::Worse)];
        let condition = Condition::parse("randread.iops < -5%", &known).unwrap();
        assert!(condition.holds(&known[0]));
        assert!(
            !condition.holds(&change(Measure::Iops, (0.77, 1.15), Significance::NotShown)),
            "chance fails no script"
        );
        assert!(!condition.holds(&change(Measure::Iops, (0.88, 0.92), Significance::Unknown)), "nor do single runs");
        assert!(!condition.holds(&change(Measure::Iops, (0.88, 0.97), Significance::Worse)), "it may be 3 % only");
        assert!(!condition.holds(&change(Measure::P99, (0.88, 0.92), Significance::Better)));
        let any = Condition::parse("any.p99>10%", &known).unwrap();
        assert!(any.holds(&change(Measure::P99, (1.15, 1.25), Significance::Worse)));
        assert!(!any.holds(&change(Measure::P99, (1.05, 1.35), Significance::Worse)));
    }

    #[test]
    fn a_condition_on_single_runs_says_that_it_cannot_be_judged() {
        let mut single = change(Measure::Iops, (0.5, 0.5), Significance::Unknown);
        (single.interval, single.rounds) = (None, (1, 1));
        let condition = Condition::parse("any.iops < -5%", std::slice::from_ref(&single)).unwrap();
        let reason = condition.unjudged(&[single.clone(), single]).unwrap();
        assert_eq!(
            reason,
            "randread and 1 more: one run each cannot separate a change from noise; each side needs \
                            four"
        );
        let sound = change(Measure::Iops, (0.9, 1.1), Significance::NotShown);
        assert_eq!(condition.unjudged(std::slice::from_ref(&sound)), None);
        // For example the total of ranks of which one sent no results.
        let invalid = Change { trust: Trust::Invalid, ..sound };
        assert_eq!(condition.unjudged(&[invalid]).unwrap(), "randread: a round that is invalid shows no change");
    }

    /// Each number of JUnit's document is one of the table or of the condition, to the digit.
    #[test]
    fn junit_has_the_figures_of_the_table() {
        let mut found = vec![
            change(Measure::Iops, (0.873, 0.918), Significance::Worse),
            change(Measure::P99, (1.131, 7.217), Significance::Worse),
            change(Measure::Rate, (0.977, 1.023), Significance::NotShown),
        ];
        let single = change(Measure::Cpu, (1.1, 1.3), Significance::Unknown);
        found.push(Change { interval: None, rounds: (1, 1), ..single });
        found.iter_mut().zip([51_606.0, 123_456_789.0, 9.87e8, 17.3]).for_each(|(change, base)| {
            (change.base, change.new) = (base, base * change.ratio);
        });
        let next = JudgementCommand::KeptRuns("fsdyno history".into());
        let shown = Changes { found: &found, base: "a".into(), new: "b".into(), obstacles: &[], next, wide: true };
        let table = numbers(&shown.text(400));
        let timed = |pattern: &str, seconds: u64| {
            let mut run = fsdyno_results::RunRecord::new("test", 1_000);
            run.taken_ms = 1_000 + seconds * 1_000;
            Row { pattern: pattern.into(), run: Some(run), ..Row::default() }
        };
        let rows = vec![timed("randread", 5), timed("randread", 7), timed("other", 90)];
        let new = Study { rows, ..Study::of_run(fsdyno_results::RunRecord::new("test", 1)) };
        for words in ["randread.iops < -5%", "any.p99 > 10%", "any.rate < -5%", "randread.cpu > 50%"] {
            let condition = Condition::parse(words, &found).unwrap();
            let (failures, unjudged) = (condition.failures(&found), condition.unjudged(&found));
            let cases = [condition.case((words, "b", &new), &found, (&failures, unjudged))];
            let document = junit("fsdyno diff", &cases).replace("p99", "").replace("version=\"1.0\"", "");
            let time = " time=\"12.000\"";
            assert!(document.contains(time), "the tests of this condition took 12 s: {document}");
            let document = document.replace(time, "");
            let is_known = |number: &f64| table.contains(number) || numbers(words).contains(number) || *number <= 1.0;
            let strange: Vec<f64> = numbers(&document).into_iter().filter(|number| !is_known(number)).collect();
            assert!(strange.is_empty(), "{strange:?} in {document}\n{}", shown.text(400));
            assert!(numbers(&document).len() > 6, "figures before and after, and the change: {document}");
            let is_failed = words.contains("iops") || words.contains("p99");
            assert_eq!(document.contains("<failure"), is_failed, "{document}");
            assert_eq!(document.contains("<skipped"), words.contains("cpu"), "{document}");
        }
    }

    /// For each question: what JUnit's document of a difference says stood before and after are the figures of the two
    /// answers, of the rounds that count.
    #[test]
    fn junit_of_each_question_has_the_figures_of_its_answers() {
        use fsdyno_text::quantity::{latency, number, rate_number};
        use testkit::draw::{Draw, Test, TestWork};
        for (question, pattern, does) in [
            (Question::Measure, "rand-read", TestWork::Read),
            (Question::SmallFiles, "create", TestWork::Phase),
            (Question::Check, "randread", TestWork::Read),
            (Question::Compare, "write", TestWork::Write),
            (Question::Time, "tar", TestWork::Command),
            (Question::Sweep, "randread-4k-qd4", TestWork::Read),
            (Question::Curve, "randread-4k-load40", TestWork::Read),
            (Question::Scale, "read-1m-n2", TestWork::Read),
            (Question::Attribute, "read-1m", TestWork::Phase),
        ] {
            let mut compared = 0;
            for mut draw in (1..=20).map(Draw::of) {
                let [base, new] = [(); 2].map(|()| {
                    let per_s = draw.one_of(&[3.0, 900.0, 120_000.0]);
                    let test = Test { target: 0, pattern, does, depth: 4, block_bytes: 4096, rounds: 6, per_s };
                    let run = Study::of_run(fsdyno_results::RunRecord::new("test", 1));
                    Study { question, rows: draw.rounds(&test), ..run }
                });
                let found = changes(&base, &new, &[]);
                let [before, after] = [&base, &new].map(|study| Headline::of(study).tests);
                for change in &found {
                    let words = format!("{pattern}.{} < -5%", change.measure.word());
                    let condition = Condition::parse(&words, &found).unwrap();
                    let (failures, unjudged) = (condition.failures(&found), condition.unjudged(&found));
                    let case = condition.case((&words, "b", &new), &found, (&failures, unjudged));
                    let document = junit("fsdyno diff", &[case]);
                    for (tests, side) in [(&before, "before"), (&after, "after")] {
                        let (test, time) = (&tests[0], |us: Option<f64>| us.map(|us| latency(us * 1e3)));
                        let figure = match change.measure {
                            Measure::Rate => test.mb_per_s.map(|mb| rate_number(mb * 1e6)),
                            Measure::Iops => test.iops.map(number),
                            Measure::P50 => time(test.latency_us.and_then(|found| found.p50)),
                            Measure::P99 => time(test.latency_us.and_then(|found| found.p99)),
                            Measure::Cpu => test.cpu_percent.map(number),
                            Measure::Wall => time(test.wall_s.map(|wall_s| wall_s * 1e6)),
                            Measure::WallAndSync => continue,
                        };
                        let figure = format!(" {} {side}", figure.unwrap());
                        assert!(document.contains(&figure), "{question:?}, {words}: no{figure} in {document}");
                        compared += 1;
                    }
                }
            }
            assert!(compared > 8, "{question:?}: {compared}");
        }
    }

    #[test]
    fn a_misspelt_condition_is_an_error() {
        let known = [change(Measure::Iops, (0.88, 0.92), Significance::Worse)];
        for (text, reason) in [
            ("randread.iosp < -5%", "`iosp` is not one of rate, iops, p50, p99, cpu"),
            ("randrad.iops < -5%", "`randrad` is not one of randread, any"),
            ("randread.iops < -5", "the limit must be a percentage"),
            ("randread.iops < x%", "`x` is not a number"),
            ("randread.iops -5%", "exactly one of < and >"),
            ("iops < -5%", "the pattern before the figure is missing"),
        ] {
            let problem = Condition::parse(text, &known).unwrap_err();
            assert!(problem.what.contains(reason), "{text}: {}", problem.what);
        }
    }
}
