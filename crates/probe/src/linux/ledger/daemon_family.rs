//! Finds the processes that work for a daemon: its children, and the peers of its sockets.

use std::collections::BTreeSet;

use fsdyno_results::evidence::DaemonHelpers;

use super::group::parent;
use super::sockets::{open_sockets, unix_peers};
use crate::linux::{Look, processes, read_text};

/// A daemon and its helpers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Family {
    pub(super) pids: BTreeSet<u32>,
    pub(super) helpers: DaemonHelpers,
}

/// Largest number of steps from a daemon to its helpers, their helpers and so on.
const STEPS_MAX: usize = 4;

/// Local sockets by inode, each with the inode of its peer if it has one.
type Peers = Vec<(u32, Option<u32>)>;

/// All processes that work for a daemon now.
pub(super) fn of(look: &Look, daemon: u32) -> Family {
    let same_network = processes::shares_namespace(look, daemon, "net") == Ok(true);
    let peers = if same_network { unix_peers().ok() } else { None };
    found(look, daemon, peers)
}

/// `peers`: `None` in another namespace.
fn found(look: &Look, daemon: u32, peers: Option<Peers>) -> Family {
    let all: Vec<u32> = processes_of(look);
    let mut pids = BTreeSet::new();
    pids.insert(daemon);
    let mut unseen = peers.is_none();
    let peers = peers.unwrap_or_default();
    for _ in 0..STEPS_MAX {
        let children: Vec<u32> =
            all.iter().copied().filter(|pid| parent(look, *pid).is_some_and(|above| pids.contains(&above))).collect();
        let mut sockets = BTreeSet::new();
        for pid in &pids {
            let open = open_sockets(&look.proc.join(pid.to_string()));
            unseen |= open.is_err();
            sockets.extend(open.unwrap_or_default());
        }
        let local: Vec<Option<u32>> = sockets.iter().filter_map(|socket| end_of(&peers, *socket)).collect();
        // Any other socket leads to a network, or to an unknown place.
        unseen |= local.len() < sockets.len();
        let mut ends = BTreeSet::new();
        ends.extend(local.into_iter().flatten().filter(|end| !sockets.contains(end)));
        let holders = all
            .iter()
            .copied()
            .filter(|pid| !ends.is_empty() && *pid != std::process::id() && holds(look, *pid, &ends));
        let before = pids.len();
        pids.extend(holders.chain(children));
        if pids.len() == before {
            // The peer belongs to the kernel, or to a process of another namespace.
            unseen |= !ends.is_empty();
            break;
        }
    }
    let name = |pid: &u32| {
        let name = read_text(&look.proc.join(pid.to_string()).join("comm")).unwrap_or_default();
        format!("{name} (pid {pid})")
    };
    let names = pids.iter().filter(|pid| **pid != daemon).map(name).collect();
    Family { pids, helpers: DaemonHelpers { names, complete: !unseen } }
}

/// The peer of a socket; `None`: it is not a local socket.
fn end_of(peers: &Peers, socket: u32) -> Option<Option<u32>> {
    peers.iter().find(|(own, _)| *own == socket).map(|(_, end)| *end)
}

fn holds(look: &Look, pid: u32, sockets: &BTreeSet<u32>) -> bool {
    let open = open_sockets(&look.proc.join(pid.to_string())).unwrap_or_default();
    open.iter().any(|socket| sockets.contains(socket))
}

fn processes_of(look: &Look) -> Vec<u32> {
    let entries = std::fs::read_dir(&look.proc).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::linux::block::fixture::{Tree, tree};

    fn process(tree: &Tree, pid: u32, above: u32, sockets: &[u32]) {
        let directory = tree.look.proc.join(pid.to_string());
        fs::create_dir_all(directory.join("fd")).unwrap();
        fs::write(directory.join("stat"), format!("{pid} (name) S {above} 0")).unwrap();
        fs::write(directory.join("comm"), format!("p{pid}\n")).unwrap();
        for (number, socket) in sockets.iter().enumerate() {
            symlink(format!("socket:[{socket}]"), directory.join("fd").join(number.to_string())).unwrap();
        }
    }

    #[test]
    fn children_and_the_other_ends_of_sockets() {
        let tree = tree();
        process(&tree, 20, 1, &[500]);
        process(&tree, 21, 20, &[]);
        process(&tree, 22, 1, &[501, 502]);
        process(&tree, 23, 22, &[]);
        process(&tree, 24, 1, &[]);
        let family = found(&tree.look, 20, Some(vec![(500, Some(501)), (501, Some(500)), (502, None)]));
        assert_eq!(family.pids, BTreeSet::from([20, 21, 22, 23]));
        assert_eq!(family.helpers.names, ["p21 (pid 21)", "p22 (pid 22)", "p23 (pid 23)"]);
        assert!(family.helpers.complete);
    }

    #[test]
    fn what_leads_to_nobody_seen_is_not_all() {
        let tree = tree();
        process(&tree, 20, 1, &[500]);
        assert!(!found(&tree.look, 20, Some(Vec::new())).helpers.complete, "a network");
        assert!(
            !found(&tree.look, 20, Some(vec![(500, Some(501))])).helpers.complete,
            "a process of another namespace"
        );
        assert!(!found(&tree.look, 20, None).helpers.complete, "the peers are not known");
        process(&tree, 30, 1, &[]);
        let alone = found(&tree.look, 30, Some(Vec::new()));
        assert_eq!((alone.pids.len(), alone.helpers.complete), (1, true));
    }
}
