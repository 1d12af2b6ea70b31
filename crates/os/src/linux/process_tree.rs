//! The meter of a command, and the code that starts it.

use std::ffi::OsString;
use std::io::{self, PipeReader, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};

use super::held_signals::exchange_mask;
use crate::files::Directory;
use crate::process::{Ended, closes_within};
use crate::process_tree::{CommandOutput, EndReason, Limits, TreeIo, TreeUsage, WORD};

/// How long the meter tries to end the remaining processes.
const FAREWELL: Duration = Duration::from_secs(3);

/// Time between two attempts to end all processes.
const AGAIN: Duration = Duration::from_millis(20);

/// Number of processes that are named.
const NAMED: usize = 3;

/// Stack of the thread that reads the output of the command, bytes.
const STACK_BYTES: usize = 64 * 1024;

/// A running command.
#[derive(Debug)]
pub struct Metered {
    meter: Child,
    report: PipeReader,
    printed: Arc<Mutex<CommandOutput>>,
    /// Its other end is closed by the thread that reads the output, when the output has ended.
    read_all: PipeReader,
}

/// Why no command can be measured here; `None`: it can.
pub fn missing() -> Option<&'static str> {
    None
}

/// Starts a command in an open directory, with this environment and nothing on stdin. Without words the meter syncs
/// the filesystem of the directory: that may take long, and if it never ends, no process of this program is stuck.
///
/// # Errors
/// If the meter cannot be started. If the command cannot be started, the meter reports it.
pub fn begin(
    words: &[OsString],
    directory: &Directory,
    environment: &[(OsString, OsString)],
    limits: Limits,
) -> io::Result<Metered> {
    // If the command kills its meter, the remaining processes become children of this one.
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    let (report, report_in) = io::pipe()?;
    let (output, output_in) = io::pipe()?;
    let (read_all, end_of_output) = io::pipe()?;
    let mut command = Command::new("/proc/self/exe");
    command.arg0("fsdyno").arg(WORD);
    command.arg(limits.whole.as_millis().to_string()).arg(limits.left_running.as_millis().to_string()).args(words);
    command.env_clear().envs(environment.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::null()).stdout(output_in).stderr(report_in);
    super::process::begin_in(&mut command, directory);
    // This program passes Ctrl-C on.
    super::process::lead_group(&mut command);
    let bind = || Ok(rustix::process::set_parent_process_death_signal(Some(Signal::TERM))?);
    // SAFETY: between fork and exec only this one system call is made: no lock is taken and nothing allocated.
    unsafe { command.pre_exec(bind) };
    let mut meter = command.spawn()?;
    // The command value has the writing ends; with them open, a reader would never see the end.
    drop(command);
    let printed = Arc::<Mutex<CommandOutput>>::default();
    let kept = Arc::clone(&printed);
    let listen = move || {
        listen(output, &kept);
        drop(end_of_output);
    };
    if let Err(error) = crate::thread::begin("output", STACK_BYTES, listen) {
        let _ = super::process::end_group(&mut meter);
        return Err(error);
    }
    Ok(Metered { meter, report, printed, read_all })
}

/// Reads to the end, so that the command never waits for a reader.
fn listen(mut output: PipeReader, printed: &Mutex<CommandOutput>) {
    let mut bytes = vec![0; 64 * 1024];
    loop {
        match output.read(&mut bytes) {
            Ok(0) => return,
            Ok(count) => printed.lock().unwrap_or_else(PoisonError::into_inner).add(&bytes[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

impl Metered {
    /// Whether the command ends within this time.
    pub fn is_over_within(&self, time: Duration) -> bool {
        closes_within(&self.report, time)
    }

    /// Makes the meter end the command with all its processes.
    pub fn end(&self) {
        // The meter has not been waited for, so that the number is still its own.
        let _ = super::process::signal(self.meter.id(), libc::SIGTERM);
    }

    /// Waits for the end; returns what the command used and printed.
    ///
    /// # Errors
    /// If the command could not be started, or the meter was killed.
    pub fn result(mut self) -> io::Result<(TreeUsage, CommandOutput)> {
        let mut text = String::new();
        self.report.read_to_string(&mut text)?;
        self.meter.wait()?;
        // A process that could not be ended may still have the pipe open.
        closes_within(&self.read_all, Duration::from_secs(1));
        let printed = std::mem::take(&mut *self.printed.lock().unwrap_or_else(PoisonError::into_inner));
        match (text.strip_prefix("failed "), TreeUsage::parse(&text)) {
            (Some(code), _) => Err(io::Error::from_raw_os_error(code.trim().parse().unwrap_or(libc::EIO))),
            (None, Some(usage)) => Ok((usage, printed)),
            (None, None) => {
                end_all();
                Err(io::Error::other("the process that measures the command was killed"))
            }
        }
    }
}

/// The main function of the meter: runs the command of these words, which follow [`WORD`], and reports on stderr.
/// Returns the exit status.
pub fn meter(words: &[OsString]) -> u8 {
    let report = match run(words) {
        Ok(usage) => usage.line(),
        Err(error) => format!("failed {}\n", error.raw_os_error().unwrap_or(libc::EIO)),
    };
    u8::from(io::stderr().write_all(report.as_bytes()).is_err())
}

fn run(words: &[OsString]) -> io::Result<TreeUsage> {
    let [whole, left_running, words @ ..] = words else { return Err(io::ErrorKind::InvalidInput.into()) };
    let Some((program, arguments)) = words.split_first() else { return sync() };
    let limit = |word: &OsString| word.to_str().and_then(|ms| ms.parse().ok()).map(Duration::from_millis);
    let (Some(whole), Some(left_running)) = (limit(whole), limit(left_running)) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    let awaited = AwaitedSignals::begin();
    let mut command = Command::new(program);
    let output = io::stdout().as_fd().try_clone_to_owned()?;
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::inherit()).stderr(output);
    super::process::end_with_this_thread(&mut command);
    // The command must receive the signals that the meter holds; otherwise SIGTERM could not end it.
    let before = awaited.before;
    let hear = move || {
        exchange_mask(&before);
        Ok(())
    };
    // SAFETY: between fork and exec only this one system call is made: no lock is taken and nothing allocated.
    unsafe { command.pre_exec(hear) };
    // A script that kills its own group (`kill 0`) does not reach the meter.
    super::process::lead_group(&mut command);
    let began = now();
    let child = command.spawn()?;
    drop(command);
    let mut tree = Tree { command: child.id(), began, whole, left_running, usage: TreeUsage::default(), cut_at: None };
    while tree.goes_on(&awaited) {}
    let mut usage = tree.usage;
    usage.io = io_counters();
    let used = used_by_children();
    let time = |time: libc::timeval| Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1000);
    (usage.user, usage.system) = (time(used.ru_utime), time(used.ru_stime));
    usage.memory_bytes = (used.ru_maxrss as u64).saturating_mul(1024);
    Ok(usage)
}

/// Syncs the filesystem instead of running a command.
fn sync() -> io::Result<TreeUsage> {
    let began = now();
    rustix::fs::syncfs(std::fs::File::open(".")?)?;
    let took = now() - began;
    Ok(TreeUsage { own: took, all: took, ended: Some(Ended::Status(0)), ..TreeUsage::default() })
}

/// Time since the boot. The meter is a separate process, in which the program's clock would have to be calibrated
/// first.
fn now() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

/// The processes of the command.
struct Tree {
    command: u32,
    began: Duration,
    whole: Duration,
    left_running: Duration,
    usage: TreeUsage,
    /// When the meter began to end them.
    cut_at: Option<Duration>,
}

impl Tree {
    /// Collects ended processes and waits for the next event. False: all have ended, or the remaining ones cannot be
    /// ended.
    fn goes_on(&mut self, awaited: &AwaitedSignals) -> bool {
        loop {
            match rustix::process::wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) => self.ended(pid, status),
                Ok(None) => break,
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => {
                    self.usage.all = now() - self.began;
                    return false;
                }
            }
        }
        if self.usage.ended.is_some() && self.usage.left_running == 0 && self.cut_at.is_none() {
            let left = descendants();
            self.usage.left_running = left.len() as u64;
            self.usage.left_names = left.into_iter().take(NAMED).map(|(_, name)| name).collect();
        }
        let now = now();
        let (limit, cut) = match self.usage.ended {
            _ if self.began + self.whole <= now => (self.whole, EndReason::Whole),
            Some(_) if self.usage.own + self.left_running < self.whole => {
                (self.usage.own + self.left_running, EndReason::LeftRunning)
            }
            _ => (self.whole, EndReason::Whole),
        };
        let until = match self.cut_at {
            Some(at) if at + FAREWELL <= now => {
                self.usage.stuck = descendants().len() as u64;
                self.usage.all = now - self.began;
                return false;
            }
            Some(_) => {
                end_all();
                AGAIN
            }
            None if self.began + limit <= now => {
                self.cut(cut);
                Duration::ZERO
            }
            None => (self.began + limit) - now,
        };
        if awaited.asked_to_end(until) {
            self.cut(EndReason::Asked);
        }
        true
    }

    fn ended(&mut self, pid: Pid, status: WaitStatus) {
        if pid.as_raw_nonzero().get() as u32 == self.command {
            self.usage.own = now() - self.began;
            self.usage.ended = Some(status.terminating_signal().map_or_else(
                || Ended::Status(status.exit_status().unwrap_or_default() as u8),
                |signal| Ended::Signal(signal as u8),
            ));
        }
    }

    fn cut(&mut self, cut: EndReason) {
        if self.cut_at.is_none() {
            self.usage.cut = Some(cut);
            self.cut_at = Some(now());
        }
    }
}

/// Ends all processes below this one. They are stopped first, because a process could otherwise fork and escape.
fn end_all() {
    let mut stopped = Vec::new();
    for _ in 0..10 {
        let found: Vec<i32> = descendants().into_iter().map(|(pid, _)| pid).collect();
        if found == stopped {
            break;
        }
        found.iter().for_each(|pid| send(*pid, Signal::STOP));
        stopped = found;
    }
    stopped.iter().for_each(|pid| send(*pid, Signal::KILL));
}

fn send(pid: i32, signal: Signal) {
    // It has ended meanwhile, or belongs to another user: then it counts as stuck.
    let _ = Pid::from_raw(pid).map(|pid| rustix::process::kill_process(pid, signal));
}

/// All processes below this one, with their names.
fn descendants() -> Vec<(i32, String)> {
    let all: Vec<(i32, i32, String)> = std::fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let pid: i32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
            let (parent, name) = parent_and_name(&std::fs::read(format!("/proc/{pid}/stat")).ok()?)?;
            Some((pid, parent, name))
        })
        .collect();
    let mut found: Vec<(i32, String)> = Vec::new();
    let mut parents = vec![std::process::id() as i32];
    while let Some(wanted) = parents.pop() {
        for (pid, _, name) in all.iter().filter(|(_, parent, _)| *parent == wanted) {
            parents.push(*pid);
            found.push((*pid, name.clone()));
        }
    }
    found
}

/// Parent and name from a line of `/proc/PID/stat`; `None` for a process that has ended and only waits for its
/// parent.
fn parent_and_name(stat: &[u8]) -> Option<(i32, String)> {
    let stat = String::from_utf8_lossy(stat);
    // A name may contain any character, but ends at the last parenthesis.
    let (begin, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    let is_over = matches!(fields.next()?, "Z" | "X");
    let name = begin.split_once('(')?.1.split_whitespace().collect::<Vec<_>>().join("_");
    let parent = fields.next()?.parse().ok()?;
    (!is_over).then_some((parent, name))
}

fn used_by_children() -> libc::rusage {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the call fills the structure that the pointer leads to; all of its fields are integers, so that the zeroes
    // are a value, should it fail.
    unsafe {
        libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr());
        usage.assume_init()
    }
}

/// Counters of all processes that this one has waited for, without its own.
fn io_counters() -> Option<TreeIo> {
    let own = std::fs::read_to_string("/proc/thread-self/io").ok()?;
    let all = std::fs::read_to_string("/proc/self/io").ok()?;
    let of = |name: &str| {
        let of = |text: &str| text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
        Some(of(&all)?.saturating_sub(of(&own)?))
    };
    Some(TreeIo {
        // The first reading is counted in the second.
        call_bytes: [of("rchar:")?.saturating_sub(own.len() as u64), of("wchar:")?],
        storage_bytes: [of("read_bytes:")?, of("write_bytes:")?],
        cancelled_bytes: of("cancelled_write_bytes:")?,
    })
}

/// The signals that the meter waits for. They are held from the start, so that none arrives between a look and the
/// wait.
struct AwaitedSignals {
    signals: libc::sigset_t,
    /// The signals that were held before, which the command will hold.
    before: libc::sigset_t,
}

impl AwaitedSignals {
    fn begin() -> AwaitedSignals {
        let mut set = std::mem::MaybeUninit::uninit();
        // SAFETY: the first call writes the whole set, the others change it, and none can fail for a set of its own and
        // signals that there are.
        let signals = unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            for signal in [libc::SIGCHLD, libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
                libc::sigaddset(set.as_mut_ptr(), signal);
            }
            set.assume_init()
        };
        AwaitedSignals { signals, before: exchange_mask(&signals) }
    }

    /// Waits for one of these signals; returns whether it asks to end the command.
    fn asked_to_end(&self, at_most: Duration) -> bool {
        let timeout = libc::timespec {
            tv_sec: at_most.as_secs() as _,
            tv_nsec: libc::c_long::from(at_most.subsec_nanos() as i32),
        };
        // SAFETY: both pointers are to whole values that live through the call; no details are asked for.
        let signal = unsafe { libc::sigtimedwait(&self.signals, std::ptr::null_mut(), &timeout) };
        signal > 0 && signal != libc::SIGCHLD
    }
}

impl TreeUsage {
    /// The meter's report: numbers, then names.
    fn line(&self) -> String {
        let ns = |time: Duration| time.as_nanos() as u64;
        let ended = match self.ended {
            Some(Ended::Status(status)) => u64::from(status),
            Some(Ended::Signal(signal)) => 256 + u64::from(signal),
            None => 512,
        };
        let cut = match self.cut {
            None => 0,
            Some(EndReason::Whole) => 1,
            Some(EndReason::LeftRunning) => 2,
            Some(EndReason::Asked) => 3,
        };
        let io = self.io.unwrap_or_default();
        let numbers = [
            ns(self.own),
            ns(self.all),
            ended,
            cut,
            self.left_running,
            self.stuck,
            ns(self.user),
            ns(self.system),
            self.memory_bytes,
            u64::from(self.io.is_some()),
            io.call_bytes[0],
            io.call_bytes[1],
            io.storage_bytes[0],
            io.storage_bytes[1],
            io.cancelled_bytes,
        ];
        let numbers = numbers.iter().map(u64::to_string).chain(self.left_names.iter().cloned());
        format!("{}\n", numbers.collect::<Vec<_>>().join(" "))
    }

    /// Reads the line of [`TreeUsage::line`].
    fn parse(line: &str) -> Option<TreeUsage> {
        let mut words = line.strip_suffix('\n')?.split(' ');
        let mut number = || words.next()?.parse::<u64>().ok();
        Some(TreeUsage {
            own: Duration::from_nanos(number()?),
            all: Duration::from_nanos(number()?),
            ended: match number()? {
                512 => None,
                signal @ 256.. => Some(Ended::Signal(signal as u8)),
                status => Some(Ended::Status(status as u8)),
            },
            cut: match number()? {
                1 => Some(EndReason::Whole),
                2 => Some(EndReason::LeftRunning),
                3 => Some(EndReason::Asked),
                _ => None,
            },
            left_running: number()?,
            stuck: number()?,
            user: Duration::from_nanos(number()?),
            system: Duration::from_nanos(number()?),
            memory_bytes: number()?,
            io: {
                let is_counted = number()? == 1;
                let io = TreeIo {
                    call_bytes: [number()?, number()?],
                    storage_bytes: [number()?, number()?],
                    cancelled_bytes: number()?,
                };
                is_counted.then_some(io)
            },
            left_names: words.map(str::to_owned).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_read_as_it_was_written() {
        let io = TreeIo { call_bytes: [1, 2], storage_bytes: [3, 4], cancelled_bytes: 5 };
        let usage = TreeUsage {
            own: Duration::from_nanos(7),
            all: Duration::from_secs(9),
            ended: Some(Ended::Signal(9)),
            cut: Some(EndReason::LeftRunning),
            left_running: 2,
            left_names: vec!["sleep".into(), "git_(x)".into()],
            io: Some(io),
            ..TreeUsage::default()
        };
        assert_eq!(TreeUsage::parse(&usage.line()), Some(usage));
        let nothing = TreeUsage::default();
        assert_eq!(TreeUsage::parse(&nothing.line()), Some(nothing));
        assert_eq!(TreeUsage::parse("1 2"), None, "it was killed while it wrote");
    }

    #[test]
    fn a_name_may_hold_anything() {
        assert_eq!(parent_and_name(b"12 (a b) (c) S 7 12 12 0"), Some((7, "a_b)_(c".into())));
        assert_eq!(parent_and_name(b"12 (x) Z 7 12 12 0"), None, "it has ended");
    }
}
