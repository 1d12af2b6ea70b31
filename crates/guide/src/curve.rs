//! `curve`: response time at given loads. First the capacity is measured in a closed loop, then Poisson arrivals at
//! shares of it (an open loop), timed from the moment at which each request was due.

use fsdyno_results::{Question, Severity, Study, TestRounds};
use fsdyno_run::StopRule;
use fsdyno_stats::ENOUGH_REQUESTS;
use fsdyno_text::quantity::{counted, number};

use crate::io_mode::RequestedIoMode;
use crate::question_file::{FilledTarget, LEAST_REQUESTS};
use crate::requests::{Requests, Timing, duration};
use crate::study::{Caller, Place, StudyRun, job_path, planned_row};
use crate::sweep::{FILE_BYTES, FILL_S, check_blocks, closed_loop};
use crate::work_directory::{SpaceNeeds, WorkDirectory};
use crate::{Problem, question_file};

mod sentences;

/// The options of `curve`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CurveOptions {
    /// `rw` in fio's words; one direction only.
    pub access: String,
    /// Block size in fio's words.
    pub block_size: String,
    /// Requests in flight while the capacity is measured; `None`: the best depth is found, too.
    pub depth: Option<u32>,
    /// Loads, percent of the capacity.
    pub loads: Vec<u32>,
    /// Measuring time of each load, s.
    pub runtime_s: u32,
    /// Bytes of the file; `None`: fitted to space, memory and speed.
    pub size_bytes: Option<u64>,
    /// The filesystem type that the place must have.
    pub expected: Option<String>,
}

/// The usual loads, percent of the capacity.
pub const LOADS: [u32; 7] = [10, 25, 50, 75, 90, 100, 120];

/// The depths that are tried to find the capacity.
const DEPTHS: [u32; 4] = [1, 4, 16, 64];

/// The smallest depth whose IOPS are within this share of the best is taken.
const GAIN: f64 = 0.05;

/// Seconds that each depth is tried, at most.
const LOOK_S: u32 = 3;

/// Loads from this one on run long enough to decide whether they are served, percent of the capacity.
const NEAR_PERCENT: u32 = 80;

/// The longest run for that decision, unless a longer one is asked for, ms.
const LONGEST_MS: u32 = 30_000;

/// Bounds of the open loop's iodepth: requests, and bytes of their buffers. Below them no request waits for a free
/// slot.
const OPEN_DEPTH: u32 = 256;
const OPEN_BYTES: u64 = 64 << 20;

/// Measures the load curve of one place.
///
/// # Errors
/// When the place cannot be used or the words make no job; nothing is left there then.
pub fn curve(place: &Place, options: &CurveOptions, caller: Caller<'_>) -> Result<Study, Problem> {
    let requests = requests(options)?;
    requests.check_of_files()?;
    let places = std::slice::from_ref(place);
    let mut study_run = StudyRun::begin(Question::Curve, places, caller);
    let size_bytes = question_file::largest(&mut study_run, &place.path, options.size_bytes, FILE_BYTES);
    check_blocks(std::slice::from_ref(&requests), size_bytes)?;
    let need = SpaceNeeds::bytes(size_bytes);
    let work = WorkDirectory::open(&place.path, options.expected.as_deref(), need, &study_run.control)?;
    let io_mode = crate::io_mode::of_place(&mut study_run, 0, RequestedIoMode::default())?;
    outline(&mut study_run, options, "the file is");
    let (file, engine) = (job_path(&work.file("curve.dat")), io_mode.words());
    // A file whose size was asked for is filled completely; else filling ends after FILL_S, and the loads use what is
    // there.
    let fill_s = if options.size_bytes.is_some() { None } else { Some(FILL_S) };
    let filled = question_file::fill(
        &mut study_run,
        question_file::row(&io_mode, &file, size_bytes, fill_s),
        size_bytes,
        &work,
    )?;
    if filled > 0 {
        check_blocks(std::slice::from_ref(&requests), filled)?;
        let site =
            FilledTarget { engine: &engine, file: &file, size_bytes: filled, work: Some(&work), requests_max: 0 };
        take_loads(&mut study_run, options, &requests, site)?;
    }
    study_run.remove_work_directory(work);
    // Without a file nothing was measured.
    if filled > 0 {
        study_run.study.sentences = conclusions(&study_run.study, &requests);
    }
    Ok(study_run.finish())
}

/// What the loads show.
pub(crate) fn conclusions(study: &Study, requests: &Requests) -> Vec<String> {
    sentences::of(study, requests)
}

/// Parses the requests, of one direction: a mix has two rates, and two response times.
pub(crate) fn requests(options: &CurveOptions) -> Result<Requests, Problem> {
    let requests = Requests::parse(&options.access, &options.block_size).map_err(Problem::new)?;
    if requests.reads && requests.writes {
        return Err(Problem::new(format!(
            "--rw {} both reads and writes, but a curve needs one of them",
            requests.access
        ))
        .with_next("run each alone: --rw randread, --rw randwrite"));
    }
    Ok(requests)
}

pub(crate) fn depths(options: &CurveOptions) -> Vec<u32> {
    options.depth.map_or(DEPTHS.to_vec(), |depth| vec![depth])
}

/// Announces how long it takes; `what`: that which is written before.
pub(crate) fn outline(study_run: &mut StudyRun<'_>, options: &CurveOptions, what: &str) {
    let (looks, loads) = (depths(options).len(), options.loads.len());
    study_run.steps.1 = 1 + looks + loads;
    let each = Timing::of_runtime(options.runtime_s);
    let all = duration(Timing::of_runtime(LOOK_S).seconds(looks) + each.seconds(loads));
    let text = format!(
        "{} to find the capacity, then {} of {} each: up to {all} after {what} written",
        counted(looks as u64, "run"),
        counted(loads as u64, "load"),
        duration(each.seconds(1))
    );
    study_run.watcher.outline(&text);
}

pub(crate) fn take_loads(
    study_run: &mut StudyRun<'_>,
    options: &CurveOptions,
    requests: &Requests,
    site: FilledTarget<'_>,
) -> Result<(), Problem> {
    let mut looks = Vec::new();
    for depth in depths(options) {
        if study_run.stopped() {
            return Ok(());
        }
        let row = closed_loop(study_run, requests, depth, site, Timing::of_runtime(LOOK_S))?;
        looks.extend(rate(&study_run.study, row).map(|iops| (depth, iops)));
    }
    // An interrupted try gives no rate of which loads could be shares.
    if study_run.stopped() {
        return Ok(());
    }
    let Some(capacity) = Capacity::of(&looks) else { return Ok(()) };
    let timing = Timing::of_runtime(options.runtime_s);
    let enough = |load: u32| timing.at_least(capacity.enough_requests_ms(load, &options.loads));
    announce_longer(study_run, &options.loads, timing, enough);
    for load in &options.loads {
        if study_run.stopped() {
            return Ok(());
        }
        open_loop(study_run, requests, site, capacity, *load, enough(*load))?;
    }
    Ok(())
}

/// Announces which loads are measured longer than was asked for.
fn announce_longer(study_run: &mut StudyRun<'_>, loads: &[u32], asked: Timing, enough: impl Fn(u32) -> Timing) {
    let longer: Vec<String> = loads
        .iter()
        .filter(|load| enough(**load) != asked)
        .map(|load| format!("{load} % for {} s", number(f64::from(enough(*load).runtime_ms) / 1e3)))
        .collect();
    if longer.is_empty() {
        return;
    }
    let text = format!(
        "slow storage: these loads run longer, to get {} requests each ({} s at most): {}",
        number(ENOUGH_REQUESTS),
        LONGEST_MS / 1000,
        longer.join(", ")
    );
    study_run.watcher.outline(&text);
    study_run.note("time-extended", Severity::Info, text);
}

/// The IOPS of a row that has no error and whose figures count.
fn rate(study: &Study, row: usize) -> Option<f64> {
    let rounds = TestRounds::of_rows([&study.rows[row]]);
    let rate = rounds.rates().1;
    rounds.value(rate).filter(|iops| rounds.counts(rate) && *iops > 0.0)
}

/// The capacity: what the closed loop reached.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Capacity {
    iops: f64,
    /// The smallest depth that nearly reaches it.
    depth: u32,
}

impl Capacity {
    /// The capacity from the tries `(depth, IOPS)`, ascending by depth.
    fn of(looks: &[(u32, f64)]) -> Option<Capacity> {
        let iops = looks.iter().map(|(_, iops)| *iops).max_by(f64::total_cmp)?;
        let (depth, _) = looks.iter().find(|(_, reached)| *reached * (1.0 + GAIN) >= iops)?;
        Some(Capacity { iops, depth: *depth })
    }

    /// The iodepth of the open loop: large enough that hardly a request waits for a free slot.
    fn open_depth(self, block_bytes: u64) -> u32 {
        let affordable = u32::try_from(OPEN_BYTES / block_bytes.max(1)).unwrap_or(OPEN_DEPTH);
        OPEN_DEPTH.min(affordable).max(self.depth)
    }

    /// The time for which a load must be measured at least, ms; 0 for a light load where a heavier one shows the same.
    fn enough_requests_ms(self, load_percent: u32, loads: &[u32]) -> u32 {
        if load_percent < NEAR_PERCENT && loads.iter().any(|other| *other > load_percent) {
            return 0;
        }
        let seconds = ENOUGH_REQUESTS / self.rate_per_s(load_percent) as f64;
        ((seconds * 1e3).ceil() as u32).min(LONGEST_MS)
    }

    /// The arrival rate of a load, requests per second.
    fn rate_per_s(self, load_percent: u32) -> u64 {
        ((self.iops * f64::from(load_percent) / 100.0).round() as u64).max(1)
    }
}

fn open_loop(
    study_run: &mut StudyRun<'_>,
    requests: &Requests,
    site: FilledTarget<'_>,
    capacity: Capacity,
    load_percent: u32,
    timing: Timing,
) -> Result<usize, Problem> {
    let pattern = format!("{}-load{load_percent}", requests.pattern());
    let title = format!("{}, {load_percent} % of the capacity", requests.title());
    let (rate, most) = (capacity.rate_per_s(load_percent), capacity.open_depth(requests.largest_bytes));
    let affordable = u32::try_from(site.requests_max / LEAST_REQUESTS).unwrap_or(most);
    let (depth, each) = if requests.of_objects { shared_out(rate, most.min(affordable)) } else { (most, rate) };
    let mut command = requests.line(&pattern, site, timing, depth);
    command.push(format!("--rate_iops={each}"));
    command.push("--rate_process=poisson".to_string());
    // Arrivals are random: a rate that looks settled says nothing about the queue.
    site.run(study_run, planned_row(0, &pattern, &title, 0, command), StopRule::AsWritten)
}

/// The number of connections, at most `most`, and the rate of each that together are nearest to this rate.
fn shared_out(rate: u64, most: u32) -> (u32, u64) {
    let each = rate.div_ceil(u64::from(most.max(1))).max(1);
    // Rounded to the nearest number.
    let connections = (rate + each / 2) / each;
    (u32::try_from(connections).unwrap_or(most).clamp(1, most.max(1)), each)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_capacity_is_the_best_rate_and_its_depth_the_lightest_that_nearly_reaches_it() {
        let found = Capacity::of(&[(1, 9_000.0), (4, 30_000.0), (16, 39_000.0), (64, 40_000.0)]).unwrap();
        assert_eq!(found, Capacity { iops: 40_000.0, depth: 16 });
        assert_eq!(Capacity::of(&[]), None);
        assert_eq!((found.rate_per_s(50), found.rate_per_s(120)), (20_000, 48_000));
        assert_eq!(Capacity { iops: 3.0, depth: 1 }.rate_per_s(10), 1, "a rate of 0 would be no limit at all");
    }

    #[test]
    fn a_slow_storage_is_looked_at_for_longer() {
        let capacity = |iops: f64| Capacity { iops, depth: 1 };
        let of = |iops: f64| LOADS.map(|load| capacity(iops).enough_requests_ms(load, &LOADS));
        assert_eq!(of(100.0), [0, 0, 0, 0, 22_223, 20_000, 16_667]);
        assert_eq!(of(10.0)[4..], [30_000; 3], "it has an end");
        assert_eq!(of(5000.0)[4..], [445, 400, 334]);
        assert_eq!(capacity(100.0).enough_requests_ms(50, &[25, 50]), 30_000, "nothing heavier would show it");
    }

    #[test]
    fn the_open_queue_is_long_but_fits_into_memory() {
        let capacity = Capacity { iops: 1e3, depth: 16 };
        assert_eq!(capacity.open_depth(4096), 256);
        assert_eq!(capacity.open_depth(1 << 20), 64);
        assert_eq!(capacity.open_depth(16 << 20), 16, "never less than what the capacity was found with");
    }

    #[test]
    fn connections_share_a_rate() {
        assert_eq!(
            [1, 30, 256, 257, 1000, 20_000].map(|rate| shared_out(rate, 256)),
            [(1, 1), (30, 1), (256, 1), (129, 2), (250, 4), (253, 79)]
        );
        for rate in 1..3000 {
            let (connections, each) = shared_out(rate, 64);
            let offered = u64::from(connections) * each;
            assert!(connections <= 64 && offered.abs_diff(rate) <= each / 2, "{rate}: {connections} x {each}");
        }
    }

    #[test]
    fn a_mix_has_no_curve() {
        let options = CurveOptions {
            access: "randrw".into(),
            block_size: "4k".into(),
            depth: None,
            loads: LOADS.to_vec(),
            runtime_s: 5,
            size_bytes: None,
            expected: None,
        };
        assert!(requests(&options).unwrap_err().what.contains("both reads and writes"));
    }
}
