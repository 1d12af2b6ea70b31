//! Tests what makes a comparison of a command on several storages unfair: each trap is reported, and its honest twin is
//! not.

use std::path::PathBuf;

use fsdyno_present::Headline;
use fsdyno_results::{Study, TreeRecord};
use testkit::stack::{inside_beside_others, place, show};
use testkit::{Neighbour, RunResult, TestDirectory, shell, word};

/// Number and name of a trap, and whether it is reported: for the trap, and for its twin.
type Trap = (u8, &'static str, fn(&Grounds) -> [bool; 2]);

const TRAPS: [Trap; 18] = [
    (1, "data that are read from memory", read_from_memory),
    (1, "data that the daemon has in memory", read_from_the_daemons_memory),
    (2, "data that are not on the disk yet", left_in_memory),
    (3, "a command of whose time storage decides little", storage_decides_little),
    (4, "work that differs between places", other_work_on_a_place),
    (4, "work that differs between rounds", other_work_in_a_round),
    (4, "data that a place compresses", compressed),
    (5, "blocks shared by cp", shared_by_cp),
    (5, "blocks shared by copy_file_range", shared_by_copy_file_range),
    (5, "hard links in place of copies", hard_links),
    (6, "writes elsewhere", writes_elsewhere),
    (7, "a nearly full filesystem", nearly_full),
    (7, "an aged filesystem", aged),
    (8, "a first run that is different", first_run),
    (8, "a winner by the first run alone", wins_by_its_first_run),
    (9, "processes that are left running", left_running),
    (10, "others on the device", others_on_the_device),
    (10, "a CPU that others use", others_on_the_cpu),
];

/// The storages of the traps.
struct Grounds {
    files: TestDirectory,
    /// An ext4 that nobody else uses.
    ext4: PathBuf,
    /// The same through a daemon.
    bindfs: PathBuf,
    /// A filesystem that shares blocks.
    btrfs: PathBuf,
    /// A small ext4.
    small: PathBuf,
}

/// A filesystem in memory, of this size.
fn mounted(kind: &str, size_mb: u32) -> PathBuf {
    let at = place("LAB_LOCAL").with_file_name(format!("{kind}-{size_mb}"));
    shell(&format!(
        "set -e; mkdir -p {0}; mount -t tmpfs none {0}; truncate -s {size_mb}M {0}/image; mkfs.{kind} -q {0}/image; \
         mkdir {0}/disk; mount -o loop {0}/image {0}/disk",
        word(&at)
    ));
    at.join("disk")
}

impl Grounds {
    fn new() -> Grounds {
        let below = |variable: &str, name: &str| {
            let directory = place(variable).join(name);
            std::fs::create_dir_all(&directory).expect("the stack is writable");
            directory
        };
        let files = TestDirectory::with(&["from"]);
        files.write("from/data", vec![7; 8 << 20]);
        Grounds {
            files,
            ext4: below("LAB_LOCAL", "x"),
            bindfs: below("LAB_FUSE", "y"),
            btrfs: mounted("btrfs", 300),
            small: mounted("ext4", 128),
        }
    }

    fn ran(&self, places: &[&PathBuf], options: &str, line: &str) -> RunResult {
        let mut words = vec!["time".to_owned(), "--quiet".to_owned(), "--no-store".to_owned(), "--json".to_owned()];
        words.extend(places.iter().zip(["a", "b"]).map(|(place, name)| format!("{name}={}", word(place))));
        words.extend(options.split_whitespace().map(str::to_owned));
        words.extend(["--shell", "--", line].map(str::to_owned));
        self.files.run(&words[..])
    }

    fn time(&self, places: &[&PathBuf], options: &str, line: &str) -> Study {
        self.ran(places, options, line).good().study()
    }

    /// Times a line that begins with a file of 8 MiB.
    fn with_data(&self, places: &[&PathBuf], options: &str, line: &str) -> Study {
        let from = format!("{options} --memory=none --rounds=2 --from={}", self.files.word("from"));
        self.time(places, &from, line)
    }

    /// Times a line on the ext4 alone.
    fn alone(&self, rounds: u32, line: &str) -> Study {
        self.time(&[&self.ext4], &format!("--memory=none --rounds={rounds}"), line)
    }
}

#[test]
fn each_trap_is_told_and_its_twin_is_not() {
    inside_beside_others("time_traps::each_trap_is_told_and_its_twin_is_not", "bindfs", || {
        let numbers: std::collections::BTreeSet<u8> = TRAPS.iter().map(|(number, ..)| *number).collect();
        assert!(numbers.into_iter().eq(1..=10));
        let grounds = Grounds::new();
        let judge = |(number, name, told): &Trap| {
            let [trap, twin] = told(&grounds);
            show(&format!("{number:>2} {name}: told {trap}, of its twin {twin}"));
            trap && !twin
        };
        let wrong: Vec<_> = TRAPS.iter().filter(|trap| !judge(trap)).map(|(_, name, _)| *name).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    });
}

fn tree(study: &Study) -> &TreeRecord {
    study.rows[0].tree.as_ref().expect("it is a command's")
}

fn found(study: &Study, id: &str) -> bool {
    study.rows.iter().any(|row| row.findings.iter().any(|finding| finding.id == id))
}

fn noted(study: &Study, id: &str) -> bool {
    study.notes.iter().any(|note| note.id == id)
}

fn read_from_memory(grounds: &Grounds) -> [bool; 2] {
    [("--warm", "warm"), ("--cold", "data cold, names warm")].map(|(option, words)| {
        let study = grounds.with_data(&[&grounds.ext4], option, "cat data > /dev/null");
        assert_eq!(Headline::of(&study).times[0].cache.as_deref(), Some(words), "the answer says which it was");
        tree(&study).during.devices.value().expect("its device counts").bytes.read < 8 << 20
    })
}

fn read_from_the_daemons_memory(grounds: &Grounds) -> [bool; 2] {
    [&grounds.bindfs, &grounds.ext4].map(|place| {
        let study = grounds.with_data(&[place], "--cold", "cat data > /dev/null");
        let test = &Headline::of(&study).tests[0];
        test.not_visible.contains(&"cache")
    })
}

fn left_in_memory(grounds: &Grounds) -> [bool; 2] {
    ["true", "sync x"].map(|then| {
        let study = grounds.alone(2, &format!("head -c 8388608 /dev/zero > x; {then}"));
        tree(&study).in_sync.devices.value().expect("its device counts").bytes.write >= 7 << 20
    })
}

fn storage_decides_little(grounds: &Grounds) -> [bool; 2] {
    ["sleep 0.2", "case {} in /dev/shm/*) sleep 0.1;; *) sleep 0.4;; esac"].map(|line| {
        let study = grounds.time(&[&grounds.ext4], "--rounds=8", line);
        let share = Headline::of(&study).times[0].storage_percent.expect("it ran in memory");
        share.interval.expect("there are 8 rounds").low < 5.0
    })
}

fn other_work_on_a_place(grounds: &Grounds) -> [bool; 2] {
    let all = "head -c 1000000 /dev/zero | cat > x";
    [&*format!("case {{}} in */y/*) {all};; esac"), all].map(|line| {
        let study = grounds.time(&[&grounds.ext4, &grounds.bindfs], "--memory=none --rounds=2", line);
        found(&study, "work-differs")
    })
}

fn other_work_in_a_round(grounds: &Grounds) -> [bool; 2] {
    let seen = grounds.files.word("seen");
    let all = "head -c 1000000 /dev/zero | cat > x";
    [&*format!("test -e {seen} || {{ touch {seen}; {all}; }}"), all]
        .map(|line| found(&grounds.alone(4, line), "work-differs"))
}

fn compressed(grounds: &Grounds) -> [bool; 2] {
    let remount = |option: &str| shell(&format!("mount -o remount,{option} {}", word(&grounds.btrfs)));
    remount("compress=zstd");
    let told = ["zero", "urandom"].map(|source| {
        let line = format!("head -c 8388608 /dev/{source} > x");
        found(&grounds.time(&[&grounds.btrfs], "--memory=none --rounds=1", &line), "compressible-data")
    });
    remount("compress=no");
    told
}

fn shared_by_cp(grounds: &Grounds) -> [bool; 2] {
    ["cp data copy", "cp --reflink=never data copy"]
        .map(|line| found(&grounds.with_data(&[&grounds.ext4, &grounds.btrfs], "", line), "work-differs"))
}

fn shared_by_copy_file_range(grounds: &Grounds) -> [bool; 2] {
    let copy =
        |how: &str| format!("python3 -c 'import os; a, b = open(\"data\", \"rb\"), open(\"copy\", \"wb\"); {how}'");
    ["os.copy_file_range(a.fileno(), b.fileno(), 8 << 20)", "b.write(a.read())"]
        .map(|how| found(&grounds.with_data(&[&grounds.btrfs, &grounds.ext4], "", &copy(how)), "work-differs"))
}

/// As `git clone` from a path: files on the same filesystem are linked, others copied.
fn hard_links(grounds: &Grounds) -> [bool; 2] {
    let source = place("LAB_LOCAL").join("source");
    std::fs::write(&source, vec![7; 8 << 20]).expect("the stack is writable");
    let source = word(&source);
    [&*format!("ln {source} x 2> /dev/null || cat {source} > x"), &*format!("cat {source} > x")].map(|line| {
        let study = grounds.time(&[&grounds.ext4, &grounds.btrfs], "--memory=none --rounds=2", line);
        found(&study, "work-differs")
    })
}

fn writes_elsewhere(grounds: &Grounds) -> [bool; 2] {
    let away = grounds.files.word("away");
    let own = "head -c 4000000 /dev/zero > x; head -c 4000000 /dev/zero > $TMPDIR/t; rm $TMPDIR/t";
    let away = format!("head -c 4000000 /dev/zero > {away}; sync {away}");
    [found(&grounds.alone(2, &away), "wrote-elsewhere"), found(&grounds.alone(2, own), "wrote-elsewhere")]
}

fn nearly_full(grounds: &Grounds) -> [bool; 2] {
    let filled = grounds.small.join("filled");
    let told = [97, 60].map(|percent| {
        let share = format!("$(($(df --output=size -B1 {0} | tail -1) * {percent} / 100))", word(&grounds.small));
        shell(&format!("fallocate -l {share} {}", word(&filled)));
        let ran = grounds.ran(&[&grounds.small], "--memory=none --rounds=1", "true");
        std::fs::remove_file(&filled).expect("it was made");
        ran.status == Some(2) && ran.stderr.contains("is nearly full, and gets slower")
    });
    let grows =
        grounds.ran(&[&grounds.small], "--memory=none --rounds=1", "head -c 120M /dev/zero > x; sync x; sleep 9");
    assert!(grows.status == Some(2) && grows.stderr.contains("something fills"), "{grows:?}");
    assert!(!testkit::names(&grounds.small).iter().any(|name| name.contains("fsdyno")), "nothing is left");
    told
}

/// A filesystem filled with small files, every second of which is removed.
fn aged(grounds: &Grounds) -> [bool; 2] {
    let told = || noted(&grounds.time(&[&grounds.small], "--memory=none --rounds=1", "true"), "free-space-in-pieces");
    let twin = told();
    let at = grounds.small.join("small");
    std::fs::create_dir(&at).expect("it is writable");
    let at = word(&at);
    shell(&format!(
        "cd {at}; head -c 128M /dev/zero | split -b 16k -a 4 - x 2> /dev/null; ls | sed -n 'n;p' | xargs rm; sync ."
    ));
    [told(), twin]
}

/// The command takes longer the first time that it runs at all.
const COSTLY_START: &str = "sleep 0.1; test -e $SEEN || { touch $SEEN; sleep 0.6; }";

fn first_run(grounds: &Grounds) -> [bool; 2] {
    let seen = grounds.files.word("seen-first");
    [&*COSTLY_START.replace("$SEEN", &seen), "sleep 0.1"].map(|line| noted(&grounds.alone(4, line), "first-run"))
}

fn wins_by_its_first_run(grounds: &Grounds) -> [bool; 2] {
    let seen = grounds.files.word("seen-winner");
    let first_only = COSTLY_START.replace("$SEEN", &seen);
    let each = "sleep 0.1; case {} in */x/*) sleep 0.2;; esac";
    let twin = place("LAB_LOCAL").join("twin");
    std::fs::create_dir(&twin).expect("the stack is writable");
    [&*first_only, each].map(|line| {
        let study = grounds.time(&[&grounds.ext4, &twin], "--memory=none --rounds=8", line);
        Headline::of(&study).standings[0].winner.is_none()
    })
}

fn left_running(grounds: &Grounds) -> [bool; 2] {
    ["sleep 0.2 &", "sleep 0.2 & wait"].map(|line| found(&grounds.alone(1, line), "left-running"))
}

fn others_on_the_device(grounds: &Grounds) -> [bool; 2] {
    let told = || found(&grounds.alone(2, "head -c 1048576 /dev/zero > x; sync x; sleep 0.3"), "foreign-load");
    let twin = told();
    let other = place("LAB_LOCAL").join("other");
    shell(&format!("dd if=/dev/urandom of={} bs=1M count=32 conv=fsync status=none", word(&other)));
    let reader = Neighbour::reading(&other);
    let reads = told();
    drop(reader);
    let _writer = Neighbour::writing(&other);
    [reads && told(), twin]
}

/// A command that waits for a CPU is reported, and one that had it all the time is not.
fn others_on_the_cpu(grounds: &Grounds) -> [bool; 2] {
    let study = grounds.alone(1, "true");
    let mut busy = study.rows[0].clone();
    let ns = 1_000_000_000;
    let (tree, phase) = (busy.tree.as_mut().expect("a command"), busy.phase.as_mut().expect("a command"));
    (tree.machine_busy_ns, tree.machine_total_ns, tree.user_ns, phase.elapsed_ns) =
        (Some(4 * ns), Some(4 * ns), ns / 10, 2 * ns);
    phase.cpu_ns = ns / 10;
    let mut idle = busy.clone();
    idle.tree.as_mut().expect("a command").machine_busy_ns = Some(ns);
    [busy, idle].map(|row| {
        fsdyno_findings::of_command(&study.targets[0], &row).iter().any(|finding| finding.id == "cpu-starved")
    })
}
