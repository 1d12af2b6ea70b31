//! Gathers the facts of many paths: each is looked at once, and equal facts are kept once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::{FileKind, HostFacts, Look, PathFacts};

impl HostFacts {
    /// Facts of the machine and of each of `paths`; the paths may depend on the machine.
    pub fn gather<Paths: IntoIterator<Item = PathBuf>>(
        look: &Look,
        paths: impl FnOnce(&fsdyno_results::Host) -> Paths,
    ) -> HostFacts {
        let host = look.host();
        let mut facts =
            HostFacts { paths: BTreeMap::new(), host, page_bytes: look.page_bytes(), limits: look.limits() };
        let mut neighbour = Neighbour::default();
        for path in paths(&facts.host) {
            let found = neighbour.next(look, &path);
            facts.paths.insert(path.into(), found);
        }
        facts
    }

    /// Looks for the users of these paths, because a job will change them. The paths must be among those of the
    /// facts.
    pub fn ask_use(&mut self, look: &Look, paths: impl IntoIterator<Item = PathBuf>) {
        // Files can only be in use through loop devices. Most machines have none, so that no question is needed.
        let asked = |facts: &Arc<PathFacts>| match facts.kind {
            FileKind::Regular => look.has_loop_devices(),
            _ => facts.exists(),
        };
        for path in paths {
            if let Some(facts) = self.paths.get(path.as_path()).filter(|facts| asked(facts)) {
                let facts = PathFacts { device_use: Some(look.device_use(&path)), ..PathFacts::clone(facts) };
                self.paths.insert(path.into(), facts.into());
            }
        }
    }
}

/// The path that was looked at last, with its facts: most files of a job are alike, and lie in one directory.
#[derive(Default)]
struct Neighbour {
    /// The directory, if nothing has the name of the last path there.
    without_it: Option<PathBuf>,
    facts: Option<Arc<PathFacts>>,
}

impl Neighbour {
    /// The facts of the next path.
    fn next(&mut self, look: &Look, path: &Path) -> Arc<PathFacts> {
        // A link that leads nowhere has a target with facts of its own.
        let nothing = std::fs::symlink_metadata(path).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound);
        let directory = path.parent().filter(|_| nothing);
        if let Some(facts) = self.facts.as_ref().filter(|_| nothing && directory == self.without_it.as_deref()) {
            return Arc::clone(facts);
        }
        let mut found = look.path_facts(path);
        let shared = match self.facts.take() {
            Some(known) => {
                // The filesystem's space changes meanwhile: one look at it is enough.
                if found.place.is_some() && found.place == known.place && found.space.is_ok() && known.space.is_ok() {
                    found.space.clone_from(&known.space);
                }
                if *known == found { known } else { Arc::new(found) }
            }
            None => Arc::new(found),
        };
        self.without_it = directory.filter(|_| shared.kind == FileKind::Missing).map(Path::to_owned);
        self.facts = Some(Arc::clone(&shared));
        shared
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gathered(directory: &Path, names: &[&str]) -> HostFacts {
        HostFacts::gather(&Look::new(), |_| names.iter().map(|name| directory.join(name)).collect::<Vec<_>>())
    }

    #[test]
    fn equal_facts_are_held_once_and_others_are_not_shared() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path();
        for name in ["full0", "full1", "more"] {
            std::fs::write(place.join(name), if name == "more" { "123456" } else { "12345" }).unwrap();
        }
        std::fs::create_dir(place.join("below")).unwrap();
        let names = ["none0", "none1", "below/none", "below/below/none", "full0", "full1", "more", "none2"];
        let facts = gathered(place, &names);
        let shared = |first: &str, second: &str| {
            Arc::ptr_eq(&facts.paths[place.join(first).as_path()], &facts.paths[place.join(second).as_path()])
        };
        assert!(shared("none0", "none1") && shared("full0", "full1"));
        assert!(!shared("none0", "below/below/none") && !shared("full0", "more") && !shared("more", "none2"));
        for name in names {
            let path = place.join(name);
            let (alone, found) = (Look::new().path_facts(&path), facts.path(&path).unwrap());
            assert_eq!((alone.kind, alone.size_bytes, alone.parent_exists), {
                (found.kind, found.size_bytes, found.parent_exists)
            });
            assert_eq!((&alone.place, &alone.mount, &alone.devices), (&found.place, &found.mount, &found.devices));
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_nowhere_has_facts_of_its_own() {
        let directory = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/proc/none", directory.path().join("link")).unwrap();
        let facts = gathered(directory.path(), &["none", "link", "other"]);
        let place = |name: &str| facts.path(&directory.path().join(name)).unwrap().place.clone();
        assert_ne!(place("link"), place("none"));
        assert_eq!(place("other"), place("none"));
    }

    #[test]
    fn who_is_asked_for_users_does_not_change_the_facts_of_others() {
        let directory = tempfile::tempdir().unwrap();
        let mut facts = gathered(directory.path(), &["none", ""]);
        facts.ask_use(&Look::new(), [directory.path().join(""), directory.path().join("none")]);
        assert!(facts.path(&directory.path().join("")).unwrap().device_use.is_some());
        assert!(facts.path(&directory.path().join("none")).unwrap().device_use.is_none());
    }
}
