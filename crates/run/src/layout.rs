//! Lays out a file before the run: makes it long enough, and full of real data where a job will read it.
//!
//! The result is that of fio (size, allocated blocks, incompressible content), but made faster: by large writes
//! whatever the block size, written back while the next ones are made. A file grows as it is written and
//! never has its full length before it is complete, so that a layout that was cut short, even by a power cut,
//! is seen as too short and made again.

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
pub use parts::Part;
pub(crate) use parts::{fill_range, has_all_parts, make_empty, take_back};
use write_behind::WriteBehind;

/// Bytes made and written at a time, or a little less: whole blocks.
const CHUNK_BYTES: usize = 1 << 20;

/// A file that must be long enough.
#[derive(Clone, Debug)]
pub(crate) struct LayoutRequest<'job> {
    /// How it is reached.
    pub(crate) reach: &'job Reach,
    /// Where it is. Missing directories on the way are made.
    pub(crate) path: &'job Path,
    /// Bytes that it must have: offset and share of the size.
    pub(crate) bytes_needed: u64,
    /// Written from end to end (jobs that read, `overwrite`), only created and reserved, or extended.
    pub(crate) method: LayoutMethod,
    /// How its space is reserved.
    pub(crate) fallocate: Fallocate,
    /// What it is filled with.
    pub(crate) content: &'job fsdyno_job::Content,
    /// The job's block size for writes, bytes (1 and up): patterns begin anew with each block.
    pub(crate) block_bytes: u64,
    /// Seed of the random content.
    pub(crate) seed: u64,
    /// fsync it when it is filled.
    pub(crate) create_fsync: bool,
}

/// What the layout of one file came to.
#[derive(Debug)]
pub(crate) enum LaidOut {
    /// It was long enough, or is no regular file: not touched.
    Untouched,
    /// It was made.
    Made {
        /// Its space could not be reserved, and the run may find the disk full.
        unreserved: Option<FileError>,
    },
}

/// Why a file could not be laid out. Nothing is left of it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LayoutError {
    /// The run is to end.
    #[error("the layout of {path} was interrupted; the incomplete file was removed", path = fsdyno_job::bytes::shown(path))]
    Interrupted {
        /// The file.
        path: PathBuf,
    },
    /// An operation on the file failed.
    #[error("{error}{place}", place = place(*offset))]
    File {
        /// The system call, as fio's `func=` names it.
        function: &'static str,
        /// Where in the file, if it was about a place.
        offset: Option<u64>,
        /// What failed and why.
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

/// Puts the name of the system call to a failure.
fn in_call(function: &'static str) -> impl Fn(FileError) -> LayoutError {
    move |error| LayoutError::File { function, offset: None, error }
}

fn place(offset: Option<u64>) -> String {
    offset.map(|offset| format!("; at offset {offset}")).unwrap_or_default()
}

/// Makes the file unless it serves already. `meter` counts the bytes of `bytes_needed` in any case.
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

/// Reserves space behind what a file has, which stays.
fn extend(request: &LayoutRequest<'_>, meter: &mut Meter<'_>) -> Result<LaidOut, LayoutError> {
    let mode = OpenMode::buffered(FileAccess::Write);
    let file = request.reach.open_regular(request.path, mode).map_err(in_call("open"))?;
    let unreserved = reserve_for_writer(&file, request)?;
    meter.add(request.bytes_needed);
    file.close().map_err(in_call("close")).map(|()| LaidOut::Made { unreserved })
}

/// Long enough, or nothing that could be made anew: a device, a pipe.
pub(crate) fn serves(request: &LayoutRequest<'_>) -> bool {
    match request.reach.look(request.path).map(|looked| (looked.kind, looked.size_bytes)) {
        Ok((Some(FileKind::Regular), size_bytes)) => size_bytes >= request.bytes_needed,
        Ok((kind, _)) => kind.is_some(),
        Err(_) => false,
    }
}

/// An empty file. An old one goes away first, so that others who hold it open keep theirs; a link that the user named
/// stays and its target is emptied.
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

/// Takes back what was made of a file: empty first, so that it looks incomplete even if it cannot be removed.
/// The failure that led here is the one to tell; another one on the way out adds nothing.
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
    // Advice; a file system that does not take it is no failure.
    let _ = file.drop_cache(0, request.bytes_needed);
    Ok(LaidOut::Made { unreserved })
}

/// Reserves space for a job that only writes. As with fio, native and posix reservation may fail and the job
/// still runs; keep and truncate were asked for by name.
fn reserve_for_writer(file: &OpenFile, request: &LayoutRequest<'_>) -> Result<Option<FileError>, LayoutError> {
    let function = if request.fallocate == Fallocate::Truncate { "ftruncate" } else { "fallocate" };
    match (file.allocate(request.fallocate, request.bytes_needed), request.fallocate) {
        (Ok(()), _) => Ok(None),
        (Err(error), Fallocate::Native | Fallocate::Posix) => Ok(Some(error)),
        (Err(error), _) if error.cause == FileCause::Unsupported => Ok(Some(error)),
        (Err(error), _) => Err(in_call(function)(error)),
    }
}

/// Reserves space for a file that will be written at once. Its length must not show before it is complete, and a
/// disk that is too small is better found before it is full.
fn reserve_for_filling(file: &OpenFile, request: &LayoutRequest<'_>) -> Result<(), LayoutError> {
    if matches!(request.fallocate, Fallocate::None | Fallocate::Truncate) {
        return Ok(());
    }
    match file.allocate(Fallocate::Keep, request.bytes_needed) {
        // fio finds it at a write, and its name for the place is what scripts look for.
        Err(error) if error.cause == FileCause::NoSpace => Err(in_call("write")(error)),
        // Reserving is a help, not a must: the writes that follow find out what matters.
        _ => Ok(()),
    }
}

/// `dedupe_mode=working_set`: what the blocks of the file repeat.
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

/// Fills whole chunks, or those at the end of the file.
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
