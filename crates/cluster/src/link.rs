//! The worker's side of the cooperation with the other ranks, through its agent.

use std::io::{PipeReader, PipeWriter};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use fsdyno_guide::nodes::{PhaseContext, SHARED_FILE, object_suffix};
use fsdyno_guide::smallfiles::{NodeRole, PhaseResult, SmallFilesPhase, Suite};
use fsdyno_guide::watch::Step;
use fsdyno_guide::{Problem, Watcher};
use fsdyno_job::{Job, Memory, Outcome};
use fsdyno_os::clock::{Clock, RealClock};
use fsdyno_results::{ActiveSpan, Node, Note, RankRecord, RunRecord};
use fsdyno_run::{Control, JointRun, LayoutPart, OtherRanks, Ready};

use crate::agreement::{self, Sight, Views};
use crate::frames;
use crate::joined;
use crate::members::{self, RankPartners};
use crate::messages::{Body, Lost, Message, RankOrder, Reached, Records, Release, Round, Task, Welcome};
use crate::partners::{Partners, partners};
use crate::same_storage::Proof;
use crate::sources::{Answers, Recorder};

/// Interval of signs of life, ns.
const SIGN_NS: u64 = 500_000_000;

/// The connection of a worker to its agent.
#[derive(Debug)]
pub struct Link {
    rank: u32,
    /// Number of ranks.
    ranks: u32,
    seat: RankPartners,
    /// The machine number of each rank; only on the first rank.
    machines: Vec<usize>,
    /// The seats of all ranks; only on the first rank.
    seats: Vec<RankPartners>,
    /// The partners in the present order.
    partners: Mutex<Partners>,
    reader: Mutex<PipeReader>,
    writer: Mutex<PipeWriter>,
    /// The number of the present order, and how many ranks run it.
    order: AtomicU32,
    running: AtomicU32,
    /// Whether all ranks share the files of the present order.
    shared: AtomicBool,
    /// Whether each rank reads what its partner wrote.
    shift: AtomicBool,
    /// Whether the runs wear out.
    wears_out: AtomicBool,
    /// Whether each rank has objects of its own.
    own_objects: AtomicBool,
    /// The directory of the question that the present order belongs to.
    directory: Mutex<Option<PathBuf>>,
    /// When the first stage of the present order began, ns, and the stages so far.
    spans: Mutex<(Option<u64>, Vec<ActiveSpan>)>,
    /// The agreement of the ranks, and its order.
    agreed: Mutex<(u32, Agreement)>,
    /// What shows that the ranks of the present order are on one storage.
    proof: Mutex<Proof>,
    /// Whether this rank saw what the first one had made for the present order.
    sees_first: Mutex<Option<bool>>,
    /// Whether the agent is gone, and with it the other ranks.
    alone: AtomicBool,
    signed_ns: AtomicU64,
    /// Whether the agent knows of the signal that ends this worker.
    signalled: AtomicBool,
}

/// Notes on differences between ranks, or why they cannot run together.
type Agreement = Result<Vec<Note>, String>;

/// Whether ranks use the same files: those whose names the jobs give.
pub(crate) fn shares_files(jobs: &[Job]) -> bool {
    jobs.iter().any(|job| job.submission.engine.has_paths() && !job.files.names.is_empty())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Link {
    /// Waits until all ranks have started.
    ///
    /// # Errors
    /// A sentence, if they cannot run together.
    pub fn begin(mut reader: PipeReader, writer: PipeWriter) -> Result<Link, String> {
        let ended = || "the launcher ended before all ranks had started".to_owned();
        let Ok(Message::Welcome(Welcome { ranks, seats, members, problem })) = frames::read(&mut reader) else {
            return Err(ended());
        };
        problem.map_or(Ok(()), Err)?;
        let (rank, seat) = seats.into_iter().next().ok_or_else(ended)?;
        Ok(Link {
            partners: Mutex::new(seat.partners),
            machines: members::machines(&members),
            seats: members::seats(&members),
            reader: Mutex::new(reader),
            writer: Mutex::new(writer),
            order: AtomicU32::new(0),
            running: AtomicU32::new(ranks),
            shared: AtomicBool::new(false),
            shift: AtomicBool::new(false),
            wears_out: AtomicBool::new(false),
            own_objects: AtomicBool::new(false),
            directory: Mutex::new(None),
            spans: Mutex::default(),
            agreed: Mutex::new((0, Ok(Vec::new()))),
            proof: Mutex::default(),
            sees_first: Mutex::default(),
            alone: AtomicBool::new(false),
            signed_ns: AtomicU64::new(0),
            signalled: AtomicBool::new(false),
            rank,
            ranks,
            seat,
        })
    }

    /// The number of this rank.
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// Adds the node to all generated file names: data files, logs, states, dumps, buffers in files.
    pub fn name_files(&self, jobs: &mut [Job]) {
        for job in jobs {
            job.files.client = Some(self.seat.file_name.clone());
            let Memory::File { path, .. } = &mut job.submission.memory else { continue };
            // The memory of a device has one name on all nodes.
            let place = fsdyno_os::written::path(path);
            if !place.starts_with("/sys") && (place.is_file() || !place.exists()) {
                path.push_str(&format!(".{}", self.seat.file_name));
            }
        }
    }

    /// Lets only the ranks below this number run what is asked; at most all. Returns the number before.
    pub fn limit(&self, ranks: u32) -> u32 {
        let ranks = ranks.clamp(1, self.ranks);
        let before = self.running.swap(ranks, Ordering::Relaxed);
        let own = self.partners_among(ranks).first().map_or(self.seat.partners, |(_, partners)| *partners);
        *lock(&self.partners) = own;
        before
    }

    /// The partners of the first `ranks` ranks, which only the first rank knows; empty where all ranks run.
    fn partners_among(&self, ranks: u32) -> Vec<(u32, Partners)> {
        match self.machines.get(..ranks as usize) {
            Some(machines) if ranks < self.ranks => (0..).zip(partners(machines)).collect(),
            _ => Vec::new(),
        }
    }

    /// Makes each rank read what its partner wrote, so that no client's cache can answer.
    pub fn shift(&self) {
        self.shift.store(true, Ordering::Relaxed);
    }

    /// Sets whether each rank of the next runs goes on after its runtime up to what the others have done.
    pub fn wear_out(&self, wears_out: bool) {
        self.wears_out.store(wears_out, Ordering::Relaxed);
    }

    /// Sets whether the names of objects in the next runs end with the rank.
    pub fn own_objects(&self, own: bool) {
        self.own_objects.store(own, Ordering::Relaxed);
    }

    /// The next line to run; `None`: there are no more.
    pub(crate) fn next_order(&self) -> Option<RankOrder> {
        let order = loop {
            match frames::read(&mut *lock(&self.reader)).ok()? {
                Message::RankOrder(order) => break *order,
                Message::Over => return None,
                _ => {}
            }
        };
        self.order.store(order.number, Ordering::Relaxed);
        self.running.store(order.ranks, Ordering::Relaxed);
        self.shift.store(order.shift, Ordering::Relaxed);
        self.own_objects.store(order.own_objects, Ordering::Relaxed);
        *lock(&self.partners) = order.partners.first().map_or(self.seat.partners, |(_, partners)| *partners);
        *lock(&self.directory) = order.directory.as_deref().map(fsdyno_os::written::path);
        *lock(&self.proof) = order.proof.clone();
        *lock(&self.spans) = (None, Vec::new());
        Some(order)
    }

    /// Reports that this rank cannot run the order.
    pub(crate) fn refuse(&self, reason: String) {
        // The other ranks then learn that they cannot run together.
        let _ = self.agree_on(Err(reason.clone()));
        let lost = vec![Lost { rank: self.rank, reason }];
        self.meet(Reached { lost, ..self.at(Round::Recorded) });
    }

    /// Ends the orders.
    pub fn close(&self) {
        self.say(&Message::Over);
    }

    /// Fills this rank's part of the files that the first one makes for all, and waits until they are complete.
    pub(crate) fn lay_out_part(&self, ready: &Ready<'_>, control: &Control) {
        let Some(Body::Files(files)) = self.meet(self.at(Round::Made)) else { return };
        let part = LayoutPart { number: self.rank, of: self.running.load(Ordering::Relaxed) };
        let bytes = ready.fill_part(&files, part, control);
        self.meet(Reached { bytes, ..self.at(Round::Filled) });
        self.meet(self.at(Round::LaidOut));
    }

    pub(crate) fn at(&self, round: Round) -> Reached {
        Reached::new(self.order.load(Ordering::Relaxed), round)
    }

    /// Sets whether the files of the present order have names that all ranks use.
    pub(crate) fn shares(&self, shared: bool) {
        self.shared.store(shared, Ordering::Relaxed);
    }

    fn say(&self, message: &Message) {
        if frames::write(&mut *lock(&self.writer), message).is_err() {
            self.alone.store(true, Ordering::Relaxed);
        }
    }

    /// Waits for the others at a round; `None`: they are gone.
    pub(crate) fn meet(&self, reached: Reached) -> Option<Body> {
        self.meet_and_take(reached, &mut |_| ())
    }

    /// The same; `take` gets the records that come before the answer.
    fn meet_and_take(&self, reached: Reached, take: &mut dyn FnMut(Records)) -> Option<Body> {
        let (order, round) = (reached.order, reached.round);
        if self.alone.load(Ordering::Relaxed) {
            return None;
        }
        self.say(&Message::Reached(reached));
        let mut reader = lock(&self.reader);
        loop {
            match frames::read(&mut *reader) {
                Ok(Message::Release(Release { order: of, round: at, body, records })) if (of, at) == (order, round) => {
                    match body {
                        Body::Records => take(records),
                        body => return Some(body),
                    }
                }
                Ok(Message::Over) | Err(_) => {
                    self.alone.store(true, Ordering::Relaxed);
                    return None;
                }
                Ok(_) => {}
            }
        }
    }

    /// Tells the others what this rank sees, and returns the agreement of all; asked once for each order.
    pub(crate) fn agree_on(&self, node: Result<Node, String>) -> Agreement {
        let reached = self.at(Round::Agreed);
        let mut agreed = lock(&self.agreed);
        if agreed.0 != reached.order {
            let order = reached.order;
            let sight = self.sight(node.as_ref().ok());
            let seen = Views::of(self.rank, node.as_ref(), sight);
            *agreed = match self.meet(Reached { seen, ..reached }) {
                Some(Body::Agreement(agreement)) => (order, agreement),
                _ => (order, Ok(Vec::new())),
            };
            if self.rank == 0 {
                lock(&self.proof).remove();
            }
        }
        agreed.1.clone()
    }

    /// Whether this rank is on the first one's storage.
    fn sight(&self, node: Option<&Node>) -> Sight {
        let proof = lock(&self.proof);
        let sees_first = match (&*lock(&self.directory), node) {
            (_, None) => None,
            // It has opened the directory that the first rank has made.
            (Some(_), Some(_)) => Some(true),
            (None, Some(node)) => proof.is_seen(!node.storages.iter().all(agreement::is_own)),
        };
        *lock(&self.sees_first) = sees_first;
        Sight { sees_first, is_beside: proof.is_beside() }
    }

    /// Tells all ranks what to run.
    fn give_order(&self, run: &JointRun<'_>) -> Result<(), String> {
        let mut recorder = Recorder::default();
        let Outcome::Run(request) = fsdyno_job::parse_command_line(run.words, &mut recorder) else {
            return Err("fio: the ranks cannot run this line: a job file from standard input is read once; name a \
                        file that can be read again"
                .to_owned());
        };
        self.shares(run.directory.is_none() && shares_files(&request.jobs));
        let directory = run.directory.map(fsdyno_job::bytes::shown);
        *lock(&self.directory) = run.directory.map(Path::to_owned);
        *lock(&self.spans) = (None, Vec::new());
        let number = self.order.fetch_add(1, Ordering::Relaxed) + 1;
        let shift = self.shift.load(Ordering::Relaxed);
        let answers = recorder.into_answers();
        let ranks = self.running.load(Ordering::Relaxed);
        let words = run.words.to_vec();
        let partners = self.partners_among(ranks);
        let proof = if run.directory.is_none() { Proof::make(run) } else { Proof::here() };
        lock(&self.proof).clone_from(&proof);
        let (seed, task) = (run.seed, None);
        let wears_out = self.wears_out.load(Ordering::Relaxed);
        let own_objects = self.own_objects.load(Ordering::Relaxed);
        self.say(&Message::RankOrder(Box::new(RankOrder {
            number,
            ranks,
            words,
            answers,
            seed,
            shift,
            wears_out,
            own_objects,
            partners,
            directory,
            task,
            proof,
        })));
        Ok(())
    }

    /// Gives the first `ranks` ranks a task in the directory of a question.
    fn give_task(&self, directory: &Path, task: Task, ranks: u32) -> Result<(), String> {
        self.shares(false);
        *lock(&self.directory) = Some(directory.to_owned());
        *lock(&self.spans) = (None, Vec::new());
        let order = RankOrder {
            number: self.order.fetch_add(1, Ordering::Relaxed) + 1,
            ranks,
            words: Vec::new(),
            answers: Answers::default(),
            seed: 0,
            shift: self.shift.load(Ordering::Relaxed),
            wears_out: false,
            own_objects: false,
            partners: self.partners_among(ranks),
            directory: Some(fsdyno_job::bytes::shown(directory)),
            task: Some(task),
            proof: Proof::here(),
        };
        lock(&self.proof).clone_from(&order.proof);
        self.say(&Message::RankOrder(Box::new(order)));
        Ok(())
    }

    /// Runs a phase of operations on small files on all ranks that take part.
    ///
    /// # Errors
    /// When they cannot run together, or this one cannot run it.
    pub fn phase(
        &self,
        suite: &mut Suite,
        phase: &SmallFilesPhase,
        asking: PhaseContext<'_>,
        step: &Step,
        watcher: &mut dyn Watcher,
    ) -> Result<PhaseResult, Problem> {
        let ranks = self.running.load(Ordering::Relaxed);
        self.give_task(suite.place(), Task::Phase(suite.order(phase)), ranks).map_err(Problem::new)?;
        let node = suite.node();
        let agreed = self.agree_on(Ok(node.clone()));
        asking.notes.extend(agreed.map_err(|sentence| Problem::new(sentence.trim_start_matches("fio: ")))?);
        let done = suite.perform(phase, asking.control, step, watcher)?;
        let run = self.gather(suite.as_run(phase, &done, node, asking.version));
        Ok(done.joined(phase, run))
    }

    /// The role of this rank in phases on small files.
    pub fn role(&self) -> NodeRole {
        let Partners { ranks: partners, elsewhere } = *lock(&self.partners);
        let shift = self.shift.load(Ordering::Relaxed);
        NodeRole { rank: self.rank, ranks: self.running.load(Ordering::Relaxed), partners, elsewhere, shift }
    }
}

impl OtherRanks for Link {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn agree(&self, run: &JointRun<'_>) -> Result<Vec<Note>, String> {
        if self.rank == 0 {
            self.give_order(run)?;
        }
        let agreed = self.agree_on(Ok(run.preflight.nodes.first().cloned().unwrap_or_default()));
        // The first rank notes differences for all.
        if self.rank == 0 { agreed } else { agreed.map(|_| Vec::new()) }
    }

    fn layers(&self) -> u32 {
        // The other ranks fill their parts before they plan again: files that are missing then are on their own disks.
        let begins = self.rank == 0 && self.shared.load(Ordering::Relaxed);
        if begins { self.running.load(Ordering::Relaxed) } else { 1 }
    }

    fn made(&self, files: &[(PathBuf, u64)]) {
        // A name that is not UTF-8 cannot be sent to the others: only the first rank lays that file out.
        let files = files.iter().filter(|(path, _)| path.to_str().is_some()).cloned().collect();
        self.meet(Reached { files, ..self.at(Round::Made) });
    }

    fn filled(&self) -> u64 {
        match self.meet(self.at(Round::Filled)) {
            Some(Body::Filled(bytes)) => bytes,
            _ => 0,
        }
    }

    fn laid_out(&self) {
        // With shared files the others have waited for the layout before they planned.
        let waits = match self.shared.load(Ordering::Relaxed) {
            true => self.rank == 0,
            false => self.shift.load(Ordering::Relaxed),
        };
        if waits {
            self.meet(self.at(Round::LaidOut));
        }
    }

    fn ready(&self, stage: u32) -> u64 {
        let begin_ns = match self.meet(self.at(Round::Begins(stage))) {
            Some(Body::At(ns)) => ns,
            _ => RealClock::shared().now_ns(),
        };
        lock(&self.spans).0.get_or_insert(begin_ns);
        begin_ns
    }

    fn ended(&self, stage: u32, began_ns: u64, ended_ns: u64) {
        let (first_ns, spans) = &mut *lock(&self.spans);
        let since_first = |ns: u64| ns.wrapping_sub(first_ns.unwrap_or(began_ns)) as i64;
        spans.push(ActiveSpan { stage, start_ns: since_first(began_ns), end_ns: since_first(ended_ns) });
    }

    fn read_from(&self, path: &Path) -> Option<PathBuf> {
        if !self.shift.load(Ordering::Relaxed) {
            return None;
        }
        match &*lock(&self.directory) {
            Some(base) => {
                let below = path.strip_prefix(directory_of(base, self.rank)).ok()?;
                if below == Path::new(SHARED_FILE) {
                    return None;
                }
                Some(directory_of(base, lock(&self.partners).ranks[0]).join(below))
            }
            None if self.own_objects.load(Ordering::Relaxed) => {
                let name = path.to_str()?.strip_suffix(&object_suffix(self.rank))?;
                Some(format!("{name}{}", object_suffix(lock(&self.partners).ranks[0])).into())
            }
            None => {
                let own = format!("{}.", self.seat.file_name);
                let rest = path.file_name()?.to_str()?.strip_prefix(&own)?;
                Some(path.with_file_name(format!("{}.{rest}", self.seat.partner_file_name)))
            }
        }
    }

    fn part(&self, reads: bool) -> u32 {
        match (lock(&self.directory).is_some(), reads && self.shift.load(Ordering::Relaxed)) {
            // On a command line clones alone have parts, as in fio.
            (false, _) => 0,
            (true, true) => lock(&self.partners).ranks[0],
            (true, false) => self.rank,
        }
    }

    fn wear_out(&self, done: u64) -> u64 {
        match self.meet(Reached { most: done, ..self.at(Round::Worn) }) {
            Some(Body::Most(most)) => most,
            _ => done,
        }
    }

    fn gather(&self, mut own: RunRecord) -> RunRecord {
        let spans = std::mem::take(&mut lock(&self.spans).1);
        let ranks = self.running.load(Ordering::Relaxed);
        let part = RankRecord { rank: self.rank, clock: None, spans, sees_first: *lock(&self.sees_first) };
        joined::take_part(&mut own, part, ranks, &self.seat);
        own.shed_series(ranks as usize);
        let reached = Reached { records: Records::of(self.rank, own.clone()), ..self.at(Round::Recorded) };
        let (mut records, mut damaged) = (Vec::new(), Vec::new());
        let body = self.meet_and_take(reached, &mut |part| part.read(&mut records, &mut damaged));
        let why = match body {
            Some(Body::Ended(mut ended)) => {
                ended.lost.append(&mut damaged);
                match joined::record_of_all(records, &ended, &self.seats) {
                    Some(all) => return all,
                    None => "the records of the ranks do not fit together",
                }
            }
            Some(_) => return own,
            None => "the launcher ended the run, or its agent was lost",
        };
        let others = (0..ranks).filter(|rank| *rank != self.rank);
        let lost: Vec<Lost> = others.map(|rank| Lost { rank, reason: why.to_owned() }).collect();
        joined::name_lost(&mut own, &lost, &self.seats);
        own
    }

    fn clear(&self, directory: &Path) {
        // If the task cannot be sent, the first rank removes the files.
        if self.ranks() > 1 && self.give_task(directory, Task::Clear, self.ranks()).is_ok() {
            self.meet(self.at(Round::Recorded));
        }
    }

    fn signalled(&self, signal: i32) {
        if !self.signalled.swap(true, Ordering::Relaxed) {
            self.say(&Message::Stop(signal));
        }
    }

    fn alive(&self) {
        let now_ns = RealClock::shared().now_ns();
        if now_ns > self.signed_ns.load(Ordering::Relaxed) + SIGN_NS {
            self.signed_ns.store(now_ns, Ordering::Relaxed);
            self.say(&Message::Alive);
        }
    }
}

/// The directory of a rank below the question's, which is the first rank's own.
pub(crate) fn directory_of(base: &Path, rank: u32) -> PathBuf {
    if rank == 0 { base.to_owned() } else { base.join(NodeRole::directory_of(rank)) }
}

/// Gives the objects of a question the names of this rank.
pub(crate) fn name_objects(jobs: &mut [Job], rank: u32) {
    for job in jobs.iter_mut().filter(|job| job.submission.engine.reaches_objects()) {
        job.files.names.iter_mut().for_each(|name| name.push_str(&object_suffix(rank)));
    }
}

/// Moves the jobs' files from below `base` to below `own`, except the one that all ranks share.
pub(crate) fn place(jobs: &mut [Job], base: &Path, own: &Path) {
    for job in jobs {
        let files = &mut *job.files;
        for name in files.names.iter_mut().chain(&mut files.directories) {
            if let Ok(below) = fsdyno_os::written::path(name).strip_prefix(base)
                && below != Path::new(SHARED_FILE)
            {
                *name = fsdyno_job::bytes::shown(&own.join(below));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_a_question_move_and_others_stay() {
        let mut job = Job::default();
        let names = ["/data/asked/a", "/data/asked-too/b", "/data/asked/shared.dat", "c"];
        job.files.names = names.map(str::to_owned).to_vec();
        job.files.directories = vec!["/data/asked".into(), "/other".into()];
        place(std::slice::from_mut(&mut job), Path::new("/data/asked"), Path::new("/data/asked/rank-1"));
        assert_eq!(job.files.names, ["/data/asked/rank-1/a", names[1], names[2], names[3]]);
        assert_eq!(job.files.directories, ["/data/asked/rank-1/", "/other"]);
    }
}
