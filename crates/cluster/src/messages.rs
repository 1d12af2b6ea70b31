//! What agents tell each other and their workers.

use std::path::PathBuf;

use fsdyno_guide::smallfiles::PhaseOrder;
use fsdyno_results::{Node, Note, RunRecord};
use serde::{Deserialize, Serialize};

use crate::clocks::Offset;
use crate::members::{Member, Seat};
use crate::partners::Partners;
use crate::sources::Answers;

/// A message.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Message {
    /// Up: the ranks of a branch have started.
    Hello(Vec<Member>),
    /// Down, and to the worker: all have; or why they cannot run together.
    Welcome(Welcome),
    /// Down: the parent's clock against that of the first rank, and it answers now.
    Tick(Offset),
    /// Up: what does your clock say?
    Ping,
    /// Down: this, ns.
    Pong(u64),
    /// Up: the comparison is over.
    Ticked,
    /// Up: this rank is there.
    Sign,
    /// Up: a sentence for whoever waits, about a rank that is silent or speaks again.
    Says(String),
    /// Up: the clocks of a branch.
    Clocks(Vec<(u32, Offset)>),
    /// From the first rank's worker to all: run this.
    RankOrder(Box<RankOrder>),
    /// From a worker to its agent, and up: this round is reached.
    Reached(Reached),
    /// Down, and to the workers: it is over.
    Release(Release),
    /// To all, and from a worker to its agent: a signal ends the run.
    Stop(i32),
    /// From a worker to its agent: it is alive.
    Alive,
    /// Down, and to the workers: there will be no more orders. From the first rank's worker: the same.
    Over,
}

/// What a rank learns when all ranks have started.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Welcome {
    /// How many ranks there are.
    pub(crate) ranks: u32,
    /// The seats of the branch; for a worker its own alone.
    pub(crate) seats: Vec<(u32, Seat)>,
    /// All ranks; for the first rank's worker alone.
    pub(crate) members: Vec<Member>,
    /// Why they cannot run together.
    pub(crate) problem: Option<String>,
}

/// A command line for all ranks, with all that its meaning depends on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RankOrder {
    /// Counted from 1.
    pub(crate) number: u32,
    /// The words.
    pub(crate) words: Vec<String>,
    /// Job files, variables and sizes that the words speak of, as the first rank has them.
    pub(crate) answers: Answers,
    /// The ranks below this number run it; the others wait.
    pub(crate) ranks: u32,
    /// Of what differs from run to run.
    pub(crate) seed: u64,
    /// Each rank reads what its partner wrote.
    pub(crate) shift: bool,
    /// The partners of the branch's ranks, where not all ranks run it; else those of the seats.
    pub(crate) partners: Vec<(u32, Partners)>,
    /// The directory of a question; each rank but the first has one below it.
    pub(crate) directory: Option<String>,
    /// What they do instead of running the words.
    pub(crate) task: Option<Task>,
}

/// What is no line of jobs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Task {
    /// A phase of operations on small files.
    Phase(PhaseOrder),
    /// Each removes what it has in the directory.
    Clear,
}

/// A round in the order of a run. A rank may leave some out; it is then past them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Round {
    /// It is planned, and nothing written.
    Agreed,
    /// The first rank has made the files that all share, with nothing in them.
    Made,
    /// Each rank has filled its part of them.
    Filled,
    /// They are complete.
    LaidOut,
    /// The workers of this stage are ready.
    Begins(u32),
    /// It is over, and recorded.
    Recorded,
}

/// A branch of the tree has reached a round.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Reached {
    pub(crate) order: u32,
    pub(crate) round: Round,
    /// What the ranks see before the run.
    pub(crate) seen: Vec<Seen>,
    /// Of `Made`: the files, with the bytes that each is to have.
    pub(crate) files: Vec<(PathBuf, u64)>,
    /// Of `Filled`: bytes that other ranks than the first have filled.
    pub(crate) bytes: u64,
    /// What they have measured, as one record; `None` until they have, or if all are lost.
    pub(crate) record: Option<Box<RunRecord>>,
    /// Ranks without a record.
    pub(crate) lost: Vec<Lost>,
}

impl Reached {
    pub(crate) fn new(order: u32, round: Round) -> Reached {
        let (seen, files, lost) = (Vec::new(), Vec::new(), Vec::new());
        Reached { order, round, seen, files, bytes: 0, record: None, lost }
    }
}

/// Machine and storages of a rank before the run, or why it cannot run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Seen {
    pub(crate) rank: u32,
    pub(crate) node: Result<Node, String>,
}

/// A rank without a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Lost {
    pub(crate) rank: u32,
    pub(crate) reason: String,
}

/// All ranks have reached a round, or are past it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Release {
    pub(crate) order: u32,
    pub(crate) round: Round,
    pub(crate) body: Body,
}

/// What follows from a round.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Body {
    /// Nothing more.
    Go,
    /// Of `Agreed`: they run, and this differs; or they do not.
    Agreement(Result<Vec<Note>, String>),
    /// Of `Made`.
    Files(Vec<(PathBuf, u64)>),
    /// Of `Filled`.
    Filled(u64),
    /// Of `Begins`: at this time, ns by the clock of the first rank; for a worker by its own.
    At(u64),
    /// Of `Recorded`, for the first rank's worker: the record of all.
    Record(Box<RunRecord>),
}
