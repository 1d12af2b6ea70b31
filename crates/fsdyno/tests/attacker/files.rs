//! Tests files that the program writes: planted drafts, devices, several writers.

use std::fs;
use std::os::unix::fs::{FileTypeExt, symlink};

use crate::scene::Scene;
use testkit::{Running, program, text};

const RUN: &str = "--name=a --ioengine=null --rw=read --size=1m";

#[test]
fn a_planted_draft_is_neither_followed_nor_removed() {
    let scene = Scene::new();
    for planted in ["run.json.part", "rep.html.part-1", ".probe-1"] {
        symlink(scene.path("victim/a.txt"), scene.path(planted)).unwrap();
    }
    fs::write(scene.path("run.json"), "before").unwrap();
    let ran = scene.run(&format!("{RUN} --record=run.json"));
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    let reported = scene.run("report run.json -o rep.html");
    assert_eq!(reported.status, Some(0), "{}", reported.stderr);
    scene.victim_is_whole(&scene.path("victim"));
    assert_eq!(
        scene.names(""),
        [".probe-1", "data", "rep.html", "rep.html.part-1", "run.json", "run.json.part", "victim"]
    );
    assert!(fs::read_to_string(scene.path("run.json")).unwrap().starts_with('{'));
}

#[test]
fn a_device_stays_a_device_and_a_link_a_link() {
    let scene = Scene::new();
    let ran = scene.run(&format!("{RUN} --record=/dev/null"));
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());

    symlink(scene.path("victim/a.txt"), scene.path("run.json")).unwrap();
    let refused = scene.run(&format!("{RUN} --record=run.json"));
    assert_eq!(refused.status, Some(1));
    assert!(refused.stderr.contains("is a link: use the file that it points to"), "{}", refused.stderr);
    scene.victim_is_whole(&scene.path("victim"));

    let streamed = scene.command(&format!("{RUN} --record=/dev/stdout --output=report")).output().unwrap();
    assert!(streamed.stdout.starts_with(b"{"), "{}", text(&streamed.stdout));
}

#[test]
fn runs_that_share_a_record_all_save_it() {
    let scene = Scene::new();
    let running: Vec<_> = (0..4).map(|_| scene.start(&format!("{RUN} --record=run.json"))).collect();
    for running in running {
        running.finish().good();
    }
    assert_eq!(scene.names(""), ["data", "run.json", "victim"]);
}

#[test]
fn a_live_stream_empties_no_file() {
    let scene = Scene::new();
    let refused = scene.run("measure data --quick --size=16m --no-store --live victim/a.txt");
    assert_eq!(refused.status, Some(2));
    assert!(refused.stderr.contains("is not empty"), "{}", refused.stderr);
    scene.victim_is_whole(&scene.path("victim"));
    assert!(scene.names("data").is_empty());
}

/// Without free descriptors nothing can be made, and nothing is left that could not be removed.
#[test]
fn too_few_open_files_leave_nothing() {
    let scene = Scene::new();
    for limit in 4..10 {
        let line = format!("ulimit -n {limit}; exec \"$0\" measure data --quick --size=16m --no-store");
        let ran = Running::start(&mut scene.program("bash", &["-c", &line, &program()])).finish();
        let _ = scene.clean();
        assert!(scene.names("data").is_empty(), "limit {limit}: {}", ran.stderr);
    }
}
