//! Tests ends with obstacles: an open that never returns, a worker that returns late.

mod conducted;

use std::ffi::CStr;
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::thread::JoinHandle;

use fsdyno_os::clock::{Clock, RealClock};
use fsdyno_os::files::Directory;
use fsdyno_results::{Note, RunRecord};
use fsdyno_run::metadata::operations::{self, Item, OperationContext};
use fsdyno_run::metadata::{self, Progress, Task};
use fsdyno_run::{Bounds, CommandLine, Conditions, Control, JointRun, Observer, OtherRanks, StopRule};

/// Stops the run when it is told to, and lets the first job's open return after it was abandoned.
struct LateOpener {
    control: Arc<Control>,
    first: std::path::PathBuf,
    opener: Option<JoinHandle<File>>,
    messages: Vec<String>,
}

impl Observer for LateOpener {
    fn idle(&mut self) {
        self.control.stop_by_signal(2);
    }

    #[expect(clippy::disallowed_methods, reason = "a test may panic where there is no thread")]
    fn message(&mut self, text: &str) {
        self.messages.push(text.to_owned());
        if text.contains("worker 1 is stuck") {
            let path = self.first.clone();
            let open = move || OpenOptions::new().write(true).open(path).expect("the FIFO is there");
            self.opener = Some(std::thread::spawn(open));
        }
    }
}

fn fifo(path: &Path) -> bool {
    Command::new("mkfifo").arg(path).status().is_ok_and(|status| status.success())
}

#[test]
fn a_worker_that_opens_after_it_was_left_behind_is_counted_once_and_does_nothing() {
    let place = tempfile::tempdir().expect("a directory for temporary files");
    let paths = ["a", "b", "c"].map(|name| place.path().join(name));
    assert!(paths.iter().all(|path| fifo(path)), "mkfifo is everywhere");
    // The third job has three more seconds than the others: it is still awaited when the first returns.
    let words = paths.each_ref().map(|path| {
        let name = path.file_name().expect("a name").to_string_lossy();
        let block = if name == "c" { "1m --size=1m --iodepth=3 --ioengine=libaio" } else { "4k --size=64k" };
        format!("--name={name} --filename={} --rw=read --bs={block}", path.display())
    });
    let jobs = conducted::jobs(&words.join(" "));
    let control = Arc::new(Control::with_bounds(Bounds::of_seconds(1)));
    let mut observer =
        LateOpener { control: Arc::clone(&control), first: paths[0].clone(), opener: None, messages: Vec::new() };
    let record = conducted::conduct(&jobs, control, &mut observer);
    let opener = observer.opener.expect("the first was left behind");
    drop(opener.join().expect("its open returned"));
    let ended: Vec<_> =
        record.jobs.iter().map(|job| (job.error.as_ref().map(|error| error.code), job.directions.read.ios)).collect();
    assert_eq!(ended, [(Some(110), 0); 3]);
    let stuck = |number: u32| {
        observer.messages.iter().filter(|text| text.contains(&format!("worker {number} is stuck"))).count()
    };
    assert_eq!([1, 2, 3].map(stuck), [1, 1, 1], "{:?}", observer.messages);
}

/// An observer that does nothing.
struct Silent;

impl Observer for Silent {}

#[test]
fn a_run_whose_rate_has_settled_ends_early_and_its_record_says_so() {
    let words = "--name=a --ioengine=null --rw=randread --size=1g --time_based --runtime=600";
    let line = CommandLine::parse(&words.split(' ').map(str::to_owned).collect::<Vec<_>>()).expect("it is a run");
    let ready = line.look(|_| ()).plan(1).expect("it can be planned").identify_storages();
    // A single window agrees with itself.
    let stop_rule = StopRule::Settled { least_s: 0.0, windows: 1, tolerance: 0.05 };
    let record = ready.run(Conditions { version: "", control: Arc::default(), stop_rule }, &mut Silent);
    assert!(record.jobs[0].directions.read.ios > 0 && record.jobs[0].job_runtime_ms < 600_000, "{:?}", record.jobs[0]);
    let notes: Vec<&str> = record.notes.iter().map(|note| note.id.as_str()).collect();
    assert_eq!((notes, record.signal), (vec!["settled"], None));
}

/// Stops the task once it has begun.
struct Stopper {
    control: Arc<Control>,
    messages: Vec<String>,
}

impl Observer for Stopper {
    fn metadata(&mut self, _: &Progress) {
        self.control.stop();
    }

    fn message(&mut self, text: &str) {
        self.messages.push(text.to_owned());
    }
}

#[test]
fn an_operation_on_a_name_that_never_comes_back_is_left_behind() {
    let place = tempfile::tempdir().expect("a directory for temporary files");
    let path = place.path().join("fifo");
    assert!(fifo(&path), "mkfifo is everywhere");
    std::fs::write(place.path().join("file"), "test\n").expect("the place is writable");
    let item = |index, name: &CStr| Item { index, name: name.into(), other: None, expected: 5 };
    let control = Arc::new(Control::with_bounds(Bounds::of_seconds(1)));
    let context = OperationContext::new(Directory::open(place.path()).expect("it is there"), 5);
    let task = Task {
        title: "read".to_owned(),
        prepare: operations::on_files(Arc::new(context), operations::read),
        has_part: false,
        items: vec![item(0, c"file"), item(1, c"fifo")],
        threads: 2,
        limit_ns: None,
        wears_out: false,
        more_ns: 0,
        control: Arc::clone(&control),
    };
    let mut observer = Stopper { control: Arc::clone(&control), messages: Vec::new() };
    let outcome = metadata::perform(task, &mut observer).expect("there are threads");
    // The blocked open returns now.
    drop(OpenOptions::new().write(true).open(path).expect("the FIFO is there"));
    let error = outcome.error.map(|error| (error.code, error.text));
    assert_eq!(error, Some((110, "no answer for 1 s about fifo".to_owned())));
    assert_eq!((outcome.done, outcome.failures, outcome.latency.moments.count), (vec![0], 1, 1));
    assert!(control.abandoned() && observer.messages.len() == 1, "{:?}", observer.messages);
}

/// A rank of a group in this process. All wait for each other where a phase has worn out.
#[derive(Debug)]
struct Rank {
    number: u32,
    all: Arc<Barrier>,
    most: Arc<AtomicU64>,
}

impl OtherRanks for Rank {
    fn ranks(&self) -> u32 {
        3
    }

    fn agree(&self, _: &JointRun<'_>) -> Result<Vec<Note>, String> {
        Ok(Vec::new())
    }

    fn layers(&self) -> u32 {
        1
    }

    fn made(&self, _: &[(PathBuf, u64)]) {}

    fn filled(&self) -> u64 {
        0
    }

    fn laid_out(&self) {}

    fn ready(&self, _: u32) -> u64 {
        0
    }

    fn ended(&self, _: u32, _: u64, _: u64) {}

    fn read_from(&self, _: &Path) -> Option<PathBuf> {
        None
    }

    fn part(&self, _: bool) -> u32 {
        self.number
    }

    fn wear_out(&self, done: u64) -> u64 {
        self.most.fetch_max(done, Ordering::SeqCst);
        self.all.wait();
        self.most.load(Ordering::SeqCst)
    }

    fn gather(&self, own: RunRecord) -> RunRecord {
        own
    }

    fn clear(&self, _: &Path) {}

    fn alive(&self) {}

    fn signalled(&self, _: i32) {}
}

/// What each of three ranks does, all at the same time.
#[expect(clippy::disallowed_methods, reason = "a test may panic where there is no thread")]
fn of_three<T: Send>(rank: impl Fn(u64, Arc<Control>) -> T + Sync) -> Vec<T> {
    let (all, most) = (Arc::new(Barrier::new(3)), Arc::new(AtomicU64::new(0)));
    std::thread::scope(|scope| {
        let begin = |number: u32| {
            let own = Rank { number, all: Arc::clone(&all), most: Arc::clone(&most) };
            let control = Control::default().with_other_ranks(Some(Arc::new(own)));
            let rank = &rank;
            scope.spawn(move || rank(number.into(), Arc::new(control)))
        };
        let ranks = [0, 1, 2].map(begin);
        ranks.into_iter().map(|rank| rank.join().expect("the rank ends")).collect()
    })
}

#[test]
fn ranks_that_wear_out_write_as_much_as_the_fastest_each_into_its_own_blocks() {
    let place = tempfile::tempdir().expect("a directory for temporary files");
    for engine in ["psync", "libaio --iodepth=4"] {
        let path = place.path().join(&engine[..5]);
        let records = of_three(|rank, control| {
            let words = format!(
                "--name=a --filename={} --rw=write --bs=1000 --size=60m --zonemode=strided --zonesize=2000 \
                 --zonerange=2000 --zoneskip=4000 --offset_increment=2000 --create_on_open=1 --fallocate=none \
                 --runtime=300ms --rate_iops={} --buffer_pattern=0x1{rank} --ioengine={engine}",
                path.display(),
                200 * (rank + 1),
            );
            let line =
                CommandLine::parse(&words.split(' ').map(str::to_owned).collect::<Vec<_>>()).expect("it is a run");
            let ready = line.look(|_| ()).plan(1).expect("it can be planned").identify_storages();
            ready.run(Conditions { version: "", control, stop_rule: StopRule::WearOut }, &mut Silent)
        });
        let requests: Vec<u64> = records.iter().map(|record| record.jobs[0].directions.write.ios).collect();
        assert!(requests[0] > 0 && requests == [requests[0]; 3], "{requests:?}");
        let written = std::fs::read(&path).expect("they wrote it");
        let owner = |at: usize| 0x10 + (at / 2000 % 3) as u8;
        let strange = (0..written.len()).find(|at| written[*at] != 0 && written[*at] != owner(*at));
        assert_eq!(strange, None, "each rank writes its own blocks alone");
        let own = |rank: u8| written.iter().filter(|byte| **byte == 0x10 + rank).count() as u64;
        assert_eq!([own(0), own(1), own(2)], [requests[0] * 1000; 3], "no request twice, none left out");
    }
}

#[test]
fn ranks_that_wear_out_do_as_many_operations_as_the_fastest() {
    let outcomes = of_three(|rank, control| {
        let prepare: operations::Prepare = Box::new(move || {
            Box::new(move |_| {
                let clock = RealClock::shared();
                clock.sleep_until_ns(clock.now_ns() + (rank + 1) * 1_000_000);
                Ok(0)
            })
        });
        let item = |index| Item { index, name: c"a".into(), other: None, expected: 0 };
        let task = Task {
            title: "wait".to_owned(),
            prepare,
            has_part: false,
            items: (0..10_000).map(item).collect(),
            threads: 1,
            limit_ns: Some(100_000_000),
            wears_out: true,
            more_ns: 0,
            control,
        };
        metadata::perform(task, &mut Silent).expect("there are threads").done.len()
    });
    assert!(outcomes[0] > 0 && outcomes[0] < 10_000 && outcomes == [outcomes[0]; 3], "{outcomes:?}");
}
