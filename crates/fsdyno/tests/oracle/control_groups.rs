//! Tests the control groups of jobs on the real blkio mount: who is in them, and what is left of them.

use std::path::{Path, PathBuf};

use crate::claims;
use crate::tools::{FIO, OURS};

/// The line of a command before the job that tells in which blkio group it began: that of its worker.
const TELLS: &str = "--exec_prerun=grep blkio /proc/self/cgroup";

/// A group that does not exist yet; `None`: none can be made here.
fn new_group() -> Option<(String, PathBuf)> {
    let mounts = std::fs::read_to_string("/proc/mounts").unwrap_or_default();
    let fields = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let blkio = |mount: &Vec<String>| mount[2] == "cgroup" && mount[3].split(',').any(|word| word == "blkio");
    let Some(mount) = mounts.lines().map(fields).find(blkio) else {
        testkit::skip("the blkio controller of cgroup version 1 is not mounted");
        return None;
    };
    let name = format!("fsdyno-test-{}-{:?}", std::process::id(), std::thread::current().id());
    let name = name.replace(['(', ')'], "");
    let path = Path::new(&mount[1]).join(&name);
    if let Err(error) = std::fs::create_dir(&path).and_then(|()| std::fs::remove_dir(&path)) {
        testkit::skip(&format!("no group can be made in {}: {error}", mount[1]));
        return None;
    }
    FIO.as_ref().map(|_| (name, path)).or_else(|| {
        testkit::skip("fio is not installed");
        None
    })
}

/// Runs both tools; returns the status, and the group that the worker was in.
fn both(words: &str, mut compare: impl FnMut(&str, Option<i32>, String, &str)) {
    for tool in [FIO.as_ref().expect("looked at before"), &*OURS] {
        let directory = testkit::directory();
        let words = format!("--name=a --filename=data --size=64k --rw=write {words}");
        let mut command = std::process::Command::new(&tool.program);
        let command = testkit::apart(&mut command).args(words.split(' ')).arg(TELLS);
        let ran = command.current_dir(&directory).output().expect("it runs");
        let told = std::fs::read_to_string(directory.path().join("a.prerun.txt")).unwrap_or_default();
        let group = told.trim().rsplit(':').next().unwrap_or_default().to_owned();
        let said = testkit::text(&ran.stderr) + &testkit::text(&ran.stdout);
        compare(tool.name, ran.status.code(), group, &said);
    }
}

#[test]
fn workers_are_in_the_group_which_is_removed() {
    let Some((name, path)) = new_group() else { return };
    both(&format!("--cgroup={name} --thread"), |tool, status, group, said| {
        assert_eq!((status, group), (Some(0), format!("/{name}")), "{tool}: {said}");
        assert!(!path.exists(), "{tool} has left it");
    });
}

#[test]
fn groups_stay_that_are_kept_or_were_there() {
    let Some((name, path)) = new_group() else { return };
    both(&format!("--cgroup={name} --cgroup_nodelete=1"), |tool, status, group, said| {
        assert_eq!((status, group), (Some(0), format!("/{name}")), "{tool}: {said}");
        std::fs::remove_dir(&path).unwrap_or_else(|error| panic!("{tool} has not kept it: {error}"));
    });
    std::fs::create_dir(&path).unwrap();
    both(&format!("--cgroup={name}"), |tool, status, group, said| {
        assert_eq!((status, group), (Some(0), format!("/{name}")), "{tool}: {said}");
        assert!(path.is_dir(), "{tool} has removed a group of others");
    });
    std::fs::remove_dir(&path).unwrap();
}

#[test]
fn a_weight_that_the_kernel_lacks_fails_and_leaves_nothing() {
    let Some((name, path)) = new_group() else { return };
    std::fs::create_dir(&path).unwrap();
    let has_weights = path.join("blkio.weight").exists();
    std::fs::remove_dir(&path).unwrap();
    both(&format!("--cgroup={name} --cgroup_weight=500"), |tool, status, _, said| {
        assert_eq!(status, Some(if has_weights { 0 } else { 1 }), "{tool}: {said}");
        assert!(!path.exists(), "{tool} has left it");
    });
}

#[test]
fn a_signal_leaves_no_group() {
    let Some((name, path)) = new_group() else { return };
    let program = testkit::program();
    let line = format!(
        "\"{program}\" --name=a --ioengine=null --size=1m --rate_iops=100 --time_based --runtime=60 --cgroup={name} & tool=$!
         until grep -q . {group}/tasks 2>&-; do kill -0 $tool || exit 9; sleep 0.05; done; kill -TERM $tool; wait $tool; true",
        group = path.display()
    );
    testkit::shell(&line);
    assert!(!path.exists(), "it is left");
}

#[test]
fn weights_have_the_bounds_of_fio() {
    if FIO.is_some() {
        for (weight, status) in [(99, 1), (100, 0), (1000, 0), (1001, 1)] {
            let words = format!("--name=a --ioengine=null --size=4k --cgroup_weight={weight}");
            assert_eq!(claims::run(&words).status, Some(status), "fio: {weight}");
            let ours = std::process::Command::new(testkit::program()).args(words.split(' ')).output().unwrap();
            assert_eq!(ours.status.code(), Some(status), "{weight}: {}", testkit::text(&ours.stderr));
        }
    } else {
        testkit::skip("fio is not installed");
    }
}

#[test]
fn groups_elsewhere_are_refused_and_fio_makes_them() {
    let Some((name, path)) = new_group() else { return };
    let mount = path.parent().expect("it is in a mount").display();
    both(&format!("--cgroup=/{name}"), |tool, status, _, said| {
        assert_eq!(status, Some(i32::from(tool != "fio")), "{tool}: {said}");
    });
    for tool in [FIO.as_ref().expect("looked at before"), &*OURS] {
        let job = format!("'{}' --name=a --ioengine=null --size=4k --cgroup={name} 2>&1", tool.program.display());
        let said = testkit::shell(&format!("unshare -m sh -c \"umount {mount} && {job}; echo status \\$?\""));
        let ours = tool.name != "fio";
        assert!(said.contains(&format!("status {}", i32::from(ours))), "{}: {said}", tool.name);
        assert!(!ours || said.contains("version 1") && said.contains("IOWeight="), "{said}");
    }
}
