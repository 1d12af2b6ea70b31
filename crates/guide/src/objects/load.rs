//! `sweep`, `curve` and `scale` of an object store: whole objects that are read and replaced over a number of connections.

use fsdyno_results::{Question, Severity, Study, SweepPoint, test_name};
use fsdyno_run::StopRule;
use fsdyno_text::quantity::{bytes, bytes_per_s, count, counted};

use super::cost::Cost;
use super::keys::KeySet;
use super::measure::{BYTES_MAX, place_of, used};
use super::server::Store;
use super::work::{Bucket, ObjectWork};
use crate::Problem;
use crate::curve::{CurveOptions, depths, take_loads};
use crate::io_mode::IoMode;
use crate::nodes::{Nodes, ThisMachine, object_suffix};
use crate::question_file::{FilledTarget, LEAST_REQUESTS, WRITERS, objects_of};
use crate::requests::{Requests, at_once};
use crate::scale::ScaleOptions;
use crate::study::{Caller, Place, StudyRun, planned_row};
use crate::sweep::{SweepOptions, announce, groups, judge_points_whole, take_points, turns};

/// What a question may use of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectLimits {
    /// The most requests.
    pub requests_max: u64,
    /// Whether a bucket that keeps versions, or locks objects, is used too.
    pub keeps: bool,
}

/// The most connections: each is a thread here, and a socket there.
const CONNECTIONS_MAX: u32 = 1024;

/// The name of the objects, without offset and length.
const NAME: &str = "o";

/// Sweeps the number of connections to one bucket.
///
/// # Errors
/// When it cannot be used, or the budget is too small; nothing is left there then.
pub fn sweep(
    place: &Place,
    options: &SweepOptions,
    limits: ObjectLimits,
    caller: Caller<'_>,
) -> Result<Study, Problem> {
    let groups = groups(&options.accesses, &options.block_sizes)?;
    let groups: Vec<Requests> = groups.into_iter().map(Requests::into_objects).collect::<Result<_, _>>()?;
    let (store, depths) = (Store::of(place, caller.control.bounds())?, options.depths.list());
    let points = groups.len() * depths.len();
    let runs = points as u64 * u64::from(turns(options.runtime_s));
    let load = Load { runs, connections: depths.iter().copied().max().unwrap_or(1), nodes: 1 };
    let requests_max = requests_of_a_run(&groups, load, limits)?;
    let mut study_run = StudyRun::begin(Question::Sweep, std::slice::from_ref(place), caller);
    let objects = Objects::open(&mut study_run, store, &groups, (requests_max, load), limits.keeps)?;
    announce(&mut study_run, options, points, "the objects are");
    objects.use_them(study_run, &groups, &mut ThisMachine, &mut |study_run, site, _| {
        take_points(study_run, options, &groups, site)?;
        judge_points_whole(&mut study_run.study);
        let mut sentences = crate::sweep::conclusions(&study_run.study, &groups);
        sentences.extend(groups.iter().filter_map(|group| each_connection(&study_run.study, group)));
        study_run.study.sentences = sentences;
        Ok(())
    })
}

/// Measures the load curve of one bucket.
///
/// # Errors
/// When it cannot be used, or the budget is too small; nothing is left there then.
pub fn curve(
    place: &Place,
    options: &CurveOptions,
    limits: ObjectLimits,
    caller: Caller<'_>,
) -> Result<Study, Problem> {
    let requests = Requests::parse(&options.access, &options.block_size).map_err(Problem::new)?.into_objects()?;
    let (store, group) = (Store::of(place, caller.control.bounds())?, std::slice::from_ref(&requests));
    let looks = depths(options);
    let runs = (looks.len() + options.loads.len()) as u64;
    let load = Load { runs, connections: looks.iter().copied().max().unwrap_or(1), nodes: 1 };
    let requests_max = requests_of_a_run(group, load, limits)?;
    let mut study_run = StudyRun::begin(Question::Curve, std::slice::from_ref(place), caller);
    let objects = Objects::open(&mut study_run, store, group, (requests_max, load), limits.keeps)?;
    crate::curve::outline(&mut study_run, options, "the objects are");
    objects.use_them(study_run, group, &mut ThisMachine, &mut |study_run, site, _| {
        take_loads(study_run, options, &requests, site)?;
        let text = "each connection carries one request at a time; a request waits for its own connection, even where another \
                    one is idle";
        study_run.note("connections", Severity::Info, text);
        study_run.study.sentences = crate::curve::conclusions(&study_run.study, &requests);
        Ok(())
    })
}

/// Measures what different numbers of nodes get from one bucket. Each has connections and objects of its own; one of them
/// writes the marker and deletes all.
///
/// # Errors
/// When there are too few nodes, the bucket cannot be used, or the budget of all nodes is too small; nothing is left there
/// then.
pub fn scale(
    place: &Place,
    options: &ScaleOptions,
    limits: ObjectLimits,
    nodes: &mut dyn Nodes,
    caller: Caller<'_>,
) -> Result<Study, Problem> {
    crate::scale::enough((place, &options.nodes), "", nodes.count())?;
    let groups = groups(&options.accesses, &options.block_sizes)?;
    let groups: Vec<Requests> = groups.into_iter().map(Requests::into_objects).collect::<Result<_, _>>()?;
    let store = Store::of(place, caller.control.bounds())?;
    let steps = groups.len() * options.nodes.list().len();
    let runs = steps as u64 * u64::from(turns(options.runtime_s));
    let load = Load { runs, connections: options.iodepth, nodes: options.nodes.most() };
    let requests_max = requests_of_a_run(&groups, load, limits)?;
    let mut study_run = StudyRun::begin(Question::Scale, std::slice::from_ref(place), caller);
    let objects = Objects::open(&mut study_run, store, &groups, (requests_max, load), limits.keeps)?;
    let each_has = format!("Each node has objects and {} of its own", at_once(true, options.iodepth));
    crate::scale::announce(&mut study_run, options, steps, "the objects are", &each_has);
    objects.use_them(study_run, &groups, nodes, &mut |study_run, site, nodes| {
        crate::scale::take_steps(study_run, options, &groups, nodes, site)?;
        study_run.study.sentences = crate::scale::conclusions(&study_run.study, &groups);
        Ok(())
    })
}

/// How much a question does at once.
#[derive(Clone, Copy)]
struct Load {
    /// Number of runs, which share the budget.
    runs: u64,
    /// The most connections of a node.
    connections: u32,
    /// The most nodes.
    nodes: u32,
}

/// The sizes of the requests, each once.
fn sizes(groups: &[Requests]) -> Vec<u64> {
    let mut sizes: Vec<u64> = groups.iter().map(|group| group.largest_bytes).collect();
    fsdyno_stats::sort::by(&mut sizes, Ord::cmp);
    sizes.dedup();
    sizes
}

/// The most requests of all nodes in each run: the writing of the objects comes first, and all runs share the rest.
fn requests_of_a_run(groups: &[Requests], load: Load, limits: ObjectLimits) -> Result<u64, Problem> {
    let Load { runs, connections, nodes } = load;
    if connections > CONNECTIONS_MAX {
        let text = format!("{} connections are too many", count(connections.into()));
        return Err(Problem::new(text).with_next(format!("use {CONNECTIONS_MAX} at most")));
    }
    let writes = sizes(groups).into_iter().map(objects_of).sum::<u64>() * u64::from(nodes);
    let needed = writes + runs * u64::from(connections) * u64::from(nodes) * LEAST_REQUESTS;
    if limits.requests_max < needed {
        let budget = count(limits.requests_max);
        let text = format!("a budget of {budget} requests is too small: the points need {}", count(needed));
        return Err(Problem::new(text).with_next(format!("use --budget {needed}, or fewer --connections")));
    }
    let largest = sizes(groups).last().copied().unwrap_or(1);
    Ok(((limits.requests_max - writes) / runs.max(1)).min(BYTES_MAX / runs.max(1) / largest.max(1)))
}

/// What the objects and this number of requests cost; each group has the same part of the requests.
fn cost(groups: &[Requests], asked: u64, objects: u64) -> Cost {
    let each = asked / (groups.len() as u64).max(1);
    let mut cost = Cost { puts: objects, ..Cost::default() };
    for group in groups {
        if group.writes {
            cost.puts += each;
        } else {
            (cost.gets, cost.read_bytes) = (cost.gets + each, cost.read_bytes + each * group.largest_bytes);
        }
    }
    cost
}

/// The objects of a question about load.
struct Objects {
    work: ObjectWork,
    engine: Vec<String>,
    file: String,
    requests_max: u64,
    nodes: u32,
}

/// What measures objects that were written.
type Measurement<'one> = dyn FnMut(&mut StudyRun<'_>, FilledTarget<'_>, &mut dyn Nodes) -> Result<(), Problem> + 'one;

impl Objects {
    /// Writes the marker; `requests_max`: the most requests of each run.
    fn open(
        study_run: &mut StudyRun<'_>,
        store: Store,
        groups: &[Requests],
        (requests_max, load): (u64, Load),
        keeps: bool,
    ) -> Result<Objects, Problem> {
        let mut engine = store.words();
        engine.push(IoMode::WHOLE_LATENCY.to_owned());
        let name = |rank| format!("{NAME}{}", object_suffix(rank));
        let set = |rank, block_bytes| KeySet { name: name(rank), block_bytes, count: objects_of(block_bytes) };
        let of_rank = |rank| sizes(groups).into_iter().map(move |block_bytes| set(rank, block_bytes));
        let keys: Vec<KeySet> = (0..load.nodes).flat_map(of_rank).collect();
        let (objects, written) =
            keys.iter().fold((0, 0), |sum, set| (sum.0 + set.count, sum.1 + set.count * set.block_bytes));
        study_run.watcher.looks(std::path::Path::new(&store.url));
        let largest = keys.last().map_or(0, |set| set.block_bytes);
        let asked = requests_max * load.runs;
        let text = format!(
            "at most {} requests with {}; {} objects with {} are written first, and deleted at the end{}",
            count(asked + 2 * objects),
            bytes(asked * largest + written),
            count(objects),
            bytes(written),
            cost(groups, asked, objects).sentence(!store.is_webdav())
        );
        let bucket = Bucket::connect(store)?;
        study_run.watcher.outline(&text);
        let (work, unseen) = ObjectWork::open(bucket, keys, keeps)?;
        study_run.watcher.looked();
        if let Some(unseen) = unseen {
            study_run.note("bucket-unseen", Severity::Info, unseen);
        }
        let file = work.filename(NAME);
        Ok(Objects { work, engine, file, requests_max, nodes: load.nodes })
    }

    /// Writes the objects, lets them be used, and deletes them.
    fn use_them(
        self,
        mut study_run: StudyRun<'_>,
        groups: &[Requests],
        nodes: &mut dyn Nodes,
        take: &mut Measurement<'_>,
    ) -> Result<Study, Problem> {
        let site = FilledTarget {
            engine: &self.engine,
            file: &self.file,
            size_bytes: 0,
            work: None,
            requests_max: self.requests_max,
        };
        let outcome = match self.fill(&mut study_run, groups, site, nodes) {
            Ok(true) => take(&mut study_run, site, nodes),
            // Without objects nothing can be measured.
            Ok(false) => Ok(()),
            Err(problem) => Err(problem),
        };
        let (facts, asked) = (self.work.bucket.client.server.clone(), self.work.bucket.asked);
        self.work.close_in(&mut study_run);
        outcome?;
        let more = [place_of(&facts), used(&study_run.study, asked)];
        study_run.study.sentences.extend(more);
        Ok(study_run.finish())
    }

    /// Writes all objects, each node its own; whether they are there.
    fn fill(
        &self,
        study_run: &mut StudyRun<'_>,
        groups: &[Requests],
        site: FilledTarget<'_>,
        nodes: &mut dyn Nodes,
    ) -> Result<bool, Problem> {
        for (round, size) in (0..).zip(sizes(groups)) {
            let (objects, each) = (objects_of(size), objects_of(size) / WRITERS * size);
            let mut words = vec![format!("--name={}", test_name::FILL), format!("--filename={}", self.file)];
            words.extend([format!("--size={each}"), format!("--offset_increment={each}"), format!("--bs={size}")]);
            words.extend([format!("--numjobs={WRITERS}"), "--rw=write".to_owned(), "--group_reporting=1".to_owned()]);
            words.extend_from_slice(site.engine);
            let title = format!("writes {} of {}", counted(objects, "object"), bytes(size));
            let row = planned_row(0, test_name::FILL, &title, round, words);
            let index = study_run.run_row_in(nodes, self.nodes, row, StopRule::AsWritten, None)?;
            if study_run.stopped() || study_run.study.rows[index].first_error().is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// What one connection carries alone, and what it carries among the most; `None`: one of them has no figure.
fn each_connection(study: &Study, group: &Requests) -> Option<String> {
    let points = study.depths(&group.pattern());
    let found = |(number, rows): &(u32, Vec<&fsdyno_results::Row>)| Some((*number, SweepPoint::of(rows)?.bytes_per_s));
    let known: Vec<(u32, f64)> = points.iter().filter_map(found).collect();
    let (first, best) = (known.first()?, known.iter().max_by(|one, other| one.1.total_cmp(&other.1))?);
    let carried = |(connections, rate): &(u32, f64)| match connections {
        1 => format!("1 connection carries {}", bytes_per_s(*rate)),
        all => format!("{all} connections carry {} each", bytes_per_s(rate / f64::from(*all))),
    };
    let words = |all: String| format!("{}: {}, and {}, {all} in all.", group.title(), carried(first), carried(best));
    (first.0 < best.0).then(|| words(bytes_per_s(best.1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_point_can_exceed_its_part_of_the_budget() {
        let groups = ["4k", "8m"].map(|size| Requests::parse("get", size).unwrap());
        let of_nodes = |nodes, requests_max, connections| {
            let load = Load { runs: 20, connections, nodes };
            requests_of_a_run(&groups, load, ObjectLimits { requests_max, keeps: false })
        };
        let of = |requests_max, connections| of_nodes(1, requests_max, connections);
        let writes = 256 + 16;
        assert_eq!(of(20_000 + writes, 64).unwrap(), (100 << 30) / 20 / (8 << 20));
        assert_eq!(of(11_000 + writes, 64).unwrap(), 550);
        let small = of(1000, 64).unwrap_err();
        assert!(small.next.is_some_and(|next| next.contains("--budget 10512")), "{}", small.what);
        // All nodes have one budget; each writes its own objects.
        assert_eq!(of_nodes(2, 11_000 + 2 * writes, 32).unwrap(), 550);
        assert!(of_nodes(2, 11_000, 64).is_err());
        assert!(of(u64::MAX, 5000).unwrap_err().what.contains("5,000 connections are too many"));
    }
}
