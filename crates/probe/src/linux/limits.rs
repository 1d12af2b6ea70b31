//! Resource limits of this process.

use rustix::process::{Resource, getrlimit};

use super::cgroups::{self, Version};
use super::{Look, read_number, read_text};
use crate::{Fact, Limits, NotVisible};

pub(super) fn limits(look: &Look) -> Limits {
    let open_files = getrlimit(Resource::Nofile);
    Limits {
        open_files: Ok(open_files.current),
        open_files_hard: Ok(open_files.maximum),
        descriptors: descriptors(look),
        locked_memory_bytes: Ok(getrlimit(Resource::Memlock).current),
        aio_max_requests: read_number(&look.proc.join("sys/fs/aio-max-nr")),
        aio_reserved_requests: read_number(&look.proc.join("sys/fs/aio-nr")),
        io_uring_disabled: read_number(&look.proc.join("sys/kernel/io_uring_disabled")),
        other_identities: other_identities(look),
        nodes: nodes(look),
        cgroup_memory_bytes: cgroup_memory_bytes(look),
    }
}

/// Number of open descriptors, without the one that is used for counting.
fn descriptors(look: &Look) -> Fact<u64> {
    let path = look.proc.join("self/fd");
    let entries = std::fs::read_dir(&path).map_err(|error| NotVisible::new(path.display(), error))?;
    Ok((entries.count() as u64).saturating_sub(1))
}

fn other_identities(look: &Look) -> Fact<[bool; 2]> {
    const SETGID: u32 = 6;
    const SETUID: u32 = 7;
    let path = look.proc.join("self/status");
    let text = read_text(&path)?;
    let line = text.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let held = line.and_then(|line| u64::from_str_radix(line.trim(), 16).ok());
    let held = held.ok_or_else(|| NotVisible::new(path.display(), "it tells no capabilities"))?;
    Ok([SETGID, SETUID].map(|bit| held >> bit & 1 == 1))
}

/// NUMA nodes; a kernel without NUMA has no folder of nodes.
fn nodes(look: &Look) -> Fact<Vec<(u32, Vec<u32>)>> {
    let folder = look.sys.join("devices/system/node");
    let online = numbers(&read_text(&folder.join("online"))?);
    let of_node = |node| Ok((node, numbers(&read_text(&folder.join(format!("node{node}/cpulist")))?)));
    online.into_iter().map(of_node).collect()
}

/// The members of a list such as `0-3,8,10-11`; empty if the text is not such a list.
fn numbers(text: &str) -> Vec<u32> {
    let range = |item: &str| {
        let (first, last) = item.split_once('-').unwrap_or((item, item));
        let (first, last) = (first.parse().ok()?, last.parse().ok()?);
        Some(first..=last)
    };
    text.trim().split(',').filter_map(range).flatten().collect()
}

/// The lowest memory limit of this process's control group and its parents.
pub(super) fn cgroup_memory_bytes(look: &Look) -> Fact<Option<u64>> {
    let group = cgroups::group(look, "memory")?;
    let file = match group.version {
        Version::V1 => "memory.limit_in_bytes",
        Version::V2 => "memory.max",
    };
    let limits = group.texts(file)?;
    Ok(limits.iter().filter_map(|text| parse_limit(text)).min())
}

/// The lowest number of bytes from which on pages of the groups are evicted: their limit, or in version 2 the lower
/// one at which nothing is killed.
pub(super) fn cgroup_cache_bytes(look: &Look) -> Fact<Option<u64>> {
    let limit = cgroup_memory_bytes(look)?;
    let high = cgroups::group(look, "memory")?.texts("memory.high").unwrap_or_default();
    Ok(high.iter().filter_map(|text| parse_limit(text)).chain(limit).min())
}

/// Reads a limit; `max` (version 2) and a number near 2^63 (version 1) mean no limit.
fn parse_limit(text: &str) -> Option<u64> {
    const NO_LIMIT_FROM: u64 = 1 << 62;
    text.trim().parse().ok().filter(|bytes| *bytes < NO_LIMIT_FROM)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::block::fixture;
    use std::fs;
    use std::path::PathBuf;

    fn write(path: PathBuf, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn the_tightest_group_of_version_2_counts() {
        let tree = fixture::tree();
        let cgroups = tree.root.path().join("cgroup");
        write(tree.look.proc.join("self/cgroup"), "0::/a/b\n");
        let line = format!("30 1 0:28 / {} rw - cgroup2 cgroup2 rw\n", cgroups.display());
        write(tree.look.proc.join("self/mountinfo"), &line);
        write(cgroups.join("a/b/memory.max"), "max\n");
        write(cgroups.join("a/memory.max"), "1073741824\n");
        assert_eq!(cgroup_memory_bytes(&tree.look), Ok(Some(1 << 30)));
        write(cgroups.join("a/b/memory.max"), "4096\n");
        assert_eq!(cgroup_memory_bytes(&tree.look), Ok(Some(4096)));
        write(cgroups.join("a/b/memory.max"), "max\n");
        write(cgroups.join("a/memory.max"), "max\n");
        assert_eq!(cgroup_memory_bytes(&tree.look), Ok(None));
        write(cgroups.join("a/memory.high"), "8192\n");
        assert_eq!(cgroup_cache_bytes(&tree.look), Ok(Some(8192)), "pages are evicted there, nothing is killed");
        assert_eq!(cgroup_memory_bytes(&tree.look), Ok(None));
    }

    #[test]
    fn version_1_beside_version_2() {
        let tree = fixture::tree();
        let memory = tree.root.path().join("memory");
        write(tree.look.proc.join("self/cgroup"), "4:memory:/job\n2:cpu,cpuacct:/\n0::/\n");
        let lines = format!(
            "34 31 0:32 / /nowhere rw - cgroup cgroup rw,cpu\n35 31 0:32 / {} rw - cgroup cgroup rw,memory\n",
            memory.display()
        );
        write(tree.look.proc.join("self/mountinfo"), &lines);
        write(memory.join("job/memory.limit_in_bytes"), "9223372036854771712\n");
        write(memory.join("memory.limit_in_bytes"), "8192\n");
        assert_eq!(cgroup_memory_bytes(&tree.look), Ok(Some(8192)));
    }

    #[test]
    fn a_container_sees_its_own_part() {
        let tree = fixture::tree();
        let cgroups = tree.root.path().join("cgroup");
        write(tree.look.proc.join("self/cgroup"), "0::/docker/abc/inner\n");
        let line = format!("30 1 0:28 /docker/abc {} rw - cgroup2 cgroup2 rw\n", cgroups.display());
        write(tree.look.proc.join("self/mountinfo"), &line);
        write(cgroups.join("inner/memory.max"), "77\n");
        assert_eq!(cgroup_memory_bytes(&tree.look), Ok(Some(77)));
    }

    #[test]
    fn what_is_missing_is_not_visible() {
        let tree = fixture::tree();
        let limits = limits(&tree.look);
        assert!(limits.aio_max_requests.unwrap_err().place.ends_with("sys/fs/aio-max-nr"));
        assert!(limits.io_uring_disabled.is_err());
        assert!(limits.cgroup_memory_bytes.is_err());
        let tree = fixture::tree();
        write(tree.look.proc.join("self/cgroup"), "0::/\n");
        write(tree.look.proc.join("self/mountinfo"), "");
        assert!(cgroup_memory_bytes(&tree.look).is_err(), "no hierarchy is mounted");
    }

    #[test]
    fn this_machine() {
        let limits = limits(&Look::new());
        assert!(limits.open_files.unwrap() != Some(0));
        match limits.aio_max_requests {
            Ok(requests) => assert!(requests > 0),
            Err(reason) => eprintln!("skipped: {reason}"),
        }
    }
}
