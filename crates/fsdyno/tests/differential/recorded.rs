//! Generates cases of recorded I/O, and compares what is recorded; and cases of control groups.

use std::path::PathBuf;

use crate::draw::Drawn;
use crate::random::Random;
use crate::tool::RunResult;

/// The log of a case.
const LOG: &str = "rec.log";

/// Options of a replay with their values.
#[rustfmt::skip]
const REPLAYED: &[(&str, &[&str])] = &[
    ("replay_no_stall", &["0", "1"]),
    ("replay_redirect", &["z"]),
    ("replay_scale", &["1", "2", "3"]),
    ("replay_align", &["512", "4k"]),
    ("replay_time_scale", &["50", "100", "1000"]),
    // 3.33 skips others in traces of blktrace alone.
    ("replay_skip", &["trim"]),
    ("read_iolog_chunked", &["1"]),
    ("bs", &["8k"]),
];

impl Drawn {
    /// Some cases replay a log instead, record their own I/O, or have a control group.
    pub(crate) fn recorded(&mut self, number: u64, random: &mut Random) {
        match random.below(100) {
            0..=5 => self.replay(random),
            6..=11 if self.records() => self.push("write_iolog", LOG),
            12..=14 if groups().is_some() => {
                self.push("cgroup", &group(number));
                if random.percent(30) {
                    self.push("cgroup_nodelete", "0");
                }
                if random.percent(20) {
                    self.push("cgroup_weight", random.one_of(&["100", "500"]));
                }
            }
            _ => {}
        }
    }

    /// Whether it is one job with I/O: clones would write one record, and fio leaves an empty one of a job that does nothing.
    fn records(&self) -> bool {
        let others = ["numjobs", "port", "create_only"];
        self.value("rw").is_some() && others.iter().all(|name| self.value(name).is_none())
    }

    /// A log of one or two files, in either version.
    fn replay(&mut self, random: &mut Random) {
        self.words.truncate(1);
        let engine = random.one_of(&["psync", "sync", "pvsync2", "libaio", "io_uring"]);
        self.push("ioengine", engine);
        if ["libaio", "io_uring"].contains(&engine) {
            self.push("iodepth", random.one_of(&["1", "4", "16"]));
        }
        self.push("read_iolog", LOG);
        for (name, values) in REPLAYED {
            if random.percent(15) {
                self.push(name, random.one_of(values));
            }
        }
        self.words.push("--thread".to_owned());
        let both = ["x", "y"];
        let names = &both[..1 + random.below(2)];
        self.files = names.iter().chain(&["z"]).map(|name| ((*name).to_owned(), vec![0x5a; 65_536])).collect();
        self.files.push((LOG.to_owned(), log(names, random).into_bytes()));
    }
}

fn log(names: &[&str], random: &mut Random) -> String {
    let version = 2 + random.below(2);
    let mut time = 0;
    let mut text = format!("fio version {version} iolog\n");
    let mut line = |pause: usize, name: &str, rest: &str| {
        time += pause;
        match version {
            3 => text += &format!("{time} {name} {rest}\n"),
            _ if pause > 0 => text += &format!("{name} wait {pause} 0\n{name} {rest}\n"),
            _ => text += &format!("{name} {rest}\n"),
        }
    };
    for action in ["add", "open"] {
        names.iter().for_each(|name| line(0, name, action));
    }
    for _ in 0..3 + random.below(20) {
        let (name, pause) = (random.one_of(names), random.one_of(&[0, 0, 20, 300]));
        let kind = random.one_of(&["read", "write", "write", "read", "sync", "datasync"]);
        let (length, place) = (random.one_of(&[512, 4096, 4096, 16_384]), random.below(90) * 512);
        let rest = if kind.ends_with("sync") { format!("{kind} 0 0") } else { format!("{kind} {place} {length}") };
        line(pause, name, &rest);
    }
    names.iter().for_each(|name| line(0, name, "close"));
    text
}

/// The transfers of a record, without times: their files, offsets and lengths.
fn transfers(ran: &RunResult) -> Option<Vec<String>> {
    let text = String::from_utf8_lossy(ran.files.get(LOG)?).into_owned();
    let transfer = |line: &str| {
        let (_, rest) = line.split_once(' ')?;
        ["read", "write", "trim"].contains(&rest.split(' ').nth(1)?).then(|| rest.to_owned())
    };
    Some(text.lines().filter_map(transfer).collect())
}

/// Compares what both have recorded.
pub(crate) fn compare(fio: &RunResult, ours: &RunResult, found: &mut Vec<String>) {
    let (theirs, ours) = (transfers(fio), transfers(ours));
    if theirs != ours {
        let first = theirs.iter().flatten().zip(ours.iter().flatten()).find(|(theirs, ours)| theirs != ours);
        let counts = [&theirs, &ours].map(|list| list.as_ref().map(Vec::len));
        found.push(format!("the records differ: {counts:?} lines, first {first:?}"));
    }
}

/// The folder of the blkio controller of cgroup version 1, if groups can be made in it.
fn groups() -> Option<PathBuf> {
    let mounts = std::fs::read_to_string("/proc/mounts").unwrap_or_default();
    let fields = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let blkio = |mount: &Vec<String>| mount[2] == "cgroup" && mount[3].split(',').any(|word| word == "blkio");
    let mount = PathBuf::from(&mounts.lines().map(fields).find(blkio)?[1]);
    std::fs::metadata(mount.join("tasks")).is_ok_and(|file| !file.permissions().readonly()).then_some(mount)
}

/// Two runs of the test at the same time have groups of their own.
fn group(number: u64) -> String {
    format!("fsdyno-drawn-{}-{number}", std::process::id())
}

/// The group that a run has left.
pub(crate) fn left_group(drawn: &Drawn) -> Option<String> {
    let path = groups()?.join(drawn.value("cgroup")?);
    path.exists().then(|| {
        // Nobody is in it any more, so that it can be removed for the next run.
        let removed = std::fs::remove_dir(&path);
        format!("{} was left ({removed:?})", path.display())
    })
}
