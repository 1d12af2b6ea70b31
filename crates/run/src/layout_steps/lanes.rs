//! Makes layouts at the same time (`create_serialize=0`): a thread for each job whose files no other makes.

use std::collections::HashSet;
use std::path::Path;

use super::STACK_BYTES;
use crate::plan::LayoutStep;

/// The steps that may run at the same time, and the steps that make a file of those again, for later.
pub(super) fn of<'plan>(
    steps: impl Iterator<Item = &'plan LayoutStep>,
) -> (Vec<&'plan LayoutStep>, Vec<&'plan LayoutStep>) {
    let mut made: HashSet<&Path> = HashSet::new();
    // All files of a step count, including those that exist already.
    steps.partition(|step| step.files.iter().fold(true, |first, (path, ..)| made.insert(path) && first))
}

/// Does each step on a thread of its own; if none can be started, on this one.
pub(super) fn at_once<'plan>(steps: &[&'plan LayoutStep], work: &(dyn Fn(&'plan LayoutStep) + Sync)) {
    std::thread::scope(|scope| {
        for step in steps {
            if fsdyno_os::thread::begin_scoped(scope, "layout", STACK_BYTES, || work(step)).is_err() {
                work(step);
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use std::sync::{Condvar, Mutex};
    use std::time::Duration;

    use super::*;
    use crate::plan::LayoutMethod;

    fn step(worker: usize, files: &[&str]) -> LayoutStep {
        let files = files.iter().map(|path| (Path::new(path).into(), 1, LayoutMethod::Fill)).collect();
        LayoutStep { worker, job_name: "a".to_owned(), files }
    }

    #[test]
    fn all_of_them_work_before_any_of_them_is_done() {
        let steps = [step(0, &["a"]), step(1, &["b"]), step(2, &["c"])];
        let (begun, all_begun) = (Mutex::new(0), Condvar::new());
        at_once(&steps.iter().collect::<Vec<_>>(), &|_| {
            let mut count = begun.lock().unwrap();
            *count += 1;
            all_begun.notify_all();
            let waited = all_begun.wait_timeout_while(count, Duration::from_secs(60), |count| *count < steps.len());
            assert!(!waited.unwrap().1.timed_out(), "one begins when another one is done");
        });
    }

    #[test]
    fn who_makes_a_file_anew_waits() {
        let steps = [step(0, &["a", "b"]), step(1, &["c"]), step(2, &["b", "d"]), step(3, &["d"]), step(4, &["e"])];
        let (at_once, later) = of(steps.iter());
        let workers = |steps: Vec<&LayoutStep>| steps.iter().map(|step| step.worker).collect::<Vec<_>>();
        assert_eq!((workers(at_once), workers(later)), (vec![0, 1, 4], vec![2, 3]));
    }
}
