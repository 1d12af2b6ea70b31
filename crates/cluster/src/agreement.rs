//! Checks before a run that the ranks see the same kernel, filesystem, mount and server.

use std::collections::BTreeMap;

use fsdyno_results::evidence::{NfsRoot, Storage};
use fsdyno_results::{Node, Note, Severity};

use crate::members::{self, Seat};
use crate::messages::Seen;

/// Most nodes that a sentence names.
const NAMED_MAX: usize = 3;

/// Notes on the differences between the ranks. `meet`: whether each rank has opened a directory that the first one has
/// made, so that all are on the same storage.
///
/// # Errors
/// A sentence, where a rank cannot run, or is on another filesystem: common figures would then be meaningless.
pub(crate) fn agreement(seen: &[Seen], seats: &[Seat], meet: bool) -> Result<Vec<Note>, String> {
    let mut nodes = Vec::new();
    for Seen { rank, node } in seen {
        let name = members::name(seats, *rank);
        match node {
            Ok(node) => nodes.push((name, node)),
            Err(reason) => return Err(format!("fio: rank {rank} on {name} cannot run: {reason}")),
        }
    }
    let places = |node: &Node| node.storages.iter().map(filesystem).collect::<Vec<_>>().join(", ");
    // A server may have several names: an export is the same if its root directory is.
    let roots = |node: &Node| node.storages.iter().map(nfs_root).collect::<Option<Vec<_>>>();
    let first = nodes.first().and_then(|(_, node)| roots(node));
    let same_roots = first.is_some() && nodes.iter().all(|(_, node)| roots(node) == first);
    if let Some(difference) = difference(&nodes, places).filter(|_| !meet && !same_roots) {
        return Err(format!("fio: the ranks are not on the same filesystem: {difference}; mount it on all nodes"));
    }
    let notes = [
        ("kernels-differ", "kernel", difference(&nodes, |node| node.host.kernel.clone().unwrap_or_default())),
        ("servers-differ", "server", difference(&nodes, |node| texts(node, server))),
        ("mounts-differ", "mount", difference(&nodes, |node| texts(node, options))),
    ];
    let note = |(id, what, difference): (&str, &str, Option<String>)| {
        let text = format!("the ranks differ in their {what}: {}", difference?);
        Some(Note::new(id, Severity::Caution, text))
    };
    Ok(notes.into_iter().filter_map(note).collect())
}

fn texts(node: &Node, of: impl Fn(&Storage) -> String) -> String {
    node.storages.iter().map(of).collect::<Vec<_>>().join("; ")
}

/// The filesystem's type, with its source if that is the same for all nodes.
fn filesystem(storage: &Storage) -> String {
    let Some(mount) = storage.mount.value() else { return "unknown".to_owned() };
    match &storage.server {
        Some(_) => format!("{} from {}", mount.fstype, mount.source),
        None => mount.fstype.clone(),
    }
}

fn nfs_root(storage: &Storage) -> Option<NfsRoot> {
    storage.nfs.as_ref()?.root
}

fn server(storage: &Storage) -> String {
    let Some(server) = &storage.server else { return "none".to_owned() };
    server.address.clone()
}

/// The mount options, without the client's own address.
fn options(storage: &Storage) -> String {
    let Some(mount) = storage.mount.value() else { return "unknown".to_owned() };
    let of_all = |option: &&String| !option.starts_with("clientaddr=");
    mount.options.iter().filter(of_all).cloned().collect::<Vec<_>>().join(",")
}

/// The difference in words, `ext4 on a, b; nfs4 from s:/x on c`; `None`: all are the same.
fn difference(nodes: &[(String, &Node)], of: impl Fn(&Node) -> String) -> Option<String> {
    let mut groups: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (name, node) in nodes {
        groups.entry(of(node)).or_default().push(name);
    }
    let shown = |(text, names): (&String, &Vec<&str>)| {
        let named = names[..names.len().min(NAMED_MAX)].join(", ");
        let more = names.len().saturating_sub(NAMED_MAX);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("{text} on {named}{more}")
    };
    (groups.len() > 1).then(|| groups.iter().map(shown).collect::<Vec<_>>().join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsdyno_results::evidence::{Mount, NfsIdentity, Seen as Fact, ServerIdentity};

    fn seen(rank: u32, kernel: &str, fstype: &str, options: &[&str]) -> Seen {
        let options = options.iter().map(ToString::to_string).collect();
        let mount = Mount { fstype: fstype.to_owned(), options, ..Mount::default() };
        let storages = vec![Storage { mount: Fact::Value(mount), ..Storage::default() }];
        let mut node = Node { storages, ..Node::default() };
        node.host.kernel = Some(kernel.to_owned());
        Seen { rank, node: Ok(node) }
    }

    fn seats() -> Vec<Seat> {
        ["a", "b", "c"].map(|name| Seat { name: name.to_owned(), ..Seat::default() }).to_vec()
    }

    #[test]
    fn what_differs_is_named_with_the_nodes() {
        let same = [seen(0, "6.1", "nfs4", &["rw"]), seen(1, "6.1", "nfs4", &["rw", "clientaddr=10.0.0.2"])];
        assert_eq!(agreement(&same, &seats(), false), Ok(Vec::new()));
        let mixed = [seen(0, "6.1", "nfs4", &["rw"]), seen(1, "6.2", "nfs4", &["ro"]), seen(2, "6.1", "nfs4", &["rw"])];
        let notes = agreement(&mixed, &seats(), false).unwrap();
        assert_eq!(notes.iter().map(|note| note.id.as_str()).collect::<Vec<_>>(), ["kernels-differ", "mounts-differ"]);
        assert_eq!(notes[0].text, "the ranks differ in their kernel: 6.1 on a, c; 6.2 on b");
    }

    /// A rank that has mounted an export of this server; `root`: the root directory's change time.
    fn of_server(rank: u32, server: &str, root: Option<u64>) -> Seen {
        let mut seen = seen(rank, "6.1", "nfs4", &["rw"]);
        let storage = &mut seen.node.as_mut().unwrap().storages[0];
        if let Fact::Value(mount) = &mut storage.mount {
            mount.source = format!("{server}:/data");
        }
        storage.server = Some(ServerIdentity { address: format!("{server}:2049"), ..ServerIdentity::default() });
        let root = root.map(|changed_ns| NfsRoot { inode: 2, changed_ns });
        storage.nfs = Some(NfsIdentity { root, ..NfsIdentity::default() });
        seen
    }

    #[test]
    fn a_server_may_have_two_addresses() {
        let ids = |one: Seen, other: Seen, meet: bool| {
            let notes = agreement(&[one, other], &seats(), meet)?;
            Ok::<_, String>(notes.into_iter().map(|note| note.id).collect::<Vec<_>>())
        };
        let differ = Ok(vec!["servers-differ".to_owned()]);
        assert_eq!(ids(of_server(0, "s1", Some(7)), of_server(1, "s2", Some(7)), false), differ, "one root");
        assert_eq!(ids(of_server(0, "s1", None), of_server(1, "s2", None), true), differ, "they meet in a directory");
        let refused = ids(of_server(0, "s1", Some(7)), of_server(1, "s2", Some(8)), false).unwrap_err();
        assert!(refused.contains("nfs4 from s1:/data on a; nfs4 from s2:/data on b"), "{refused}");
        assert!(
            ids(of_server(0, "s1", None), of_server(1, "s2", None), false).is_err(),
            "nothing shows that it is one"
        );
        assert_eq!(ids(of_server(0, "s1", Some(7)), of_server(1, "s1", Some(8)), false), Ok(Vec::new()), "as it was");
    }

    #[test]
    fn another_filesystem_or_a_rank_that_cannot_run_ends_it() {
        let missing = [seen(0, "6.1", "nfs4", &[]), seen(1, "6.1", "ext4", &[])];
        let refused = agreement(&missing, &seats(), false).unwrap_err();
        assert!(refused.contains("ext4 on b; nfs4 on a"), "{refused}");
        let refused =
            agreement(&[Seen { rank: 2, node: Err("no such file".to_owned()) }], &seats(), false).unwrap_err();
        assert_eq!(refused, "fio: rank 2 on c cannot run: no such file");
    }
}
