//! The messages between agents, and between agents and workers.

use std::path::PathBuf;

use fsdyno_guide::smallfiles::PhaseOrder;
use fsdyno_results::{Note, RunRecord};
use serde::{Deserialize, Serialize};

use crate::agreement::Views;
use crate::clocks::Offset;
use crate::members::{Member, RankPartners};
use crate::partners::Partners;
use crate::same_storage::Proof;
use crate::sources::Answers;

/// A message. Up: from a child to its parent; down: from a parent to its children.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Message {
    /// Up: the ranks of a branch have started.
    Hello(Vec<Member>),
    /// Down, and to the worker: all have started, or why they cannot run together.
    Welcome(Welcome),
    /// Down: the parent's clock offset from the first rank; the parent answers pings now.
    Tick(Offset),
    /// Up: asks for the clock.
    Ping,
    /// Down: the clock, ns.
    Pong(u64),
    /// Up: the comparison is over.
    Ticked,
    /// Up: a sign of life.
    Sign,
    /// Up: a message for the user, about a rank that is silent or speaks again.
    Says(String),
    /// Up: the clocks of a branch.
    Clocks(Vec<(u32, Offset)>),
    /// From the first rank's worker to all: run this.
    RankOrder(Box<RankOrder>),
    /// From a worker to its agent, and up: a round is reached.
    Reached(Reached),
    /// Down, and to the workers: all have reached the round.
    Release(Release),
    /// To all, and from a worker to its agent: a signal ends the run.
    Stop(i32),
    /// From a worker to its agent: a sign of life.
    Alive,
    /// Down, and to the workers: there are no more orders. From the first rank's worker: the same.
    Over,
}

impl Message {
    /// The records in it, which follow its head.
    pub(crate) fn records(&self) -> Option<&Records> {
        match self {
            Message::Reached(reached) => Some(&reached.records),
            Message::Release(release) => Some(&release.records),
            _ => None,
        }
    }

    pub(crate) fn records_mut(&mut self) -> Option<&mut Records> {
        match self {
            Message::Reached(reached) => Some(&mut reached.records),
            Message::Release(release) => Some(&mut release.records),
            _ => None,
        }
    }
}

/// What a rank is told when all ranks have started.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Welcome {
    /// Number of ranks.
    pub(crate) ranks: u32,
    /// The seats of the branch; for a worker only its own.
    pub(crate) seats: Vec<(u32, RankPartners)>,
    /// All ranks; only for the first rank's worker.
    pub(crate) members: Vec<Member>,
    /// Why they cannot run together.
    pub(crate) problem: Option<String>,
}

/// A command line for all ranks, with everything that its meaning depends on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RankOrder {
    /// The order's number, counted from 1.
    pub(crate) number: u32,
    /// The words.
    pub(crate) words: Vec<String>,
    /// Job files, variables and sizes that the words refer to, as the first rank sees them.
    pub(crate) answers: Answers,
    /// The number of ranks that run it; the others wait.
    pub(crate) ranks: u32,
    /// The seed of everything that must differ from run to run.
    pub(crate) seed: u64,
    /// Whether each rank reads what its partner wrote.
    pub(crate) shift: bool,
    /// Whether each rank goes on after its runtime up to what the others have done.
    pub(crate) wears_out: bool,
    /// Whether the names of objects end with the rank, so that each rank has its own.
    pub(crate) own_objects: bool,
    /// The partners of the branch's ranks, if not all ranks run it; otherwise those of the seats apply.
    pub(crate) partners: Vec<(u32, Partners)>,
    /// The directory of a question; each rank but the first has a subdirectory.
    pub(crate) directory: Option<String>,
    /// The task to do in place of running the words.
    pub(crate) task: Option<Task>,
    /// What shows that the ranks are on one storage; a question's directory does so by itself.
    pub(crate) proof: Proof,
}

/// A task other than a line of jobs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Task {
    /// A phase of operations on small files.
    Phase(PhaseOrder),
    /// Each rank removes its files in the directory.
    Clear,
}

/// The rounds, in the order of a run. A rank may skip some; it then counts as having reached them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Round {
    /// The run is planned, and nothing was written.
    Agreed,
    /// The first rank has made the shared files, empty.
    Made,
    /// Each rank has filled its part of them.
    Filled,
    /// The files are complete.
    LaidOut,
    /// The workers of this stage are ready.
    Begins(u32),
    /// The time of a run that wears out is over.
    Worn,
    /// The run is over and recorded.
    Recorded,
}

/// A branch of the tree has reached a round.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Reached {
    pub(crate) order: u32,
    pub(crate) round: Round,
    /// What the ranks see before the run.
    pub(crate) seen: Views,
    /// With `Made`: the files, with their final sizes.
    pub(crate) files: Vec<(PathBuf, u64)>,
    /// With `Filled`: bytes that other ranks than the first have filled.
    pub(crate) bytes: u64,
    /// With `Worn`: the most requests that a rank has done.
    pub(crate) most: u64,
    /// The records of the branch's ranks, at the end of the run.
    #[serde(skip)]
    pub(crate) records: Records,
    /// Ranks without a record.
    pub(crate) lost: Vec<Lost>,
}

impl Reached {
    pub(crate) fn new(order: u32, round: Round) -> Reached {
        let (seen, records) = (Views::default(), Records::default());
        Reached { order, round, seen, files: Vec::new(), bytes: 0, most: 0, records, lost: Vec::new() }
    }
}

/// Records of ranks as bytes: the number of a rank, the length, and the record. The ranks between pass them on unread.
#[derive(Clone, Debug, Default)]
pub(crate) struct Records(Vec<Vec<u8>>);

impl Records {
    /// The record of one rank.
    pub(crate) fn of(rank: u32, record: RunRecord) -> Records {
        let record = record.into_bytes();
        let length = record.len() as u32;
        Records(vec![[&rank.to_le_bytes()[..], &length.to_le_bytes(), &record].concat()])
    }

    /// Records that were received together.
    pub(crate) fn of_part(bytes: Vec<u8>) -> Records {
        Records(vec![bytes])
    }

    /// Adds those of another branch.
    pub(crate) fn extend(&mut self, other: Records) {
        self.0.extend(other.0);
    }

    /// The bytes, in as many parts as were received.
    pub(crate) fn parts(&self) -> &[Vec<u8>] {
        &self.0
    }

    /// The parts, each alone.
    pub(crate) fn into_parts(self) -> impl Iterator<Item = Records> {
        self.0.into_iter().map(Records::of_part)
    }

    /// Reads the records. A rank whose record is damaged is lost.
    pub(crate) fn read(self, records: &mut Vec<RunRecord>, lost: &mut Vec<Lost>) {
        for part in self.0 {
            let mut rest = &part[..];
            while let Some((rank, record, after)) = next_record(rest) {
                rest = after;
                match RunRecord::of_bytes(record) {
                    Some(record) => records.push(record),
                    None => lost.push(Lost { rank, reason: "its record came damaged".to_owned() }),
                }
            }
        }
    }
}

/// The first record with its rank, and what follows it.
fn next_record(bytes: &[u8]) -> Option<(u32, &[u8], &[u8])> {
    let (rank, bytes) = bytes.split_first_chunk()?;
    let (length, bytes) = bytes.split_first_chunk()?;
    let (record, rest) = bytes.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    Some((u32::from_le_bytes(*rank), record, rest))
}

/// A rank without a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Lost {
    pub(crate) rank: u32,
    pub(crate) reason: String,
}

/// All ranks have reached a round, or skipped it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Release {
    pub(crate) order: u32,
    pub(crate) round: Round,
    pub(crate) body: Body,
    /// With `Body::Records`: records of ranks.
    #[serde(skip)]
    pub(crate) records: Records,
}

impl Release {
    pub(crate) fn new(order: u32, round: Round, body: Body) -> Release {
        Release { order, round, body, records: Records::default() }
    }
}

/// The result of a round.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Body {
    /// No more than that all may go on.
    Go,
    /// Of `Agreed`: notes on differences, or why they do not run.
    Agreement(Result<Vec<Note>, String>),
    /// Of `Made`: the files.
    Files(Vec<(PathBuf, u64)>),
    /// Of `Filled`: the bytes.
    Filled(u64),
    /// Of `Worn`: the most requests that a rank has done.
    Most(u64),
    /// Of `Begins`: the start, ns by the first rank's clock; for a worker by its own.
    At(u64),
    /// Of `Recorded`, for the first rank's worker: some of the records; more messages follow.
    Records,
    /// Of `Recorded`, for the first rank's worker: it has all records.
    Ended(Ended),
}

/// What the ranks have in common at the end of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Ended {
    /// Ranks without a record.
    pub(crate) lost: Vec<Lost>,
    /// The clocks of all ranks before the run.
    pub(crate) clocks_before: Vec<(u32, Offset)>,
    /// The clocks of all ranks after the run.
    pub(crate) clocks_after: Vec<(u32, Offset)>,
}
