//! Says which layer serves the I/Os of a test: the caches that take part in its figures.

use fsdyno_job::Job;
use fsdyno_results::evidence::{Storage, StorageClass};

/// What serves requests to an object store.
pub(crate) const STORE: &str = "the store, with its caches";

/// A phrase: what serves the I/Os of this job on this storage.
pub(crate) fn of(job: &Job, storage: &Storage) -> String {
    if !job.submission.engine.has_paths() {
        return STORE.to_string();
    }
    let durability = &job.durability;
    let synced = durability.fsync_every > 0
        || durability.fdatasync_every > 0
        || job.submission.sync_open != fsdyno_job::SyncOpen::None;
    let access = job.pattern.access;
    if storage.in_memory().is_some() {
        return "memory is the storage".to_string();
    }
    let beyond = match storage.class {
        StorageClass::Network => "the server, with its caches",
        StorageClass::Fuse => "the daemon, with its caches",
        StorageClass::HostShare => "the host, with its caches",
        _ => "the device, with its cache",
    };
    match (job.submission.direct, access.reads, access.writes && !synced) {
        (true, ..) => format!("direct I/O to {beyond}"),
        (false, true, _) => format!("this machine's page cache takes part, before {beyond}"),
        (false, false, true) => "written to this machine's page cache, not synced".to_string(),
        (false, false, false) => format!("each write synced to {beyond}"),
    }
}
