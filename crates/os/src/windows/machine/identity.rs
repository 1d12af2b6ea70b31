//! Identifies this installation and its boot.

use std::mem::size_of;

use windows_sys::Wdk::System::SystemInformation::{NtQuerySystemInformation, SystemTimeOfDayInformation};
use windows_sys::Win32::System::Registry::{HKEY_LOCAL_MACHINE, RRF_RT_REG_SZ, RegGetValueW};

use super::super::native::characters;
use super::text;

/// The identifier that Windows made when it was installed; `None`: not visible.
pub fn installation() -> Option<String> {
    registered(r"SOFTWARE\Microsoft\Cryptography", "MachineGuid")
}

/// A short text of the machine's registry; `None`: there is none, or it is not visible.
pub(super) fn registered(key: &str, value: &str) -> Option<String> {
    let (key, value) = (characters(key.as_ref()), characters(value.as_ref()));
    let mut found = [0u16; 64];
    let mut bytes = size_of::<[u16; 64]>() as u32;
    // SAFETY: both names end with a zero; the call writes at most the number of bytes that it is told there is room
    // for.
    let answer = unsafe {
        RegGetValueW(
            HKEY_LOCAL_MACHINE,
            key.as_ptr(),
            value.as_ptr(),
            RRF_RT_REG_SZ,
            std::ptr::null_mut(),
            found.as_mut_ptr().cast(),
            &raw mut bytes,
        )
    };
    let found = text(&found);
    (answer == 0 && !found.is_empty()).then(|| found.to_string_lossy().into_owned())
}

/// Times in the kernel's units of 100 ns.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct TimeOfDay {
    boot: i64,
    now: i64,
    zone_bias: i64,
    zone: u32,
    reserved: u32,
    /// What setting the clock has added to the time of the boot.
    boot_bias: u64,
    sleep_bias: u64,
}

/// A number that identifies the boot, even if the clock is set; `None`: not visible.
pub fn boot() -> Option<i64> {
    let mut found = TimeOfDay::default();
    let mut length = 0;
    // SAFETY: the call fills the structure, whose size is passed.
    let status = unsafe {
        NtQuerySystemInformation(
            SystemTimeOfDayInformation,
            (&raw mut found).cast(),
            size_of::<TimeOfDay>() as u32,
            &raw mut length,
        )
    };
    (status >= 0 && found.boot != 0).then(|| found.boot.wrapping_sub(found.boot_bias as i64))
}
