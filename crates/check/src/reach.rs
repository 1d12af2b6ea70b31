//! Which layer serves the I/Os of a test: the caches that take part in its figures.

use job::Job;
use results::evidence::StorageClass;

/// One phrase: what serves the I/Os of this job on a storage of this kind.
pub(crate) fn of(job: &Job, class: StorageClass) -> String {
    let durability = &job.durability;
    let synced =
        durability.fsync_every > 0 || durability.fdatasync_every > 0 || job.submission.sync_open != job::SyncOpen::None;
    let access = job.pattern.access;
    let beyond = match class {
        StorageClass::Memory => return "memory is the storage".to_string(),
        StorageClass::Network => "the server, with its caches",
        StorageClass::Fuse => "the daemon, with its caches",
        StorageClass::HostShare => "the host, with its caches",
        StorageClass::Block | StorageClass::Device | StorageClass::Kernel | StorageClass::Unknown => {
            "the device, with its cache"
        }
    };
    match (job.submission.direct, access.reads, access.writes && !synced) {
        (true, ..) => format!("direct I/O to {beyond}"),
        (false, true, _) => format!("this machine's page cache takes part, before {beyond}"),
        (false, false, true) => "written to this machine's page cache, not synced".to_string(),
        (false, false, false) => format!("each write synced to {beyond}"),
    }
}
