//! `measure s3://BUCKET`: the store itself, by objects of our own.

use fsdyno_engine::ObjectServerFacts;
use fsdyno_results::{JobRecord, PhaseRecord, Question, Row, Severity, Study};
use fsdyno_run::StopRule;
use fsdyno_run::metadata::phase_counters::PhaseCounters;
use fsdyno_text::quantity::{bytes, count, counted, latency, number};

use super::cost::Cost;
use super::keys::KeySet;
use super::parts::{self, Uploaded};
use super::phase::{Ended, ObjectPhase, Pace, Test};
use super::server::Store;
use super::work::{Bucket, NOT_BY_WEBDAV, ObjectWork};
use crate::Problem;
use crate::nodes::ThisMachine;
use crate::smallfiles::{WholeFile, judge_passes};
use crate::study::{Caller, Place, StudyRun, planned_row};

/// The options of a question to an object store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectOptions {
    /// Length of each test, s.
    pub runtime_s: u32,
    /// Number of rounds.
    pub runs: u32,
    /// Requests at once.
    pub connections: u32,
    /// The most requests.
    pub requests_max: u64,
    /// Whether a bucket that keeps versions, or locks objects, is used too.
    pub keeps: bool,
}

/// The most bytes that are moved.
pub(super) const BYTES_MAX: u64 = 100 << 30;

/// Objects of one size: the name, their bytes, and the number for each connection.
const SETS: [(&str, u64, u64); 4] =
    [("k4", 4 << 10, 64), ("m1", 1 << 20, 8), ("m8", 8 << 20, 1), (parts::NAME, parts::OBJECT_BYTES, 1)];

/// What a test does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    Put,
    Get,
    /// GET of a range of this number of bytes.
    Range(u64),
    Delete,
    /// PUT of an object in parts.
    Parts,
    /// A request that engines do not have: HEAD, or a list of all keys.
    Other(WholeFile),
}

struct StoreTest {
    pattern: &'static str,
    title: &'static str,
    verb: Verb,
    /// The number of its set.
    set: usize,
    /// Over one connection, not over all.
    single: bool,
}

const fn test(pattern: &'static str, title: &'static str, verb: Verb, set: usize, single: bool) -> StoreTest {
    StoreTest { pattern, title, verb, set, single }
}

const HEAD: Verb = Verb::Other(WholeFile::Stat { asks_anew: true });

/// Number of lists, and of turns of all objects in a test of HEAD, at most: the time of the test ends most earlier.
const LISTINGS: u64 = 64;
const TURNS: u64 = 16;

/// Number of uploads in parts of each connection, at most.
const UPLOADS: u64 = 4;

/// In the order in which they run: what is read was written before.
const TESTS: [StoreTest; 13] = [
    test("put-4k", "PUT of 4 KiB", Verb::Put, 0, false),
    test("put-4k-one", "PUT of 4 KiB", Verb::Put, 0, true),
    test("get-4k-one", "GET of 4 KiB", Verb::Get, 0, true),
    test("get-4k", "GET of 4 KiB", Verb::Get, 0, false),
    test("head-4k", "HEAD", HEAD, 0, false),
    test("list", "LIST of all keys of 4 KiB", Verb::Other(WholeFile::List), 0, false),
    test("put-1m", "PUT of 1 MiB", Verb::Put, 1, false),
    test("get-1m", "GET of 1 MiB", Verb::Get, 1, false),
    test("range-128k", "GET of 128 KiB of 1 MiB", Verb::Range(128 << 10), 1, false),
    test("put-8m", "PUT of 8 MiB", Verb::Put, 2, false),
    test("get-8m", "GET of 8 MiB", Verb::Get, 2, false),
    test("put-parts", "PUT of 16 MiB in 2 parts, to the end of its Complete", Verb::Parts, 3, false),
    test("delete-4k", "DELETE", Verb::Delete, 0, false),
];

impl StoreTest {
    /// The bytes of its requests.
    fn block_bytes(&self) -> u64 {
        if let Verb::Range(bytes) = self.verb { bytes } else { SETS[self.set].1 }
    }

    fn connections(&self, options: &ObjectOptions) -> u32 {
        if self.single { 1 } else { options.connections }
    }

    /// The most requests of each connection: each test has the same part of the budget.
    fn requests_max(&self, options: &ObjectOptions) -> u64 {
        let parts = TESTS.len() as u64 * u64::from(options.runs.max(1)) * u64::from(self.connections(options));
        (options.requests_max / parts).min(BYTES_MAX / parts / self.block_bytes())
    }

    /// The most requests that no engine has, where this number of objects is there.
    fn others_max(&self, act: WholeFile, options: &ObjectOptions, there: u64) -> u64 {
        let there = there.min(SETS[self.set].2 * u64::from(options.connections));
        let wanted = if act == WholeFile::List { LISTINGS } else { there * TURNS };
        wanted.min(self.requests_max(options) * u64::from(self.connections(options)))
    }

    /// The most uploads in parts.
    fn uploads_max(&self, options: &ObjectOptions) -> u64 {
        let connections = u64::from(self.connections(options));
        (UPLOADS * connections).min(self.requests_max(options) * connections / parts::REQUESTS)
    }

    fn line(&self, work: &ObjectWork, options: &ObjectOptions, written: u64) -> Vec<String> {
        let (name, object_bytes, _) = SETS[self.set];
        let connections = self.connections(options);
        let mut words = vec![format!("--name={}", self.pattern)];
        words.extend(work.bucket.store.words());
        words.push(format!("--bs={}", self.block_bytes()));
        words.push(format!("--numjobs={connections}"));
        if let Verb::Range(_) = self.verb {
            // Each connection reads objects of all, of those that were written.
            let (keys, each) = (&work.keys[self.set], SETS[self.set].2);
            let there = (0..keys.count).filter(|number| number % each < written);
            let objects: Vec<String> = there.map(|number| work.filename(&keys.key(number))).collect();
            words.push(format!("--filename={}", objects.join(":")));
            words.push(format!("--size={}", object_bytes * objects.len() as u64));
            words.push("--http_object_mode=range".to_owned());
        } else {
            words.push(format!("--filename={}", work.filename(name)));
            words.push(format!("--size={}", object_bytes * written));
            // The objects of a connection begin where those of the one before end.
            words.push(format!("--offset_increment={}", object_bytes * SETS[self.set].2));
        }
        match self.verb {
            Verb::Put => words.push("--rw=write".to_owned()),
            Verb::Get | Verb::Range(_) => words.push("--rw=randread".to_owned()),
            Verb::Delete | Verb::Parts | Verb::Other(_) => words.push("--rw=trim".to_owned()),
        }
        if self.verb != Verb::Delete {
            // Whatever ends first: with time_based only the time would.
            words.push(format!("--runtime={}", options.runtime_s));
            words.push(format!("--io_size={}", self.requests_max(options) * self.block_bytes()));
        }
        words.push("--group_reporting=1".to_owned());
        words
    }
}

fn key_sets(options: &ObjectOptions) -> Vec<KeySet> {
    let set = |(name, block_bytes, each): &(&str, u64, u64)| KeySet {
        name: (*name).to_owned(),
        block_bytes: *block_bytes,
        count: each * u64::from(options.connections),
    };
    SETS.iter().map(set).collect()
}

/// Measures one object store.
///
/// # Errors
/// When it cannot be used; nothing is left there then.
pub fn measure(place: &Place, options: &ObjectOptions, caller: Caller<'_>) -> Result<Study, Problem> {
    let store = Store::of(place, caller.control.bounds())?;
    check_budget(options)?;
    let mut study_run = StudyRun::begin(Question::Measure, std::slice::from_ref(place), caller);
    study_run.watcher.looks(&place.path);
    let bucket = Bucket::connect(store)?;
    study_run.watcher.outline(&estimate(options, !bucket.store.is_webdav()));
    let (mut work, unseen) = ObjectWork::open(bucket, key_sets(options), options.keeps)?;
    study_run.watcher.looked();
    if let Some(unseen) = unseen {
        study_run.note("bucket-unseen", Severity::Info, unseen);
    }
    study_run.steps.1 = TESTS.len() * options.runs.max(1) as usize;
    study_run.step_ms = Some(u64::from(options.runtime_s) * 1000);
    let outcome = run_tests(&mut study_run, &mut work, options);
    let facts = work.bucket.client.server.clone();
    let asked = work.bucket.asked;
    work.close_in(&mut study_run);
    outcome?;
    judge_passes(&mut study_run.study);
    let mut sentences = answers(&study_run.study);
    sentences.push(place_of(&facts));
    sentences.push(used(&study_run.study, asked));
    study_run.study.sentences = sentences;
    Ok(study_run.finish())
}

/// Refuses a budget with which tests would be too short to mean anything.
fn check_budget(options: &ObjectOptions) -> Result<(), Problem> {
    let least = TESTS.iter().map(|test| SETS[test.set].2 * u64::from(test.connections(options))).max().unwrap_or(1);
    let needed = least * TESTS.len() as u64 * u64::from(options.runs.max(1));
    if options.requests_max >= needed {
        return Ok(());
    }
    Err(Problem::new(format!(
        "a budget of {} requests is too small: the tests need {}",
        count(options.requests_max),
        count(needed)
    ))
    .with_next(format!("use --budget {needed}, or fewer --connections")))
}

/// The most that the tests may cost, before the first request.
fn estimate(options: &ObjectOptions, is_s3: bool) -> String {
    let (mut puts, mut gets, mut heads, mut lists) = ((0, 0), (0, 0), 0, 0);
    for test in TESTS.iter().filter(|test| test.verb != Verb::Delete) {
        let connections = u64::from(test.connections(options)) * u64::from(options.runs.max(1));
        let requests = test.requests_max(options) * connections;
        let (sum, requests) = match test.verb {
            Verb::Put => (&mut puts, requests),
            Verb::Parts => {
                let uploads = test.uploads_max(options) * u64::from(options.runs.max(1));
                puts = (puts.0 + uploads * parts::REQUESTS, puts.1 + uploads * parts::OBJECT_BYTES);
                continue;
            }
            Verb::Other(act) => {
                let sum = if act == WholeFile::List { &mut lists } else { &mut heads };
                *sum += test.others_max(act, options, u64::MAX) * u64::from(options.runs.max(1));
                continue;
            }
            _ => (&mut gets, requests),
        };
        *sum = (sum.0 + requests, sum.1 + requests * test.block_bytes());
    }
    let objects: u64 = key_sets(options).iter().map(|set| set.count).sum();
    let cost = Cost { puts: puts.0 + lists, gets: gets.0 + heads, read_bytes: gets.1 };
    format!(
        "at most {} PUT requests with {}, {} GET requests with {} and {} HEAD and LIST requests, then a DELETE for each of \
         {} objects; the time of the tests ends most of them earlier{}",
        count(puts.0),
        bytes(puts.1),
        count(gets.0),
        bytes(gets.1),
        count(heads + lists),
        count(objects),
        cost.sentence(is_s3)
    )
}

fn run_tests(study_run: &mut StudyRun<'_>, work: &mut ObjectWork, options: &ObjectOptions) -> Result<(), Problem> {
    let mut counters = PhaseCounters::begin(None);
    for round in 0..options.runs.max(1) {
        // Objects that each connection has written; a slow store does not write all in the time.
        let mut written = [0; SETS.len()];
        for test in &TESTS {
            let (_, _, each) = SETS[test.set];
            let objects = if matches!(test.verb, Verb::Put | Verb::Parts) { each } else { written[test.set] };
            if study_run.stopped() {
                return Ok(());
            }
            if objects == 0 {
                let text = format!(
                    "{} is left out: not each connection wrote an object in {} s",
                    test.pattern, options.runtime_s
                );
                study_run.note("tests-left-out", Severity::Caution, format!("{text}; use a longer --runtime"));
                continue;
            }
            let title = format!("{}, {}, depth 1", test.title, counted(test.connections(options).into(), "connection"));
            if test.verb == Verb::Parts && work.bucket.store.is_webdav() {
                let text = format!("{} is left out: {NOT_BY_WEBDAV}", test.pattern);
                study_run.note("tests-left-out", Severity::Info, text);
                continue;
            }
            if test.verb == Verb::Parts {
                run_parts(study_run, (work, &mut counters), test, round, options)?;
                continue;
            }
            if let Verb::Other(act) = test.verb {
                run_others(study_run, (work, &mut counters), (test, act), (round, objects), options)?;
                continue;
            }
            let row = planned_row(0, test.pattern, &title, round, test.line(work, options, objects));
            let index = study_run.run_row_in(&mut ThisMachine, 1, row, StopRule::AsWritten, None)?;
            if test.verb == Verb::Put && !test.single {
                written[test.set] = least_written(study_run, index).min(each);
            }
        }
    }
    Ok(())
}

/// Uploads in parts: a row of whole uploads, and one of their last request.
fn run_parts(
    study_run: &mut StudyRun<'_>,
    (work, counters): (&ObjectWork, &mut PhaseCounters),
    test: &StoreTest,
    round: u32,
    options: &ObjectOptions,
) -> Result<(), Problem> {
    let mut row = planned_row(0, test.pattern, test.title, round, Vec::new());
    let step = study_run.begin_step(0, test.title);
    let pace = Pace { threads: test.connections(options), limit_s: options.runtime_s };
    let Uploaded { record, complete, findings } =
        parts::run(study_run, (work, counters, &step), pace, test.uploads_max(options))?;
    let of_complete =
        PhaseRecord { name: "complete".to_owned(), latency: complete, bytes: None, error: None, ..record.clone() };
    (row.phase, row.findings) = (Some(record), findings);
    study_run.end_step(&step, row);
    let row = planned_row(0, "complete", "Complete of an upload in parts", round, Vec::new());
    study_run.study.rows.push(Row { phase: Some(of_complete), ..row });
    Ok(())
}

/// Runs a test of requests that no engine has.
fn run_others(
    study_run: &mut StudyRun<'_>,
    (work, counters): (&mut ObjectWork, &mut PhaseCounters),
    (test, act): (&StoreTest, WholeFile),
    (round, written): (u32, u64),
    options: &ObjectOptions,
) -> Result<(), Problem> {
    if act == WholeFile::List
        && let Some(reason) = work.bucket.refuses_lists()?
    {
        study_run.note("tests-left-out", Severity::Info, format!("{} is left out: {reason}", test.pattern));
        return Ok(());
    }
    let (keys, each) = (&work.keys[test.set], SETS[test.set].2);
    let is_there = |number: &u32| u64::from(*number) % each < written;
    let there: Vec<u32> = (0..u32::try_from(keys.count).unwrap_or(0)).filter(is_there).collect();
    let requests = test.others_max(act, options, there.len() as u64);
    let row_test = Test { pattern: test.pattern, title: test.title, act, set: test.set };
    let mut row = planned_row(0, test.pattern, test.title, round, Vec::new());
    let step = study_run.begin_step(0, test.title);
    let phase = ObjectPhase { work, keys, there: &there, test: &row_test, requests };
    let pace = Pace { threads: test.connections(options), limit_s: options.runtime_s };
    let Ended { record, findings, .. } = phase.run(study_run, pace, (counters, &step))?;
    (row.phase, row.findings) = (Some(record), findings);
    study_run.end_step(&step, row);
    Ok(())
}

/// The fewest requests of any connection of a row.
fn least_written(study_run: &StudyRun<'_>, index: usize) -> u64 {
    let jobs = study_run.study.rows[index].run.iter().flat_map(|run| &run.jobs);
    jobs.map(|job| if job.error.is_some() { 0 } else { job.directions.write.ios }).min().unwrap_or(0)
}

/// One sentence for each test: the rate, and the time to the first and the last byte of an answer.
fn answers(study: &Study) -> Vec<String> {
    let sentence = |test: &StoreTest| {
        let row = study.rows.iter().find(|row| row.pattern == test.pattern && row.first_error().is_none())?;
        if let Some(phase) = &row.phase {
            let (rate, median) = (phase.rate_per_s()?, phase.latency.percentile(50.0)?);
            let connections = counted(phase.threads.into(), "connection");
            let (rate, median) = (number(rate), latency(median as f64));
            let complete = study.rows.iter().filter(|row| test.verb == Verb::Parts && row.pattern == "complete");
            let complete = complete.filter_map(|row| row.phase.as_ref()?.latency.percentile(50.0)).next();
            let of_it = complete.map_or(String::new(), |ns| format!(", {} of them for Complete", latency(ns as f64)));
            return Some(format!("{} over {connections}: {rate}/s; median {median} in all{of_it}.", test.title));
        }
        let job = JobRecord::merged(&row.run.as_ref()?.jobs)?;
        let object = job.object.as_deref()?;
        let direction = match test.verb {
            Verb::Put => &job.directions.write,
            Verb::Get | Verb::Range(_) => &job.directions.read,
            Verb::Delete | Verb::Parts | Verb::Other(_) => &job.directions.trim,
        };
        let (first, last) = (object.first_byte.percentile(50.0)?, direction.latency()?.percentile(50.0)?);
        let rate = direction.ios as f64 * 1e3 / direction.runtime_ms.max(1) as f64;
        let connections = counted(row.run.as_ref()?.jobs.len() as u64, "connection");
        Some(format!(
            "{} over {connections}: {}/s; median {} from the sent request to the first byte of its answer, {} in all.",
            test.title,
            number(rate),
            latency(first as f64),
            latency(last as f64)
        ))
    };
    TESTS.iter().filter_map(sentence).collect()
}

/// Where and how objects were measured.
pub(super) fn place_of(server: &ObjectServerFacts) -> String {
    let tls = server.tls.as_deref().unwrap_or("without TLS");
    format!(
        "Measured with ioengine=http at {} ({}, {tls}), on objects of its own that are deleted again; each worker has one \
         connection, nothing is done again, and no redirect is followed.",
        server.name, server.address
    )
}

/// What the run used of the server.
pub(super) fn used(study: &Study, asked: u64) -> String {
    let (mut answers, mut moved) = ([0; 3], [0; 2]);
    for job in study.rows.iter().filter_map(|row| row.run.as_ref()).flat_map(|run| &run.jobs) {
        if let Some(object) = job.object.as_deref() {
            let counts = &object.answers;
            [counts.write, counts.read, counts.trim].iter().zip(&mut answers).for_each(|(one, sum)| *sum += one);
        }
        moved[0] += job.directions.write.bytes;
        moved[1] += job.directions.read.bytes;
    }
    let others = |pattern: &str| {
        let rows = study.rows.iter().filter(|row| row.pattern == pattern).filter_map(|row| row.phase.as_ref());
        count(rows.map(|phase| phase.operations + phase.failures).sum())
    };
    format!(
        "It used {} PUT ({}), {} GET ({}), {} DELETE, {} HEAD, {} LIST, {} uploads in parts and {} other requests.",
        count(answers[0]),
        bytes(moved[0]),
        count(answers[1]),
        bytes(moved[1]),
        count(answers[2]),
        others("head-4k"),
        others("list"),
        others("put-parts"),
        count(asked)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPTIONS: ObjectOptions =
        ObjectOptions { runtime_s: 1, runs: 1, connections: 8, requests_max: 1_000_000, keeps: false };

    #[test]
    fn no_test_can_exceed_its_part_of_the_budget() {
        let used = |options: ObjectOptions| {
            let of = |test: &StoreTest| test.requests_max(&options) * u64::from(test.connections(&options));
            let moved: u64 = TESTS.iter().map(|test| of(test) * test.block_bytes()).sum();
            assert!(moved <= BYTES_MAX, "{moved}");
            TESTS.iter().map(of).sum::<u64>()
        };
        assert!(used(OPTIONS) <= 1_000_000);
        assert!(used(ObjectOptions { requests_max: 5000, ..OPTIONS }) <= 5000);
        assert!(used(ObjectOptions { runs: 3, ..OPTIONS }) <= 333_334);
    }

    #[test]
    fn a_budget_without_a_request_for_each_object_is_refused() {
        let refused = check_budget(&ObjectOptions { requests_max: 100, ..OPTIONS }).unwrap_err();
        assert!(refused.next.is_some_and(|next| next.contains("--budget 6656")), "{}", refused.what);
        assert!(check_budget(&OPTIONS).is_ok());
        let text = estimate(&OPTIONS, true);
        assert!(text.contains("592 objects") && text.contains("dollars at most"), "{text}");
    }
}
