//! A second process. Windows cannot copy a process: the program is started again with the same words, and gets the
//! first one's pipe through its environment.

use std::io;
use std::mem::{size_of, zeroed};
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::os::windows::process::CommandExt;
use std::process::{Child, Command};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use windows_sys::Win32::Foundation::{CloseHandle, FILETIME, HANDLE_FLAG_INHERIT, SetHandleInformation};
use windows_sys::Win32::System::Console::{
    GetStdHandle, STD_ERROR_HANDLE, STD_INPUT_HANDLE, STD_OUTPUT_HANDLE, SetStdHandle,
};
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JobObjectExtendedLimitInformation, SetInformationJobObject,
};
use windows_sys::Win32::System::Pipes::PeekNamedPipe;
use windows_sys::Win32::System::Threading::{CREATE_NEW_PROCESS_GROUP, GetProcessTimes};

use super::held_signals::HeldSignals;
use super::native;
use super::thread::duration;
use crate::files::Directory;
use crate::process::{Ended, ForkSide};

/// Names the handle of the pipe, only for the second process.
const PIPE: &str = "FSDYNO_STATUS_PIPE";

/// Time between two looks at a pipe.
const LOOK: Duration = Duration::from_millis(10);

/// The second process, and the job object that ends it when the first one ends for any reason.
static SECOND: Mutex<Option<(Child, OwnedHandle)>> = Mutex::new(None);

/// Starts this program a second time, or finds that this is the second process.
///
/// # Errors
/// If it cannot be started: then this process does the work.
pub fn divide() -> io::Result<ForkSide> {
    if let Some(number) = std::env::var_os(PIPE) {
        return begun(&number);
    }
    let (reader, writer) = io::pipe()?;
    // SAFETY: the handle is open; the call takes numbers.
    if unsafe { SetHandleInformation(writer.as_raw_handle(), HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT) } == 0 {
        return Err(io::Error::last_os_error());
    }
    let job = ending_job()?;
    let child = Command::new(std::env::current_exe()?)
        .args(std::env::args_os().skip(1))
        .env(PIPE, (writer.as_raw_handle().addr()).to_string())
        .spawn()?;
    // SAFETY: both handles are open. If it is refused, the second process outlives a first one that is killed.
    let _ = unsafe { AssignProcessToJobObject(job.as_raw_handle(), child.as_raw_handle()) };
    let number = child.id();
    *SECOND.lock().unwrap_or_else(PoisonError::into_inner) = Some((child, job));
    Ok(ForkSide::Old { child: number, held: HeldSignals::begin(), reader })
}

/// Begins the second process. From now on only it has the pipe, and not the programs that it starts.
fn begun(number: &std::ffi::OsStr) -> io::Result<ForkSide> {
    let number = number.to_str().and_then(|number| number.parse().ok()).ok_or(io::ErrorKind::InvalidInput)?;
    let handle = std::ptr::without_provenance_mut(number);
    // SAFETY: the call takes numbers; it fails for a number that is not a handle.
    if unsafe { SetHandleInformation(handle, HANDLE_FLAG_INHERIT, 0) } == 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: on Windows any thread may change the environment at any time.
    unsafe { std::env::remove_var(PIPE) };
    // SAFETY: the process that started this one has passed the handle on for this purpose, and nobody else has it.
    let writer = unsafe { OwnedHandle::from_raw_handle(handle) };
    Ok(ForkSide::New { writer: writer.into() })
}

/// A job object that ends all its processes when its last handle is closed.
fn ending_job() -> io::Result<OwnedHandle> {
    // SAFETY: there are no security attributes and no name.
    let job = unsafe { CreateJobObjectW(std::ptr::null(), std::ptr::null()) };
    if job.is_null() {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call succeeded, so this is a new handle, which nobody else has.
    let job = unsafe { OwnedHandle::from_raw_handle(job) };
    // SAFETY: a structure of numbers, for which all zeroes is a value.
    let mut limits: JOBOBJECT_EXTENDED_LIMIT_INFORMATION = unsafe { zeroed() };
    limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
    let bytes = size_of::<JOBOBJECT_EXTENDED_LIMIT_INFORMATION>() as u32;
    // SAFETY: the call reads the structure of this class, which is complete and whose size is passed.
    let answer = unsafe {
        SetInformationJobObject(
            job.as_raw_handle(),
            JobObjectExtendedLimitInformation,
            (&raw const limits).cast(),
            bytes,
        )
    };
    if answer == 0 { Err(io::Error::last_os_error()) } else { Ok(job) }
}

/// Does the work in this process, because a process cannot be copied.
pub fn apart(work: impl FnOnce(), _patience: Duration) -> io::Result<()> {
    work();
    Ok(())
}

/// The program file sets the size of its stack, and there are always random numbers.
pub fn check_needs(_stack_bytes: u64) -> Result<(), &'static str> {
    Ok(())
}

/// The job object does this.
pub fn end_with_parent(_: &io::PipeWriter) -> bool {
    true
}

/// The job object does this.
pub fn hear_end_of_parent(_: &io::PipeWriter) -> bool {
    true
}

/// Waits until the second process has ended.
pub fn wait_for(_child: u32) -> io::Result<Ended> {
    /// Exit code after the console's own handling of Ctrl-C; the next one is that of an invalid memory access.
    const INTERRUPTED: u32 = 0xc000_013a;
    const FAULTS: std::ops::RangeInclusive<u32> = 0xc000_0000..=0xcfff_ffff;
    /// The signals that other systems report for these exit codes.
    const INT: u8 = 2;
    const ABORT: u8 = 6;
    let second = SECOND.lock().unwrap_or_else(PoisonError::into_inner).take();
    let (mut child, _job) = second.ok_or(io::ErrorKind::NotFound)?;
    let code = child.wait()?.code().unwrap_or_default() as u32;
    Ok(match code {
        INTERRUPTED => Ended::Signal(INT),
        code if FAULTS.contains(&code) => Ended::Signal(ABORT),
        code => Ended::Status(code as u8),
    })
}

/// Whether the other end of a pipe closes within this time: Windows closes it when the process has ended.
#[expect(clippy::disallowed_methods, reason = "the clock of runs has not begun, or has ended")]
pub fn closes_within(pipe: &io::PipeReader, time: Duration) -> bool {
    let begun = Instant::now();
    loop {
        let null = std::ptr::null_mut();
        // SAFETY: the pipe is open, and no bytes are asked for.
        if unsafe { PeekNamedPipe(pipe.as_raw_handle(), null, 0, null.cast(), null.cast(), null.cast()) } == 0 {
            return true;
        }
        if begun.elapsed() >= time {
            return false;
        }
        super::clock::sleep(LOOK);
    }
}

/// Closes stdin, stdout and stderr: their readers see the end even if this process cannot end.
pub fn close_standard_streams() {
    for stream in [STD_INPUT_HANDLE, STD_OUTPUT_HANDLE, STD_ERROR_HANDLE] {
        // SAFETY: the calls take numbers, and the old handle is not used any more: the standard library asks each
        // time, and treats a missing handle as a stream that goes nowhere.
        unsafe {
            let handle = GetStdHandle(stream);
            SetStdHandle(stream, std::ptr::null_mut());
            CloseHandle(handle);
        }
    }
}

/// Writes a last sentence to stderr and ends the process, whatever its threads do.
#[expect(clippy::exit, clippy::disallowed_methods, reason = "there is no memory to return with")]
pub(crate) fn end_at_once(sentence: &[u8], status: u8) -> ! {
    // A failure cannot be reported to anybody.
    let _ = io::Write::write_all(&mut io::stderr(), sentence);
    std::process::exit(status.into())
}

/// The console has informed both processes.
pub fn signal(_child: u32, _signal: i32) -> io::Result<()> {
    Ok(())
}

/// Programs do not end by signals here.
pub fn ended_by_signal(_: std::process::ExitStatus) -> Option<i32> {
    None
}

/// Nothing to do: a process may have millions of handles.
pub fn raise_open_files() -> io::Result<()> {
    Ok(())
}

/// Nothing to do: Windows removes pages of code from a process by itself.
pub fn release_program_pages() {}

/// Makes a command begin in an open directory. The path is in the form with drive letters, because cmd begins
/// elsewhere for `\\?\Z:\`.
pub fn begin_in(command: &mut Command, directory: &Directory) {
    let place = directory.current_path().unwrap_or_else(|| directory.path().to_owned());
    command.current_dir(native::plain(&place));
}

/// Elapsed time and CPU time of a process.
#[derive(Clone, Copy, Debug)]
pub struct Lifetime {
    /// From its start to its end.
    pub elapsed: Duration,
    /// CPU time of all its threads.
    pub processor: Duration,
}

/// The times of a command that has ended.
///
/// # Errors
/// The system's error.
pub fn lifetime(child: &Child) -> io::Result<Lifetime> {
    let [mut created, mut ended, mut kernel, mut user] = [FILETIME::default(); 4];
    // SAFETY: the handle of the process is open as long as `child` lives, and the call fills four structures.
    let answer = unsafe {
        GetProcessTimes(child.as_raw_handle(), &raw mut created, &raw mut ended, &raw mut kernel, &raw mut user)
    };
    if answer == 0 {
        return Err(io::Error::last_os_error());
    }
    let elapsed = duration(ended).saturating_sub(duration(created));
    Ok(Lifetime { elapsed, processor: duration(kernel) + duration(user) })
}

/// Ends a command.
pub fn end_group(child: &mut Child) -> io::Result<()> {
    child.kill()?;
    child.wait().map(drop)
}

/// Makes a command lead a process group of its own: then this program passes Ctrl-C on.
pub fn lead_group(command: &mut Command) {
    command.creation_flags(CREATE_NEW_PROCESS_GROUP);
}

/// Nothing to do: a command is in the job object of the process that starts it, and ends with it.
pub fn end_with_this_thread(_: &mut Command) {}
