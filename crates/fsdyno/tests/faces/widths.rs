//! Tests terminals of 60, 80 and 120 columns: no word is broken, and no row or progress line is longer than the
//! terminal.

use testkit::{Running, TestDirectory};

const WIDTHS: [usize; 3] = [60, 80, 120];

/// The output in a terminal of this number of columns; `None`: there is no terminal.
fn shown(place: &TestDirectory, words: &str, columns: usize) -> Option<String> {
    shown_with(place, words, columns, &[("NO_COLOR", "1")])
}

/// The same with these variables.
fn shown_with(place: &TestDirectory, words: &str, columns: usize, variables: &[(&str, &str)]) -> Option<String> {
    if !testkit::has("script") {
        return None;
    }
    let line = format!("stty cols {columns}; exec {} {words}", testkit::program());
    let words = ["--quiet", "--return", "--command", &line, "/dev/null"];
    let mut command = place.program("script", &words);
    command.env("TERM", "xterm").envs(variables.iter().copied());
    Some(Running::start(&mut command).finish().good().stdout)
}

/// A place with a saved run, and its name.
fn with_run() -> (TestDirectory, &'static str) {
    let (place, id) = (TestDirectory::with(&["store"]), "20261122-043100-measure-1a2b");
    let saved = testkit::workspace().join("crates/results/tests/saved/format-4.json");
    std::fs::copy(saved, place.path(&format!("store/{id}.json"))).expect("a run is saved");
    (place, id)
}

/// Open MPI gives each rank a terminal, even if its output goes to a file: the page has no colours and all figures, as
/// in any file.
#[test]
fn what_a_launcher_collects_is_a_file() {
    let place = TestDirectory::new();
    place.run("measure . --only=read-latency --size=16m --runtime=1 --store store").good();
    let words = "show last --store store".to_owned();
    let Some(seen) = shown_with(&place, &words, 80, &[]) else { return };
    assert!(
        seen.contains("\x1b[") && seen.contains("--wide"),
        "a person sees colours, and how to see the rest: {seen}"
    );
    let collected = shown_with(&place, &words, 80, &[("OMPI_COMM_WORLD_SIZE", "1")]).expect("a terminal");
    assert!(!collected.contains('\x1b') && !collected.contains("--wide"), "{collected}");
    assert_eq!(collected.replace('\r', ""), place.run(&words).good().stdout);
    let fio = "--name=a --ioengine=null --size=1m --rw=read --thinktime=1ms --time_based --runtime=700ms --eta-interval=250ms";
    let progress = |variables| shown_with(&place, fio, 80, variables).expect("a terminal").contains("Jobs: 1");
    assert!(progress(&[]) && !progress(&[("OMPI_COMM_WORLD_SIZE", "1")]), "no line renews itself in a file");
}

/// A serial console does not know its width; the environment may.
#[test]
fn a_terminal_of_no_columns_has_those_of_the_environment() {
    let (place, id) = with_run();
    let words = format!("show {id} --store store");
    let longest = |variables: &[(&str, &str)]| {
        let page = shown_with(&place, &words, 0, &[variables, &[("NO_COLOR", "1")]].concat())?;
        page.lines().filter(|line| !line.contains("fsdyno ")).map(|line| line.trim_end().chars().count()).max()
    };
    let Some(plain) = longest(&[]) else { return };
    assert!((61..=80).contains(&plain), "{plain}");
    let narrow = longest(&[("COLUMNS", "60")]).expect("a terminal");
    assert!((41..=60).contains(&narrow), "{narrow}");
    let asked = "measure . --only=read-latency --size=16m --runtime=1 --no-store";
    let progress = shown_with(&place, asked, 0, &[("COLUMNS", "60"), ("NO_COLOR", "1")]).expect("a terminal");
    let lines = || progress.split("\r\u{1b}[K").skip(1).filter_map(|rest| rest.split('\r').next());
    assert!(lines().any(|line| line.contains(" s left")), "{progress:?}");
    assert!(lines().all(|line| line.trim_end_matches("\u{1b}[J").chars().count() < 60), "{progress:?}");
}

#[test]
fn pages_fit_the_terminal() {
    let place = TestDirectory::with(&["store"]);
    let saved = testkit::workspace().join("crates/results/tests/saved/format-4.json");
    let id = "20261122-043100-measure-1a2b";
    let saved = std::fs::read_to_string(saved).expect("a saved run");
    for (run, began) in [(id.to_owned(), "1795353235698"), (id.replace("22", "23"), "1795439635698")] {
        let saved = saved.replacen("1795353235698", began, 1);
        std::fs::write(place.path(&format!("store/{run}.json")), saved).expect("a run is saved");
    }
    let two = "store/20261122-043100-measure-1a2b.json store/20261123-043100-measure-1a2b.json";
    for words in [
        "runs --store store".to_owned(),
        format!("show {id} --store store"),
        format!("history {id} --store store"),
        format!("diff {two} --store store"),
        "config".to_owned(),
        "help".to_owned(),
        "help exit-status".to_owned(),
        "explain page-cache".to_owned(),
        "check --list".to_owned(),
        "inspect store".to_owned(),
        "doctor".to_owned(),
    ] {
        for columns in WIDTHS {
            let Some(page) = shown(&place, &words, columns) else { return };
            let long = |line: &&str| line.chars().count() > columns && !line.contains('/');
            let long: Vec<&str> = page.lines().filter(long).collect();
            assert!(long.is_empty(), "{words} at {columns}: {long:#?}");
        }
    }
}

/// Rounds of one test leave one line, even if there are three rounds.
#[test]
fn a_test_leaves_one_line_whatever_its_rounds() {
    let place = TestDirectory::with(&["data"]);
    let Some(screen) = shown(&place, "smallfiles data --files=20 --no-store", 80) else { return };
    let kept = |line: &&str| line.starts_with(|letter: char| letter.is_ascii_digit());
    // A kept line follows the sequence that clears the line.
    let kept: Vec<&str> = screen.split("\u{1b}[J").filter_map(|rest| rest.lines().next()).filter(kept).collect();
    let is_first = |line: &&&str| line.split('/').next().unwrap().parse::<u32>().unwrap() <= 15;
    assert_eq!(kept.iter().filter(is_first).count(), 15, "{kept:#?}");
    // Later rounds leave a line only if something went wrong.
    let later = kept.iter().filter(|line| !is_first(line)).all(|line| line.contains("invalid"));
    assert!(later, "{kept:#?}");
}

#[test]
fn one_line_of_progress_says_how_long_the_question_takes() {
    let place = TestDirectory::with(&["a", "b"]);
    let words = "compare a=a b=b --rounds 1 --runtime 2 --size 16m --bs 1m --only read,randread --no-store";
    for columns in WIDTHS {
        let Some(screen) = shown(&place, words, columns) else { return };
        let lines: Vec<&str> = screen.split("\r\u{1b}[K").skip(1).filter_map(|rest| rest.split('\r').next()).collect();
        let lines: Vec<&str> = lines.iter().map(|line| line.trim_end_matches("\u{1b}[J")).collect();
        assert!(lines.len() > 10, "it renews itself: {screen:?}");
        assert!(lines.iter().all(|line| line.chars().count() < columns), "{columns}: {lines:#?}");
        assert!(lines[0].contains("1/4 a: "), "the first line has its place: {lines:#?}");
        assert!(
            lines[lines.len() - 1].contains("4/4 b: 1m random read, depth"),
            "two patterns on two paths: {lines:#?}"
        );
        let seconds =
            lines.iter().filter_map(|line| line.strip_suffix(" s left")?.rsplit(' ').next()?.parse::<u64>().ok());
        let seconds: Vec<u64> = seconds.collect();
        assert!(seconds.len() > 5 && seconds.is_sorted_by(|one, next| one >= next), "it only falls: {seconds:?}");
        assert!((4..=30).contains(&seconds[0]), "of the whole question: {seconds:?}");
    }
}
