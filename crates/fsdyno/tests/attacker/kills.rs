//! Tests SIGKILL at any time of any question, and `clean` afterwards. `FSDYNO_KILLS` is the number of kills.

use std::fs;

use crate::scene::{Scene, work_directory};
use testkit::{pause, wait_until};

/// The number of kills; `usual`: where the variable does not say it, one of each kind. The moments are drawn anew in each run.
pub(crate) fn kills(usual: usize) -> usize {
    std::env::var("FSDYNO_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(usual)
}

/// The latest time of a kill after the start, ms.
const LATEST_MS: u64 = 1200;

const QUESTIONS: [&str; 6] = [
    "measure data --quick --size=16m",
    "smallfiles data --files=300 --limit=1 --literal",
    "check etcd data --quick",
    "compare a=data b=data/other --size=16m --runtime=1 --rounds=2",
    "sweep data --size=16m --iodepth=1,4 --runtime=1",
    "curve data --size=16m --iodepth=4 --loads=50 --runtime=1",
];

#[test]
fn killed_at_any_moment_nothing_stays_and_nothing_is_lost() {
    let scene = Scene::new();
    for directory in ["data/other", "data/fsdyno-work-of-mine"] {
        fs::create_dir(scene.path(directory)).unwrap();
    }
    for file in ["data/mine", "data/fsdyno-work-of-mine/file"] {
        scene.write(file, "precious");
    }
    let mut moments = Moments::begin();
    for moment in 0..kills(2 * QUESTIONS.len()) {
        let words = QUESTIONS[moment % QUESTIONS.len()];
        let after_ms = moments.next() % LATEST_MS;
        // The process that was called, or the one that does the work.
        let worker = (moment / QUESTIONS.len()).is_multiple_of(2);
        killed(&scene, words, after_ms, worker);
        let what = format!("{words}, killed after {after_ms} ms (seed {:#x})", moments.seed);
        for place in ["data", "data/other"] {
            // The working process dies a moment after the one that was killed.
            wait_until(&what, || {
                let output = scene.run(&format!("clean {place}")).stdout;
                assert!(!output.contains("FAILED"), "{what}: {output}");
                !output.contains("still uses it")
            });
        }
        assert_eq!(scene.names("data"), ["fsdyno-work-of-mine", "mine", "other"], "{what}");
        assert!(scene.names("data/other").is_empty(), "{what}");
    }
    assert_eq!(scene.read("data/mine"), "precious");
    assert_eq!(scene.read("data/fsdyno-work-of-mine/file"), "precious");
    scene.victim_is_whole(&scene.path("victim"));
    // The store has only whole studies, and no draft once a new question was asked.
    scene.run("measure data --quick --size=16m --only=sync-latency").good();
    assert_eq!(scene.studies("home/fsdyno").len(), scene.names("home/fsdyno").len());
}

/// Bash is a separate process: it must not go on writing into what `clean` removes.
#[test]
fn killed_in_the_shells_loop_the_shell_ends_too() {
    let scene = Scene::new();
    for round in 0..8 {
        let mut running = scene.start("smallfiles data --files=100 --limit=1 --literal --no-store");
        running.wait_until("the shell's files", |_| {
            work_directory(&scene.data()).is_some_and(|work| work.join("shell/test5.txt").exists())
        });
        running.signal("KILL");
        running.finish();
        wait_until("the other process's end", || !scene.clean().contains("still uses it"));
        assert!(scene.names("data").is_empty(), "round {round}: {:?}", scene.names("data"));
    }
}

/// Starts a question, and kills one of its processes after a while; it may have ended before.
fn killed(scene: &Scene, words: &str, after_ms: u64, worker: bool) {
    let running = scene.start(words);
    pause(after_ms);
    let pid = running.id();
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    let below = children.split_whitespace().next().map(str::to_owned);
    let victim = below.filter(|_| worker).unwrap_or(pid.to_string());
    let _ = std::process::Command::new("kill").args(["-KILL", &victim]).output().unwrap();
    running.finish();
    let _ = work_directory(&scene.data());
}

/// Random times; the seed is in the message of a failure.
pub(crate) struct Moments {
    pub(crate) seed: u64,
    state: u64,
}

impl Moments {
    pub(crate) fn begin() -> Moments {
        use std::hash::{BuildHasher, Hasher};
        let seed = std::collections::hash_map::RandomState::new().build_hasher().finish() | 1;
        Moments { seed, state: seed }
    }

    /// xorshift64.
    pub(crate) fn next(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state
    }
}
