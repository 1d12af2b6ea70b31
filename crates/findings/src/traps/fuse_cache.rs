//! T6: a FUSE daemon's local cache.

use fsdyno_results::evidence::StorageClass;
use fsdyno_results::{Finding, ReadWrite, Severity};

use crate::evidence::{BYTES_MIN, Evidence, Flow, FuseBackend, JobInStage, Stage, Transfer, connected};
use crate::explanation::Explanation;
use crate::report::Report;
use crate::units::{percent, rate, size};

pub(crate) const ID: &str = "fuse-cache";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T6",
    title: "A FUSE mount answered from its local cache",
    happens: "s3fs, JuiceFS, rclone and others keep objects in memory or in a local directory. Reads are served from \
              there, and writes stay there until fsync or close. The number is then that of the local disk or memory, \
              not of the object storage. Direct I/O on the mount does not bypass the daemon's cache.",
    seen: "From 256 KiB on, the bytes on the network to the daemon's server are compared with those that the job \
           moved. Reported if 10 % or more did not cross the network, invalid from 50 % on. If others use the \
           interface too, the daemon's own connections are counted. That is a caution only, since short connections \
           are missed. Daemons without a server (bindfs, gocryptfs) have no network. For reads, the bytes that the \
           daemon and its helpers, or the devices below, have read are compared instead; where neither is visible, it \
           is `not-visible`. Whether their writes reached storage is visible at a device only.",
    advice: "For reads use objects that this machine has not touched since the mount, or mount without the cache: \
             s3fs without the option use_cache, rclone with vfs-cache-mode off. For writes add --end_fsync=1, and \
             include the close.",
    documented: "s3fs-fuse manual, use_cache; s3fs-fuse issues 1310, 2079, 829; JuiceFS performance evaluation guide",
};

/// The share from the cache from which on it is reported.
const CAUTION: f64 = 0.1;
/// The share from which on the number is mostly the cache's.
const INVALID: f64 = 0.5;

/// Daemons, the option that sets up their cache, and how to mount without it.
const WITHOUT: [(&str, &str, &str); 2] =
    [("s3fs", "use_cache", "without the option use_cache"), ("rclone", "vfs-cache-mode", "with vfs-cache-mode off")];

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let on_fuse = evidence.byte_flows().filter(|(stage, ..)| stage.class() == Some(StorageClass::Fuse));
    on_fuse
        .filter_map(|(stage, row, flow)| match row.fuse_backend(connected(flow.end)) {
            FuseBackend::Server => {
                judge(stage, row, flow, Transfer::Read).or_else(|| judge(stage, row, flow, Transfer::Write))
            }
            FuseBackend::Unknown if flow.wire.is_some() => None,
            FuseBackend::ThisMachine | FuseBackend::Unknown => read_here(stage, row, flow),
        })
        .collect()
}

/// Reads through a daemon without a server: what the storage read for it and its helpers, or what the devices below
/// delivered.
fn read_here(stage: &Stage<'_>, row: &JobInStage<'_>, flow: &Flow<'_>) -> Option<Finding> {
    let asked = flow.application.bytes.read;
    if !row.reads() || !stage.reads_are_the_workload() {
        return None;
    }
    let storage = flow.storage.read.as_ref()?;
    let moved = storage.bytes;
    let share = asked.saturating_sub(moved) as f64 / asked.max(1) as f64;
    if asked < BYTES_MIN || share < CAUTION {
        return None;
    }
    let kind = row.storage.and_then(|storage| storage.fuse.as_ref()?.kind.as_deref()).unwrap_or("the daemon");
    let cause = format!(
        "{} read, {} read by {}: {} came from memory of {kind} or of the kernel{}",
        size(asked),
        size(moved),
        storage.witness,
        percent(share),
        stage.shared_figures_note()
    );
    let next = "read files that this machine has not touched (or drop its caches), with --direct=1";
    let severity = if share >= INVALID { Severity::Invalid } else { Severity::Caution };
    let report = Report::new(ID, severity, row.name)
        .bytes("bytes moved by the job", asked)
        .bytes("bytes moved below the daemon", moved)
        .number("share from memory", share, "ratio");
    Some(report.says(cause, next))
}

fn judge(stage: &Stage<'_>, row: &JobInStage<'_>, flow: &Flow<'_>, direction: Transfer) -> Option<Finding> {
    let does = if direction == Transfer::Read { row.reads() && stage.reads_are_the_workload() } else { row.writes() };
    let wire = flow.wire.as_ref()?;
    let asked = flow.application.bytes[direction];
    let share_without = |crossed: u64| asked.saturating_sub(crossed) as f64 / asked.max(1) as f64;
    if !does || asked < BYTES_MIN {
        return None;
    }
    let (crossed, witness, proof) = if share_without(wire.bytes[direction]) >= CAUTION {
        (wire.bytes[direction], wire.witness, true)
    } else {
        // Others use the interface, too. A connection that opens and closes between two samples is not seen: no proof.
        (
            web_connections(row, flow.daemon.and_then(|daemon| daemon.sockets))?[direction],
            "the daemon's connections",
            false,
        )
    };
    let share = share_without(crossed);
    if share < CAUTION {
        return None;
    }
    // A server on this machine, reached without a network, looks like a cache that the daemon keeps on a disk.
    let may_be_the_server = direction == Transfer::Read && may_be_the_server(row, flow);
    let severity = if share >= INVALID && proof && !may_be_the_server { Severity::Invalid } else { Severity::Caution };
    let (verb, kept) = if direction == Transfer::Read { ("read", "came from") } else { ("written", "stayed in") };
    let per_second = |bytes: u64| if flow.seconds > 0.0 { rate(bytes as f64 / flow.seconds) } else { size(bytes) };
    let cause = format!(
        "{} {verb} at {}, {} over the network ({witness}): {} {kept} {}{}",
        size(asked),
        per_second(asked),
        per_second(crossed),
        percent(share),
        place(row, flow, direction),
        stage.shared_figures_note()
    );
    let next = if may_be_the_server {
        "compare with the folder itself, if its server runs on this machine; else read objects that it has not touched"
            .to_owned()
    } else if direction == Transfer::Read {
        match without_cache(row) {
            Some(without) => format!("{without}, or read objects that this machine has not touched"),
            None => {
                "read objects that this machine has not touched, or more data than it can cache (--size)".to_owned()
            }
        }
    } else if row.first().plan.end_sync {
        "write fresh objects, each block once (--rw=write): a block that is overwritten before the sync is sent only \
         once"
            .to_owned()
    } else {
        "add --end_fsync=1".to_owned()
    };
    Some(
        Report::new(ID, severity, row.name)
            .bytes("bytes moved by the job", asked)
            .bytes("bytes over the wire", crossed)
            .number("share from the cache", share, "ratio")
            .says(cause, next),
    )
}

/// How to mount without the cache that the daemon's command line names; `None`: not known.
fn without_cache(row: &JobInStage<'_>) -> Option<String> {
    let storage = row.storage?;
    let fuse = storage.fuse.as_ref()?;
    let named = |option: &str| {
        fuse.cache.iter().any(|cache| cache.split(", ").any(|word| word.split('=').next() == Some(option)))
    };
    let known = |(kind, option, _): &&(&str, &str, &str)| fuse.kind.as_deref() == Some(*kind) && named(option);
    let (kind, _, how) = WITHOUT.iter().find(known)?;
    let place = storage.mount.value()?.mount_point.display();
    Some(format!("unmount {place} and mount it by {kind} {how}"))
}

/// The bytes of the daemon's connections, if its data comes through them: daemons of other kinds use helpers (ssh) or
/// other ways.
fn web_connections(row: &JobInStage<'_>, sockets: Option<ReadWrite<u64>>) -> Option<ReadWrite<u64>> {
    let url = row.storage?.fuse.as_ref()?.url.as_deref()?;
    sockets.filter(|_| url.starts_with("http"))
}

/// Whether the reads came from local files of a daemon that names no cache; these may be the server's.
fn may_be_the_server(row: &JobInStage<'_>, flow: &Flow<'_>) -> bool {
    let read = flow.daemon.and_then(|daemon| daemon.storage).map_or(0, |bytes| bytes.read);
    !row.names_a_cache() && read as f64 >= flow.application.bytes.read as f64 * (1.0 - CAUTION)
}

/// Where the other bytes came from.
fn place(row: &JobInStage<'_>, flow: &Flow<'_>, direction: Transfer) -> String {
    let fuse = row.storage.and_then(|storage| storage.fuse.as_ref());
    let kind = fuse.and_then(|fuse| fuse.kind.as_deref()).unwrap_or("the daemon");
    if let Some(cache) = fuse.and_then(|fuse| fuse.cache.as_deref()) {
        return format!("the local cache of {kind} ({cache})");
    }
    let local = flow.daemon.and_then(|daemon| daemon.storage).map(|bytes| bytes[direction]);
    match local {
        Some(bytes) if bytes >= flow.application.bytes[direction] / 2 => format!("local files of {kind}"),
        _ => format!("memory of {kind} or of the kernel"),
    }
}
