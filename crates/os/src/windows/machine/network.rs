//! Network interfaces.

use std::net::IpAddr;

use windows_sys::Win32::NetworkManagement::IpHelper::{
    FreeMibTable, GetBestInterfaceEx, GetIfTable2, IF_TYPE_SOFTWARE_LOOPBACK, MIB_IF_ROW2, MIB_IF_TABLE2,
};
use windows_sys::Win32::NetworkManagement::Ndis::IfOperStatusUp;
use windows_sys::Win32::Networking::WinSock::{
    AF_INET, AF_INET6, IN_ADDR, IN_ADDR_0, IN6_ADDR, IN6_ADDR_0, SOCKADDR_IN, SOCKADDR_IN6, SOCKADDR_INET,
};

use super::{identity, text};

/// An interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Its number.
    pub index: u32,
    /// Name for people: `Ethernet 2`.
    pub name: String,
    /// Whether it is hardware, and not made by software.
    pub hardware: bool,
    /// Whether it is connected now.
    pub up: bool,
    /// Bytes received and sent.
    pub bytes: [u64; 2],
    /// Speed of the faster direction, bits per second; `None`: not known to the driver.
    pub bits_per_s: Option<u64>,
}

/// All interfaces, except the loopback, which Windows does not count, and filters in front of others, which count the
/// same bytes again.
///
/// # Errors
/// The system's error number.
pub fn interfaces() -> Result<Vec<Interface>, i32> {
    let mut table: *mut MIB_IF_TABLE2 = std::ptr::null_mut();
    // SAFETY: the call writes an address.
    let answer = unsafe { GetIfTable2(&raw mut table) };
    if answer != 0 || table.is_null() {
        return Err(answer as i32);
    }
    // SAFETY: the call has succeeded, so the address is that of a table; the rows that it counts follow its head, of
    // which the declaration has the first.
    let rows = unsafe { std::slice::from_raw_parts((&raw const (*table).Table).cast(), (*table).NumEntries as usize) };
    let found = rows.iter().filter(|row| carries_for_itself(row)).map(interface).collect();
    // SAFETY: the memory must be freed by the caller, and is not used any more.
    unsafe { FreeMibTable(table.cast()) };
    Ok(found)
}

fn carries_for_itself(row: &MIB_IF_ROW2) -> bool {
    const FILTER: u8 = 1 << 1;
    row.Type != IF_TYPE_SOFTWARE_LOOPBACK && row.InterfaceAndOperStatusFlags._bitfield & FILTER == 0
}

fn interface(row: &MIB_IF_ROW2) -> Interface {
    const HARDWARE: u8 = 1;
    let speeds = [row.ReceiveLinkSpeed, row.TransmitLinkSpeed];
    Interface {
        index: row.InterfaceIndex,
        name: text(&row.Alias).to_string_lossy().into_owned(),
        hardware: row.InterfaceAndOperStatusFlags._bitfield & HARDWARE != 0,
        up: row.OperStatus == IfOperStatusUp,
        bytes: [row.InOctets, row.OutOctets],
        bits_per_s: speeds.into_iter().filter(|speed| ![0, u64::MAX].contains(speed)).max(),
    }
}

/// The number of the interface that packets to an address leave by.
///
/// # Errors
/// The system's error number: no route.
pub fn interface_towards(remote: IpAddr) -> Result<u32, i32> {
    let mut address = SOCKADDR_INET::default();
    match remote {
        IpAddr::V4(remote) => {
            let number = IN_ADDR { S_un: IN_ADDR_0 { S_addr: u32::from_ne_bytes(remote.octets()) } };
            address.Ipv4 = SOCKADDR_IN { sin_family: AF_INET, sin_addr: number, ..SOCKADDR_IN::default() };
        }
        IpAddr::V6(remote) => {
            let number = IN6_ADDR { u: IN6_ADDR_0 { Byte: remote.octets() } };
            address.Ipv6 = SOCKADDR_IN6 { sin6_family: AF_INET6, sin6_addr: number, ..SOCKADDR_IN6::default() };
        }
    }
    let mut index = 0;
    // SAFETY: the address is as long as its family says, and the call writes a number.
    let answer = unsafe { GetBestInterfaceEx((&raw const address).cast(), &raw mut index) };
    if answer == 0 { Ok(index) } else { Err(answer as i32) }
}

/// Whether the driver of any card allows SMB over RDMA, whose bytes the counters of interfaces do not contain. All
/// such drivers have the same keyword.
pub fn rdma() -> bool {
    const CARDS: &str = r"SYSTEM\CurrentControlSet\Control\Class\{4D36E972-E325-11CE-BFC1-08002BE10318}";
    /// Windows numbers cards from 0 on, and does not reuse the numbers of removed ones.
    const NUMBERS: u32 = 256;
    let is_on = |number| identity::registered(&format!(r"{CARDS}\{number:04}"), "*NetworkDirect");
    (0..NUMBERS).filter_map(is_on).any(|word| word == "1")
}
