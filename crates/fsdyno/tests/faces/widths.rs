//! Terminals of 60, 80 and 120 columns: no word is broken, and no row or line of progress is longer than the terminal.

use testkit::{Place, Running};

const WIDTHS: [usize; 3] = [60, 80, 120];

/// What the words print in a terminal of so many columns; `None`: no terminal can be had.
fn shown(place: &Place, words: &str, columns: usize) -> Option<String> {
    if !testkit::has("script") {
        return None;
    }
    let line = format!("stty cols {columns}; exec {} {words}", testkit::program());
    let words = ["--quiet", "--return", "--command", &line, "/dev/null"];
    let mut command = place.program("script", &words);
    Some(Running::start(command.env("TERM", "xterm").env("NO_COLOR", "1")).finish().good().stdout)
}

#[test]
fn pages_fit_the_terminal() {
    let place = Place::with(&["store"]);
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
    ] {
        for columns in WIDTHS {
            let Some(page) = shown(&place, &words, columns) else { return };
            let long = |line: &&str| line.chars().count() > columns && !line.contains('/');
            let long: Vec<&str> = page.lines().filter(long).collect();
            assert!(long.is_empty(), "{words} at {columns}: {long:#?}");
        }
    }
}

#[test]
fn one_line_of_progress_says_how_long_the_question_takes() {
    let place = Place::with(&["a", "b"]);
    let words = "compare a=a b=b --rounds 1 --runtime 2 --size 16m --only read,randread --no-store";
    for columns in WIDTHS {
        let Some(screen) = shown(&place, words, columns) else { return };
        let lines: Vec<&str> = screen.split("\r\u{1b}[K").skip(1).filter_map(|rest| rest.split('\r').next()).collect();
        let lines: Vec<&str> = lines.iter().map(|line| line.trim_end_matches("\u{1b}[J")).collect();
        assert!(lines.len() > 10, "it renews itself: {screen:?}");
        assert!(lines.iter().all(|line| line.chars().count() < columns), "{columns}: {lines:#?}");
        assert!(
            lines[lines.len() - 1].contains("4/4 b: 4k random read, depth"),
            "two patterns on two paths: {lines:#?}"
        );
        let seconds =
            lines.iter().filter_map(|line| line.strip_suffix(" s left")?.rsplit(' ').next()?.parse::<u64>().ok());
        let seconds: Vec<u64> = seconds.collect();
        assert!(seconds.len() > 5 && seconds.is_sorted_by(|one, next| one >= next), "it only falls: {seconds:?}");
        assert!((4..=30).contains(&seconds[0]), "of the whole question: {seconds:?}");
    }
}
