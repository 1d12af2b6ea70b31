//! Lays out a file before the run: makes it long enough, and fills it with real data where a job will read it.
//!
//! The result equals fio's (size, allocated blocks, incompressible content), but is made faster: by large writes
//! whatever the block size, which are written back while the next ones are made. A file grows as it is written and has
//! its full length only when it is complete: a layout that was interrupted, even by a power failure, is recognised by
//! its size and made again.

mod meter;
mod parts;
mod write_behind;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use fsdyno_job::Fallocate;
use fsdyno_os::errno::EINTR;
use fsdyno_os::files::{FileAccess, FileCause, FileError, FileKind, OpenFile, OpenMode, Reach};
use fsdyno_workload::{Content, RepeatedBlocks};

use crate::plan::LayoutMethod;
pub(crate) use meter::{Meter, Progress};
pub use parts::LayoutPart;
pub(crate) use parts::{fill_range, has_all_parts, make_empty, take_back};
use write_behind::WriteBehind;

/// Bytes made and written at a time, rounded down to whole blocks.
const CHUNK_BYTES: usize = 1 << 20;

/// The request to make a file long enough.
#[derive(Clone, Debug)]
pub(crate) struct LayoutRequest<'job> {
    /// How the file is opened.
    pub(crate) reach: &'job Reach,
    /// The file's path. Missing directories are made.
    pub(crate) path: &'job Path,
    /// Bytes that the file must have: offset plus its share of the size.
    pub(crate) bytes_needed: u64,
    /// How it is made: written from end to end (jobs that read, `overwrite`), only created and reserved, or extended.
    pub(crate) method: LayoutMethod,
    /// How its space is reserved.
    pub(crate) fallocate: Fallocate,
    /// The content that it is filled with.
    pub(crate) content: &'job fsdyno_job::Content,
    /// The job's block size for writes, bytes (1 and up): patterns begin again with each block.
    pub(crate) block_bytes: u64,
    /// Seed of the random content.
    pub(crate) seed: u64,
    /// Whether to fsync the file when it is filled.
    pub(crate) create_fsync: bool,
}

/// The result of a layout.
#[derive(Debug)]
pub(crate) enum LaidOut {
    /// It was long enough, or is no regular file: it was not touched.
    Untouched,
    /// It was made.
    Made {
        /// Why its space could not be reserved; the run may then find the disk full.
        unreserved: Option<FileError>,
    },
}

/// Why a file could not be laid out. Nothing of it is left.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LayoutError {
    /// The run was told to end.
    #[error("the layout of {path} was interrupted; the incomplete file was removed", path = fsdyno_job::bytes::shown(path))]
    Interrupted {
        /// The file's path.
        path: PathBuf,
    },
    /// An operation on the file failed.
    #[error("{error}{place}", place = place(*offset))]
    File {
        /// The system call, as fio's `func=` names it.
        function: &'static str,
        /// The offset in the file, if the operation has one.
        offset: Option<u64>,
        /// The error.
        error: FileError,
    },
}

impl LayoutError {
    /// errno.
    pub(crate) fn code(&self) -> i32 {
        match self {
            LayoutError::Interrupted { .. } => EINTR,
            LayoutError::File { error, .. } => error.code,
        }
    }

    /// The system call that failed, as fio's `func=` names it.
    pub(crate) fn function(&self) -> &'static str {
        match self {
            LayoutError::Interrupted { .. } => "layout",
            LayoutError::File { function, .. } => function,
        }
    }
}

/// Adds the name of the system call to an error.
fn in_call(function: &'static str) -> impl Fn(FileError) -> LayoutError {
    move |error| LayoutError::File { function, offset: None, error }
}

fn place(offset: Option<u64>) -> String {
    offset.map(|offset| format!("; at offset {offset}")).unwrap_or_default()
}

/// Makes the file unless it is long enough already. `meter` counts `bytes_needed` in both cases.
pub(crate) fn lay_out(
    request: &LayoutRequest<'_>,
    meter: &mut Meter<'_>,
    stop: &AtomicBool,
) -> Result<LaidOut, LayoutError> {
    if serves(request) {
        meter.add(request.bytes_needed);
        return Ok(LaidOut::Untouched);
    }
    request.reach.make_parents(request.path).map_err(in_call("mkdir"))?;
    if request.method == LayoutMethod::Extend {
        return extend(request, meter);
    }
    let file = begin(request)?;
    let made = make(&file, request, meter, stop);
    match made {
        Ok(laid_out) => file.close().map_err(in_call("close")).map(|()| laid_out),
        Err(error) => {
            discard(request.reach, file);
            Err(error)
        }
    }
}

/// Reserves space behind the existing bytes of a file, which stay.
fn extend(request: &LayoutRequest<'_>, meter: &mut Meter<'_>) -> Result<LaidOut, LayoutError> {
    let mode = OpenMode::buffered(FileAccess::Write);
    let file = request.reach.open_regular(request.path, mode).map_err(in_call("open"))?;
    let unreserved = reserve_for_writer(&file, request)?;
    meter.add(request.bytes_needed);
    file.close().map_err(in_call("close")).map(|()| LaidOut::Made { unreserved })
}

/// Whether the file needs no layout: it is long enough, or is a device or pipe, which cannot be made.
pub(crate) fn serves(request: &LayoutRequest<'_>) -> bool {
    match request.reach.look(request.path).map(|looked| (looked.kind, looked.size_bytes)) {
        Ok((Some(FileKind::Regular), size_bytes)) => size_bytes >= request.bytes_needed,
        Ok((kind, _)) => kind.is_some(),
        Err(_) => false,
    }
}

/// Makes an empty file. An old file is removed first, so that others who have it open keep it; a symbolic link that the
/// user named stays, and its target is truncated.
fn begin(request: &LayoutRequest<'_>) -> Result<OpenFile, LayoutError> {
    let LayoutRequest { reach, path, .. } = request;
    if !reach.follows_link(path) {
        match reach.remove(path) {
            Err(error) if error.cause != FileCause::Missing => return Err(in_call("unlink")(error)),
            _ => {}
        }
    }
    let mode = OpenMode { create: true, ..OpenMode::buffered(FileAccess::Write) };
    let file = reach.open_regular(path, mode).map_err(in_call("open"))?;
    file.truncate(0).map_err(in_call("ftruncate"))?;
    Ok(file)
}

/// Removes an incomplete file. It is truncated first, so that it is recognised as incomplete even if it cannot be
/// removed. Further errors are ignored: the caller reports the first one.
fn discard(reach: &Reach, file: OpenFile) {
    let _ = file.truncate(0);
    if !reach.follows_link(&file.path()) {
        let _ = reach.remove(&file.path());
    }
}

fn make(
    file: &OpenFile,
    request: &LayoutRequest<'_>,
    meter: &mut Meter<'_>,
    stop: &AtomicBool,
) -> Result<LaidOut, LayoutError> {
    let unreserved = if request.method == LayoutMethod::Fill {
        reserve_for_filling(file, request)?;
        fill(file, request, 0..request.bytes_needed, meter, stop)?;
        None
    } else {
        let unreserved = reserve_for_writer(file, request)?;
        meter.add(request.bytes_needed);
        unreserved
    };
    // This is only advice: a filesystem that refuses it is no failure.
    let _ = file.drop_cache(0, request.bytes_needed);
    Ok(LaidOut::Made { unreserved })
}

/// Reserves space for a job that only writes. As in fio, native and posix reservation may fail and the job still runs;
/// keep and truncate must succeed, as they were asked for by name.
fn reserve_for_writer(file: &OpenFile, request: &LayoutRequest<'_>) -> Result<Option<FileError>, LayoutError> {
    let function = if request.fallocate == Fallocate::Truncate { "ftruncate" } else { "fallocate" };
    match (file.allocate(request.fallocate, request.bytes_needed), request.fallocate) {
        (Ok(()), _) => Ok(None),
        (Err(error), Fallocate::Native | Fallocate::Posix) => Ok(Some(error)),
        (Err(error), _) if error.cause == FileCause::Unsupported => Ok(Some(error)),
        (Err(error), _) => Err(in_call(function)(error)),
    }
}

/// Reserves space for a file that will be written at once. Its length must not be visible before it is complete, and a
/// disk that is too small should be found before it is full.
fn reserve_for_filling(file: &OpenFile, request: &LayoutRequest<'_>) -> Result<(), LayoutError> {
    if matches!(request.fallocate, Fallocate::None | Fallocate::Truncate) {
        return Ok(());
    }
    match file.allocate(Fallocate::Keep, request.bytes_needed) {
        // fio finds it in a write; scripts look for this name.
        Err(error) if error.cause == FileCause::NoSpace => Err(in_call("write")(error)),
        // The reservation is optional: the following writes find errors that matter.
        _ => Ok(()),
    }
}

/// `dedupe_mode=working_set`: the blocks that the file repeats.
fn repeated(request: &LayoutRequest<'_>) -> Vec<RepeatedBlocks> {
    let dedupe = request.content.dedupe;
    let count = dedupe.and_then(|dedupe| dedupe.working_set(request.bytes_needed, request.block_bytes));
    count.map(|count| RepeatedBlocks { seed: request.seed, count }).into_iter().collect()
}

/// Bytes of a chunk: whole blocks.
fn chunk_bytes(request: &LayoutRequest<'_>) -> u64 {
    let block_bytes = request.block_bytes.max(1) as usize;
    ((CHUNK_BYTES / block_bytes).max(1) * block_bytes) as u64
}

/// Fills whole chunks, or the last ones of the file.
fn fill(
    file: &OpenFile,
    request: &LayoutRequest<'_>,
    range: Range<u64>,
    meter: &mut Meter<'_>,
    stop: &AtomicBool,
) -> Result<(), LayoutError> {
    let mut content = Content::new(request.content, request.seed)
        .repeating(&repeated(request), &fsdyno_workload::random_seeds(request.seed, 1))
        .made_by(fsdyno_engine::fill::stores());
    let block_bytes = request.block_bytes.max(1) as usize;
    let mut buffer = vec![0; chunk_bytes(request) as usize];
    let mut behind = WriteBehind::new(request.create_fsync, range.start);
    let mut offset = range.start;
    while offset < range.end {
        if stop.load(Ordering::Relaxed) {
            return Err(LayoutError::Interrupted { path: request.path.to_owned() });
        }
        let length = (range.end - offset).min(buffer.len() as u64);
        let chunk = &mut buffer[..length as usize];
        chunk.chunks_mut(block_bytes).for_each(|block| content.fill(block));
        let at = Some(offset);
        file.write_all_at(chunk, offset).map_err(|error| LayoutError::File { function: "write", offset: at, error })?;
        offset += length;
        behind.written_to(file, offset).map_err(in_call("write"))?;
        meter.add(length);
    }
    if request.create_fsync {
        file.sync().map_err(in_call("fsync"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
