//! `fsdyno time`: somebody's command on each storage. What it may do to us, and what it is told about itself.

use fsdyno_results::{Question, Row, Study, Trust};
use testkit::{RunResult, TestDirectory, shell};

fn place() -> TestDirectory {
    TestDirectory::with(&["one", "two", "elsewhere"])
}

fn words<'a>(options: &'a str, line: &'a str) -> Vec<&'a str> {
    let fixed = ["time", "--quiet", "--no-store", "--json"];
    fixed.into_iter().chain(options.split_whitespace()).chain(["--shell", "--", line]).collect()
}

/// A line of the shell as the command.
fn time(place: &TestDirectory, options: &str, line: &str) -> RunResult {
    place.run(&words(options, line)[..])
}

#[track_caller]
fn nothing_is_left(place: &TestDirectory) {
    assert!(place.names("one").is_empty() && place.names("two").is_empty(), "{:?}", place.names("one"));
}

fn of_target(study: &Study, target: usize) -> Vec<&Row> {
    study.rows.iter().filter(|row| row.target == target).collect()
}

fn found(rows: &[&Row], id: &str) -> bool {
    rows.iter().any(|row| row.findings.iter().any(|finding| finding.id == id))
}

/// The command lines of all processes. A process of ps(1) for each look would take more CPU time than all else here.
fn command_lines() -> Vec<String> {
    let processes = std::fs::read_dir("/proc").expect("Linux lists processes").flatten();
    let words = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    words.map(|words| testkit::text(&words).replace('\0', " ").trim_end().to_owned()).collect()
}

/// Whether a process has this text in its command line.
fn any_has(text: &str) -> bool {
    command_lines().iter().any(|line| line.contains(text))
}

/// The run in memory is there where the machine has some.
fn reference(study: &Study) -> Option<usize> {
    let found = study.targets.iter().position(|target| target.reference);
    if found.is_none() {
        testkit::skip("there is no /dev/shm in memory");
    }
    found
}

#[test]
fn each_run_begins_in_an_empty_directory_and_rounds_take_turns() {
    let place = place();
    let line = "test -z \"$(ls -A)\" || exit 9; touch x; pwd; echo {} $FSDYNO_DIR; cat; ls -A $HOME $TMPDIR";
    let study = time(&place, "a=one b=two --rounds=3 --memory=none", line).good().study();
    let turns: Vec<(u32, usize)> = study.rows.iter().map(|row| (row.round, row.target)).collect();
    assert_eq!(turns, [(0, 0), (0, 1), (1, 1), (1, 0), (2, 1), (2, 0), (3, 0), (3, 1)], "three is made four");
    assert_eq!((study.question, study.complete), (Question::Time, true));
    for row in &study.rows {
        let tree = row.tree.as_ref().unwrap();
        assert_eq!(tree.status, Some(0));
        let lines: Vec<&str> = tree.printed.head.lines().collect();
        assert_eq!(lines[..2], ["{}", "{} {}"], "the directory is the working directory: {lines:?}");
        assert!(lines[2..].iter().all(|line| line.ends_with(':') || line.is_empty()), "own and empty: {lines:?}");
        assert_eq!(row.phase.as_ref().unwrap().cache.as_deref(), Some("as prepared"));
    }
    nothing_is_left(&place);
}

#[test]
fn a_kept_study_is_shown_listed_reported_and_compared_with_the_next() {
    let place = place();
    let run = || place.run("time one --rounds=4 --memory=none -q --store store -- sh -c true").good();
    let shown = run().stdout;
    assert!(shown.contains("command takes ") && shown.contains("\ntrust"), "{shown}");
    assert_eq!(place.run("show last --store store").stdout, shown);
    place.run("time one --rounds=2 --memory=none -q --no-store --live live.jsonl -- sh -c true").good();
    assert!(place.read("live.jsonl").lines().count() > 2, "{}", place.read("live.jsonl"));
    run();
    let ids: Vec<String> = place.studies("store").into_iter().map(|study| study.id).collect();
    assert!(place.run("runs --store store").good().stdout.contains("-time-"));
    let changed = place.run(&["diff", &ids[0], &ids[1], "--store", "store", "--force", "--wide"][..]);
    assert!(changed.stdout.contains("command"), "{}{}", changed.stdout, changed.stderr);
    assert!(changed.stdout.contains("wall + sync") && !changed.stdout.contains("IOPS"), "{}", changed.stdout);
    let history = place.run("history --store store").good().stdout;
    assert!(history.contains("command") && history.contains("wall") && !history.contains("ops/s"), "{history}");
    let judged = |condition: &str| {
        let words =
            ["diff", &ids[0], &ids[1], "--store", "store", "--force", "--junit", "junit.xml", "--fail-if", condition];
        place.run(&words[..])
    };
    assert_eq!(judged("command.wall > 100000%").status, Some(0));
    assert!(place.read("junit.xml").contains("command.wall &gt; 100000%"), "{}", place.read("junit.xml"));
    let refused = judged("command.iops < -5%");
    assert!(refused.status == Some(2) && refused.stderr.contains("wall, wall+sync"), "{}", refused.stderr);
    place.run("report last --store store -o sheet.html").good();
    assert!(place.read("sheet.html").contains("A command on"));
    assert!(place.run("show last --markdown --store store").stdout.contains(" wall "));
}

/// How processes begin (ways.c), and whether the command itself ends before them.
const WAYS: [(&str, bool); 13] = [
    ("exec", false),
    ("fork", false),
    ("vfork", false),
    ("posix_spawn", false),
    ("clone", false),
    ("clone without a signal", false),
    ("CLONE_PARENT", true),
    ("thread", false),
    ("setsid", false),
    ("not awaited", true),
    ("double fork", true),
    ("daemon", true),
    ("of a parent that is killed", true),
];

#[test]
fn bytes_of_the_tree_are_exact_however_it_forks() {
    let place = place();
    if !testkit::has("cc") {
        return;
    }
    let source = testkit::workspace().join("crates/fsdyno/tests/ways.c");
    shell(&format!("cc -O1 -pthread -o {} {}", place.word("ways"), testkit::word(&source)));
    let moved = |way: &str, bytes: u64| {
        let words = ["time", "one", "--rounds=1", "--memory=none", "-q", "--no-store", "--json", "--"];
        let (program, bytes) = (place.word("ways"), bytes.to_string());
        let study = place.run(&[&words[..], &[program.as_str(), way, &bytes]].concat()[..]).good().study();
        let row = study.rows[0].clone();
        (row.tree.as_ref().unwrap().call_bytes.unwrap(), row)
    };
    const BYTES: u64 = 1 << 20;
    for (way, leaves) in WAYS {
        let ((nothing, _), (all, row)) = (moved(way, 0), moved(way, BYTES));
        assert_eq!((nothing.write, all.write, all.read - nothing.read), (0, BYTES, BYTES), "{way}");
        let (tree, phase) = (row.tree.as_ref().unwrap(), row.phase.as_ref().unwrap());
        // Whether the clone with the same parent is still there is a race.
        if way != "CLONE_PARENT" {
            assert_eq!(tree.left_running > 0, leaves, "{way}");
            assert!(found(&[&row], "left-running") || !leaves, "{way}: nothing is said");
            assert!(!found(&[&row], "left-running") || leaves, "{way}: nothing was left");
            assert!(!leaves || phase.elapsed_ns > tree.own_ns && !tree.left_ended, "{way}: {tree:?}");
        }
    }
}

#[test]
fn a_command_hears_signals_and_its_group_is_its_own() {
    let place = place();
    let ended = |line: &str| {
        let study = time(&place, "one --rounds=1 --memory=none", line).study();
        (study.rows[0].tree.as_ref().unwrap().status, study.rows[0].tree.as_ref().unwrap().signal)
    };
    assert_eq!(ended("sleep 98764.1 & kill $!; wait $!; test $? = 143 && exit 7"), (Some(7), None), "it hears SIGTERM");
    assert_eq!(ended("sleep 98764.2 & kill 0"), (None, Some(15)), "as it would from any shell");
    let killer = time(&place, "one --rounds=1 --memory=none", "setsid sleep 98764.3 & kill -9 $PPID; sleep 98764.4");
    assert!(killer.status == Some(2) && killer.stderr.contains("was killed"), "{}", killer.stderr);
    testkit::wait_until("the end of all", || !any_has("98764."));
    nothing_is_left(&place);
}

#[test]
fn a_timeout_ends_the_tree_whatever_sessions_it_made() {
    let place = place();
    let line = "trap '' TERM HUP; setsid sh -c 'setsid sleep 98765.1 & sleep 98765.2' & sleep 98765.3";
    let ran = time(&place, "one --rounds=1 --memory=none --timeout=0.5", line);
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
    let study = ran.study();
    let error = study.rows[0].phase.as_ref().unwrap().error.as_ref().unwrap();
    assert!(error.text.contains("did not end within 0.5 s"), "{error:?}");
    assert!(!any_has("98765."), "all of them have ended");
    nothing_is_left(&place);
}

#[test]
fn a_command_that_fails_ends_the_comparison_and_cannot_win() {
    let place = place();
    let line = "case {} in */two/*) echo no >&2; exit 3;; esac";
    let ran = time(&place, "a=one b=two --rounds=8 --memory=none", line);
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
    let study = ran.study();
    assert_eq!(study.rows.len(), 2, "nothing can be compared with it");
    let summary = fsdyno_present::Headline::of(&study);
    assert_eq!((summary.tests[1].error.as_deref(), summary.trust.trust), (Some("exit status 3: no"), Trust::Invalid));
    assert!(summary.standings[0].winner.is_none() && summary.headline.unwrap().contains("only a can win"));
    nothing_is_left(&place);
    assert_eq!(place.run("time one -q -- no-such-program").status, Some(2));
    nothing_is_left(&place);
}

/// Where an interrupt may come: the options that put the line there. `%` stands for the line.
const MOMENTS: [(&str, &[&str]); 5] = [
    ("the preparation", &["--prepare", "%", "--shell", "--", "true"]),
    ("the command", &["--shell", "--", "%"]),
    ("the second run", &["--rounds=2", "--shell", "--", "test ! -e $SEEN && touch $SEEN || { %; }"]),
    ("what it left running", &["--shell", "--", "(setsid sh -c '%' &)"]),
    ("the conclusion", &["--conclude", "%", "--shell", "--", "true"]),
];

#[test]
fn an_interrupt_at_any_moment_ends_the_tree_and_leaves_nothing() {
    for (moment, options) in MOMENTS {
        for signal in ["INT", "TERM", "HUP"] {
            let place = place();
            let line = "setsid sleep 98766.1 & sleep 98766.2";
            let mut words =
                vec!["time".to_owned(), "one".to_owned(), "--no-store".to_owned(), "--memory=none".to_owned()];
            words.extend(options.iter().map(|word| word.replace('%', line).replace("$SEEN", &place.word("seen"))));
            let mut running = place.start(&words[..]);
            let begun = ["sleep 98766.1", "sleep 98766.2"].map(str::to_owned);
            running.wait_until(moment, |_| {
                // All processes are looked at.
                testkit::pause(20);
                let lines = command_lines();
                begun.iter().all(|line| lines.contains(line))
            });
            running.signal(signal);
            let ran = running.finish();
            assert!(
                ran.status.is_none_or(|status| status > 128),
                "{moment}, {signal}: {:?} {}",
                ran.status,
                ran.stderr
            );
            assert!(!any_has("98766."), "{moment}, {signal}");
            nothing_is_left(&place);
        }
    }
}

#[test]
fn a_killed_question_ends_its_command() {
    let place = place();
    let line = "setsid sleep 98767.1 & sleep 98767.2";
    let mut running = place.start(&["time", "one", "--no-store", "--memory=none", "--shell", "--", line][..]);
    running.wait_until("the command", |_| any_has("sleep 98767.2"));
    running.signal("KILL");
    running.finish();
    testkit::wait_until("the end of all", || !any_has("98767."));
    place.run("clean one").good();
    nothing_is_left(&place);
}

#[test]
fn output_of_any_size_takes_little_memory() {
    let place = place();
    // 200 MB of address space hold the program, and not what is printed.
    let line = format!(
        "ulimit -v 200000; exec {} time one --rounds=1 --memory=none -q --no-store --json -- head -c 400000000 /dev/zero",
        testkit::program()
    );
    let ran = testkit::run_within(
        std::time::Duration::from_secs(120),
        std::process::Command::new("sh").args(["-c", &line]).current_dir(place.path("")),
        &place.path(""),
    );
    let study = ran.expect("it ends").good().study();
    assert_eq!(study.rows[0].tree.as_ref().unwrap().printed.bytes, 400_000_000);
    let whole = "ulimit -v 200000; dd if=/dev/zero of=/dev/null bs=400M count=1 2>&1; true";
    assert!(shell(whole).contains("memory exhausted"), "whoever keeps it all has no room");
}

#[test]
fn a_command_may_remove_its_directory_and_print_anything() {
    let place = place();
    let study = time(&place, "one --rounds=1 --memory=none", "rm -rf {}").good().study();
    assert_eq!(study.rows[0].tree.as_ref().unwrap().status, Some(0));
    let loud = "head -c 3000000 /dev/zero | tr '\\0' '\\377'; printf '\\033[2Jend'";
    let ran = time(&place, "one --rounds=1 --memory=none", loud).good();
    let printed = &ran.study().rows[0].tree.as_ref().unwrap().printed.clone();
    assert_eq!(printed.bytes, 3_000_007);
    assert!(printed.head.len() < 20_000 && printed.tail.ends_with("end"), "both ends are kept");
    assert!(!ran.stdout.contains('\u{1b}'));
    let ran = time(&place, "one --rounds=1 --memory=none", "rm -rf \"$(dirname {})\"");
    assert_eq!(ran.status, Some(2), "{}", ran.stdout);
    nothing_is_left(&place);
}

#[test]
fn a_command_that_changes_its_directory_gets_nobody_elses_removed() {
    let place = place();
    place.write("elsewhere/keep", "kept");
    let elsewhere = place.word("elsewhere");
    let lines = [
        "mkdir in; touch in/x; chmod 0 in; chmod 0 .".to_owned(),
        format!("ln -s {elsewhere} link; mkdir -p deep/er; ln -s {elsewhere} deep/er/link"),
        format!("cd ..; mv run moved; ln -s {elsewhere} run"),
    ];
    for line in lines {
        time(&place, "one --rounds=2 --memory=none", &line);
        assert_eq!(
            (place.names("elsewhere"), place.read("elsewhere/keep")),
            (vec!["keep".to_owned()], "kept".to_owned())
        );
        nothing_is_left(&place);
    }
}

/// Processes that compute until they are dropped.
struct BusyProcesses(Vec<std::process::Child>);

impl BusyProcesses {
    fn begin() -> BusyProcesses {
        let cpus = std::thread::available_parallelism().map_or(2, usize::from);
        let hog = |_| std::process::Command::new("timeout").args(["60", "sh", "-c", "while :; do :; done"]).spawn();
        BusyProcesses((0..2 * cpus).map(hog).collect::<Result<_, _>>().expect("timeout is there"))
    }
}

impl Drop for BusyProcesses {
    fn drop(&mut self) {
        for hog in &mut self.0 {
            shell(&format!("kill {}", hog.id()));
            hog.wait().expect("it ends");
        }
    }
}

#[test]
fn others_on_the_cpus_are_told() {
    let place = place();
    let sleeps = "sleep 0.5";
    let study = time(&place, "one --rounds=2 --memory=none", sleeps).good().study();
    let is_quiet = |row: &Row| {
        let tree = row.tree.as_ref().unwrap();
        tree.machine_busy_ns.zip(tree.machine_total_ns).is_some_and(|(busy, total)| busy * 4 < total * 3)
    };
    if study.rows.iter().all(is_quiet) {
        assert!(!found(&of_target(&study, 0), "cpu-starved"));
    } else {
        testkit::skip("others use the CPUs of this machine");
    }
    let _hogs = BusyProcesses::begin();
    let study = time(&place, "one --rounds=2 --memory=none", sleeps).good().study();
    assert!(found(&of_target(&study, 0), "cpu-starved"), "{:?}", study.rows[0].tree);
}

#[test]
fn what_a_run_begins_with_is_copied_and_prepared_each_time() {
    let place = place();
    place.write("elsewhere/deep.txt", "abc");
    let line = "test \"$(cat deep.txt more.txt)\" = abcdef && rm deep.txt more.txt";
    let options = "one two --rounds=2 --memory=none --from=elsewhere --cold --prepare";
    let mut all = words(options, line);
    let at = all.iter().position(|word| *word == "--prepare").unwrap();
    all.insert(at + 1, "printf def > more.txt");
    let study = place.run(&all[..]).good().study();
    assert_eq!(study.rows.len(), 4);
    let cold = |row: &Row| row.phase.as_ref().unwrap().cache.as_deref() == Some("data cold, names warm");
    assert!(study.rows.iter().all(cold));
    assert_eq!(place.names("elsewhere"), ["deep.txt"], "it was copied");
    if testkit::is_root("files of others are copied as the user's own") {
        shell(&format!(
            "cd {0} && chown 12345 elsewhere/deep.txt && tar -cf all.tar -C elsewhere deep.txt",
            place.word("")
        ));
        for from in ["elsewhere", "all.tar"] {
            time(&place, &format!("one --rounds=1 --memory=none --from={from}"), "test -O deep.txt").good();
        }
    }
    nothing_is_left(&place);
}

#[test]
fn the_environment_is_recorded_by_name_only() {
    let place = place();
    let mut command = place.command("time one --rounds=1 --memory=none --quiet --no-store --json -- sh -c true");
    let ran =
        testkit::run_within(std::time::Duration::from_secs(60), command.env("SOME_TOKEN", "hunter2"), &place.path(""));
    let ran = ran.expect("it ends").good();
    assert!(ran.stdout.contains("SOME_TOKEN") && !ran.stdout.contains("hunter2"));
    let kept = time(&place, "one --rounds=1 --memory=none --clean-env", "test -n \"$PATH\" && test -z \"$CARGO\"");
    assert!(!kept.good().stdout.contains("CARGO_"));
}

/// git tells its hooks by variables which repository is meant: the user's.
#[test]
fn a_question_from_a_hook_leaves_the_users_repository_alone() {
    let place = place();
    if !testkit::has("git") {
        return;
    }
    let of_user = format!("git -C {} ", place.word("elsewhere"));
    let look = || shell(&format!("{of_user} log --format=%s --all; {of_user} config --list --local"));
    shell(&format!("{of_user} init -q && {of_user} -c user.name=a -c user.email=a@b commit -q --allow-empty -m mine"));
    let before = look();
    let mut command = place.command("time one --rounds=1 --memory=none -q --no-store --json --recipe=git");
    let ran = testkit::run_within(
        std::time::Duration::from_secs(120),
        command.env("GIT_DIR", place.path("elsewhere/.git")).env("GIT_INDEX_FILE", place.path("elsewhere/.git/index")),
        &place.path(""),
    );
    assert_eq!(ran.expect("it ends").good().study().rows.len(), 6);
    assert_eq!(look(), before);
}

#[test]
fn the_run_in_memory_says_how_much_storage_decides() {
    let place = place();
    let study = time(&place, "one --rounds=4", "i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done").good().study();
    let Some(memory) = reference(&study) else { return };
    let times = fsdyno_present::Headline::of(&study).times;
    assert_eq!(times.iter().map(|time| time.reference).collect::<Vec<_>>(), [false, true]);
    let share = times[0].storage_percent.expect("four rounds beside each other");
    assert!(share.interval.is_some() && (0.0..=100.0).contains(&share.about) && times[1].storage_percent.is_none());
    assert!(times[memory].requests.is_none(), "no device is not no request");
    // It fails in memory alone: the question goes on without it.
    let alone = time(&place, "one --rounds=2", "case {} in /dev/shm/*) exit 1;; esac").good().study();
    assert_eq!((alone.targets.len(), alone.rows.len()), (1, 2));
    assert!(alone.notes.iter().any(|note| note.id == "no-reference"), "{:?}", alone.notes);
}

#[test]
fn a_recipe_reports_each_phase_and_anybody_may_write_one() {
    let place = place();
    let own = "title = 'a'\nabout = 'It writes and reads.'\nneeds = ['sh']\nprepare = 'echo abc > begun'\n\
               [[phase]]\nname = 'write'\ntitle = 'w'\nrun = 'cat begun > out'\n\
               [[phase]]\nname = 'read'\ntitle = 'r'\nrun = 'grep -q abc out'\n";
    place.write("own.toml", own);
    let run =
        |recipe: &str| place.run(&format!("time one --rounds=2 --memory=none -q --no-store --json --recipe={recipe}"));
    let study = run("./own.toml").good().study();
    let rows: Vec<(&str, u32)> = study.rows.iter().map(|row| (row.pattern.as_str(), row.round)).collect();
    assert_eq!(rows, [("write", 0), ("read", 0), ("write", 1), ("read", 1)]);
    assert!(study.notes.iter().any(|note| note.text.contains("It writes and reads")));
    place.write("bad.toml", own.replace("grep -q abc", "grep -q nothing"));
    assert_eq!(run("./bad.toml").status, Some(1), "a phase that fails");
    place.write("lacks.toml", own.replace("['sh']", "['no-such-program']"));
    let lacks = run("./lacks.toml");
    assert!(lacks.status == Some(2) && lacks.stderr.contains("needs no-such-program"), "{}", lacks.stderr);
    nothing_is_left(&place);
}

#[test]
fn all_recipes_run() {
    let place = place();
    let needed =
        [("git", "git"), ("untar", "tar"), ("copy", "cp"), ("find", "find"), ("sqlite", "python3"), ("build", "cc")];
    for (recipe, tool) in needed {
        if !testkit::has(tool) {
            continue;
        }
        let line = format!("time one --rounds=1 --memory=none -q --no-store --json --recipe={recipe}");
        let study = place.run(&line).good().study();
        assert!(study.rows.iter().all(|row| row.first_error().is_none()), "{recipe}");
    }
    nothing_is_left(&place);
}
