//! How often and how long the processor limits of its control groups throttled this process.

use std::path::PathBuf;

use crate::linux::{Look, cgroups, read_text};

/// The `cpu.stat` files of the group of this process and its parents, as far as they are visible.
#[derive(Debug)]
pub(super) struct Throttle {
    files: Vec<PathBuf>,
}

impl Throttle {
    pub(super) fn find(look: &Look) -> Option<Throttle> {
        let files = cgroups::group(look, "cpu").ok()?.files("cpu.stat");
        (!files.is_empty()).then_some(Throttle { files })
    }

    /// Number of times and µs, over all groups, because each counts only its own limit. `None`: no group counts this.
    pub(super) fn read(&self) -> Option<(u64, u64)> {
        let counted = self.files.iter().filter_map(|file| parse(&read_text(file).ok()?));
        counted.reduce(|sum, more| (sum.0 + more.0, sum.1 + more.1))
    }
}

/// Number of times and µs; version 1 counts ns. The root group of version 2 has no limit and no such lines.
fn parse(text: &str) -> Option<(u64, u64)> {
    let figure = |name: &str| {
        let found = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        found?.trim().parse::<u64>().ok()
    };
    let us = figure("throttled_usec").or_else(|| figure("throttled_time").map(|ns| ns / 1000))?;
    Some((figure("nr_throttled")?, us))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::block::fixture::{Tree, tree};
    use std::fs;

    fn write(path: PathBuf, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn groups(tree: &Tree, groups: &str, mountinfo: &str) {
        write(tree.look.proc.join("self/cgroup"), groups);
        write(tree.look.proc.join("self/mountinfo"), mountinfo);
    }

    #[test]
    fn both_versions_are_parsed() {
        let version_2 = "usage_usec 10\nnr_periods 7\nnr_throttled 3\nthrottled_usec 4500\nnr_bursts 0\n";
        assert_eq!(parse(version_2), Some((3, 4500)));
        let version_1 = "nr_periods 0\nnr_throttled 2\nthrottled_time 9000\nnr_bursts 0\nburst_time 0\n";
        assert_eq!(parse(version_1), Some((2, 9)));
        assert_eq!(parse("usage_usec 10\n"), None, "a group without limit");
    }

    #[test]
    fn the_groups_above_count_too() {
        let tree = tree();
        let cgroups = tree.root.path().join("cgroup");
        groups(&tree, "0::/a/b\n", &format!("30 1 0:28 / {} rw - cgroup2 cgroup2 rw\n", cgroups.display()));
        write(cgroups.join("cpu.stat"), "usage_usec 99\n");
        write(cgroups.join("a/cpu.stat"), "nr_throttled 1\nthrottled_usec 10\n");
        write(cgroups.join("a/b/cpu.stat"), "nr_throttled 2\nthrottled_usec 5\n");
        let throttle = Throttle::find(&tree.look).unwrap();
        assert_eq!(throttle.read(), Some((3, 15)));
    }

    #[test]
    fn the_controller_of_version_1_goes_before_an_empty_version_2() {
        let tree = tree();
        let (cpu, unified) = (tree.root.path().join("cpu"), tree.root.path().join("unified"));
        let lines = format!(
            "31 1 0:28 / {} rw - cgroup2 cgroup2 rw\n32 1 0:29 / {} rw - cgroup cgroup rw,cpu\n",
            unified.display(),
            cpu.display()
        );
        groups(&tree, "3:cpu,cpuacct:/job\n0::/\n", &lines);
        write(unified.join("cpu.stat"), "usage_usec 99\n");
        write(cpu.join("job/cpu.stat"), "nr_throttled 4\nthrottled_time 2000\n");
        assert_eq!(Throttle::find(&tree.look).unwrap().read(), Some((4, 2)));
    }

    #[test]
    fn no_group_is_no_count() {
        let hidden = super::super::tests::empty();
        assert!(Throttle::find(&hidden.look).is_none());
    }
}
