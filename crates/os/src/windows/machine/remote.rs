//! Volumes of servers.

use std::mem::size_of;
use std::os::windows::io::{AsHandle, AsRawHandle};
use std::path::Path;

use windows_sys::Win32::Storage::FileSystem::{
    FILE_REMOTE_PROTOCOL_INFO, FileRemoteProtocolInfo, GetFileInformationByHandleEx, QueryDosDeviceW,
};
use windows_sys::Win32::System::WindowsProgramming::REMOTE_PROTOCOL_INFO_FLAG_LOOPBACK;

use super::super::errno;
use super::super::files;
use super::super::native::characters;
use super::text;

/// The protocol of a file on a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protocol {
    /// `SMB`, `NFS`; `None`: another protocol.
    pub name: Option<&'static str>,
    /// `3.1`.
    pub version: [u16; 2],
    /// Whether the server is this machine.
    pub is_here: bool,
}

/// The protocol by which a path is reached.
///
/// # Errors
/// The system's error number: it is not on a server.
pub fn protocol_of(path: &Path) -> Result<Protocol, i32> {
    const SMB: u32 = 0x0002_0000;
    const NFS: u32 = 0x0042_0000;
    let handle = files::open_directory(path, 0)?;
    let mut found = FILE_REMOTE_PROTOCOL_INFO::default();
    let bytes = size_of::<FILE_REMOTE_PROTOCOL_INFO>() as u32;
    let raw = handle.as_handle().as_raw_handle();
    // SAFETY: the call fills the structure, whose size is passed.
    if unsafe { GetFileInformationByHandleEx(raw, FileRemoteProtocolInfo, (&raw mut found).cast(), bytes) } == 0 {
        return Err(errno::last());
    }
    let name = match found.Protocol {
        SMB => Some("SMB"),
        NFS => Some("NFS"),
        _ => None,
    };
    Ok(Protocol {
        name,
        version: [found.ProtocolMajorVersion, found.ProtocolMinorVersion],
        is_here: found.Flags & REMOTE_PROTOCOL_INFO_FLAG_LOOPBACK != 0,
    })
}

/// The kernel's device behind the letter of a drive; for a drive of a server, its redirector, server and share.
pub fn device_of_drive(drive: &str) -> Option<String> {
    let name = characters(drive.as_ref());
    let mut target = vec![0u16; 4096];
    // SAFETY: the name ends with a zero, and the call writes at most the number of characters that there is room for.
    let length = unsafe { QueryDosDeviceW(name.as_ptr(), target.as_mut_ptr(), target.len() as u32) };
    (length > 0).then(|| text(&target).to_string_lossy().into_owned())
}
