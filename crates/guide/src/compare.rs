//! `compare`: which of several storages is faster? It runs the same patterns on each, in rounds that take turns, so
//! that what slows the machine for a while slows all storages. Every second round runs in reverse order, so that
//! neither going first nor a steady drift favours a place.

use fsdyno_results::{Figures, JobRecord, Question, Severity, Study, TestRounds};
use fsdyno_run::StopRule;
use fsdyno_stats::{WINNER_ROUNDS, order_of_round};

use crate::Problem;
use crate::io_mode::{IoMode, RequestedIoMode, memory_for_files};
use crate::rounds::{enough, even};
use crate::study::{Caller, Place, StudyRun, job_path, planned_row};
use crate::work_directory::{SpaceNeeds, WorkDirectory, usable_bytes};

mod patterns;

pub use patterns::names;
use patterns::{PATTERNS, Passes, Pattern};

/// The options of `compare`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompareOptions {
    /// Number of rounds; an odd number above one is rounded up. `None`: at least eight, until the places differ clearly
    /// or the intervals are narrow in every pattern, or the cap is reached.
    pub rounds: Option<u32>,
    /// Bytes of each job's file; `None`: as much as the slowest target writes in one turn.
    pub size_bytes: Option<u64>,
    /// Bytes of each job's file in the last comparison of the same places. They are used again where they still fit, so
    /// that the two comparisons are comparable.
    pub size_before: Option<u64>,
    /// Block size of all patterns, as fio reads it; `None`: 1m for sequential patterns, 4k for random ones.
    pub block_size: Option<String>,
    /// Requests in flight per job.
    pub iodepth: u32,
    /// Jobs that run at once, each with its own file.
    pub numjobs: u32,
    /// Length of a turn, s.
    pub runtime_s: u32,
    /// Runs the published lines unchanged: one file, eight jobs, 30 s of runtime.
    pub literal: bool,
    /// The names of the patterns to run; empty: all.
    pub only: Vec<String>,
    /// The filesystem type that each target must have: `(name, type)`.
    pub expected: Vec<(String, String)>,
}

impl Default for CompareOptions {
    fn default() -> Self {
        CompareOptions {
            rounds: None,
            size_bytes: None,
            size_before: None,
            block_size: None,
            iodepth: 32,
            numjobs: 1,
            runtime_s: 3,
            literal: false,
            only: Vec::new(),
            expected: Vec::new(),
        }
    }
}

/// Bytes of a job's file: the largest, the smallest that is worth measuring, and the one with which the speed is found.
const FILE_BYTES_MAX: u64 = 1 << 30;
const FILE_BYTES_MIN: u64 = 16 << 20;
const FIRST_FILE_BYTES: u64 = 32 << 20;

/// Bytes of the published lines' one file, which their jobs share.
const LITERAL_BYTES: u64 = 1 << 30;

/// A target with its work directory.
struct Site {
    work: WorkDirectory,
    io_mode: IoMode,
    passes: Passes,
}

/// Compares the places; the first is the baseline.
///
/// # Errors
/// When a place cannot be used or the options make no job; nothing is left on any place then.
pub fn compare(places: &[Place], options: &CompareOptions, caller: Caller<'_>) -> Result<Study, Problem> {
    check(places)?;
    let mut study_run = StudyRun::begin(Question::Compare, places, caller);
    let need = if options.literal { LITERAL_BYTES } else { options.size_bytes.unwrap_or(FIRST_FILE_BYTES) };
    let need = need.saturating_mul(if options.literal { 1 } else { u64::from(options.numjobs) });
    // All places are checked before any work directory is made: one that never answers would leave the others' behind.
    for place in places {
        study_run.watcher.looks(&place.path);
        let _ = fsdyno_probe::path_facts(&place.path);
    }
    let mut sites = Vec::new();
    for (target, place) in places.iter().enumerate() {
        let expected = place.expected_type(&options.expected);
        study_run.watcher.looks(&place.path);
        let work = WorkDirectory::open(&place.path, expected, SpaceNeeds::bytes(need), &study_run.control)?;
        let io_mode = crate::io_mode::of_place(&mut study_run, target, RequestedIoMode::default())?;
        let passes = Passes::of(study_run.study.targets[target].storage.class, io_mode.direct);
        sites.push(Site { work, io_mode, passes });
    }
    study_run.step_ms = Some(if options.literal { 30_000 } else { u64::from(options.runtime_s) * 1000 });
    // The steps that find the file size come before the turns.
    let chosen: Vec<&Pattern> = PATTERNS.iter().filter(|pattern| pattern.is_chosen(options)).collect();
    let rounds = Rounds { asked: options.rounds, once: options.literal, patterns: chosen.len(), places: sites.len() };
    study_run.steps.1 = sites.len() + rounds.turns_from(0);
    study_run.more_steps = Some(rounds.turns_beyond(0));
    let size_bytes = match options.size_bytes {
        _ if options.literal => LITERAL_BYTES,
        Some(size_bytes) => size_bytes,
        None => fitting_size(&mut study_run, places, &sites, options)?,
    };
    let reason = rounds.run(&mut study_run, &mut |study_run, pattern, target, round| {
        take_turn(study_run, &sites[target], target, chosen[pattern], round, options, size_bytes)
    })?;
    if let Some(reason) = reason {
        study_run.note("rounds", Severity::Info, reason);
    }
    let ways = sites.iter().map(|site| (&site.io_mode, site.passes));
    study_run.note("rules", Severity::Info, patterns::rules(places, ways, options));
    for site in sites {
        study_run.remove_work_directory(site.work);
    }
    crate::sweep::judge_points_whole(&mut study_run.study);
    study_run.study.sentences = crate::limits::sentences(&study_run.study);
    Ok(study_run.finish())
}

fn check(places: &[Place]) -> Result<(), Problem> {
    if places.len() < 2 {
        return Err(Problem::new("a comparison needs at least two paths")
            .with_next("name them as in `fsdyno compare local=/data nfs=/mnt/nfs`"));
    }
    check_names(places)
}

/// Refuses two places with the same name.
pub(crate) fn check_names(places: &[Place]) -> Result<(), Problem> {
    for (index, place) in places.iter().enumerate() {
        if places[..index].iter().any(|other| other.name == place.name) {
            return Err(Problem::new(format!("two paths have the name {}", place.name))
                .with_next("give each path its own name: NAME=PATH"));
        }
    }
    Ok(())
}

/// The rounds of a comparison: in each, the places take turns in each pattern.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rounds {
    /// The number that was asked for; `None`: as many as show the differences.
    pub(crate) asked: Option<u32>,
    /// Whether there is one round unless more were asked for.
    pub(crate) once: bool,
    /// Number of patterns.
    pub(crate) patterns: usize,
    /// Number of places.
    pub(crate) places: usize,
}

/// Runs one pattern on one place: the numbers of pattern, place and round.
type TakeTurn<'t> = &'t mut dyn FnMut(&mut StudyRun<'_>, usize, usize, u32) -> Result<(), Problem>;

impl Rounds {
    /// Runs rounds until there are enough; returns why they ended, where that differs from what was asked for.
    pub(crate) fn run(&self, study_run: &mut StudyRun<'_>, turn: TakeTurn<'_>) -> Result<Option<String>, Problem> {
        let cap = self.most();
        for round in 0..cap {
            if study_run.stopped() {
                return Ok(Some(format!("stopped by a signal in round {round}")));
            }
            study_run.steps.1 = study_run.steps.0 + self.turns_from(round);
            study_run.more_steps = Some(self.turns_beyond(round));
            for pattern in 0..self.patterns {
                for target in order_of_round(round, self.places) {
                    if study_run.stopped() {
                        break;
                    }
                    turn(study_run, pattern, target, round)?;
                }
            }
            let metric = |rounds: &TestRounds<'_>| if rounds.is_phase() { rounds.rates().1 } else { rounds.rates().0 };
            if self.asked.is_none()
                && cap > 1
                && let Some(reason) = enough(&study_run.study, round + 1, cap, metric)
            {
                return Ok(Some(reason));
            }
        }
        let one_more = self.asked.is_some_and(|asked| asked < cap);
        Ok(one_more
            .then(|| format!("{cap} rounds, one more than requested, so that each path goes first equally often")))
    }

    /// The most rounds that there will be.
    pub(crate) fn most(&self) -> u32 {
        self.asked.map_or(if self.once { 1 } else { WINNER_ROUNDS.1 }, even)
    }

    /// The number of turns from this round on, as far as it is known.
    fn turns_from(&self, round: u32) -> usize {
        self.turns_of(self.known(round) - round)
    }

    /// The number of turns that may follow beyond those, while the results are not decided.
    fn turns_beyond(&self, round: u32) -> usize {
        self.turns_of(self.most().saturating_sub(self.known(round)))
    }

    fn known(&self, round: u32) -> u32 {
        self.most().min(WINNER_ROUNDS.0).max(even(round + 1))
    }

    fn turns_of(&self, rounds: u32) -> usize {
        self.patterns * self.places * rounds as usize
    }
}

/// Runs one pattern on one target.
fn take_turn(
    study_run: &mut StudyRun<'_>,
    site: &Site,
    target: usize,
    pattern: &Pattern,
    round: u32,
    options: &CompareOptions,
    size_bytes: u64,
) -> Result<(), Problem> {
    if pattern.fresh_files {
        study_run.empty(&site.work)?;
    }
    let directory = site.work.directory();
    let command = if options.literal {
        patterns::literal(pattern, &job_path(&site.work.file("perf.txt")))
    } else {
        patterns::line(pattern, (&site.io_mode, site.passes), &job_path(directory), options, size_bytes)
    };
    let title = pattern.title(options);
    study_run.run_row(planned_row(target, pattern.name, &title, round, command), StopRule::AsWritten, &site.work)?;
    Ok(())
}

/// Bytes of each job's file: what the slowest target writes durably in one turn, within space and memory. It is a power
/// of two, so that a later comparison finds the same size; the size of an earlier comparison is kept where it still
/// fits roughly.
fn fitting_size(
    study_run: &mut StudyRun<'_>,
    places: &[Place],
    sites: &[Site],
    options: &CompareOptions,
) -> Result<u64, Problem> {
    let jobs = u64::from(options.numjobs.max(1)) * u64::from(study_run.control.ranks());
    let (mut usable, mut limit) = (FILE_BYTES_MAX, FILE_BYTES_MAX);
    let mut slowest = String::new();
    for (target, (place, site)) in places.iter().zip(sites).enumerate() {
        let step = study_run.begin_step(target, "measuring which file size fits a turn");
        let (write, way) = (&PATTERNS[0], (&site.io_mode, site.passes));
        let look = CompareOptions { runtime_s: 1, ..options.clone() };
        let command = patterns::line(write, way, &job_path(site.work.directory()), &look, FIRST_FILE_BYTES);
        let conditions = crate::bench::Conditions {
            version: study_run.version,
            control: &study_run.control,
            stop_rule: StopRule::AsWritten,
            work: Some(&site.work),
        };
        let record = crate::bench::run_line(&command, conditions, &step, study_run.watcher)?;
        study_run.empty(&site.work)?;
        let free = usable_bytes(&place.path).map(|bytes| bytes / 2 / jobs);
        let memory = memory_for_files(&study_run.study.targets[target].storage).map(|bytes| bytes / jobs);
        usable = [free, memory].into_iter().flatten().fold(usable, u64::min);
        let by_speed = durable_rate(&record).map(|rate| (rate * f64::from(options.runtime_s)) as u64 / jobs);
        if let Some(bytes) = by_speed.filter(|bytes| *bytes < limit) {
            limit = bytes;
            slowest.clone_from(&place.name);
        }
    }
    let (size_bytes, before) = choose_size(limit, usable, options.size_before);
    let slowest = (usable >= limit).then_some(slowest.as_str());
    if let Some(text) = size_words(size_bytes, before, slowest) {
        study_run.note(crate::question_file::SIZE_ADAPTED, Severity::Info, text);
    }
    Ok(size_bytes)
}

/// What a note says of the files' size; `slowest`: the place whose speed decided it. `None`: they have the usual size.
fn size_words(size_bytes: u64, before: bool, slowest: Option<&str>) -> Option<String> {
    let mib = size_bytes >> 20;
    if before {
        return Some(format!("file size {mib} MiB per job, as in the last comparison of these paths"));
    }
    let why = match slowest {
        Some(slowest) => format!("so that {slowest} can finish a turn"),
        None => "because there is no more free space".to_string(),
    };
    (size_bytes < FILE_BYTES_MAX).then(|| format!("file size reduced to {mib} MiB per job {why}"))
}

/// The file size by the measured speed and the usable space, bytes, and whether it is the earlier comparison's size.
fn choose_size(by_speed: u64, usable: u64, before: Option<u64>) -> (u64, bool) {
    // A speed measured in a second or two may be wrong by a factor of two in either direction.
    let near = |bytes: &u64| *bytes <= usable && *bytes / 4 <= by_speed && by_speed / 4 <= *bytes;
    let fitting = by_speed.min(usable).clamp(FILE_BYTES_MIN, FILE_BYTES_MAX);
    match before.filter(near) {
        Some(bytes) => (bytes, true),
        None => (1 << fitting.ilog2(), false),
    }
}

/// Bytes per second that were written durably.
fn durable_rate(record: &fsdyno_results::RunRecord) -> Option<f64> {
    let merged = JobRecord::merged(&record.jobs)?;
    Some(Figures::of_job(&merged).bytes_per_s()).filter(|rate| *rate > 0.0)
}

/// Reads `--expect NAME=TYPE`.
pub fn expectation(word: &str) -> Result<(String, String), String> {
    let (name, fstype) = word.split_once('=').ok_or("write NAME=FSTYPE, such as nfs=nfs4")?;
    Ok((name.to_string(), fstype.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::draw::numbers;

    /// The sizes and times in the notes are those of the lines that run.
    #[test]
    fn the_numbers_of_the_notes_are_those_of_the_lines() {
        let io_mode = IoMode { engine: "libaio", direct: true };
        for (runtime_s, size_bytes) in [(1, FILE_BYTES_MIN), (3, 64 << 20), (17, FILE_BYTES_MAX)] {
            let options = CompareOptions { runtime_s, ..CompareOptions::default() };
            let place = Place { name: "nfs".into(), path: "/d".into() };
            let rules = patterns::rules(&[place], [(&io_mode, patterns::Passes::Alike)].into_iter(), &options);
            let words =
                patterns::line(&patterns::PATTERNS[0], (&io_mode, patterns::Passes::Alike), "/d", &options, size_bytes);
            let of_line = |option: &str| words.iter().find_map(|word| word.strip_prefix(option)?.parse::<f64>().ok());
            assert_eq!(numbers(&rules), [of_line("--runtime=").unwrap()], "{rules}");
            assert!(words.iter().any(|word| word == "--direct=1") && rules.contains("; nfs: direct I/O"), "{rules}");
            let told = [size_words(size_bytes, true, None), size_words(size_bytes, false, None)];
            let told = told.into_iter().chain([size_words(size_bytes, false, Some("nfs"))]).flatten();
            let sizes: Vec<Vec<f64>> = told.map(|text| numbers(&text)).collect();
            let notes = if size_bytes < FILE_BYTES_MAX { 3 } else { 1 };
            assert_eq!(sizes, vec![vec![of_line("--size=").unwrap() / 1_048_576.0]; notes]);
        }
        assert_eq!(size_words(FILE_BYTES_MAX, false, Some("nfs")), None, "the usual size needs no note");
    }

    #[test]
    fn a_later_comparison_takes_the_same_size() {
        let mib = |count: u64| count << 20;
        assert_eq!(choose_size(mib(400), mib(9000), None), (mib(256), false));
        assert_eq!(choose_size(mib(600), mib(9000), Some(mib(256))), (mib(256), true), "the noise of a short look");
        assert_eq!(choose_size(mib(2), mib(9000), Some(mib(256))), (mib(16), false), "another storage now");
        assert_eq!(choose_size(mib(400), mib(100), Some(mib(256))), (mib(64), false), "no room any more");
        assert_eq!(choose_size(u64::MAX, u64::MAX, None), (FILE_BYTES_MAX, false));
    }
}
