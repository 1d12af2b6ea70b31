//! Makes the plan, a pure function from jobs and facts to workers. What cannot work is refused here, before the first
//! byte.

mod content;
mod files;
mod groups;
mod machine;
mod maps;
mod memory;
mod places;
mod queueing;
mod record;
mod verify;
mod windows;
mod zones;

use std::sync::Arc;

use crate::other_ranks::OtherRanks;
use fsdyno_drive::Queueing;
use fsdyno_job::{Amount, Direction, EngineName, Job, PerDirection, Seed, Unified};
use fsdyno_os::errno::EIO;
use fsdyno_os::files::{Directory, Reach};
use fsdyno_probe::{FileKind, HostFacts};
use fsdyno_results::{FilesPart, JobSetup, Note, Severity, UnifiedReporting};
use fsdyno_stats::sort;
use fsdyno_workload::{FileSizes, KnownZones, RepeatedBlocks, Workload};

pub use files::{LayoutMethod, LayoutStep, PlannedFile};
pub(crate) use memory::refusal_of_crowd;
pub use places::StoragePlace;
pub(crate) use record::FILES_KEPT;

use crate::guard;
use crate::names::file_paths;
use crate::replay::Replay;
use places::Places;

/// Most files that the ledger holds open, over all workers.
pub(crate) const WATCHED_MAX: usize = 64;

/// Everything that will run, in order.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Workers by thread number, which counts from 1.
    pub workers: Vec<WorkerPlan>,
    /// The storages that the files are on.
    pub storages: Vec<StoragePlace>,
    /// Files to make before the first stage, in order, or before the stage of their worker (`create_serialize=0`).
    pub layouts: Vec<LayoutStep>,
    /// What will differ from what was asked for.
    pub notes: Vec<Note>,
    /// Number of files that the ledger may watch, over all workers.
    pub watched_max: usize,
    /// Sentences on what fio refuses before it starts any job: then nothing runs.
    pub rejections: Vec<String>,
}

/// One worker.
#[derive(Clone, Debug)]
pub struct WorkerPlan {
    /// The job it belongs to.
    pub job: Arc<Job>,
    /// Number of the thread, counted from 1 over all workers.
    pub thread_number: u32,
    /// Index of the clone, from 0; it determines file names and offsets.
    pub clone: u32,
    /// Report group, from 0.
    pub group: u32,
    /// Index of the stage. The workers of a stage start together, after the stage before has ended.
    pub stage: u32,
    /// Indices of the plan's workers that must have ended before this one starts (`wait_for`).
    pub waits_for: Vec<usize>,
    /// Its files.
    pub files: Vec<PlannedFile>,
    /// The share of its files on each of the plan's storages.
    pub parts: Vec<FilesPart>,
    /// Whether the layout makes its files, for this worker or for an earlier one.
    pub laid_out: bool,
    /// What it will do.
    pub workload: Workload,
    /// Effective depth and batches.
    pub queueing: Queueing,
    /// Largest block, bytes.
    pub block_bytes_max: u64,
    /// Whether its buffers are populated with pages before the first request.
    pub populated: bool,
    /// Blocks that its writes repeat (`dedupe_mode=working_set`).
    pub repeated: Vec<RepeatedBlocks>,
    /// The settings in the form of the reports.
    pub setup: JobSetup,
    /// Distinguishes this run's blocks from those of other runs at verification.
    pub run_mark: u64,
    /// How its files are opened.
    pub reach: Reach,
    /// The log whose requests it replays; `None`: the workload generates them.
    pub replay: Option<Arc<Replay>>,
    /// Why it cannot run; the other workers still do.
    pub refused: Option<Refusal>,
}

/// Why a job cannot run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// errno.
    pub code: i32,
    /// The failed function, as fio's `func=` names it.
    pub function: &'static str,
    /// The sentence for people, fio's words first.
    pub message: String,
}

/// Makes the plan. `system_seed` serves the jobs with `randrepeat=0`.
pub fn plan(jobs: &[Job], facts: &HostFacts, system_seed: u64) -> Plan {
    plan_replays(jobs, &[], facts, system_seed)
}

/// The same for jobs some of which replay a log; `replays` has the log at the index of its job.
pub(crate) fn plan_replays(jobs: &[Job], replays: &[Option<Arc<Replay>>], facts: &HostFacts, system_seed: u64) -> Plan {
    let mut planning = Planning {
        facts,
        system_seed,
        sizes: files::Sizes::new(facts),
        places: Places::default(),
        plan: Plan::empty(),
    };
    let (mut group, mut stage) = (0, 0);
    for (index, job) in jobs.iter().enumerate() {
        let waits = job.stonewall || job.starts_file;
        if index > 0 && (waits || job.new_group) {
            group += 1;
        }
        if index > 0 && waits {
            stage += 1;
        }
        let mut in_bytes = job.pattern.zoned.map(|_| job.clone());
        let refused = in_bytes.as_mut().and_then(|job| zones::in_bytes(job, facts).err());
        planning.plan.rejections.extend(refused);
        let job = in_bytes.as_ref().unwrap_or(job);
        planning.add_job(job, replays.get(index).and_then(Option::as_ref), group, stage);
    }
    if jobs.iter().any(|job| job.content.dedupe.is_some()) {
        content::share_working_sets(&mut planning.plan.workers);
    }
    if jobs.iter().any(|job| job.verify.is_some()) {
        planning.plan.notes.extend(verify::note_of_shared_files(&planning.plan.workers));
        planning.plan.notes.extend(verify::note_of_cached_backlog(&planning.plan.workers));
        planning.plan.notes.extend(jobs.iter().filter_map(verify::note_of_replaced_content));
    }
    if jobs.iter().any(|job| job.pattern.zoned.is_some()) {
        zones::plan(&mut planning.plan.workers, facts);
    }
    planning.plan.rejections.extend(groups::rejections(&planning.plan.workers));
    planning.plan.rejections.extend(memory::refusal(&planning.plan.workers, facts));
    if cfg!(windows) {
        planning.plan.notes.push(windows::note_of_usage());
    }
    Plan { storages: planning.places.found, ..planning.plan }
}

/// Paths whose facts [`plan`] needs.
pub fn paths(jobs: &[Job]) -> Vec<std::path::PathBuf> {
    let mut paths = changed_paths(jobs);
    for job in jobs.iter().filter(|job| job.submission.engine.has_paths()) {
        paths.extend(job.files.directories.iter().map(|directory| fsdyno_os::written::path(directory)));
        paths.extend(paths_of(job));
    }
    sort::by(&mut paths, Ord::cmp);
    paths.dedup();
    paths
}

/// Those of them that jobs change, and that must therefore not be in use.
pub fn changed_paths(jobs: &[Job]) -> Vec<std::path::PathBuf> {
    let files = jobs.iter().filter(|job| guard::is_asked(job)).flat_map(paths_of);
    let mut paths: Vec<_> = files.chain(jobs.iter().filter_map(guard::memory_path)).collect();
    sort::by(&mut paths, Ord::cmp);
    paths.dedup();
    paths
}

fn paths_of(job: &Job) -> impl Iterator<Item = std::path::PathBuf> {
    (0..job.clones).flat_map(|clone| file_paths(job, clone))
}

impl Plan {
    fn empty() -> Plan {
        Plan {
            workers: Vec::new(),
            storages: Vec::new(),
            layouts: Vec::new(),
            notes: Vec::new(),
            watched_max: WATCHED_MAX,
            rejections: Vec::new(),
        }
    }

    /// Confines all files to this directory, whatever their paths refer to by now.
    ///
    /// # Errors
    /// The path of a file that is not below it.
    pub fn confine_to(&mut self, directory: &Arc<Directory>) -> Result<(), std::path::PathBuf> {
        let reach = Reach::Beneath(Arc::clone(directory));
        for worker in self.workers.iter_mut().filter(|worker| worker.job.submission.engine.has_paths()) {
            // Engines on names use paths only.
            let names = worker.job.submission.engine.works_on_names();
            if let Some(file) = worker.files.iter().find(|file| names || !reach.covers(&file.path)) {
                return Err(file.path.to_path_buf());
            }
            worker.reach = reach.clone();
        }
        Ok(())
    }

    /// Redirects jobs that only read to the data of other ranks, and jobs with parts of a file (`offset_increment`) to the
    /// part of a rank; the layout stays the same.
    pub(crate) fn read_from(&mut self, other_ranks: &dyn OtherRanks) {
        for worker in &mut self.workers {
            let reads = !worker.job.pattern.access.modifies();
            for file in worker.files.iter_mut().filter(|_| reads) {
                if let Some(path) = other_ranks.read_from(&file.path) {
                    file.path = path.into();
                }
            }
            if let Amount::Bytes(part @ 1..) = worker.job.files.offset_increment {
                worker.begin_later(part.saturating_mul(other_ranks.part(reads).into()));
            }
        }
    }

    /// Refuses all workers; the sentence is shown once.
    pub(crate) fn refuse_all(&mut self, function: &'static str, sentence: &str) {
        let mut message = sentence.to_owned();
        for worker in self.workers.iter_mut().filter(|worker| worker.refused.is_none()) {
            worker.refused = Some(Refusal { code: EIO, function, message: std::mem::take(&mut message) });
        }
        self.layouts.clear();
    }
}

impl WorkerPlan {
    /// The seeds of its random streams, in fio's order.
    pub fn random_seeds(&self) -> [u64; 24] {
        fsdyno_workload::random_seeds(self.workload.seed, self.thread_number)
    }

    /// Moves the first byte that it uses of each file; the last one stays.
    fn begin_later(&mut self, bytes: u64) {
        let later = |start: &mut u64, length: &mut u64| {
            *start = start.saturating_add(bytes);
            *length = length.saturating_sub(bytes);
        };
        self.files.iter_mut().for_each(|file| later(&mut file.start, &mut file.length));
        self.workload.files.iter_mut().for_each(|file| later(&mut file.start, &mut file.length));
    }

    /// How many of its files are open at a time.
    pub(crate) fn open_files(&self) -> usize {
        let all = self.files.len();
        // `openfiles` is ignored on Windows: it has no limit of open files, and an open handle protects its file.
        let most = self.job.files.open.filter(|_| !cfg!(windows));
        most.map_or(all, |most| all.min(most as usize))
    }

    /// Seed of the content of its writes.
    pub(crate) fn content_seed(&self) -> u64 {
        self.workload.seed ^ u64::from(self.thread_number)
    }
}

struct Planning<'facts> {
    facts: &'facts HostFacts,
    system_seed: u64,
    sizes: files::Sizes<'facts>,
    places: Places,
    plan: Plan,
}

impl Planning<'_> {
    fn add_job(&mut self, job: &Job, replay: Option<&Arc<Replay>>, group: u32, stage: u32) {
        let engine = job.submission.engine;
        if engine.has_paths() {
            self.check_directories(job);
        }
        self.check_processors(job);
        let mut planned = job.clone();
        match machine::processors(job, self.facts) {
            Ok(processors) => planned.process.cpus_allowed = processors,
            Err(sentence) => self.plan.rejections.push(sentence),
        }
        let shared = Arc::new(planned);
        let queueing = queueing::effective(job);
        if job.submission.engine.maps_files() && job.submission.direct {
            let text = "direct=1 has no effect on mmap: it always uses the page cache, reads may come from memory";
            self.note("mmap-direct", Severity::Caution, job, text.to_string());
        }
        self.note_offload(job);
        let process = &job.process;
        if process.control_group.is_none() && (process.control_group_weight.is_some() || process.control_group_kept) {
            let text = "cgroup_weight and cgroup_nodelete have no effect without cgroup";
            self.note("no-group", Severity::Caution, job, text.to_owned());
        }
        if job.submission.engine == EngineName::Posixaio && !job.submission.offloads() {
            let text = "ioengine=posixaio is done by io_uring, or by libaio where that is refused";
            self.note("posixaio", Severity::Info, job, text.to_string());
        }
        if engine.has_paths() && !engine.moves_data() && engine != EngineName::E4defrag {
            let text =
                format!("ioengine={} moves no data: bytes and bandwidth are those of its requests", engine.name());
            self.note("no-data", Severity::Info, job, text);
        }
        for ordinal in 0..job.clones {
            // fio numbers the clones 0, N-1, N-2 ... 1 in the order of their threads.
            let clone = if ordinal == 0 { 0 } else { job.clones - ordinal };
            self.add_worker((&shared, clone), replay, group, stage, queueing);
        }
    }

    fn note_offload(&mut self, job: &Job) {
        if job.submission.offloads() {
            let mut text =
                "io_submit_mode=offload: the CPU time of the threads that make the calls is not in the job's"
                    .to_owned();
            if job.submission.engine == EngineName::IoUring {
                text.push_str(", and each has its own ring, which neither polls nor has registered files or buffers");
            }
            self.note("offload", Severity::Info, job, text);
        } else if job.submission.offload && job.submission.engine.has_paths() {
            let text = "io_submit_mode=offload has no effect on this engine: the worker submits its I/O itself";
            self.note("offload", Severity::Caution, job, text.to_owned());
        }
    }

    fn check_directories(&mut self, job: &Job) {
        for directory in &job.files.directories {
            let path = fsdyno_os::written::path(directory);
            let known = self.facts.path(&path).is_none_or(|facts| facts.kind == FileKind::Directory);
            if !known {
                let path = directory;
                self.plan.rejections.push(format!(
                    "fio: {path} is not a directory\nfio: failed parsing directory={path}\nNext step: create it, or \
                     use another directory"
                ));
            }
        }
    }

    fn check_processors(&mut self, job: &Job) {
        let Some(count) = self.facts.host.cpus else { return };
        let logs = ("log_compression_cpus", &job.reporting.logs.compression_cpus);
        let verify = job.verify.iter().map(|verify| ("verify_async_cpus", &verify.thread_processors));
        for (option, allowed) in [("cpus_allowed", &job.process.cpus_allowed), logs].into_iter().chain(verify) {
            if let Some(cpu) = allowed.iter().find(|cpu| **cpu >= count) {
                self.plan.rejections.push(format!(
                    "fio: CPU {cpu} too large (max={max})\nfio: failed parsing {option}\nNext step: use CPUs 0 to {max}",
                    max = count.saturating_sub(1)
                ));
            }
        }
    }

    fn seed(&self, job: &Job) -> u64 {
        match job.pattern.seed {
            Seed::Repeated => fsdyno_job::DEFAULT_SEED,
            Seed::Fixed(seed) => seed,
            Seed::System => self.system_seed,
        }
    }

    fn add_worker(
        &mut self,
        (job, clone): (&Arc<Job>, u32),
        replay: Option<&Arc<Replay>>,
        group: u32,
        stage: u32,
        queueing: Queueing,
    ) {
        let thread_number = self.plan.workers.len() as u32 + 1;
        let seed = self.seed(job);
        let planned = self.sizes.plan_files(job, clone, FileSizes::new(seed, thread_number), replay.map(Arc::as_ref));
        let missing = if cfg!(windows) { windows::refusal(job) } else { None };
        let mut refused = missing.or_else(|| machine::refuse_user(job, self.facts)).or(planned.refused);
        self.plan.rejections.extend(planned.rejection);
        if refused.is_none() && !planned.layout.is_empty() {
            self.plan.layouts.push(LayoutStep {
                worker: thread_number as usize - 1,
                job_name: job.label(clone).to_owned(),
                files: planned.layout,
            });
        }
        let mut workload = Workload {
            pattern: job.pattern.clone(),
            service: job.files.service,
            open_files: job.files.open,
            files: planned.files.iter().map(PlannedFile::range).collect(),
            bytes: planned.bytes,
            starts_over: job.extent.io_size.is_some(),
            pass_bytes: planned.pass_bytes,
            verified: job.verify.is_some(),
            backlog: verify::backlog(job),
            trims: job.verify.as_ref().and_then(|verify| verify.trims),
            counts_read_back: crate::verification::counts_read_back(job),
            loops: job.extent.loops.max(1),
            time_based: job.extent.time_based,
            number_ios: job.extent.number_ios,
            durability: job.durability,
            pacing: job.pacing.clone(),
            priority_shares: job.submission.engine_options.priority_shares.clone(),
            zones: KnownZones::default(),
            thread_number,
            seed,
        };
        self.give_up_large_map(job, clone, &mut workload);
        if refused.is_none() {
            refused = self.refuse_device(job, &planned.files).or_else(|| verify::refuse_trims(job, &workload));
        }
        if clone == 0 {
            self.plan.notes.extend(maps::notes(job, &workload));
        }
        let has_parts = refused.is_none() && job.submission.engine.has_paths();
        let files = planned.files.iter().filter(|_| has_parts).map(|file| (&*file.path, file.length));
        let parts = self.places.parts(self.facts, files, job.pattern.access.modifies());
        let populated =
            job.submission.direct && job.pattern.access.reads && self.reads_into_present_pages(&planned.files);
        let queueing = if self.waits_for_commands(job, &planned.files) { Queueing::ONE } else { queueing };
        self.plan.workers.push(WorkerPlan {
            waits_for: groups::waits_for(job, &self.plan.workers),
            job: Arc::clone(job),
            thread_number,
            clone,
            group,
            stage,
            files: planned.files,
            parts,
            laid_out: planned.laid_out,
            workload,
            queueing,
            block_bytes_max: largest_block(job),
            populated,
            repeated: Vec::new(),
            setup: setup(job),
            run_mark: self.system_seed,
            reach: Reach::ByPath,
            replay: replay.cloned(),
            refused,
        });
    }

    /// Whether each command is waited for, because block devices only have the call that waits.
    fn waits_for_commands(&mut self, job: &Job, files: &[PlannedFile]) -> bool {
        let is_block =
            |file: &PlannedFile| self.facts.path(&file.path).is_some_and(|facts| facts.kind == FileKind::BlockDevice);
        let waits = job.submission.engine == EngineName::Sg && job.submission.depth > 1 && files.iter().any(is_block);
        if waits {
            let text =
                "ioengine=sg on a block device does one command at a time, whatever iodepth says; name its /dev/sg0";
            self.note("sg-depth", Severity::Caution, job, text.to_owned());
        }
        waits
    }

    /// `softrandommap`: drops a random map that would take too much memory, with a note.
    fn give_up_large_map(&mut self, job: &Job, clone: u32, workload: &mut Workload) {
        if job.pattern.soft_random_map && workload.map_is_too_large() {
            workload.pattern.random_map = false;
            if clone == 0 {
                let text = "softrandommap: the random map would take too much memory, so that blocks may come again before \
                            all have come";
                self.note("no-random-map", Severity::Caution, job, text.to_owned());
            }
        }
    }

    /// Whether the pages must exist before direct reads: btrfs, also below an overlay, reads into missing pages through
    /// the page cache, with readahead.
    fn reads_into_present_pages(&self, files: &[PlannedFile]) -> bool {
        let fstype = |file: &PlannedFile| self.facts.path(&file.path)?.fstype();
        files.first().and_then(fstype).is_some_and(|fstype| matches!(fstype, "btrfs" | "overlay"))
    }

    /// Refuses a device in use unless the user allows it.
    fn refuse_device(&self, job: &Job, files: &[PlannedFile]) -> Option<Refusal> {
        let files = files.iter().map(|file| &*file.path).filter(|_| guard::is_asked(job));
        let memory = guard::memory_path(job);
        files.chain(memory.as_deref()).find_map(|path| {
            let reason = self.facts.path(path)?.device_use.as_ref()?.reason()?;
            Some(guard::refusal(job, path, &reason))
        })
    }

    fn note(&mut self, id: &str, severity: Severity, job: &Job, text: String) {
        self.plan.notes.push(Note { job: Some(job.name.clone()), ..Note::new(id, severity, text) });
    }
}

fn largest_block(job: &Job) -> u64 {
    let drawn = job.pattern.sizes_drawn();
    job.pattern
        .block_size
        .iter()
        .filter(|(direction, _)| drawn[*direction])
        .map(|(_, size)| size.max())
        .max()
        .unwrap_or(0)
}

/// The smallest block that the job can request, bytes.
pub(crate) fn smallest_block(job: &Job) -> u64 {
    let drawn = job.pattern.sizes_drawn();
    job.pattern
        .block_size
        .iter()
        .filter(|(direction, _)| drawn[*direction])
        .map(|(_, size)| size.min())
        .min()
        .unwrap_or(0)
}

/// The smallest block that is read or written, bytes; 0: neither.
pub(crate) fn least_transfer(job: &Job) -> u64 {
    let access = job.pattern.access;
    let used = [(access.reads, Direction::Read), (access.writes, Direction::Write)];
    used.iter().filter(|(on, _)| *on).map(|(_, direction)| job.pattern.block_size[*direction].min()).min().unwrap_or(0)
}

fn setup(job: &Job) -> JobSetup {
    let reporting = &job.reporting;
    let block_sizes = PerDirection::from_fn(|direction| {
        let size = &job.pattern.block_size[direction];
        (size.min(), size.max())
    });
    let target = job.pacing.latency_target;
    JobSetup {
        access: job.pattern.access,
        block_sizes,
        sizes_by_sequence: job.pattern.sizes_by_sequence,
        engine: job.submission.engine.name().to_string(),
        depth: job.submission.depth,
        clones: job.clones,
        thread: job.process.thread,
        clat_percentiles: reporting.clat_percentiles
            && !reporting.sampled_clock
            && (reporting.completion_latency || !job.submission.engine.works_on_names()),
        lat_percentiles: reporting.lat_percentiles && !reporting.sampled_clock,
        slat_percentiles: reporting.slat_percentiles && !reporting.sampled_clock,
        percentiles: reporting.percentiles.clone(),
        unified: match reporting.unified {
            Unified::None => UnifiedReporting::None,
            Unified::Mixed => UnifiedReporting::Mixed,
            Unified::Both => UnifiedReporting::Both,
        },
        shown: reporting.shown,
        significant_figures: reporting.significant_figures,
        kb_base: reporting.kb_base,
        unit_base: reporting.unit_base,
        latency_target_ns: target.map_or(0, |target| target.target_ns),
        latency_window_ns: target.map_or(0, |target| target.window_ns),
        latency_percentile: target.map_or(100.0, |target| target.percentile),
    }
}
