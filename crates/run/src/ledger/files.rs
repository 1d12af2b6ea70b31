//! Reads the files of a run: their state before and after, and their cached pages in between.
//!
//! They are read through the ledger's own descriptors, opened for reading and without O_DIRECT when a stage begins.
//! Where an open descriptor would change the measurement (FUSE mounts, whose daemon and kernel cache per open file;
//! block devices, which are flushed by the last close), the state is read by path, or not at all.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use fsdyno_os::files::{FileError, FileKind, OpenFile, Reach, extents_of, page_cache_of};
use fsdyno_results::evidence::{CacheCounters, FileEvidence, FileState, RecordedFact};

use crate::plan::{FILES_KEPT, Plan, WorkerPlan};

/// Extents of a file with more dirty bytes are not read, as the flush before would delay the run.
const FLUSHED_BYTES_MAX: u64 = 64 << 20;

/// How the state of a file may be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OpenMode {
    /// Through a descriptor that stays open during the stage.
    Held,
    /// The same without page counts: a file of an overlay has its pages in another file.
    Overlaid,
    /// Opened for each reading: a block device.
    Briefly,
    /// Never opened: FUSE.
    Unopened,
}

/// A file of the run.
#[derive(Debug)]
struct WatchedFile {
    path: PathBuf,
    reach: Reach,
    /// The stages that use it.
    stages: Vec<u32>,
    open_mode: OpenMode,
    open: Result<OpenFile, String>,
    before: Option<RecordedFact<FileState>>,
    before_later: BTreeMap<u32, RecordedFact<FileState>>,
    after: RecordedFact<FileState>,
}

/// The files of the run that are sampled.
#[derive(Debug)]
pub(super) struct Files {
    looked: Vec<WatchedFile>,
    /// Number of files that are not sampled.
    left_out: u64,
}

impl Files {
    /// The files of the plan: the first file of each worker, then the second of each, and so on, up to the limit.
    pub(super) fn of(plan: &Plan) -> Files {
        let workers = || plan.workers.iter().filter(|worker| uses_files(worker));
        let mut looked: Vec<WatchedFile> = Vec::new();
        for index in 0..FILES_KEPT {
            for worker in workers() {
                let Some(file) = worker.files.get(index) else { continue };
                let below_limit = looked.len() < plan.watched_max;
                match looked.iter_mut().find(|known| *known.path == *file.path) {
                    Some(known) if known.stages.contains(&worker.stage) => {}
                    Some(known) => known.stages.push(worker.stage),
                    None if below_limit => looked.push(WatchedFile::new(worker, &file.path)),
                    None => {}
                }
            }
        }
        let known: HashSet<&Path> = looked.iter().map(|file| file.path.as_path()).collect();
        let others = workers().flat_map(|worker| &worker.files).filter(|file| !known.contains(&*file.path));
        let left_out = others.count() as u64;
        Files { looked, left_out }
    }

    /// Number of files that are not sampled; a file that several workers share counts for each.
    pub(super) fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Opens the files of a stage and reads their state. `first`: no I/O has been done yet, so that a flush disturbs
    /// nothing.
    pub(super) fn begin_stage(&mut self, stage: u32, first: bool, fstype_of: impl Fn(&Path) -> Option<String>) {
        for file in self.looked.iter_mut().filter(|file| file.stages.contains(&stage)) {
            file.open_mode = open_mode(file, fstype_of(&file.path).as_deref());
            let state = file.begin(first).into();
            match file.before {
                None => file.before = Some(state),
                Some(_) => drop(file.before_later.insert(stage, state)),
            }
        }
    }

    /// Cached pages of the stage's files. Not visible if those of one file are not: a part would look like the whole.
    pub(super) fn pages(&self, stage: u32) -> Result<CacheCounters, String> {
        let mut sum: Option<CacheCounters> = None;
        for file in self.looked.iter().filter(|file| file.stages.contains(&stage)) {
            if file.open_mode == OpenMode::Overlaid {
                return Err("an overlay's files have their pages in the filesystems below it".to_owned());
            }
            let open = file.open.as_ref().map_err(String::clone)?;
            let pages = page_cache_of(open).map_err(|error| error.to_string())?;
            let add = |sum: Option<u64>, more: Option<u64>| sum.zip(more).map(|(sum, more)| sum + more);
            let so_far = sum.unwrap_or(CacheCounters {
                cached_bytes: 0,
                dirty_bytes: Some(0),
                writeback_bytes: Some(0),
                evicted_bytes: Some(0),
            });
            sum = Some(CacheCounters {
                cached_bytes: so_far.cached_bytes + pages.cached_bytes,
                dirty_bytes: add(so_far.dirty_bytes, pages.dirty_bytes),
                writeback_bytes: add(so_far.writeback_bytes, pages.writeback_bytes),
                evicted_bytes: add(so_far.evicted_bytes, pages.evicted_bytes),
            });
        }
        sum.ok_or_else(|| "the stage has no files".to_owned())
    }

    /// Reads the state of a stage's files at its end.
    pub(super) fn end_stage(&mut self, stage: u32) {
        for file in self.looked.iter_mut().filter(|file| file.stages.contains(&stage)) {
            file.after = file.state(false).into();
        }
    }

    /// Closes the files.
    pub(super) fn close(&mut self) {
        for file in &mut self.looked {
            file.open = Err("no stage runs".to_owned());
        }
    }

    /// The files' evidence for the ledger.
    pub(super) fn evidence(&self) -> Vec<FileEvidence> {
        let evidence = |file: &WatchedFile| FileEvidence {
            path: fsdyno_job::bytes::shown(&file.path),
            before: file.before.clone().unwrap_or_default(),
            before_later: file.before_later.clone(),
            after: file.after.clone(),
        };
        self.looked.iter().map(evidence).collect()
    }
}

fn uses_files(worker: &WorkerPlan) -> bool {
    worker.refused.is_none() && !worker.job.submission.engine.is_diskless()
}

fn open_mode(file: &WatchedFile, fstype: Option<&str>) -> OpenMode {
    let opening_matters = |fstype: &str| fsdyno_probe::is_fuse(fstype) || fstype == "virtiofs";
    let is_device = file.reach.look(&file.path).is_ok_and(|looked| looked.kind == Some(FileKind::BlockDevice));
    match fstype {
        _ if is_device => OpenMode::Briefly,
        Some(fstype) if opening_matters(fstype) => OpenMode::Unopened,
        Some("overlay") => OpenMode::Overlaid,
        _ => OpenMode::Held,
    }
}

impl WatchedFile {
    fn new(worker: &WorkerPlan, path: &Path) -> WatchedFile {
        WatchedFile {
            path: path.to_owned(),
            reach: worker.reach.clone(),
            stages: vec![worker.stage],
            open_mode: OpenMode::Unopened,
            open: Err("no stage runs".to_owned()),
            before: None,
            before_later: BTreeMap::new(),
            after: RecordedFact::default(),
        }
    }

    fn begin(&mut self, first: bool) -> Result<FileState, String> {
        self.open = match self.open_mode {
            OpenMode::Held | OpenMode::Overlaid => self.open(),
            OpenMode::Briefly => {
                Err("another open descriptor would delay what the last close of a device does".to_owned())
            }
            OpenMode::Unopened => Err("FUSE: another open descriptor would change what the daemon caches".to_owned()),
        };
        self.state(first)
    }

    /// Reads the state through the open descriptor, if there is one, as the name may be gone. `flush`: a few dirty
    /// pages may be written back for it.
    fn state(&self, flush: bool) -> Result<FileState, String> {
        match (&self.open, self.open_mode) {
            (Ok(file), mode) => state(file, flush, mode != OpenMode::Overlaid),
            (Err(_), OpenMode::Unopened) => self.unopened_state(),
            (Err(_), mode) => state(&self.open()?, flush, mode != OpenMode::Overlaid),
        }
    }

    fn open(&self) -> Result<OpenFile, String> {
        self.reach.open_to_look(&self.path).map_err(|error| description(&error))
    }

    fn unopened_state(&self) -> Result<FileState, String> {
        let looked = self.reach.look(&self.path).map_err(|error| description(&error))?;
        let (size_bytes, allocated_bytes) = (looked.size_bytes, looked.allocated_bytes);
        Ok(FileState { size_bytes, allocated_bytes, ..FileState::default() })
    }
}

/// The error without its advice: a failed sample needs no action.
fn description(error: &FileError) -> String {
    format!("{}: {}", fsdyno_job::bytes::shown(&error.path), std::io::Error::from_raw_os_error(error.code))
}

/// `has_pages`: whether the kernel counts the file's own pages.
fn state(file: &OpenFile, flush: bool, has_pages: bool) -> Result<FileState, String> {
    let size_bytes = file.size().map_err(|error| error.to_string())?;
    let pages = has_pages.then(|| page_cache_of(file).ok()).flatten();
    let dirty = pages.and_then(|pages| Some(pages.dirty_bytes?.saturating_add(pages.writeback_bytes?)));
    let extents = match (dirty, flush) {
        (Some(0), _) => extents_of(file, size_bytes, false).ok(),
        (None, true) => extents_of(file, size_bytes, true).ok(),
        (Some(dirty), true) if dirty <= FLUSHED_BYTES_MAX => extents_of(file, size_bytes, true).ok(),
        // Dirty pages have no extents yet: the list would be incomplete.
        _ => None,
    };
    Ok(FileState {
        size_bytes,
        allocated_bytes: file.allocated().map_err(|error| error.to_string())?,
        written_bytes: extents.map(|extents| extents.written_bytes),
        unwritten_bytes: extents.map(|extents| extents.unwritten_bytes),
        encoded_bytes: extents.map(|extents| extents.encoded_bytes),
        shared_bytes: extents.map(|extents| extents.shared_bytes).filter(|bytes| *bytes > 0),
        examined_bytes: extents.map(|extents| extents.examined_bytes),
        // The last page may reach beyond the end of the file.
        cached_bytes: pages.map(|pages| pages.cached_bytes.min(size_bytes)),
    })
}
