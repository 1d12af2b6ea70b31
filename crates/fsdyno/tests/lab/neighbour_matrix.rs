//! Tests each finding of a cache beside a reader and a writer: on the same device, in the same file, on the device
//! below. Each scene has all these cells, with its set-up and its honest twin; docs/reliability.md shows them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use fsdyno_results::Severity;
use testkit::stack::{inside_beside_others, place, show};
use testkit::{Neighbour, shell, word};

use crate::bench::{Bench, Run};

/// A finding, and the scene that shows it beside others.
struct Scene {
    finding: &'static str,
    /// The set-up and its twin, in words.
    words: [&'static str; 2],
    stack: &'static str,
    /// Makes the files of the set-up and of its twin.
    stand: fn() -> [Side; 2],
    set_up: fn(&Path) -> Run,
    twin: fn(&Path) -> Run,
    /// Beside a reader, and beside a writer.
    same_device: [Cell; 2],
    same_file: [Cell; 2],
    device_below: [Cell; 2],
}

/// The expected findings beside a neighbour.
#[derive(Clone, Copy)]
enum Cell {
    /// The set-up is found and its twin is not, as without the neighbour.
    AsAlone,
    /// The set-up is found; the twin may be "not visible", as all of its counters include others' bytes.
    TwinNotVisible,
    /// The set-up is found or "not visible"; the twin may be "not visible".
    NotVisible,
}
use Cell::{AsAlone, NotVisible, TwinNotVisible};

/// Where a neighbour is.
#[derive(Clone, Copy, Debug)]
enum Where {
    SameDevice,
    SameFile,
    DeviceBelow,
}

/// The file of a run, and the files of its neighbours.
#[derive(Clone)]
struct Side {
    file: PathBuf,
    /// The reader and the writer of the same file during the run, and the reader of another file on the same device.
    reader: fn(&Side) -> Neighbour,
    writer: fn(&Side) -> Neighbour,
    reader_beside: fn(&Side) -> Neighbour,
    /// A folder on the same device, and one on the device below.
    beside: PathBuf,
    below: PathBuf,
}

/// The part of the file that a run uses, MiB; a writer of the same file uses the rest.
const OWN_MIB: u64 = 32;

impl Side {
    /// Makes a file of random data in a folder, with those of its neighbours.
    fn at(folder: &Path, below: &Path) -> Side {
        filled(&folder.join("file"), OWN_MIB + 16);
        filled(&folder.join("read"), 64);
        filled(&below.join("read"), 64);
        Side {
            file: folder.join("file"),
            reader: |side| Neighbour::reading_through_the_cache(&side.file),
            writer: |side| Neighbour::writing_from(&side.file, OWN_MIB),
            reader_beside: |side| Neighbour::reading(&side.beside.join("read")),
            beside: folder.to_owned(),
            below: below.to_owned(),
        }
    }

    fn neighbour(&self, at: Where, writes: bool) -> Neighbour {
        match (at, writes) {
            (Where::SameDevice, false) => (self.reader_beside)(self),
            (Where::SameDevice, true) => Neighbour::writing(&self.beside.join("written")),
            (Where::SameFile, false) => (self.reader)(self),
            (Where::SameFile, true) => (self.writer)(self),
            (Where::DeviceBelow, false) => Neighbour::reading(&self.below.join("read")),
            (Where::DeviceBelow, true) => Neighbour::writing(&self.below.join("written")),
        }
    }
}

fn filled(file: &Path, mib: u64) {
    shell(&format!("dd if=/dev/urandom of={} bs=1M count={mib} conv=fsync status=none", word(file)));
}

/// Drops a file's pages.
fn cold(file: &Path) {
    shell(&format!("dd if={} iflag=nocache count=0 status=none", word(file)));
}

fn warm(file: &Path) {
    shell(&format!("cat {} > /dev/null", word(file)));
}

/// Makes ext4 on a loop device whose image is on the stack's disk.
fn on_loop(name: &str, attach: &str, mount: &str) -> Side {
    let disk = place("LAB_LOCAL");
    shell(&format!(
        "set -e; cd {}; mkdir {name}; dd if=/dev/zero of={name}.image bs=1M count=256 conv=fsync status=none; \
         device=$(losetup --find --show {attach} {name}.image); mkfs.ext4 -q $device; mount -o {mount} $device {name}; \
         losetup --detach $device",
        word(&disk)
    ));
    Side::at(&disk.join(name), &disk)
}

/// One disk for the set-up and its twin: ext4 on a loop device with direct I/O.
fn on_one_disk() -> [Side; 2] {
    let side = on_loop("top", "--direct-io=on", "defaults");
    [side.clone(), side]
}

fn ran(file: &Path, words: &str) -> Run {
    Bench::new().fio(&format!("--name=job --filename={} --bs=1m --size={OWN_MIB}m {words}", word(file)))
}

fn read_directly(file: &Path) -> Run {
    ran(file, "--rw=read --direct=1 --time_based --runtime=1")
}

fn read_in_memory(file: &Path) -> Run {
    warm(file);
    ran(file, "--rw=read --invalidate=0 --time_based --runtime=1")
}

const PAGE_CACHE: Scene = Scene {
    finding: "page-cache",
    words: ["a file in memory on a loop device", "with direct I/O"],
    stack: "ext4 --size-mb 900",
    stand: on_one_disk,
    set_up: read_in_memory,
    twin: read_directly,
    same_device: [AsAlone, AsAlone],
    same_file: [AsAlone, AsAlone],
    device_below: [AsAlone, AsAlone],
};

const UNWRITTEN_DATA: Scene = Scene {
    finding: "unwritten-data",
    words: ["a file that was allocated and never written, with direct I/O", "a written file"],
    stand: || {
        let [side, twin] = on_one_disk();
        let file = side.beside.join("unwritten");
        shell(&format!("fallocate --length {}M {1}; sync {1}", OWN_MIB + 16, word(&file)));
        [Side { file, ..side }, twin]
    },
    set_up: read_directly,
    ..PAGE_CACHE
};

const WRITES_IN_MEMORY: Scene = Scene {
    finding: "writes-in-memory",
    words: ["an unsynced write", "with `end_fsync=1`"],
    set_up: |file| {
        // What was dirty before is not the run's.
        shell(&format!("sync {}", word(file)));
        ran(file, "--rw=write")
    },
    twin: |file| ran(file, "--rw=write --end_fsync=1"),
    ..PAGE_CACHE
};

const DIRECT_NOT_HONOURED: Scene = Scene {
    finding: "direct-not-honoured",
    words: ["direct I/O on ext4 with `data=journal`", "with ordered data"],
    stand: || {
        [on_loop("journal", "--direct-io=on", "data=journal"), on_loop("ordered", "--direct-io=on", "data=ordered")]
    },
    set_up: |file| {
        warm(file);
        ran(file, "--rw=read --direct=1 --invalidate=0 --time_based --runtime=1")
    },
    ..PAGE_CACHE
};

const HOST_CACHE: Scene = Scene {
    finding: "host-cache",
    words: ["a loop device whose file is in the page cache", "direct I/O on that file"],
    stand: || [on_loop("cached", "--direct-io=off", "defaults"), on_loop("direct", "--direct-io=on", "defaults")],
    set_up: read_directly,
    ..PAGE_CACHE
};

const FUSE_CACHE: Scene = Scene {
    finding: "fuse-cache",
    words: ["a file in memory below bindfs", "the same file, cold"],
    stack: "bindfs",
    stand: || {
        let side = Side::at(&place("LAB_FUSE"), &place("LAB_LOCAL"));
        let side = Side {
            // Through the mount the twin's file would be cached.
            reader: |side| Neighbour::reading(&side.below.join("file")),
            // From the disk each time: the daemon's reads for the neighbour look like those for the run.
            reader_beside: |side| {
                let [above, below] = [&side.beside, &side.below].map(|folder| folder.join("read"));
                Neighbour::doing(&format!(
                    "dd if={} iflag=nocache count=0 status=none && dd if={} of=/dev/null bs=1M iflag=direct status=none",
                    word(&below),
                    word(&above)
                ))
            },
            ..side
        };
        [side.clone(), side]
    },
    set_up: |file| {
        warm(file);
        ran(file, "--rw=read --invalidate=0 --rate=16m")
    },
    twin: |file| {
        cold(&place("LAB_LOCAL").join(file.file_name().expect("a file")));
        ran(file, "--rw=read")
    },
    same_device: [NotVisible, AsAlone],
    ..PAGE_CACHE
};

const NFS_DATA_CACHE: Scene = Scene {
    finding: "nfs-data-cache",
    words: ["a file in the NFS client's memory", "with direct I/O"],
    stack: "knfsd --timeout 400",
    stand: || {
        // A direct write, or one after each open, makes the client drop the whole file.
        let writer = |side: &Side| {
            let line = format!(
                "import os; file = os.open('{}', os.O_WRONLY)\nwhile True:\n  for mib in range({OWN_MIB}, {OWN_MIB} + 16): \
                 os.pwrite(file, bytes(1 << 20), mib << 20)\n  os.fdatasync(file)",
                word(&side.file)
            );
            Neighbour::doing(&format!("python3 -c \"{line}\""))
        };
        let side = Side { writer, ..Side::at(&place("LAB_NFS"), &place("LAB_SERVER")) };
        [side.clone(), side]
    },
    set_up: |file| {
        warm(file);
        ran(file, "--rw=read --invalidate=0 --rate=16m")
    },
    same_device: [NotVisible, AsAlone],
    same_file: [TwinNotVisible, AsAlone],
    ..PAGE_CACHE
};

const SCENES: [&Scene; 7] =
    [&PAGE_CACHE, &UNWRITTEN_DATA, &WRITES_IN_MEMORY, &DIRECT_NOT_HONOURED, &HOST_CACHE, &FUSE_CACHE, &NFS_DATA_CACHE];

/// Findings that are not on a cache, or do not compare the run's bytes with its storage's, by the data that they use.
const OTHERS: [(&str, &[&str]); 6] = [
    (
        "the run and its machine",
        &[
            "clock",
            "cpu-starved",
            "depth-not-reached",
            "directory-lost",
            "generator-bound",
            "jobs-overlap",
            "latency-off",
            "power-saving",
            "replay-late",
            "request-size",
            "run-failed",
            "stalled",
            "too-short",
        ],
    ),
    (
        "rates in the course of the run, limits, others' load",
        &["burst", "drift", "foreign-load", "lazy-blocks", "memory-limit", "throttled", "too-noisy"],
    ),
    (
        "nodes beside each other",
        &[
            "client-cache",
            "clocks-drift",
            "mounts-differ",
            "node-limit",
            "ranks-apart",
            "ranks-missing",
            "same-offsets",
            "slow-node",
        ],
    ),
    ("commands", &["left-running", "work-differs", "wrote-elsewhere"]),
    (
        "answers of a server of objects",
        &[
            "checksum-cost",
            "client-bound",
            "clock-skew",
            "delayed-ack",
            "first-byte-only",
            "hot-object",
            "no-keep-alive",
            "object-missing",
            "one-endpoint",
            "retries-hidden",
            "rwnd-limited",
        ],
    ),
    (
        "what lies where, syncs, requests for names, a link's speed, jobs on one file",
        &[
            "above-link-speed",
            "attribute-cache",
            "compressible-data",
            "fits-in-memory",
            "memory-storage",
            "not-visible",
            "server-durability",
            "shared-extents",
            "shared-file",
            "sync-ignored",
            "sync-not-flushed",
            "thin-blocks",
        ],
    ),
];

/// A new finding on a cache needs its cells; any other must be in the list of the others.
#[test]
fn every_finding_of_a_cache_has_its_cells() {
    let known: BTreeSet<&str> = fsdyno_findings::catalogue().map(|explanation| explanation.id).collect();
    let here = SCENES.iter().map(|scene| scene.finding);
    let placed: BTreeSet<&str> = here.chain(OTHERS.iter().flat_map(|(_, ids)| ids.iter().copied())).collect();
    assert_eq!(known, placed);
    let tests = include_str!("neighbour_matrix.rs");
    for scene in SCENES {
        let test = format!("#[test]\nfn cells_of_{}() {{", scene.finding.replace('-', "_"));
        assert!(tests.contains(&test), "no {test}");
    }
}

/// The document shows the cells that are tested here. FSDYNO_RELIABILITY=write writes them.
#[test]
fn the_cells_are_those_of_the_document() {
    let mut table = String::from(
        "| finding | set-up | honest twin | same device | same file | device below |\n|---|---|---|---|---|---|\n",
    );
    for scene in SCENES {
        let places =
            scene.cells().map(|(_, [reader, writer])| format!("{}; {}", reader.expectation(), writer.expectation()));
        let ([set_up, twin], places) = (scene.words, places.join(" | "));
        table.push_str(&format!("| `{}` | {set_up} | {twin} | {places} |\n", scene.finding));
    }
    let path = testkit::workspace().join("docs/reliability.md");
    let document = std::fs::read_to_string(&path).expect("the document");
    let (before, rest) = document.split_once("<!-- neighbours -->\n").expect("the table begins");
    let (written, after) = rest.split_once("<!-- end of neighbours -->").expect("the table ends");
    if std::env::var_os("FSDYNO_RELIABILITY").is_some_and(|value| value == "write") {
        let whole = format!("{before}<!-- neighbours -->\n{table}<!-- end of neighbours -->{after}");
        std::fs::write(&path, whole).expect("it is written");
    } else {
        assert_eq!(written, table);
    }
}

impl Scene {
    fn cells(&self) -> [(Where, [Cell; 2]); 3] {
        [
            (Where::SameDevice, self.same_device),
            (Where::SameFile, self.same_file),
            (Where::DeviceBelow, self.device_below),
        ]
    }
}

/// Tests each cell of a finding inside its stack.
#[track_caller]
fn found(scene: &Scene, id: &str) {
    assert_eq!(scene.finding, id);
    let test = format!("neighbour_matrix::cells_of_{}", id.replace('-', "_"));
    inside_beside_others(&test, scene.stack, || {
        let [side, of_twin] = (scene.stand)();
        let mut wrong = Vec::new();
        for (at, cells) in scene.cells() {
            for (cell, writes) in cells.into_iter().zip([false, true]) {
                let beside = |side: &Side, run: fn(&Path) -> Run| {
                    let _neighbour = side.neighbour(at, writes);
                    run(&side.file)
                };
                let (ran, honest) = (beside(&side, scene.set_up), beside(&of_twin, scene.twin));
                let told = format!("{id}, {at:?}, writes {writes}: {:?}; twin: {:?}", said(&ran), said(&honest));
                show(&told);
                let (trap, twin) = cell.holds(id, &ran, &honest);
                let as_it_should_be = trap && !twin;
                if !as_it_should_be {
                    wrong.push(told);
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    });
}

impl Cell {
    fn expectation(self) -> &'static str {
        match self {
            AsAlone => "found",
            TwinNotVisible => "found, the twin may be not visible",
            NotVisible => "not visible at least",
        }
    }

    /// Whether the set-up is found as it must be, and whether the twin has too many findings.
    fn holds(self, id: &str, ran: &Run, twin: &Run) -> (bool, bool) {
        let of = |ran: &Run, id: &str| ran.finding(id).map(|finding| finding.severity);
        let unseen = |ran: &Run| of(ran, "not-visible").is_some();
        let found = of(ran, id) == Some(Severity::Invalid);
        let accused = SCENES.iter().any(|scene| of(twin, scene.finding).is_some()) || twin.status != 0;
        match self {
            AsAlone => (found, accused || unseen(twin)),
            TwinNotVisible => (found, accused),
            NotVisible => (found || unseen(ran), accused),
        }
    }
}

fn said(ran: &Run) -> Vec<String> {
    ran.record
        .findings
        .iter()
        .map(|finding| format!("{} {:?}: {}", finding.id, finding.severity, finding.cause))
        .collect()
}

#[test]
fn cells_of_page_cache() {
    found(&PAGE_CACHE, "page-cache");
}

#[test]
fn cells_of_unwritten_data() {
    found(&UNWRITTEN_DATA, "unwritten-data");
}

#[test]
fn cells_of_writes_in_memory() {
    found(&WRITES_IN_MEMORY, "writes-in-memory");
}

#[test]
fn cells_of_direct_not_honoured() {
    found(&DIRECT_NOT_HONOURED, "direct-not-honoured");
}

#[test]
fn cells_of_host_cache() {
    found(&HOST_CACHE, "host-cache");
}

#[test]
fn cells_of_fuse_cache() {
    found(&FUSE_CACHE, "fuse-cache");
}

#[test]
fn cells_of_nfs_data_cache() {
    found(&NFS_DATA_CACHE, "nfs-data-cache");
}
