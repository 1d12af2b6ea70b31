//! Checks before a run that the ranks see the same kernel, filesystem, mount and server.

use std::collections::BTreeMap;

use fsdyno_results::evidence::{NfsRoot, Storage};
use fsdyno_results::{Node, Note, Severity};
use serde::{Deserialize, Serialize};

use crate::members::{self, RankPartners};

/// Most nodes that a sentence names.
const NAMED_MAX: usize = 3;

/// What must be the same on all ranks, or is noted where it differs.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct View {
    kernel: String,
    filesystems: String,
    /// A server may have several names: an export is the same if its root directory is. `None`: not visible.
    roots: Option<Vec<NfsRoot>>,
    servers: String,
    mount_options: String,
}

impl View {
    fn of(node: &Node) -> View {
        let texts =
            |of: fn(&Storage) -> String, between| node.storages.iter().map(of).collect::<Vec<_>>().join(between);
        View {
            kernel: node.host.kernel.clone().unwrap_or_default(),
            filesystems: texts(filesystem, ", "),
            roots: node.storages.iter().map(|storage| storage.nfs.as_ref()?.root).collect(),
            servers: texts(server, "; "),
            mount_options: texts(options, "; "),
        }
    }
}

/// Ranks that see the same: their number, and those that a sentence would name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Ranks {
    number: u32,
    lowest: Vec<u32>,
}

impl Ranks {
    fn add(&mut self, other: &Ranks) {
        self.number += other.number;
        self.lowest.extend(&other.lowest);
        self.lowest.sort_unstable();
        self.lowest.truncate(NAMED_MAX);
    }
}

/// What the ranks of a branch see. It is as long as there are different views, whatever the number of ranks.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Views {
    views: Vec<(View, Ranks)>,
    /// The lowest rank that cannot run, and why.
    refusal: Option<(u32, String)>,
}

impl Views {
    /// What one rank sees, or why it cannot run.
    pub(crate) fn of(rank: u32, node: Result<&Node, &String>) -> Views {
        let ranks = Ranks { number: 1, lowest: vec![rank] };
        match node {
            Ok(node) => Views { views: vec![(View::of(node), ranks)], refusal: None },
            Err(reason) => Views { views: Vec::new(), refusal: Some((rank, reason.clone())) },
        }
    }

    /// Adds what another branch sees.
    pub(crate) fn extend(&mut self, other: Views) {
        let mut all: BTreeMap<View, Ranks> = BTreeMap::new();
        for (view, ranks) in self.views.drain(..).chain(other.views) {
            all.entry(view).or_default().add(&ranks);
        }
        self.views.extend(all);
        self.refusal = self.refusal.take().into_iter().chain(other.refusal).min();
    }

    /// Notes on the differences between the ranks. `meet`: whether each rank has opened a directory that the first one
    /// has made, so that all are on the same storage.
    ///
    /// # Errors
    /// A sentence, where a rank cannot run, or is on another filesystem: common figures would then be meaningless.
    pub(crate) fn agreement(&self, seats: &[RankPartners], meet: bool) -> Result<Vec<Note>, String> {
        if let Some((rank, reason)) = &self.refusal {
            return Err(format!("fio: rank {rank} on {} cannot run: {reason}", members::name(seats, *rank)));
        }
        let difference = |of: fn(&View) -> &String| self.difference(seats, of);
        let roots = self.views.first().and_then(|(view, _)| view.roots.as_ref());
        let same_roots = roots.is_some() && self.views.iter().all(|(view, _)| view.roots.as_ref() == roots);
        if let Some(difference) = difference(|view| &view.filesystems).filter(|_| !meet && !same_roots) {
            return Err(format!("fio: the ranks are not on the same filesystem: {difference}; mount it on all nodes"));
        }
        let notes = [
            ("kernels-differ", "kernel", difference(|view| &view.kernel)),
            ("servers-differ", "server", difference(|view| &view.servers)),
            ("mounts-differ", "mount", difference(|view| &view.mount_options)),
        ];
        let note = |(id, what, difference): (&str, &str, Option<String>)| {
            let text = format!("the ranks differ in their {what}: {}", difference?);
            Some(Note::new(id, Severity::Caution, text))
        };
        Ok(notes.into_iter().filter_map(note).collect())
    }

    /// The difference in words, `ext4 on a, b; nfs4 from s:/x on c`; `None`: all are the same.
    fn difference(&self, seats: &[RankPartners], of: fn(&View) -> &String) -> Option<String> {
        let mut groups: BTreeMap<&str, Ranks> = BTreeMap::new();
        for (view, ranks) in &self.views {
            groups.entry(of(view)).or_default().add(ranks);
        }
        let shown = |(text, ranks): (&&str, &Ranks)| {
            let names: Vec<String> = ranks.lowest.iter().map(|rank| members::name(seats, *rank)).collect();
            let more = ranks.number as usize - names.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("{text} on {}{more}", names.join(", "))
        };
        (groups.len() > 1).then(|| groups.iter().map(shown).collect::<Vec<_>>().join("; "))
    }
}

/// The filesystem's type, with its source if that is the same for all nodes.
fn filesystem(storage: &Storage) -> String {
    let Some(mount) = storage.mount.value() else { return "unknown".to_owned() };
    match &storage.server {
        Some(_) => format!("{} from {}", mount.fstype, mount.source),
        None => mount.fstype.clone(),
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use fsdyno_results::evidence::{Mount, NfsIdentity, Seen as Fact, ServerIdentity};

    /// A rank, and what it sees.
    type RankView = (u32, Node);

    fn agreement(seen: &[RankView], seats: &[RankPartners], meet: bool) -> Result<Vec<Note>, String> {
        let mut all = Views::default();
        seen.iter().rev().for_each(|(rank, node)| all.extend(Views::of(*rank, Ok(node))));
        all.agreement(seats, meet)
    }

    fn seen(rank: u32, kernel: &str, fstype: &str, options: &[&str]) -> RankView {
        let options = options.iter().map(ToString::to_string).collect();
        let mount = Mount { fstype: fstype.to_owned(), options, ..Mount::default() };
        let storages = vec![Storage { mount: Fact::Value(mount), ..Storage::default() }];
        let mut node = Node { storages, ..Node::default() };
        node.host.kernel = Some(kernel.to_owned());
        (rank, node)
    }

    fn seats() -> Vec<RankPartners> {
        ["a", "b", "c"].map(|name| RankPartners { name: name.to_owned(), ..RankPartners::default() }).to_vec()
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
    fn of_server(rank: u32, server: &str, root: Option<u64>) -> RankView {
        let mut seen = seen(rank, "6.1", "nfs4", &["rw"]);
        let storage = &mut seen.1.storages[0];
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
        let ids = |one: RankView, other: RankView, meet: bool| {
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
        let mut all = Views::of(2, Err(&"no such file".to_owned()));
        all.extend(Views::of(1, Err(&"no memory".to_owned())));
        all.extend(Views::of(0, Ok(&missing[0].1)));
        assert_eq!(all.agreement(&seats(), false), Err("fio: rank 1 on b cannot run: no memory".to_owned()));
    }

    #[test]
    fn what_a_thousand_ranks_see_is_as_long_as_what_differs() {
        let seats: Vec<RankPartners> =
            (0..1000).map(|rank| RankPartners { name: format!("n{rank}"), ..RankPartners::default() }).collect();
        let kernel = |rank| if rank % 100 == 7 { "6.2" } else { "6.1" };
        let all: Vec<RankView> = (0..1000).map(|rank| seen(rank, kernel(rank), "nfs4", &["rw"])).collect();
        let notes = agreement(&all, &seats, false).unwrap();
        let text = "the ranks differ in their kernel: 6.1 on n0, n1, n2 and 987 more; 6.2 on n7, n107, n207 and 7 more";
        assert_eq!(notes.iter().map(|note| note.text.as_str()).collect::<Vec<_>>(), [text]);
        let mut views = Views::default();
        all.iter().for_each(|(rank, node)| views.extend(Views::of(*rank, Ok(node))));
        assert_eq!(views.views.len(), 2);
    }
}
