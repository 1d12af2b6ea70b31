//! Runs the binary inside a stack.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use fsdyno_results::evidence::{LedgerSample, Moment, WireCounters};
use fsdyno_results::{Finding, ReadWrite, RunRecord, Severity, Study};
use serde_json::Value;

use testkit::stack::show;
use testkit::{text, word};

/// The directory of records.
pub(crate) struct Bench {
    folder: tempfile::TempDir,
    /// The link's speed, which is passed to the program.
    link_mbit: Option<u32>,
    /// The program that starts ours: `unshare --net`.
    before: &'static [&'static str],
}

/// Time limit of a run, s: a hang then names its words, before the whole stack is ended without a name.
const RUN_S: &str = "450";
/// The status of a program that did not end in time.
const KILLED: i32 = 128 + 9;

/// A run of the fio face.
pub(crate) struct Run {
    pub(crate) status: i32,
    pub(crate) stderr: String,
    pub(crate) record: RunRecord,
}

impl Bench {
    pub(crate) fn new() -> Bench {
        Bench { folder: tempfile::tempdir().expect("a folder for records"), link_mbit: None, before: &[] }
    }

    /// A bench that passes the link's speed to the program.
    pub(crate) fn with_link_mbit(link_mbit: u32) -> Bench {
        Bench { link_mbit: Some(link_mbit), ..Bench::new() }
    }

    /// A bench that starts the program by another one.
    pub(crate) fn started_by(before: &'static [&'static str]) -> Bench {
        Bench { before, ..Bench::new() }
    }

    /// Runs the program with these words.
    pub(crate) fn run(&self, words: &[&str]) -> Output {
        let program = testkit::program();
        let all = [&["timeout", "--signal=KILL", RUN_S], self.before, &[&program], words].concat();
        let mut command = Command::new(all[0]);
        command.args(&all[1..]).env("XDG_DATA_HOME", self.folder.path()).current_dir(self.folder.path());
        command.envs(self.link_mbit.map(|speed| ("FSDYNO_LINK_MBIT", speed.to_string())));
        let output = command.output().expect("the program starts");
        let ended = output.status.code().is_some_and(|code| code != KILLED);
        assert!(ended, "{words:?} did not end within {RUN_S} s: {}", text(&output.stderr));
        output
    }

    /// Runs a fio line, which must save its record.
    #[track_caller]
    pub(crate) fn fio(&self, line: &str) -> Run {
        let record = self.path("record.json");
        let option = format!("--record={}", record.display());
        let words: Vec<&str> = line.split_whitespace().chain([option.as_str(), "--findings=all"]).collect();
        let output = self.run(&words);
        let stderr = text(&output.stderr);
        let kept = std::fs::read_to_string(&record).unwrap_or_else(|error| panic!("no record: {error}\n{stderr}"));
        let record = RunRecord::from_json(&kept).expect("a record");
        Run { status: output.status.code().expect("an exit status"), stderr, record }
    }

    /// Asks a question; returns its study. The status must be 0.
    #[track_caller]
    pub(crate) fn ask(&self, words: &[&str]) -> Study {
        let output = self.run(&[words, &["--json", "--quiet"]].concat());
        assert_eq!(output.status.code(), Some(0), "{words:?}\n{}", text(&output.stderr));
        Study::from_json(&text(&output.stdout)).expect("a study")
    }

    /// The same with any status.
    #[track_caller]
    pub(crate) fn ask_any(&self, words: &[&str]) -> Study {
        let output = self.run(&[words, &["--json", "--quiet"]].concat());
        Study::from_json(&text(&output.stdout)).unwrap_or_else(|error| panic!("{error:?} {}", text(&output.stderr)))
    }

    /// The output of `inspect` for a place.
    #[track_caller]
    pub(crate) fn inspect(&self, place: &Path) -> Value {
        let output = self.run(&["inspect", "--json", word(place)]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        serde_json::from_slice(&output.stdout).expect("one document")
    }

    /// A file beside the records.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

impl Run {
    /// The finding with this id; `None` if there is none.
    pub(crate) fn finding(&self, id: &str) -> Option<&Finding> {
        self.record.findings.iter().find(|finding| finding.id == id)
    }

    #[track_caller]
    pub(crate) fn invalid(&self, id: &str) -> &Finding {
        let ledger = self.record.only_node().and_then(|node| node.ledger.as_ref());
        let finding = self.finding(id).unwrap_or_else(|| panic!("no {id}: {}\n{ledger:#?}", self.stderr));
        assert_eq!(finding.severity, Severity::Invalid, "{finding:?}");
        finding
    }

    #[track_caller]
    pub(crate) fn caution(&self, id: &str) -> &Finding {
        let finding = self.finding(id).unwrap_or_else(|| panic!("no {id}: {:#?}", self.record.findings));
        assert_eq!(finding.severity, Severity::Caution, "{finding:?}");
        finding
    }

    /// Checks that none of these was found.
    #[track_caller]
    pub(crate) fn silent(&self, ids: &[&str]) {
        for id in ids {
            assert!(self.finding(id).is_none(), "{:?}", self.finding(id));
        }
    }

    /// What the jobs moved between the first and the last sample, and the traffic on the wire.
    #[track_caller]
    pub(crate) fn moved(&self) -> (ReadWrite<u64>, WireCounters) {
        let ledger = self.record.only_node().unwrap().ledger.as_ref().expect("a ledger");
        let sample = |moment| ledger.samples.iter().find(|sample| sample.moment == moment).expect("both ends");
        let (begin, end): (&LedgerSample, &LedgerSample) = (sample(Moment::Begin), sample(Moment::End));
        assert_eq!(begin.application.bytes, ReadWrite::default());
        (end.application.bytes, end.wire.value().cloned().unwrap_or_else(|| panic!("{:?}", end.wire.reason())))
    }
}

/// Checks that `two` equals `one` up to this share.
#[track_caller]
pub(crate) fn near(one: u64, two: u64, share: f64, what: &str) {
    let off = (two as f64 / one as f64 - 1.0).abs();
    show(&format!("{what}: {one} and {two}, {:.2} % apart", off * 100.0));
    assert!(off <= share, "{what}: {one} and {two}, {:.2} % apart", off * 100.0);
}
