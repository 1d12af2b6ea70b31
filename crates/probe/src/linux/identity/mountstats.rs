//! Counters of NFS mounts, from /proc/self/mountstats.
//!
//! The format is parsed here and not by a library, because one unknown line must not hide all other counters, mount
//! points are escaped, and a mount point may be listed twice.

use std::path::{Path, PathBuf};

use fsdyno_results::ReadWrite;
use fsdyno_results::evidence::{NfsOperation, WireCounters};

use crate::linux::{Look, mounts, read_text};
use crate::{Fact, NotVisible};

/// Number of figures of the `bytes:` line that are used; the kernel appends more (pages).
const BYTE_FIGURES: usize = 6;

/// Number of figures of an operation's line that are used; newer kernels append the errors.
const OPERATION_FIGURES: usize = 8;

/// Counters of one NFS mount since it was mounted.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Statistics {
    mount_point: PathBuf,
    /// The kernel's version of the format, `1.1`; `None`: the filesystem has no statistics.
    version: Option<String>,
    /// Bytes that applications asked for: buffered reads and writes, then direct reads and writes; then bytes
    /// exchanged with the server: read and written.
    bytes: Option<[u64; BYTE_FIGURES]>,
    /// All options, including those with default values.
    pub(super) options: String,
    /// The protocol of each connection to the server.
    pub(super) transports: Vec<String>,
    /// Operations in the kernel's order, without those that never occurred.
    operations: Vec<NfsOperation>,
}

/// Counters of the NFS mount at `mount_point`.
pub(in crate::linux) fn wire_counters(look: &Look, mount_point: &Path) -> Fact<WireCounters> {
    let statistics = statistics(look, mount_point)?;
    let bytes = statistics.bytes.ok_or_else(|| NotVisible::new(file(look).display(), "its bytes line is missing"))?;
    let [normal_read, normal_written, direct_read, direct_written, server_read, server_written] = bytes;
    Ok(WireCounters {
        witness: "nfs mountstats".to_owned(),
        bytes: ReadWrite { read: server_read, write: server_written },
        exclusive: true,
        nfs_operations: statistics.operations,
        nfs_asked_bytes: Some(ReadWrite {
            read: normal_read.wrapping_add(direct_read),
            write: normal_written.wrapping_add(direct_written),
        }),
        ..WireCounters::default()
    })
}

/// The statistics of the mount at `mount_point`.
pub(super) fn statistics(look: &Look, mount_point: &Path) -> Fact<Statistics> {
    let file = file(look);
    let text = read_text(&file)?;
    // The latest mount at a place hides the earlier ones.
    let found = parse(&text).into_iter().rev().find(|section| section.mount_point == mount_point);
    let place = file.display();
    let found = found.ok_or_else(|| NotVisible::new(&place, format!("does not list {}", mount_point.display())))?;
    match &found.version {
        Some(version) if version.starts_with("1.") => Ok(found),
        Some(version) => Err(NotVisible::new(&place, format!("statistics of unknown version {version}"))),
        None => Err(NotVisible::new(&place, format!("no statistics for {}: not NFS?", mount_point.display()))),
    }
}

fn file(look: &Look) -> PathBuf {
    look.proc.join("self/mountstats")
}

/// All mounts, in the kernel's order.
fn parse(text: &str) -> Vec<Statistics> {
    let mut sections: Vec<Statistics> = Vec::new();
    let mut in_operations = false;
    for line in text.lines() {
        if let Some(section) = parse_heading(line) {
            sections.push(section);
            in_operations = false;
            continue;
        }
        let Some(section) = sections.last_mut() else { continue };
        match line.trim().split_once(':') {
            None => in_operations |= line.trim() == "per-op statistics",
            Some((name, figures)) if in_operations => {
                section.operations.extend(parse_operation(name, figures).filter(|operation| operation.operations > 0));
            }
            Some(("bytes", figures)) => section.bytes = parse_figures(figures),
            Some(("opts", options)) => section.options = options.trim().to_owned(),
            Some(("xprt", words)) => section.transports.extend(words.split_whitespace().next().map(str::to_owned)),
            Some(_) => {}
        }
    }
    sections
}

/// Reads `device server:/x mounted on /mnt with fstype nfs4 statvers=1.1`; a mount without source begins with `no
/// device`.
fn parse_heading(line: &str) -> Option<Statistics> {
    if !line.starts_with("device ") && !line.starts_with("no device ") {
        return None;
    }
    let mut words = line.split(' ').skip_while(|word| *word != "mounted").skip(2);
    let mount_point = mounts::unescape(words.next()?.as_bytes()).into();
    let version = words.find_map(|word| word.strip_prefix("statvers=")).map(str::to_owned);
    Some(Statistics { mount_point, version, ..Statistics::default() })
}

fn parse_operation(name: &str, figures: &str) -> Option<NfsOperation> {
    let [operations, transmissions, timeouts, bytes_sent, bytes_received, queue_ms, round_trip_ms, execute_ms] =
        parse_figures::<OPERATION_FIGURES>(figures)?;
    Some(NfsOperation {
        name: name.to_owned(),
        operations,
        transmissions,
        timeouts,
        bytes_sent,
        bytes_received,
        queue_ms,
        round_trip_ms,
        execute_ms,
    })
}

/// The first figures of a line; `None` if there are fewer or one is not a number.
fn parse_figures<const N: usize>(text: &str) -> Option<[u64; N]> {
    let mut figures = [0; N];
    let mut words = text.split_whitespace();
    for figure in &mut figures {
        *figure = words.next()?.parse().ok()?;
    }
    Some(figures)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::block::fixture;

    const SAMPLE: &str = "\
device proc mounted on /proc with fstype proc
no device mounted on /odd with fstype odd
device 198.18.7.1:/x mounted on /mnt/with\\040blank with fstype nfs4 statvers=1.1
\topts:\trw,vers=4.2,rsize=1048576,wsize=1048576,namlen=255,acregmin=3,acregmax=60,acdirmin=30,acdirmax=60,hard
\tage:\t12
\timpl_id:\tname='',domain='',date='0,0'
\tcaps:\tcaps=0x3ffbffff,wtmult=512,dtsize=1048576,bsize=0,namlen=255
\tnfsv4:\tbm0=0xfdffbfff,bm1=0x40f9be3e,bm2=0x60803,acl=0x3,sessions,pnfs=not configured,lease_time=10
\tsec:\tflavor=1,pseudoflavor=1
\tevents:\t3 1 0 0 1 2 4 9 0 0 0 0 0 0 0 1 0 0 0 0 0 0 0 0 0 0 0
\tbytes:\t4096 8192 5051527168 134209536 5051531264 134217728 2 2
\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)
\txprt:\ttcp 918 0 2 0 0 77023 77023 0 1041 0 2 18 77023
\txprt:\ttcp 919 0 1 0 0 12 12 0 13 0 2 0 12
\tper-op statistics
\t        NULL: 1 1 0 44 24 0 0 0 0
\t        READ: 77018 77020 1 15095528 5061274920 11 22 33 0
\t       WRITE: 128 128 0 134240000 17408 1 2 4
\t      COMMIT: 0 0 0 0 0 0 0 0 0
\t      STRANGE: what is this
\t     GETATTR: 4 4 0 720 960 0 1 1 0

device tmpfs mounted on /mnt/n3 with fstype tmpfs
device 198.18.7.1:/x mounted on /mnt/n3 with fstype nfs statvers=1.1
\topts:\trw,vers=3,rsize=524288,wsize=524288
\tbytes:\t1 2 3 4 5 6 0 0
\tRPC iostats version: 1.1  p/v: 100003/3 (nfs)
\txprt:\tudp 0 0 7 7 0 7 0
\tper-op statistics
\t        READ: 5 5 0 600 6000 1 2 3
device future:/x mounted on /mnt/future with fstype nfs4 statvers=2.0
";

    fn counters(mount_point: &str) -> Fact<WireCounters> {
        let tree = fixture::tree();
        std::fs::write(tree.look.proc.join("self/mountstats"), SAMPLE).unwrap();
        wire_counters(&tree.look, Path::new(mount_point))
    }

    #[test]
    fn bytes_and_operations_of_a_version_4_mount() {
        let wire = counters("/mnt/with blank").unwrap();
        assert_eq!(wire.bytes, [5_051_531_264, 134_217_728].into(), "exchanged with the server, not asked for");
        assert_eq!(
            wire.nfs_asked_bytes,
            Some([4096 + 5_051_527_168, 8192 + 134_209_536].into()),
            "buffered and direct"
        );
        assert!(wire.exclusive);
        let names: Vec<_> = wire.nfs_operations.iter().map(|operation| operation.name.as_str()).collect();
        assert_eq!(names, ["NULL", "READ", "WRITE", "GETATTR"], "never asked for, or not understood: left out");
        let read = NfsOperation {
            name: "READ".into(),
            operations: 77018,
            transmissions: 77020,
            timeouts: 1,
            bytes_sent: 15_095_528,
            bytes_received: 5_061_274_920,
            queue_ms: 11,
            round_trip_ms: 22,
            execute_ms: 33,
        };
        assert_eq!(wire.nfs_operations[1], read);
    }

    #[test]
    fn the_latest_mount_on_a_place_counts() {
        let wire = counters("/mnt/n3").unwrap();
        assert_eq!((wire.bytes, wire.nfs_asked_bytes), ([5, 6].into(), Some([4, 6].into())));
        assert_eq!(wire.nfs_operations.len(), 1);
    }

    #[test]
    fn connections_are_counted() {
        let sections = parse(SAMPLE);
        assert_eq!(sections[2].transports, ["tcp", "tcp"]);
        assert_eq!(sections[4].transports, ["udp"]);
    }

    #[test]
    fn what_has_no_counters_says_why() {
        let reason = |mount_point| counters(mount_point).unwrap_err().reason;
        assert!(reason("/proc").contains("not NFS"), "{}", reason("/proc"));
        assert!(reason("/mnt/absent").contains("does not list /mnt/absent"));
        assert!(reason("/mnt/future").contains("unknown version 2.0"));
        assert!(wire_counters(&fixture::tree().look, Path::new("/x")).is_err(), "no such file");
    }

    #[test]
    fn a_missing_figure_is_not_zero() {
        assert_eq!(parse_figures::<2>("1"), None);
        assert_eq!(parse_figures::<2>("1 x"), None);
        assert_eq!(parse_figures::<2>(" 1 2 3"), Some([1, 2]));
    }
}
