//! Plans which bytes of which files a worker uses, and which files must be made first.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use fsdyno_job::{Amount, EngineName, Fallocate, Job};
use fsdyno_os::errno::{EINVAL, EISDIR, ENOENT, ENOTTY, EPERM};
use fsdyno_probe::{FileKind, HostFacts};
use fsdyno_workload::{FileRange, FileSizes};

use super::{Refusal, smallest_block};
use crate::names::file_paths;
use crate::replay::{self, Replay};

/// A file of a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedFile {
    /// The file's path.
    pub path: Arc<Path>,
    /// Offset of the first byte used.
    pub start: u64,
    /// Number of bytes used.
    pub length: u64,
}

impl PlannedFile {
    pub(crate) fn range(&self) -> FileRange {
        FileRange { start: self.start, length: self.length, name: Arc::clone(&self.path) }
    }
}

/// Files of one worker that must be made before the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutStep {
    /// Index of the worker.
    pub worker: usize,
    /// Name that fio prints before `Laying out IO file`.
    pub job_name: String,
    /// The files with the bytes that each must have, and how it is made.
    pub files: Vec<(Arc<Path>, u64, LayoutMethod)>,
}

/// How a missing or short file is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayoutMethod {
    /// Only created, with its space reserved as `fallocate` says: a writer fills it.
    Reserve,
    /// Written from end to end: a reader needs real data.
    Fill,
    /// Existing bytes stay; the space behind them is reserved as `fallocate` says.
    Extend,
}

/// The plan of a worker's files.
#[derive(Default)]
pub(super) struct PlannedFiles {
    pub(super) files: Vec<PlannedFile>,
    pub(super) bytes: u64,
    /// Bytes after which a pass ends before the end of the files.
    pub(super) pass_bytes: Option<u64>,
    pub(super) layout: Vec<(Arc<Path>, u64, LayoutMethod)>,
    /// Whether the layout makes the files, for this worker or for an earlier one.
    pub(super) laid_out: bool,
    pub(super) refused: Option<Refusal>,
    /// Why no job may start, as in fio.
    pub(super) rejection: Option<String>,
}

/// The sizes of all files after the layouts that are planned so far.
pub(super) struct Sizes<'facts> {
    facts: &'facts HostFacts,
    planned: HashMap<Arc<Path>, u64>,
    /// Files that an earlier job writes.
    written: HashSet<Arc<Path>>,
    /// Files that an earlier job removes at its end.
    removed: HashSet<Arc<Path>>,
}

impl<'facts> Sizes<'facts> {
    pub(super) fn new(facts: &'facts HostFacts) -> Sizes<'facts> {
        Sizes { facts, planned: HashMap::new(), written: HashSet::new(), removed: HashSet::new() }
    }

    fn kind(&self, path: &Path) -> FileKind {
        self.facts.path(path).map_or(FileKind::Missing, |facts| facts.kind)
    }

    fn size(&self, path: &Path) -> u64 {
        let now = self.facts.path(path).and_then(|facts| facts.size_bytes).unwrap_or(0);
        self.planned.get(path).copied().unwrap_or(0).max(now)
    }

    /// Bytes that the requests of a job address.
    fn addressed(&self, job: &Job, path: &Path) -> u64 {
        let by_device = job.submission.engine_options.commands.protection.by_device;
        let namespace = self.facts.path(path).and_then(|facts| facts.namespace);
        namespace.map_or_else(|| self.size(path), |namespace| namespace.bytes(by_device))
    }

    /// Plans the files of a worker. `drawn`: draws sizes from the range of `filesize`.
    pub(super) fn plan_files(
        &mut self,
        job: &Job,
        clone: u32,
        drawn: FileSizes,
        replay: Option<&Replay>,
    ) -> PlannedFiles {
        let paths = file_paths(job, clone);
        let mut planned = PlannedFiles { files: Vec::with_capacity(paths.len()), ..PlannedFiles::default() };
        let mut shares = Shares { job, count: paths.len() as u64, drawn, replay };
        for (index, path) in (0..).zip(paths) {
            let path = self.facts.held(&path).cloned().unwrap_or_else(|| path.into());
            match self.plan_file(job, clone, &path, index, &mut shares) {
                Ok((file, make)) => {
                    if let Some(make) = make {
                        planned.layout.push((path, file.start.saturating_add(file.length), make));
                    }
                    planned.files.push(file);
                }
                Err(refusal) => planned.refused = planned.refused.or(Some(refusal)),
            }
        }
        let total = planned.files.iter().fold(0u64, |total, file| total.saturating_add(file.length));
        let size = amount_of_files(job, total);
        // A percentage of `io_size` is of the files, of which `size` may be a part.
        planned.bytes = job.extent.io_size.map_or(size, |amount| bytes_of(amount, total));
        planned.pass_bytes = keeps_requests_in_flight(job).then(|| bytes_of_pass(job, size, planned.bytes));
        match replay {
            Some(replay) => planned.bytes = replay.summary.bytes,
            None => planned.rejection = self.reject(job),
        }
        if planned.refused.is_none() && planned.rejection.is_none() && replay.is_none() {
            planned.refused = self.refuse_ranges(job, &planned.files);
        }
        if planned.refused.is_none() {
            let sized = planned.layout.iter().filter(|(_, _, make)| sets_size(job, *make));
            self.planned.extend(sized.map(|(path, needed, _)| (path.clone(), *needed)));
            let made = |file: &PlannedFile| self.planned.contains_key(&file.path);
            if job.pattern.access.writes {
                self.written.extend(planned.files.iter().map(|file| file.path.clone()));
            }
            if job.files.unlink {
                self.removed.extend(planned.files.iter().map(|file| file.path.clone()));
            }
            planned.laid_out = !planned.layout.is_empty() || planned.files.iter().any(made);
        }
        planned
    }

    /// Refuses to verify data in which protection information stands: it is no part of what was written.
    fn may_verify(&self, job: &Job, path: &Path) -> Result<(), Refusal> {
        let by_device = job.submission.engine_options.commands.protection.by_device;
        let format = self.facts.path(path).and_then(|facts| facts.namespace).map(|namespace| namespace.format);
        if job.verify.is_none() || !format.is_some_and(|it| it.protection > 0 && it.is_extended(by_device)) {
            return Ok(());
        }
        let why = "has protection information within its blocks, which verify would take for data. Next step: leave verify \
                   out, and let pi_act=0 with pi_chk=GUARD check the data";
        Err(refuse(EINVAL, "verify", path, why))
    }

    /// A sentence if `size` is smaller than a block: then no job starts, as in fio.
    fn reject(&self, job: &Job) -> Option<String> {
        let Some(Amount::Bytes(size)) = job.files.size else { return None };
        let smallest = smallest_block_of_all(job);
        (size < smallest).then(|| {
            format!(
                "fio: size too small, must not be less than minimum block size: {size} < {smallest}\n\
                 Next step: raise --size, or lower --bs"
            )
        })
    }

    /// Refuses a worker if the used range of its files holds no block.
    fn refuse_ranges(&self, job: &Job, files: &[PlannedFile]) -> Option<Refusal> {
        let longest = files.iter().map(|file| file.length).max().unwrap_or(0);
        let smallest = smallest_block(job);
        let name = &job.name;
        // The smallest size that can be drawn must hold the offset.
        let beyond_drawn = job.files.file_size.is_some_and(|(least, _)| files.iter().any(|file| file.start > least));
        let beyond_all = longest == 0 && files.iter().any(|file| file.start > 0);
        let (function, message) = if beyond_drawn || beyond_all {
            let message = format!(
                "{name}: you need to specify valid offset= (the files end before it). Next step: lower --offset, or \
                 set --size"
            );
            ("setup_files", message)
        } else if longest == 0 {
            let message =
                format!("{name}: you need to specify size= (no existing file gives a size). Next step: --size=1g");
            ("total_file_size", message)
        } else if longest < smallest {
            let message = format!(
                "fio: blocksize is larger than data set range\n{name}: a file has at most {longest} bytes to use, a \
                 block has {smallest}. Next step: raise --size, or lower --bs"
            );
            ("setup_files", message)
        } else {
            return None;
        };
        Some(Refusal { code: EINVAL, function, message })
    }

    fn plan_file(
        &self,
        job: &Job,
        clone: u32,
        path: &Arc<Path>,
        index: u64,
        shares: &mut Shares<'_>,
    ) -> Result<(PlannedFile, Option<LayoutMethod>), Refusal> {
        let engine = job.submission.engine;
        let without_disk = !engine.lays_out();
        if job.submission.engine.has_paths() {
            self.may_serve(job, path)?;
        }
        let kind = if without_disk { FileKind::Missing } else { self.kind(path) };
        let size_now = if without_disk { 0 } else { self.addressed(job, path) };
        let start = self.start(job, clone, size_now);
        let length = shares.of(index, size_now, start);
        let file = PlannedFile { path: Arc::clone(path), start, length };
        let replay = shares.replay.filter(|_| !without_disk);
        if let Some(sentence) = replay.and_then(|replay| self.contradiction(replay, path, index, kind, size_now)) {
            let message = format!(
                "fio: {sentence}. Next step: use the file that was recorded, or replay_redirect, replay_scale, or \
                 replay_skip"
            );
            let code = if kind == FileKind::Missing { ENOENT } else { EINVAL };
            return Err(Refusal { code, function: "read_iolog", message });
        }
        if engine.commands_devices() {
            takes_commands(job, path, kind, size_now)?;
            self.may_verify(job, path)?;
        }
        match kind {
            FileKind::Directory => {
                Err(refuse(EISDIR, "open", path, "is a directory. Next step: use a file in it, or --directory="))
            }
            FileKind::Unreachable(errno) => {
                let reason = std::io::Error::from_raw_os_error(errno).to_string();
                Err(refuse(errno, "stat", path, &reason))
            }
            FileKind::Missing | FileKind::Regular | FileKind::CharacterDevice | FileKind::Other
                if job.discards() && !engine.commands_devices() =>
            {
                Err(refuse(
                    ENOTTY,
                    "td_io_queue",
                    path,
                    "is no block device, and only those are trimmed. Next step: use a block device or \
                     --ioengine=null, or leave trims out",
                ))
            }
            FileKind::BlockDevice | FileKind::CharacterDevice
                if size_now > 0 && start.saturating_add(length) > size_now =>
            {
                Err(refuse(
                    EINVAL,
                    "size",
                    path,
                    &format!(
                        "has {size_now} bytes, fewer than offset {start} + size {length}. Next step: leave out --size"
                    ),
                ))
            }
            FileKind::Missing if job.files.device && !without_disk => Err(refuse(
                ENOENT,
                "open",
                path,
                "is no device: there is nothing. Next step: name a device, or leave out filetype",
            )),
            FileKind::Missing | FileKind::Regular if !without_disk => {
                let needed = start.saturating_add(length);
                let make = self.make(job, path, needed, size_now, kind).filter(|_| length > 0);
                if make.is_some() {
                    self.may_lay_out(job, path, needed, size_now, kind)?;
                }
                Ok((file, make.or_else(|| self.make_again(job, path, needed))))
            }
            _ => Ok((file, None)),
        }
    }

    fn contradiction(&self, replay: &Replay, path: &Path, index: u64, kind: FileKind, size_now: u64) -> Option<String> {
        let size = match kind {
            FileKind::Missing => None,
            FileKind::Regular | FileKind::BlockDevice => Some(size_now),
            _ => return None,
        };
        let made = self.written.contains(path) || self.planned.contains_key(path);
        replay::contradiction(replay, index as usize, size, kind == FileKind::BlockDevice, made)
    }

    /// Whether an engine on names may work on this path: it only removes what the job itself may have made, and
    /// `ftruncate` cannot read.
    fn may_serve(&self, job: &Job, path: &Path) -> Result<(), Refusal> {
        let (engine, access) = (job.submission.engine, job.pattern.access);
        if engine == EngineName::Ftruncate && (access.reads || access.trims) {
            let message = format!("fio: {}: ftruncate only writes. Next step: --rw=write, or --rw=randwrite", job.name);
            return Err(Refusal { code: EINVAL, function: "td_io_queue", message });
        }
        let named = !job.files.names.is_empty() || !job.files.opened_directories.is_empty();
        let foreign = match self.kind(path) {
            FileKind::Missing | FileKind::Unreachable(_) => false,
            FileKind::Regular if engine != EngineName::Dirdelete => named && !self.planned.contains_key(path),
            FileKind::Directory if engine == EngineName::Dirdelete => named,
            _ => true,
        };
        if engine.takes_names_away() && foreign {
            let reason = "was there before the run and is not the job's own: it is not taken away. Next step: leave out \
                          filename and opendir, so that the job works on files that it makes";
            return Err(refuse(EPERM, "setup_files", path, reason));
        }
        Ok(())
    }

    /// Whether a file that is missing or too short may be made anew.
    fn may_lay_out(&self, job: &Job, path: &Path, needed: u64, size_now: u64, kind: FileKind) -> Result<(), Refusal> {
        let refuse = |function, message| Err(Refusal { code: EPERM, function, message });
        if job.files.read_only {
            let message = format!(
                "fio: refusing extend of file due to read-only\nfio: {path} has {size_now} bytes, the job needs {needed}. \
                 Next step: lower --size, or lay the file out without --readonly",
                path = fsdyno_job::bytes::shown(path)
            );
            return refuse("readonly", message);
        }
        if !job.files.allow_create {
            return refuse("create", "fio: file creation disallowed by allow_file_create=0".to_owned());
        }
        let only_checks = job.verify.as_ref().is_some_and(|verify| !job.pattern.access.writes || verify.only);
        if only_checks && kind == FileKind::Regular && !self.written.contains(path) {
            let message = format!(
                "fio: verify: {path} has {size_now} bytes, but {needed} must be checked; a new layout would destroy \
                 the written data. Next step: use the --size it was written with",
                path = fsdyno_job::bytes::shown(path)
            );
            return refuse("verify", message);
        }
        Ok(())
    }

    fn start(&self, job: &Job, clone: u32, size_now: u64) -> u64 {
        if job.files.append {
            return size_now;
        }
        let (offset, increment) = (job.files.offset, job.files.offset_increment);
        let start =
            bytes_of(increment, size_now).saturating_mul(u64::from(clone)).saturating_add(bytes_of(offset, size_now));
        match (offset, increment) {
            (Amount::Bytes(_), Amount::Bytes(_)) => start,
            // A percentage is rounded up to a whole block, as in fio, so that direct I/O can begin there.
            _ => {
                let align = job.files.offset_align;
                let align = if align > 0 { align } else { smallest_block_of_all(job).max(1) };
                start.checked_next_multiple_of(align).unwrap_or(start)
            }
        }
    }

    fn make(&self, job: &Job, path: &Path, needed: u64, size_now: u64, kind: FileKind) -> Option<LayoutMethod> {
        if kind == FileKind::Regular && size_now >= needed || job.files.create_on_open {
            return None;
        }
        if self.planned.get(path).is_some_and(|planned| *planned >= needed) || job.files.fill_device {
            return None;
        }
        if job.files.append && kind == FileKind::Regular {
            return Some(LayoutMethod::Extend);
        }
        Some(method(job))
    }

    /// How to make a file again that may be gone when the stage of a job with `create_serialize=0` begins.
    fn make_again(&self, job: &Job, path: &Path, needed: u64) -> Option<LayoutMethod> {
        let gone = !job.files.create_serialize && self.removed.contains(path);
        let made_elsewhere = job.files.create_on_open || job.files.fill_device || job.files.append;
        let may = gone && !made_elsewhere && self.may_lay_out(job, path, needed, 0, FileKind::Missing).is_ok();
        may.then(|| method(job))
    }
}

/// How a file is made anew.
fn method(job: &Job) -> LayoutMethod {
    // A mapping cannot extend its file, and a reader needs data.
    let fill = job.pattern.access.reads || job.files.overwrite || job.submission.engine.maps_files();
    if fill { LayoutMethod::Fill } else { LayoutMethod::Reserve }
}

/// Computes how many bytes of each file a worker uses.
struct Shares<'job> {
    job: &'job Job,
    /// Number of files of the worker.
    count: u64,
    drawn: FileSizes,
    replay: Option<&'job Replay>,
}

impl Shares<'_> {
    /// Bytes used of the file with this index, which has `size_now` bytes and is used from `start` on.
    fn of(&mut self, index: u64, size_now: u64, start: u64) -> u64 {
        if let Some(replay) = self.replay {
            return replay.summary.files.get(index as usize).map_or(0, |file| file.end);
        }
        let rest = size_now.saturating_sub(start);
        let files = &self.job.files;
        if let Some((smallest, largest)) = files.file_size {
            return self.file_size(smallest, largest, size_now).saturating_sub(start);
        }
        match files.size {
            Some(Amount::Bytes(size)) => self.part_of(size, index),
            Some(amount @ Amount::Percent(percent)) => {
                // A percentage is rounded down to whole blocks, as in fio; a file without a whole block is refused
                // later.
                let (share, block) = (bytes_of(amount, size_now).min(rest), smallest_block_of_all(self.job).max(1));
                if percent < 100 && share >= block { share - share % block } else { share }
            }
            // Up to the largest file offset; ENOSPC ends it.
            Some(Amount::Zones(_)) => rest,
            None if files.fill_device => i64::MAX as u64,
            None => rest,
        }
    }

    /// The file size: an existing file whose size is within the range keeps it.
    fn file_size(&mut self, smallest: u64, largest: u64, size_now: u64) -> u64 {
        match smallest == largest || (smallest..=largest).contains(&size_now) {
            true => size_now.clamp(smallest, largest),
            false => self.drawn.draw(smallest, largest, smallest_block_of_all(self.job)),
        }
    }

    /// An equal part of `size`; remaining whole blocks go to the first files.
    fn part_of(&self, size: u64, index: u64) -> u64 {
        let count = self.count.max(1);
        let block = smallest_block_of_all(self.job).max(1);
        let longer = size % count / block;
        size / count + if index < longer { block } else { 0 }
    }
}

/// Whether the file has its size after the layout.
fn sets_size(job: &Job, make: LayoutMethod) -> bool {
    make == LayoutMethod::Fill || !matches!(job.files.fallocate, Fallocate::None | Fallocate::Keep)
}

/// The smallest block of any direction, used or not: fio aligns to it.
fn smallest_block_of_all(job: &Job) -> u64 {
    job.pattern.block_size.iter().map(|(_, size)| size.min()).min().unwrap_or(0)
}

/// Bytes used of all files.
fn amount_of_files(job: &Job, total: u64) -> u64 {
    match job.files.size {
        // Files with `filesize` may be smaller together.
        Some(Amount::Bytes(size)) if job.files.file_size.is_some() => size.min(total),
        Some(Amount::Bytes(size)) => size,
        Some(Amount::Percent(_) | Amount::Zones(_)) | None => total,
    }
}

/// Whether requests return before they are complete: fio ends a pass differently then.
fn keeps_requests_in_flight(job: &Job) -> bool {
    !job.submission.waits_for_each()
}

/// Bytes of a pass: the size; but random overwriting without a map goes on to `io_size`.
fn bytes_of_pass(job: &Job, size: u64, bytes: u64) -> u64 {
    let access = job.pattern.access;
    let overwrites = access.random && access.writes && !job.pattern.random_map;
    if overwrites { size.max(bytes) } else { size }
}

fn bytes_of(amount: Amount, whole: u64) -> u64 {
    match amount {
        Amount::Bytes(bytes) => bytes,
        // Only jobs without known zones have counts of them left, and they do not run.
        Amount::Zones(_) => whole,
        Amount::Percent(percent) => (u128::from(whole) * u128::from(percent) / 100) as u64,
    }
}

fn refuse(code: i32, function: &'static str, path: &Path, reason: &str) -> Refusal {
    Refusal { code, function, message: format!("fio: {} {reason}", fsdyno_job::bytes::shown(path)) }
}

/// Whether a device takes the commands of an engine.
fn takes_commands(job: &Job, path: &Path, kind: FileKind, size_now: u64) -> Result<(), Refusal> {
    let (engine, durability) = (job.submission.engine, &job.durability);
    // A character device has a size if a disk is behind it.
    let fits = match kind {
        FileKind::BlockDevice => engine == EngineName::Sg,
        FileKind::CharacterDevice => size_now > 0,
        FileKind::Unreachable(_) => return Ok(()),
        _ => false,
    };
    if !fits {
        return Err(refuse(EINVAL, "wrong file type", path, no_commands(engine)));
    }
    let synced = durability.end_fsync || durability.fsync_on_close || durability.end_syncfs;
    if kind == FileKind::CharacterDevice && job.pattern.access.writes && synced {
        let why = "takes no fsync of its own. Next step: --fsync=N, which sends the flush as a command";
        return Err(refuse(EINVAL, "fsync", path, why));
    }
    Ok(())
}

/// Why an engine that sends commands cannot use a file.
fn no_commands(engine: EngineName) -> &'static str {
    match engine {
        EngineName::Sg => {
            "is no SCSI disk: ioengine sg only works on block or character devices. Next step: name /dev/sg0 or /dev/sda; \
             `lsscsi -g` lists them"
        }
        _ => {
            "is no NVMe namespace: ioengine io_uring_cmd only works with nvme ns generic char devices (/dev/ngXnY). Next \
             step: name /dev/ng0n1; `nvme list -v` lists them"
        }
    }
}
