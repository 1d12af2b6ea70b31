//! Tests `clean` with several users, namespaces and hosts.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::scene::{ANOTHER_USER, Scene};
use testkit::{Running, is_root, names, skip, wait_until};

/// A marker as another user would forge it: a copy of a real one.
fn real_marker(scene: &Scene) -> Vec<u8> {
    let (running, work) = scene.measuring();
    let marker = fs::read(work.join(".fsdyno-work")).unwrap();
    running.signal("INT");
    running.finish();
    wait_until("the end of the run", || scene.names("data").is_empty());
    marker
}

/// In a directory that everybody may write, root cleans up while another user exchanges entries.
#[test]
#[expect(clippy::disallowed_methods, reason = "a test may panic where there is no thread")]
fn root_deletes_nothing_for_another_user() {
    if !is_root("a second user") {
        return;
    }
    let scene = Scene::new();
    let marker = real_marker(&scene);
    let data = scene.data();
    fs::set_permissions(&data, fs::Permissions::from_mode(0o1777)).unwrap();
    let forged = data.join("fsdyno-work-1-forged");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                let _ = fs::create_dir_all(forged.join("sub"));
                let _ = fs::write(forged.join(".fsdyno-work"), &marker);
                for path in [forged.clone(), forged.join("sub"), forged.join(".fsdyno-work")] {
                    let _ = chown(&path, Some(ANOTHER_USER), Some(ANOTHER_USER));
                }
                let _ = fs::remove_dir(forged.join("sub"));
                let _ = symlink(scene.path("victim"), forged.join("sub"));
                let _ = fs::remove_file(forged.join("sub"));
            }
        });
        let _ends = testkit::Ends(&stop);
        for words in ["clean data", "clean data --others", "clean data --any-owner --others"] {
            for _ in 0..10 {
                scene.run(words);
                scene.victim_is_whole(&scene.path("victim"));
            }
        }
    });
    let _ = fs::create_dir_all(&forged);
    fs::write(forged.join(".fsdyno-work"), &marker).unwrap();
    for path in [&forged, &forged.join(".fsdyno-work")] {
        chown(path, Some(ANOTHER_USER), Some(ANOTHER_USER)).unwrap();
    }
    let output = scene.clean();
    assert!(output.contains(&format!("belongs to user {ANOTHER_USER}")) && forged.exists(), "{output}");
}

/// The other way round: another user cannot remove root's directory, and is not hindered by it.
#[test]
fn another_user_leaves_roots_alone() {
    if !is_root("a second user") {
        return;
    }
    let scene = Scene::new();
    // The build may be readable for root only.
    let place = tempfile::tempdir().unwrap();
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o1777)).unwrap();
    let program = place.path().join("fsdyno");
    fs::copy(testkit::program(), &program).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let roots = place.path().join("fsdyno-work-1-0");
    fs::create_dir(&roots).unwrap();
    fs::write(roots.join(".fsdyno-work"), real_marker(&scene)).unwrap();
    let as_other = |words: &str| {
        let mut command = Command::new(&program);
        command.args(words.split(' ')).current_dir(place.path()).env("HOME", place.path());
        Running::start(command.uid(ANOTHER_USER).gid(ANOTHER_USER)).finish()
    };
    let output = as_other("clean .").stdout;
    assert!(output.contains("not removed: belongs to user 0"), "{output}");
    let measured = as_other("measure . --quick --only=read-latency --size=16m --no-store");
    assert_eq!(measured.status, Some(0), "{}", measured.stderr);
    assert_eq!(names(place.path()), ["fsdyno", "fsdyno-work-1-0"]);
}

/// In its own PID namespace a run has a process number without meaning outside; its lock shows that it is alive.
#[test]
fn a_run_in_another_namespace_is_alive() {
    if !is_root("a namespace of process numbers") {
        return;
    }
    let scene = Scene::new();
    let mut inside = scene.program("unshare", "--pid --fork --kill-child --mount-proc");
    // Long enough for both calls of `clean`.
    let words = "measure data --only=read-latency --runtime=6 --size=16m --no-store";
    inside.arg(testkit::program()).args(words.split(' '));
    let mut running = Running::start(&mut inside);
    let mut ended = false;
    wait_until("the measured file", || {
        ended = running.is_over();
        let work = crate::scene::work_directory(&scene.data());
        ended || work.is_some_and(|work| work.join("measure.dat").exists())
    });
    if ended {
        let output = running.finish().stderr;
        return skip(&format!("no namespace of process numbers here: {}", output.trim()));
    }
    for words in ["clean data", "clean data --others --any-owner"] {
        let output = scene.run(words).stdout;
        assert!(output.contains("not removed: process"), "{output}");
    }
    running.finish().good();
    assert!(scene.names("data").is_empty());
}

/// Without /proc neither processes nor the boot id are visible: what is uncertain is left alone.
#[test]
fn without_proc_everything_may_be_alive() {
    if !is_root("a namespace of mounts") {
        return;
    }
    let scene = Scene::new();
    let (running, _) = scene.measuring();
    let dead = scene.data().join("fsdyno-work-1-0");
    fs::create_dir(&dead).unwrap();
    let marker = crate::scene::work_directory(&scene.data()).filter(|work| *work != dead);
    let marker = marker.map(|work| fs::read(work.join(".fsdyno-work")).unwrap());
    fs::write(dead.join(".fsdyno-work"), marker.unwrap_or_default()).unwrap();
    fs::write(dead.join("data"), "x").unwrap();
    let line = "mount -t tmpfs none /proc && exec \"$0\" clean data";
    let mut blind = scene.program("unshare", &["--mount", "bash", "-c", line]);
    let output = Running::start(blind.arg(testkit::program())).finish();
    if output.status != Some(0) {
        skip(&format!("no namespace of mounts here: {}", output.stderr.trim()));
    }
    assert!(!output.stdout.contains(": removed"), "{}", output.stdout);
    assert!(dead.join("data").exists());
    running.finish().good();
}
