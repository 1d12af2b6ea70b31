//! A connection to a server: bytes in both directions, encrypted or not. Every wait is short.

use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

use fsdyno_os::clock::{Clock, RealClock};
use fsdyno_os::linux::sockets::{self, SendTimes};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection};

/// Longest wait before the worker looks at its orders.
const PATIENCE: Duration = Duration::from_millis(50);

/// Longest wait for a server that does not take a connection, and again for its part of the handshake.
const CONNECTING: Duration = Duration::from_secs(10);

/// Bytes that are taken from the socket at once: rustls itself asks for 4 KiB.
const INBOX_BYTES: usize = 256 << 10;

/// The connection of a worker.
pub(super) enum Stream {
    Plain(TcpStream),
    Encrypted(Box<Encrypted>),
}

/// A request to send: its head, its body, and the number of bytes already sent.
pub(super) struct Outgoing<'a> {
    pub(super) head: &'a [u8],
    pub(super) body: &'a [u8],
    pub(super) sent: &'a mut usize,
}

impl<'a> Outgoing<'a> {
    fn rest(&self) -> [&'a [u8]; 2] {
        match self.sent.checked_sub(self.head.len()) {
            None => [&self.head[*self.sent..], self.body],
            Some(of_body) => [&[], &self.body[of_body..]],
        }
    }

    fn is_done(&self) -> bool {
        *self.sent == self.head.len() + self.body.len()
    }
}

/// TLS settings, and the name that the server's certificate must have.
pub(super) type Identity = (Arc<ClientConfig>, ServerName<'static>);

/// An open connection, with the time to connect and the time of the TLS handshake.
pub(super) struct Connected {
    pub(super) stream: Stream,
    pub(super) connect_ns: u64,
    pub(super) handshake_ns: Option<u64>,
}

pub(super) fn connect(address: &SocketAddr, identity: Option<&Identity>, clock: &RealClock) -> io::Result<Connected> {
    let began_ns = clock.now_ns();
    let socket = TcpStream::connect_timeout(address, CONNECTING)?;
    socket.set_nodelay(true)?;
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.set_write_timeout(Some(PATIENCE))?;
    let connect_ns = clock.now_ns().saturating_sub(began_ns);
    let Some((config, name)) = identity else {
        return Ok(Connected { stream: Stream::Plain(socket), connect_ns, handshake_ns: None });
    };
    let encrypted = Encrypted::new(socket, Arc::clone(config), name.clone(), clock)?;
    let handshake_ns = Some(clock.now_ns().saturating_sub(began_ns + connect_ns));
    Ok(Connected { stream: Stream::Encrypted(Box::new(encrypted)), connect_ns, handshake_ns })
}

impl Stream {
    /// Sends the rest. A wait that is over ends with an error that says so, and what is on its way is counted.
    pub(super) fn send(&mut self, mut what: Outgoing<'_>) -> io::Result<()> {
        match self {
            Stream::Plain(socket) => {
                while !what.is_done() {
                    match socket.write_vectored(&what.rest().map(IoSlice::new))? {
                        0 => return Err(ErrorKind::WriteZero.into()),
                        bytes => *what.sent += bytes,
                    }
                }
                Ok(())
            }
            Stream::Encrypted(encrypted) => encrypted.send(&mut what),
        }
    }

    /// 0: the server has closed the connection.
    pub(super) fn receive(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(socket) => socket.read(into),
            Stream::Encrypted(encrypted) => encrypted.receive(into),
        }
    }

    /// Time to encrypt and to decrypt since the last call, ns; `None`: nothing is encrypted.
    pub(super) fn take_tls_ns(&mut self) -> Option<u64> {
        let Stream::Encrypted(encrypted) = self else { return None };
        Some(std::mem::take(&mut encrypted.spent_ns))
    }

    /// How long it was sending; `None`: not visible.
    pub(super) fn send_times(&self) -> Option<SendTimes> {
        let socket = match self {
            Stream::Plain(socket) => socket,
            Stream::Encrypted(encrypted) => &encrypted.socket,
        };
        sockets::send_times(socket.as_fd())
    }

    /// Version and cipher of TLS.
    pub(super) fn cipher(&self) -> Option<String> {
        let Stream::Encrypted(encrypted) = self else { return None };
        let session = &encrypted.session;
        let (version, suite) = (session.protocol_version()?, session.negotiated_cipher_suite()?.suite());
        Some(format!("{} {}", version.as_str()?, suite.as_str()?))
    }
}

/// TLS over a socket.
pub(super) struct Encrypted {
    socket: TcpStream,
    session: ClientConnection,
    inbox: Box<[u8]>,
    /// The part of the inbox that is received and not yet given to the TLS session.
    unread: std::ops::Range<usize>,
    clock: RealClock,
    /// Time to encrypt and to decrypt, ns.
    spent_ns: u64,
}

impl Encrypted {
    fn new(
        socket: TcpStream,
        config: Arc<ClientConfig>,
        name: ServerName<'static>,
        clock: &RealClock,
    ) -> io::Result<Encrypted> {
        let session = ClientConnection::new(config, name).map_err(io::Error::other)?;
        let inbox = vec![0; INBOX_BYTES].into_boxed_slice();
        let mut encrypted = Encrypted { socket, session, inbox, unread: 0..0, clock: *clock, spent_ns: 0 };
        let until_ns = clock.now_ns() + CONNECTING.as_nanos() as u64;
        while encrypted.session.is_handshaking() {
            match encrypted.shake_hands() {
                Err(error) if is_wait(&error) => {}
                outcome => outcome?,
            }
            if clock.now_ns() > until_ns {
                return Err(ErrorKind::TimedOut.into());
            }
        }
        encrypted.spent_ns = 0;
        Ok(encrypted)
    }

    /// One step of the handshake.
    fn shake_hands(&mut self) -> io::Result<()> {
        self.flush()?;
        if self.session.wants_read() && self.take_in()? == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        self.flush()
    }

    fn flush(&mut self) -> io::Result<()> {
        while self.session.wants_write() {
            self.session.write_tls(&mut self.socket)?;
        }
        Ok(())
    }

    fn send(&mut self, what: &mut Outgoing<'_>) -> io::Result<()> {
        loop {
            self.flush()?;
            if what.is_done() {
                return Ok(());
            }
            // Together, so that a small body is in the same record and the same packet.
            let [head, body] = what.rest();
            let began_ns = self.clock.now_ns();
            let mut taken = self.session.writer().write(head)?;
            if taken == head.len() {
                taken += self.session.writer().write(body)?;
            }
            *what.sent += taken;
            self.spent_ns += self.clock.now_ns().saturating_sub(began_ns);
        }
    }

    /// Gives the session the next bytes, from the socket where none are left. 0: the server has closed the connection.
    fn take_in(&mut self) -> io::Result<usize> {
        if self.unread.is_empty() {
            self.unread = 0..self.socket.read(&mut self.inbox)?;
        }
        let began_ns = self.clock.now_ns();
        let mut rest = &self.inbox[self.unread.clone()];
        let bytes = self.session.read_tls(&mut rest)?;
        self.unread.start += bytes;
        self.session.process_new_packets().map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
        self.spent_ns += self.clock.now_ns().saturating_sub(began_ns);
        Ok(bytes)
    }

    fn receive(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.session.reader().read(into) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                // The end of the connection without that of TLS: who knows the length of a body is not misled by it.
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(0),
                outcome => return outcome,
            }
            self.take_in()?;
        }
    }
}

/// Whether the error only means that no bytes have arrived yet.
pub(super) fn is_wait(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted | ErrorKind::TimedOut)
}

/// Whether the server has closed the connection.
pub(super) fn is_closed(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::BrokenPipe | ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted | ErrorKind::UnexpectedEof
    )
}
