//! Checks rules for every sentence that the program can print, in the source: it is short, its advice is possible,
//! figures have a blank before their unit, and singular and plural are right. How sentences look with figures is tested
//! beside their code.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use testkit::TestDirectory;

/// Longest sentence, characters: longer ones are not understood at first reading.
const LONGEST: usize = 200;

/// Least words of a sentence; fewer are a name.
const LEAST_WORDS: usize = 3;

/// Texts in fio's own form, and shell scripts.
const FIOS: [&str; 10] = [
    "normal",
    "terse",
    "json",
    "table",
    "differences",
    "kind.rs",
    "layout_steps.rs",
    "remarks.rs",
    "screen.rs",
    "installed",
];

/// Options of other programs, which sentences name.
const FOREIGN: [&str; 9] =
    ["auto", "security-opt", "direct-io", "format", "hostfile", "reflink", "release", "scope", "write"];

/// Settings of mounts, devices and other programs, which sentences name; and parts of fio's messages.
const SETTINGS: [&str; 17] = [
    "barrier",
    "buflen",
    "bytes",
    "cache",
    "cpucycle",
    "data",
    "dbglevel",
    "flags",
    "length",
    "local",
    "lookupcache",
    "nfs",
    "poll_queues",
    "primarycache",
    "seccomp",
    "stderr",
    "stdout",
];

/// A literal of a source file.
struct Literal {
    file: String,
    text: String,
}

/// The literals with sentences in all crates, without tests.
fn literals() -> Vec<Literal> {
    let crates = testkit::workspace().join("crates");
    let mut found = Vec::new();
    for path in sources(&crates) {
        let file = path.strip_prefix(&crates).unwrap().display().to_string();
        let of_file = of_source(&fs::read_to_string(&path).unwrap());
        found.extend(
            of_file.into_iter().filter(|text| is_sentence(text)).map(|text| Literal { file: file.clone(), text }),
        );
    }
    assert!(found.len() > 1000, "the sources have moved: their sentences are no longer read");
    found
}

/// The source files below a folder, without tests.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let left_out = ["tests", "tests.rs", "testkit", "target"];
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_product = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        !left_out.contains(&name.as_ref()) && !name.ends_with("_tests.rs")
    };
    let kept = entries.filter(is_product);
    kept.flat_map(|path| match () {
        () if path.is_dir() => sources(&path),
        () if path.extension().is_some_and(|end| end == "rs") => vec![path],
        () => Vec::new(),
    })
    .collect()
}

fn is_sentence(text: &str) -> bool {
    text.split_whitespace().filter(|word| word.chars().any(char::is_alphabetic)).count() >= LEAST_WORDS
}

fn is_fios(literal: &Literal) -> bool {
    literal.text.starts_with("fio: ") || literal.file.split('/').any(|part| FIOS.contains(&part))
}

/// Fails with all findings of a rule.
#[track_caller]
fn nothing(found: &[String]) {
    assert!(found.is_empty(), "{} sentences:\n{}", found.len(), found.join("\n"));
}

#[test]
fn none_is_long() {
    let mut long = Vec::new();
    for Literal { file, text } in literals() {
        let sentences = text.split('\n').flat_map(|line| line.split(". "));
        long.extend(
            sentences.filter(|sentence| sentence.chars().count() > LONGEST).map(|text| format!("{file}: {text}")),
        );
    }
    nothing(&long);
}

/// Names after `mark` and before `end`.
fn named<'a>(text: &'a str, mark: &'a str, end: &'a str) -> impl Iterator<Item = &'a str> {
    let is_name = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "_-".contains(letter);
    text.match_indices(mark).filter_map(move |(at, _)| {
        let rest = &text[at + mark.len()..];
        let length = rest.find(|letter| !is_name(letter)).unwrap_or(rest.len());
        let name = rest[..length].trim_end_matches('-');
        let is_whole = mark == " " || !text[..at].ends_with(|letter: char| letter == '-' || letter.is_alphanumeric());
        let is_option = name.starts_with(|letter: char| letter.is_ascii_lowercase()) && rest[length..].starts_with(end);
        (is_whole && is_option).then_some(name)
    })
}

/// The existing options: fio's, and those of all commands of the guided face.
fn options() -> BTreeSet<String> {
    let place = TestDirectory::new();
    let mut names = BTreeSet::new();
    for line in place.run("fio --cmdhelp=all").stdout.lines() {
        names.extend(line.split_once(':').map(|(name, _)| name.trim().to_owned()));
    }
    let engines = place.run("fio --enghelp").stdout;
    for engine in engines.lines().skip(1).map(str::trim) {
        for line in place.run(&format!("fio --enghelp={engine}")).stdout.lines() {
            names.extend(line.split_once(':').map(|(name, _)| name.trim().to_owned()));
        }
    }
    let pages = ["fio --help", "completions bash", "completions fish", "--help"].map(|words| place.run(words).stdout);
    for page in &pages {
        names.extend(named(page, "--", "").map(str::to_owned));
        // Fish names them without dashes.
        names.extend(named(page, "-l ", "").map(str::to_owned));
    }
    assert!(names.len() > 250, "{names:?}");
    names
}

#[test]
fn what_is_advised_can_be_done() {
    let options = options();
    let mut unknown = Vec::new();
    for literal in literals() {
        let words = named(&literal.text, "--", "").filter(|name| !FOREIGN.contains(name));
        // Job files and sentences name fio's options without dashes: `bs=4k`.
        let settings = named(&literal.text, " ", "=").filter(|name| !SETTINGS.contains(name));
        let settings: Vec<&str> = if is_fios(&literal) { Vec::new() } else { settings.collect() };
        for name in words.chain(settings).filter(|name| !options.contains(*name)) {
            unknown.push(format!("{}: {name} in `{}`", literal.file, literal.text));
        }
    }
    nothing(&unknown);
}

#[test]
fn a_unit_stands_apart_from_its_figure() {
    let units = ["ms", "us", "ns", "KiB", "MiB", "GiB", "TiB", "kB", "MB", "GB", "%"];
    let mut joined = Vec::new();
    for literal in literals().into_iter().filter(|literal| !is_fios(literal)) {
        let figures = literal.text.match_indices('}').map(|(at, _)| &literal.text[at + 1..]);
        let has_unit = |rest: &str| {
            let unit = units.iter().find(|unit| rest.starts_with(**unit));
            unit.is_some_and(|unit| !rest[unit.len()..].starts_with(char::is_alphanumeric))
        };
        if figures.clone().any(has_unit) {
            joined.push(format!("{}: {}", literal.file, literal.text));
        }
    }
    nothing(&joined);
}

/// Words after a 1 that are no plurals.
const SINGULAR: [&str; 10] = ["is", "was", "has", "less", "us", "ms", "ns", "s", "as", "times"];

/// Sentences with one of everything are in the singular.
#[test]
fn one_of_a_kind_is_no_plural() {
    let place = TestDirectory::with(&["data", "other"]);
    let mut plural = Vec::new();
    for line in [
        "--name=a --size=4k --bs=4k --rw=write",
        "--name=a --size=4k --bs=4k --rw=read --filename=a.0.0 --verify=crc32c",
        "measure data --quick --size=1m",
        "smallfiles data --files=1 --threads=1 --depth=1 --limit=1",
        "sweep data --size=1m --runtime=1 --iodepth=1 --bs=4k",
        "curve data --size=1m --runtime=1 --iodepth=1 --loads=1",
        "compare a=data b=other --size=1m --runtime=1 --rounds=1 --only=randread,write",
        "check gitlab-nfs-gate data",
        "inspect data",
        "doctor",
        "runs",
        "history",
        "report last --as md",
        "clean data",
    ] {
        let ran = place.run(line);
        let printed: Vec<&str> = ran.stdout.split_whitespace().chain(ran.stderr.split_whitespace()).collect();
        for pair in printed.windows(2) {
            let noun = pair[1].trim_end_matches(|letter: char| !letter.is_alphabetic());
            let is_plural = noun.len() > 2 && noun.ends_with('s') && !noun.ends_with("ss") && !SINGULAR.contains(&noun);
            if pair[0] == "1" && is_plural && noun.chars().all(|letter| letter.is_ascii_lowercase()) {
                plural.push(format!("{line}: 1 {noun}"));
            }
        }
    }
    nothing(&plural);
}

/// The string literals of a source before its tests; a literal that continues on the next line is one line here.
fn of_source(source: &str) -> Vec<String> {
    let code = source.split("#[cfg(test)]").next().unwrap();
    let mut found = Vec::new();
    let mut letters = code.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '/' if letters.peek() == Some(&'/') => {
                letters.find(|letter| *letter == '\n');
            }
            // A quotation mark as a char literal; a lifetime has none.
            '\'' if letters.peek() == Some(&'"') => {
                letters.next();
            }
            '"' => found.push(literal(&mut letters)),
            _ => {}
        }
    }
    found
}

/// The rest of a literal.
fn literal(letters: &mut std::iter::Peekable<std::str::Chars<'_>>) -> String {
    let mut text = String::new();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => break,
            '\\' => match letters.next() {
                Some('\n') => while letters.next_if(|letter| letter.is_whitespace()).is_some() {},
                Some('n') => text.push('\n'),
                // All escaped code points in sentences are blanks.
                Some('u') => text.extend(letters.find(|letter| *letter == '}').map(|_| ' ')),
                Some(other) => text.push(other),
                None => {}
            },
            _ => text.push(letter),
        }
    }
    text
}

#[test]
fn literals_are_found_and_tests_are_not() {
    let source = "// \"not this\"\nlet a = 'x'; let q = '\"'; f(\"one \\\"two\\\" \\\n      three\");\n#[cfg(test)]\nf(\"nor this\");";
    assert_eq!(of_source(source), ["one \"two\" three"]);
    assert!(is_sentence("{a} is not {b} at all") && !is_sentence("{a}: {b}"));
    assert_eq!(named("use --iodepth=4 or --size, not a--b", "--", "").collect::<Vec<_>>(), ["iodepth", "size"]);
    assert_eq!(named("set bs=4k or size", " ", "=").collect::<Vec<_>>(), ["bs"]);
}
