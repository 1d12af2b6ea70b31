//! SIGKILL at any moment of any question, and `clean` afterwards.

use std::fs;
use std::process::Stdio;

use crate::scene::{Scene, names, pause_ms, wait_until, work_directory};

const MOMENTS: u32 = 50;

/// A kill comes within so long after the start, ms.
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
    fs::create_dir(scene.path("data/other")).unwrap();
    fs::write(scene.path("data/mine"), "precious").unwrap();
    fs::create_dir(scene.path("data/fsdyno-work-of-mine")).unwrap();
    fs::write(scene.path("data/fsdyno-work-of-mine/file"), "precious").unwrap();
    let mut moments = Moments::begin();
    for moment in 0..MOMENTS {
        let words = QUESTIONS[moment as usize % QUESTIONS.len()];
        let after_ms = moments.next() % LATEST_MS;
        // The one that was called, or the one that does the work.
        let worker = moments.next().is_multiple_of(2);
        killed(&scene, words, after_ms, worker);
        let what = format!("{words}, killed after {after_ms} ms (seed {:#x})", moments.seed);
        for place in ["data", "data/other"] {
            // The process that did the work dies a moment after the one that was killed.
            wait_until(&what, || {
                let said = String::from_utf8(scene.run(&format!("clean {place}")).stdout).unwrap();
                assert!(!said.contains("FAILED"), "{what}: {said}");
                !said.contains("still uses it")
            });
        }
        assert_eq!(names(&scene.data()), ["fsdyno-work-of-mine", "mine", "other"], "{what}");
        assert!(names(&scene.path("data/other")).is_empty(), "{what}");
    }
    assert_eq!(fs::read_to_string(scene.path("data/mine")).unwrap(), "precious");
    assert_eq!(fs::read_to_string(scene.path("data/fsdyno-work-of-mine/file")).unwrap(), "precious");
    scene.victim_is_whole(&scene.path("victim"));
    // The store: whole studies, and no draft once somebody has asked again.
    assert!(scene.run("measure data --quick --size=16m").status.success());
    let store = scene.path("home/fsdyno");
    for name in names(&store) {
        assert!(name.ends_with(".json"), "{name}");
        results::Study::from_json(&fs::read_to_string(store.join(name)).unwrap()).unwrap();
    }
}

/// Bash is a process of its own: it must not go on writing into what `clean` removes.
#[test]
fn killed_in_the_shells_loop_the_shell_ends_too() {
    let scene = Scene::new();
    for round in 0..8 {
        let mut child = scene
            .command("smallfiles data --files=100 --limit=1 --literal --no-store")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        wait_until("the shell's files", || {
            assert!(child.try_wait().unwrap().is_none(), "it ended before the shell's loop");
            work_directory(&scene.data()).is_some_and(|work| work.join("shell/test5.txt").exists())
        });
        child.kill().unwrap();
        child.wait().unwrap();
        wait_until("the other process's end", || !scene.clean().contains("still uses it"));
        assert!(names(&scene.data()).is_empty(), "round {round}: {:?}", names(&scene.data()));
    }
}

/// Starts it, and kills one of its processes after a while; it may have ended before.
fn killed(scene: &Scene, words: &str, after_ms: u64, worker: bool) {
    let mut child = scene.command(words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    pause_ms(after_ms as i64);
    let pid = child.id();
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    let below = children.split_whitespace().next().and_then(|pid| pid.parse().ok());
    let victim = below.filter(|_| worker).unwrap_or(pid as i32);
    if let Some(victim) = rustix::process::Pid::from_raw(victim) {
        let _ = rustix::process::kill_process(victim, rustix::process::Signal::KILL);
    }
    child.wait().unwrap();
    let _ = work_directory(&scene.data());
}

/// Moments by chance; the seed is in the message of a failure.
struct Moments {
    seed: u64,
    state: u64,
}

impl Moments {
    fn begin() -> Moments {
        use std::hash::{BuildHasher, Hasher};
        let seed = std::collections::hash_map::RandomState::new().build_hasher().finish() | 1;
        Moments { seed, state: seed }
    }

    /// xorshift64.
    fn next(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state
    }
}
