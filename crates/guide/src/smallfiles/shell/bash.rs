//! Bash, with the published loops unchanged.

use std::process::{Child, Command};

use fsdyno_os::files::Directory;

use super::{FILES, LoopResult, Problem, SIZE_BYTES};

/// The published loops.
pub(in super::super) const WRITE_LOOP: &str = "for i in {0..1000}; do echo 'test' > \"test${i}.txt\"; done";
pub(in super::super) const READ_LOOP: &str = "for i in {0..1000}; do cat \"test${i}.txt\" > /dev/null; done";

/// The same loops without storage, with their number of iterations. Starting cat takes long and varies little: fewer
/// than 1,001 iterations are enough.
pub(super) const EMPTY_WRITE: (&str, u32) = ("for i in {0..1000}; do echo 'test' > /dev/null; done", FILES);
pub(super) const EMPTY_READ: (&str, u32) = ("for i in {1..50}; do cat /dev/null > /dev/null; done", 50);

/// A loop that does not end.
#[cfg(test)]
pub(super) const ENDLESS: &str = "while :; do :; done";

/// Bytes of a file of the loops.
pub(super) const FILE_BYTES: u64 = SIZE_BYTES;

pub(super) const NAME: &str = "bash";
/// The names of the shell and of its loops at the beginning of a sentence.
pub(in super::super) const TITLES: [&str; 2] = ["Bash", "The published shell loops"];
/// Whether these are the published loops.
pub(in super::super) const IS_PUBLISHED: bool = true;
pub(super) const NEXT: &str = "install bash: the published loops need it";

/// What the shell's own time mostly is, and how it was measured, as a part of a sentence.
pub(in super::super) const OWN_COST: &str = "mostly to start cat 1,001 times (measured here on /dev/null)";

/// The command line that runs a loop.
pub(in super::super) fn words(script: &str) -> Vec<String> {
    [NAME, "-c", script].map(str::to_string).to_vec()
}

/// The process that runs a loop and prints its times as the last line of stderr.
pub(super) fn command(script: &str) -> Command {
    let mut bash = Command::new(NAME);
    bash.args(["-c", &format!("TIMEFORMAT='%R %U %S'; time {script}")]).env("LC_ALL", "C");
    bash
}

/// Checks that the shell can run in a directory: bash runs in any.
#[expect(clippy::unnecessary_wraps, reason = "the shell of another system cannot run everywhere")]
pub(super) fn check(_: &Directory) -> Result<(), Problem> {
    Ok(())
}

/// Parses bash's times, which are the last line of its stderr.
pub(super) fn measured(text: &str, _: &Child) -> Result<LoopResult, Problem> {
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    let times: Vec<f64> = lines.pop().unwrap_or_default().split(' ').filter_map(|word| word.parse().ok()).collect();
    let [real_s, user_s, system_s] = times[..] else {
        return Err(Problem::new(format!("bash printed no times: {}", text.trim_end())));
    };
    let ns = |seconds: f64| (seconds * 1e9).round() as u64;
    Ok(LoopResult { elapsed_ns: ns(real_s), cpu_ns: ns(user_s + system_s), complaints: lines })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_the_last_line() {
        let mut child = Command::new("true").spawn().unwrap();
        let text = "bash: line 1: test3.txt: No space left on device\n1.250 0.500 0.250\n";
        let looped = measured(text, &child).unwrap();
        assert_eq!((looped.elapsed_ns, looped.cpu_ns, looped.complaints.len()), (1_250_000_000, 750_000_000, 1));
        assert!(measured("killed\n", &child).is_err());
        child.wait().unwrap();
    }
}
