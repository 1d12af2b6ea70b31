//! The identity of the kernel, its running processes, and their open files.

use std::path::{Path, PathBuf};

use super::{Look, read_text};
use crate::{Fact, Kernel, NotVisible};
use fsdyno_stats::sort;

/// The kernel that this process runs on, and its view of processes.
pub(super) fn kernel(look: &Look) -> Kernel {
    let namespace = look.proc.join("self/ns/pid").read_link().ok();
    // `pid:[4026531836]`.
    let number = |link: PathBuf| link.to_str()?.strip_prefix("pid:[")?.strip_suffix(']')?.parse().ok();
    Kernel {
        machine: read_text(Path::new("/etc/machine-id")).ok().filter(|text| !text.is_empty()),
        boot: read_text(&look.proc.join("sys/kernel/random/boot_id")).ok().filter(|text| !text.is_empty()),
        pid_namespace: namespace.and_then(number),
    }
}

/// Whether a process of this namespace exists and has not ended: one that has ended may stay until its parent
/// collects it. `None`: not visible.
pub(super) fn runs(look: &Look, pid: u32) -> Option<bool> {
    look.proc.join("self/stat").exists().then_some(())?;
    let Ok(stat) = read_text(&look.proc.join(format!("{pid}/stat"))) else { return Some(false) };
    // The name is in parentheses and may contain any character; the state follows it.
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    Some(!matches!(state, Some('Z' | 'X')))
}

/// Files of this name that processes have opened, with the processes: this process, and those with a lock on a file,
/// as far as this user can see them.
pub(super) fn open_and_locked(look: &Look, name: &str) -> Vec<(u32, PathBuf)> {
    let mut processes: Vec<u32> = read_text(&look.proc.join("locks"))
        .unwrap_or_default()
        .lines()
        .filter_map(|line| {
            // `1: FLOCK  ADVISORY  WRITE 1234 fe:01:12345 0 EOF`; a process that waits has an arrow after the number.
            let mut words = line.split_whitespace().skip(1);
            (words.next()? == "FLOCK").then(|| words.nth(2)?.parse().ok())?
        })
        .collect();
    processes.push(std::process::id());
    fsdyno_stats::sort::by(&mut processes, Ord::cmp);
    processes.dedup();
    let mut found = Vec::new();
    for pid in processes {
        for entry in std::fs::read_dir(look.proc.join(format!("{pid}/fd"))).into_iter().flatten().flatten() {
            let Ok(path) = entry.path().read_link() else { continue };
            if path.file_name().is_some_and(|last| last == name) {
                found.push((pid, path));
            }
        }
    }
    sort::by(&mut found, Ord::cmp);
    found.dedup();
    found
}

/// Whether a process is in the same namespace of this kind (`net`, `mnt`) as this one.
pub(super) fn shares_namespace(look: &Look, pid: u32, kind: &str) -> Fact<bool> {
    let namespace = |process: &str| {
        let link = look.proc.join(process).join("ns").join(kind);
        std::fs::read_link(&link).map_err(|error| NotVisible::new(link.display(), error))
    };
    Ok(namespace(&pid.to_string())? == namespace("self")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_runs_here() {
        let look = Look::new();
        assert_eq!(runs(&look, std::process::id()), Some(true));
        assert_eq!(runs(&look, 4_000_000_000), Some(false));
        let kernel = kernel(&look);
        assert!(kernel.boot.is_some_and(|boot| boot.len() == 36) && kernel.pid_namespace.is_some());
        let nothing = tempfile::tempdir().unwrap();
        let blind = Look::at(nothing.path().into(), nothing.path().into());
        assert_eq!(runs(&blind, 1), None, "not visible");
        assert_eq!(super::kernel(&blind).boot, None);
    }

    #[test]
    fn open_files_are_found_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a-name-of-this-test");
        let file = std::fs::File::create(&path).unwrap();
        let found = open_and_locked(&Look::new(), "a-name-of-this-test");
        assert_eq!(found, [(std::process::id(), path.canonicalize().unwrap())]);
        drop(file);
        assert!(open_and_locked(&Look::new(), "a-name-of-this-test").is_empty());
    }
}
