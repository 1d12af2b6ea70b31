//! Counters of this process and of the machine.

use std::mem::{size_of, zeroed};
use std::time::Duration;

use windows_sys::Wdk::System::SystemInformation::{NtQuerySystemInformation, SystemProcessorPerformanceInformation};
use windows_sys::Win32::Foundation::{FILETIME, LocalFree};
use windows_sys::Win32::System::Power::PowerGetActiveScheme;
use windows_sys::Win32::System::Services::{
    CloseServiceHandle, OpenSCManagerW, OpenServiceW, QueryServiceStatus, SC_MANAGER_CONNECT, SERVICE_QUERY_STATUS,
    SERVICE_RUNNING, SERVICE_STATUS,
};
use windows_sys::Win32::System::Threading::{
    GetCurrentProcess, GetProcessIoCounters, GetProcessTimes, GetSystemTimes, IO_COUNTERS,
};
use windows_sys::core::GUID;

use super::super::errno;
use super::super::native::characters;
use super::super::thread::duration;

/// Bytes that calls of this process have read and written, including those of engines.
///
/// # Errors
/// The system's error number.
pub fn process_bytes() -> Result<[u64; 2], i32> {
    let mut found = IO_COUNTERS::default();
    // SAFETY: the handle of this process is always good, and the call fills the structure.
    let answer = unsafe { GetProcessIoCounters(GetCurrentProcess(), &raw mut found) };
    if answer == 0 { Err(errno::last()) } else { Ok([found.ReadTransferCount, found.WriteTransferCount]) }
}

/// CPU time of this process.
pub fn process_time() -> Option<Duration> {
    let [mut created, mut ended, mut kernel, mut user] = [FILETIME::default(); 4];
    // SAFETY: the handle of this process is always good, and the call fills four structures.
    let answer = unsafe {
        GetProcessTimes(GetCurrentProcess(), &raw mut created, &raw mut ended, &raw mut kernel, &raw mut user)
    };
    (answer != 0).then(|| duration(kernel) + duration(user))
}

/// Time of all processors: idle time, then all time.
pub fn system_times() -> Option<(Duration, Duration)> {
    let [mut idle, mut kernel, mut user] = [FILETIME::default(); 3];
    // SAFETY: the call fills three structures.
    let answer = unsafe { GetSystemTimes(&raw mut idle, &raw mut kernel, &raw mut user) };
    // The kernel's time includes that of its idle threads.
    (answer != 0).then(|| (duration(idle), duration(kernel) + duration(user)))
}

/// Times of a processor, in the kernel's units of 100 ns.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Processor {
    idle: i64,
    kernel: i64,
    user: i64,
    reserved: [i64; 2],
    interrupts: u32,
}

/// Idle time and all time of each processor of this group, in units of 100 ns.
///
/// # Errors
/// The system's error number.
pub fn processor_times() -> Result<Vec<[u64; 2]>, i32> {
    const PROCESSORS_MAX: usize = 256;
    let mut found = [Processor::default(); PROCESSORS_MAX];
    let mut length = 0;
    // SAFETY: the call fills at most this number of bytes with structures of this layout.
    let status = unsafe {
        NtQuerySystemInformation(
            SystemProcessorPerformanceInformation,
            found.as_mut_ptr().cast(),
            size_of::<[Processor; PROCESSORS_MAX]>() as u32,
            &raw mut length,
        )
    };
    if status < 0 {
        return Err(errno::of_status(status));
    }
    let all = found[..(length as usize / size_of::<Processor>()).min(PROCESSORS_MAX)].iter();
    Ok(all.map(|one| [one.idle as u64, (one.kernel + one.user) as u64]).collect())
}

/// The power plan in use; `None`: not visible, or a plan that the user has made.
pub fn power_plan() -> Option<&'static str> {
    const SAVER: u128 = 0xa1841308_3541_4fab_bc81_f71556f20b4a;
    const BALANCED: u128 = 0x381b4222_f694_41f0_9685_ff5bb260df2e;
    const HIGH: u128 = 0x8c5e7fda_e8bf_4a96_9a85_a6e23a8c635c;
    const ULTIMATE: u128 = 0xe9a42b02_d5df_448d_aa00_03f14749eb61;
    let mut plan: *mut GUID = std::ptr::null_mut();
    // SAFETY: no registry key is passed, and the call writes an address.
    let answer = unsafe { PowerGetActiveScheme(std::ptr::null_mut(), &raw mut plan) };
    if answer != 0 || plan.is_null() {
        return None;
    }
    // SAFETY: the call has succeeded, so the address is that of a plan.
    let id = unsafe { *plan };
    // SAFETY: the memory must be freed by the caller, and is not used any more.
    unsafe { LocalFree(plan.cast()) };
    let tail = id.data4.iter().fold(0, |number, byte| number << 8 | u128::from(*byte));
    let id = u128::from(id.data1) << 96 | u128::from(id.data2) << 80 | u128::from(id.data3) << 64 | tail;
    match id {
        SAVER => Some("Power saver"),
        BALANCED => Some("Balanced"),
        HIGH => Some("High performance"),
        ULTIMATE => Some("Ultimate Performance"),
        _ => None,
    }
}

/// Whether a service of this name runs; `None`: there is none, or it is not visible.
pub fn service_runs(name: &str) -> Option<bool> {
    let name = characters(name.as_ref());
    // SAFETY: this machine and its usual list of services are asked for.
    let manager = unsafe { OpenSCManagerW(std::ptr::null(), std::ptr::null(), SC_MANAGER_CONNECT) };
    if manager.is_null() {
        return None;
    }
    // SAFETY: the list is open, and the name ends with a zero.
    let service = unsafe { OpenServiceW(manager, name.as_ptr(), SERVICE_QUERY_STATUS) };
    // SAFETY: a structure of numbers, for which all zeroes is a value.
    let mut status: SERVICE_STATUS = unsafe { zeroed() };
    // SAFETY: the service is open if it is not null, and the call fills the structure.
    let answer = if service.is_null() { 0 } else { unsafe { QueryServiceStatus(service, &raw mut status) } };
    for handle in [service, manager].into_iter().filter(|handle| !handle.is_null()) {
        // SAFETY: it is open, and not used any more.
        unsafe { CloseServiceHandle(handle) };
    }
    (answer != 0).then_some(status.dwCurrentState == SERVICE_RUNNING)
}
