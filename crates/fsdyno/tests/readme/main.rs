//! Checks that every example of the README and of its pages runs, and that its links have targets. Places become
//! directories of the test; long questions are shortened.

mod links;
mod manual;
mod picture;

use std::fs;

use testkit::TestDirectory;

/// The README and the pages with its examples, one after the other.
fn pages() -> String {
    let text = |name: &str| fs::read_to_string(testkit::workspace().join(name)).unwrap();
    ["README.md", "docs/guide.md", "docs/fio.md", "docs/replay.md"].map(text).concat()
}

/// The README in other languages.
fn translations() -> String {
    ["README.de.md", "README.ko.md", "README.zh.md"]
        .map(|name| fs::read_to_string(testkit::workspace().join(name)).unwrap())
        .concat()
}

/// The lines of the blocks marked `sh example`, without their remarks.
fn examples(pages: &str) -> Vec<String> {
    let mut inside = false;
    let mut lines = Vec::new();
    for line in pages.lines() {
        match line {
            "```sh example" => inside = true,
            "```" => inside = false,
            _ if inside => lines.push(line.split(" #").next().unwrap().trim().to_string()),
            _ => {}
        }
    }
    lines
}

/// The blocks of the pages: the text after their fence, and their lines.
fn blocks(pages: &str) -> Vec<(String, Vec<String>)> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    let mut inside = false;
    for line in pages.lines() {
        match (line.strip_prefix("```"), inside) {
            (Some(kind), false) => found.push((kind.to_string(), Vec::new())),
            (Some(_), true) => {}
            (None, true) => found.last_mut().unwrap().1.push(line.to_string()),
            (None, false) => continue,
        }
        inside = line.strip_prefix("```").is_none() || !inside;
    }
    found
}

/// The fio lines; a line that ends with a backslash continues on the next.
fn fio_lines(block: &[String]) -> Vec<String> {
    let text = block.iter().filter(|line| !line.starts_with('#')).map(String::as_str).collect::<Vec<_>>().join("\n");
    let whole = text.replace("\\\n", " ");
    whole.lines().filter(|line| !line.trim().is_empty()).map(str::to_string).collect()
}

/// The words of a line, with quotes.
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

/// Options that make a long question short.
fn briefly(question: &str) -> &'static [&'static str] {
    match question {
        "measure" => &["--quick", "--size=16m", "--only=sync-latency,seq-read"],
        "smallfiles" => &["--files=20", "--limit=1"],
        "compare" => &["--rounds=2", "--size=8m", "--runtime=1", "--only=randread,write", "--bs=1m"],
        "time" => &["--rounds=1"],
        _ => &[],
    }
}

#[test]
fn every_example_runs() {
    let place = TestDirectory::with(&["data", "nfs"]);
    let mut lines = examples(&pages());
    assert!(lines.len() >= 9, "examples are lost: {lines:?}");
    for line in examples(&translations()) {
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    let here = |word: &str| word.replace("/data", &place.word("data")).replace("/mnt/nfs", &place.word("nfs"));
    let mut compared = Vec::new();
    for line in lines {
        let mut words: Vec<String> = words(&line).iter().map(|word| here(word)).collect();
        assert_eq!(words.remove(0), "fsdyno", "{line}");
        words.extend(briefly(&words[0]).iter().map(|word| word.to_string()));
        if words[0] == "diff" {
            // The example compares with last week's run; here the same question was asked just before.
            place.run(&compared).good();
        }
        let ran = place.run(&words);
        let answered = match words[0].as_str() {
            // With two rounds of a second, a difference of 5 % is chance: status 1 is an answer as well.
            "diff" => [Some(0), Some(1)],
            // The times of a published rule scatter on a busy machine: that it cannot tell is an answer as well.
            "check" => [Some(0), Some(3)],
            _ => [Some(0); 2],
        };
        assert!(answered.contains(&ran.status), "{line}: {ran:?}");
        if words[0] == "diff" {
            // Two rounds are too few: the answer names the command with enough.
            assert!(ran.stdout.contains("--rounds=4"), "{}", ran.stdout);
        }
        if words[0] == "compare" {
            place.run("baseline set last-week last").good();
            compared = words;
        }
    }
    assert!(place.read("report.html").contains("</html>"));
}

/// Commands are the same in all languages.
#[test]
fn translations_have_the_same_commands() {
    let all: Vec<_> = blocks(&translations()).into_iter().map(|(_, lines)| lines).collect();
    let commands = |block: &[String]| -> Vec<String> {
        block.iter().map(|line| line.split(" #").next().unwrap().trim().to_string()).collect()
    };
    let third = all.len() / 3;
    assert_eq!((third, all.len()), (3, 9));
    for (index, block) in all.iter().enumerate() {
        assert_eq!(commands(block), commands(&all[index % third]));
    }
}

/// README and COMPAT.md say the same about options.
#[test]
fn the_options_are_counted() {
    let text = |name: &str| fs::read_to_string(testkit::workspace().join(name)).unwrap();
    let compat = text("COMPAT.md");
    let counts = compat.lines().find(|line| line.contains(" options: ")).unwrap();
    assert!(text("README.md").contains(counts.trim_end_matches('.')), "README.md does not say: {counts}");
}

#[test]
fn every_fio_line_runs() {
    let place = TestDirectory::new();
    let begins = |block: &[String], words: &str| block.first().is_some_and(|line| line.starts_with(words));
    let mut ran = 0;
    for (kind, block) in blocks(&pages()) {
        match kind.as_str() {
            "sh example" => {}
            "" if begins(&block, "# A: ") => {
                for line in fio_lines(&block) {
                    run_briefly(&place, &line);
                    ran += 1;
                }
            }
            // Build commands, and output: the lab's test of the whole comparison writes the latter.
            "" if begins(&block, "cargo run") || begins(&block, ".ci/run") => {}
            "" if begins(&block, "Lateness (fsdyno):") => {}
            "" if begins(&block, "invalid (") || begins(&block, "$ fsdyno compare ") => {}
            _ => panic!("no test knows this block: {block:?}"),
        }
    }
    assert_eq!(ran, 7);
}

/// Runs a fio line with its paths in a directory of ours, on small files and for a second.
fn run_briefly(place: &TestDirectory, line: &str) {
    let mut all = words(line);
    assert_eq!(all.remove(0), "fsdyno", "{line}");
    let here = |word: &str| match word.split_once('=') {
        Some((name, path)) if path.starts_with('/') => {
            let own = place.path(path.trim_start_matches('/'));
            let directory = if name.ends_with("directory") { Some(own.as_path()) } else { own.parent() };
            fs::create_dir_all(directory.unwrap()).unwrap();
            format!("{name}={}", own.display())
        }
        _ => word.to_string(),
    };
    let mut brief: Vec<String> = all.iter().map(|word| here(word)).collect();
    brief.extend(["--size=1m", "--runtime=1", "--ramp_time=0"].map(str::to_string));
    assert!(place.run(&brief).good().stdout.contains("IOPS="), "{line}");
}
