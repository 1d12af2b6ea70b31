//! Which bytes of which files a worker uses, and what must be made first.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use job::{Amount, EngineName, Job};
use probe::{FileKind, HostFacts};
use workload::FileRange;

use super::{Refusal, diskless, smallest_block};
use crate::names::file_paths;

const EINVAL: i32 = 22;

/// A file of a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedFile {
    /// Where it is.
    pub path: PathBuf,
    /// First byte used.
    pub start: u64,
    /// Bytes used.
    pub length: u64,
}

impl PlannedFile {
    pub(crate) fn range(&self) -> FileRange {
        FileRange { start: self.start, length: self.length, name: self.path.to_string_lossy().into_owned() }
    }
}

/// Files of one worker that must be made before the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutStep {
    /// Index of the worker.
    pub worker: usize,
    /// Name that fio prints before `Laying out IO file`.
    pub job_name: String,
    /// The files: bytes each must have, and how it gets them.
    pub files: Vec<(PathBuf, u64, Make)>,
}

/// How a missing or short file is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Make {
    /// Only created, its space reserved as `fallocate` says: a writer fills it.
    Reserve,
    /// Written from end to end: a reader needs real data.
    Fill,
}

/// What planning a worker's files gave.
pub(super) struct PlannedFiles {
    pub(super) files: Vec<PlannedFile>,
    pub(super) bytes: u64,
    pub(super) layout: Vec<(PathBuf, u64, Make)>,
    pub(super) refused: Option<Refusal>,
    /// What keeps all jobs from starting, as in fio.
    pub(super) rejection: Option<String>,
}

/// Sizes of all files as they will be once the layouts planned so far are done.
pub(super) struct Sizes<'facts> {
    facts: &'facts HostFacts,
    planned: HashMap<PathBuf, u64>,
}

impl<'facts> Sizes<'facts> {
    pub(super) fn new(facts: &'facts HostFacts) -> Sizes<'facts> {
        Sizes { facts, planned: HashMap::new() }
    }

    fn kind(&self, path: &Path) -> FileKind {
        self.facts.path(path).map_or(FileKind::Missing, |facts| facts.kind)
    }

    fn size(&self, path: &Path) -> u64 {
        let now = self.facts.path(path).and_then(|facts| facts.size_bytes).unwrap_or(0);
        self.planned.get(path).copied().unwrap_or(0).max(now)
    }

    pub(super) fn plan_files(&mut self, job: &Job, clone: u32) -> PlannedFiles {
        let paths = file_paths(job, clone);
        let mut planned =
            PlannedFiles { files: Vec::new(), bytes: 0, layout: Vec::new(), refused: None, rejection: None };
        let count = paths.len() as u64;
        let mut total: u64 = 0;
        for path in paths {
            match self.plan_file(job, clone, &path, count) {
                Ok((file, make)) => {
                    total = total.saturating_add(file.length);
                    if let Some(make) = make {
                        let needed = file.start.saturating_add(file.length);
                        self.planned.insert(path.clone(), needed);
                        planned.layout.push((path, needed, make));
                    }
                    planned.files.push(file);
                }
                Err(refusal) => planned.refused = planned.refused.or(Some(refusal)),
            }
        }
        planned.bytes = amount_of_io(job, total);
        let smallest = u64::from(smallest_block(job));
        let longest = planned.files.iter().map(|file| file.length).max().unwrap_or(0);
        if planned.refused.is_none() && total == 0 {
            planned.refused = Some(Refusal {
                code: EINVAL,
                function: "total_file_size",
                message: format!(
                    "{name}: you need to specify size= (no file exists that would give it). Next step: --size=1g",
                    name = job.name
                ),
            });
        } else if planned.refused.is_none() && longest < smallest {
            planned.rejection = Some(format!(
                "fio: size too small, must not be less than minimum block size: {longest} < {smallest}\n\
                 Next step: raise --size, or lower --bs"
            ));
        }
        planned
    }

    fn plan_file(
        &self,
        job: &Job,
        clone: u32,
        path: &Path,
        count: u64,
    ) -> Result<(PlannedFile, Option<Make>), Refusal> {
        let without_disk = diskless(job.submission.engine);
        let kind = if without_disk { FileKind::Missing } else { self.kind(path) };
        let size_now = if without_disk { 0 } else { self.size(path) };
        let start = self.start(job, clone, size_now);
        let share = share(job, count, size_now);
        let length = share.unwrap_or_else(|| size_now.saturating_sub(start));
        let file = PlannedFile { path: path.to_owned(), start, length };
        match kind {
            FileKind::Directory => {
                Err(refuse(21, "open", path, "is a directory. Next step: name a file in it, or use --directory="))
            }
            FileKind::Unreachable(errno) => {
                let reason = std::io::Error::from_raw_os_error(errno).to_string();
                Err(refuse(errno, "stat", path, &reason))
            }
            FileKind::BlockDevice if start.saturating_add(length) > size_now => Err(refuse(
                EINVAL,
                "size",
                path,
                &format!(
                    "has {size_now} bytes, fewer than offset {start} + size {length}. Next step: leave out --size"
                ),
            )),
            FileKind::Missing | FileKind::Regular if !without_disk => {
                let make = self.make(job, path, start.saturating_add(length), size_now, kind);
                if make.is_some() && length > 0 && !job.files.allow_create {
                    return Err(Refusal {
                        code: 1,
                        function: "create",
                        message: "fio: file creation disallowed by allow_file_create=0".to_string(),
                    });
                }
                Ok((file, make.filter(|_| length > 0)))
            }
            _ => Ok((file, None)),
        }
    }

    fn start(&self, job: &Job, clone: u32, size_now: u64) -> u64 {
        if job.files.append {
            return size_now;
        }
        let increment = bytes_of(job.files.offset_increment, size_now).saturating_mul(u64::from(clone));
        bytes_of(job.files.offset, size_now).saturating_add(increment)
    }

    fn make(&self, job: &Job, path: &Path, needed: u64, size_now: u64, kind: FileKind) -> Option<Make> {
        if kind == FileKind::Regular && size_now >= needed || job.files.create_on_open {
            return None;
        }
        if self.planned.get(path).is_some_and(|planned| *planned >= needed) || job.files.fill_device {
            return None;
        }
        // A mapping cannot grow its file, and a reader needs data.
        let fill = job.pattern.access.reads || job.files.overwrite || job.submission.engine == EngineName::Mmap;
        Some(if fill { Make::Fill } else { Make::Reserve })
    }
}

/// Bytes of one file that `size`, `filesize` or `fill_device` ask for; `None`: what exists.
fn share(job: &Job, count: u64, size_now: u64) -> Option<u64> {
    if let Some((smallest, _)) = job.files.file_size {
        return Some(smallest);
    }
    match job.files.size {
        Some(Amount::Bytes(size)) => Some(size / count.max(1)),
        Some(amount @ Amount::Percent(_)) => Some(bytes_of(amount, size_now)),
        // As far as the largest file offset; ENOSPC ends it.
        None if job.files.fill_device => Some(i64::MAX as u64),
        None => None,
    }
}

/// Bytes that one loop transfers.
fn amount_of_io(job: &Job, total: u64) -> u64 {
    let size = match job.files.size {
        Some(Amount::Bytes(size)) => size,
        Some(Amount::Percent(_)) | None => total,
    };
    match job.extent.io_size {
        None => size,
        Some(amount) => bytes_of(amount, size),
    }
}

fn bytes_of(amount: Amount, whole: u64) -> u64 {
    match amount {
        Amount::Bytes(bytes) => bytes,
        Amount::Percent(percent) => (u128::from(whole) * u128::from(percent) / 100) as u64,
    }
}

fn refuse(code: i32, function: &'static str, path: &Path, reason: &str) -> Refusal {
    Refusal { code, function, message: format!("fio: {} {reason}", path.display()) }
}
