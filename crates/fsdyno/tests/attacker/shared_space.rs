//! Tests places and runs that share a filesystem, and others that fill it.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::scene::work_directory;
use testkit::{names, pause, stack, start, wait_until};

/// Used share of the filesystem, percent.
fn used_percent(place: &Path) -> u64 {
    let stat = rustix::fs::statvfs(place).unwrap();
    (stat.f_blocks - stat.f_bavail) * 100 / stat.f_blocks
}

#[test]
fn two_places_on_one_filesystem() {
    stack::inside("shared_space::two_places_on_one_filesystem", "ext4 --size-mb 256", || {
        let place = stack::place("LAB_TARGET");
        fs::create_dir(place.join("a")).unwrap();
        fs::create_dir(place.join("b")).unwrap();
        let refused = start(&place, "compare a=a b=b --size=110m --rounds=1 --no-store").finish();
        let output = refused.stderr;
        assert_eq!(refused.status, Some(2), "{output}");
        assert!(
            output.contains("other runs there have reserved") && output.contains("below the limit of 90 %"),
            "{output}"
        );
        assert!(names(&place.join("a")).is_empty() && names(&place.join("b")).is_empty());
        let several = "compare a=a b=b --size=40m --numjobs=3 --rounds=1 --no-store";
        assert_eq!(start(&place, several).finish().status, Some(2), "each job has a file of its own");
        let fits = "compare a=a b=b --only=read,write --size=32m --rounds=1 --runtime=1 --no-store";
        start(&place, fits).finish().good();
    });
}

#[test]
fn two_runs_on_one_filesystem() {
    stack::inside("shared_space::two_runs_on_one_filesystem", "ext4 --size-mb 256", || {
        let place = stack::place("LAB_TARGET");
        let words = "measure . --quick --only=read-latency,seq-write --size=128m --no-store";
        let mut first = start(&place, words);
        wait_until("the first run's directory", || work_directory(&place).is_some());
        let second = start(&place, words).finish();
        let output = second.stderr;
        assert_eq!(second.status, Some(2), "{output}");
        assert!(output.contains("needs 128 MiB"), "{output}");
        let mut fullest = 0;
        while !first.is_over() {
            fullest = fullest.max(used_percent(&place));
            pause(20);
        }
        first.finish().good();
        assert!(fullest <= 91, "{fullest} % were used");
    });
}

/// Another program fills the disk during the run: the run ends with a message, and leaves the remaining space to the
/// other.
#[test]
fn a_filler_beside_the_run_ends_it() {
    stack::inside("shared_space::a_filler_beside_the_run_ends_it", "ext4 --size-mb 256", || {
        let place = stack::place("LAB_TARGET");
        let words = "measure . --size=64m --no-store";
        let run = start(&place, words);
        wait_until("the measured file", || {
            work_directory(&place).is_some_and(|work| work.join("measure.dat").exists())
        });
        let filler = place.join("filler");
        let filled = Command::new("fallocate").args(["-l", "160m"]).arg(&filler).status().unwrap();
        assert!(filled.success());
        let ended = run.finish();
        let output = ended.stderr;
        assert_eq!(ended.status, Some(2), "{output}");
        assert!(output.contains("beyond 90 % (space)"), "{output}");
        assert!(work_directory(&place).is_none() && filler.exists());
    });
}

#[test]
fn inodes_are_space_too() {
    stack::inside("shared_space::inodes_are_space_too", "ext4 --size-mb 64 --inodes 1024", || {
        let place = stack::place("LAB_TARGET");
        let refused = start(&place, "smallfiles . --no-store").finish();
        let output = refused.stderr;
        assert_eq!(refused.status, Some(2), "{output}");
        assert!(output.contains("inodes, but only") && output.contains("--files"), "{output}");
        start(&place, "smallfiles . --files=100 --limit=1 --no-store").finish().good();
        assert_eq!(names(&place), ["lost+found"]);
    });
}
