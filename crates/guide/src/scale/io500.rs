//! `scale --like io500`: the phases of IO500 with their published parameters, each with its figure, and the score in its
//! formula where the rules were kept.
//!
//! Parameters: github.com/IO500/io500, config-full.ini (commit 3c62802a) and src/phase_*.c. Rules:
//! io500.org/rules-submission. Both were read in November 2026.

use fsdyno_results::{Question, Row, Severity, Study, Trust};
use fsdyno_run::StopRule;
use fsdyno_text::quantity::{counted, number};

use super::segments::Segments;
use crate::Problem;
use crate::nodes::{Nodes, SHARED_FILE};
use crate::smallfiles::{NodeRole, Rows, SmallFilesOptions, Suite, named};
use crate::study::{Caller, Place, StudyRun, job_path, planned_row};
use crate::work_directory::{SpaceNeeds, WorkDirectory};

/// Time after which the phases that write stop, and then wear out, s.
pub const STONEWALL_S: u32 = 300;

/// Files of each rank, and the most that a shorter run makes in a second.
const FILES: (u32, u32) = (1_000_000, 50_000);

/// Bytes of a file of mdtest-hard.
const HARD_FILE_BYTES: u64 = 3901;

/// Bytes of a request of ior-easy, and of each rank's file at most.
const EASY_BYTES: (u64, u64) = (2 << 20, 9_920_000 << 20);

/// Bytes of a request and of a block of ior-hard, and the number of segments at most.
const HARD_BYTES: (u64, u64) = (47_008, 10_000_000);

/// Client machines of the lists.
const MACHINES: usize = 10;

/// The phases in their order.
const PHASES: [&str; 12] = [
    "ior-easy-write",
    "mdtest-easy-write",
    "ior-hard-write",
    "mdtest-hard-write",
    FIND,
    "ior-easy-read",
    "mdtest-easy-stat",
    "ior-hard-read",
    "mdtest-hard-stat",
    "mdtest-easy-delete",
    "mdtest-hard-read",
    "mdtest-hard-delete",
];

/// The phase that has a row for the files of mdtest-easy and one for those of mdtest-hard.
const FIND: &str = "find";

/// The options of `scale --like io500`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Io500Options {
    /// Time after which the phases that write stop, s.
    pub time_s: u32,
    /// The most bytes that each rank writes in ior-easy and in ior-hard; `None`: as published.
    pub size_bytes: Option<u64>,
    /// The filesystem type that the place must have.
    pub expected: Option<String>,
}

/// Runs the phases on all nodes.
///
/// # Errors
/// When the place cannot be used; nothing is left there then.
pub fn io500(
    place: &Place,
    options: &Io500Options,
    nodes: &mut dyn Nodes,
    caller: Caller<'_>,
) -> Result<Study, Problem> {
    let mut study_run = StudyRun::begin(Question::Scale, std::slice::from_ref(place), caller);
    let need = SpaceNeeds::bytes(options.size_bytes.unwrap_or(HARD_BYTES.0));
    let work = WorkDirectory::open(&place.path, options.expected.as_deref(), need, &study_run.control)?;
    nodes.shift();
    let role = nodes.role();
    study_run.steps.1 = PHASES.len() + 1;
    study_run.note("io500", Severity::Info, ABOUT);
    let suites = [false, true].map(|hard| suite(&mut study_run, &work, options, (role, hard)));
    let [easy, hard] = suites;
    let mut suites = [easy?, hard?];
    // Requests of each rank in ior-easy and ior-hard: all ranks have done the same number.
    let mut done = [0; 2];
    for name in PHASES {
        if study_run.stopped() {
            break;
        }
        let hard = usize::from(name.contains("hard"));
        if name.starts_with("ior") {
            transfer(&mut study_run, nodes, (name, options), &work, &mut done[hard])?;
            continue;
        }
        let mut rows = Rows::new(0, nodes);
        let parts = if name == FIND { vec![("find-easy", 0), ("find-hard", 1)] } else { vec![(name, hard)] };
        for (phase, hard) in parts.into_iter().filter_map(|(name, hard)| Some((named(name)?, hard))) {
            rows.run(&mut study_run, &mut suites[hard], phase)?;
        }
        work.check()?;
    }
    // Windows could not remove a directory that is open.
    drop(suites);
    study_run.remove_work_directory(work);
    study_run.study.sentences = sentences(&study_run.study, options, role);
    Ok(study_run.finish())
}

const ABOUT: &str = "these are the phases and parameters of IO500 (config-full.ini of commit 3c62802a) by this program, \
                     not IO500 itself: the lists take results of its own program alone";

fn suite(
    study_run: &mut StudyRun<'_>,
    work: &WorkDirectory,
    options: &Io500Options,
    (role, hard): (NodeRole, bool),
) -> Result<Suite, Problem> {
    let options = SmallFilesOptions {
        files: FILES.0.min(options.time_s.saturating_mul(FILES.1)),
        size_bytes: if hard { HARD_FILE_BYTES } else { 0 },
        limit_s: options.time_s,
        wear_out: true,
        shared: hard,
        ..SmallFilesOptions::default()
    };
    Suite::new(work.open_directory(), options, role, &mut |path| study_run.watcher.looks(path))
}

/// Runs a phase of IOR on all nodes. `done`: the requests that each rank has written, which the phase sets or reads.
fn transfer(
    study_run: &mut StudyRun<'_>,
    nodes: &mut dyn Nodes,
    (name, options): (&str, &Io500Options),
    work: &WorkDirectory,
    done: &mut u64,
) -> Result<(), Problem> {
    let writes = name.ends_with("write");
    if !writes && *done == 0 {
        return Ok(());
    }
    let count = nodes.count();
    let hard = name.contains("hard");
    let file = job_path(&work.file(if hard { SHARED_FILE } else { "easy.dat" }));
    let command = words(name, &file, (count, options), *done);
    let row = planned_row(0, name, name, 0, command);
    let index = study_run.run_row_on(nodes, count, row, StopRule::WearOut, work)?;
    if writes {
        let run = study_run.study.rows[index].run.as_ref();
        let least = run.and_then(|run| run.jobs.iter().map(|job| job.directions.write.ios).min());
        *done = least.unwrap_or(0);
    }
    Ok(())
}

/// The line of a phase of IOR. `done`: the requests that each rank has written.
fn words(name: &str, file: &str, (ranks, options): (u32, &Io500Options), done: u64) -> Vec<String> {
    let (hard, writes) = (name.contains("hard"), name.ends_with("write"));
    let (transfer_bytes, most) =
        if hard { (HARD_BYTES.0, HARD_BYTES.0 * HARD_BYTES.1) } else { (EASY_BYTES.0, EASY_BYTES.1) };
    let bytes_each = match (writes, options.size_bytes) {
        (false, _) => done * transfer_bytes,
        (true, limit) => limit.unwrap_or(most).min(most).max(transfer_bytes),
    };
    let mut words = vec![
        format!("--name={name}"),
        format!("--filename={file}"),
        format!("--rw={}", if writes { "write" } else { "read" }),
        format!("--bs={transfer_bytes}"),
        format!("--size={}", bytes_each / transfer_bytes * transfer_bytes),
    ];
    words.extend(["--ioengine=psync", "--direct=0", "--fallocate=none", "--lat_percentiles=1"].map(str::to_owned));
    if writes {
        words.extend(["--create_on_open=1".to_owned(), "--end_fsync=1".to_owned()]);
        words.push(format!("--runtime={}", options.time_s));
    }
    if hard {
        words.extend(Segments { block_bytes: transfer_bytes, transfer_bytes }.words(ranks, bytes_each));
    }
    words
}

/// The figure of a phase.
struct Figure {
    name: &'static str,
    /// GiB/s, or thousands of operations per second.
    rate: f64,
    elapsed_s: f64,
    trust: Trust,
    error: Option<String>,
}

impl Figure {
    /// `None`: the phase did not run.
    fn of(study: &Study, name: &'static str) -> Option<Figure> {
        let is_part = |row: &&Row| row.pattern == name || name == FIND && row.pattern.starts_with("find-");
        let rows: Vec<&Row> = study.rows.iter().filter(is_part).collect();
        let parts: Vec<(f64, f64)> =
            rows.iter().map(|row| if transfers(name) { moved(row) } else { operated(row) }).collect::<Option<_>>()?;
        let elapsed_s: f64 = parts.iter().map(|(_, part_s)| part_s).sum();
        let amount = if name == FIND { names_listed(study) } else { parts.iter().map(|(amount, _)| amount).sum() };
        let unit = if transfers(name) { f64::from(1 << 30) } else { 1e3 };
        let error = rows.iter().find_map(|row| row.first_error());
        Some(Figure {
            name,
            rate: if elapsed_s > 0.0 { amount / unit / elapsed_s } else { 0.0 },
            elapsed_s,
            trust: rows.iter().map(|row| row.trust()).max()?,
            error: error.map(|(rank, error)| format!("{rank}{}: {}", error.function, error.text)),
        })
    }

    fn counts(&self) -> bool {
        self.error.is_none() && self.trust < Trust::Invalid && self.rate > 0.0
    }

    fn sentence(&self) -> String {
        let unit = if transfers(self.name) { "GiB/s" } else { "kIOPS" };
        let (name, rate, time) = (self.name, number(self.rate), number(self.elapsed_s));
        match &self.error {
            Some(error) => format!("{name}: failed: {error}."),
            None => format!("{name}: {rate} {unit} in {time} s, trust {}.", self.trust.word()),
        }
    }
}

/// Whether the figure of a phase is a bandwidth.
fn transfers(name: &str) -> bool {
    name.starts_with("ior")
}

/// The bytes of a row of IOR over all ranks, and the time until the last rank ended, s; `None`: it did not run.
fn moved(row: &Row) -> Option<(f64, f64)> {
    let run = row.run.as_ref()?;
    let bytes: u64 = run.jobs.iter().map(|job| job.mixed().bytes).sum();
    let window = run.ranks_record.as_ref().and_then(|together| together.windows.first());
    let alone_ms = run.jobs.iter().map(|job| job.mixed().runtime_ms).max().unwrap_or(0);
    let elapsed_s = window.map_or(alone_ms as f64 / 1e3, |window| window.whole_ns() as f64 / 1e9);
    Some((bytes as f64, elapsed_s))
}

/// The operations of a row of mdtest over all ranks, and their time, s; `None`: it did not run.
fn operated(row: &Row) -> Option<(f64, f64)> {
    let phase = row.phase.as_ref()?;
    Some((phase.operations as f64, phase.elapsed_ns as f64 / 1e9))
}

/// The names of all files of mdtest, which a search lists: each rank has made the same number.
fn names_listed(study: &Study) -> f64 {
    let written = |row: &&Row| row.pattern.starts_with("mdtest") && row.pattern.ends_with("write");
    study.rows.iter().filter(written).filter_map(operated).map(|(files, _)| files).sum()
}

/// The sentences: the score or why there is none, then each phase.
fn sentences(study: &Study, options: &Io500Options, role: NodeRole) -> Vec<String> {
    let figures: Vec<Figure> = PHASES.iter().filter_map(|name| Figure::of(study, name)).collect();
    let nodes = counted(role.ranks.into(), "node");
    let against = against(study, options, role, &figures);
    let first = match against.split_first() {
        None => {
            let [bandwidth, operations] = [true, false].map(|moves| {
                let rates = figures.iter().filter(|figure| transfers(figure.name) == moves).map(|figure| figure.rate);
                geometric_mean(rates)
            });
            format!(
                "The phases of IO500 on {nodes}: bandwidth {} GiB/s, metadata {} kIOPS, score {} (not official).",
                number(bandwidth),
                number(operations),
                number((bandwidth * operations).sqrt())
            )
        }
        Some((reason, more)) => {
            let more = if more.is_empty() { String::new() } else { format!("; {}", more.join("; ")) };
            format!("The phases of IO500 on {nodes}: no score, for the rules were not kept: {reason}{more}.")
        }
    };
    std::iter::once(first).chain(figures.iter().map(Figure::sentence)).collect()
}

/// The n-th root of the product of n values.
fn geometric_mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value.ln(), count + 1.0));
    (sum / count).exp()
}

/// The rules that were not kept.
fn against(study: &Study, options: &Io500Options, role: NodeRole, figures: &[Figure]) -> Vec<String> {
    let mut against = Vec::new();
    if options.time_s < STONEWALL_S {
        let time_s = options.time_s;
        against.push(format!("each phase that writes must run for {STONEWALL_S} s, and --runtime says {time_s} s"));
    }
    let early = |figure: &&Figure| figure.name.ends_with("write") && figure.elapsed_s < f64::from(options.time_s);
    against.extend(figures.iter().filter(early).map(|figure| format!("{} ended before its time", figure.name)));
    let missing = PHASES.iter().filter(|name| !figures.iter().any(|figure| figure.name == **name));
    against.extend(missing.map(|name| format!("{name} did not run")));
    let void = figures.iter().filter(|figure| !figure.counts());
    against.extend(void.map(|figure| format!("{} has no valid figure", figure.name)));
    let machines = machines(study);
    if machines < MACHINES {
        let machines = counted(machines as u64, "client machine");
        against.push(format!("the lists ask for {MACHINES} client machines, and this run has {machines}"));
    }
    if !role.elsewhere {
        against.push("data must be read by another machine than its writer".to_owned());
    }
    against
}

/// The number of machines that took part.
fn machines(study: &Study) -> usize {
    let run = study.rows.iter().find_map(|row| row.run.as_ref());
    let mut names: Vec<&str> = run.into_iter().flat_map(|run| &run.nodes).map(|node| node.machine()).collect();
    fsdyno_stats::sort::by(&mut names, Ord::cmp);
    names.dedup();
    names.len()
}

#[cfg(test)]
mod tests {
    use fsdyno_results::{JobRecord, JobSetup, PhaseRecord, RunRecord};

    use super::*;

    const OF_TEN: NodeRole = NodeRole { rank: 0, ranks: 10, partners: [1, 2], elsewhere: true, shift: true };

    fn options() -> Io500Options {
        Io500Options { time_s: STONEWALL_S, size_bytes: None, expected: None }
    }

    fn row(name: &str) -> Row {
        planned_row(0, name, name, 0, Vec::new())
    }

    /// A phase of IOR on ten machines: each moves 100 GiB in `seconds`.
    fn ior(name: &str, seconds: u64) -> Row {
        let mut run = RunRecord::new("test", 0);
        run.nodes =
            (0..10).map(|rank| fsdyno_results::Node { name: format!("n{rank}"), ..Default::default() }).collect();
        run.jobs = (0..10)
            .map(|node| {
                let mut job = JobRecord::new(name, 1, JobSetup::default());
                let write = &mut job.directions.write;
                (write.bytes, write.ios, write.runtime_ms) = (100 << 30, 1, seconds * 1000);
                JobRecord { node, ..job }
            })
            .collect();
        Row { run: Some(run), ..row(name) }
    }

    /// A phase of mdtest: operations in a number of seconds.
    fn mdtest(name: &str, operations: u64, seconds: u64) -> Row {
        let conditions = Some(fsdyno_results::PhaseConditions::default());
        let elapsed_ns = seconds * 1_000_000_000;
        let phase = PhaseRecord { operations, elapsed_ns, conditions, ..PhaseRecord::default() };
        Row { phase: Some(phase), ..row(name) }
    }

    /// A run that keeps the rules: 2 GiB/s and 4 GiB/s, and 8 kIOPS in each phase of metadata but the search.
    fn kept() -> Study {
        let mut study = Study::of_run(RunRecord::new("test", 0));
        study.rows = vec![
            ior("ior-easy-write", 500),
            mdtest("mdtest-easy-write", 4_000_000, 500),
            ior("ior-hard-write", 500),
            mdtest("mdtest-hard-write", 2_400_000, 300),
            mdtest("find-easy", 10, 300),
            mdtest("find-hard", 10, 500),
            ior("ior-easy-read", 250),
            mdtest("mdtest-easy-stat", 4_000_000, 500),
            ior("ior-hard-read", 250),
            mdtest("mdtest-hard-stat", 2_400_000, 300),
            mdtest("mdtest-easy-delete", 4_000_000, 500),
            mdtest("mdtest-hard-read", 2_400_000, 300),
            mdtest("mdtest-hard-delete", 2_400_000, 300),
        ];
        study
    }

    #[test]
    fn the_score_is_the_root_of_both_geometric_means() {
        let options = options();
        let told = sentences(&kept(), &options, OF_TEN);
        // The square root of 2 times 4 is 2.83. The search lists 6.4 million names in 800 s, which is 8 kIOPS too.
        let first =
            "The phases of IO500 on 10 nodes: bandwidth 2.83 GiB/s, metadata 8.00 kIOPS, score 4.76 (not official).";
        assert_eq!(told[0], first);
        assert_eq!(told.len(), 13);
        assert_eq!(told[1], "ior-easy-write: 2.00 GiB/s in 500 s, trust ok.");
        assert_eq!(told[5], "find: 8.00 kIOPS in 800 s, trust ok.");
    }

    #[test]
    fn without_the_rules_there_is_a_reason_and_no_score() {
        let options = options();
        let told = |study: &Study, options: &Io500Options, role| sentences(study, options, role).swap_remove(0);
        let short = told(&kept(), &Io500Options { time_s: 5, ..options.clone() }, OF_TEN);
        assert!(!short.contains("score 4") && short.contains("must run for 300 s, and --runtime says 5 s"), "{short}");
        let mut study = kept();
        study.rows[3] = mdtest("mdtest-hard-write", 2_400_000, 299);
        assert!(told(&study, &options, OF_TEN).contains("kept: mdtest-hard-write ended before its time."));
        study = kept();
        study.rows.pop();
        assert!(told(&study, &options, OF_TEN).contains("kept: mdtest-hard-delete did not run."));
        study = kept();
        study.rows[4].phase = None;
        assert!(told(&study, &options, OF_TEN).contains("kept: find did not run."));
        study = kept();
        let error = fsdyno_results::JobError { code: 28, function: "write".into(), text: "No space left".into() };
        study.rows[1].phase.as_mut().unwrap().error = Some(error);
        assert!(told(&study, &options, OF_TEN).contains("kept: mdtest-easy-write has no valid figure."));
        study = kept();
        study.rows[0].run.as_mut().unwrap().nodes.truncate(9);
        let few = told(&study, &options, NodeRole { elsewhere: false, ..OF_TEN });
        assert!(
            few.contains("10 client machines, and this run has 9 client machines; data must be read by another"),
            "{few}"
        );
    }

    #[test]
    fn the_lines_have_the_published_parameters() {
        let options = options();
        let line = |name, done| words(name, "/d/f", (4, &options), done).join(" ");
        let easy = line("ior-easy-write", 0);
        assert!(easy.contains("--bs=2097152 --size=10401873920000 ") && easy.ends_with("--end_fsync=1 --runtime=300"));
        let hard = line("ior-hard-write", 0);
        assert!(
            hard.contains("--bs=47008 ") && hard.contains("--size=1880320000000 --io_size=470080000000 "),
            "{hard}"
        );
        assert!(hard.contains("--zoneskip=141024 --offset_increment=47008"), "{hard}");
        let read = line("ior-hard-read", 10);
        assert!(read.contains("--size=1880320 --io_size=470080 ") && !read.contains("runtime"), "{read}");
        let small =
            words("ior-easy-write", "f", (4, &Io500Options { size_bytes: Some(5 << 20), ..options.clone() }), 0);
        assert!(small.contains(&"--size=4194304".to_owned()), "whole requests: {small:?}");
    }
}
