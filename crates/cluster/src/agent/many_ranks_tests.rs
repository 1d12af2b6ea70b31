//! Tests many ranks in one process: the messages of their agents from Hello to the merged record, encoded and decoded
//! as between processes. Workers, clocks and the network are left out.

use std::time::{Duration, Instant};

use fsdyno_results::evidence::{Mount, Seen as Fact, Storage};
use fsdyno_results::{ActiveSpan, JobRecord, JobSetup, Latency, Node, RankRecord, RunRecord, Samples};

use super::progress::Progress;
use crate::agreement::agreement;
use crate::frames;
use crate::members::{self, Member, Seat};
use crate::messages::{Message, Reached, Round, Seen, Welcome};
use crate::tree;

/// Ten thousand in optimised builds: otherwise JSON takes ten times as long.
const RANKS: usize = if cfg!(debug_assertions) { 500 } else { DOCUMENTED };

/// The number of ranks in docs/scale.md.
const DOCUMENTED: usize = 10_000;

/// The message that a branch passed up, and its longest path in time: ranks of one level work at the same time.
struct Passed {
    bytes: Vec<u8>,
    longest: Duration,
}

fn member(rank: usize) -> Member {
    Member { rank: rank as u32, host: format!("node{:05}", rank / 2), boot: "b".to_owned(), version: "1".to_owned() }
}

#[expect(clippy::disallowed_methods, reason = "the times are printed alone")]
fn timed<T>(longest: &mut Duration, work: impl FnOnce() -> T) -> T {
    let begun = Instant::now();
    let done = work();
    *longest += begun.elapsed();
    done
}

/// Lets each rank of a branch join its own part with those of its children. `below`: what the children passed.
fn up(rank: usize, join: &dyn Fn(usize, Vec<Vec<u8>>) -> Vec<u8>) -> Passed {
    let below: Vec<Passed> = tree::children(rank, RANKS).map(|child| up(child, join)).collect();
    let mut longest = below.iter().map(|passed| passed.longest).max().unwrap_or_default();
    let parts = below.into_iter().map(|passed| passed.bytes).collect();
    let bytes = timed(&mut longest, || join(rank, parts));
    Passed { bytes, longest }
}

fn hello(rank: usize, below: Vec<Vec<u8>>) -> Vec<u8> {
    let mut members = vec![member(rank)];
    for bytes in below {
        let Ok(Message::Hello(more)) = frames::decoded(&bytes) else { panic!("a child says hello") };
        members.extend(more);
    }
    frames::encoded(&Message::Hello(members))
}

/// Joins the rounds of an order as a rank's agent does.
fn reached(round: Round, own: impl Fn(u32) -> Reached) -> impl Fn(usize, Vec<Vec<u8>>) -> Vec<u8> {
    move |rank, below| {
        let mut progress = Progress::new(below.len());
        progress.begin(1);
        let mut all = None;
        for (source, bytes) in below.iter().enumerate() {
            let Ok(Message::Reached(reached)) = frames::decoded(bytes) else { panic!("a child has reached {round:?}") };
            all = all.or(progress.reach(source + 1, reached));
        }
        let all = all.or(progress.reach(0, own(rank as u32))).expect("all sources have reached it");
        frames::encoded(&Message::Reached(all))
    }
}

fn seen(rank: u32) -> Reached {
    let options = ["rw", "vers=4.2"].map(str::to_owned).to_vec();
    let mount = Mount { fstype: "nfs4".to_owned(), options, ..Mount::default() };
    let storages = vec![Storage { mount: Fact::Value(mount), ..Storage::default() }];
    let seen = vec![Seen { rank, node: Ok(Node { storages, ..Node::default() }) }];
    Reached { seen, ..Reached::new(1, Round::Agreed) }
}

/// A minute of reads and writes by one worker, with latencies from 60 µs to 30 ms.
fn recorded(seats: &[Seat], rank: u32) -> Reached {
    let mut job = JobRecord::new("mix", 1, JobSetup::default());
    job.group_reporting = true;
    for direction in [&mut job.directions.read, &mut job.directions.write] {
        (direction.clat, direction.lat) = (Latency::with_histogram(), Latency::with_histogram());
        let mut latency_ns = 60_000 + u64::from(rank) % 977;
        while latency_ns < 30_000_000 {
            direction.clat.record(latency_ns);
            direction.lat.record(latency_ns + 300);
            direction.ios += 1;
            latency_ns += latency_ns / 40;
        }
        let mut samples = Samples::default();
        (1..=120).for_each(|window| samples.record(direction.ios, window * 500));
        direction.iops_samples = samples;
    }
    let mut run = RunRecord::new("fio-3.42", 0);
    run.nodes[0].name.clone_from(&seats[rank as usize].name);
    run.jobs = vec![job];
    let spans = vec![ActiveSpan { stage: 0, start_ns: 0, end_ns: 60_000_000_000 }];
    run.take_part(RankRecord { rank, clock: None, spans }, RANKS as u32);
    Reached { record: Some(Box::new(run)), ..Reached::new(1, Round::Recorded) }
}

/// The longest path down: each rank passes on to each branch its own part.
fn down(rank: usize, bytes: &[u8]) -> Duration {
    let mut own = Duration::ZERO;
    let children: Vec<usize> = tree::children(rank, RANKS).collect();
    let parts = timed(&mut own, || {
        let Ok(Message::Welcome(Welcome { ranks, seats, .. })) = frames::decoded(bytes) else {
            panic!("it is welcome")
        };
        assert_eq!((ranks as usize, seats[0].0 as usize), (RANKS, rank));
        let parts = tree::by_child(rank, &seats, &children);
        let welcome = |seats| frames::encoded(&Message::Welcome(Welcome { ranks, seats, ..Welcome::default() }));
        parts.into_iter().map(welcome).collect::<Vec<_>>()
    });
    own + children.iter().zip(&parts).map(|(child, bytes)| down(*child, bytes)).max().unwrap_or_default()
}

/// Prints the times: `cargo test --release -p fsdyno-cluster many_ranks_begin -- --nocapture` gives the figures of
/// docs/scale.md.
#[test]
fn many_ranks_begin_agree_and_end() {
    let mut total = Duration::ZERO;
    let mut step = |what: &str, longest: Duration| {
        total += longest;
        println!("{what}: {:.3} s", longest.as_secs_f64());
    };
    let passed = up(0, &hello);
    let mut welcome = passed.longest;
    let mut seats = Vec::new();
    let bytes = timed(&mut welcome, || {
        let Ok(Message::Hello(mut members)) = frames::decoded(&passed.bytes) else { panic!("all say hello") };
        fsdyno_stats::sort::by_key(&mut members, |member| member.rank);
        assert_eq!((members.len(), members::problem(&members)), (RANKS, None));
        seats = members::seats(&members);
        let of_all = (0..).zip(seats.iter().cloned()).collect();
        frames::encoded(&Message::Welcome(Welcome { ranks: RANKS as u32, seats: of_all, ..Welcome::default() }))
    });
    step("welcome", welcome + down(0, &bytes));
    let last = &seats[RANKS - 1];
    assert_eq!((last.name.clone(), last.partners.elsewhere), (format!("node{:05}:1", RANKS / 2 - 1), true));

    let passed = up(0, &reached(Round::Agreed, seen));
    let mut agreeing = passed.longest;
    timed(&mut agreeing, || {
        let Ok(Message::Reached(all)) = frames::decoded(&passed.bytes) else { panic!("all have looked") };
        assert_eq!((all.seen.len(), agreement(&all.seen, &seats, false)), (RANKS, Ok(Vec::new())));
    });
    step("agreement", agreeing);

    let passed = up(0, &reached(Round::Recorded, |rank| recorded(&seats, rank)));
    step("gathering", passed.longest);
    println!("all: {:.3} s; the record of all has {} MiB", total.as_secs_f64(), passed.bytes.len() >> 20);
    let Ok(Message::Reached(all)) = frames::decoded(&passed.bytes) else { panic!("all have measured") };
    let record = all.record.expect("no rank was lost");
    assert_eq!((record.nodes.len(), record.jobs.len(), record.missing_ranks().len()), (RANKS, RANKS, 0));
}

/// Checks the table on the tree in docs/scale.md.
#[test]
fn the_document_describes_this_tree() {
    let mut text = String::from("| level | ranks | each joins |\n|---|---|---|\n");
    let mut level = vec![0];
    let mut number = 0;
    while !level.is_empty() {
        let below: Vec<usize> = level.iter().flat_map(|rank| tree::children(*rank, DOCUMENTED)).collect();
        let most = level.iter().map(|rank| tree::children(*rank, DOCUMENTED).count()).max().unwrap_or(0);
        let joins = if most == 0 { "none".to_owned() } else { format!("{most} others at most") };
        text.push_str(&format!("| {number} | {} | {joins} |\n", level.len()));
        (level, number) = (below, number + 1);
    }
    assert_eq!(tree::levels(DOCUMENTED) + 1, number);
    let document = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/scale.md")).unwrap();
    assert!(document.contains(&text), "docs/scale.md must hold\n{text}");
}
