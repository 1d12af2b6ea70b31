//! `scale --like io500`: the phases of IO500 with their published parameters, each with its figure, and the score in its
//! formula where the rules were kept.
//!
//! Parameters: github.com/IO500/io500, config-full.ini (commit 3c62802a) and src/phase_*.c. Rules:
//! io500.org/rules-submission. Both were read in November 2026.

use std::cmp::Ordering;

use fsdyno_results::{Question, Row, Severity, Study, Trust};
use fsdyno_run::StopRule;
use fsdyno_stats::{Knee, LoadPoint, knee, order_of_round, sort};
use fsdyno_text::quantity::{counted, number};

use super::knee::{GAIN, WORD};
use super::segments::Segments;
use super::{Steps, enough};
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

/// Times that all phases run on each of several numbers of nodes: a knee needs three rounds.
const ROUNDS: u32 = 3;

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
    /// The numbers of nodes on which all phases run; `None`: all nodes at once.
    pub nodes: Option<Steps>,
    /// Time after which the phases that write stop, s.
    pub time_s: u32,
    /// The most bytes that each rank writes in ior-easy and in ior-hard; `None`: as published.
    pub size_bytes: Option<u64>,
    /// The filesystem type that the place must have.
    pub expected: Option<String>,
}

/// Runs the phases on all nodes, or several times on each of several numbers of them.
///
/// # Errors
/// When there are too few nodes or the place cannot be used; nothing is left there then.
pub fn io500(
    place: &Place,
    options: &Io500Options,
    nodes: &mut dyn Nodes,
    caller: Caller<'_>,
) -> Result<Study, Problem> {
    let steps = options.nodes.clone().unwrap_or_else(|| nodes.count().into());
    enough((place, &steps), " --like io500", nodes.count())?;
    let mut study_run = StudyRun::begin(Question::Scale, std::slice::from_ref(place), caller);
    let rounds = if steps.list().len() > 1 { ROUNDS } else { 1 };
    study_run.steps.1 = (PHASES.len() + 1) * steps.list().len() * rounds as usize;
    study_run.note("io500", Severity::Info, ABOUT);
    nodes.shift();
    for round in 0..rounds {
        for step in order_of_round(round, steps.list().len()) {
            if !study_run.stopped() {
                let count = steps.list()[step];
                nodes.limit(count);
                let suffix = if rounds > 1 { format!("-{WORD}{count}") } else { String::new() };
                run_phases(&mut study_run, (place, options), nodes, Pass { nodes: count, round, suffix })?;
            }
        }
    }
    nodes.limit(steps.most());
    study_run.study.sentences = sentences(&study_run.study, options, nodes.role());
    Ok(study_run.finish())
}

/// One run of all phases.
struct Pass {
    nodes: u32,
    round: u32,
    /// What follows the names of the phases in those of its rows.
    suffix: String,
}

/// Runs all phases once, in a directory of their own.
fn run_phases(
    study_run: &mut StudyRun<'_>,
    (place, options): (&Place, &Io500Options),
    nodes: &mut dyn Nodes,
    pass: Pass,
) -> Result<(), Problem> {
    let need = SpaceNeeds::bytes(options.size_bytes.unwrap_or(HARD_BYTES.0));
    let work = WorkDirectory::open(&place.path, options.expected.as_deref(), need, &study_run.control)?;
    let suites = [false, true].map(|hard| suite(study_run, &work, options, (nodes.role(), hard)));
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
            transfer(study_run, nodes, (name, options, &pass), &work, &mut done[hard])?;
            continue;
        }
        let mut rows = Rows::new(0, nodes);
        (rows.round, rows.suffix) = (pass.round, pass.suffix.clone());
        let parts = if name == FIND { vec![("find-easy", 0), ("find-hard", 1)] } else { vec![(name, hard)] };
        for (phase, hard) in parts.into_iter().filter_map(|(name, hard)| Some((named(name)?, hard))) {
            rows.run(study_run, &mut suites[hard], phase)?;
        }
        work.check()?;
    }
    // Windows could not remove a directory that is open.
    drop(suites);
    study_run.remove_work_directory(work);
    Ok(())
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

/// Runs a phase of IOR on all nodes of a pass. `done`: the requests that each rank has written, which the phase sets or reads.
fn transfer(
    study_run: &mut StudyRun<'_>,
    nodes: &mut dyn Nodes,
    (name, options, pass): (&str, &Io500Options, &Pass),
    work: &WorkDirectory,
    done: &mut u64,
) -> Result<(), Problem> {
    let writes = name.ends_with("write");
    if !writes && *done == 0 {
        return Ok(());
    }
    let count = pass.nodes;
    let hard = name.contains("hard");
    let file = job_path(&work.file(if hard { SHARED_FILE } else { "easy.dat" }));
    let command = words(name, &file, (count, options), *done);
    let row = planned_row(0, &format!("{name}{}", pass.suffix), name, pass.round, command);
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

/// The figure of a phase in a pass.
struct Figure {
    name: &'static str,
    /// GiB/s, or thousands of operations per second; `None`: nothing was moved, or the figure counts for nothing.
    rate: Option<f64>,
    elapsed_s: f64,
    trust: Trust,
    error: Option<String>,
}

impl Figure {
    /// The figure in the rows of a pass; `None`: the phase did not run.
    fn of(pass: &[&Row], name: &'static str) -> Option<Figure> {
        let is_part = |row: &&&Row| phase_of(row) == name || name == FIND && phase_of(row).starts_with("find-");
        let rows: Vec<&Row> = pass.iter().filter(is_part).copied().collect();
        let parts: Vec<(f64, f64)> =
            rows.iter().map(|row| if transfers(name) { moved(row) } else { operated(row) }).collect::<Option<_>>()?;
        let elapsed_s: f64 = parts.iter().map(|(_, part_s)| part_s).sum();
        let amount = if name == FIND { names_listed(pass) } else { parts.iter().map(|(amount, _)| amount).sum() };
        let unit = if transfers(name) { f64::from(1 << 30) } else { 1e3 };
        let error = rows.iter().find_map(|row| row.first_error());
        let trust = rows.iter().map(|row| row.trust()).max()?;
        let counts = error.is_none() && trust < Trust::Invalid && amount > 0.0 && elapsed_s > 0.0;
        Some(Figure {
            name,
            rate: counts.then_some(amount / unit / elapsed_s),
            elapsed_s,
            trust,
            error: error.map(|(rank, error)| format!("{rank}{}: {}", error.function, error.text)),
        })
    }

    /// The figure that stands for several rounds: the middle one, or one that counts for nothing.
    fn of_rounds(mut rounds: Vec<Figure>) -> Option<Figure> {
        sort::by(&mut rounds, |one, other| one.rate.partial_cmp(&other.rate).unwrap_or(Ordering::Equal));
        let middle = if rounds.first()?.rate.is_none() { 0 } else { rounds.len() / 2 };
        Some(rounds.swap_remove(middle))
    }

    fn sentence(&self, knee: Option<&str>) -> String {
        let unit = if transfers(self.name) { "GiB/s" } else { "kIOPS" };
        let (name, trust) = (self.name, self.trust.word());
        let knee = knee.map_or(String::new(), |knee| format!("; {knee}"));
        match (&self.error, self.rate) {
            (Some(error), _) => format!("{name}: failed: {error}{knee}."),
            (None, Some(rate)) => {
                format!("{name}: {} {unit} in {} s, trust {trust}{knee}.", number(rate), number(self.elapsed_s))
            }
            (None, None) => format!("{name}: -, trust {trust}{knee}."),
        }
    }
}

/// The name of a row's phase, without the number of nodes.
fn phase_of(row: &Row) -> &str {
    row.numbered(WORD).map_or(&row.pattern, |(phase, _)| phase)
}

/// The rows of each pass, with the number of its nodes, ascending. `all`: that of a study with one pass.
fn passes(study: &Study, all: u32) -> Vec<(u32, Vec<&Row>)> {
    let mut passes: Vec<((u32, u32), Vec<&Row>)> = Vec::new();
    for row in &study.rows {
        let pass = (row.numbered(WORD).map_or(all, |(_, nodes)| nodes), row.round);
        match passes.iter_mut().find(|(known, _)| *known == pass) {
            Some((_, rows)) => rows.push(row),
            None => passes.push((pass, vec![row])),
        }
    }
    sort::by_key(&mut passes, |(pass, _)| *pass);
    passes.into_iter().map(|((nodes, _), rows)| (nodes, rows)).collect()
}

/// Where a phase saturates; `None`: it ran on one number of nodes. Each node has one request in flight.
fn saturation(name: &'static str, passes: &[(u32, Vec<&Row>)]) -> Option<String> {
    let mut loads: Vec<LoadPoint> = Vec::new();
    for (nodes, rows) in passes {
        let load = f64::from(*nodes);
        let rate = Figure::of(rows, name).and_then(|figure| figure.rate).unwrap_or(0.0);
        match loads.last_mut().filter(|last| last.load == load) {
            Some(last) => last.throughputs.push(rate),
            None => loads.push(LoadPoint { load, throughputs: vec![rate], latency: 0.0 }),
        }
    }
    for point in &mut loads {
        let rate =
            fsdyno_stats::median(&point.throughputs).filter(|_| point.throughputs.iter().all(|rate| *rate > 0.0));
        point.latency = rate.map_or(0.0, |rate| point.load / rate);
    }
    let nodes = |at: usize| counted(loads[at].load as u64, "node");
    let last = loads.len().checked_sub(1).filter(|last| *last > 0)?;
    Some(match knee(&loads, GAIN) {
        Some(Knee::At(at) | Knee::Level(at)) => format!("saturates at {}", nodes(at)),
        Some(Knee::Within(first, last)) => format!("saturates somewhere from {} to {}", loads[first].load, nodes(last)),
        Some(Knee::Beyond) => format!("does not saturate up to {}", nodes(last)),
        None => "where it saturates cannot be told from these rounds".to_owned(),
    })
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
fn names_listed(pass: &[&Row]) -> f64 {
    let written = |row: &&&Row| phase_of(row).starts_with("mdtest") && phase_of(row).ends_with("write");
    pass.iter().filter(written).filter_map(|row| operated(row)).map(|(files, _)| files).sum()
}

/// The sentences: the score or why there is none, then each phase, and why there is no knee.
fn sentences(study: &Study, options: &Io500Options, role: NodeRole) -> Vec<String> {
    let passes = passes(study, role.ranks);
    let of_all: Vec<&[&Row]> =
        passes.iter().filter(|(nodes, _)| *nodes == role.ranks).map(|(_, rows)| &rows[..]).collect();
    let of_rounds = |name| Figure::of_rounds(of_all.iter().filter_map(|pass| Figure::of(pass, name)).collect());
    let figures: Vec<Figure> = PHASES.iter().filter_map(|name| of_rounds(name)).collect();
    let nodes = counted(role.ranks.into(), "node");
    let against = against(&of_all, options, role, &figures);
    let first = match against.split_first() {
        None => {
            let [bandwidth, operations] = [true, false].map(|moves| {
                let of_kind = figures.iter().filter(|figure| transfers(figure.name) == moves);
                geometric_mean(of_kind.filter_map(|figure| figure.rate))
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
    let phases = figures.iter().map(|figure| figure.sentence(saturation(figure.name, &passes).as_deref()));
    let alone = passes.iter().all(|(of, _)| *of == role.ranks);
    let no_knee =
        alone.then(|| format!("No phase has a knee: all ran on {nodes} alone; --nodes with a list compares numbers."));
    std::iter::once(first).chain(phases).chain(no_knee).collect()
}

/// The n-th root of the product of n values.
fn geometric_mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value.ln(), count + 1.0));
    (sum / count).exp()
}

/// The rules that were not kept.
fn against(of_all: &[&[&Row]], options: &Io500Options, role: NodeRole, figures: &[Figure]) -> Vec<String> {
    let mut against = Vec::new();
    if options.time_s < STONEWALL_S {
        let time_s = options.time_s;
        against.push(format!("each phase that writes must run for {STONEWALL_S} s, and --runtime says {time_s} s"));
    }
    let early = |figure: &&Figure| figure.name.ends_with("write") && figure.elapsed_s < f64::from(options.time_s);
    against.extend(figures.iter().filter(early).map(|figure| format!("{} ended before its time", figure.name)));
    let missing = PHASES.iter().filter(|name| !figures.iter().any(|figure| figure.name == **name));
    against.extend(missing.map(|name| format!("{name} did not run")));
    let void = figures.iter().filter(|figure| figure.rate.is_none());
    against.extend(void.map(|figure| format!("{} has no valid figure", figure.name)));
    let machines = machines(of_all);
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
fn machines(of_all: &[&[&Row]]) -> usize {
    let run = of_all.iter().copied().flatten().find_map(|row| row.run.as_ref());
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
        Io500Options { nodes: None, time_s: STONEWALL_S, size_bytes: None, expected: None }
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
    fn study_within_rules() -> Study {
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
        let lines = sentences(&study_within_rules(), &options(), OF_TEN);
        // The square root of 2 times 4 is 2.83. The search lists 6.4 million names in 800 s, which is 8 kIOPS too.
        let first =
            "The phases of IO500 on 10 nodes: bandwidth 2.83 GiB/s, metadata 8.00 kIOPS, score 4.76 (not official).";
        assert_eq!(lines[0], first);
        assert_eq!(lines.len(), 14);
        assert_eq!(lines[1], "ior-easy-write: 2.00 GiB/s in 500 s, trust ok.");
        assert_eq!(lines[5], "find: 8.00 kIOPS in 800 s, trust ok.");
        assert!(lines[13].starts_with("No phase has a knee: all ran on 10 nodes alone;"), "{}", lines[13]);
    }

    #[test]
    fn each_phase_has_its_knee_where_the_nodes_differ_in_number() {
        let mut study = study_within_rules();
        let once = std::mem::take(&mut study.rows);
        for round in 0..3 {
            for nodes in [2_u64, 5, 10] {
                for row in &once {
                    let mut row = Row { round, pattern: format!("{}-n{nodes}", row.pattern), ..row.clone() };
                    // The rate of ior-easy-write grows with the nodes, that of mdtest-easy-write up to five.
                    let bytes = |run: &mut RunRecord, factor| {
                        run.jobs
                            .iter_mut()
                            .for_each(|job| job.directions.write.bytes = (factor << 30) + u64::from(round));
                    };
                    row.run
                        .iter_mut()
                        .filter(|_| row.pattern.starts_with("ior-easy"))
                        .for_each(|run| bytes(run, 10 * nodes));
                    let phase = row.phase.as_mut().filter(|_| row.pattern.starts_with("mdtest-easy-write"));
                    phase.into_iter().for_each(|phase| phase.operations = nodes.min(5) * 800_000 + u64::from(round));
                    study.rows.push(row);
                }
            }
        }
        let lines = sentences(&study, &options(), OF_TEN);
        assert!(lines[0].contains("score 4.76"), "that of all nodes: {}", lines[0]);
        assert_eq!(lines[1], "ior-easy-write: 2.00 GiB/s in 500 s, trust ok; does not saturate up to 10 nodes.");
        assert_eq!(lines[2], "mdtest-easy-write: 8.00 kIOPS in 500 s, trust ok; saturates at 5 nodes.");
        assert_eq!(lines[3], "ior-hard-write: 2.00 GiB/s in 500 s, trust ok; saturates at 2 nodes.");
        assert_eq!(lines.len(), 13);
    }

    #[test]
    fn a_phase_that_moved_nothing_has_no_figure() {
        let mut study = study_within_rules();
        study.rows[0].run.as_mut().unwrap().jobs.iter_mut().for_each(|job| job.directions.write.bytes = 0);
        assert_eq!(sentences(&study, &options(), OF_TEN)[1], "ior-easy-write: -, trust ok.");
    }

    #[test]
    fn without_the_rules_there_is_a_reason_and_no_score() {
        let options = options();
        let first_sentence =
            |study: &Study, options: &Io500Options, role| sentences(study, options, role).swap_remove(0);
        let short = first_sentence(&study_within_rules(), &Io500Options { time_s: 5, ..options.clone() }, OF_TEN);
        assert!(!short.contains("score 4") && short.contains("must run for 300 s, and --runtime says 5 s"), "{short}");
        let mut study = study_within_rules();
        study.rows[3] = mdtest("mdtest-hard-write", 2_400_000, 299);
        assert!(first_sentence(&study, &options, OF_TEN).contains("kept: mdtest-hard-write ended before its time."));
        study = study_within_rules();
        study.rows.pop();
        assert!(first_sentence(&study, &options, OF_TEN).contains("kept: mdtest-hard-delete did not run."));
        study = study_within_rules();
        study.rows[4].phase = None;
        assert!(first_sentence(&study, &options, OF_TEN).contains("kept: find did not run."));
        study = study_within_rules();
        let error = fsdyno_results::JobError { code: 28, function: "write".into(), text: "No space left".into() };
        study.rows[1].phase.as_mut().unwrap().error = Some(error);
        assert!(first_sentence(&study, &options, OF_TEN).contains("kept: mdtest-easy-write has no valid figure."));
        study = study_within_rules();
        study.rows[0].run.as_mut().unwrap().nodes.truncate(9);
        let few = first_sentence(&study, &options, NodeRole { elsewhere: false, ..OF_TEN });
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
