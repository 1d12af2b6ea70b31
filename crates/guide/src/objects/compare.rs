//! `compare` where one of the places is an object store: whole objects against whole files, of the same number and sizes.

use fsdyno_results::{Lane, Metric, Question, Severity, Study, TestRounds};
use fsdyno_text::quantity::{bytes, count, latency};

use super::cost::Cost;
use super::phase::{Pace, Test};
use super::site::{LISTINGS, SETS, Site, TESTS};
use crate::Problem;
use crate::compare::{Rounds, check_names};
use crate::smallfiles::{WholeFile, judge_passes};
use crate::study::{Caller, Place, StudyRun, planned_row};

/// The options of a comparison with an object store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectCompareOptions {
    /// Number of rounds; `None`: as for directories.
    pub rounds: Option<u32>,
    /// Requests at once: connections to a store, threads on a directory.
    pub connections: u32,
    /// The most seconds of a turn.
    pub runtime_s: u32,
    /// The names of the tests to run; empty: all.
    pub only: Vec<String>,
    /// The most requests to each store.
    pub requests_max: u64,
    /// Whether a bucket that keeps versions, or locks objects, is used too.
    pub keeps: bool,
    /// The filesystem type that a directory must have: `(name, type)`.
    pub expected: Vec<(String, String)>,
}

/// The names of all tests.
pub fn compare_names() -> impl Iterator<Item = &'static str> {
    TESTS.iter().map(|test| test.pattern)
}

/// Compares the places; the first is the baseline.
///
/// # Errors
/// When a place cannot be used, or the budget is too small; nothing is left on any place then.
pub fn compare(places: &[Place], options: &ObjectCompareOptions, caller: Caller<'_>) -> Result<Study, Problem> {
    if places.len() < 2 {
        return Err(Problem::new("a comparison needs at least two paths")
            .with_next("name them as in `fsdyno compare local=/data store=s3://BUCKET/PREFIX`"));
    }
    check_names(places)?;
    let tests: Vec<&Test> = TESTS.iter().filter(|test| is_chosen(test, options)).collect();
    let rounds = Rounds { asked: options.rounds, once: false, patterns: tests.len(), places: places.len() };
    check_budget(&rounds, options)?;
    let mut study_run = StudyRun::begin(Question::Compare, places, caller);
    study_run.watcher.outline(&estimate(&TESTS, rounds.most(), places));
    let mut sites = Vec::new();
    let outcome = open_all(&mut study_run, places, options, &mut sites)
        .and_then(|()| run_rounds(&mut study_run, &tests, &mut sites, rounds, options.runtime_s));
    let stores: Vec<&str> =
        places.iter().filter(|place| place.is_object_store()).map(|place| place.name.as_str()).collect();
    let others: Vec<&str> =
        places.iter().filter(|place| !place.is_object_store()).map(|place| place.name.as_str()).collect();
    sites.into_iter().for_each(|site| site.close(&mut study_run));
    if let Some(reason) = outcome? {
        study_run.note("rounds", Severity::Info, reason);
    }
    study_run.note("rules", Severity::Info, rules(&stores, &others, options));
    judge_passes(&mut study_run.study);
    study_run.study.sentences = latencies(&study_run.study);
    Ok(study_run.finish())
}

fn is_chosen(test: &Test, options: &ObjectCompareOptions) -> bool {
    options.only.is_empty() || options.only.iter().any(|name| name == test.pattern)
}

fn open_all(
    study_run: &mut StudyRun<'_>,
    places: &[Place],
    options: &ObjectCompareOptions,
    sites: &mut Vec<Site>,
) -> Result<(), Problem> {
    let pace = Pace { threads: options.connections, limit_s: options.runtime_s };
    for place in places {
        let expected = options.expected.iter().find(|(name, _)| *name == place.name).map(|(_, fstype)| fstype.as_str());
        sites.push(Site::open(study_run, place, expected, (pace, options.keeps))?);
    }
    Ok(())
}

/// Runs the tests in rounds, in which the places take turns; returns why they ended.
pub(super) fn run_rounds(
    study_run: &mut StudyRun<'_>,
    tests: &[&Test],
    sites: &mut [Site],
    rounds: Rounds,
    runtime_s: u32,
) -> Result<Option<String>, Problem> {
    study_run.step_ms = Some(u64::from(runtime_s) * 1000);
    rounds.run(study_run, &mut |study_run, pattern, target, round| {
        let test = tests[pattern];
        if let Some(reason) = sites[target].refusal(test)? {
            study_run.steps.0 += 1;
            if round == 0 {
                let name = &study_run.study.targets[target].name;
                let text = format!("{} is not allowed on {name}, and has no figure there: {reason}", test.pattern);
                study_run.note("tests-left-out", Severity::Info, text);
            }
            return Ok(());
        }
        let mut row = planned_row(target, test.pattern, test.title, round, Vec::new());
        let step = study_run.begin_step(target, test.title);
        let done = sites[target].run(study_run, test, &step)?;
        row.findings = done.findings;
        crate::advice::advise(&mut row.findings, &study_run.study);
        row.phase = Some(done.record);
        study_run.end_step(&step, row);
        sites[target].check()
    })
}

/// One sentence for each test that every place did: the median latency of one operation.
fn latencies(study: &Study) -> Vec<String> {
    let sentence = |test: &Test| {
        let median = |target: usize| {
            let rounds = TestRounds::of_rows(study.repeats(target, test.pattern));
            let ns = rounds.value(Metric::P50(Lane::Operation)).filter(|_| rounds.counts(Metric::Operations))?;
            Some(format!("{} on {}", latency(ns), study.targets[target].name))
        };
        let all: Option<Vec<String>> = (0..study.targets.len()).map(median).collect();
        Some(format!("{}: median latency {}.", test.pattern, all?.join(", ")))
    };
    TESTS.iter().filter_map(sentence).collect()
}

/// The most requests to a store, the most bytes to and from it, and their cost.
fn at_most(tests: &[Test], rounds: u32) -> (u64, u64, Cost) {
    let (mut cost, mut deletes, mut written_bytes) = (Cost::default(), 0, 0);
    for test in tests {
        let set = &SETS[test.set];
        let many = u64::from(if test.act == WholeFile::List { LISTINGS } else { set.count } * rounds);
        match test.act {
            WholeFile::Write => {
                (cost.puts, written_bytes) = (cost.puts + many, written_bytes + many * set.object_bytes)
            }
            WholeFile::List => cost.puts += many,
            WholeFile::Stat { .. } => cost.gets += many,
            WholeFile::Remove => deletes += many,
            WholeFile::Read | WholeFile::ReadAgain => {
                (cost.gets, cost.read_bytes) = (cost.gets + many, cost.read_bytes + many * set.object_bytes);
            }
        }
    }
    deletes += SETS.iter().map(|set| u64::from(set.count)).sum::<u64>();
    (cost.puts + cost.gets + deletes, written_bytes + cost.read_bytes, cost)
}

fn check_budget(rounds: &Rounds, options: &ObjectCompareOptions) -> Result<(), Problem> {
    let (needed, ..) = at_most(&TESTS, rounds.most());
    if needed <= options.requests_max {
        return Ok(());
    }
    let what = format!(
        "a budget of {} requests is too small: {} rounds may need {}",
        count(options.requests_max),
        rounds.most(),
        count(needed)
    );
    Err(Problem::new(what).with_next(format!("use --budget {needed}, or fewer --rounds")))
}

/// The most that these tests may cost, before the first request.
pub(super) fn estimate(tests: &[Test], rounds: u32, places: &[Place]) -> String {
    let (requests, moved, cost) = at_most(tests, rounds);
    let cost = cost.sentence(places.iter().any(|place| place.path.starts_with("s3://")));
    format!("at most {} requests to each store, with {}{cost}", count(requests), bytes(moved))
}

/// The sizes of the sets in words.
const SIZES: [&str; SETS.len()] = ["4 KiB", "1 MiB"];

/// The conditions that a reader must know, of the tests that were chosen.
fn rules(stores: &[&str], directories: &[&str], options: &ObjectCompareOptions) -> String {
    let chosen = |set: usize, does: fn(WholeFile) -> bool| {
        TESTS.iter().any(|test| test.set == set && does(test.act) && is_chosen(test, options))
    };
    let in_words = |words: fn(usize) -> String, holds: &dyn Fn(usize) -> bool| {
        (0..SETS.len()).filter(|set| holds(*set)).map(words).collect::<Vec<_>>().join(" and ")
    };
    let used = in_words(|set| format!("{} of {}", SETS[set].count, SIZES[set]), &|set| chosen(set, |_| true));
    let replaced = in_words(|set| SIZES[set].to_owned(), &|set| {
        chosen(set, |act| act == WholeFile::Write) && !chosen(set, |act| act == WholeFile::Remove)
    });
    let mut text = format!(
        "the objects or files of each round: {used}, {} at once. A turn ends after {} s at the latest. On {} each \
         request is whole, over one connection for each worker, and nothing is done again. All objects and files of a \
         size hold the same bytes, so that a store that keeps equal data once looks faster",
        options.connections,
        options.runtime_s,
        stores.join(", ")
    );
    if !replaced.is_empty() {
        text.push_str(&format!(
            ". From the second round on, a PUT of {replaced} replaces an object, while files are new"
        ));
    }
    if !directories.is_empty() {
        text.push_str(&format!(
            ". On {} a file counts as written when it is synced, and its pages are dropped before it is read. A cache of \
             the mount's own program is not dropped, and not visible. Names and attributes may be in memory",
            directories.join(", ")
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use testkit::draw::{cases, numbers};

    use super::*;

    /// Parses the conditions: sizes, numbers, connections and seconds are those of the tests that were chosen.
    #[test]
    fn the_rules_are_those_of_the_chosen_tests() {
        for (case, mut draw) in cases(200) {
            let (connections, runtime_s) = (1 + draw.below(64) as u32, 1 + draw.below(90) as u32);
            let only: Vec<String> = compare_names().filter(|_| draw.below(3) == 0).map(str::to_owned).collect();
            let (rounds, keeps, expected) = (None, false, Vec::new());
            let options =
                ObjectCompareOptions { rounds, connections, runtime_s, only, requests_max: 0, keeps, expected };
            let directories: &[&str] = if draw.below(2) == 0 { &["data"] } else { &[] };
            let text = rules(&["store"], directories, &options);
            let has = |name: &str| options.only.is_empty() || options.only.iter().any(|only| only == name);
            let of_small = ["write-4k", "read-4k", "stat-4k", "list", "remove-4k"].into_iter().any(has);
            let of_large = ["write-1m", "read-1m"].into_iter().any(has);
            let mut expected: Vec<f64> = Vec::new();
            expected.extend(if of_small { vec![256.0, 4.0] } else { vec![] });
            expected.extend(if of_large { vec![32.0, 1.0] } else { vec![] });
            expected.extend([f64::from(connections), f64::from(runtime_s)]);
            expected.extend((has("write-4k") && !has("remove-4k")).then_some(4.0));
            expected.extend(has("write-1m").then_some(1.0));
            assert_eq!(numbers(&text), expected, "case {case}: {:?}: {text}", options.only);
            assert_eq!(text.contains("On data a file counts"), !directories.is_empty(), "case {case}: {text}");
        }
    }
}
