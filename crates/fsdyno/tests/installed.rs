//! Tests what is installed beside the program: completions that work, man pages that render.
#![forbid(unsafe_code)]
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};

use testkit::{TestDirectory, has};

#[track_caller]
fn fsdyno(words: &[&str]) -> String {
    TestDirectory::new().run(words).good().stdout
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    testkit::text(&output.stdout)
}

/// What bash offers at the end of these words, with the script of the program or of a link to it.
fn bash(script: &[&str], words: &[&str]) -> BTreeSet<String> {
    let folder = testkit::directory();
    let path = folder.path().join("script");
    std::fs::write(&path, fsdyno(script)).unwrap();
    // As readline calls it: the function that `complete` names, with the words split at `=` and `:`.
    let call = r#"source "$1" || exit 1; shift
        COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
        registered=$(complete -p "$1") || exit 1
        function=${registered##*-F }
        "${function%% *}" "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        printf '%s\n' "${COMPREPLY[@]}""#;
    let output = Command::new("bash").args(["--norc", "-c", call, "bash"]).arg(&path).args(words).output().unwrap();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    stdout(&output).lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

fn set(words: &[&str]) -> BTreeSet<String> {
    words.iter().map(|word| word.to_string()).collect()
}

const BOTH: &[&str] = &["completions", "bash"];
const LINK: &[&str] = &["completions", "bash", "--fio"];

#[test]
fn bash_completes_both_faces() {
    if !has("bash") {
        return;
    }
    let both = |words: &[&str]| bash(BOTH, words);
    assert_eq!(both(&["fsdyno", "mea"]), set(&["measure"]));
    assert!(both(&["fsdyno", ""]).is_superset(&set(&["inspect", "fio", "help", "completions"])));
    assert_eq!(both(&["fsdyno", "measure", "--qu"]), set(&["--quick", "--quiet"]));
    assert_eq!(both(&["fsdyno", "report", "last", "--as", "=", "ht"]), set(&["html"]));
    assert_eq!(both(&["fsdyno", "completions", "z"]), set(&["zsh"]));
    let random = set(&["randread", "randrw", "randtrim", "randtrimwrite", "randwrite"]);
    assert_eq!(both(&["fsdyno", "--rw", "=", "rand"]), random);
    assert_eq!(both(&["fsdyno", "fio", "--rw", "rand"]), random);
    assert_eq!(both(&["fsdyno", "--name", "=", "x", "-readwrite", "=", "rand"]), random);
    assert!(both(&["fsdyno", "--rw", "="]).is_superset(&random));
    assert_eq!(both(&["fsdyno", "--output-format", "=", "j"]), set(&["json", "json+"]));
    assert_eq!(both(&["fsdyno", "--iodepth_l"]), set(&["--iodepth_low="]));
    assert_eq!(both(&["fsdyno", "--name", "=", "x", "-iodepth_l"]), set(&["-iodepth_low="]));
    assert!(both(&["fsdyno", "--bs", "=", "4"]).is_empty());
}

#[test]
fn bash_completes_paths() {
    if !has("bash") {
        return;
    }
    let folder = testkit::directory();
    let at = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(at("a file.fio"), "").unwrap();
    std::fs::create_dir(at("a directory")).unwrap();
    let (file, directory) = (at("a file.fio"), at("a directory"));
    let all = set(&[&file, &directory]);
    let begun = at("a");
    assert_eq!(bash(BOTH, &["fsdyno", "--filename", "=", &begun]), all);
    assert_eq!(bash(BOTH, &["fsdyno", "--filename", "=", "/x", ":", &begun]), all);
    assert_eq!(bash(BOTH, &["fsdyno", "--directory", "=", &begun]), set(&[&directory]));
    // Job files, also after an option without a value.
    assert_eq!(bash(BOTH, &["fsdyno", "fio", &begun]), all);
    assert_eq!(bash(LINK, &["fio", "--time_based", &begun]), all);
}

#[test]
fn every_option_that_is_not_refused_is_offered_and_no_other() {
    if !has("bash") {
        return;
    }
    let rows = fsdyno_job::table::job_rows().map(|row| (row.name, row.status));
    let rows = rows.chain(fsdyno_job::table::PROGRAM.iter().map(|row| (row.name, row.status)));
    let known: BTreeSet<String> =
        rows.filter(|(_, status)| !status.refuses()).map(|(name, _)| format!("--{name}")).collect();
    assert!(known.len() > 100, "{known:?}");
    for (script, words) in
        [(BOTH, &["fsdyno", "--"][..]), (BOTH, &["fsdyno", "fio", "--"]), (LINK, &["fio", "--rw", "=", "read", "--"])]
    {
        let offered = bash(script, words).iter().map(|word| word.trim_end_matches('=').to_owned()).collect();
        assert_eq!(known, offered, "{words:?}");
    }
}

#[test]
fn fish_completes_both_faces() {
    if !has("fish") {
        return;
    }
    let folder = testkit::directory();
    let path = folder.path().join("script.fish");
    std::fs::write(&path, fsdyno(&["completions", "fish"])).unwrap();
    for (line, expected) in [
        ("fsdyno mea", &["measure"][..]),
        ("fsdyno measure --qu", &["--quick", "--quiet"]),
        ("fsdyno --iodepth_l", &["--iodepth_low"]),
        ("fsdyno fio --rw=rand", &["--rw=randread", "--rw=randrw", "--rw=randwrite"]),
    ] {
        let call = "source $argv[1]; complete -C $argv[2]";
        let mut fish = Command::new("fish");
        fish.args(["--no-config", "-c", call]).arg(&path).arg(line).env("HOME", folder.path());
        let offered = stdout(&fish.output().unwrap());
        let offered = offered.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect::<BTreeSet<_>>();
        assert_eq!(offered, set(expected), "{line}");
    }
}

#[test]
fn every_shell_has_a_script() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let (both, link) = (fsdyno(&["completions", shell]), fsdyno(&["completions", shell, "--fio"]));
        assert!(both.contains("smallfiles") && both.contains("iodepth_low"), "{shell}");
        assert!(!link.contains("smallfiles") && link.contains("iodepth_low"), "{shell}");
    }
    // Job files, where clap expects a command only.
    assert!(fsdyno(&["completions", "zsh"]).contains("{_fsdyno_commands || _files}"));
    if has("zsh") {
        let folder = testkit::directory();
        let path = folder.path().join("_fsdyno");
        for words in [&["completions", "zsh"][..], &["completions", "zsh", "--fio"]] {
            std::fs::write(&path, fsdyno(words)).unwrap();
            let read = Command::new("zsh").args(["-f", "-n"]).arg(&path).output().unwrap();
            assert!(read.status.success() && read.stderr.is_empty(), "{read:?}");
        }
    }
    TestDirectory::new().run("completions cmd").refused("powershell");
}

#[test]
fn pages_render_without_a_warning() {
    let folder = testkit::directory();
    let pages = folder.path().join("man1");
    fsdyno(&["man", "--output", pages.to_str().unwrap()]);
    let read = |name: &str| std::fs::read_to_string(pages.join(name)).unwrap();
    assert_eq!(fsdyno(&["man"]), read("fsdyno.1"));
    assert_eq!(fsdyno(&["man", "measure"]), read("fsdyno-measure.1"));
    assert_eq!(fsdyno(&["man", "fio"]), read("fsdyno-fio.1"));
    if !has("groff") {
        return;
    }
    for page in std::fs::read_dir(&pages).unwrap() {
        let page = page.unwrap().path();
        let shown =
            Command::new("groff").args(["-man", "-ww", "-Tutf8", "-Kutf8", "-P-cbu"]).arg(&page).output().unwrap();
        assert!(shown.stderr.is_empty(), "{}: {}", page.display(), String::from_utf8_lossy(&shown.stderr));
        assert!(stdout(&shown).contains("SYNOPSIS"), "{}", page.display());
    }
}

#[test]
fn pages_that_cannot_be_written_are_told_of() {
    TestDirectory::new().run("man --output /dev/null/pages").refused("cannot write man pages into /dev/null/pages");
    TestDirectory::new().run("man mesure").refused("mesure");
    assert!(!Path::new("/dev/null/pages").exists());
}
