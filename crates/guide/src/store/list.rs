//! Lists the runs of a store in brief. The index holds what each file contained when it was last read; a file that has
//! changed since is read again.

use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use fsdyno_os::files::{Stamp, stamp_of, text};
use fsdyno_results::Digest;
use fsdyno_stats::sort;
use fsdyno_text::quantity::counted;

use super::index::{Index, IndexEntry};
use super::unreadable;
use crate::Problem;

/// With more files to read than this, a message says why it takes long.
const TOLD: usize = 500;

/// The runs, the oldest first. `warn` is called for files that are no runs.
///
/// # Errors
/// When the directory exists but cannot be read.
pub(super) fn read(directory: &Path, warn: fn(&Problem)) -> Result<Vec<IndexEntry>, Problem> {
    let mut index = Index::read(directory);
    let (mut listed, mut unread) = (Vec::new(), Vec::new());
    for name in names(directory)? {
        let path = directory.join(&name);
        match stamp_of(&path).and_then(|stamp| Ok((stamp, text(name.into_encoded_bytes())?))) {
            Ok((stamp, name)) => match index.take(&name, stamp) {
                Some(digest) => listed.push(IndexEntry { name, stamp, digest }),
                None => unread.push((name, stamp)),
            },
            // The file was removed after the names were read.
            Err(error) if error.kind() == ErrorKind::NotFound && !path.is_symlink() => {}
            Err(error) => warn(&unreadable(&path, &error)),
        }
    }
    if unread.len() > TOLD {
        let count = counted(unread.len() as u64, "saved run");
        warn(&Problem::new(format!("reading {count} in {} once, for the index of later lists", directory.display())));
    }
    let known_bytes = listed.iter().map(|entry| entry.stamp[0]).sum::<u64>();
    let mut read_bytes = 0;
    for ((name, stamp), read) in unread.iter().zip(read_all(directory, &unread)) {
        match read {
            Ok(digest) => {
                read_bytes += stamp[0];
                listed.push(IndexEntry { name: name.clone(), stamp: *stamp, digest });
            }
            Err(problem) => warn(&problem),
        }
    }
    if index.pays(known_bytes + read_bytes, read_bytes) {
        sort::by(&mut listed, |one, other| one.name.cmp(&other.name));
        Index::write(directory, &listed);
    }
    sort::by(&mut listed, |one, other| {
        (one.digest.started_ms, &one.digest.id).cmp(&(other.digest.started_ms, &other.digest.id))
    });
    Ok(listed)
}

/// The names of the files that can be runs.
///
/// # Errors
/// When the directory exists but cannot be read.
pub(super) fn names(directory: &Path) -> Result<Vec<OsString>, Problem> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(unreadable(directory, &error)),
    };
    let names = entries.flatten().map(|entry| entry.file_name());
    Ok(names.filter(|name| Path::new(name).extension().is_some_and(|extension| extension == "json")).collect())
}

/// The digests of the files, in their order, read by several threads where that is faster.
fn read_all(directory: &Path, files: &[(String, Stamp)]) -> Vec<Result<Digest, Problem>> {
    const FILES_PER_THREAD: usize = 16;
    /// The parser recurses into nested values.
    const STACK_BYTES: usize = 1 << 20;
    let next = AtomicUsize::new(0);
    let work = || {
        let mut read = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some((name, _)) = files.get(number) else { return read };
            read.push((number, super::read(&directory.join(name)).map(|study| Digest::of(&study))));
        }
    };
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    let helpers = processors.min(files.len() / FILES_PER_THREAD + 1) - 1;
    let mut read = std::thread::scope(|scope| {
        let start = |_| fsdyno_os::thread::begin_scoped(scope, "reader", STACK_BYTES, work).ok();
        let helpers: Vec<_> = (0..helpers).map_while(start).collect();
        let mut read = work();
        for helper in helpers {
            read.extend(helper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        read
    });
    sort::by_key(&mut read, |(number, _)| *number);
    read.into_iter().map(|(_, read)| read).collect()
}
