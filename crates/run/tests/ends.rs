//! Ends that something stands in the way of: an open that never returns, a worker that comes back late.

mod conducted;

use std::fs::{File, OpenOptions};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::thread::JoinHandle;

use run::{Bounds, Control, Observer};

/// Stops the run when it is told to, and lets the first job's open return once it was given up.
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
    // The third has three seconds more than the others: it is still awaited when the first comes back.
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
