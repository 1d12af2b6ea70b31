//! Tests the blocks of the pages that are not run word by word: each is tested here, or has an entry with the test that
//! covers it.

use std::fs;
use std::process::Command;

use testkit::TestDirectory;

use crate::{blocks, words};

/// How a block is tested.
enum Tried {
    /// Runs the words after `fsdyno`, in a directory of the test, with these additional words to shorten it.
    Words(&'static [&'static str]),
    /// Runs it by a shell, which finds the program.
    Shell(&'static [&'static str]),
    /// Settings, in the file that they are written for.
    Settings,
    /// Elsewhere, or nowhere: the reason.
    Otherwise(&'static str),
}

use Tried::{Otherwise, Settings, Shell, Words};

/// Page, beginning of the block, and how it is tested.
const BLOCKS: &[(&str, &str, Tried)] = &[
    ("configuration", "store = ", Settings),
    (
        "install",
        "update-alternatives ",
        Otherwise("dist: packaged::a_debian_package_is_installed_run_upgraded_and_removed"),
    ),
    (
        "install",
        "systemctl ",
        Otherwise("it needs systemd as the first process; dist: deployed::the_commands_of_the_unit_run"),
    ),
    ("install", "cargo xtask dist", Otherwise("dist: release")),
    ("json", "fsdyno ", Otherwise("faces: json, which runs each line with jq")),
    ("json", "{\"summary\": {\"headline\": null", Otherwise("printed, not typed")),
    ("kubernetes", "skopeo ", Otherwise("it needs a registry; dist: contained unpacks the same file")),
    (
        "kubernetes",
        "kubectl ",
        Otherwise("it needs a cluster; dist: deployed::commands_of_the_page_name_what_there_is"),
    ),
    ("live-stream", "fsdyno sweep ", Shell(&["--size=8m", "--runtime=1", "--iodepth=1", "--bs=1m", "--no-store"])),
    ("object-storage", "# A: a bucket", Otherwise("faces: stores asks these questions of a server of its own")),
    ("object-storage", "s3://bench/lab ", Otherwise("printed, not typed")),
    ("object-storage", "# A: the same bucket", Otherwise("faces: stores compares a bucket with a directory")),
    ("object-storage", "# A: connections, load", Otherwise("faces: stores asks these of a server of its own")),
    ("object-storage", "# A: three machines", Otherwise("cluster: stores asks it with two ranks")),
    ("object-storage", "# A: what the mount adds", Otherwise("faces: stores asks it of a server and a directory")),
    ("object-storage", "$ fsdyno compare bucket=", Otherwise("lab: case_c runs it with two rounds")),
    ("object-storage", "{\"Version\"", Otherwise("a policy for the bucket, no command")),
    ("object-storage", "# A: keys", Otherwise("faces: objects runs lines of this form against a server of its own")),
    ("profiles", "name = ", Otherwise("check: library::tests reads it")),
    ("replay", "# A: ", Otherwise("oracle: recorded writes and replays logs of this form")),
    ("replay", "Lateness (fsdyno)", Otherwise("printed, not typed")),
    ("scale", "mpirun ", Words(&[])),
    ("scale", "srun ", Words(&[])),
    ("scale", "128k random read", Otherwise("printed by what cluster: nfs runs")),
    ("scale", "skopeo ", Otherwise("it needs a registry; dist: clustered unpacks the same file")),
    ("scale", "kubectl ", Otherwise("it needs a cluster; dist: deployed reads the manifest")),
    ("time", "title = ", Otherwise("time runs the recipes of this form")),
    ("time", "fsdyno time ", Otherwise("time runs each of these forms")),
    ("windows", "CARGO_TARGET_", Otherwise("wine: it builds with this linker")),
];

/// Pages whose blocks are run above.
const EXAMPLES: &[&str] = &["guide", "fio"];

#[test]
fn every_block_of_every_page_is_tried() {
    let folder = testkit::workspace().join("docs");
    let mut used = vec![false; BLOCKS.len()];
    for file in testkit::names(&folder) {
        let Some(page) = file.strip_suffix(".md").filter(|page| !EXAMPLES.contains(page)) else { continue };
        for (_, block) in blocks(&fs::read_to_string(folder.join(&file)).unwrap()) {
            let begins =
                |(_, (of, words, _)): &(usize, &(&str, &str, Tried))| *of == page && block[0].starts_with(words);
            let known = BLOCKS.iter().enumerate().find(begins);
            let (index, (.., tried)) = known.unwrap_or_else(|| panic!("{file}: nothing tries this block: {block:?}"));
            used[index] = true;
            tried.run(&block);
        }
    }
    let unused = BLOCKS.iter().zip(used).filter(|(_, used)| !used).map(|(block, _)| (block.0, block.1));
    assert_eq!(unused.collect::<Vec<_>>(), [("", ""); 0], "these blocks are on no page");
}

impl Tried {
    fn run(&self, block: &[String]) {
        match self {
            Words(brief) => block.iter().for_each(|line| understood(line, brief)),
            Shell(brief) => shell(&block.join("\n"), brief),
            Settings => settings(&block.join("\n")),
            Otherwise(reason) => assert!(!reason.is_empty()),
        }
    }
}

/// Runs the words after a launcher. This program has one node: that answers a question, or it says how to start more
/// for a question on many nodes.
fn understood(line: &str, brief: &[&str]) {
    let place = TestDirectory::with(&["data"]);
    let all = words(line);
    let at = all.iter().position(|word| word == "fsdyno").unwrap_or_else(|| panic!("{line}"));
    let here = |word: &String| match word.as_str() {
        // The first write and read of small files have no time limit.
        "20000" => "200".to_owned(),
        path if path.starts_with('/') => place.word("data"),
        _ => word.clone(),
    };
    let mut own: Vec<String> = all[at + 1..].iter().map(here).collect();
    own.extend(brief.iter().map(|word| (*word).to_owned()));
    let ran = place.run(&own);
    let refused = ran.status == Some(2) && ran.stderr.contains("nodes are needed");
    assert!(if own[0] == "scale" { refused } else { ran.status == Some(0) }, "{line}: {ran:?}");
}

/// Runs a line with a pipe.
fn shell(line: &str, brief: &[&str]) {
    if !testkit::has("jq") {
        return;
    }
    let place = TestDirectory::with(&["data"]);
    let target = format!("{} {}", place.word("data"), brief.join(" "));
    let line = line.replacen("fsdyno ", &format!("{} ", testkit::program()), 1).replacen("/data", &target, 1);
    let ran = place.program("bash", &["-o", "pipefail", "-c", &line]).output().unwrap();
    assert!(ran.status.success() && ran.stdout.contains(&b'\t'), "{line}: {ran:?}");
}

fn settings(text: &str) {
    let place = TestDirectory::with(&["data", ".config/fsdyno"]);
    place.write(".config/fsdyno/config.toml", text);
    let shown = Command::new(testkit::program()).arg("config").env("HOME", place.word("")).output().unwrap();
    let (said, shown) = (testkit::text(&shown.stderr), testkit::text(&shown.stdout));
    let lines = text.lines().filter_map(|line| line.split(" = \"").nth(1)?.split('"').next());
    lines.for_each(|value| assert!(shown.contains(value), "{value}: {shown}\n{said}"));
}
