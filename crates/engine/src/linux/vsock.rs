//! Addresses of vsock, for which rustix has no type.

use rustix::net::addr::{SocketAddrArg, SocketAddrLen, SocketAddrOpaque};

/// A machine by its CID (its number on a host), and a port.
pub(super) struct VsockAddress(libc::sockaddr_vm);

impl VsockAddress {
    pub(super) fn of(cid: u32, port: u16) -> VsockAddress {
        VsockAddress(libc::sockaddr_vm {
            svm_family: libc::AF_VSOCK as libc::sa_family_t,
            svm_reserved1: 0,
            svm_port: port.into(),
            svm_cid: cid,
            svm_zero: [0; 4],
        })
    }

    /// The address of a receiver, which any machine can reach.
    pub(super) fn of_any_machine(port: u16) -> VsockAddress {
        VsockAddress::of(libc::VMADDR_CID_ANY, port)
    }
}

// SAFETY: the closure gets the address and the length of a whole `sockaddr_vm`, which lives during the call.
unsafe impl SocketAddrArg for VsockAddress {
    unsafe fn with_sockaddr<R>(&self, call: impl FnOnce(*const SocketAddrOpaque, SocketAddrLen) -> R) -> R {
        call((&raw const self.0).cast(), size_of::<libc::sockaddr_vm>() as SocketAddrLen)
    }
}
