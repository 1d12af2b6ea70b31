//! Every example of the README runs. Places become directories of the test; long questions are asked briefly.

use std::fs;
use std::path::Path;
use std::process::Command;

/// The lines of the blocks marked `sh example`, without their remarks.
fn examples(readme: &str) -> Vec<String> {
    let mut inside = false;
    let mut lines = Vec::new();
    for line in readme.lines() {
        match line {
            "```sh example" => inside = true,
            "```" => inside = false,
            _ if inside => lines.push(line.split(" #").next().unwrap().trim().to_string()),
            _ => {}
        }
    }
    lines
}

/// The words of a line; quotes hold blanks together.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, part) in line.split('\'').enumerate() {
        if index % 2 == 1 {
            words.push(part.to_string());
        } else {
            words.extend(part.split_whitespace().map(str::to_string));
        }
    }
    words
}

/// What makes a long question a short one.
fn briefly(question: &str) -> &'static [&'static str] {
    match question {
        "measure" => &["--quick", "--size=16m"],
        "compare" => &["--rounds=2", "--size=8m", "--runtime=1"],
        _ => &[],
    }
}

fn run(place: &Path, words: &[String]) -> std::process::Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fsdyno"));
    command.args(words).current_dir(place).env("XDG_DATA_HOME", place.join("home")).env("HOME", place);
    command.output().unwrap()
}

#[test]
fn every_example_runs() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md")).unwrap();
    let lines = examples(&readme);
    assert!(lines.len() >= 9, "the README has lost its examples: {lines:?}");
    for name in ["data", "nfs"] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    let here = |word: &str| {
        let data = folder.path().join("data").display().to_string();
        word.replace("/data", &data).replace("/mnt/nfs", &folder.path().join("nfs").display().to_string())
    };
    let mut compared = Vec::new();
    for line in lines {
        let mut words: Vec<String> = words(&line).iter().map(|word| here(word)).collect();
        assert_eq!(words.remove(0), "fsdyno", "{line}");
        words.extend(briefly(&words[0]).iter().map(|word| word.to_string()));
        if words[0] == "diff" {
            // The run that the example compares with is last week's; this week asks the same again.
            let named: Vec<String> = ["baseline", "set", "last-week", "last"].map(str::to_string).to_vec();
            assert!(run(folder.path(), &named).status.success());
            let again = run(folder.path(), &compared);
            assert_eq!(again.status.code(), Some(0), "{compared:?}: {}", String::from_utf8_lossy(&again.stderr));
        }
        let output = run(folder.path(), &words);
        let stderr = String::from_utf8_lossy(&output.stderr);
        // What two rounds of a second show in 5 % is chance: 1 is an answer as well.
        let answered = if words[0] == "diff" { [Some(0), Some(1)] } else { [Some(0); 2] };
        assert!(answered.contains(&output.status.code()), "{line}: {:?} {stderr}", output.status.code());
        if words[0] == "diff" {
            let table = String::from_utf8_lossy(&output.stdout);
            assert!(table.contains("local randread") && table.contains("nfs randrw"), "{table}");
        }
        if words[0] == "compare" {
            compared = words;
        }
    }
    assert!(fs::read_to_string(folder.path().join("report.html")).unwrap().contains("</html>"));
}
