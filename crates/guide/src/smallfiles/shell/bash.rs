//! Bash and the page's loops as they stand.

use std::process::{Child, Command};

use fsdyno_os::files::Directory;

use super::{FILES, Looped, Problem, SIZE_BYTES};

/// The page's loops.
pub(in super::super) const WRITE_LOOP: &str = "for i in {0..1000}; do echo 'test' > \"test${i}.txt\"; done";
pub(in super::super) const READ_LOOP: &str = "for i in {0..1000}; do cat \"test${i}.txt\" > /dev/null; done";

/// The same loops without storage. Starting cat takes long and varies little: a part of the 1,001 is enough.
pub(super) const EMPTY_WRITE: (&str, u32) = ("for i in {0..1000}; do echo 'test' > /dev/null; done", FILES);
pub(super) const EMPTY_READ: (&str, u32) = ("for i in {1..50}; do cat /dev/null > /dev/null; done", 50);

/// One that does not end.
#[cfg(test)]
pub(super) const ENDLESS: &str = "while :; do :; done";

/// Bytes of a file of the loops.
pub(super) const FILE_BYTES: u64 = SIZE_BYTES;

pub(super) const NAME: &str = "bash";
/// What it and its loops are called at the beginning of a sentence.
pub(in super::super) const TITLES: [&str; 2] = ["Bash", "The published shell loops"];
/// Whether these are the loops that the page gives.
pub(in super::super) const IS_PUBLISHED: bool = true;
pub(super) const NEXT: &str = "install bash: the published loops need it";

/// What most of its own time is, and how it was measured, for sentences.
pub(in super::super) const OWN_COST: &str = "mostly to start cat 1,001 times (measured here on /dev/null)";

/// The words that run a loop.
pub(in super::super) fn words(script: &str) -> Vec<String> {
    [NAME, "-c", script].map(str::to_string).to_vec()
}

/// Runs a loop, and prints its times behind all complaints.
pub(super) fn command(script: &str) -> Command {
    let mut bash = Command::new(NAME);
    bash.args(["-c", &format!("TIMEFORMAT='%R %U %S'; time {script}")]).env("LC_ALL", "C");
    bash
}

/// Whether it can run in a directory: in any.
#[expect(clippy::unnecessary_wraps, reason = "the shell of another system cannot run everywhere")]
pub(super) fn check(_: &Directory) -> Result<(), Problem> {
    Ok(())
}

/// Takes bash's times, its last line, from its complaints.
pub(super) fn measured(text: &str, _: &Child) -> Result<Looped, Problem> {
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    let times: Vec<f64> = lines.pop().unwrap_or_default().split(' ').filter_map(|word| word.parse().ok()).collect();
    let [real_s, user_s, system_s] = times[..] else {
        return Err(Problem::new(format!("bash printed no times: {}", text.trim_end())));
    };
    let ns = |seconds: f64| (seconds * 1e9).round() as u64;
    Ok(Looped { elapsed_ns: ns(real_s), cpu_ns: ns(user_s + system_s), complaints: lines })
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
