//! Network traffic of mounts with a server or a daemon.

use std::path::{Path, PathBuf};

use fsdyno_results::ReadWrite;
use fsdyno_results::evidence::{DaemonHelpers, NfsOperation, WireCounters};

use super::daemon_family::{self, Family};
use super::growth::growth;
use super::sockets::SocketMeter;
use crate::fuse::{is_fuse, is_fuse_on_device};
use crate::interfaces::{self, NOTHING_CARRIED};
use crate::linux::{Look, identity, mounts, processes, read_number, read_text};
use crate::{Fact, NotVisible};
use fsdyno_results::evidence::Mount;

/// The network and FUSE mounts behind a set of files, and their traffic since the first reading.
#[derive(Debug)]
pub(super) struct WireMeter {
    witnesses: Vec<Witness>,
    /// The interfaces towards the servers; empty: not known, so that all interfaces count.
    interfaces: Vec<String>,
    first: Vec<WireCounters>,
    /// The TCP connections of the daemons.
    sockets: Fact<SocketMeter>,
}

/// The counter that is used for a mount.
#[derive(Debug, PartialEq)]
enum Witness {
    /// The kernel's NFS client, for this mount point.
    Nfs(PathBuf),
    /// The machine's interfaces, and the daemon's own counters if it is known.
    Fuse { daemon: Fact<u32>, family: Family },
    /// Only the machine's interfaces.
    Interfaces,
}

impl WireMeter {
    /// Not visible if there is no such mount: then no bytes have to cross a network.
    pub(super) fn begin(look: &Look, paths: &[PathBuf], interfaces: &[String]) -> Fact<WireMeter> {
        let mut seen = Vec::new();
        let mut witnesses = Vec::new();
        for path in paths {
            let mount = mounts::mount_of(look, path)?;
            // Several mounts of one filesystem share its counters.
            if seen.contains(&mount.device) {
                continue;
            }
            seen.push(mount.device);
            witnesses.extend(witness(look, &mount));
        }
        if witnesses.is_empty() {
            return Err(NotVisible::new("network", "no file is on a network or FUSE mount"));
        }
        let daemons = witnesses.iter().filter_map(|witness| match witness {
            Witness::Fuse { daemon, .. } => Some(daemon.clone()),
            _ => None,
        });
        let sockets = SocketMeter::begin(look, daemons);
        Ok(WireMeter { witnesses, interfaces: interfaces.to_vec(), first: Vec::new(), sockets })
    }

    /// The sum over all such mounts since the first reading.
    pub(super) fn read(&mut self, look: &Look) -> Fact<WireCounters> {
        let read = |witness: &Witness| witness.read(look, &self.interfaces);
        let now: Vec<WireCounters> = self.witnesses.iter().map(read).collect::<Fact<_>>()?;
        if self.first.is_empty() {
            self.first.clone_from(&now);
        }
        let grown = now.into_iter().zip(&self.first).map(|(now, first)| since(now, first));
        let sockets = self.sockets.as_mut().map_err(|reason| reason.clone()).and_then(|meter| meter.read(look));
        let counted = grown.reduce(summed).ok_or_else(|| NotVisible::new("network", "no counter covers it"))?;
        Ok(WireCounters { daemon_sockets: sockets.into(), ..counted })
    }
}

fn witness(look: &Look, mount: &Mount) -> Option<Witness> {
    match mount.fstype.as_str() {
        "nfs" | "nfs4" => Some(Witness::Nfs(mount.mount_point.clone())),
        "cifs" | "smb3" | "ceph" | "lustre" | "afs" | "ncpfs" => Some(Witness::Interfaces),
        fstype if is_fuse(fstype) && !is_fuse_on_device(fstype) => Some(fuse(look, mount)),
        _ => None,
    }
}

fn fuse(look: &Look, mount: &Mount) -> Witness {
    let daemon = identity::fuse_daemon_at(look, &mount.mount_point).map(|daemon| daemon.pid);
    let family = daemon.as_ref().map(|pid| daemon_family::of(look, *pid)).unwrap_or_default();
    Witness::Fuse { daemon, family }
}

impl Witness {
    fn read(&self, look: &Look, towards: &[String]) -> Fact<WireCounters> {
        let interfaces = || {
            let (witness, bytes) = interface_bytes(look, towards)?;
            Ok(WireCounters { witness, bytes, ..WireCounters::default() })
        };
        match self {
            Witness::Nfs(mount_point) => {
                let known = (!towards.is_empty()).then(|| interface_bytes(look, towards).ok()).flatten();
                let counted = identity::nfs_mount_statistics(look, mount_point)?;
                Ok(WireCounters { interface_bytes: known.map(|(_, bytes)| bytes), ..counted })
            }
            Witness::Fuse { daemon: Ok(pid), family } => {
                let (witness, bytes) = daemons_interfaces(look, *pid, towards)?;
                Ok(WireCounters {
                    witness,
                    bytes,
                    daemon_storage_bytes: storage_bytes(look, family),
                    daemon_helpers: Some(family.helpers.clone()),
                    daemon_cpu_ns: daemon_cpu_ns(look, *pid),
                    ..WireCounters::default()
                })
            }
            // The daemon may be in another network namespace: then its bytes do not cross these interfaces.
            Witness::Fuse { daemon: Err(reason), .. } => {
                let unknown = "the network namespace of its daemon is not known";
                Err(NotVisible::new(&reason.place, format!("{}: {unknown}", reason.reason)))
            }
            Witness::Interfaces => interfaces(),
        }
    }
}

/// Bytes that the interfaces of a daemon's network received and sent; it may be another network namespace. It is a
/// valid answer that none of them has carried anything.
fn daemons_interfaces(look: &Look, pid: u32, towards: &[String]) -> Fact<(String, ReadWrite<u64>)> {
    let shared = processes::shares_namespace(look, pid, "net");
    let own = || match interface_bytes(look, towards) {
        Err(none) if none.reason == NOTHING_CARRIED => Ok(("no interface".to_owned(), ReadWrite::default())),
        other => other,
    };
    if shared == Ok(true) {
        return own();
    }
    let file = look.proc.join(pid.to_string()).join("net/dev");
    let elsewhere = read_text(&file).and_then(|text| {
        let witness = || "the interfaces of the daemon's network namespace".to_owned();
        let sum = parse_interfaces(&text).ok_or_else(|| NotVisible::new(file.display(), "lists no interface"));
        sum.map(|bytes| (witness(), bytes))
    });
    // If the namespace is not visible, only this process's namespace can be asked.
    if shared.is_err() { elsewhere.or_else(|_| own()) } else { elsewhere }
}

/// Reads `eth0: received-bytes packets errors drops fifo frame compressed multicast sent-bytes …` below two lines of
/// titles.
fn parse_interfaces(text: &str) -> Option<ReadWrite<u64>> {
    let figures = text.lines().filter_map(|line| line.split_once(':')).map(|(_, figures)| figures);
    let bytes = figures.filter_map(|figures| {
        let figures: Vec<u64> = figures.split_whitespace().map_while(|word| word.parse().ok()).collect();
        Some(ReadWrite { read: *figures.first()?, write: *figures.get(8)? })
    });
    bytes.reduce(ReadWrite::plus)
}

impl Look {
    /// Bytes that the interfaces of this process's network have received and sent, without traffic to itself.
    pub fn network_bytes(&self) -> Option<ReadWrite<u64>> {
        let text = read_text(&self.proc.join("self/net/dev")).ok()?;
        let outside: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("lo:")).collect();
        // If there is only lo, nothing leaves the machine.
        Some(parse_interfaces(&outside.join("\n")).unwrap_or_default())
    }
}

/// Bytes that a daemon and its helpers read from and wrote to storage. Only their own user and root can see them. The
/// bytes of a child count for its parent after it has ended.
fn storage_bytes(look: &Look, family: &Family) -> Option<ReadWrite<u64>> {
    let of = |pid: &u32| {
        let text = read_text(&look.proc.join(pid.to_string()).join("io")).ok()?;
        super::process::parse_io(&text).map(|(_, storage)| storage)
    };
    family.pids.iter().map(of).try_fold(ReadWrite::default(), |sum, bytes| Some(sum.plus(bytes?)))
}

/// CPU time of all threads of a daemon, including those that have ended.
fn daemon_cpu_ns(look: &Look, pid: u32) -> Option<u64> {
    let text = read_text(&look.proc.join(pid.to_string()).join("stat")).ok()?;
    parse_processor_ticks(&text)?.checked_mul(1_000_000_000)?.checked_div(rustix::param::clock_ticks_per_second())
}

/// Reads `pid (name) state …`: user and system time are the 14th and the 15th field. The name may contain blanks and
/// brackets.
fn parse_processor_ticks(stat: &str) -> Option<u64> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut ticks = after_name.split_whitespace().skip(11).map(str::parse::<u64>);
    Some(ticks.next()?.ok()? + ticks.next()?.ok()?)
}

/// Bytes that these interfaces received and sent. If none is named, all interfaces count that lie on no other: the
/// members of a bond or bridge have already counted its bytes. `lo` counts as well, because the server may be on this
/// machine.
fn interface_bytes(look: &Look, towards: &[String]) -> Fact<(String, ReadWrite<u64>)> {
    let directory = look.sys.join("class/net");
    let entries = std::fs::read_dir(&directory).map_err(|error| NotVisible::new(directory.display(), error))?;
    let interface = |path: PathBuf| {
        let name = path.file_name()?.to_string_lossy().into_owned();
        if towards.is_empty() && stands_on_another(&path) {
            return None;
        }
        let counter = |name: &str| read_number::<u64>(&path.join("statistics").join(name)).ok();
        Some((name, ReadWrite { read: counter("rx_bytes")?, write: counter("tx_bytes")? }))
    };
    interfaces::summed(entries.filter_map(|entry| interface(entry.ok()?.path())), towards)
        .ok_or_else(|| NotVisible::new(directory.display(), NOTHING_CARRIED))
}

/// Whether an interface lies on another one: the directory of a bond, a bridge or a VLAN contains a link such as
/// `lower_eth0`.
fn stands_on_another(interface: &Path) -> bool {
    let entries = std::fs::read_dir(interface).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| entry.file_name().to_string_lossy().starts_with("lower_"))
}

fn since(now: WireCounters, first: &WireCounters) -> WireCounters {
    let pair = |now: Option<ReadWrite<u64>>, first: Option<ReadWrite<u64>>| {
        now.zip(first).map(|(now, first)| now.since(first))
    };
    let operation = |now: &NfsOperation| {
        let then = first.nfs_operations.iter().find(|then| then.name == now.name);
        then.map_or_else(|| now.clone(), |then| operation_since(now, then))
    };
    WireCounters {
        bytes: now.bytes.since(first.bytes),
        nfs_operations: now.nfs_operations.iter().map(operation).filter(|grown| grown.operations > 0).collect(),
        nfs_asked_bytes: pair(now.nfs_asked_bytes, first.nfs_asked_bytes),
        interface_bytes: pair(now.interface_bytes, first.interface_bytes),
        daemon_storage_bytes: pair(now.daemon_storage_bytes, first.daemon_storage_bytes),
        daemon_cpu_ns: now.daemon_cpu_ns.zip(first.daemon_cpu_ns).map(|(now, first)| growth(first, now)),
        ..now
    }
}

fn operation_since(now: &NfsOperation, then: &NfsOperation) -> NfsOperation {
    NfsOperation {
        name: now.name.clone(),
        operations: growth(then.operations, now.operations),
        transmissions: growth(then.transmissions, now.transmissions),
        timeouts: growth(then.timeouts, now.timeouts),
        bytes_sent: growth(then.bytes_sent, now.bytes_sent),
        bytes_received: growth(then.bytes_received, now.bytes_received),
        queue_ms: growth(then.queue_ms, now.queue_ms),
        round_trip_ms: growth(then.round_trip_ms, now.round_trip_ms),
        execute_ms: growth(then.execute_ms, now.execute_ms),
    }
}

/// Adds up two mounts. They have the same machine's interfaces, which count once.
fn summed(first: WireCounters, second: WireCounters) -> WireCounters {
    let either = |first: Option<ReadWrite<u64>>, second: Option<ReadWrite<u64>>| match (first, second) {
        (Some(first), Some(second)) => Some(first.plus(second)),
        (first, second) => first.or(second),
    };
    let same = first.witness == second.witness && !first.exclusive;
    let mut nfs_operations = first.nfs_operations;
    for operation in second.nfs_operations {
        match nfs_operations.iter_mut().find(|known| known.name == operation.name) {
            Some(known) => add_operation(known, &operation),
            None => nfs_operations.push(operation),
        }
    }
    WireCounters {
        bytes: if same { first.bytes } else { first.bytes.plus(second.bytes) },
        exclusive: first.exclusive && second.exclusive,
        nfs_operations,
        nfs_asked_bytes: either(first.nfs_asked_bytes, second.nfs_asked_bytes),
        interface_bytes: first.interface_bytes.or(second.interface_bytes),
        daemon_storage_bytes: either(first.daemon_storage_bytes, second.daemon_storage_bytes),
        daemon_helpers: match (first.daemon_helpers, second.daemon_helpers) {
            (Some(first), Some(second)) => Some(DaemonHelpers {
                names: [first.names, second.names].concat(),
                complete: first.complete && second.complete,
            }),
            (first, second) => first.or(second),
        },
        daemon_cpu_ns: match (first.daemon_cpu_ns, second.daemon_cpu_ns) {
            (Some(first), Some(second)) => Some(first + second),
            (first, second) => first.or(second),
        },
        // These were counted for all mounts at once.
        daemon_sockets: first.daemon_sockets,
        witness: if first.witness == second.witness {
            first.witness
        } else {
            format!("{} and {}", first.witness, second.witness)
        },
    }
}

fn add_operation(sum: &mut NfsOperation, more: &NfsOperation) {
    sum.operations += more.operations;
    sum.transmissions += more.transmissions;
    sum.timeouts += more.timeouts;
    sum.bytes_sent += more.bytes_sent;
    sum.bytes_received += more.bytes_received;
    sum.queue_ms += more.queue_ms;
    sum.round_trip_ms += more.round_trip_ms;
    sum.execute_ms += more.execute_ms;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::block::fixture::{Tree, tree};
    use std::fs;

    fn interface(tree: &Tree, name: &str, received: u64, sent: u64) -> PathBuf {
        let directory = tree.look.sys.join("class/net").join(name);
        fs::create_dir_all(directory.join("statistics")).unwrap();
        fs::write(directory.join("statistics/rx_bytes"), format!("{received}\n")).unwrap();
        fs::write(directory.join("statistics/tx_bytes"), format!("{sent}\n")).unwrap();
        directory
    }

    fn of_daemon(pid: u32) -> Witness {
        Witness::Fuse { daemon: Ok(pid), family: Family { pids: [pid].into(), ..Family::default() } }
    }

    fn meter(witnesses: Vec<Witness>) -> WireMeter {
        let sockets = Err(NotVisible::new("sock_diag", "nobody looked"));
        WireMeter { witnesses, interfaces: Vec::new(), first: Vec::new(), sockets }
    }

    #[test]
    fn the_way_to_the_server_is_counted_alone_where_it_is_known() {
        let tree = tree();
        interface(&tree, "eth0", 1000, 100);
        interface(&tree, "eth1", 0, 0);
        let mut meter = meter(vec![Witness::Interfaces]);
        meter.interfaces = vec!["eth1".to_owned()];
        meter.read(&tree.look).unwrap();
        interface(&tree, "eth0", 1700, 130);
        interface(&tree, "eth1", 9, 8);
        let grown = meter.read(&tree.look).unwrap();
        assert_eq!((grown.witness.as_str(), grown.bytes), ("interface eth1", [9, 8].into()));
    }

    #[test]
    fn interfaces_count_once_and_idle_ones_not() {
        let tree = tree();
        interface(&tree, "eth0", 1000, 100);
        interface(&tree, "lo", 50, 50);
        interface(&tree, "ifb0", 0, 0);
        let bond = interface(&tree, "bond0", 1000, 100);
        fs::write(bond.join("lower_eth0"), "").unwrap();
        let both = [Witness::Interfaces, of_daemon(77)];
        let mut meter = meter(Vec::from(both));
        meter.read(&tree.look).unwrap();
        interface(&tree, "eth0", 1700, 130);
        let grown = meter.read(&tree.look).unwrap();
        assert_eq!((grown.witness.as_str(), grown.bytes), ("interfaces eth0, lo", [700, 30].into()));
        assert!(!grown.exclusive);
        assert_eq!(grown.daemon_storage_bytes, None, "nothing is known of that process");
    }

    #[test]
    fn the_daemons_processor_time() {
        let tree = tree();
        interface(&tree, "lo", 5, 5);
        let directory = tree.look.proc.join("77");
        fs::create_dir_all(&directory).unwrap();
        let used = |user: u64, system: u64| {
            let stat = format!("77 (a (b) c) S 1 77 77 0 -1 4194560 1 0 0 0 {user} {system} 0 0 20 0 9 0 5 6 7\n");
            fs::write(directory.join("stat"), stat).unwrap();
        };
        used(100, 10);
        let mut meter = meter(vec![of_daemon(77)]);
        meter.read(&tree.look).unwrap();
        used(130, 20);
        let tick_ns = 1_000_000_000 / rustix::param::clock_ticks_per_second();
        assert_eq!(meter.read(&tree.look).unwrap().daemon_cpu_ns, Some(40 * tick_ns));
        assert_eq!(parse_processor_ticks("77 (short) S 1"), None);
    }

    #[test]
    fn the_daemons_own_files_count_apart() {
        let tree = tree();
        interface(&tree, "lo", 5, 5);
        let io = |read: u64| {
            let directory = tree.look.proc.join("77");
            fs::create_dir_all(&directory).unwrap();
            let text = format!("rchar: 1\nwchar: 1\nsyscr: 1\nsyscw: 1\nread_bytes: {read}\nwrite_bytes: 0\n");
            fs::write(directory.join("io"), text).unwrap();
        };
        io(4096);
        let mut meter = meter(vec![of_daemon(77)]);
        meter.read(&tree.look).unwrap();
        io(12288);
        assert_eq!(meter.read(&tree.look).unwrap().daemon_storage_bytes, Some([8192, 0].into()));
    }

    #[test]
    fn nfs_counts_from_the_first_reading() {
        const HEAD: &str = "device s:/x mounted on /mnt with fstype nfs4 statvers=1.1\n";
        let tree = tree();
        let stats = |read: u64, reads: u64, getattrs: &str| {
            let text = format!(
                "{HEAD}\tbytes:\t{read} 0 0 0 {read} 0 1 0\n\tper-op statistics\n\
                 \tREAD: {reads} {reads} 0 100 {read} 1 2 3 0\n{getattrs}"
            );
            fs::write(tree.look.proc.join("self/mountstats"), text).unwrap();
        };
        stats(1000, 5, "");
        let mut meter = meter(vec![Witness::Nfs("/mnt".into())]);
        let first = meter.read(&tree.look).unwrap();
        assert_eq!((first.bytes, first.nfs_operations.len(), first.exclusive), ([0, 0].into(), 0, true));
        meter.interfaces = vec!["eth0".to_owned()];
        assert_eq!(meter.read(&tree.look).unwrap().interface_bytes, None, "it was not counted from the beginning");
        stats(9192, 7, "\tGETATTR: 3 4 0 10 20 1 1 1 0\n");
        let second = meter.read(&tree.look).unwrap();
        assert_eq!((second.bytes, second.nfs_asked_bytes), ([8192, 0].into(), Some([8192, 0].into())));
        let operations: Vec<_> =
            second.nfs_operations.iter().map(|grown| (grown.name.as_str(), grown.operations)).collect();
        assert_eq!(operations, [("READ", 2), ("GETATTR", 3)]);
    }

    #[test]
    fn which_mounts_have_a_wire() {
        let look = Look::new();
        let mut mount = mounts::mount_of(&look, Path::new("/proc")).unwrap();
        let mut of = |fstype: &str| {
            mount.fstype = fstype.to_owned();
            witness(&look, &mount)
        };
        assert_eq!(of("ext4"), None);
        assert_eq!(of("fuseblk"), None);
        assert_eq!(of("nfs4"), Some(Witness::Nfs("/proc".into())));
        assert_eq!(of("cifs"), Some(Witness::Interfaces));
        assert!(
            WireMeter::begin(&look, &["/proc".into()], &[]).unwrap_err().reason.contains("no file is on a network")
        );
    }

    #[test]
    fn a_daemon_of_another_network_is_counted_there_or_not_at_all() {
        let tree = tree();
        interface(&tree, "lo", 5, 5);
        for (process, network) in [("self", "net:[1]"), ("77", "net:[2]")] {
            fs::create_dir_all(tree.look.proc.join(process).join("ns")).unwrap();
            std::os::unix::fs::symlink(network, tree.look.proc.join(process).join("ns/net")).unwrap();
        }
        let daemon = || of_daemon(77);
        assert!(meter(vec![daemon()]).read(&tree.look).is_err(), "not by the interfaces of this network");
        let carried = |received: u64| {
            fs::create_dir_all(tree.look.proc.join("77/net")).unwrap();
            let text = format!(
                "Inter-|   Receive                            |  Transmit\n face |bytes packets\n    \
                 lo: 10 1 0 0 0 0 0 0 10 1 0 0 0 0 0 0\n  eth0:{received} 3 0 0 0 0 0 0 700 3 0 0 0 0 0 0\n"
            );
            fs::write(tree.look.proc.join("77/net/dev"), text).unwrap();
        };
        carried(1000);
        let mut meter = meter(vec![daemon()]);
        meter.read(&tree.look).unwrap();
        carried(9000);
        let grown = meter.read(&tree.look).unwrap();
        assert_eq!((grown.bytes, grown.witness.contains("the daemon's network")), ([8000, 0].into(), true));
        let unknown = Witness::Fuse {
            daemon: Err(NotVisible::new("/proc", "no process fits the mount")),
            family: Family::default(),
        };
        let hidden = self::meter(vec![unknown]).read(&tree.look).unwrap_err();
        assert!(
            hidden.reason.contains("no process fits the mount: the network namespace of its daemon is not known"),
            "{hidden}"
        );
    }

    #[test]
    fn an_idle_network_carried_nothing_for_a_daemon() {
        let tree = tree();
        interface(&tree, "lo", 0, 0);
        let counted = meter(vec![of_daemon(77)]).read(&tree.look).unwrap();
        assert_eq!((counted.witness.as_str(), counted.bytes), ("no interface", [0, 0].into()));
    }
}
