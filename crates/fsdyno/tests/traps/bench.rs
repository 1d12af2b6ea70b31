//! A directory on the disk that holds the build, and command lines run in it.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use fsdyno_results::evidence::{RecordedFact, StorageClass};
use fsdyno_results::{Finding, RunRecord, Severity};
use testkit::TestDirectory;

/// Size of the test files, MiB: an 80th of the memory of a small machine, and read in a second.
pub(crate) const FILE_MIB: u64 = 64;

/// The tests share one device: one at a time.
static DEVICE: Mutex<()> = Mutex::new(());

/// A directory of the test, and the device for itself.
pub(crate) struct Bench {
    pub(crate) place: TestDirectory,
    _device: MutexGuard<'static, ()>,
}

/// What a command line gave.
pub(crate) struct RunResult {
    pub(crate) record: RunRecord,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Bench {
    /// On a block filesystem with direct I/O whose device can be watched; else the reason is printed.
    pub(crate) fn new() -> Option<Bench> {
        // A test that failed has done no harm to the device.
        let device = DEVICE.lock().unwrap_or_else(PoisonError::into_inner);
        let bench = Bench { place: TestDirectory::new(), _device: device };
        let unusable = bench.unusable();
        if let Some(reason) = &unusable {
            testkit::skip(reason);
        }
        unusable.is_none().then_some(bench)
    }

    fn unusable(&self) -> Option<String> {
        let ran = self.run("--name=look --filename=look --rw=write --bs=4k --size=64k --direct=1");
        if let Some(error) = &ran.record.jobs[0].error {
            return Some(format!("no direct I/O in the build directory: {}", error.text));
        }
        match ran.record.storages().next() {
            Some(storage) if storage.class == StorageClass::Block => {}
            other => return Some(format!("the build directory is no block filesystem: {other:?}")),
        }
        match &ran.record.only_node().unwrap().ledger.as_ref()?.samples.last()?.devices {
            RecordedFact::Value(devices) if devices.is_empty() => {
                Some("no device behind the build directory".to_owned())
            }
            RecordedFact::Value(_) => None,
            RecordedFact::NotVisible(reason) => Some(reason.clone()),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.place.path(name)
    }

    /// Runs a command line of the fio face to its end.
    #[track_caller]
    pub(crate) fn run(&self, words: &str) -> RunResult {
        let testkit::RunResult { stdout, stderr, .. } =
            self.place.run(&format!("fio --findings=all {words} --record=record.json"));
        let saved = std::fs::read_to_string(self.path("record.json"));
        let saved = saved.unwrap_or_else(|error| panic!("{words}: no record: {error}\n{stderr}"));
        let record = RunRecord::from_json(&saved).unwrap_or_else(|error| panic!("{words}: {error}"));
        RunResult { record, stdout, stderr }
    }

    /// Starts a command line, interrupts it as soon as all of this stands on stderr, and gives what stood there then. It
    /// fails if the line comes to its end before.
    #[track_caller]
    pub(crate) fn interrupted(&self, words: &str, until: &[&str]) -> String {
        let mut running = self.place.start(&format!("fio --findings=all {words}"));
        running.wait_until(words, |running| until.iter().all(|part| running.stderr().contains(part)));
        let stderr = running.stderr();
        running.signal("INT");
        assert_eq!(running.finish().status, Some(128), "it was interrupted, and had not ended by itself");
        stderr
    }

    /// A file of random data, on the disk and not in memory.
    #[track_caller]
    pub(crate) fn file(&self, name: &str) {
        let ran = self.run(&format!(
            "--name=fill --filename={name} --rw=write --bs=1m --size={FILE_MIB}m --end_fsync=1 --findings=off"
        ));
        assert_eq!(ran.record.jobs[0].error, None);
        // The next job that invalidates the cache drops its pages: they are clean.
    }
}

/// Share of a run in which some task of the machine waited for a CPU, from which on it cannot be judged.
const BUSY: f64 = 0.3;

/// Time in which some task of the machine waited for a CPU, s; `None`: this kernel does not count it.
fn waited_s() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/pressure/cpu").ok()?;
    let micros = text.lines().next()?.rsplit_once("total=")?.1.parse::<f64>().ok()?;
    Some(micros / 1e6)
}

/// The first of five runs that shows what is looked for. `None`: during all of them other programs had the CPUs, which is
/// printed; one of the runs beside none of them has to show it.
#[track_caller]
pub(crate) fn one_of_five(
    what: &str,
    run: impl FnMut() -> RunResult,
    shows: impl Fn(&RunResult) -> bool,
) -> Option<RunResult> {
    one_of(5, what, run, shows)
}

/// The same where each run beside no other program has to show it.
#[track_caller]
pub(crate) fn the_first_idle_one(
    what: &str,
    run: impl FnMut() -> RunResult,
    shows: impl Fn(&RunResult) -> bool,
) -> Option<RunResult> {
    one_of(1, what, run, shows)
}

/// The first run that shows what is looked for; of those beside no other program, one of the first `idle_max` must.
#[expect(clippy::disallowed_methods, reason = "the share of a run that it waited for a CPU; no I/O is timed with it")]
#[track_caller]
fn one_of(
    idle_max: u32,
    what: &str,
    mut run: impl FnMut() -> RunResult,
    shows: impl Fn(&RunResult) -> bool,
) -> Option<RunResult> {
    let mut idle = 0;
    for _ in 0..5 {
        let (before, began) = (waited_s(), Instant::now());
        let ran = run();
        if shows(&ran) {
            return Some(ran);
        }
        let waited = waited_s().zip(before).map(|(after, before)| (after - before) / began.elapsed().as_secs_f64());
        idle += u32::from(waited.is_none_or(|waited| waited < BUSY));
        assert!(idle < idle_max, "{idle} runs beside no other program do not show {what}");
    }
    assert!(idle == 0, "{idle} of 5 runs beside no other program do not show {what}");
    testkit::skip(&format!("{what} cannot be judged here: other programs have the CPUs"));
    None
}

impl RunResult {
    /// The finding of this kind.
    #[track_caller]
    pub(crate) fn one(&self, id: &str) -> &Finding {
        self.find(id).unwrap_or_else(|| panic!("no {id} in {:#?}\n{}", self.record.findings, self.stderr))
    }

    pub(crate) fn find(&self, id: &str) -> Option<&Finding> {
        self.record.findings.iter().find(|finding| finding.id == id)
    }

    /// The trap was seen, is said on stderr, and the number it speaks against is printed all the same.
    #[track_caller]
    pub(crate) fn caught(&self, id: &str, severity: Severity) {
        assert_eq!(self.one(id).severity, severity, "{:#?}", self.one(id));
        assert!(self.stderr.contains(&format!("[{id}]")), "{}", self.stderr);
        assert!(self.stderr.contains("  next: "), "{}", self.stderr);
        assert!(self.stdout.contains("IOPS="), "{}", self.stdout);
    }

    /// Neither this trap nor anything invalid. Cautions about the machine are its neighbours' doing.
    #[track_caller]
    pub(crate) fn honest(&self, id: &str) {
        let against: Vec<&Finding> = self
            .record
            .findings
            .iter()
            .filter(|finding| finding.id == id || finding.severity == Severity::Invalid)
            .collect();
        assert!(against.is_empty(), "{against:#?}");
        assert!(!self.stderr.contains(&format!("[{id}]")), "{}", self.stderr);
    }
}
