//! Makes workloads from fio's options, and writes sequences of requests as text.

use fsdyno_job::{Amount, Machine, Outcome, Seed, Sources};
use fsdyno_workload::{Block, FileRange, Generator, OpKind, Refill, Workload};

/// A machine without job files.
struct Bare;

impl Sources for Bare {
    fn job_file(&mut self, path: &str) -> Result<String, String> {
        Err(format!("{path} is not there"))
    }

    fn variable(&self, _: &str) -> Option<String> {
        None
    }

    fn machine(&self) -> Machine {
        Machine { page_bytes: 4096, memory_mib: 8000, processors: 2 }
    }
}

/// A word that is not an option: the test handles it itself.
const SECOND_THREAD: &str = "--thread_number=2";

/// The workload of a job with these options.
pub(crate) fn workload(line: &str) -> Workload {
    let second = line.contains(SECOND_THREAD);
    let words = line.split_whitespace().filter(|word| *word != SECOND_THREAD);
    let words = ["--name=a", "--ioengine=null"].into_iter().chain(words).map(str::to_owned);
    let outcome = fsdyno_job::parse_command_line(&words.collect::<Vec<_>>(), &mut Bare);
    let Outcome::Run(mut request) = outcome else { panic!("{line}: {outcome:?}") };
    let job = request.jobs.remove(0);
    let seed = match job.pattern.seed {
        Seed::Repeated => fsdyno_job::DEFAULT_SEED,
        Seed::Fixed(seed) => seed,
        Seed::System => panic!("{line}: no seed"),
    };
    let bytes = |amount: Amount| match amount {
        Amount::Bytes(bytes) => bytes,
        Amount::Percent(_) | Amount::Zones(_) => panic!("{line}: a share of nothing"),
    };
    let size = bytes(job.files.size.expect("a size"));
    let (count, start) = (u64::from(job.files.count), bytes(job.files.offset));
    let file =
        |number| FileRange { start, length: size / count, name: std::path::Path::new(&format!("a.0.{number}")).into() };
    Workload {
        pattern: job.pattern,
        service: job.files.service,
        open_files: job.files.open,
        files: (0..count).map(file).collect(),
        bytes: job.extent.io_size.map_or(size, bytes),
        starts_over: job.extent.io_size.is_some(),
        verified: job.verify.is_some(),
        backlog: job.verify.as_ref().map(|verify| verify.backlog).filter(|backlog| backlog.writes > 0),
        trims: job.verify.and_then(|verify| verify.trims),
        pass_bytes: (job.submission.depth > 1).then_some(size),
        loops: job.extent.loops,
        time_based: job.extent.time_based,
        number_ios: job.extent.number_ios,
        durability: job.durability,
        pacing: job.pacing,
        priority_shares: Default::default(),
        zones: Default::default(),
        counts_read_back: false,
        thread_number: if second { 2 } else { 1 },
        seed,
    }
}

/// The first `most` requests as text: `r8192+4096` reads 4096 bytes at 8192; `@1` names a file other than the first.
pub(crate) fn sequence(workload: &Workload, most: usize) -> Vec<String> {
    let mut generator = Generator::new(workload).unwrap();
    let mut block = Block::new();
    let mut words = Vec::new();
    while words.len() < most {
        match generator.refill(&mut block) {
            Refill::Ops => words.extend(block.ops[..block.len].iter().map(|op| {
                let letter = match op.kind {
                    OpKind::Read => 'r',
                    OpKind::Write => 'w',
                    OpKind::Trim => 't',
                    OpKind::Sync => 's',
                    OpKind::DataSync => 'd',
                    OpKind::SyncRange => 'g',
                    OpKind::ZoneReset | OpKind::ZoneFinish => unreachable!("these workloads have no zones"),
                };
                word(letter, op.offset, op.length, op.file as usize)
            })),
            Refill::Pass => {}
            Refill::Done => break,
        }
    }
    words.truncate(most);
    words
}

/// One request as text. A sync has no offset.
pub(crate) fn word(letter: char, offset: u64, length: u64, file: usize) -> String {
    let place = if "sdg".contains(letter) { String::new() } else { format!("{offset}+{length}") };
    let file = if file == 0 { String::new() } else { format!("@{file}") };
    format!("{letter}{place}{file}")
}
