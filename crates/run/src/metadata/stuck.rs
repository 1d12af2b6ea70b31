//! Words the messages about a worker whose metadata operation does not return.

use fsdyno_os::errno::ETIMEDOUT;
use fsdyno_results::JobError;

use crate::stall::worker::still_in;

const SECOND_NS: u64 = 1_000_000_000;

/// The message. `name`: what it works on. `thread`: the worker's thread id.
pub(super) fn sentence(phase: &str, name: &str, thread: u32, silent_ns: u64) -> String {
    let seconds = silent_ns / SECOND_NS;
    format!("{phase}: {name} has not come back for {seconds} s; its worker is in {}", operation(thread))
}

/// The message when the study was told to end.
pub(super) fn sentence_to_end(phase: &str, name: &str, thread: u32, lost_ns: u64) -> String {
    format!("{phase}: a worker {}", still_in(format_args!("in {} of {name}", operation(thread)), lost_ns))
}

/// The error of a worker that is abandoned, with its message.
pub(super) fn abandoned(phase: &str, name: &str, thread: u32, silent_ns: u64) -> (JobError, String) {
    let (operation, seconds) = (operation(thread), silent_ns / SECOND_NS);
    let text = format!("no answer for {seconds} s about {name}");
    let sentence = format!(
        "fsdyno: {phase}: a worker is stuck in {operation} of {name}: no answer for {seconds} s (errno {ETIMEDOUT}). \
         It is left behind, and so are its files"
    );
    (JobError { code: ETIMEDOUT, function: operation, text }, sentence)
}

/// The system call that the thread waits in, in a word.
fn operation(thread: u32) -> String {
    fsdyno_probe::waiting_of(thread)
        .map_or_else(|_| "a call that is not visible".to_string(), |waiting| waiting.operation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_it_is_stuck_is_said() {
        let (error, sentence) = abandoned("write", "files/test7.txt", 0, 31_000_000_000);
        assert_eq!((error.code, error.text.as_str()), (110, "no answer for 31 s about files/test7.txt"));
        assert!(sentence.contains("a call that is not visible of files/test7.txt: no answer for 31 s (errno 110)"));
    }
}
