//! What the kernel counts of a TCP connection.

use std::os::fd::{AsRawFd, BorrowedFd};

/// Offset of `tcpi_busy_time` and, behind it, `tcpi_rwnd_limited` in the kernel's `struct tcp_info` (Linux 4.10), bytes.
const BUSY_AT: usize = 168;

/// Bytes of `struct tcp_info` that are asked for; an older kernel gives fewer.
const INFO_BYTES: usize = BUSY_AT + 2 * size_of::<u64>();

/// How long a connection was sending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SendTimes {
    /// Time with data that were to be sent, or not acknowledged, ns.
    pub busy_ns: u64,
    /// Part of it in which the receive window of the other end kept this end from sending, ns.
    pub window_limited_ns: u64,
}

impl SendTimes {
    /// The times of two connections together.
    pub fn plus(self, other: SendTimes) -> SendTimes {
        SendTimes {
            busy_ns: self.busy_ns.saturating_add(other.busy_ns),
            window_limited_ns: self.window_limited_ns.saturating_add(other.window_limited_ns),
        }
    }
}

/// The times of a connection since it was opened; `None`: this kernel does not count them, or it is no TCP socket.
pub fn send_times(socket: BorrowedFd<'_>) -> Option<SendTimes> {
    let mut info = [0u8; INFO_BYTES];
    let mut length = INFO_BYTES as libc::socklen_t;
    // SAFETY: the descriptor is open as long as it is borrowed; the kernel writes at most `length` bytes, which is the size of
    // `info`, and then their number into `length`.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            info.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    let (times, _) = info[BUSY_AT..].as_chunks::<8>();
    let [busy, limited] = times.first_chunk().filter(|_| result == 0 && length as usize == INFO_BYTES)?;
    let ns = |micros: &[u8; 8]| u64::from_ne_bytes(*micros).saturating_mul(1000);
    Some(SendTimes { busy_ns: ns(busy), window_limited_ns: ns(limited) })
}

/// Asks for a receive buffer of this size for a socket, or for the connections that a listening one accepts.
///
/// # Errors
/// The system's, when it refuses.
pub fn set_receive_buffer_bytes(socket: BorrowedFd<'_>, bytes: usize) -> std::io::Result<()> {
    Ok(rustix::net::sockopt::set_socket_recv_buffer_size(socket, bytes)?)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsFd;
    use std::time::Duration;

    use super::*;

    #[test]
    fn an_end_that_does_not_read_limits_the_other_one() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut receiver, _) = listener.accept().unwrap();
        assert_eq!(send_times(sender.as_fd()), Some(SendTimes::default()));
        sender.set_nonblocking(true).unwrap();
        let mut written = 0;
        while let Ok(bytes) = sender.write(&[1; 64 << 10]) {
            written += bytes;
        }
        crate::clock::sleep(Duration::from_millis(300));
        receiver.read_exact(&mut vec![0; written]).unwrap();
        let times = send_times(sender.as_fd()).unwrap();
        assert!(times.window_limited_ns > 100_000_000 && times.busy_ns >= times.window_limited_ns, "{times:?}");
        // What is no TCP socket has no such counter.
        assert_eq!(send_times(std::fs::File::open("/dev/null").unwrap().as_fd()), None);
    }
}
