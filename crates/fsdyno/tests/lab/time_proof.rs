//! Counts over many comparisons whether `fsdyno time` keeps its promises, and makes the table of docs/time.md. It takes
//! minutes and runs only on request: see lab/README.md.

use std::path::PathBuf;
use std::time::Duration;

use fsdyno_present::Headline;
use fsdyno_results::Row;
use fsdyno_stats::median;
use fsdyno_text::quantity::{bytes, latency, number};
use testkit::stack::{inside, place, reports_inside, show};
use testkit::{RunResult, TestDirectory, run_within, shell, skip, word};

use crate::stack::long_ones_are_wanted;

fn is_wanted() -> bool {
    if !long_ones_are_wanted() {
        skip("takes minutes: set FSDYNO_LAB_LONG=1");
    }
    long_ones_are_wanted()
}

/// The number of comparisons: FSDYNO_COMPARISONS, or the usual one.
fn comparisons(usual: usize) -> usize {
    std::env::var("FSDYNO_COMPARISONS").ok().and_then(|number| number.parse().ok()).unwrap_or(usual)
}

/// Directories of the stack's disk, as words.
fn directories(names: [&str; 2]) -> [String; 2] {
    names.map(|name| {
        let directory = place("LAB_LOCAL").join(name);
        std::fs::create_dir_all(&directory).expect("the stack is writable");
        format!("{name}={}", word(&directory))
    })
}

fn time(places: &[String], options: &str, command: &[&str]) -> Headline {
    let mut words = vec!["time", "--quiet", "--no-store", "--json"];
    words.extend(places.iter().map(String::as_str));
    words.extend(options.split_whitespace());
    words.extend(command);
    Headline::of(&asked(&words).good().study())
}

/// Runs the program without the usual time limit.
fn asked(words: &[&str]) -> RunResult {
    let place = TestDirectory::new();
    run_within(Duration::from_secs(15 * 60), &mut place.command(words), &place.path("")).expect("it ends")
}

/// The winners of the two verdicts: until the command had ended, and until everything was durable.
fn winners(headline: &Headline) -> [Option<String>; 2] {
    [false, true].map(|with_sync| {
        let of = headline.standings.iter().find(|standing| standing.with_sync == with_sync);
        of.and_then(|standing| standing.winner.clone())
    })
}

fn load() -> String {
    std::fs::read_to_string("/proc/loadavg").unwrap_or_default().split(' ').take(2).collect::<Vec<_>>().join(", ")
}

const SMALL_FILES: &str = "for i in 1 2 3 4 5 6 7 8; do head -c 4096 /dev/zero > f$i; done; sync f8";

/// Two directories of one filesystem: any winner is a false one.
#[test]
fn twins_have_no_winner() {
    if !is_wanted() {
        return;
    }
    inside("time_proof::twins_have_no_winner", "ext4 --size-mb 400", || {
        let twins = directories(["a", "b"]);
        let of = comparisons(40);
        let mut false_winners = [0, 0];
        for _ in 0..of {
            let found = winners(&time(&twins, "--memory=none", &["--shell", "--", SMALL_FILES]));
            for (count, winner) in false_winners.iter_mut().zip(found) {
                *count += usize::from(winner.is_some());
            }
        }
        let [ended, durable] = false_winners;
        show(&format!("twins: {ended} of {of} have a winner, with the sync {durable}; load {}", load()));
        assert!(ended * 20 <= of && durable * 20 <= of, "more than 5 %");
    });
}

/// A storage whose speed a shell line sets: two places on it differ by what is set before each run.
struct Slowed {
    stack: &'static str,
    /// The variable with its path.
    variable: &'static str,
    what: &'static str,
    /// `%` stands for one of the two values.
    line: &'static str,
    /// For the fast place, then for the slow one.
    values: [u32; 2],
    recipes: &'static [Short],
}

/// One of our recipes, with what makes it short.
type Short = (&'static str, &'static [(&'static str, &'static str)]);

const SLOWED: [Slowed; 3] = [
    Slowed {
        stack: "throttle --timeout=2400",
        variable: "LAB_CGROUP",
        what: "77 instead of 100 writes a second",
        line: "LAB_DEVICE_NUMBER=$DISK lab-throttle write-iops=%",
        values: [100, 77],
        recipes: &[("sqlite", &[("n < 500", "n < 20"), ("range(500)", "range(20)")])],
    },
    Slowed {
        stack: "fuse --timeout=2400",
        variable: "LAB_FUSE",
        what: "13 instead of 10 ms for each read and write of a FUSE daemon",
        line: "lab-fault delay-us %",
        values: [10_000, 13_000],
        recipes: &[("copy", &[("f <= 500", "f <= 50"), ("f < 500", "f <= 50")]), ("untar", &[("f < 1000", "f < 50")])],
    },
    Slowed {
        stack: "nfs --delay-ms 10 --timeout=2400",
        variable: "LAB_NFS",
        what: "13.5 instead of 10 ms for each round trip of NFS",
        line: "tc qdisc change dev vec0 root handle 1: netem delay %us limit 100000",
        values: [10_000, 13_500],
        recipes: &[(
            "untar",
            &[("f < 1000", "f < 8"), ("f % 20", "f % 2"), ("2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19", "")],
        )],
    },
];

/// One of two places is 30 % slower in everything that decides.
#[test]
fn a_slower_place_is_found() {
    if !is_wanted() {
        return;
    }
    let of_this_stack = || SLOWED.iter().find(|slowed| std::env::var_os(slowed.variable).is_some());
    for slowed in &SLOWED {
        inside("time_proof::a_slower_place_is_found", slowed.stack, || of_this_stack().expect("it has one").judge());
        if testkit::stack::is_inside() {
            return;
        }
    }
}

impl Slowed {
    fn judge(&self) {
        let (at, line) = if self.variable == "LAB_CGROUP" {
            let (at, disk) = disk_in_memory();
            (at, self.line.replace("$DISK", &disk))
        } else {
            (place(self.variable), self.line.to_owned())
        };
        let places = ["fast", "slow"].map(|name| {
            let directory = at.join(name);
            std::fs::create_dir_all(&directory).expect("the stack is writable");
            format!("{name}={}", word(&directory))
        });
        let [fast, slow] = self.values.map(|value| line.replace('%', &value.to_string()));
        let switch = format!("case $FSDYNO_DIR in */slow/*) {slow};; *) {fast};; esac\n");
        for short in self.recipes {
            let files = TestDirectory::new();
            files.write("slowed.toml", with_switch(short, &switch));
            let options = format!("--memory=none --recipe={}", files.word("slowed.toml"));
            let of = comparisons(10);
            let is_found = |_: &usize| winners(&time(&places, &options, &[]))[0].as_deref() == Some("fast");
            let found = (0..of).filter(is_found).count();
            show(&format!("{}, {}: found in {found} of {of}; load {}", short.0, self.what, load()));
            assert!(found * 5 >= of * 4, "less than 80 %");
        }
    }
}

/// The recipe with a line before its preparation.
fn with_switch((name, shorter): &Short, switch: &str) -> String {
    let source = testkit::workspace().join(format!("crates/guide/recipes/{name}.toml"));
    let mut text = std::fs::read_to_string(source).expect("it is one of ours");
    for (long, short) in *shorter {
        assert!(text.contains(long), "{long}");
        text = text.replace(long, short);
    }
    match text.split_once("prepare = '''\n") {
        Some((head, lines)) => format!("{head}prepare = '''\n{switch}{lines}"),
        None => text.replacen("[[phase]]", &format!("prepare = '''\n{switch}'''\n\n[[phase]]"), 1),
    }
}

/// A disk in memory, so that only its limit decides, and its device number.
fn disk_in_memory() -> (PathBuf, String) {
    let at = place("LAB_LOCAL").join("memory");
    let line = format!(
        "set -e; mkdir -p {0}; mount -t tmpfs none {0}; truncate -s 60M {0}/image; mkdir {0}/disk; \
         device=$(losetup --find --show {0}/image); mkfs.ext4 -q $device; mount $device {0}/disk; \
         losetup --detach $device; stat -c '%Hr:%Lr' $device",
        word(&at)
    );
    let number = shell(&line).trim().to_owned();
    (at.join("disk"), number)
}

/// Commands that compute, with the phase that is examined: storage does not decide.
const COMPUTE: [(&str, &[&str]); 2] = [
    ("a loop of the shell", &["--shell", "--", "i=0; while [ $i -lt 150000 ]; do i=$((i+1)); done; echo $i > x"]),
    ("the first phase of the recipe build", &["--recipe=build"]),
];

/// Storage is not named as the cause.
#[test]
fn a_command_that_computes_is_told_so() {
    if !is_wanted() {
        return;
    }
    inside("time_proof::a_command_that_computes_is_told_so", "ext4 --timeout=2400", || {
        let [one, _] = directories(["a", "a"]);
        let of = comparisons(5);
        for (what, command) in COMPUTE {
            let blamed = (0..of).filter(|_| {
                let headline = time(std::slice::from_ref(&one), "--rounds=8", command);
                let share = headline.times[0].storage_percent.expect("there is memory").interval.expect("8 rounds");
                show(&format!("storage decides {:.0} to {:.0} % of {what}; load {}", share.low, share.high, load()));
                share.low >= 5.0
            });
            let blamed = blamed.count();
            assert!(blamed * 5 <= of, "storage is blamed in {blamed} of {of}: {what}");
        }
    });
}

/// The stacks of docs/time.md.
const STACKS: [&str; 7] = [
    "tmpfs --size-mb 400 --timeout=900",
    "ext4 --size-mb 700 --timeout=900",
    "xfs --size-mb 700 --timeout=900",
    "btrfs --size-mb 700 --timeout=900",
    "bindfs --timeout=900",
    "nfs --vers 4.2 --timeout=1800",
    "s3fs --timeout=1800",
];

/// The phases of the recipe, in its order.
const PHASES: [&str; 6] = ["clone", "status", "commit", "push", "fetch", "gc"];

/// The marks around the table.
const MARKS: [&str; 2] = ["<!-- git on each storage -->", "<!-- end of git on each storage -->"];

/// The storages in this stack, with the variables that name them.
fn storages_here() -> Vec<(String, &'static str)> {
    let is_set = |variable| std::env::var_os(variable).is_some();
    match () {
        () if is_set("LAB_NFS") => {
            vec![("ext4 in a guest".to_owned(), "LAB_LOCAL"), ("NFS 4.2 in the same guest".to_owned(), "LAB_NFS")]
        }
        () if is_set("LAB_S3") => vec![("s3fs".to_owned(), "LAB_S3")],
        () if is_set("LAB_FUSE") => vec![("bindfs on ext4".to_owned(), "LAB_FUSE")],
        () => {
            vec![(shell(&format!("findmnt -no FSTYPE {}", word(&place("LAB_LOCAL")))).trim().to_owned(), "LAB_LOCAL")]
        }
    }
}

/// All rows of at least this number of rounds. A failed phase ends a question, which is then asked again.
fn git_rows(at: &str, rounds: usize) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    loop {
        let done = rows.iter().filter(|row| row.pattern == PHASES[0]).count();
        if done >= rounds {
            return rows;
        }
        let wanted = format!("--rounds={}", if done == 0 { rounds } else { 1 });
        let words = ["time", at, "--memory=none", "--recipe=git", "-q", "--no-store", "--json", &wanted];
        rows.extend(asked(&words).study().rows);
    }
}

/// A line of the table: the median times of the phases, then what the storage did in all of them.
fn git_row(name: &str, variable: &str) -> String {
    let rows = git_rows(word(&place(variable)), comparisons(6));
    let of_phase =
        |phase: &'static str| rows.iter().filter(move |row| row.pattern == phase && row.first_error().is_none());
    let middle =
        |phase, figure: fn(&Row) -> Option<f64>| median(&of_phase(phase).filter_map(figure).collect::<Vec<_>>());
    let sum =
        |figure: fn(&Row) -> Option<f64>| PHASES.map(|phase| middle(phase, figure)).into_iter().sum::<Option<f64>>();
    let wall = |phase| {
        let has_failed = rows.iter().any(|row| row.pattern == phase && row.first_error().is_some());
        let median = middle(phase, |row| Some(row.phase.as_ref()?.elapsed_ns as f64)).map(latency);
        median.unwrap_or_else(|| if has_failed { "fails" } else { "-" }.to_owned())
    };
    let cells = PHASES.map(wall).into_iter().chain([
        sum(|row| Some(row.tree.as_ref()?.requests()? as f64)).map_or("-".to_owned(), number),
        sum(|row| Some(row.tree.as_ref()?.bytes()? as f64)).map_or("-".to_owned(), |sum| bytes(sum as u64)),
    ]);
    let runs = rows.iter().filter(|row| row.pattern == PHASES[0]).count();
    format!("| {name} | {} | {runs} |", cells.collect::<Vec<_>>().join(" | "))
}

/// Runs `fsdyno time PLACE --recipe git` on each storage separately.
#[test]
fn git_on_each_storage() {
    if !is_wanted() {
        return;
    }
    let mut rows = vec![
        format!("| storage | {} | requests | bytes | runs |", PHASES.join(" | ")),
        format!("|---{}|", "|--:".repeat(PHASES.len() + 3)),
    ];
    let body = || storages_here().iter().for_each(|(name, variable)| show(&format!("row {}", git_row(name, variable))));
    for stack in STACKS {
        let lines = reports_inside("time_proof::git_on_each_storage", stack, body);
        if testkit::stack::is_inside() {
            return;
        }
        let of_stack = lines.iter().flatten().filter_map(|line| line.strip_prefix("row ")).map(str::to_owned);
        rows.extend(of_stack.inspect(|row| show(&format!("{row} load {}", load()))));
    }
    let table = rows.join("\n");
    show(&format!("{table}\nload {}", load()));
    let document = testkit::workspace().join("docs/time.md");
    let text = std::fs::read_to_string(&document).expect("it is there");
    let [begin, end] = MARKS.map(|mark| text.find(mark).expect("the page has its marks"));
    if std::env::var("FSDYNO_EXAMPLE").is_ok_and(|word| word == "write") {
        let head = &text[..begin + MARKS[0].len()];
        std::fs::write(document, format!("{head}\n{table}\n{}", &text[end..])).expect("it is writable");
    }
}
