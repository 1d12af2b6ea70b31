//! Tests many ranks in one process: the messages of their agents from Hello to the merged record, encoded and decoded
//! as between processes, and what the first rank's worker makes of them. Clocks and the network are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fsdyno_guide::smallfiles::NodeRole;
use fsdyno_results::evidence::{Ledger, LedgerSample, Moment, Mount, RecordedFact as Fact, Storage};
use fsdyno_results::{ActiveSpan, Histogram, JobRecord, JobSetup, Latency, Node, RankRecord, RunRecord, Samples};

use super::heartbeat::Heartbeat;
use super::progress::Progress;
use crate::agreement::{Sight, Views};
use crate::clocks::Offset;
use crate::members::{self, Member, RankPartners};
use crate::messages::{Ended, Message, Reached, Records, Round, Welcome};
use crate::tree;
use crate::{frames, joined};

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
fn up(rank: usize, ranks: usize, join: &dyn Fn(usize, Vec<Vec<u8>>) -> Vec<u8>) -> Passed {
    let below: Vec<Passed> = tree::children(rank, ranks).map(|child| up(child, ranks, join)).collect();
    let mut longest = below.iter().map(|passed| passed.longest).max().unwrap_or_default();
    let parts = below.into_iter().map(|passed| passed.bytes).collect();
    let bytes = timed(&mut longest, || join(rank, parts));
    Passed { bytes, longest }
}

fn hello(rank: usize, below: Vec<Vec<u8>>) -> Vec<u8> {
    let mut members = vec![member(rank)];
    for bytes in below {
        let Ok(Message::Hello(more)) = frames::decoded(bytes) else { panic!("a child says hello") };
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
        for (source, bytes) in below.into_iter().enumerate() {
            let Ok(Message::Reached(reached)) = frames::decoded(bytes) else { panic!("a child has reached {round:?}") };
            all = all.or(progress.reach(source + 1, reached));
        }
        let all = all.or(progress.reach(0, own(rank as u32))).expect("all sources have reached it");
        frames::encoded(&Message::Reached(all))
    }
}

/// What a rank sees of one server, whose name is `source`.
fn seen(rank: u32, source: String) -> Reached {
    let options = ["rw", "vers=4.2"].map(str::to_owned).to_vec();
    let mount = Mount { fstype: "nfs4".to_owned(), source, options, ..Mount::default() };
    let storages = vec![Storage { mount: Fact::Value(mount), ..Storage::default() }];
    let own = Sight { sees_first: Some(true), is_beside: rank < 2 };
    let seen = Views::of(rank, Ok(&Node { storages, ..Node::default() }), own);
    Reached { seen, ..Reached::new(1, Round::Agreed) }
}

/// A minute of reads and writes by one worker, with latencies from 60 µs to 30 ms.
fn recorded(seats: &[RankPartners], rank: u32) -> Reached {
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
    let sample = |moment, at_ms| LedgerSample { moment, at_ms, ..LedgerSample::default() };
    let samples = vec![sample(Moment::Begin, 0), sample(Moment::End, 60_000)];
    run.nodes[0].ledger = Some(Ledger { samples, ..Ledger::default() });
    run.jobs = vec![job];
    let spans = vec![ActiveSpan { stage: 0, start_ns: 0, end_ns: 60_000_000_000 }];
    run.take_part(RankRecord { rank, clock: None, spans, sees_first: Some(true) }, seats.len() as u32);
    run.shed_series(seats.len());
    Reached { records: Records::of(rank, run), ..Reached::new(1, Round::Recorded) }
}

/// The longest path down: each rank passes on to each branch its own part.
fn down(rank: usize, all: usize, bytes: Vec<u8>) -> Duration {
    let mut own = Duration::ZERO;
    let children: Vec<usize> = tree::children(rank, all).collect();
    let parts = timed(&mut own, || {
        let Ok(Message::Welcome(Welcome { ranks, seats, .. })) = frames::decoded(bytes) else {
            panic!("it is welcome")
        };
        assert_eq!((ranks as usize, seats[0].0 as usize), (all, rank));
        let parts = tree::by_child(rank, &seats, &children);
        let welcome = |seats| frames::encoded(&Message::Welcome(Welcome { ranks, seats, ..Welcome::default() }));
        parts.into_iter().map(welcome).collect::<Vec<_>>()
    });
    own + children.iter().zip(parts).map(|(child, bytes)| down(*child, all, bytes)).max().unwrap_or_default()
}

/// Prints the times: `cargo test --release -p fsdyno-cluster many_ranks_begin -- --nocapture` gives the figures of
/// docs/scale.md.
#[test]
fn many_ranks_begin_agree_and_end() {
    // A release shows how the times grow; of few ranks, the first record of each kind would be most of the bytes.
    let fewer: &[usize] = if cfg!(debug_assertions) { &[] } else { &[RANKS / 10, RANKS / 2] };
    for ranks in fewer.iter().copied().chain([RANKS]) {
        println!("{ranks} ranks");
        let (welcome, seats) = welcome(ranks);
        let steps = [
            ("welcome", welcome),
            ("agreement", agreement(&seats, |_| "s:/x".to_owned())),
            ("layout", up(0, ranks, &reached(Round::LaidOut, |_| Reached::new(1, Round::LaidOut))).longest),
            ("gathering", gathering(&seats)),
        ];
        let seconds = |(step, longest): &(&str, Duration)| println!("{step}: {:.3} s", longest.as_secs_f64());
        steps.iter().for_each(seconds);
        seconds(&("all", steps.iter().map(|(_, longest)| *longest).sum()));
        let own_names = agreement(&seats, |rank| format!("s{rank}:/x"));
        seconds(&("agreement, if each rank has another name for the server", own_names));
    }
}

/// The time until each rank has its seat, and the seats.
fn welcome(ranks: usize) -> (Duration, Vec<RankPartners>) {
    let passed = up(0, ranks, &hello);
    let mut longest = passed.longest;
    let mut seats = Vec::new();
    let bytes = timed(&mut longest, || {
        let Ok(Message::Hello(mut members)) = frames::decoded(passed.bytes) else { panic!("all say hello") };
        fsdyno_stats::sort::by_key(&mut members, |member| member.rank);
        assert_eq!((members.len(), members::problem(&members)), (ranks, None));
        seats = members::seats(&members);
        let of_all = (0..).zip(seats.iter().cloned()).collect();
        frames::encoded(&Message::Welcome(Welcome { ranks: ranks as u32, seats: of_all, ..Welcome::default() }))
    });
    let last = &seats[ranks - 1];
    assert_eq!((last.name.clone(), last.partners.elsewhere), (format!("node{:05}:1", ranks / 2 - 1), true));
    (longest + down(0, ranks, bytes), seats)
}

/// The time until the first rank knows that all see one storage; `source`: the server's name on each rank.
fn agreement(seats: &[RankPartners], source: impl Fn(u32) -> String) -> Duration {
    let passed = up(0, seats.len(), &reached(Round::Agreed, |rank| seen(rank, source(rank))));
    let mut longest = passed.longest;
    timed(&mut longest, || {
        let Ok(Message::Reached(all)) = frames::decoded(passed.bytes) else { panic!("all have looked") };
        assert_eq!(all.seen.agreement(seats), Ok(Vec::new()));
    });
    longest
}

/// The time until the first rank has merged the records of all.
fn gathering(seats: &[RankPartners]) -> Duration {
    let ranks = seats.len();
    let passed = up(0, ranks, &reached(Round::Recorded, |rank| recorded(seats, rank)));
    let (mut longest, sent) = (passed.longest, passed.bytes.len());
    let all = timed(&mut longest, || {
        let Ok(Message::Reached(all)) = frames::decoded(passed.bytes) else { panic!("all have measured") };
        let (mut records, mut damaged) = (Vec::new(), all.lost);
        all.records.read(&mut records, &mut damaged);
        assert!(damaged.is_empty(), "{damaged:?}");
        let clocks: Vec<(u32, Offset)> = (0..ranks as u32).map(|rank| (rank, Offset::default())).collect();
        let ended = Ended { clocks_before: clocks.clone(), clocks_after: clocks, ..Ended::default() };
        joined::record_of_all(records, &ended, seats).expect("they fit together")
    });
    println!("the records have {} MiB on the way", sent >> 20);
    assert!(sent < ranks * 8000, "{sent} bytes of {ranks} ranks: distributions are packed and series left out");
    assert_eq!((all.nodes.len(), all.jobs.len(), all.missing_ranks().len()), (ranks, ranks, 0));
    let ledgers = all.nodes.iter().filter(|node| node.ledger.is_some()).count();
    assert_eq!(ledgers, ranks / 2, "two ranks of a machine share one");
    assert!(all.nodes.iter().all(|node| node.part.as_ref().is_some_and(|part| part.clock.is_some())));
    let reads = all.jobs.iter().map(|job| &job.directions.read);
    let counted = |latency: &Latency| latency.histogram.as_ref().map(Histogram::count);
    assert!(
        reads.into_iter().all(|read| counted(&read.clat) == Some(read.ios) && counted(&read.lat) == Some(read.ios))
    );
    longest
}

/// Ten thousand ranks, two on each machine, each with the signs of its children. One machine falls silent at 5 s: each of
/// its ranks is named once by its parent, more than 10 s after its last sign, and no other rank is.
#[test]
fn a_silent_machine_is_named_after_its_time_among_many_ranks() {
    const S: u64 = 1_000_000_000;
    let is_silent = |rank: usize, now_ns: u64| now_ns > 5 * S && member(rank).host == "node00050";
    let limit = Duration::from_secs(10);
    let mut ranks: Vec<Heartbeat> =
        (0..DOCUMENTED).map(|rank| Heartbeat::new(tree::children(rank, DOCUMENTED), limit)).collect();
    for rank in 1..DOCUMENTED {
        let parent = tree::parent(rank).expect("not the first");
        ranks[parent].runs_on(rank, &member(rank).host);
    }
    let mut named = Vec::new();
    for now_ns in (1..=30).map(|second| second * S) {
        for rank in 0..DOCUMENTED {
            if !is_silent(rank, now_ns) && ranks[rank].is_due(now_ns) {
                let parent = tree::parent(rank);
                assert_eq!(parent.and_then(|parent| ranks[parent].heard(rank, now_ns)), None, "it was not silent");
            }
        }
        for heartbeat in &mut ranks {
            named.extend(heartbeat.silent(now_ns).into_iter().map(|sentence| (now_ns / S, sentence)));
        }
    }
    assert_eq!(named.len(), 2, "{named:?}");
    for (rank, (second, sentence)) in [100, 101].into_iter().zip(&named) {
        assert!(sentence.starts_with(&format!("rank {rank} on node00050 has said nothing for 11 s")), "{sentence}");
        assert_eq!(*second, 15, "the last sign came at 4 s");
    }
}

/// Resident memory of this process now and at its peak, bytes.
fn memory_bytes() -> Option<[u64; 2]> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let of = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        Some(line.trim().trim_end_matches(" kB").trim().parse::<u64>().ok()? * 1024)
    };
    Some([of("VmRSS:")?, of("VmHWM:")?])
}

/// Prints the memory of the first rank, whose agent holds the records as they came while its worker reads them: alone,
/// `cargo test --release -p fsdyno-cluster the_first_rank_reads -- --nocapture` gives the figure of docs/scale.md.
#[test]
fn the_first_rank_reads_parts_one_after_the_other() {
    let seats = members::seats(&(0..RANKS).map(member).collect::<Vec<_>>());
    let before = memory_bytes();
    let mut all = Records::default();
    for part in (0..RANKS as u32).collect::<Vec<_>>().chunks(RANKS.div_ceil(8)) {
        let mut bytes = Vec::new();
        for rank in part {
            bytes.extend_from_slice(&recorded(&seats, *rank).records.parts()[0]);
        }
        all.extend(Records::of_part(bytes));
    }
    assert_eq!(all.parts().len(), 8);
    let (mut records, mut damaged) = (Vec::new(), Vec::new());
    all.into_parts().for_each(|part| part.read(&mut records, &mut damaged));
    let all = joined::record_of_all(records, &Ended::default(), &seats).expect("they fit together");
    assert_eq!((all.nodes.len(), damaged.len()), (RANKS, 0));
    if let (Some([before, _]), Some([after, most])) = (before, memory_bytes()) {
        let mebibytes = |bytes: u64| bytes >> 20;
        println!("{} MiB before, {} MiB after, {} MiB at most", mebibytes(before), mebibytes(after), mebibytes(most));
    }
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
    the_document_has(&text);
}

#[track_caller]
fn the_document_has(text: &str) {
    let document = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/scale.md")).unwrap();
    assert!(document.contains(text), "docs/scale.md must hold\n{text}");
}

/// Most names of a directory of `scale`, by the number of ranks, each with one file.
fn most_names(ranks: u32) -> (usize, usize) {
    let mut names: BTreeMap<PathBuf, BTreeSet<PathBuf>> = BTreeMap::new();
    // The marker of the question's directory is a name too.
    names.entry(PathBuf::new()).or_default().insert(PathBuf::from("marker"));
    for rank in 0..ranks {
        let file = NodeRole::directory_of(rank).join("scale.dat");
        for path in file.ancestors().filter(|path| *path != Path::new("")) {
            names.entry(path.parent().expect("a directory").to_owned()).or_default().insert(path.to_owned());
        }
    }
    let own = names[Path::new("")].len();
    (own, names.values().map(BTreeSet::len).max().unwrap_or(0))
}

/// Checks the table on the directories in docs/scale.md.
#[test]
fn no_directory_of_scale_has_more_than_a_thousand_names() {
    let mut text =
        String::from("| ranks | names in the question's directory | names in any directory |\n|---|---|---|\n");
    for ranks in [1, 16, 1000, DOCUMENTED as u32, 100_000] {
        let (own, most) = most_names(ranks);
        assert!(most <= 1000, "{most} names with {ranks} ranks");
        text.push_str(&format!("| {ranks} | {own} | {most} |\n"));
    }
    the_document_has(&text);
}
