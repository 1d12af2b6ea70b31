//! The control groups of jobs (`cgroup`): made before the layout, joined by each worker at its start, removed at the end.
//! Only directories that this run has made are removed, and only if they are empty.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use fsdyno_job::Process;
use fsdyno_os::clock::{Clock, RealClock};
use fsdyno_os::errno::{EBUSY, ENOENT};
use fsdyno_os::files::{Directory, FileAccess, FileError, Identity, OpenFile, OpenMode};
use fsdyno_probe::Fact;

use crate::plan::{Plan, WorkerPlan};

/// Removals that are tried, and the time between them: a thread leaves its group shortly after its end.
const REMOVALS: u32 = 50;
const BETWEEN_NS: u64 = 20_000_000;

/// The file with the weight of a group.
const WEIGHT: &str = "blkio.weight";

/// The groups of a run.
#[derive(Debug, Default)]
pub(crate) struct ControlGroups(Vec<Group>);

#[derive(Debug)]
struct Group {
    name: String,
    /// The weight that it was given.
    weight: Option<u16>,
    /// Its file `tasks`: a thread that writes 0 to it joins.
    members: Mutex<OpenFile>,
    /// The group, if the run has to remove it.
    made: Option<Made>,
}

/// A directory that this run has made: where, its name there, and which one it is.
#[derive(Debug)]
struct Made {
    parent: Directory,
    name: PathBuf,
    identity: Identity,
}

/// What each worker that can run asks for.
fn asked(plan: &Plan) -> impl Iterator<Item = (&Process, &str)> {
    plan.workers.iter().filter(|worker| worker.refused.is_none()).filter_map(|worker| {
        let process: &Process = &worker.job.process;
        Some((process, process.control_group.as_deref()?))
    })
}

/// A sentence, if jobs ask for groups and there is no controller for them.
pub(crate) fn refusal(plan: &Plan, mount: impl FnOnce() -> Fact<PathBuf>) -> Option<String> {
    let (_, name) = asked(plan).next()?;
    let error = mount().err()?;
    Some(format!(
        "fio: cgroup={name}: cgroup blkio does not appear to be mounted: {error}; this option needs the controller of \
         cgroup version 1\nNext step: leave cgroup out, and start the run with systemd-run --scope -p IOWeight=WEIGHT"
    ))
}

impl ControlGroups {
    /// Makes the groups of the plan that do not exist, and opens all. The error is a sentence; then none is left.
    pub(crate) fn begin(plan: &Plan, mount: impl FnOnce() -> Fact<PathBuf>) -> Result<ControlGroups, String> {
        let mut groups = ControlGroups::default();
        if asked(plan).next().is_none() {
            return Ok(groups);
        }
        let mount = mount().map_err(|error| format!("fio: cgroup: {error}"))?;
        for (process, name) in asked(plan) {
            let failed = |error: FileError| because(process, name, &error);
            let known = groups.0.iter().position(|group| group.name == name);
            if known.is_none() {
                groups.0.push(Group::open(&mount, name).map_err(failed)?);
            }
            let place = known.unwrap_or(groups.0.len() - 1);
            let Some(weight) = process.control_group_weight else { continue };
            match groups.0[place].weight.replace(weight) {
                None => weigh(&mount, name, weight).map_err(failed)?,
                Some(other) if other != weight => {
                    return Err(format!(
                        "fio: cgroup={name} would have cgroup_weight={other} and {weight}\nNext step: use one of them"
                    ));
                }
                Some(_) => {}
            }
        }
        // All are there, so that those to be kept may stay.
        for group in &mut groups.0 {
            if asked(plan).any(|(process, name)| process.control_group_kept && name == group.name) {
                group.made = None;
            }
        }
        Ok(groups)
    }

    /// Puts the calling thread into the worker's group.
    pub(crate) fn join(&self, worker: &WorkerPlan) -> Result<(), FileError> {
        let wanted = worker.job.process.control_group.as_deref();
        let group = self.0.iter().find(|group| Some(&*group.name) == wanted);
        group.map_or(Ok(()), |group| group.members.lock().unwrap_or_else(PoisonError::into_inner).write_all_at(b"0", 0))
    }

    /// Removes the groups that this run has made; the errors say which are left. `patient`: waits for threads to leave.
    pub(crate) fn remove(&self, patient: bool) -> Vec<FileError> {
        // A group may be below one that was made before it.
        self.0
            .iter()
            .rev()
            .filter_map(|group| group.made.as_ref()?.remove(if patient { REMOVALS } else { 1 }).err())
            .collect()
    }
}

impl Drop for ControlGroups {
    fn drop(&mut self) {
        // The conductor has removed them and told what is left; this is for a run that did not begin.
        self.remove(false);
    }
}

impl Group {
    fn open(mount: &Path, name: &str) -> Result<Group, FileError> {
        let root = Directory::open(mount)?;
        let path = fsdyno_os::written::path(name);
        let parent = match path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            Some(above) => root.enter(above)?,
            None => root,
        };
        let last = PathBuf::from(path.file_name().unwrap_or_default());
        let made = parent.make_unless_there(&last)?;
        let opened = parent.enter(&last).and_then(|group| {
            let members = group.open_file(&group.path().join("tasks"), OpenMode::buffered(FileAccess::Write))?;
            Ok((members, group.state()?.identity))
        });
        match opened {
            Ok((members, identity)) => {
                let made = made.then_some(Made { parent, name: last, identity });
                Ok(Group { name: name.to_owned(), weight: None, members: Mutex::new(members), made })
            }
            Err(error) => {
                if made {
                    // It is empty; the error that is told is the first one.
                    let _ = parent.remove_directory(&last);
                }
                Err(error)
            }
        }
    }
}

impl Made {
    /// Removes the directory, if it is still the same one.
    fn remove(&self, tries: u32) -> Result<(), FileError> {
        let clock = RealClock::shared();
        for left in (0..tries).rev() {
            match self.parent.look(&self.name) {
                Ok(entry) if entry.identity == self.identity => {}
                // It is gone, or the name is another's by now.
                _ => return Ok(()),
            }
            match self.parent.remove_directory(&self.name) {
                Err(error) if error.code == EBUSY && left > 0 => clock.sleep_until_ns(clock.now_ns() + BETWEEN_NS),
                outcome => return outcome,
            }
        }
        Ok(())
    }
}

/// Sets the weight of a group.
fn weigh(mount: &Path, name: &str, weight: u16) -> Result<(), FileError> {
    let group = Directory::open(mount)?.enter(&fsdyno_os::written::path(name))?;
    let file = group.open_file(&group.path().join(WEIGHT), OpenMode::buffered(FileAccess::Write))?;
    file.write_all_at(weight.to_string().as_bytes(), 0)
}

/// The sentence on a group that cannot be had, or its weight.
fn because(process: &Process, name: &str, error: &FileError) -> String {
    let system = std::io::Error::from_raw_os_error(error.code);
    let (operation, path) = (error.operation, error.path.display());
    let (option, step) = match process.control_group_weight {
        Some(weight) if error.path.ends_with(WEIGHT) && error.code == ENOENT => {
            let step = "leave cgroup_weight out: Linux has no such weights since 5.0. A group that you have made may have \
                        blkio.bfq.weight";
            (format!("cgroup_weight={weight}"), step)
        }
        _ => (format!("cgroup={name}"), "use a group below which you may make directories, or start fsdyno with sudo"),
    };
    format!("fio: {option}: cannot {operation} {path}: {system}\nNext step: {step}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsdyno_probe::NotVisible;

    fn plan_of(words: &str) -> Plan {
        let words = format!("--name=a --ioengine=null --size=4k {words}");
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        let fsdyno_job::Outcome::Run(request) = fsdyno_job::parse_command_line(&words, &mut crate::MachineSources)
        else {
            panic!("{words:?} is a job")
        };
        crate::plan::plan(&request.jobs, &fsdyno_probe::HostFacts::default(), 0)
    }

    #[test]
    fn groups_that_cannot_be_had_are_refused_before_the_run() {
        let none = || Err(NotVisible::new("mountinfo", "only version 2"));
        assert_eq!(refusal(&plan_of(""), none), None);
        let text = refusal(&plan_of("--cgroup=g"), none).unwrap();
        assert!(text.contains("cgroup=g") && text.contains("only version 2") && text.contains("systemd-run"), "{text}");
        assert_eq!(refusal(&plan_of("--cgroup=g"), || Ok("/nowhere".into())), None);
    }

    #[test]
    fn a_group_that_was_there_is_joined_and_stays() {
        let tree = tempfile::tempdir().unwrap();
        let group = tree.path().join("user/g");
        std::fs::create_dir_all(&group).unwrap();
        for file in ["tasks", WEIGHT] {
            std::fs::write(group.join(file), "").unwrap();
        }
        let two = "--cgroup=user/g --cgroup_weight=200 --name=b --ioengine=null --size=4k --cgroup=user/g --cgroup_weight=300";
        let error = ControlGroups::begin(&plan_of(two), || Ok(tree.path().to_owned())).unwrap_err();
        assert!(error.contains("cgroup_weight=200 and 300"), "{error}");
        let plan = plan_of("--cgroup=user/g --cgroup_weight=200 --numjobs=2");
        let groups = ControlGroups::begin(&plan, || Ok(tree.path().to_owned())).unwrap();
        groups.join(&plan.workers[0]).unwrap();
        assert_eq!(std::fs::read_to_string(group.join("tasks")).unwrap(), "0");
        assert_eq!(std::fs::read_to_string(group.join(WEIGHT)).unwrap(), "200");
        ["tasks", WEIGHT].iter().for_each(|file| std::fs::remove_file(group.join(file)).unwrap());
        assert!(groups.remove(true).is_empty());
        drop(groups);
        assert!(group.is_dir(), "it is empty, and another's");
    }

    #[test]
    fn what_cannot_be_joined_is_left_as_it_was() {
        let tree = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("tasks"), "theirs").unwrap();
        std::os::unix::fs::symlink(outside.path(), tree.path().join("link")).unwrap();
        std::fs::create_dir(tree.path().join("plain")).unwrap();
        for name in ["new", "plain", "link", "link/new", "absent/new"] {
            let error = ControlGroups::begin(&plan_of(&format!("--cgroup={name}")), || Ok(tree.path().to_owned()));
            let text = error.unwrap_err();
            assert!(text.contains(&format!("cgroup={name}")) && text.contains("Next step: "), "{text}");
        }
        let mut names: Vec<_> =
            std::fs::read_dir(tree.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["link", "plain"], "a directory without tasks is removed by the run that made it");
        assert_eq!(std::fs::read_to_string(outside.path().join("tasks")).unwrap(), "theirs");
        assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_directory_of_the_same_name_that_came_later_stays() {
        let tree = tempfile::tempdir().unwrap();
        let parent = || Directory::open(tree.path()).unwrap();
        let path = tree.path().join("g");
        assert!(parent().make_unless_there(Path::new("g")).unwrap());
        let identity = parent().enter(Path::new("g")).unwrap().state().unwrap().identity;
        let made = Made { parent: parent(), name: "g".into(), identity };
        std::fs::rename(&path, tree.path().join("moved")).unwrap();
        std::fs::create_dir(&path).unwrap();
        made.remove(1).unwrap();
        assert!(path.is_dir(), "another's");
        std::fs::remove_dir(&path).unwrap();
        std::fs::rename(tree.path().join("moved"), &path).unwrap();
        made.remove(1).unwrap();
        assert!(!path.exists(), "its own");
    }
}
