//! Tests that a run's directory is exchanged while it runs.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use crate::scene::Scene;
use testkit::{is_root, stack};

#[test]
fn a_link_in_its_place_is_not_followed() {
    let scene = Scene::new();
    let (child, work) = scene.measuring();
    fs::rename(&work, scene.path("stolen")).unwrap();
    symlink(scene.path("victim"), &work).unwrap();
    let ended = child.finish();
    scene.victim_is_whole(&scene.path("victim"));
    assert!(!scene.path("stolen").exists(), "what was made is removed where it is now: {}", ended.stderr);
    assert_eq!(scene.names("data").len(), 1, "the link is not ours");
}

#[test]
fn another_directory_in_its_place_is_not_emptied() {
    let scene = Scene::new();
    let (child, work) = scene.measuring();
    fs::rename(&work, scene.path("stolen")).unwrap();
    fs::rename(scene.path("victim"), &work).unwrap();
    child.finish();
    scene.victim_is_whole(&work);
    assert!(!scene.path("stolen").exists());
}

/// The next tests would open `measure.dat` in it, and write.
#[test]
fn a_link_named_as_the_next_file_is_not_written_through() {
    let scene = Scene::new();
    let (child, work) = scene.measuring();
    fs::rename(&work, scene.path("stolen")).unwrap();
    fs::create_dir(&work).unwrap();
    symlink(scene.path("victim/a.txt"), work.join("measure.dat")).unwrap();
    child.finish();
    scene.victim_is_whole(&scene.path("victim"));
}

/// If the run's own file is replaced by a link, the run fails; the link's target is unchanged.
#[test]
fn a_link_in_place_of_the_file_is_refused() {
    let scene = Scene::new();
    let (child, work) = scene.measuring();
    fs::remove_file(work.join("measure.dat")).unwrap();
    symlink(scene.path("victim/a.txt"), work.join("measure.dat")).unwrap();
    child.finish();
    scene.victim_is_whole(&scene.path("victim"));
    assert!(scene.names("data").is_empty());
}

#[test]
fn what_is_mounted_within_is_not_entered() {
    if !is_root("a mount within the directory of a run") {
        return;
    }
    stack::inside("swaps::what_is_mounted_within_is_not_entered", "tmpfs", || {
        let scene = Scene::new();
        let (child, work) = scene.measuring();
        let within = work.join("within");
        fs::create_dir(&within).unwrap();
        let mount = |words: [&str; 3]| Command::new("mount").args(words).status().unwrap().success();
        let (victim, target) = (scene.path("victim"), within.to_str().unwrap().to_owned());
        assert!(mount(["--bind", victim.to_str().unwrap(), &target]), "the mount is made");
        let ended = child.finish();
        let output = ended.stderr;
        scene.victim_is_whole(&victim);
        assert!(output.contains("is another mount, and is not removed"), "{output}");
        assert!(Command::new("umount").arg(&target).status().unwrap().success());
        assert!(scene.clean().contains(": removed"));
        assert!(scene.names("data").is_empty());
    });
}

/// If somebody removes the directory, the run ends without figures from it.
#[test]
fn a_directory_that_is_removed_makes_the_figures_invalid() {
    let scene = Scene::new();
    let (child, work) = scene.measuring();
    // Repeated, as the run may make files meanwhile.
    testkit::wait_until("the removal", || {
        let _ = fs::remove_dir_all(&work);
        !work.exists()
    });
    let ended = child.finish();
    let output = ended.stderr;
    assert_eq!(ended.status, Some(2), "{output}");
    assert!(output.contains("was removed during the run"), "{output}");
    assert!(scene.names("data").is_empty());
}
