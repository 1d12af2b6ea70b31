//! `net`, `netsplice`: requests are sent to a peer, or received from one, through a socket.
//!
//! Every wait is short. It returns to the worker, which reads its orders and queues the request again. Meanwhile this
//! module keeps the number of bytes that the request has transferred.

use std::net::{Ipv4Addr, SocketAddr, ToSocketAddrs};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use fsdyno_job::{EngineName, NetworkOptions, Protocol};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::sockopt::{self, Timeout};
use rustix::net::{self, AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketType};

use super::spliced::Pipe;
use super::vsock::VsockAddress;
use crate::contract::{FINISHED, NOT_BEGUN, WAITING};
use crate::setup::EngineSetupError;

/// Longest wait before the worker reads its orders.
const PATIENCE: Duration = Duration::from_millis(50);

/// Longest wait for a peer that does not answer.
const CONNECTING: Duration = Duration::from_secs(10);

/// First and last datagram of a sender, as fio sends them.
const OPENS: [u8; 8] = *b"link\0\0\0\x98";
const CLOSES: [u8; 8] = *b"knil\x89\0\0\0";

/// The socket of a worker.
#[derive(Debug)]
pub(super) struct Network {
    options: NetworkOptions,
    /// The listening socket, until the peer connects.
    listener: Option<OwnedFd>,
    /// Device and number of the UNIX socket that was made. While its socket is open, no other file has them.
    made: Option<(u64, u64)>,
    socket: Option<OwnedFd>,
    /// `netsplice`: data goes through it.
    pipe: Option<Pipe>,
    /// Whether the peer is there, so that requests may begin.
    begun: bool,
    /// Bytes of the current request: in its own direction, and of its answer (`pingpong`).
    moved: [usize; 2],
}

impl Network {
    /// Makes the socket. A receiver can be reached by its peer from now on.
    pub(super) fn new(options: &NetworkOptions, pipe: Option<Pipe>) -> Result<Network, EngineSetupError> {
        let mut network = Network {
            options: options.clone(),
            listener: None,
            made: None,
            socket: None,
            pipe,
            begun: false,
            moved: [0; 2],
        };
        let refused = |code: Errno| EngineSetupError::Refused {
            engine: EngineName::Net,
            call: "bind",
            code: code.raw_os_error(),
            advice: "use a port, or the path of a socket, that no other job or program has".to_owned(),
        };
        if network.options.listens() {
            network.listen().map_err(refused)?;
        }
        Ok(network)
    }

    fn listen(&mut self) -> Result<(), Errno> {
        let options = &self.options;
        let socket = self.socket()?;
        if let Some(path) = options.path() {
            let path = fsdyno_os::written::path(path);
            net::bind(&socket, &SocketAddrUnix::new(&*path)?)?;
            self.made = identity(&path);
        } else if options.protocol == Protocol::Vsock {
            net::bind(&socket, &VsockAddress::of_any_machine(options.port))?;
        } else {
            let any = if options.protocol.is_v6() { "::" } else { "0.0.0.0" };
            sockopt::set_socket_reuseaddr(&socket, true)?;
            net::bind(&socket, &address(any, options.port, options.protocol)?)?;
        }
        if options.protocol.is_datagram() {
            if let Some(host) = &options.host {
                let SocketAddr::V4(group) = address(host, options.port, options.protocol)? else {
                    return Err(Errno::AFNOSUPPORT);
                };
                sockopt::set_ip_add_membership(&socket, group.ip(), &self.interface()?)?;
            }
            self.socket = Some(socket);
        } else {
            net::listen(&socket, 8)?;
            self.listener = Some(socket);
        }
        Ok(())
    }

    fn interface(&self) -> Result<Ipv4Addr, Errno> {
        let text = self.options.interface.as_str();
        if text.is_empty() { Ok(Ipv4Addr::UNSPECIFIED) } else { text.parse().map_err(|_| Errno::INVAL) }
    }

    /// Makes a socket with the options of the job.
    fn socket(&self) -> Result<OwnedFd, Errno> {
        let options = &self.options;
        let family = match options.protocol {
            Protocol::Unix => AddressFamily::UNIX,
            Protocol::Vsock => AddressFamily::VSOCK,
            protocol if protocol.is_v6() => AddressFamily::INET6,
            _ => AddressFamily::INET,
        };
        let kind = if options.protocol.is_datagram() { SocketType::DGRAM } else { SocketType::STREAM };
        let socket = net::socket_with(family, kind, net::SocketFlags::CLOEXEC, None)?;
        if options.window_bytes > 0 {
            sockopt::set_socket_recv_buffer_size(&socket, options.window_bytes as usize)?;
            sockopt::set_socket_send_buffer_size(&socket, options.window_bytes as usize)?;
        }
        if options.segment_bytes > 0 && options.protocol.is_tcp() {
            set_segment_size(socket.as_fd(), options.segment_bytes)?;
        }
        Ok(socket)
    }

    fn connect(&self) -> Result<OwnedFd, Errno> {
        let options = &self.options;
        let socket = self.socket()?;
        sockopt::set_socket_timeout(&socket, Timeout::Send, Some(CONNECTING))?;
        if let Some(path) = options.path() {
            net::connect(&socket, &SocketAddrUnix::new(fsdyno_os::written::path(path))?)?;
            return Ok(socket);
        }
        let host = options.host.as_deref().unwrap_or_default();
        if options.protocol == Protocol::Vsock {
            let machine = host.parse().map_err(|_| Errno::INVAL)?;
            net::connect(&socket, &VsockAddress::of(machine, options.port))?;
            return Ok(socket);
        }
        let to = address(host, options.port, options.protocol)?;
        if to.ip().is_multicast() && to.is_ipv4() {
            sockopt::set_ip_multicast_ttl(&socket, options.hops.unwrap_or(1))?;
            sockopt::set_ip_multicast_if(&socket, &self.interface()?)?;
        }
        net::connect(&socket, &to).map_err(|error| if error == Errno::INPROGRESS { Errno::TIMEDOUT } else { error })?;
        Ok(socket)
    }

    /// Sets the options that every connected socket has.
    fn equip(&self, socket: OwnedFd) -> Result<OwnedFd, Errno> {
        if self.options.no_delay && self.options.protocol.is_tcp() {
            sockopt::set_tcp_nodelay(&socket, true)?;
        }
        sockopt::set_socket_timeout(&socket, Timeout::Recv, Some(PATIENCE))?;
        sockopt::set_socket_timeout(&socket, Timeout::Send, Some(PATIENCE))?;
        Ok(socket)
    }

    /// Whether the peer is there; the measured part begins then.
    #[cold]
    fn begin(&mut self) -> Result<bool, Errno> {
        let receives = self.listener.as_ref().or(self.socket.as_ref());
        let connected = match receives {
            Some(waits) if !readable(waits.as_fd())? => return Ok(false),
            Some(_) => match &self.listener {
                Some(listener) => net::accept_with(listener, net::SocketFlags::CLOEXEC)?,
                None => self.socket.take().ok_or(Errno::BADF)?,
            },
            None => self.connect()?,
        };
        self.listener = None;
        let socket = self.socket.insert(self.equip(connected)?);
        if self.options.protocol.is_datagram() && self.options.sends {
            net::send(socket, &OPENS, SendFlags::NOSIGNAL)?;
        }
        self.begun = true;
        Ok(self.options.sends)
    }

    /// Transfers a request and its answer. Returns the bytes, or one of the results of the contract.
    pub(super) fn transfer(&mut self, place: &mut [u8], read: bool) -> i64 {
        if !self.begun {
            match self.begin() {
                Ok(true) => {}
                Ok(false) => return NOT_BEGUN,
                Err(error) => return -i64::from(error.raw_os_error()),
            }
        }
        let directions = [read, !read];
        let ways = if self.options.answers { &directions[..] } else { &directions[..1] };
        for (way, read) in ways.iter().enumerate() {
            while self.moved[way] < place.len() {
                match self.part(&mut place[self.moved[way]..], *read) {
                    Ok(0) if way == 0 && self.moved[0] > 0 => return std::mem::take(&mut self.moved)[0] as i64,
                    Ok(0) => return FINISHED,
                    Ok(bytes) => self.moved[way] += bytes,
                    Err(Errno::AGAIN | Errno::INTR) => return WAITING,
                    Err(error) => return -i64::from(error.raw_os_error()),
                }
            }
        }
        self.moved = [0; 2];
        place.len() as i64
    }

    /// Transfers a part. 0: the peer has ended.
    fn part(&mut self, place: &mut [u8], read: bool) -> Result<usize, Errno> {
        let socket = self.socket.as_ref().ok_or(Errno::NOTCONN)?;
        if let Some(pipe) = self.pipe.as_mut().filter(|_| !self.options.protocol.is_datagram()) {
            return if read { pipe.receive(socket.as_fd(), place) } else { pipe.send(socket.as_fd(), place) };
        }
        if !read {
            return net::send(socket, place, SendFlags::NOSIGNAL);
        }
        if !self.options.protocol.is_datagram() {
            return net::recv(socket, place, RecvFlags::WAITALL).map(|(bytes, _)| bytes);
        }
        loop {
            let (bytes, _) = net::recv(socket, &mut *place, RecvFlags::empty())?;
            match &place[..bytes] {
                said if *said == CLOSES => return Ok(0),
                said if *said == OPENS => {}
                _ => return Ok(bytes),
            }
        }
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        if let Some(socket) = &self.socket
            && self.begun
            && self.options.sends
            && self.options.protocol.is_datagram()
        {
            // Datagrams may get lost if a receiver is slow. A receiver that gets none of the three ends by its own
            // size or time.
            for _ in 0..3 {
                let _ = net::send(socket, &CLOSES, SendFlags::NOSIGNAL);
                fsdyno_os::clock::sleep(Duration::from_millis(20));
            }
        }
        if let (Some(path), true) = (self.options.path(), self.made.is_some()) {
            // This worker made the socket file, which would prevent the next run. If another file has its name now,
            // that file belongs to another program.
            let path = fsdyno_os::written::path(path);
            if identity(&path) == self.made {
                let _ = rustix::fs::unlink(&*path);
            }
        }
    }
}

/// Device and number of what has this name.
fn identity(path: &std::path::Path) -> Option<(u64, u64)> {
    rustix::fs::lstat(path).ok().map(|found| (found.st_dev, found.st_ino))
}

fn address(host: &str, port: u16, protocol: Protocol) -> Result<SocketAddr, Errno> {
    let addresses = (host, port).to_socket_addrs().map_err(|_| Errno::HOSTUNREACH)?;
    addresses.into_iter().find(|address| address.is_ipv6() == protocol.is_v6()).ok_or(Errno::HOSTUNREACH)
}

fn readable(socket: BorrowedFd<'_>) -> Result<bool, Errno> {
    let timeout = Timespec { tv_sec: 0, tv_nsec: PATIENCE.subsec_nanos().into() };
    match poll(&mut [PollFd::from_borrowed_fd(socket, PollFlags::IN)], Some(&timeout)) {
        Err(Errno::INTR) => Ok(false),
        outcome => outcome.map(|count| count > 0),
    }
}

/// Sets TCP_MAXSEG, for which rustix has no function.
fn set_segment_size(socket: BorrowedFd<'_>, bytes: u32) -> Result<(), Errno> {
    let bytes = bytes as libc::c_int;
    let length = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: the value is an int that outlives the call, and its length is that of an int.
    let outcome = unsafe {
        libc::setsockopt(socket.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_MAXSEG, (&raw const bytes).cast(), length)
    };
    if outcome == 0 { Ok(()) } else { Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_has_become_another_file_stays() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("socket");
        let options = NetworkOptions {
            host: Some(path.to_str().unwrap().to_owned()),
            protocol: Protocol::Unix,
            ..NetworkOptions::default()
        };
        drop(Network::new(&options, None).unwrap());
        assert!(!path.exists(), "its own socket is removed");
        let network = Network::new(&options, None).unwrap();
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, "of somebody else").unwrap();
        drop(network);
        assert_eq!(std::fs::read(&path).unwrap(), b"of somebody else");
        assert!(Network::new(&options, None).is_err());
        assert!(path.exists(), "nothing was bound");
    }
}
