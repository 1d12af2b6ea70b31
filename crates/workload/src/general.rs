//! The general generator: everything that the plain cases leave out, such as several files, drawn sizes, skips,
//! uneven spreads, syncs, two rates.

use fsdyno_job::{Direction, Seed};

use crate::backlog::{Backlog, Unverified};
use crate::device_zones::{DeviceZones, ZoneTurn};
use crate::durability::Syncs;
use crate::extent::Extent;
use crate::generator::Refill;
use crate::mix::Mix;
use crate::op::{BLOCK_OPS, Block, Op, OpKind, UNNUMBERED, kind_of};
use crate::pacing::Deadlines;
use crate::place::Placement;
use crate::random::{Seeds, Slot};
use crate::service::Service;
use crate::trims::Trims;
use crate::workload::{DirectionMix, Workload};

/// Makes one request at a time, with every feature of the language.
#[derive(Clone, Debug)]
pub(crate) struct General {
    placement: Placement,
    service: Service,
    chooser: Chooser,
    syncs: Syncs,
    extent: Extent,
    repeats: bool,
    trims: Option<Trims>,
    backlog: Option<Backlog>,
    /// Whether each loop is read back before the next.
    flushes: bool,
    /// A request that was made, but comes after the end of a pass.
    held: Option<(Op, u64)>,
    /// Whether a range started over before the last request.
    passed: bool,
    /// Whether each block is trimmed and then written. Not so if writes and trims have different sizes, because they
    /// then move independently.
    pairs: bool,
    /// The direction of all requests, if usual requests are made several at a time.
    runs: Option<Direction>,
}

/// Chooses the direction of the next request.
#[derive(Clone, Debug)]
enum Chooser {
    Only(Direction),
    /// Reads and another direction. If both have a rate, the one that is due first is chosen.
    Mixed(Mix, Direction, Option<Box<Deadlines>>),
    /// Each block is trimmed and then written.
    TrimThenWrite,
}

impl Chooser {
    fn new(workload: &Workload, seeds: &Seeds) -> Self {
        match workload.direction_mix() {
            DirectionMix::Only(direction) => Chooser::Only(direction),
            DirectionMix::Mixed(read_percent, second) => {
                let mix = Mix::new(seeds.of(Slot::Mix), read_percent, kind_of(second));
                let deadlines = Deadlines::of_both(&workload.pacing, second, seeds.of(Slot::Arrival));
                Chooser::Mixed(mix, second, deadlines.map(Box::new))
            }
            DirectionMix::TrimThenWrite => Chooser::TrimThenWrite,
        }
    }

    fn choose(&mut self, placement: &Placement, file: usize) -> Direction {
        match self {
            Chooser::Only(direction) => *direction,
            Chooser::TrimThenWrite => placement.next_of_pair(file),
            Chooser::Mixed(mix, second, deadlines) => {
                let drawn = mix.choose();
                let chosen = deadlines.as_ref().map_or(drawn, |deadlines| deadlines.first_due(drawn));
                [Direction::Read, *second][chosen]
            }
        }
    }

    fn issue(&mut self, direction: Direction, length: u64) {
        if let Chooser::Mixed(mix, _, deadlines) = self {
            let number = usize::from(direction != Direction::Read);
            mix.issue(number);
            if let Some(deadlines) = deadlines {
                deadlines.issue(number, length);
            }
        }
    }

    fn next_pass(&mut self, repeats: bool) {
        if let Chooser::Mixed(mix, ..) = self {
            mix.next_pass(repeats);
        }
    }
}

impl General {
    pub(crate) fn new(workload: &Workload, seeds: Seeds) -> Self {
        let wide = workload.pattern.generator == Some(fsdyno_job::RandomGenerator::Tausworthe64);
        let sizes = &workload.pattern.block_size;
        let placement = Placement::new(workload, seeds);
        let extras = Syncs::asked_for(&workload.durability) || workload.trims.is_some() || workload.backlog.is_some();
        let runs = match workload.direction_mix() {
            DirectionMix::Only(direction) if !extras && !workload.serves_again() => Some(direction),
            _ => None,
        };
        General {
            runs: runs.filter(|direction| placement.runs(*direction)),
            placement,
            service: Service::new(workload, &seeds, wide),
            chooser: Chooser::new(workload, &seeds),
            syncs: Syncs::new(&workload.durability, workload.files.len()),
            extent: Extent::new(workload),
            repeats: workload.pattern.seed == Seed::Repeated,
            trims: Trims::new(workload, &seeds),
            backlog: Backlog::new(workload),
            flushes: !workload.starts_over && !workload.time_based,
            held: None,
            passed: false,
            pairs: workload.direction_mix() == DirectionMix::TrimThenWrite
                && (workload.pattern.access.random || sizes[Direction::Trim] == sizes[Direction::Write]),
        }
    }

    /// Whether each block is trimmed and then written.
    pub(crate) fn trims_then_writes(&self) -> bool {
        self.pairs
    }

    /// From now on, makes only the writes of trimmed blocks.
    pub(crate) fn end(&mut self) {
        self.extent.end();
    }

    /// From now on, makes only this number of requests.
    pub(crate) fn allow(&mut self, requests: u64) {
        self.extent.allow(requests);
    }

    pub(crate) fn refill(&mut self, block: &mut Block) -> Refill {
        block.len = 0;
        if self.backlog.is_some() && block.numbers.is_none() {
            block.numbers = Some(Box::new([UNNUMBERED; BLOCK_OPS]));
        }
        // What other workers write decides where the next request goes.
        let most = if self.placement.shares_zones() { 1 } else { BLOCK_OPS };
        while block.len < most {
            self.run(block);
            if block.len == most {
                break;
            }
            let Some((op, number)) = self.held.take().or_else(|| self.step()) else {
                return if block.len > 0 { Refill::Ops } else { Refill::Done };
            };
            if std::mem::take(&mut self.passed) {
                self.held = Some((op, number));
                // If the block contains requests, the end of the pass is reported by the next call.
                self.passed = block.len > 0;
                return if block.len > 0 { Refill::Ops } else { Refill::Pass };
            }
            block.ops[block.len] = op;
            if let Some(numbers) = &mut block.numbers {
                numbers[block.len] = number;
            }
            block.len += 1;
        }
        Refill::Ops
    }

    /// Makes usual requests, several at a time, up to a request that [`step`](General::step) must make.
    fn run(&mut self, block: &mut Block) {
        let Some(direction) = self.runs.filter(|_| self.held.is_none() && !self.passed) else { return };
        let (ios, bytes) = self.extent.left();
        let ops = &mut block.ops[block.len..];
        let most = (ops.len() as u64).min(ios) as usize;
        let (count, moved) = self.placement.run(direction, kind_of(direction), &mut ops[..most], bytes);
        self.extent.issue(count as u64, moved);
        if direction == Direction::Write {
            self.extent.write(moved);
        }
        block.len += count;
    }

    /// From now on requests obey the zones that the workload knows.
    pub(crate) fn obey_zones(&mut self, workload: &Workload) {
        self.placement.obey_zones(workload);
    }

    /// Takes the turn of a request on zones that are shared.
    pub(crate) fn take_turn(&mut self, block: &mut Block, index: usize) -> ZoneTurn {
        let asked = block.ops[index].length;
        let turn = self.placement.take_turn(block, index);
        let transfer = block.ops[index..block.len].iter().find(|op| op.kind.direction().is_some());
        if let Some(op) = transfer {
            // The rest of a zone may be shorter than the request was to be.
            self.extent.take_back(asked.saturating_sub(op.length));
        }
        turn
    }

    /// A request on shared zones has ended; `None`: the worker ends.
    pub(crate) fn leave_turn(&mut self, op: Option<&Op>, succeeded: bool) {
        match op {
            Some(op) => self.placement.leave(op, succeeded),
            None => self.placement.device_zones.iter_mut().for_each(DeviceZones::leave_all),
        }
    }

    /// Whether further requests may go to this file.
    pub(crate) fn serves(&self, file: usize) -> bool {
        self.service.holds(file)
    }

    /// A file that is finished.
    pub(crate) fn next_finished(&mut self) -> Option<u32> {
        self.service.next_finished()
    }

    /// The writes that are left in the backlog.
    pub(crate) fn take_unverified(&mut self) -> Option<Vec<Unverified>> {
        self.backlog.take().map(Backlog::into_unverified)
    }

    /// The next request, and the number of the write that it reads back; `None` at the end.
    fn step(&mut self) -> Option<(Op, u64)> {
        if let Some(op) = self.placement.device_zones.iter_mut().find_map(DeviceZones::following) {
            return Some((op, UNNUMBERED));
        }
        loop {
            if let Some(read) = self.extra() {
                return Some(read);
            }
            if self.extent.is_over() {
                return self.write_of_trimmed();
            }
            if let Some(sync) = self.syncs.due() {
                return Some((sync, UNNUMBERED));
            }
            if !self.extent.pass_is_over()
                && let Some(op) = self.attempt()
            {
                let zones = self.placement.device_zones.get_mut(op.file as usize);
                return Some((zones.map_or(op, |zones| zones.led(op)), UNNUMBERED));
            }
            if let Some(read) = self.rest_of_pass() {
                return Some(read);
            }
            if let Some(write) = self.write_of_trimmed() {
                return Some(write);
            }
            if !self.extent.starts_over() {
                return None;
            }
            self.passed = true;
            self.placement.start_over(self.repeats);
            self.chooser.next_pass(self.repeats);
            self.service.start_over(self.repeats);
        }
    }

    /// The write of the first file that has a trimmed block.
    fn write_of_trimmed(&mut self) -> Option<(Op, u64)> {
        let file = self.placement.files.iter().position(|file| file.trimmed && self.pairs)?;
        let write = self.transfer(file, Direction::Write);
        self.placement.files[file].trimmed = false;
        write.map(|op| (op, UNNUMBERED))
    }

    /// Requests besides the pattern: reads of written blocks, and trims.
    fn extra(&mut self) -> Option<(Op, u64)> {
        if !self.extent.is_over()
            && let Some((read, number)) = self.backlog.as_mut().and_then(Backlog::due)
        {
            self.extent.issue(1, 0);
            if let Some(trims) = &mut self.trims {
                trims.verified(&read);
            }
            return Some((read, number));
        }
        let trims = self.trims.as_mut()?;
        let trim = trims.due()?;
        if let Some(backlog) = &mut self.backlog {
            backlog.trimmed(&trim, trims.read_as_zeroes());
        }
        Some((trim, UNNUMBERED))
    }

    /// After a pass: the reads of its writes that are left, before they are overwritten.
    fn rest_of_pass(&mut self) -> Option<(Op, u64)> {
        let backlog = self.backlog.as_mut().filter(|_| self.flushes)?;
        backlog.flush();
        self.extra()
    }

    /// The next transfer; `None` when all files are done.
    fn attempt(&mut self) -> Option<Op> {
        loop {
            let files = &self.placement.files;
            let file = self.service.choose(files.len(), |file| files[file].done)?;
            let mut direction = self.chooser.choose(&self.placement, file);
            if matches!(self.chooser, Chooser::Mixed(..)) && self.placement.lacks_data(file, direction) {
                // On empty zones a mix begins with writes.
                direction = Direction::Write;
            }
            if let Some(op) = self.transfer(file, direction) {
                return Some(op);
            }
            let again = self.service.serves_again() && self.placement.serve_again(file);
            self.placement.files[file].done = !again;
            self.service.finish(file);
        }
    }

    /// The next transfer of this direction in this file; `None` when no request fits any more.
    fn transfer(&mut self, file: usize, direction: Direction) -> Option<Op> {
        let spot = self.placement.place(file, direction)?;
        self.passed |= spot.wrapped;
        let op =
            Op { offset: spot.offset, length: spot.length, file: file as u32, kind: kind_of(direction), priority: 0 };
        Some(self.issue(direction, op))
    }

    fn issue(&mut self, direction: Direction, op: Op) -> Op {
        self.extent.issue(1, op.length);
        self.chooser.issue(direction, op.length);
        if op.kind == OpKind::Write {
            self.extent.write(op.length);
            self.syncs.wrote(&op);
        }
        if let Some(trims) = &mut self.trims {
            trims.issued(&op);
        }
        if let Some(backlog) = &mut self.backlog {
            backlog.issued(&op);
        }
        op
    }
}
