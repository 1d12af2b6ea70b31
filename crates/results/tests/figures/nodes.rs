//! Merging records of several nodes loses nothing, and the order makes no difference.

use std::collections::BTreeMap;

use fsdyno_results::{Finding, JobRecord, JobSetup, Latency, MergeError, Node, Note, RunRecord, Severity};
use proptest::collection::vec;
use proptest::prelude::*;

/// One job: the index of its node, its report group, the latencies of its reads, and whether it has an option of its
/// own.
type Drawn = (prop::sample::Index, u32, Vec<u64>, bool);

fn job(number: u32, nodes: usize, (node, group, latencies_ns, option): Drawn) -> JobRecord {
    let mut job = JobRecord::new(format!("job{number}"), number, JobSetup::default());
    (job.node, job.group, job.group_reporting) = (node.index(nodes), group, true);
    job.options = option.then(|| ("bs".to_owned(), "8k".to_owned())).into_iter().collect();
    let read = &mut job.directions.read;
    read.clat = Latency::with_histogram();
    latencies_ns.iter().for_each(|latency_ns| read.clat.record(*latency_ns));
    (read.ios, read.bytes) = (latencies_ns.len() as u64, 4096 * latencies_ns.len() as u64);
    job.depth_levels[0] = latencies_ns.len() as u64;
    job
}

fn note(text: u8) -> Note {
    Note::new("drawn", Severity::Info, text.to_string())
}

fn finding(cause: u8) -> Finding {
    let severity = if cause.is_multiple_of(2) { Severity::Caution } else { Severity::Invalid };
    let (id, cause) = ("drawn".to_owned(), cause.to_string());
    Finding::new(id, severity, cause, "look")
}

prop_compose! {
    /// A record of one or two nodes. Their names end in `sign`, so that no other record has them.
    fn record(sign: char)(
        names in vec("[a-c]", 1..=2),
        drawn in vec((any::<prop::sample::Index>(), 0u32..3, vec(1u64..1 << 34, 0..20), any::<bool>()), 0..5),
        (started_ms, taken_ms, elapsed_s) in (0u64..100, 100u64..200, 1u64..10),
        complete in any::<bool>(),
        (command, option, signal) in (0u8..2, 0u8..3, prop::option::of(1i32..16)),
        (notes, findings) in (vec(any::<u8>(), 0..4), vec(any::<u8>(), 0..4)),
    ) -> RunRecord {
        let mut run = RunRecord::new("fio-3.42", started_ms);
        let name = |(index, name): (usize, &String)| Node { name: format!("{name}{index}{sign}"), ..Node::default() };
        run.nodes = names.iter().enumerate().map(name).collect();
        (run.taken_ms, run.elapsed_s, run.complete, run.signal) = (taken_ms, elapsed_s, complete, signal);
        run.command = vec![command.to_string()];
        run.global_options = (0..option).map(|_| ("bs".to_owned(), "4k".to_owned())).collect();
        run.jobs = (1..).zip(drawn).map(|(number, drawn)| job(number, names.len(), drawn)).collect();
        run.notes = notes.into_iter().map(note).collect();
        run.findings = findings.into_iter().map(finding).collect();
        run
    }
}

fn merged(one: &RunRecord, other: &RunRecord) -> RunRecord {
    one.clone().merge(other.clone()).expect("they fit")
}

/// A job's node, its name, and its effective options.
type JobFacts = (String, String, Vec<(String, String)>);

fn jobs(runs: &[&RunRecord]) -> Vec<JobFacts> {
    let of = |run: &RunRecord, job: &JobRecord| {
        let options = [&run.global_options[..], &job.options].concat();
        (run.nodes[job.node].name.clone(), job.name.clone(), options)
    };
    let mut jobs: Vec<_> = runs.iter().flat_map(|run| run.jobs.iter().map(|job| of(run, job))).collect();
    jobs.sort();
    jobs
}

/// Bytes and latencies of each report group, counted value by value.
fn measured(runs: &[&RunRecord]) -> BTreeMap<u32, (u64, Latency)> {
    let mut groups = BTreeMap::new();
    for job in runs.iter().flat_map(|run| &run.jobs) {
        let (bytes, clat) = groups.entry(job.group).or_insert((0, Latency::with_histogram()));
        *bytes += job.directions.read.bytes;
        clat.merge(&job.directions.read.clat);
    }
    groups
}

proptest! {
    #[test]
    fn no_order_makes_a_difference(a in record('x'), b in record('y'), c in record('z')) {
        prop_assert_eq!(merged(&a, &b), merged(&b, &a));
        prop_assert_eq!(merged(&merged(&a, &b), &c), merged(&a, &merged(&b, &c)));
    }

    #[test]
    fn nothing_is_lost(a in record('x'), b in record('y')) {
        let both = merged(&a, &b);
        prop_assert_eq!(both.nodes.len(), a.nodes.len() + b.nodes.len());
        prop_assert!(both.nodes.is_sorted_by_key(|node| &node.name));
        prop_assert_eq!(jobs(&[&both]), jobs(&[&a, &b]));
        prop_assert!((1..).zip(&both.jobs).all(|(number, job)| job.thread_number == number));
        prop_assert_eq!((both.started_ms, both.complete), (a.started_ms.min(b.started_ms), a.complete && b.complete));
        prop_assert_eq!(both.notes.len() + both.findings.len(),
            [&a, &b].iter().map(|run| run.notes.len() + run.findings.len()).sum::<usize>());
        for run in [&a, &b] {
            // Facts about a run on one node are facts about that node.
            let node = run.only_node().map(|node| node.name.clone());
            for note in &run.notes {
                let tagged = Note { node: node.clone(), ..note.clone() };
                prop_assert!(both.notes.contains(&tagged));
            }
            for finding in &run.findings {
                let tagged = Finding { node: node.clone(), ..finding.clone() };
                prop_assert!(both.findings.contains(&tagged));
            }
        }
    }

    #[test]
    fn the_rows_of_groups_are_added_exactly(a in record('x'), b in record('y')) {
        let both = merged(&a, &b);
        let rows = both.report_rows();
        let groups = measured(&[&a, &b]);
        prop_assert_eq!(rows.iter().map(|row| row.group).collect::<Vec<_>>(), groups.keys().copied().collect::<Vec<_>>());
        for row in rows {
            let (bytes, clat) = &groups[&row.group];
            let read = &row.directions.read;
            prop_assert_eq!((read.bytes, &read.clat, read.ios), (*bytes, clat, clat.moments.count));
            prop_assert_eq!(row.depth_levels[0], clat.moments.count);
        }
    }
}

#[test]
fn what_does_not_fit_is_an_error() {
    let run = |name: &str| {
        let mut run = RunRecord::new("fio-3.42", 0);
        run.nodes[0].name = name.into();
        run
    };
    let (one, other) = (run("one"), run("other"));
    let refused = |other: RunRecord| one.clone().merge(other).unwrap_err();
    assert_eq!(refused(one.clone()), MergeError::Node("one".into()));
    assert_eq!(refused(RunRecord { schema: 4, ..other.clone() }), MergeError::Schema(one.schema, 4));
    let elsewhere = RunRecord { version: "fio-3.43".into(), ..other.clone() };
    assert_eq!(refused(elsewhere), MergeError::Version("fio-3.42".into(), "fio-3.43".into()));
    let mut damaged = other;
    damaged.jobs = vec![JobRecord { node: 1, ..JobRecord::new("stray", 1, JobSetup::default()) }];
    assert_eq!(refused(damaged), MergeError::Job("stray".into()));
}
