//! Bytes that devices moved for the control group of this process, if no other process runs in it. Version 2 charges
//! write-back to the group that wrote.

use std::path::PathBuf;

use fsdyno_results::ReadWrite;

use crate::linux::cgroups::{self, Version};
use crate::linux::{Look, read_text};
use crate::{Fact, NotVisible};

/// The bytes of a group since the first reading.
#[derive(Debug)]
pub(super) struct GroupMeter {
    file: PathBuf,
    /// Device numbers of the leaf devices: `254:0`.
    devices: Vec<String>,
    first: Option<ReadWrite<u64>>,
}

impl GroupMeter {
    /// Not visible if other processes run in the group, or if its bytes are not counted.
    pub(super) fn begin(look: &Look, devices: Vec<String>) -> Fact<GroupMeter> {
        let group = cgroups::group(look, "io")?;
        let mut files = group.files("io.stat");
        let none = || NotVisible::new("io.stat", "the control group of this process does not count bytes");
        if group.version != Version::V2 || files.is_empty() {
            return Err(none());
        }
        let file = files.swap_remove(0);
        let directory = file.parent().ok_or_else(none)?;
        let members = read_text(&directory.join("cgroup.procs"))?;
        let family = family(look, std::process::id());
        // The second process of this program is a child of the first; the process that started them waits.
        let is_ours = |pid: u32| {
            family.contains(&pid) || parent(look, pid).is_some_and(|of| family[..2.min(family.len())].contains(&of))
        };
        if !members.lines().filter_map(|pid| pid.parse().ok()).all(is_ours) {
            return Err(NotVisible::new(directory.display(), "others run in the control group of this process"));
        }
        Ok(GroupMeter { file, devices, first: None })
    }

    pub(super) fn read(&mut self) -> Fact<ReadWrite<u64>> {
        let now = parse(&read_text(&self.file)?, &self.devices);
        Ok(now.since(*self.first.get_or_insert(now)))
    }
}

/// The process, its parent, and all further parents.
fn family(look: &Look, pid: u32) -> Vec<u32> {
    let mut all = vec![pid];
    while let Some(above) = parent(look, all[all.len() - 1]).filter(|above| *above > 0 && !all.contains(above)) {
        all.push(above);
    }
    all
}

/// The parent from `pid (name) state parent …`; the name may contain any character.
pub(super) fn parent(look: &Look, pid: u32) -> Option<u32> {
    let stat = read_text(&look.proc.join(pid.to_string()).join("stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

/// Reads lines such as `254:0 rbytes=1 wbytes=2 rios=3 …`. A device without a line has moved nothing.
fn parse(text: &str, devices: &[String]) -> ReadWrite<u64> {
    let of = |line: &str, name: &str| {
        line.split_whitespace().find_map(|word| word.strip_prefix(name)?.parse::<u64>().ok()).unwrap_or(0)
    };
    let lines = text
        .lines()
        .filter(|line| line.split(' ').next().is_some_and(|number| devices.iter().any(|own| own == number)));
    let each = lines.map(|line| ReadWrite { read: of(line, "rbytes="), write: of(line, "wbytes=") });
    each.fold(ReadWrite::default(), ReadWrite::plus)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::linux::block::fixture::tree;

    #[test]
    fn bytes_of_these_devices_alone() {
        let text =
            "254:0 rbytes=10 wbytes=20 rios=1 wios=2 dbytes=0 dios=0\n7:1 rbytes=3 wbytes=4\n8:0 rbytes=9 wbytes=9\n";
        assert_eq!(parse(text, &["254:0".into(), "7:1".into()]), [13, 24].into());
        assert_eq!(parse(text, &["9:9".into()]), ReadWrite::default());
    }

    /// A group of version 2 with these members; process 7 started 8, and 8 started 9.
    fn begin(members: &str) -> Fact<GroupMeter> {
        let mut tree = tree();
        let own = std::process::id();
        let group = tree.look.sys.join("fs/cgroup/run");
        fs::create_dir_all(&group).unwrap();
        fs::write(group.join("io.stat"), "254:0 rbytes=5 wbytes=6\n").unwrap();
        fs::write(group.join("cgroup.procs"), members).unwrap();
        for (pid, above) in [(own, 7), (7, 1), (8, 7), (9, 8), (1, 0)] {
            let process = tree.look.proc.join(pid.to_string());
            fs::create_dir_all(&process).unwrap();
            fs::write(process.join("stat"), format!("{pid} (a b) S {above} 0")).unwrap();
        }
        fs::write(tree.look.proc.join("self/cgroup"), "0::/run\n").unwrap();
        let place = tree.look.sys.join("fs/cgroup");
        fs::write(
            tree.look.proc.join("self/mountinfo"),
            format!("30 1 0:26 / {} rw - cgroup2 cgroup2 rw\n", place.display()),
        )
        .unwrap();
        tree.look = Look::at(tree.look.proc.clone(), tree.look.sys.clone());
        let mut meter = GroupMeter::begin(&tree.look, vec!["254:0".into()])?;
        assert_eq!(meter.read(), Ok(ReadWrite::default()));
        fs::write(group.join("io.stat"), "254:0 rbytes=9 wbytes=8\n").unwrap();
        assert_eq!(meter.read(), Ok([4, 2].into()));
        Ok(meter)
    }

    #[test]
    fn a_group_of_its_own_and_one_with_others() {
        let own = std::process::id();
        assert!(begin(&format!("{own}\n7\n8\n")).is_ok(), "its parent, and a child of that parent");
        assert!(
            begin(&format!("{own}\n9\n")).unwrap_err().reason.contains("others run"),
            "a child of a foreign process"
        );
    }
}
