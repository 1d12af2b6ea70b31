//! Tests settings for all questions: configuration file, environment, units and colours.

use testkit::{RunResult, Running, TestDirectory};

/// A saved run with a caution.
fn saved() -> String {
    testkit::workspace().join("crates/results/tests/saved/format-4.json").display().to_string()
}

const FILE: &str = ".config/fsdyno/config.toml";

/// A home with this configuration.
fn configured(text: &str) -> TestDirectory {
    let place = TestDirectory::with(&[".config/fsdyno"]);
    place.write(FILE, text);
    place
}

fn with(place: &TestDirectory, words: &str, variables: &[(&str, &str)]) -> RunResult {
    Running::start(place.command(words).envs(variables.iter().copied())).finish()
}

#[test]
fn nearer_settings_win_and_config_says_where_each_comes_from() {
    let place = configured("units = \"binary\"\ncolor = \"always\"\npatterns = [\"read\"]\nstore = \"~/kept\"\n");
    let found = |ran: RunResult| {
        let document = ran.good().document();
        ["store", "units", "color", "patterns"].map(|key| {
            let setting = &document["settings"][key];
            format!("{} from {}", setting["value"].as_str().expect("one value"), setting["source"].as_str().unwrap())
        })
    };
    let bare = TestDirectory::new();
    assert_eq!(
        found(bare.run("config --json"))[1..],
        ["decimal from default", "auto from default", "all from default"]
    );
    let kept = format!("{}/kept from file, line 4", place.word(""));
    assert_eq!(
        found(place.run("config --json")),
        [kept.as_str(), "binary from file, line 1", "always from file, line 2", "read from file, line 3"]
    );
    let variables =
        [("FSDYNO_STORE", "/s"), ("FSDYNO_UNITS", "decimal"), ("NO_COLOR", "1"), ("FSDYNO_PATTERNS", "randread")];
    let nearer = with(&place, "config --json", &variables);
    assert_eq!(
        found(nearer),
        [
            "/s from environment, FSDYNO_STORE",
            "decimal from environment, FSDYNO_UNITS",
            "never from environment, NO_COLOR",
            "randread from environment, FSDYNO_PATTERNS",
        ]
    );
    let nearest = with(&place, "config --json --store here --units binary --color always --only write", &variables);
    assert_eq!(found(nearest), ["here", "binary", "always", "write"].map(|value| format!("{value} from command line")));
    let page = place.run("config --color never").good().stdout;
    assert!(page.contains(FILE) && page.contains("  units     binary (file, line 1)\n"), "{page}");
}

#[test]
fn a_bad_file_is_refused_with_line_key_and_the_nearest_right_word() {
    for (text, what, next) in [
        ("\nunitz = \"binary\"\n", "config.toml:2: there is no setting `unitz`", "did you mean `units`?"),
        ("units = \"binry\"\n", "config.toml:1: `binry` is no value of units", "did you mean `binary`?"),
        ("units = 2\n", "config.toml:1: units must be a word in quotes", "units = \"binary\""),
        ("patterns = \"read\"\n", "patterns must be a list of words in quotes", "patterns = ["),
        ("patterns = [\"reed\"]\n", "`reed` is no value of patterns", "did you mean `read`?"),
        ("store = \"kept\"\n", "store = `kept` is not a whole path", "begin it with / or ~/"),
        ("units = \"binary\n", "config.toml:1: ", ""),
    ] {
        let place = configured(text);
        for words in ["runs", "config"] {
            let told = place.run(words).refused(what);
            assert!(told.contains(next), "{told}");
        }
        // Help works, and the fio face does not read the file.
        place.run("measure --help").good();
        let ran = place.run("--name=a --ioengine=null --size=4k").good();
        assert_eq!(ran.stderr, "");
    }
    with(&TestDirectory::new(), "runs", &[("FSDYNO_UNITS", "metric")])
        .refused("FSDYNO_UNITS: `metric` is no value of units");
}

#[test]
fn what_is_set_holds_for_the_questions() {
    let place = configured("store = \"~/kept\"\npatterns = [\"randread\"]\n");
    place.run(&format!("baseline set x {}", saved())).refused("cannot save the baseline");
    std::fs::create_dir(place.path("kept")).expect("a directory is made");
    place.run(&format!("baseline set x {}", saved())).good();
    assert_eq!(place.names("kept"), ["baselines"]);
    for name in ["a", "b"] {
        std::fs::create_dir(place.path(name)).expect("a directory is made");
    }
    let study = place.run("compare a=a b=b --rounds 1 --runtime 1 --size 16m --no-store --json").study();
    assert!(study.rows.iter().all(|row| row.pattern == "randread") && study.rows.len() == 2, "{:?}", study.patterns());
}

#[test]
fn units_hold_for_headers_and_figures_alike() {
    let place = TestDirectory::new();
    let decimal = place.run(&format!("show {}", saved())).good().stdout;
    let binary = place.run(&format!("show {} --units binary", saved())).good().stdout;
    let words =
        |page: &str| page.lines().take(2).flat_map(str::split_whitespace).map(str::to_owned).collect::<Vec<_>>();
    let has = |page: &str, sought: [&str; 2]| sought.iter().all(|sought| words(page).iter().any(|word| word == sought));
    assert!(has(&decimal, ["MB/s", "19.9"]), "{decimal}");
    assert!(has(&binary, ["MiB/s", "19.0"]), "{binary}");
    let json = |units: &str| place.run(&format!("show {} --json --units {units}", saved())).stdout;
    assert_eq!(json("binary"), json("decimal"), "programs get bytes");
}

#[test]
fn verdicts_have_colours_on_a_terminal_or_where_they_are_asked_for() {
    let place = TestDirectory::new();
    let show = format!("show {}", saved());
    let is_coloured = |ran: RunResult| ran.good().stdout.contains("\u{1b}[33mcaution\u{1b}[0m");
    assert!(!is_coloured(place.run(&show)), "a pipe has none");
    assert!(is_coloured(place.run(&format!("{show} --color always"))));
    assert!(is_coloured(with(&place, &show, &[("CLICOLOR_FORCE", "1")])));
    assert!(!is_coloured(with(&place, &show, &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")])));
    assert!(is_coloured(with(&place, &format!("{show} --color always"), &[("NO_COLOR", "1")])));
    assert!(!is_coloured(place.run(&format!("{show} --color always --json"))), "a document has none");
    if !testkit::has("script") {
        return;
    }
    let line = format!("{} {show}", testkit::program());
    let terminal = |variables: &[(&str, &str)]| {
        let words = ["--quiet", "--return", "--command", &line, "/dev/null"];
        let mut command = place.program("script", &words);
        Running::start(command.env("TERM", "xterm").envs(variables.iter().copied())).finish()
    };
    assert!(is_coloured(terminal(&[])));
    assert!(!is_coloured(terminal(&[("NO_COLOR", "1")])));
    assert!(!is_coloured(terminal(&[("TERM", "dumb")])));
}
