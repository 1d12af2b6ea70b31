//! Bytes of the TCP connections of daemons. The kernel counts the bytes of a connection while it is open. A
//! connection is found by the open sockets of its process, and then queried by its addresses. The list of all
//! connections is costly, so that it is read only when the process has an unknown socket.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use fsdyno_results::ReadWrite;
use fsdyno_results::evidence::SocketCounters;
use netlink_packet_core::{NLM_F_DUMP, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload};
use netlink_packet_sock_diag::SockDiagMessage;
use netlink_packet_sock_diag::constants::{AF_INET, AF_INET6, IPPROTO_TCP};
use netlink_packet_sock_diag::inet::{ExtensionFlags, InetRequest, InetResponse, SocketId, StateFlags, nlas::Nla};
use netlink_packet_sock_diag::unix::{self, UnixRequest};
use rustix::fd::OwnedFd;
use rustix::net::netlink::{SOCK_DIAG, SocketAddrNetlink};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};

use super::growth::growth;
use crate::linux::{Look, processes};
use crate::{Fact, NotVisible};

/// The place for reasons: where the kernel was asked.
const PLACE: &str = "sock_diag";

/// Largest message of the kernel's answers, bytes.
const ANSWER_BYTES: usize = 64 << 10;

/// Room for the answer about one connection, which takes some hundred bytes.
const ONE_BYTES: usize = 4 << 10;

/// Longest wait for an answer; the kernel answers at once or never.
const PATIENCE: Duration = Duration::from_secs(1);

/// Offset in `struct tcp_info` of the segments that were sent again.
const REPEATED_AT: usize = 100;
/// Offset in `struct tcp_info` of the acknowledged bytes.
const ACKNOWLEDGED_AT: usize = 120;
/// Offset in `struct tcp_info` of the received bytes.
const RECEIVED_AT: usize = 128;
/// Offset in `struct tcp_info` of the segments with data that were sent, repetitions included (Linux 4.6).
const DATA_SEGMENTS_AT: usize = 156;

/// How often a socket is looked up in the list; a socket that is not connected yet is not in it.
const SEARCHES: u32 = 3;

/// A connection in the kernel's list.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Connection {
    family: u8,
    /// Its identifier. The cookie in it is never used again until the next boot.
    id: SocketId,
    /// Its inode in `/proc/PID/fd`; 0: the process has closed it, and the kernel is still sending.
    inode: u32,
    counts: Counts,
}

/// What the kernel counts of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Counts {
    /// Bytes received, then bytes sent and acknowledged.
    bytes: ReadWrite<u64>,
    /// Segments with data that were sent, without repetitions; `None`: an old kernel.
    segments: Option<u64>,
}

impl Counts {
    const ZERO: Counts = Counts { bytes: ReadWrite { read: 0, write: 0 }, segments: Some(0) };
}

/// The TCP connections of some daemons.
#[derive(Debug)]
pub(super) struct SocketMeter {
    pids: BTreeSet<u32>,
    /// Each connection with its counts at the first look (0 if it is younger than the meter) and at the last look, by
    /// its cookie.
    known: BTreeMap<[u8; 8], Known>,
    /// Sockets that are not in the list, with the number of lookups: not TCP, or not connected.
    strangers: BTreeMap<u32, u32>,
    begun: bool,
}

#[derive(Debug)]
struct Known {
    family: u8,
    id: SocketId,
    inode: u32,
    first: Counts,
    last: Counts,
    /// Whether its process has it open.
    open: bool,
    /// Whether the kernel still knows it.
    alive: bool,
}

impl SocketMeter {
    /// Not visible if a daemon is not known, or is in another network namespace, whose connections the kernel does
    /// not show here.
    pub(super) fn begin(look: &Look, daemons: impl Iterator<Item = Fact<u32>>) -> Fact<SocketMeter> {
        let mut pids = BTreeSet::new();
        for daemon in daemons {
            pids.insert(daemon?);
        }
        if pids.is_empty() {
            return Err(NotVisible::new(PLACE, "there is no daemon between the mount and its server"));
        }
        for pid in &pids {
            same_network(look, *pid)?;
        }
        Ok(SocketMeter { pids, known: BTreeMap::new(), strangers: BTreeMap::new(), begun: false })
    }

    /// Bytes of all connections since the first reading.
    pub(super) fn read(&mut self, look: &Look) -> Fact<SocketCounters> {
        let mut inodes = BTreeSet::new();
        for pid in &self.pids {
            inodes.extend(open_sockets(&look.proc.join(pid.to_string()))?);
        }
        let connections = self.ask(&inodes).map_err(|reason| NotVisible::new(PLACE, reason))?;
        Ok(self.count(&inodes, &connections))
    }

    /// The known connections that still exist, and new ones if there may be any.
    fn ask(&mut self, inodes: &BTreeSet<u32>) -> Result<Vec<Connection>, String> {
        let kernel = kernel()?;
        let mut connections = Vec::new();
        for known in self.known.values().filter(|known| known.alive) {
            // A connection that is no longer found has ended.
            let _ = answers(&kernel, known.family, known.id.clone(), 0, &mut connections);
        }
        self.strangers.retain(|inode, _| inodes.contains(inode));
        let is_known = |inode: &u32| {
            self.known.values().any(|known| known.open && known.inode == *inode)
                || self.strangers.get(inode).is_some_and(|searches| *searches >= SEARCHES)
        };
        let new: Vec<u32> = inodes.iter().copied().filter(|inode| !is_known(inode)).collect();
        if !new.is_empty() {
            answers(&kernel, AF_INET, SocketId::new_v4(), NLM_F_DUMP, &mut connections)?;
            // A kernel without IPv6 has no such connections.
            let _ = answers(&kernel, AF_INET6, SocketId::new_v6(), NLM_F_DUMP, &mut connections);
        }
        for inode in new {
            if connections.iter().all(|connection| connection.inode != inode) {
                *self.strangers.entry(inode).or_default() += 1;
            }
        }
        Ok(connections)
    }

    fn count(&mut self, inodes: &BTreeSet<u32>, connections: &[Connection]) -> SocketCounters {
        self.known.values_mut().for_each(|known| (known.open, known.alive) = (false, false));
        for connection in connections {
            let open = inodes.contains(&connection.inode);
            if !open && !self.known.contains_key(&connection.id.cookie) {
                continue;
            }
            let known = self.known.entry(connection.id.cookie).or_insert_with(|| Known {
                family: connection.family,
                id: connection.id.clone(),
                inode: connection.inode,
                first: if self.begun { Counts::ZERO } else { connection.counts },
                last: connection.counts,
                open,
                alive: true,
            });
            // The kernel may still be sending on a connection that its process has closed.
            (known.last, known.open, known.alive) = (connection.counts, open, true);
        }
        self.begun = true;
        let all = || self.known.values().map(|known| (known.first, known.last));
        let grown = all().map(|(first, last)| last.bytes.since(first.bytes));
        let open = self.known.values().filter(|known| known.open).count() as u64;
        SocketCounters {
            bytes: grown.fold(ReadWrite::default(), ReadWrite::plus),
            open,
            closed: growth(open, self.known.len() as u64),
            data_segments_sent: all().map(|(first, last)| Some(growth(first.segments?, last.segments?))).sum(),
        }
    }
}

/// Checks that a process is in this network namespace; the kernel shows only the connections of the caller's
/// namespace.
fn same_network(look: &Look, pid: u32) -> Fact<()> {
    if !processes::shares_namespace(look, pid, "net")? {
        return Err(NotVisible::new(PLACE, format!("process {pid} runs in another network namespace")));
    }
    Ok(())
}

/// The inodes of the sockets that a process has open. Only its own user and root can see them.
pub(super) fn open_sockets(process: &Path) -> Fact<Vec<u32>> {
    let directory = process.join("fd");
    let entries = std::fs::read_dir(&directory).map_err(|error| NotVisible::new(directory.display(), error))?;
    let inode = |entry: std::fs::DirEntry| {
        let target = entry.path().read_link().ok()?;
        target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
    };
    Ok(entries.flatten().filter_map(inode).collect())
}

/// Opens the socket by which the kernel is asked.
fn kernel() -> Result<OwnedFd, String> {
    let family = AddressFamily::NETLINK;
    let socket = rustix::net::socket_with(family, SocketType::DGRAM, SocketFlags::CLOEXEC, Some(SOCK_DIAG));
    let socket = socket.map_err(system)?;
    set_socket_timeout(&socket, Timeout::Recv, Some(PATIENCE)).map_err(system)?;
    Ok(socket)
}

fn system(error: rustix::io::Errno) -> String {
    std::io::Error::from(error).to_string()
}

/// Asks for the connection of this name, or with `NLM_F_DUMP` for all connections of the network namespace.
fn answers(kernel: &OwnedFd, family: u8, id: SocketId, dump: u16, all: &mut Vec<Connection>) -> Result<(), String> {
    let mut add = |message| {
        if let SockDiagMessage::InetResponse(response) = message {
            all.extend(connection(&response));
        }
    };
    let mut states = StateFlags::all();
    states.remove(StateFlags::LISTEN | StateFlags::TIME_WAIT);
    let request =
        InetRequest { family, protocol: IPPROTO_TCP, extensions: ExtensionFlags::INFO, states, socket_id: id };
    ask(kernel, SockDiagMessage::InetRequest(request), dump, &mut add)
}

/// The local sockets of this network namespace by inode, each with the inode of its peer if it is connected.
pub(super) fn unix_peers() -> Result<Vec<(u32, Option<u32>)>, String> {
    let request = UnixRequest {
        state_flags: unix::StateFlags::all(),
        inode: 0,
        show_flags: unix::ShowFlags::PEER,
        cookie: [0xff; 8],
    };
    let mut peers = Vec::new();
    let mut add = |message| {
        if let SockDiagMessage::UnixResponse(response) = message {
            peers.push((response.header.inode, response.peer()));
        }
    };
    ask(&kernel()?, SockDiagMessage::UnixRequest(request), NLM_F_DUMP, &mut add)?;
    Ok(peers)
}

/// Sends a request and calls `add` with each message of the answers.
fn ask(
    kernel: &OwnedFd,
    request: SockDiagMessage,
    dump: u16,
    add: &mut dyn FnMut(SockDiagMessage),
) -> Result<(), String> {
    let mut header = NetlinkHeader::default();
    header.flags = NLM_F_REQUEST | dump;
    let mut message = NetlinkMessage::new(header, request.into());
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    rustix::net::sendto(kernel, &bytes, SendFlags::empty(), &SocketAddrNetlink::new(0, 0)).map_err(system)?;
    let mut buffer = vec![0; if dump == 0 { ONE_BYTES } else { ANSWER_BYTES }];
    loop {
        let (length, _) = rustix::net::recv(kernel, &mut buffer[..], RecvFlags::empty()).map_err(system)?;
        let follows = answer(&buffer[..length], add)?;
        if dump == 0 || !follows {
            return Ok(());
        }
    }
}

/// Reads the messages of one answer; returns whether more answers follow.
fn answer(mut rest: &[u8], add: &mut dyn FnMut(SockDiagMessage)) -> Result<bool, String> {
    while !rest.is_empty() {
        let message = NetlinkMessage::<SockDiagMessage>::deserialize(rest).map_err(|error| error.to_string())?;
        // Messages begin at multiples of 4.
        let length = (message.header.length as usize).next_multiple_of(4).clamp(1, rest.len());
        match message.payload {
            NetlinkPayload::InnerMessage(message) => add(message),
            NetlinkPayload::Done(_) => return Ok(false),
            NetlinkPayload::Error(error) => return Err(error.to_io().to_string()),
            _ => {}
        }
        rest = &rest[length..];
    }
    Ok(true)
}

/// `None`: the kernel does not count its bytes, because it is not connected yet.
fn connection(response: &InetResponse) -> Option<Connection> {
    let info = response.nlas.iter().find_map(|attribute| match attribute {
        Nla::TcpInfo(info) => Some(info),
        _ => None,
    })?;
    let figure = |at: usize| Some(u64::from_ne_bytes(info.get(at..at + 8)?.try_into().ok()?));
    let short = |at: usize| Some(u32::from_ne_bytes(info.get(at..at + 4)?.try_into().ok()?));
    let bytes = ReadWrite { read: figure(RECEIVED_AT)?, write: figure(ACKNOWLEDGED_AT)? };
    let segments = short(DATA_SEGMENTS_AT).zip(short(REPEATED_AT));
    let counts = Counts { bytes, segments: segments.map(|(sent, again)| sent.saturating_sub(again).into()) };
    let header = &response.header;
    Some(Connection { family: header.family, id: header.socket_id.clone(), inode: header.inode, counts })
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    use super::*;

    fn meter() -> SocketMeter {
        SocketMeter { pids: BTreeSet::new(), known: BTreeMap::new(), strangers: BTreeMap::new(), begun: false }
    }

    fn at(number: u8, inode: u32, bytes: [u64; 2]) -> Connection {
        let counts = Counts { bytes: bytes.into(), segments: Some(bytes[1] / 10) };
        Connection { family: AF_INET, id: SocketId { cookie: [number; 8], ..SocketId::new_v4() }, inode, counts }
    }

    #[test]
    fn connections_that_come_and_go() {
        let mut meter = meter();
        let ours = BTreeSet::from([10, 11]);
        let counters = |bytes: [u64; 2], segments, (open, closed)| SocketCounters {
            bytes: bytes.into(),
            open,
            closed,
            data_segments_sent: Some(segments),
        };
        let first = meter.count(&ours, &[at(1, 10, [500, 50]), at(9, 99, [7, 7])]);
        assert_eq!(first, counters([0, 0], 0, (1, 0)), "older than the meter; not ours");
        let second = meter.count(&ours, &[at(1, 10, [600, 50]), at(2, 11, [30, 3])]);
        assert_eq!(second, counters([130, 3], 0, (2, 0)));
        let lingers = meter.count(&ours, &[at(1, 10, [600, 50]), at(2, 0, [30, 40])]);
        assert_eq!(lingers, counters([130, 40], 4, (1, 1)), "it still sends");
        let gone = meter.count(&ours, &[at(1, 10, [601, 50])]);
        assert_eq!(gone, counters([131, 40], 4, (1, 1)), "its bytes are kept");
        let mut old = at(1, 10, [601, 50]);
        old.counts.segments = None;
        assert_eq!(meter.count(&ours, &[old]).data_segments_sent, None, "unknown is not 0");
    }

    #[test]
    fn this_process_is_counted_to_the_byte() {
        let look = Look::new();
        let own = std::process::id();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut far, _) = listener.accept().unwrap();
        let mut meter = match SocketMeter::begin(&look, [Ok(own)].into_iter()) {
            Ok(meter) => meter,
            Err(reason) => return eprintln!("skipped: {reason}"),
        };
        // Both ends belong to this process.
        let before = match meter.read(&look) {
            Ok(counters) => counters,
            Err(reason) => return eprintln!("skipped: {reason}"),
        };
        near.write_all(&[1; 100_000]).unwrap();
        far.read_exact(&mut vec![0; 100_000]).unwrap();
        // The answer carries the acknowledgement of the request.
        far.write_all(&[2; 1000]).unwrap();
        near.read_exact(&mut [0; 1000]).unwrap();
        let after = meter.read(&look).unwrap();
        assert_eq!(before.bytes, [0, 0].into());
        // The kernel counts the end of a connection as one byte, and other tests of this process also have
        // connections.
        let counted = |counters: &SocketCounters| (101_000..101_100).contains(&counters.bytes.read);
        assert!(counted(&after) && after.bytes.write >= 100_000, "{after:?}");
        assert!(after.open >= 2, "{after:?}");
        for _ in 0..10 {
            near.write_all(b"?").unwrap();
            far.read_exact(&mut [0]).unwrap();
            far.write_all(b"!").unwrap();
            near.read_exact(&mut [0]).unwrap();
        }
        let segments = |counters: &SocketCounters| counters.data_segments_sent.expect("this kernel counts them");
        let asked = meter.read(&look).unwrap();
        assert!((20..30).contains(&(segments(&asked) - segments(&after))), "{asked:?} behind {after:?}");
        drop(near);
        // The listening socket is never a connection; the other end is one until it is closed.
        let strangers = meter.strangers.clone();
        let gone = meter.read(&look).unwrap();
        assert!(gone.closed > after.closed && counted(&gone), "{gone:?}");
        assert!(!strangers.is_empty() && meter.strangers.values().all(|searches| *searches <= SEARCHES));
    }

    #[test]
    fn what_is_not_known_says_why() {
        let look = Look::new();
        let nobody = SocketMeter::begin(&look, std::iter::empty()).unwrap_err();
        assert!(nobody.reason.contains("no daemon"), "{nobody}");
        let unknown = [Ok(1), Err(NotVisible::new("/proc", "several daemons match"))];
        assert!(SocketMeter::begin(&look, unknown.into_iter()).unwrap_err().reason.contains("several daemons match"));
        let gone = SocketMeter::begin(&look, [Ok(u32::MAX)].into_iter()).unwrap_err();
        assert!(gone.place.ends_with("ns/net"), "{gone}");
    }
}
