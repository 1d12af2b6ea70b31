//! Tests operations on names and small files beside busy CPUs, a neighbour on the device, and readers of the same
//! files: each phase gets the findings that a run of I/O gets.

use std::process::{Child, Command};

use fsdyno_results::{Finding, Severity, Study};

use crate::below::mounted_image;
use crate::bench::Bench;
use crate::machine::{BeforeOthers, BusyLoops};
use testkit::stack::{inside, inside_beside_others, place};
use testkit::{shell, word};

/// The answer to a question with phases.
struct PhasedAnswer(Study);

impl PhasedAnswer {
    fn of(words: &[&str]) -> PhasedAnswer {
        PhasedAnswer(Bench::new().ask(words))
    }

    fn finding(&self, id: &str) -> Option<&Finding> {
        self.0.rows.iter().flat_map(|row| &row.findings).find(|finding| finding.id == id)
    }

    #[track_caller]
    fn caution(&self, id: &str) -> &Finding {
        let found = self.finding(id).unwrap_or_else(|| panic!("no {id}: {:#?}", self.0.rows));
        assert_eq!(found.severity, Severity::Caution, "{found:?}");
        found
    }

    #[track_caller]
    fn invalid(&self, id: &str) -> &Finding {
        let found = self.finding(id).unwrap_or_else(|| panic!("no {id}: {:#?}", self.0.rows));
        assert_eq!(found.severity, Severity::Invalid, "{found:?}");
        found
    }

    #[track_caller]
    fn silent(&self, id: &str) {
        assert_eq!(self.finding(id), None);
    }
}

/// A program that runs until it is dropped, with its children.
struct BackgroundProgram(Child);

impl BackgroundProgram {
    fn run(words: &[&str]) -> BackgroundProgram {
        BackgroundProgram(Command::new("timeout").arg("60").args(words).spawn().expect("timeout is there"))
    }
}

impl Drop for BackgroundProgram {
    fn drop(&mut self) {
        shell(&format!("kill {}", self.0.id()));
        self.0.wait().expect("it ends");
    }
}

#[test]
fn busy_cpus_beside_small_files() {
    inside("phases::busy_cpus_beside_small_files", "ext4 --size-mb 256", || {
        let here = place("LAB_LOCAL");
        let words = ["check", "gitlab-smallfiles", word(&here)];
        let before_others = BeforeOthers::new();
        PhasedAnswer::of(&words).silent("cpu-starved");
        drop(before_others);
        let crowd = BusyLoops::new();
        let starved = PhasedAnswer::of(&words);
        drop(crowd);
        let found = starved.caution("cpu-starved");
        assert!(found.cause.contains("waited for a CPU"), "{}", found.cause);
        assert!(starved.0.rows.len() >= 9, "three passes of a write, its close, and a read");
    });
}

#[test]
fn a_neighbour_beside_small_files() {
    inside("phases::a_neighbour_beside_small_files", "ext4 --size-mb 256", || {
        let here = place("LAB_LOCAL");
        let words = ["smallfiles", word(&here), "--limit=1"];
        PhasedAnswer::of(&words).silent("foreign-load");
        let other = here.join("other");
        shell(&format!("dd if=/dev/urandom of={} bs=1M count=64 status=none; sync", word(&other)));
        let load = format!("while true; do dd if={} of=/dev/null bs=1M iflag=direct status=none; done", word(&other));
        let neighbour = BackgroundProgram::run(&["bash", "-c", &load]);
        let shared = PhasedAnswer::of(&words);
        drop(neighbour);
        let found = shared.caution("foreign-load");
        assert!(found.cause.contains("others moved"), "{}", found.cause);
    });
}

/// Maps each small file as soon as it exists, and holds it: mapped pages cannot be dropped.
const HOLDER: &str = r#"
import glob, mmap, os, sys
held = {}
while True:
    for name in glob.glob(sys.argv[1]):
        try:
            with open(name, "rb") as file:
                number = os.fstat(file.fileno()).st_ino, name
                if number not in held:
                    held[number] = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
                    held[number][0]
        except (OSError, ValueError):
            pass
"#;

#[test]
fn small_files_that_others_hold_in_memory() {
    inside("phases::small_files_that_others_hold_in_memory", "ext4 --size-mb 256", || {
        let here = place("LAB_LOCAL");
        let words = ["smallfiles", word(&here), "--limit=2"];
        PhasedAnswer::of(&words).silent("page-cache");
        let files = here.join("fsdyno-work-*/files/test*.txt");
        let holder = BackgroundProgram::run(&["python3", "-c", HOLDER, word(&files)]);
        let warmed = PhasedAnswer::of(&words);
        drop(holder);
        let found = warmed.caution("page-cache");
        assert!(found.cause.contains("were to be read cold"), "{}", found.cause);
    });
}

/// Syncs of files and directories on a mount that omits the flush of the device.
#[test]
fn small_files_that_are_synced_without_a_flush() {
    inside_beside_others("phases::small_files_that_are_synced_without_a_flush", "ext4 --size-mb 256", || {
        let (here, device) = (place("LAB_LOCAL"), place("LAB_DEVICE"));
        // A device's declaration outlives its image.
        let name = device.file_name().and_then(|name| name.to_str()).expect("a device");
        shell(&format!("echo 'write back' > /sys/block/{name}/queue/write_cache"));
        let words = ["smallfiles", word(&here), "--limit=2"];
        PhasedAnswer::of(&words).silent("sync-not-flushed");
        shell(&format!("mount -o remount,nobarrier {}", word(&here)));
        let cause = &PhasedAnswer::of(&words).invalid("sync-not-flushed").cause.clone();
        assert!(cause.contains("got 0 flushes: the mount has nobarrier"), "{cause}");
    });
}

/// The same one level down: the loop device is flushed, but the filesystem of its file does not flush the disk.
#[test]
fn small_files_whose_flushes_end_below() {
    inside_beside_others("phases::small_files_whose_flushes_end_below", "ext4 --size-mb 400", || {
        let (middle, top) = (place("LAB_LOCAL").join("middle"), place("LAB_LOCAL").join("top"));
        mounted_image(&middle.with_extension("image"), &middle, "--direct-io=on");
        mounted_image(&middle.join("image"), &top, "--direct-io=on");
        let words = ["smallfiles", word(&top), "--limit=2"];
        PhasedAnswer::of(&words).silent("sync-not-flushed");
        shell(&format!("mount -o remount,nobarrier {}", word(&middle)));
        let cause = &PhasedAnswer::of(&words).invalid("sync-not-flushed").cause.clone();
        assert!(cause.contains("below its file") && cause.contains("leaves syncs out"), "{cause}");
    });
}

#[test]
fn small_files_whose_syncs_do_nothing() {
    inside_beside_others("phases::small_files_whose_syncs_do_nothing", "overlay --volatile", || {
        let asked = PhasedAnswer::of(&["smallfiles", word(&place("LAB_LOCAL")), "--limit=2"]);
        let cause = &asked.invalid("sync-ignored").cause;
        assert!(cause.contains("the overlay is mounted volatile"), "{cause}");
    });
}

#[test]
fn small_files_whose_syncs_do_their_work() {
    inside_beside_others("phases::small_files_whose_syncs_do_their_work", "overlay", || {
        PhasedAnswer::of(&["smallfiles", word(&place("LAB_LOCAL")), "--limit=2"]).silent("sync-ignored");
    });
}

/// The timestamps that a mount does not update are reported; syncs write everything else.
#[test]
fn small_files_whose_times_are_not_stored() {
    inside_beside_others("phases::small_files_whose_times_are_not_stored", "ext4 --size-mb 256", || {
        let here = place("LAB_LOCAL");
        let answer = |option: &str| {
            shell(&format!("mount -o remount,{option} {}", word(&here)));
            let asked = PhasedAnswer::of(&["smallfiles", word(&here), "--files=100", "--limit=1"]);
            asked.silent("sync-ignored");
            asked.0.sentences.join(" ")
        };
        let [usual, lazy, none] = ["relatime,nolazytime", "lazytime", "noatime,nolazytime"].map(answer);
        assert!(!usual.contains("times stay in memory") && !usual.contains("store no access times"), "{usual}");
        assert!(lazy.contains("times stay in memory") && !lazy.contains("store no access times"), "{lazy}");
        assert!(!none.contains("times stay in memory") && none.contains("store no access times"), "{none}");
    });
}
