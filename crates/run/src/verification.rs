//! `verify=`: what a worker knows about the blocks it reads, and the phase that reads back what it wrote.
//!
//! Nothing is remembered of the writes: their sequence is generated once more. Each read-back read knows the number of
//! its write, and a block must carry that number or a later one: the last write to each place leaves no other answer.

mod dump;
pub(crate) mod state;

use std::collections::BTreeMap;
use std::path::PathBuf;

use engine::Engine;
use engine::clock::Clock;
use engine::errno::EINVAL;
use job::{BlockSize, Direction, Job};
use results::{Note, Severity};
use workload::{Expected, Generator, Mismatch, Op, Seal, TRIMMED, UNNUMBERED, WorkloadError};

use crate::control::WorkerState;
use crate::drive::{Account, Drive, Ended, Failure, Governor};
use crate::phase::Phase;
use crate::plan::{PlannedFile, WorkerPlan};

/// Mismatches of one worker that are listed in full.
const LISTED_MAX: u64 = 100;

/// What fio prints as flags of a read of its own list, and of another one.
const FLAGS_READ_BACK: u32 = 88;
const FLAGS_READ: u32 = 8;

/// Checks the blocks of one worker.
#[derive(Clone, Debug)]
pub(crate) struct Verification {
    seal: Seal,
    /// The reads are of what the job wrote itself.
    reads_back: bool,
    /// Blocks must be of this run.
    fresh: bool,
    /// Whatever the job survives: the first mismatch is the last.
    pub(crate) fatal: bool,
    /// Where the blocks of mismatches are saved.
    dumps: Option<PathBuf>,
    /// What was found, in fio's words.
    messages: Vec<String>,
    unlisted: u64,
    /// The run that wrote the first block seen of each file, and how many blocks of the file other runs wrote.
    runs: BTreeMap<u32, (u64, u64)>,
}

impl Verification {
    /// Of a job that reads what somebody wrote before. The reads of a mix are not checked, as with fio: nobody knows
    /// whether they come before or after the write of their block.
    pub(crate) fn of_reads(plan: &WorkerPlan) -> Option<Verification> {
        let access = plan.job.pattern.access;
        if access.writes || !access.reads {
            return None;
        }
        Verification::new(plan, false)
    }

    /// Of a job that reads back among its writes.
    pub(crate) fn of_backlog(plan: &WorkerPlan) -> Option<Verification> {
        plan.workload.backlog?;
        Verification::new(plan, true)
    }

    fn new(plan: &WorkerPlan, reads_back: bool) -> Option<Verification> {
        if plan.job.submission.engine.is_diskless() {
            return None;
        }
        let verify = plan.job.verify.as_ref()?;
        let fresh = reads_back && verify.fresh && !verify.only;
        let seal = seal(plan)?;
        Some(Verification {
            seal,
            reads_back,
            fresh,
            fatal: verify.fatal,
            dumps: verify.dump.then(|| verify.aux_path.clone().unwrap_or_default()),
            messages: Vec::new(),
            unlisted: 0,
            runs: BTreeMap::new(),
        })
    }

    /// Checks a block that was read. `number`: of the write that is read back.
    pub(crate) fn check(&mut self, buffer: &mut [u8], op: &Op, number: u64) -> Result<(), Mismatch> {
        if self.reads_back && number == UNNUMBERED {
            return Ok(());
        }
        if !self.reads_back {
            for run in self.seal.runs(buffer) {
                let (first, others) = self.runs.entry(op.file).or_insert((run, 0));
                *others += u64::from(run != *first);
            }
        }
        let expected = match self.fresh && number != UNNUMBERED {
            _ if number == TRIMMED => Expected::Zeroes,
            true => Expected::WriteOfThisRun(number),
            false => Expected::Anybody,
        };
        self.seal.check(buffer, op.offset, expected)
    }

    /// Records a mismatch of this buffer and its message.
    pub(crate) fn note(&mut self, mismatch: &Mismatch, buffer: &[u8], op: &Op, used: &[PlannedFile]) {
        if self.messages.len() as u64 >= LISTED_MAX {
            self.unlisted += 1;
            return;
        }
        let file = used.get(op.file as usize).map_or("-".into(), |file| file.path.to_string_lossy());
        let flags = if self.reads_back { FLAGS_READ_BACK } else { FLAGS_READ };
        let mut message = mismatch.sentences(&file, op, flags);
        if let Some(directory) = &self.dumps {
            message += &dump::dump(&self.seal, mismatch, buffer, op, &file, directory);
        }
        self.messages.push(message);
    }

    /// Files that hold blocks of several runs.
    pub(crate) fn notes(&self, job: &str, used: &[PlannedFile]) -> Vec<Note> {
        let mixed = self.runs.iter().filter(|(_, (_, others))| *others > 0);
        let notes = mixed.map(|(file, (_, others))| {
            let file = used.get(*file as usize).map_or("-".into(), |file| file.path.to_string_lossy());
            let text = format!(
                "verify: {file} has blocks of several runs: {others} are not of the run that wrote the first block. Each \
                 block is intact, but may be outdated"
            );
            note(job, "blocks-of-several-runs", text)
        });
        notes.collect()
    }

    /// What was found damaged.
    pub(crate) fn into_messages(mut self) -> Vec<String> {
        if self.unlisted > 0 {
            self.messages.push(format!("fio: verify: {} further blocks are wrong", self.unlisted));
        }
        self.messages
    }
}

/// What the worker's blocks carry; `None` without `verify`.
pub(crate) fn seal(plan: &WorkerPlan) -> Option<Seal> {
    let verify = plan.job.verify.as_ref()?;
    let seal = Seal::new(verify, &plan.job.content, interval(&plan.job), plan.thread_number, plan.run_mark);
    Some(seal.with_crc32c(engine::checksum::crc32c()))
}

/// Bytes between headers when the job does not say: with several sizes what all of them are multiples of, so that a
/// block that is written over in part is not taken for damaged.
fn interval(job: &Job) -> Option<u32> {
    let pattern = &job.pattern;
    if pattern.sizes_by_sequence {
        let drawn = pattern.block_size.iter().filter(|(direction, _)| pattern.sizes_drawn()[*direction]);
        return drawn.map(|(_, size)| size.min()).reduce(greatest_common_divisor);
    }
    let direction = if pattern.access.writes { Direction::Write } else { Direction::Read };
    let sizes = match &pattern.block_size[direction] {
        BlockSize::Fixed(_) => return None,
        BlockSize::Range(..) if job.pattern.unaligned_sizes => return None,
        BlockSize::Range(min, max) => vec![*min, *max],
        BlockSize::Split(parts) => parts.iter().map(|part| part.0).collect(),
    };
    sizes.into_iter().reduce(greatest_common_divisor)
}

fn greatest_common_divisor(one: u32, other: u32) -> u32 {
    if other == 0 { one } else { greatest_common_divisor(other, one % other) }
}

/// Whether the worker reads back what it wrote.
pub(crate) fn reads_back(job: &Job) -> bool {
    // A job that writes as long as its runtime lasts has none left, as with fio, which says so before it begins.
    job.pattern.access.writes && !job.extent.time_based && job.verify.as_ref().is_some_and(|verify| verify.read_back)
}

/// Whether the worker reads what it wrote at any time.
pub(crate) fn reads_what_it_wrote(plan: &WorkerPlan) -> bool {
    plan.workload.backlog.is_some() || reads_back(&plan.job)
}

/// Whether the worker only reads back, without writing (`verify_only`).
pub(crate) fn only(job: &Job) -> bool {
    job.pattern.access.writes && job.verify.as_ref().is_some_and(|verify| verify.only)
}

/// How the reading back ended.
pub(crate) struct ReadBack<'run, E: Engine, A> {
    pub(crate) drive: Box<Drive<'run, E, A>>,
    pub(crate) ended: Ended,
    /// Length of the phase, the reads alone.
    pub(crate) elapsed_ms: u64,
    /// Messages about it.
    pub(crate) notes: Vec<Note>,
}

/// Reads back all that was written, with the same engine and counters; `verifiable`: only so many of the writes. The
/// writes must have ended well, after `writes_ms`, and nothing is in flight. Apart from the worker's own frame, of which
/// every thread holds one.
#[cold]
#[inline(never)]
pub(crate) fn read_back<'run, E: Engine, A: Account>(
    plan: &WorkerPlan,
    mut drive: Box<Drive<'run, E, A>>,
    writes_ms: u64,
    verifiable: Option<u64>,
) -> ReadBack<'run, E, A> {
    let earlier = drive.take_verification();
    let failed = |drive, code, function, text: String| {
        let failure = Failure { code, function, op: None, detail: Some(text) };
        ReadBack { drive, ended: Ended::Failed(failure), elapsed_ms: writes_ms, notes: Vec::new() }
    };
    let (generator, writes) = match generator(plan, &mut drive, verifiable) {
        Ok(reads) => reads,
        Err(error) => return failed(drive, EINVAL, "workload", error.to_string()),
    };
    if let Err(error) = drive.sync_and_drop_caches() {
        return failed(drive, error.code, "fsync", error.to_string());
    }
    let verification = earlier.or_else(|| Verification::new(plan, true));
    let mut drive = Box::new(drive.next_phase(|parts| {
        let now_ns = parts.engine.clock().now_ns();
        parts.account.writes_over(writes_ms);
        let (extent, reporting) = (&plan.job.extent, &plan.job.reporting);
        // The runtime holds for both phases together.
        let spent_ns = writes_ms.saturating_mul(1_000_000);
        let runtime_ns = if extent.runtime_ns == 0 { 0 } else { extent.runtime_ns.saturating_sub(spent_ns).max(1) };
        let windows = (reporting.bandwidth_window_ms, reporting.iops_window_ms);
        parts.phase = Phase::begin(now_ns, 0, runtime_ns, windows.0, windows.1);
        parts.recorder.open_windows();
        parts.generator = generator;
        parts.content = None;
        parts.governor = Some(Governor::of_verification(verification, now_ns));
        parts.cell.set_state(WorkerState::Verifying);
    }));
    let ended = drive.run();
    let parts = drive.parts();
    let elapsed_ms = parts.phase.elapsed_ms(parts.engine.clock().now_ns());
    let stopped_after = matches!(ended, Ended::TimeUp | Ended::Stopped).then(|| drive.completed(Direction::Read));
    let notes = notes_of_reading_back(plan, writes, stopped_after);
    ReadBack { drive, ended, elapsed_ms, notes }
}

/// One copy serves all engines. `stopped_after`: it was stopped after so many reads.
#[cold]
fn notes_of_reading_back(plan: &WorkerPlan, writes: u64, stopped_after: Option<u64>) -> Vec<Note> {
    let mut notes = Vec::new();
    let name = &plan.job.name;
    if Generator::replays_each_write(&plan.workload) {
        let text = format!("{name}: too many blocks to find the newest write of each: every write was read back once");
        notes.push(note(name, "each-write-verified", text));
    }
    if writes == 0 && plan.job.verify.as_ref().is_some_and(|verify| verify.only_synced) {
        let text =
            format!("{name}: nothing was verified: verify_policy=fsynced needs an fsync or fdatasync after a write");
        notes.push(note(name, "nothing-verified", text));
    }
    if let Some(read) = stopped_after {
        let text = format!("{name}: verification stopped early, after {read} reads");
        notes.push(note(name, "verification-stopped", text));
    }
    notes
}

/// The reads that are to come, and of how many writes.
fn generator<E: Engine, A: Account>(
    plan: &WorkerPlan,
    drive: &mut Drive<'_, E, A>,
    verifiable: Option<u64>,
) -> Result<(Generator, u64), WorkloadError> {
    let failed = drive.failed_writes();
    let written = if only(&plan.job) { verifiable.unwrap_or(u64::MAX) } else { drive.writes_issued() };
    let writes = match plan.job.verify.as_ref().is_some_and(|verify| verify.only_synced) && !only(&plan.job) {
        true => Generator::writes_before_sync(&plan.workload, written)?,
        false => written,
    };
    let generator = match drive.parts().generator.unverified(&failed) {
        Some(left) if writes == written => left,
        _ => Generator::replay(&plan.workload, writes, failed)?,
    };
    Ok((generator, writes))
}

/// What the reader of a job's verification must know.
pub(crate) fn note(job: &str, id: &str, text: String) -> Note {
    Note { job: Some(job.to_owned()), ..Note::new(id, Severity::Caution, text) }
}
