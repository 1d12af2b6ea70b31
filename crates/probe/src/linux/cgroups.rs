//! Finds the control groups of this process, versions 1 and 2.

use std::path::{Path, PathBuf};

use super::{Look, mounts, read_text};
use crate::{Fact, NotVisible};
use fsdyno_results::evidence::Mount;

/// The interface version of a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    /// Each controller has a hierarchy of its own.
    V1,
    /// All controllers share one hierarchy.
    V2,
}

/// A group of this process and its parents, as far as they are visible.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) version: Version,
    /// The group itself comes first.
    directories: Vec<PathBuf>,
    mount_point: PathBuf,
}

/// This process's group in the hierarchy of a controller; in version 1, `io` is called `blkio`.
pub(super) fn group(look: &Look, controller: &str) -> Fact<Group> {
    let read = || read_text(&look.proc.join("self/cgroup"));
    let groups = look.seen.groups.get_or_init(read).as_deref().map_err(NotVisible::clone)?;
    let mounts = mounts::mounts(look)?;
    let (version, mount, group) = hierarchy(groups, mounts, controller).ok_or_else(|| {
        NotVisible::new("/proc/self/cgroup", format!("no mounted cgroup hierarchy controls {controller}"))
    })?;
    let directory = directory_of(mount, Path::new(group));
    let above = directory.ancestors().take_while(|above| above.starts_with(&mount.mount_point));
    Ok(Group { version, directories: above.map(Path::to_path_buf).collect(), mount_point: mount.mount_point.clone() })
}

/// The mount point of the blkio controller of version 1.
pub(super) fn blkio_mount(look: &Look) -> Fact<PathBuf> {
    let mounts = mounts::mounts(look)?;
    let has_it = |mount: &&Mount| mount.fstype == "cgroup" && mount.option("blkio").is_some();
    let there = mounts.iter().find(has_it).map(|mount| mount.mount_point.clone());
    there.ok_or_else(|| {
        let newer = mounts.iter().any(|mount| mount.fstype == "cgroup2");
        let reason = if newer { "only cgroup version 2 has I/O here" } else { "no cgroups for I/O are mounted" };
        NotVisible::new("/proc/self/mountinfo", reason)
    })
}

impl Group {
    /// The files of this name in the group and its parents.
    pub(super) fn files(&self, name: &str) -> Vec<PathBuf> {
        self.directories.iter().map(|directory| directory.join(name)).filter(|file| file.exists()).collect()
    }

    /// The texts of this file in the group and its parents, as many as have it. An empty list: nothing is limited.
    pub(super) fn texts(&self, file: &str) -> Fact<Vec<String>> {
        let texts: Vec<String> =
            self.directories.iter().filter_map(|directory| read_text(&directory.join(file)).ok()).collect();
        if texts.is_empty() && !self.may_be_without() {
            let own = self.directories.first().unwrap_or(&self.mount_point);
            return Err(NotVisible::new(own.join(file).display(), "no such file in this control group or its parents"));
        }
        Ok(texts)
    }

    /// Whether the group may lack the file. The root has no limits. In version 2, the files of a controller are
    /// missing where it is switched off; then it limits nothing.
    fn may_be_without(&self) -> bool {
        let own = self.directories.first().unwrap_or(&self.mount_point);
        *own == self.mount_point || self.version == Version::V2 && own.join("cgroup.controllers").exists()
    }
}

/// The hierarchy of the controller: its version, its mount, this process's group in it.
fn hierarchy<'a>(groups: &'a str, mounts: &'a [Mount], controller: &str) -> Option<(Version, &'a Mount, &'a str)> {
    let name_in_version_1 = if controller == "io" { "blkio" } else { controller };
    let version_1 = groups.lines().find_map(|line| {
        let (controllers, group) = controllers_and_group(line)?;
        controllers.split(',').any(|name| name == name_in_version_1).then_some(group)
    });
    if let Some(group) = version_1 {
        let has_it = |mount: &&Mount| mount.fstype == "cgroup" && mount.option(name_in_version_1).is_some();
        return Some((Version::V1, mounts.iter().find(has_it)?, group));
    }
    let version_2 = groups.lines().find_map(|line| {
        let (controllers, group) = controllers_and_group(line)?;
        controllers.is_empty().then_some(group)
    });
    let mount = mounts.iter().find(|mount| mount.fstype == "cgroup2")?;
    Some((Version::V2, mount, version_2?))
}

/// Reads `4:memory,hugetlb:/group` (version 1) or `0::/group` (version 2).
fn controllers_and_group(line: &str) -> Option<(&str, &str)> {
    let (_, rest) = line.split_once(':')?;
    rest.split_once(':')
}

/// The visible directory of a group. In a container the mount may show only a part of the hierarchy.
fn directory_of(mount: &Mount, group: &Path) -> PathBuf {
    let below = mount
        .root
        .as_deref()
        .and_then(|root| group.strip_prefix(root).ok())
        .or_else(|| group.strip_prefix("/").ok())
        .unwrap_or(Path::new(""));
    let directory = mount.mount_point.join(below);
    if directory.exists() { directory } else { mount.mount_point.clone() }
}
