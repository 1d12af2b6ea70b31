//! The generator: makes requests by a plain case or the general one, and stamps them with their intended start.

use std::sync::Arc;

use fsdyno_job::{Distribution, ReplayOptions, Seed};

use crate::backlog::Unverified;
use crate::device_zones::ZoneTurn;
use crate::durability::Syncs;
use crate::extent::Extent;
use crate::general::General;
use crate::mix::Mix;
use crate::newest::{Newest, Overwriting};
use crate::op::{BLOCK_OPS, Block, Op, OpKind, UNNUMBERED, kind_of};
use crate::pacing::{Deadlines, Pacer};
use crate::permutation::{Lookahead, Permutation};
use crate::plain::{Directions, OffsetOrder, Plain, ZonedOrder};
use crate::priorities::Priorities;
use crate::random::{Seeds, Slot, SumDraws, Tausworthe};
use crate::random_map::permutation_seed;
use crate::recorded::{LogError, LogInput, Recorded};
use crate::replay::{Replay, writes_before_sync};
use crate::spread::{Ranks, Zones};
use crate::workload::{DirectionMix, Workload, WorkloadError};

/// The result of [`Generator::refill`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refill {
    /// The block holds at least one request.
    Ops,
    /// A range starts over before the next request: drop its cached pages, then call again. The block is empty.
    Pass,
    /// No further request follows. The block is empty.
    Done,
}

/// Makes the requests of one worker, one block at a time. After its construction it allocates only once per block:
/// the array of intended starts of a paced job.
#[derive(Debug)]
pub struct Generator {
    source: Source,
    pacer: Option<Pacer>,
    priorities: Option<Box<Priorities>>,
}

#[derive(Debug)]
enum Source {
    Plain(Box<Plain>),
    General(Box<General>),
    Replay(Box<Replay>),
    Recorded(Box<Recorded>),
    /// Reads of the writes that a backlog has left, the next one last.
    Unverified(Vec<Unverified>),
    /// Requests of no bytes; the number that is left.
    Steps(u64),
}

impl Generator {
    /// Checks the workload and prepares its streams. Maps are allocated here if they are needed.
    pub fn new(workload: &Workload) -> Result<Generator, WorkloadError> {
        workload.check()?;
        let seeds = Seeds::new(workload.seed, workload.thread_number);
        let source = match plain(workload, &seeds) {
            Some(plain) => Source::Plain(Box::new(plain)),
            None => Source::General(Box::new(General::new(workload, seeds))),
        };
        let pacer = Pacer::new(&workload.pacing, seeds.of(Slot::Arrival));
        Ok(Generator { source, pacer, priorities: Priorities::new(&workload.priority_shares) })
    }

    /// Sets the instructions that sum the draws of a normal distribution.
    pub fn made_by(&mut self, sum_draws: SumDraws) {
        if let Source::Plain(plain) = &mut self.source
            && let OffsetOrder::Skewed(ranks) = &mut plain.order
        {
            ranks.made_by(sum_draws);
        }
    }

    /// Makes the first `writes` writes of the workload again, as reads without a pace. Writes to the files and
    /// offsets in `failed` are left out. Of several writes to one place in a loop, only the newest is read.
    /// [`Block::numbers`] says which write each request reads, or [`TRIMMED`](crate::TRIMMED).
    pub fn replay(workload: &Workload, writes: u64, failed: Vec<(u32, u64)>) -> Result<Generator, WorkloadError> {
        let source = Source::Replay(Box::new(Replay::new(workload, writes, failed)?));
        Ok(Generator { source, pacer: None, priorities: Priorities::new(&workload.priority_shares) })
    }

    /// Makes the requests of the workload again, without a pace and without reads among the writes.
    pub(crate) fn again(workload: &Workload) -> Result<Generator, WorkloadError> {
        let workload = Workload { backlog: None, ..workload.clone() };
        Ok(Generator { pacer: None, priorities: None, ..Generator::new(&workload)? })
    }

    /// Makes the requests of a log. If their recorded times are not used, they follow the pace of `workload`.
    pub fn recorded(workload: &Workload, log: Arc<dyn LogInput>, options: &ReplayOptions) -> Generator {
        let seeds = Seeds::new(workload.seed, workload.thread_number);
        let pacer = Pacer::new(&workload.pacing, seeds.of(Slot::Arrival)).filter(|_| options.no_stall);
        let priorities = Priorities::new(&workload.priority_shares);
        Generator { source: Source::Recorded(Box::new(Recorded::new(log, options))), pacer, priorities }
    }

    /// Makes requests of no bytes, for engines that do no I/O; 0: without end.
    pub fn steps(number: u64) -> Generator {
        let steps = if number == 0 { u64::MAX } else { number };
        Generator { source: Source::Steps(steps), pacer: None, priorities: None }
    }

    /// From now on requests obey the zones that the workload knows (`zonemode=zbd`).
    pub fn obey_zones(&mut self, workload: &Workload) {
        if let Source::General(general) = &mut self.source {
            general.obey_zones(workload);
        }
    }

    /// Places the block's request at `index` on zones that other workers write too, if its turn has come. What its zone needs
    /// before and after it is put beside it.
    pub fn take_turn(&mut self, block: &mut Block, index: usize) -> ZoneTurn {
        match &mut self.source {
            Source::General(general) => general.take_turn(block, index),
            _ => ZoneTurn::Taken,
        }
    }

    /// The request of a turn has ended; `None`: the worker ends, and what it has not done does not count.
    pub fn leave_turn(&mut self, op: Option<&Op>, succeeded: bool) {
        if let Source::General(general) = &mut self.source {
            general.leave_turn(op, succeeded);
        }
    }

    /// The error because of which the requests ended before their log.
    pub fn fault(&self) -> Option<&LogError> {
        match &self.source {
            Source::Recorded(recorded) => recorded.fault(),
            _ => None,
        }
    }

    /// Number of the first `writes` writes of the workload that came before its last fsync or fdatasync.
    pub fn writes_before_sync(workload: &Workload, writes: u64) -> Result<u64, WorkloadError> {
        writes_before_sync(workload, writes)
    }

    /// Takes the reads that are left of a job with a backlog ([`Workload::backlog`]), without a pace. Writes to the
    /// files and offsets in `failed` are left out. `None`: there is no backlog.
    pub fn unverified(&mut self, failed: &[(u32, u64)]) -> Option<Generator> {
        let Source::General(general) = &mut self.source else { return None };
        let mut left = general.take_unverified()?;
        left.retain(|(write, _)| !failed.contains(&(write.file, write.offset)));
        left.reverse();
        Some(Generator { source: Source::Unverified(left), pacer: None, priorities: self.priorities.clone() })
    }

    /// Whether [`replay`](Generator::replay) reads a place once per write, because finding the newest write would
    /// take too much memory.
    pub fn replays_each_write(workload: &Workload) -> bool {
        matches!(Newest::of(workload), Overwriting::TooMuch)
    }

    /// Whether each block is trimmed and then written (`trimwrite`).
    pub fn trims_then_writes(&self) -> bool {
        matches!(&self.source, Source::General(general) if general.trims_then_writes())
    }

    /// Ends the job. A workload that trims and then writes still makes the writes of trimmed blocks.
    pub fn end(&mut self) {
        if let Source::General(general) = &mut self.source {
            general.end();
        }
    }

    /// Allows this number of further requests, where a workload and no log makes them. Those of `block` from index `next` on
    /// have not started, and come first.
    pub fn go_on(&mut self, requests: u64, block: &mut Block, next: usize) {
        let kept = ((block.len - next) as u64).min(requests);
        block.len = next + kept as usize;
        match &mut self.source {
            Source::Plain(plain) => plain.extent.allow(requests - kept),
            Source::General(general) => general.allow(requests - kept),
            Source::Replay(_) | Source::Recorded(_) | Source::Unverified(_) | Source::Steps(_) => {}
        }
    }

    /// Fills the block with up to 64 requests, never across the end of a pass.
    pub fn refill(&mut self, block: &mut Block) -> Refill {
        block.len = 0;
        // Only plain requests are alike. Priorities that another generator gave are taken away; its own are given anew.
        let prioritizes = self.priorities.is_some();
        block.alike &= matches!(self.source, Source::Plain(_)) && (prioritizes || !block.prioritized);
        block.prioritized = prioritizes;
        let refill = match &mut self.source {
            Source::Plain(plain) => plain.refill(block),
            Source::General(general) => general.refill(block),
            Source::Replay(replay) => replay.refill(block),
            Source::Recorded(recorded) => {
                if recorded.refill(block) {
                    Refill::Ops
                } else {
                    Refill::Done
                }
            }
            Source::Unverified(left) => refill_with_reads(left, block),
            Source::Steps(left) => {
                block.len = (*left).min(BLOCK_OPS as u64) as usize;
                *left -= block.len as u64;
                block.ops.fill(Op { offset: 0, length: 0, file: 0, kind: OpKind::Read, priority: 0 });
                if block.len > 0 { Refill::Ops } else { Refill::Done }
            }
        };
        if let Some(pacer) = &mut self.pacer {
            pacer.stamp(block, matches!(&self.source, Source::Plain(plain) if plain.makes_alike()));
        }
        if let Some(priorities) = &mut self.priorities {
            priorities.stamp(block);
        }
        refill
    }

    /// With [`Workload::open_files`]: the file that was finished first and was not returned yet. The latest block may
    /// still name it. `None`: there is none, or none is known.
    pub fn next_finished(&mut self) -> Option<u32> {
        match &mut self.source {
            Source::General(general) => general.next_finished(),
            _ => None,
        }
    }

    /// Whether requests after the latest block may go to this file.
    pub fn serves(&self, file: u32) -> bool {
        match &self.source {
            Source::General(general) => general.serves(file as usize),
            _ => true,
        }
    }

    /// The ramp is over: intended starts count from now on. Requests of `block` from index `next` on have not
    /// started; they are stamped again.
    pub fn restart_pacing(&mut self, block: &mut Block, next: usize) {
        if let Some(pacer) = &mut self.pacer {
            pacer.restart(block, next);
        }
    }
}

fn refill_with_reads(left: &mut Vec<Unverified>, block: &mut Block) -> Refill {
    let numbers = block.numbers.get_or_insert_with(|| Box::new([UNNUMBERED; BLOCK_OPS]));
    while block.len < BLOCK_OPS
        && let Some((write, number)) = left.pop()
    {
        block.ops[block.len] = Op { kind: OpKind::Read, ..write };
        numbers[block.len] = number;
        block.len += 1;
    }
    if block.len > 0 { Refill::Ops } else { Refill::Done }
}

/// The plain case of this workload; `None`: it needs the general one.
fn plain(workload: &Workload, seeds: &Seeds) -> Option<Plain> {
    let [file] = workload.files.as_slice() else { return None };
    let size = plain_size(workload)?;
    let blocks = file.length / size;
    let directions = match workload.direction_mix() {
        DirectionMix::Only(direction) => Directions::Only(kind_of(direction)),
        DirectionMix::Mixed(read_percent, second) => {
            Directions::Mixed(Mix::new(seeds.of(Slot::Mix), read_percent, kind_of(second)))
        }
        DirectionMix::TrimThenWrite => return None,
    };
    let mixed = matches!(directions, Directions::Mixed(_));
    let seed = seeds.of(Slot::Offset);
    let zones = Zones::new(&workload.pattern.distribution, seeds);
    let order = match (workload.pattern.access.random, mixed) {
        (true, _) if workload.covers_each_block_once() => {
            let permutation = Permutation::new(blocks, permutation_seed(seed, 0));
            OffsetOrder::Permuted { blocks: Lookahead::new(permutation), left: blocks }
        }
        (true, _) if zones.is_some() => {
            let DirectionMix::Only(direction) = workload.direction_mix() else { return None };
            if workload.wide_offsets(blocks) {
                return None;
            }
            let stream = Tausworthe::new(seed);
            OffsetOrder::Zoned(Box::new(ZonedOrder { zones: zones?, direction, stream, seed }))
        }
        (true, _) if workload.pattern.distribution != Distribution::Uniform => {
            let ranks = Ranks::new(&workload.pattern.distribution, blocks, &file.name, seeds)?;
            OffsetOrder::Skewed(Box::new(ranks.with_table()))
        }
        (true, _) if workload.wide_offsets(blocks) => return None,
        (true, _) => OffsetOrder::Uniform { stream: Tausworthe::new(seed), seed },
        (false, true) => OffsetOrder::SequentialMix { next: [0; 2], chosen: None },
        (false, false) => OffsetOrder::Sequential { next: 0 },
    };
    Some(Plain {
        start: file.start,
        length: file.length,
        size,
        order,
        directions,
        extent: Extent::new(workload),
        repeats: workload.pattern.seed == Seed::Repeated,
    })
}

/// The size of all requests; `None`: the workload uses a feature that plain cases do not have.
fn plain_size(workload: &Workload) -> Option<u64> {
    let pattern = &workload.pattern;
    let size = workload.one_size()?;
    let two_rates = |second| Deadlines::of_both(&workload.pacing, second, 0).is_some();
    let rare = pattern.modifier.is_some()
        || pattern.sizes_by_sequence
        || pattern.generator.is_some()
        || pattern.strided.is_some()
        || pattern.zoned.is_some()
        || workload.serves_again()
        || pattern.access.random && pattern.block_align.is_some()
        || pattern.access.random && workload.directions().any(|direction| pattern.random_percent[direction] < 100)
        || Syncs::asked_for(&workload.durability)
        || workload.trims.is_some()
        || workload.backlog.is_some()
        || matches!(workload.direction_mix(), DirectionMix::Mixed(_, second) if two_rates(second));
    (!rare).then_some(size)
}
