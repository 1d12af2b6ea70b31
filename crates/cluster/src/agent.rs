//! The agent: the process of a rank that communicates with the other ranks.

mod comparison;
mod heartbeat;
#[cfg(test)]
mod many_ranks_tests;
mod progress;
mod worker;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use fsdyno_os::clock::{Clock, RealClock};
use fsdyno_results::RunRecord;
use fsdyno_run::Bounds;

use crate::clocks::Offset;
use crate::frames;
use crate::joined;
use crate::members::{self, Member, RankPartners};
use crate::messages::{Body, Ended, Lost, Message, RankOrder, Reached, Records, Release, Round, Welcome};
use crate::tree;
use comparison::Comparison;
use heartbeat::Heartbeat;
use progress::Progress;
pub use worker::WorkerProcess;
use worker::{Event, Worker};

/// Interval at which messages are received. Checking MPI takes some microseconds; a start is agreed on long before it.
const LOOK: Duration = Duration::from_millis(4);

/// How long a rank that compares clocks looks for a message without a pause, ns: longer than round trips of a network take.
const FULL_SPEED_NS: u64 = 500_000;

/// The pause between two looks of a rank that has waited longer than that, ns: the other rank does not take part yet.
const PAUSE_NS: u64 = 100_000;

/// Time from the agreement on a start to the start, for one level of the tree, ns: messages need it to reach all ranks.
const START_NS: u64 = 150_000_000;

/// SIGTERM, for an end that nobody has asked for.
const TERM: i32 = 15;

/// The additional time for each further level, ns.
const LEVEL_NS: u64 = 50_000_000;

/// Carries messages to other ranks: in order, and whole.
pub trait Transport {
    /// The number of this rank.
    fn rank(&self) -> usize;
    /// The number of ranks.
    fn ranks(&self) -> usize;
    /// Sends a message.
    fn send(&mut self, to: usize, bytes: &[u8]);
    /// The next received message, with its sender.
    fn receive(&mut self) -> Option<(usize, Vec<u8>)>;
}

/// How an agent ended.
#[derive(Debug)]
pub enum Ending {
    /// This is the first rank, and its worker has done what it was asked for.
    Over,
    /// This is another rank.
    Followed {
        /// The signal that ended all ranks.
        signal: Option<u8>,
    },
    /// The first rank's worker was lost; the record of the others, if there is one.
    Lost(Option<Box<RunRecord>>),
}

/// The agent of a rank.
pub struct Agent<T> {
    transport: T,
    clock: RealClock,
    worker: Worker,
    /// Messages that came while another was waited for.
    queue: VecDeque<(usize, Message)>,
    signal: Arc<AtomicI32>,
    passed_on: i32,
    /// The ranks of the branch, until all ranks have started.
    members: Vec<Member>,
    /// The seats of all ranks, by rank; only on the first rank.
    seats: Vec<RankPartners>,
    /// Number of children that have sent Hello.
    greeted: usize,
    /// This clock's offset from the first rank's.
    offset: Offset,
    comparison: Comparison,
    heartbeat: Heartbeat,
    progress: Progress,
    /// The clocks of all ranks at the previous comparison.
    clocks_before: Vec<(u32, Offset)>,
    /// The records of all ranks and the ranks without one, which wait for the clocks.
    recorded: Option<(Records, Vec<Lost>)>,
    over: bool,
    left: Option<Box<RunRecord>>,
    /// Shows the user a message on the first rank.
    say: fn(&str),
}

impl<T: Transport> Agent<T> {
    /// Makes the agent of this worker. `version`: the program's; `bounds`: how long a worker may be silent; `silence`:
    /// how long another rank may be before it is named; `signal`: holds a signal that has come; `say`: shows the user a
    /// message on the first rank.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn begin(
        transport: T,
        version: &str,
        worker: WorkerProcess,
        bounds: Bounds,
        silence: Duration,
        signal: Arc<AtomicI32>,
        say: fn(&str),
    ) -> std::io::Result<Agent<T>> {
        let rank = transport.rank();
        let children = tree::children(rank, transport.ranks()).count();
        Ok(Agent {
            clock: RealClock::shared(),
            worker: Worker::begin(worker, bounds)?,
            queue: VecDeque::new(),
            signal,
            passed_on: 0,
            members: vec![Member::here(rank as u32, version)],
            seats: Vec::new(),
            greeted: 0,
            offset: Offset::default(),
            comparison: Comparison::default(),
            heartbeat: Heartbeat::new(tree::children(rank, transport.ranks()), silence),
            progress: Progress::new(children),
            clocks_before: Vec::new(),
            recorded: None,
            over: false,
            left: None,
            say,
            transport,
        })
    }

    /// Tells a worker that the ranks cannot run together, and why; the worker then ends.
    pub fn refuse(mut worker: WorkerProcess, problem: String) -> Ending {
        let welcome = Message::Welcome(Welcome { problem: Some(problem), ..Welcome::default() });
        // A worker that is gone has reported its status already.
        let _ = frames::write(&mut worker.orders, &welcome);
        Ending::Over
    }

    /// Serves until everything is over.
    pub fn run(mut self) -> Ending {
        self.greet();
        while !self.over {
            match self.worker.events.recv_timeout(LOOK) {
                Ok(Event::Said(message)) => self.hear_worker(message),
                Ok(Event::Gone) => self.lose_worker(None),
                Err(RecvTimeoutError::Timeout) => {}
                // The worker's end was received already.
                Err(RecvTimeoutError::Disconnected) => self.clock.sleep_until_ns(self.clock.now_ns() + 4_000_000),
            }
            while let Some((from, message)) = self.queue.pop_front().or_else(|| self.receive()) {
                self.hear(from, message);
            }
            self.look_at_silence();
            self.pass_on_signal();
            if let Some(reason) = self.worker.silence(self.clock.now_ns()) {
                self.lose_worker(Some(reason));
            }
        }
        match (self.is_first(), &self.worker.lost) {
            (false, _) => Ending::Followed { signal: u8::try_from(self.passed_on).ok().filter(|signal| *signal > 0) },
            (true, None) => Ending::Over,
            (true, Some(_)) => Ending::Lost(self.left),
        }
    }

    /// Sends a sign of life to the parent, and reports children that send none.
    fn look_at_silence(&mut self) {
        let now_ns = self.clock.now_ns();
        if self.heartbeat.is_due(now_ns) {
            self.send_up(&Message::Sign);
        }
        for sentence in self.heartbeat.silent(now_ns) {
            self.pass_up(sentence);
        }
    }

    /// Passes a message for the user up to the first rank.
    fn pass_up(&mut self, sentence: String) {
        match self.is_first() {
            true => (self.say)(&sentence),
            false => self.send_up(&Message::Says(sentence)),
        }
    }

    fn is_first(&self) -> bool {
        self.transport.rank() == 0
    }

    fn children(&self) -> Vec<usize> {
        tree::children(self.transport.rank(), self.transport.ranks()).collect()
    }

    fn send(&mut self, to: usize, message: &Message) {
        self.transport.send(to, &frames::encoded(message));
    }

    fn send_up(&mut self, message: &Message) {
        if let Some(parent) = tree::parent(self.transport.rank()) {
            self.send(parent, message);
        }
    }

    fn send_down(&mut self, message: &Message) {
        let bytes = frames::encoded(message);
        self.children().into_iter().for_each(|child| self.transport.send(child, &bytes));
    }

    /// The next received message. A malformed one is ignored; only our agents use the communicator.
    fn receive(&mut self) -> Option<(usize, Message)> {
        let (from, bytes) = self.transport.receive()?;
        if let Some(sentence) = self.heartbeat.heard(from, self.clock.now_ns()) {
            self.pass_up(sentence);
        }
        Some((from, frames::decoded(bytes).ok()?))
    }

    /// Waits for the next received message, at first at full speed: a round trip must not last longer than the network needs.
    /// Other ranks of this machine get the processor in between, and a rank that is silent is named here, too.
    fn wait(&mut self) -> (usize, Message) {
        let at_full_speed_until_ns = self.clock.now_ns() + FULL_SPEED_NS;
        loop {
            if let Some(received) = self.receive() {
                return received;
            }
            self.look_at_silence();
            self.pass_on_signal();
            let now_ns = self.clock.now_ns();
            if now_ns < at_full_speed_until_ns {
                std::thread::yield_now();
            } else {
                self.clock.sleep_until_ns(now_ns + PAUSE_NS);
            }
        }
    }

    fn hear_worker(&mut self, message: Message) {
        self.worker.heard_ns = self.clock.now_ns();
        match message {
            Message::RankOrder(order) => self.order(order),
            Message::Reached(reached) if self.worker.lost.is_none() => {
                self.worker.waits_for = Some(reached.round);
                self.reach(0, reached);
            }
            // The signal was sent to this worker alone, or the worker got it from here.
            Message::Stop(signal) if self.passed_on == 0 => self.stop_others(signal),
            Message::Over if self.is_first() => self.end(),
            _ => {}
        }
    }

    fn hear(&mut self, from: usize, message: Message) {
        match message {
            Message::Hello(members) => {
                if let Some(child) = members.first() {
                    self.heartbeat.runs_on(from, &child.host);
                }
                self.members.extend(members);
                self.greeted += 1;
                self.greet();
            }
            Message::Welcome(welcome) => self.welcome(welcome),
            Message::Tick(parents) => self.tick(from, parents),
            Message::Clocks(clocks) => self.add_clocks(clocks),
            Message::RankOrder(order) => self.order(order),
            Message::Reached(reached) => {
                if let Some(child) = self.children().iter().position(|child| *child == from) {
                    self.reach(child + 1, reached);
                }
            }
            Message::Release(release) => self.release(release),
            Message::Stop(signal) => self.stop(signal),
            Message::Over => self.end(),
            Message::Says(sentence) => self.pass_up(sentence),
            Message::Ping | Message::Pong(_) | Message::Ticked | Message::Alive | Message::Sign => {}
        }
    }

    /// All ranks of the branch have started.
    fn greet(&mut self) {
        if self.greeted < self.children().len() {
            return;
        }
        if !self.is_first() {
            let members = std::mem::take(&mut self.members);
            return self.send_up(&Message::Hello(members));
        }
        let mut members = std::mem::take(&mut self.members);
        fsdyno_stats::sort::by_key(&mut members, |member| member.rank);
        self.seats = members::seats(&members);
        let problem = members::problem(&members);
        let seats = (0..).zip(self.seats.iter().cloned()).collect();
        self.welcome(Welcome { ranks: members.len() as u32, seats, members, problem });
        self.compare_clocks();
    }

    /// Passes the welcome on, to each branch its own part.
    fn welcome(&mut self, welcome: Welcome) {
        let Welcome { ranks, seats, members, problem } = welcome;
        let (rank, children) = (self.transport.rank(), self.children());
        for (child, seats) in children.iter().zip(tree::by_child(rank, &seats, &children)) {
            let members = Vec::new();
            self.send(*child, &Message::Welcome(Welcome { ranks, seats, members, problem: problem.clone() }));
        }
        let seats = seats.into_iter().filter(|(of, _)| *of as usize == rank).collect();
        self.worker.tell(&Message::Welcome(Welcome { ranks, seats, members, problem }));
    }

    /// Passes an order on to all. A lost worker does not get it.
    fn order(&mut self, order: Box<RankOrder>) {
        let RankOrder { number, ranks, .. } = *order;
        let (rank, children) = (self.transport.rank(), self.children());
        for (child, partners) in children.iter().zip(tree::by_child(rank, &order.partners, &children)) {
            self.send(*child, &Message::RankOrder(Box::new(RankOrder { partners, ..(*order).clone() })));
        }
        self.progress.begin(number);
        self.worker.begins(self.clock.now_ns());
        if rank >= ranks as usize {
            // The worker is silent meanwhile.
            self.worker.is_idle();
            return self.reach(0, Reached::new(number, Round::Recorded));
        }
        if !self.is_first() {
            self.worker.tell(&Message::RankOrder(order));
        }
        if let Some(reason) = self.worker.lost.clone() {
            self.report_lost(number, reason);
        }
    }

    fn report_lost(&mut self, order: u32, reason: String) {
        let lost = vec![Lost { rank: self.transport.rank() as u32, reason }];
        self.reach(0, Reached { lost, ..Reached::new(order, Round::Recorded) });
    }

    /// The worker or a child's branch has reached a round.
    fn reach(&mut self, source: usize, reached: Reached) {
        let Some(reached) = self.progress.reach(source, reached) else { return };
        if !self.is_first() {
            return self.send_up(&Message::Reached(reached));
        }
        let Reached { order, round, seen, files, bytes, most, records, lost } = reached;
        let body = match round {
            Round::Agreed => Body::Agreement(seen.agreement(&self.seats)),
            Round::Made => Body::Files(files),
            Round::Filled => Body::Filled(bytes),
            Round::LaidOut => Body::Go,
            Round::Worn => Body::Most(most),
            Round::Begins(_) => {
                let levels = tree::levels(self.transport.ranks());
                Body::At(self.clock.now_ns() + START_NS + LEVEL_NS * levels)
            }
            Round::Recorded => {
                self.recorded = Some((records, lost));
                // The release waits until the clocks are known.
                return self.compare_clocks();
            }
        };
        self.release(Release::new(order, round, body));
    }

    /// The clocks are known: the first rank's worker gets what makes the record of all.
    fn clocks_are_known(&mut self, clocks: Vec<(u32, Offset)>) {
        let clocks_before = std::mem::replace(&mut self.clocks_before, clocks.clone());
        let Some((records, lost)) = self.recorded.take() else { return };
        let ended = Ended { lost, clocks_before, clocks_after: clocks };
        let order = self.progress.order();
        let recorded = |body, records| Release { records, ..Release::new(order, Round::Recorded, body) };
        self.release(recorded(Body::Go, Records::default()));
        if self.worker.lost.is_some() {
            let mut of_ranks = Vec::new();
            records.read(&mut of_ranks, &mut Vec::new());
            self.left = joined::record_of_all(of_ranks, &ended, &self.seats).map(Box::new);
            return self.end();
        }
        // The memory of each part is free before the next one is read.
        for part in records.into_parts() {
            self.worker.tell(&Message::Release(recorded(Body::Records, part)));
        }
        self.worker.tell(&Message::Release(recorded(Body::Ended(ended), Records::default())));
    }

    fn release(&mut self, release: Release) {
        let message = Message::Release(release);
        self.send_down(&message);
        let Message::Release(release) = message else { return };
        let is_answer = !(self.is_first() && release.round == Round::Recorded);
        self.worker.is_released(release.round, self.clock.now_ns());
        if is_answer {
            let body = match release.body {
                Body::At(first_ns) => Body::At(self.offset.here(first_ns)),
                body => body,
            };
            self.worker.tell(&Message::Release(Release { body, ..release }));
        }
    }

    /// Passes a signal of this process on to all others.
    fn pass_on_signal(&mut self) {
        let signal = self.signal.load(Ordering::Relaxed);
        if signal != 0 && self.passed_on == 0 {
            self.stop_others(signal);
        }
    }

    fn stop(&mut self, signal: i32) {
        if self.passed_on == 0 {
            self.worker.signal(signal);
            self.stop_others(signal);
        }
    }

    /// Stops all ranks; when the message comes back it is recognised.
    fn stop_others(&mut self, signal: i32) {
        self.passed_on = signal;
        self.send_up(&Message::Stop(signal));
        self.send_down(&Message::Stop(signal));
    }

    /// Gives up the worker. `silence`: why, if it still runs but does not answer.
    fn lose_worker(&mut self, silence: Option<String>) {
        if self.worker.lost.is_some() {
            return;
        }
        let is_running = self.progress.is_running(0);
        if self.is_first() && !is_running {
            // The worker has done its task, and its caller has its status.
            return self.end();
        }
        let reason = self.worker.lose(silence);
        if is_running {
            self.report_lost(self.progress.order(), reason);
        }
        if self.is_first() {
            // The first rank's worker gives no more orders.
            self.stop_others(TERM);
        }
    }

    fn end(&mut self) {
        self.over = true;
        self.send_down(&Message::Over);
        self.worker.tell(&Message::Over);
    }
}
