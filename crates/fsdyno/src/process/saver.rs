//! Saves the results so far of a run, on a separate thread: a busy disk, perhaps busy with the run itself, must not
//! block the conductor.

use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;

use super::streams::print_stderr;

/// Stack of the thread, bytes: the writer recurses into nested values.
const STACK_BYTES: usize = 512 * 1024;

/// Saves the latest item that it was given; items that come faster than they can be saved are skipped.
pub(crate) struct Saver<T> {
    shared: Arc<Shared<T>>,
    thread: Option<JoinHandle<()>>,
}

struct Shared<T> {
    slot: Mutex<Slot<T>>,
    changed: Condvar,
}

struct Slot<T> {
    latest: Option<T>,
    over: bool,
}

impl<T> Shared<T> {
    fn slot(&self) -> MutexGuard<'_, Slot<T>> {
        self.slot.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// The next item to save; `None`: there will be none.
    fn next(&self) -> Option<T> {
        let mut slot = self.slot();
        loop {
            if let Some(latest) = slot.latest.take() {
                return Some(latest);
            }
            if slot.over {
                return None;
            }
            slot = self.changed.wait(slot).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
    }
}

impl<T: Send + 'static> Saver<T> {
    /// Starts the thread, on which `save` is called.
    pub(crate) fn begin(mut save: impl FnMut(&T) + Send + 'static) -> Saver<T> {
        let slot = Mutex::new(Slot { latest: None, over: false });
        let shared = Arc::new(Shared { slot, changed: Condvar::new() });
        let given = Arc::clone(&shared);
        let thread = fsdyno_os::thread::begin("saver", STACK_BYTES, move || {
            while let Some(latest) = given.next() {
                save(&latest);
            }
        });
        if let Err(error) = &thread {
            print_stderr(&format!("note: cannot start a thread: {error}; the record is saved at the end only"));
        }
        Saver { shared, thread: thread.ok() }
    }

    /// Gives an item to save, which replaces one that still waits.
    pub(crate) fn offer(&self, latest: T) {
        self.shared.slot().latest = Some(latest);
        self.shared.changed.notify_one();
    }
}

impl<T> Drop for Saver<T> {
    /// Waits until the latest is saved.
    fn drop(&mut self) {
        self.shared.slot().over = true;
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            // A panic was reported where it happened.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn the_latest_is_saved_and_what_came_too_fast_is_not() {
        let (saved, seen) = channel();
        let (go_on, wait) = channel();
        let saver = Saver::begin(move |number: &u32| {
            saved.send(*number).unwrap();
            wait.recv().unwrap();
        });
        saver.offer(1);
        assert_eq!(seen.recv(), Ok(1));
        // The first item is still being saved.
        saver.offer(2);
        saver.offer(3);
        go_on.send(()).unwrap();
        go_on.send(()).unwrap();
        drop(saver);
        assert_eq!(seen.iter().collect::<Vec<_>>(), [3]);
    }
}
