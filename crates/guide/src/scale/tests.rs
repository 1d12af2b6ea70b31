use std::sync::Arc;

use fsdyno_results::{JobRecord, JobSetup, Latency, RunRecord};
use fsdyno_run::Control;

use super::*;
use crate::Watcher;
use crate::bench::Conditions;
use crate::watch::{SilentWatcher, Step};

/// Simulated nodes: a rate in MB/s of each, and a server's rate that bounds all of them.
struct Simulated {
    nodes: u32,
    each: u64,
    server: u64,
    runs: Vec<u32>,
    words: Vec<Vec<String>>,
}

const MB: u64 = 1_000_000;

impl Nodes for Simulated {
    fn count(&self) -> u32 {
        self.nodes
    }

    fn run(
        &mut self,
        nodes: u32,
        words: &[String],
        conditions: Conditions<'_>,
        _: &Step,
        _: &mut dyn Watcher,
    ) -> Result<RunRecord, Problem> {
        self.runs.push(nodes);
        self.words.push(words.to_vec());
        let fills = words.iter().any(|word| word == "--rw=write");
        // Each round differs a little from the one before.
        let scatter = 1000 + self.runs.len() as u64 % 3;
        let rate = self.each.min(self.server / u64::from(nodes)) * MB * scatter / 1000;
        let record = |number: u32| {
            let mut run = RunRecord::new(conditions.version, 0);
            run.nodes[0].name = format!("n{number}");
            let mut job = JobRecord::new(words[0].trim_start_matches("--name="), 1, JobSetup::default());
            let moved = if fills { &mut job.directions.write } else { &mut job.directions.read };
            (moved.bytes, moved.ios, moved.runtime_ms) = (rate * 4, rate * 4 / MB, 4000);
            moved.lat = Latency::with_histogram();
            (0..2000).for_each(|_| moved.lat.record(8_000 * MB / (rate / MB)));
            run.jobs = vec![job];
            run
        };
        let others = (1..nodes).map(record).collect();
        Ok(record(0).merge_all(others).expect("they fit"))
    }
}

fn ask(steps: &str, nodes: &mut Simulated) -> Result<Study, Problem> {
    ask_for(steps, "read", false, nodes)
}

fn ask_for(steps: &str, access: &str, shared: bool, nodes: &mut Simulated) -> Result<Study, Problem> {
    let place = tempfile::tempdir().unwrap();
    let options = options(steps, access, shared);
    let (control, mut watcher) = (Arc::new(Control::default()), SilentWatcher);
    let caller = Caller { version: "test", command: vec!["scale".into()], control, watcher: &mut watcher };
    scale(&Place::at(place.path()), &options, nodes, caller)
}

fn options(steps: &str, access: &str, shared: bool) -> ScaleOptions {
    ScaleOptions {
        nodes: steps.parse().unwrap(),
        block_sizes: vec!["1m".into()],
        accesses: vec![access.into()],
        iodepth: 8,
        shared,
        block_bytes: None,
        wear_out: false,
        runtime_s: 1,
        size_bytes: Some(16 << 20),
        expected: None,
    }
}

fn simulated(each: u64, server: u64) -> Simulated {
    Simulated { nodes: 16, each, server, runs: Vec::new(), words: Vec::new() }
}

#[test]
fn the_knee_is_where_the_rise_of_one_meets_what_the_server_has() {
    let mut nodes = simulated(20, 112);
    let study = ask("1,2,4,8,16", &mut nodes).unwrap();
    assert_eq!((nodes.runs.len(), nodes.runs[0]), (21, 16), "each file once, then five steps four times");
    // 112 / 20 = 5.6.
    let sentence = &study.sentences[0];
    assert!(sentence.starts_with("1m sequential read: saturates at 6 nodes (75 %: 6 to 6): 112 MB/s. "), "{sentence}");
    assert!(sentence.contains("1 node gets 20.0 MB/s"), "{sentence}");
    assert_eq!(study.rows[1].pattern, "read-1m-n1");
    assert_eq!(
        study.rows.last().unwrap().run.as_ref().unwrap().nodes.len(),
        2,
        "the fourth round ends with its second step"
    );
}

#[test]
fn more_nodes_that_get_more_have_no_knee() {
    let study = ask("1,2,4,8", &mut simulated(20, 10_000)).unwrap();
    assert!(study.sentences[0].contains("does not saturate up to 8 nodes: 160 MB/s"), "{:?}", study.sentences);
}

#[test]
fn one_node_can_have_it_all() {
    let study = ask("1,2,4", &mut simulated(500, 100)).unwrap();
    assert!(study.sentences[0].contains("all that there is: 100 MB/s"), "{:?}", study.sentences);
}

#[test]
fn too_few_nodes_are_refused_with_the_line_that_starts_more() {
    let problem = ask("1,32", &mut simulated(20, 112)).unwrap_err();
    assert_eq!(problem.what, "32 nodes are needed, and this run has 16 nodes");
    assert!(problem.path.is_some(), "a reader of JSON looks for it there");
    let next = problem.next.unwrap();
    assert!(
        next.contains("`mpirun -n 32 --hostfile HOSTS fsdyno scale /") && next.ends_with("--nodes 1,32`"),
        "{next}"
    );
}

#[test]
fn steps_are_a_list_of_numbers() {
    let read = |text: &str| text.parse::<Steps>();
    assert_eq!(read("4,1,4, 2").unwrap().to_string(), "1,2,4");
    assert!(read("0").is_err() && read("1,x").is_err() && read("").is_err());
}

#[test]
fn a_shared_file_is_filled_once_and_read_by_each_node_in_its_own_order() {
    let mut nodes = simulated(20, 112);
    ask_for("1,2", "randread", true, &mut nodes).unwrap();
    assert_eq!(nodes.runs[0], 1, "one node fills it");
    let (fill, steps) = nodes.words.split_first().unwrap();
    let has = |words: &[String], end: &str| words.iter().any(|word| word.ends_with(end));
    assert!(has(fill, "/shared.dat") && !has(fill, "--randrepeat=0"), "{fill:?}");
    assert!(steps.iter().all(|words| has(words, "/shared.dat") && has(words, "--randrepeat=0")), "{steps:?}");
    let mut own = simulated(20, 112);
    ask_for("1,2", "randread", false, &mut own).unwrap();
    assert!(
        own.runs[0] == 2 && own.words.iter().all(|words| has(words, "/scale.dat") && !has(words, "--randrepeat=0"))
    );
}

#[test]
fn a_shared_file_in_segments_has_a_block_of_each_node_in_each() {
    let mut nodes = simulated(20, 112);
    ask_for("1,4", "read", true, &mut nodes).unwrap();
    assert_eq!(nodes.runs[0], 4, "each node fills its own blocks");
    let (fill, steps) = nodes.words.split_first().unwrap();
    let has = |words: &[String], wanted: &str| words.iter().any(|word| word == wanted);
    // 16 MiB of each node in blocks of 1 MiB.
    assert!(
        has(fill, "--size=67108864") && has(fill, "--io_size=16777216") && has(fill, "--zoneskip=3145728"),
        "{fill:?}"
    );
    let skips = |words: &&Vec<String>| has(words, "--zoneskip=0") || has(words, "--zoneskip=3145728");
    assert_eq!(steps.iter().filter(skips).count(), steps.len(), "{steps:?}");
    assert!(steps.iter().all(|words| has(words, "--offset_increment=1048576") && has(words, "--zonesize=1048576")));
    assert!(!steps.iter().any(|words| has(words, "--direct=0")));
}

/// Each byte of the file belongs to one node, whatever the sizes.
#[test]
fn segments_tile_the_file() {
    for (block, nodes, each) in [(47_008, 3, 1_000_000), (4096, 1, 8192), (1 << 20, 7, 5 << 20)] {
        let words = segments::Segments { block_bytes: block, transfer_bytes: block }.words(nodes, each);
        let of = |name: &str| {
            let word = words.iter().find_map(|word| word.strip_prefix(name));
            word.unwrap_or_else(|| panic!("{name}: {words:?}")).parse::<u64>().unwrap()
        };
        let (size, own) = (of("--size="), of("--io_size="));
        let (step, increment) = (of("--zonerange=") + of("--zoneskip="), of("--offset_increment="));
        let starts = |node| (0..own / block).map(move |segment| node * increment + segment * step);
        let mut starts: Vec<u64> = (0..u64::from(nodes)).flat_map(starts).collect();
        starts.sort_unstable();
        assert!(starts.iter().copied().eq((0..size / block).map(|number| number * block)), "{words:?}");
        assert_eq!(words.contains(&"--direct=0".to_owned()), block % 4096 != 0);
    }
}

#[test]
fn a_block_is_a_multiple_of_its_requests_and_of_one_file() {
    let check = |shared, access: &str, block| {
        let options = ScaleOptions { block_bytes: Some(block), ..options("1", access, shared) };
        segments::check(&options, &groups(&options.accesses, &options.block_sizes).unwrap()).map_err(|found| found.what)
    };
    assert_eq!(check(true, "read", 4 << 20), Ok(()));
    assert_eq!(
        check(true, "write", (4 << 20) + 1),
        Err("a block of 4,194,305 bytes is not a multiple of 1m".to_owned())
    );
    assert!(check(true, "randread", 4 << 20).unwrap_err().contains("1m random read has none"));
}
