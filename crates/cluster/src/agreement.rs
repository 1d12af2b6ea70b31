//! Checks before a run that the ranks see the same kernel, filesystem, mount and server.

use std::collections::BTreeMap;

use fsdyno_results::evidence::{NfsRoot, Storage, StorageClass};
use fsdyno_results::{Node, Note, Severity};
use serde::{Deserialize, Serialize};

use crate::members::{self, RankPartners};

/// Most nodes that a sentence names.
const NAMED_MAX: usize = 3;

/// Filesystems that show what another one has and keep elsewhere what is written through them: a file of another rank
/// can be seen there although both write to different places.
const LAYERED: [&str; 2] = ["overlay", "aufs"];

/// What a rank sees of the first one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sight {
    /// Whether it sees what the first rank has made; `None`: nothing was made, or nothing shows it.
    pub(crate) sees_first: Option<bool>,
    /// Whether it runs on the first rank's machine.
    pub(crate) is_beside: bool,
}

/// What must be the same on all ranks, or is noted where it differs.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct View {
    kernel: String,
    filesystems: String,
    /// A server may have several names: an export is the same if its root directory is. `None`: not visible.
    roots: Option<Vec<NfsRoot>>,
    servers: String,
    mount_options: String,
    sees_first: Option<bool>,
    is_beside: bool,
    /// Whether the storages belong to this machine.
    is_own: bool,
    /// The identifiers of storages that belong to no machine alone.
    filesystem_ids: String,
    /// What is mounted where the files lie.
    places: String,
}

impl View {
    fn of(node: &Node, sight: Sight) -> View {
        let texts =
            |of: fn(&Storage) -> String, between| node.storages.iter().map(of).collect::<Vec<_>>().join(between);
        View {
            kernel: node.host.kernel.clone().unwrap_or_default(),
            filesystems: texts(filesystem, ", "),
            roots: node.storages.iter().map(|storage| storage.nfs.as_ref()?.root).collect(),
            servers: texts(server, "; "),
            mount_options: texts(options, "; "),
            sees_first: sight.sees_first,
            is_beside: sight.is_beside,
            is_own: node.storages.iter().all(is_own),
            filesystem_ids: texts(shared_id, ", "),
            places: texts(place, ", "),
        }
    }

    /// Whether a layer above the storage keeps what is written.
    fn is_layered(&self) -> bool {
        LAYERED.iter().any(|name| self.filesystems.split(", ").any(|own| own == *name))
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
    pub(crate) fn of(rank: u32, node: Result<&Node, &String>, sight: Sight) -> Views {
        let ranks = Ranks { number: 1, lowest: vec![rank] };
        match node {
            Ok(node) => Views { views: vec![(View::of(node, sight), ranks)], refusal: None },
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

    /// Notes on the differences between the ranks.
    ///
    /// # Errors
    /// A sentence, where a rank cannot run, or is on another filesystem: common figures would then be meaningless.
    pub(crate) fn agreement(&self, seats: &[RankPartners]) -> Result<Vec<Note>, String> {
        if let Some((rank, reason)) = &self.refusal {
            return Err(format!("fio: rank {rank} on {} cannot run: {reason}", members::name(seats, *rank)));
        }
        let own = self.one_storage(seats)?;
        let difference = |of: fn(&View) -> &String| self.difference(seats, of);
        let notes = [
            ("kernels-differ", "kernel", difference(|view| &view.kernel)),
            ("filesystem-ids-differ", "filesystem's identifier", difference(|view| &view.filesystem_ids)),
            ("servers-differ", "server", difference(|view| &view.servers)),
            ("mounts-differ", "mount", difference(|view| &view.mount_options)),
        ];
        let note = |(id, what, difference): (&str, &str, Option<String>)| {
            let text = format!("the ranks differ in their {what}: {}", difference?);
            Some(Note::new(id, Severity::Caution, text))
        };
        Ok(own.into_iter().chain(notes.into_iter().filter_map(note)).collect())
    }

    /// A note, where each machine has a storage of its own.
    ///
    /// # Errors
    /// A sentence, where the ranks are not on one storage, and not each on that of its machine.
    fn one_storage(&self, seats: &[RankPartners]) -> Result<Option<Note>, String> {
        let refused =
            |what: &str| Err(format!("fio: the ranks are not on the same filesystem: {what}; mount it on all nodes"));
        let any = |of: &dyn Fn(&View) -> bool| self.views.iter().any(|(view, _)| of(view));
        let differ = self.difference(seats, |view| &view.filesystems);
        let first = self.view_of_first();
        let unseen = |view: &View| view.sees_first == Some(false);
        if !any(&unseen) {
            let is_one_root = first.roots.is_some() && !any(&|view| view.roots != first.roots);
            let is_shown = is_one_root || !any(&|view| view.sees_first.is_none());
            let Some(differ) = differ.filter(|_| !is_shown || any(&View::is_layered)) else { return Ok(None) };
            let (rank, other) = self.lowest(&|view| view.filesystems != first.filesystems);
            return refused(&format!("{differ} (rank {rank} on {} has {other})", members::name(seats, rank)));
        }
        let (rank, other) = self.lowest(&unseen);
        let sentence = format!(
            "rank {rank} on {} does not see the file that rank 0 has made: {other} there, {} on {}",
            members::name(seats, rank),
            first.places,
            members::name(seats, 0)
        );
        // One machine has one storage at a path, and a server has one for all.
        let is_lost = |view: &View| unseen(view) && (view.is_beside || !view.is_own);
        if differ.is_some() || any(&is_lost) || any(&|view| view.sees_first == Some(true) && !view.is_beside) {
            return refused(&differ.into_iter().chain([sentence]).collect::<Vec<_>>().join("; "));
        }
        let text = format!("each machine has a storage of its own, and totals are sums over them: {sentence}");
        Ok(Some(Note::new("own-storages", Severity::Info, text)))
    }

    /// What the first rank sees.
    fn view_of_first(&self) -> View {
        let first = self.views.iter().find(|(_, ranks)| ranks.lowest.first() == Some(&0));
        first.map(|(view, _)| view.clone()).unwrap_or_default()
    }

    /// The lowest rank with such a view, and what is mounted there.
    fn lowest(&self, is_such: &dyn Fn(&View) -> bool) -> (u32, &str) {
        let such = self.views.iter().filter(|(view, _)| is_such(view));
        let ranks = such.filter_map(|(view, ranks)| Some((*ranks.lowest.first()?, view.places.as_str())));
        ranks.min().unwrap_or_default()
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

/// Whether a storage belongs to this machine, so that each machine may have one of its own.
pub(crate) fn is_own(storage: &Storage) -> bool {
    !matches!(storage.class, StorageClass::Network | StorageClass::Fuse)
}

fn shared_id(storage: &Storage) -> String {
    storage.filesystem_id.clone().filter(|_| !is_own(storage)).unwrap_or_default()
}

/// What is mounted, and where.
pub(crate) fn place(storage: &Storage) -> String {
    let Some(mount) = storage.mount.value() else { return "unknown".to_owned() };
    format!("{} from {} at {}", mount.fstype, mount.source, mount.mount_point.display())
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
    use fsdyno_results::evidence::{Mount, NfsIdentity, RecordedFact as Fact, ServerIdentity};

    /// A rank, and what it sees.
    type RankView = (u32, Node);

    fn agreement(seen: &[RankView], seats: &[RankPartners], sees_first: Option<bool>) -> Result<Vec<Note>, String> {
        let sight = |rank| Sight {
            sees_first: if rank == 0 { sees_first.map(|_| true) } else { sees_first },
            is_beside: rank == 0,
        };
        agreement_with(seen, seats, sight)
    }

    fn agreement_with(
        seen: &[RankView],
        seats: &[RankPartners],
        sight: impl Fn(u32) -> Sight,
    ) -> Result<Vec<Note>, String> {
        let mut all = Views::default();
        seen.iter().rev().for_each(|(rank, node)| all.extend(Views::of(*rank, Ok(node), sight(*rank))));
        all.agreement(seats)
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
        assert_eq!(agreement(&same, &seats(), None), Ok(Vec::new()));
        let mixed = [seen(0, "6.1", "nfs4", &["rw"]), seen(1, "6.2", "nfs4", &["ro"]), seen(2, "6.1", "nfs4", &["rw"])];
        let notes = agreement(&mixed, &seats(), None).unwrap();
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
        let ids = |one: RankView, other: RankView, meet: Option<bool>| {
            let notes = agreement(&[one, other], &seats(), meet)?;
            Ok::<_, String>(notes.into_iter().map(|note| note.id).collect::<Vec<_>>())
        };
        let differ = Ok(vec!["servers-differ".to_owned()]);
        assert_eq!(ids(of_server(0, "s1", Some(7)), of_server(1, "s2", Some(7)), None), differ, "one root");
        assert_eq!(
            ids(of_server(0, "s1", None), of_server(1, "s2", None), Some(true)),
            differ,
            "they meet in a directory"
        );
        let refused = ids(of_server(0, "s1", Some(7)), of_server(1, "s2", Some(8)), None).unwrap_err();
        assert!(refused.contains("nfs4 from s1:/data on a; nfs4 from s2:/data on b"), "{refused}");
        assert!(ids(of_server(0, "s1", None), of_server(1, "s2", None), None).is_err(), "nothing shows that it is one");
        assert_eq!(ids(of_server(0, "s1", Some(7)), of_server(1, "s1", Some(8)), None), Ok(Vec::new()), "as it was");
    }

    fn placed(rank: u32, class: StorageClass, source: &str) -> RankView {
        let mut seen = seen(rank, "6.1", "ext4", &["rw"]);
        let storage = &mut seen.1.storages[0];
        storage.class = class;
        let at = ("/data".into(), source.to_owned());
        if let Fact::Value(mount) = &mut storage.mount {
            (mount.mount_point, mount.source) = at;
        }
        seen
    }

    /// Ranks 0 and 1 on one machine, rank 2 on another; whether each sees the first one's file.
    fn agreed(class: StorageClass, sees: [bool; 3]) -> Result<Vec<String>, String> {
        let seen = [0, 1, 2].map(|rank| placed(rank, class, "/dev/vda"));
        let sight = |rank| Sight { sees_first: Some(sees[rank as usize]), is_beside: rank < 2 };
        Ok(agreement_with(&seen, &seats(), sight)?.into_iter().map(|note| note.id).collect())
    }

    #[test]
    fn each_machine_may_have_a_disk_of_its_own_and_no_server_two_storages() {
        let refused = |sees, class, lowest: &str| {
            let refused = agreed(class, sees).unwrap_err();
            let place = "ext4 from /dev/vda at /data";
            let named = format!("{lowest} does not see the file that rank 0 has made: {place} there, {place} on a");
            assert!(refused.contains(&named), "{refused}");
        };
        for class in [StorageClass::Block, StorageClass::Network] {
            assert_eq!(agreed(class, [true; 3]), Ok(Vec::new()));
            refused([true, false, true], class, "rank 1 on b");
            refused([true, false, false], class, "rank 1 on b");
        }
        assert_eq!(agreed(StorageClass::Block, [true, true, false]), Ok(vec!["own-storages".to_owned()]));
        refused([true, true, false], StorageClass::Network, "rank 2 on c");
        refused([true, true, false], StorageClass::Fuse, "rank 2 on c");
    }

    #[test]
    fn what_a_layer_shows_is_written_elsewhere() {
        let plain = placed(0, StorageClass::Block, "/dev/vda");
        let through = |fstype: &str| {
            let mut through = seen(1, "6.1", fstype, &["rw"]);
            through.1.storages[0].class = StorageClass::Block;
            agreement(&[plain.clone(), through], &seats(), Some(true))
        };
        assert_eq!(through("overlay").map_err(|sentence| sentence.contains("ext4 on a; overlay on b")), Err(true));
        assert!(through("nfs4").is_ok_and(|notes| notes.is_empty()), "the server itself may be one of the nodes");
    }

    #[test]
    fn identifiers_of_a_shared_filesystem_are_compared() {
        let with = |rank, class, id: &str| {
            let mut seen = placed(rank, class, "s");
            seen.1.storages[0].filesystem_id = Some(id.to_owned());
            seen
        };
        let ids = |class, other: &str| {
            let notes = agreement(&[with(0, class, "7"), with(1, class, other)], &seats(), Some(true)).unwrap();
            notes.into_iter().map(|note| note.id).collect::<Vec<_>>()
        };
        assert_eq!(ids(StorageClass::Network, "7"), [""; 0]);
        assert_eq!(ids(StorageClass::Network, "8"), ["filesystem-ids-differ"]);
        assert_eq!(ids(StorageClass::Memory, "8"), [""; 0], "a machine's own");
    }

    #[test]
    fn another_filesystem_or_a_rank_that_cannot_run_ends_it() {
        let missing = [seen(0, "6.1", "nfs4", &[]), seen(1, "6.1", "ext4", &[])];
        let refused = agreement(&missing, &seats(), None).unwrap_err();
        assert!(refused.contains("ext4 on b; nfs4 on a"), "{refused}");
        let mut all = Views::of(2, Err(&"no such file".to_owned()), Sight::default());
        all.extend(Views::of(1, Err(&"no memory".to_owned()), Sight::default()));
        all.extend(Views::of(0, Ok(&missing[0].1), Sight::default()));
        assert_eq!(all.agreement(&seats()), Err("fio: rank 1 on b cannot run: no memory".to_owned()));
    }

    #[test]
    fn what_a_thousand_ranks_see_is_as_long_as_what_differs() {
        let seats: Vec<RankPartners> =
            (0..1000).map(|rank| RankPartners { name: format!("n{rank}"), ..RankPartners::default() }).collect();
        let kernel = |rank| if rank % 100 == 7 { "6.2" } else { "6.1" };
        let all: Vec<RankView> = (0..1000).map(|rank| seen(rank, kernel(rank), "nfs4", &["rw"])).collect();
        let notes = agreement(&all, &seats, None).unwrap();
        let text = "the ranks differ in their kernel: 6.1 on n0, n1, n2 and 987 more; 6.2 on n7, n107, n207 and 7 more";
        assert_eq!(notes.iter().map(|note| note.text.as_str()).collect::<Vec<_>>(), [text]);
        let mut views = Views::default();
        all.iter().for_each(|(rank, node)| views.extend(Views::of(*rank, Ok(node), Sight::default())));
        assert_eq!(views.views.len(), 2);
    }
}
