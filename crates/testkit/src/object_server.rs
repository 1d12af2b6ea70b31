//! A server of objects in the test's own process: an honest one, and ones that do what servers do when they fail.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::ops::{Deref, Range};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::object_list::{self, Objects};
use crate::object_uploads::Uploads;

/// Of a thread of it.
const STACK_BYTES: usize = 1 << 20;

/// What a server does with its requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerBehaviour {
    /// Keeps what is written, and gives it back.
    Honest,
    /// The same, with bodies in chunks.
    Chunked,
    /// The same; an interim answer comes before each answer.
    Interim,
    /// The same; it closes each connection behind its answer, and does not say so before.
    ClosesBehindAnswers,
    /// Keeps what is written; its buckets keep the versions of objects.
    Versioned,
    /// The same; versions were kept earlier.
    Suspended,
    /// Keeps what is written; its buckets lock objects.
    Locks,
    /// Keeps what is written; its clock shows the year 1994.
    OldClock,
    /// Keeps what is written; its answers have this date.
    Dated(&'static str),
    /// Keeps what is written, and lets nobody list a bucket or ask for its state.
    Tacit,
    /// Keeps what is written; each request that this number divides is refused (503), because there are too many.
    WantsFewer(usize),
    /// Keeps what is written; in an answer this time, ms, is between head and body.
    HeadFirst(u64),
    /// Keeps what is written; it sends head and body by two calls, and Nagle's algorithm is on.
    Nagle,
    /// Keeps what is written; the receive buffers of its connections are small.
    SmallWindow,
    /// Keeps what is written, and the part of a body that has come where its connection ends, as folders of WebDAV do; it
    /// waits this time, ms, before it takes a body. The receive buffers of its connections are small.
    KeepsParts(u64),
    /// Keeps what is written; this number of requests take 100 ms, all later ones 5 ms.
    WarmsUp(usize),
    /// Keeps what is written; it knows no ranges, no conditions and no pages.
    Careless,
    /// Keeps the markers of runs, and refuses every other object: it wants fewer requests.
    KeepsMarkersAlone,
    /// Answers every request with this status and this body.
    Status(u16, &'static str),
    /// The head of its answer never ends.
    EndlessHead,
    /// Claims this number of bytes more than it sends, then closes the connection.
    ClaimsMore(u64),
    /// Sends objects of this length, whatever was asked for.
    OtherLength(usize),
    /// Sends one byte of its answer now and then.
    SlowBytes,
    /// Keeps what is written, and sends the pages of lists one byte at a time, without an end.
    SlowPages,
    /// Keeps what is written; after each page of a list comes another one.
    EndlessPages,
    /// Keeps what is written; the end of an upload in parts fails behind a good status.
    CompletesBadly,
    /// Takes requests and never answers.
    Silent,
    /// Closes the connection when a request has come.
    ClosesAtOnce,
    /// Answers with a text that is not HTTP.
    OtherProtocol,
    /// Redirects each request to itself.
    Redirects,
    /// Answers an error with a body that never ends.
    EndlessError,
}

/// Requests that a server holds.
#[derive(Clone, Copy)]
struct Held {
    /// The method that counts; empty: each does.
    method: &'static str,
    /// The number of requests that are still answered.
    left: usize,
    /// The first request that is held is done all the same, without an answer; all others are never done.
    done: bool,
    /// A request has come that is held.
    holds: bool,
}

/// The server; it ends when it is dropped.
pub struct ObjectServer {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    manner: ServerBehaviour,
    tls: Option<Arc<ServerConfig>>,
    objects: Mutex<Objects>,
    uploads: Mutex<Uploads>,
    heads: Mutex<Vec<String>>,
    held: Mutex<Option<Held>>,
    connections: AtomicUsize,
    over: AtomicBool,
}

/// The body of an answer.
struct Body {
    bytes: Arc<Vec<u8>>,
    part: Range<usize>,
}

impl From<Vec<u8>> for Body {
    fn from(bytes: Vec<u8>) -> Body {
        Body { part: 0..bytes.len(), bytes: Arc::new(bytes) }
    }
}

impl Deref for Body {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[self.part.clone()]
    }
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ObjectServer {
    /// On a free port of this machine.
    pub fn start(manner: ServerBehaviour) -> ObjectServer {
        ObjectServer::begin("127.0.0.1:0", manner, None)
    }

    /// The same on all addresses of this machine.
    pub fn start_on_all_addresses(manner: ServerBehaviour) -> ObjectServer {
        ObjectServer::begin("0.0.0.0:0", manner, None)
    }

    /// The same with TLS; `key.pem` and `certificate.pem` are made in `folder`. Without openssl prints that the test is
    /// skipped.
    pub fn start_encrypted(manner: ServerBehaviour, folder: &Path) -> Option<ObjectServer> {
        let words = "req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out certificate.pem -days 2 -subj /CN=localhost \
                     -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -addext basicConstraints=critical,CA:FALSE";
        let made = Command::new("openssl").args(words.split_whitespace()).current_dir(folder).output();
        if !made.is_ok_and(|ran| ran.status.success()) {
            crate::skip("openssl makes no certificate");
            return None;
        }
        let certificate = CertificateDer::from_pem_file(folder.join("certificate.pem")).expect("a certificate");
        let key = PrivateKeyDer::from_pem_file(folder.join("key.pem")).expect("a key");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions of TLS")
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key)
            .expect("a certificate with its key");
        Some(ObjectServer::begin("127.0.0.1:0", manner, Some(Arc::new(config))))
    }

    fn begin(at: &str, manner: ServerBehaviour, tls: Option<Arc<ServerConfig>>) -> ObjectServer {
        let listener = TcpListener::bind(at).expect("a port");
        if matches!(manner, ServerBehaviour::SmallWindow | ServerBehaviour::KeepsParts(_)) {
            // Its connections have the same.
            fsdyno_os::linux::sockets::set_receive_buffer_bytes(listener.as_fd(), 4 << 10).expect("a size");
        }
        let address = listener.local_addr().expect("a bound socket");
        let shared = Arc::new(Shared {
            manner,
            tls,
            objects: Mutex::default(),
            uploads: Mutex::default(),
            heads: Mutex::default(),
            held: Mutex::default(),
            connections: AtomicUsize::new(0),
            over: AtomicBool::new(false),
        });
        let ours = Arc::clone(&shared);
        fsdyno_os::thread::begin("object-server", STACK_BYTES, move || {
            for socket in listener.incoming().map_while(Result::ok) {
                if ours.over.load(Ordering::Relaxed) {
                    break;
                }
                ours.connections.fetch_add(1, Ordering::Relaxed);
                let shared = Arc::clone(&ours);
                // A connection that breaks is the client's business, which the test looks at.
                let serve = move || drop(shared.serve(socket));
                drop(fsdyno_os::thread::begin("connection", STACK_BYTES, serve));
            }
        })
        .expect("a thread");
        ObjectServer { address, shared }
    }

    /// As `http_host` has it.
    pub fn host(&self) -> String {
        self.address.to_string()
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// The heads of all requests so far.
    pub fn heads(&self) -> Vec<String> {
        locked(&self.shared.heads).clone()
    }

    /// Holds all requests from the one with this number on (1: the next one), counting those of this method (empty: all):
    /// nothing is answered. `done`: the first of them has its effect, the others have none.
    pub fn hold(&self, method: &'static str, number: usize, done: bool) {
        *locked(&self.shared.held) = Some(Held { method, left: number - 1, done, holds: false });
    }

    /// Whether it holds a request.
    pub fn holds(&self) -> bool {
        locked(&self.shared.held).is_some_and(|held| held.holds)
    }

    /// Closes the connections of held requests, and answers later ones.
    pub fn let_go(&self) {
        *locked(&self.shared.held) = None;
    }

    /// Number of uploads in parts that are not complete.
    pub fn open_uploads(&self) -> usize {
        locked(&self.shared.uploads).len()
    }

    /// Number of requests so far.
    pub fn requests(&self) -> usize {
        locked(&self.shared.heads).len()
    }

    /// What is kept, by path.
    pub fn objects(&self) -> BTreeMap<String, Arc<Vec<u8>>> {
        locked(&self.shared.objects).clone()
    }

    /// Keeps an object.
    pub fn keep(&self, path: &str, bytes: &[u8]) {
        locked(&self.shared.objects).insert(path.to_owned(), Arc::new(bytes.to_vec()));
    }

    /// Removes an object.
    pub fn forget(&self, path: &str) {
        locked(&self.shared.objects).remove(path);
    }

    /// Number of connections so far.
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::Relaxed)
    }
}

impl Drop for ObjectServer {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::Relaxed);
        // It waits for a connection.
        drop(TcpStream::connect(self.address));
    }
}

/// Both directions of a connection.
trait Duplex: Read + Write {}
impl<T: Read + Write> Duplex for T {}

impl Shared {
    fn serve(&self, socket: TcpStream) -> std::io::Result<()> {
        socket.set_nodelay(self.manner != ServerBehaviour::Nagle)?;
        match &self.tls {
            None => self.converse(socket),
            Some(config) => {
                let session = ServerConnection::new(Arc::clone(config)).map_err(std::io::Error::other)?;
                self.converse(StreamOwned::new(session, socket))
            }
        }
    }

    fn converse(&self, connection: impl Duplex) -> std::io::Result<()> {
        let mut connection = BufReader::new(connection);
        while let Some((head, body)) = self.take_request(&mut connection)? {
            locked(&self.heads).push(head.clone());
            if let Some(done) = self.is_held(&head) {
                if done {
                    self.answer(&head, body, &mut Vec::new())?;
                }
                while locked(&self.held).is_some() && !self.over.load(Ordering::Relaxed) {
                    fsdyno_os::clock::sleep(Duration::from_millis(2));
                }
                break;
            }
            if !self.answer(&head, body, connection.get_mut())? {
                break;
            }
            connection.get_mut().flush()?;
        }
        Ok(())
    }

    /// The next request; `None`: the client has gone.
    fn take_request(&self, from: &mut impl BufRead) -> std::io::Result<Option<(String, Vec<u8>)>> {
        let Some(head) = take_head(from)? else { return Ok(None) };
        let length = field(&head, "content-length").and_then(|digits| digits.parse().ok()).unwrap_or(0_usize);
        let keeps_parts = matches!(self.manner, ServerBehaviour::KeepsParts(_));
        if let (ServerBehaviour::KeepsParts(wait_ms), 1..) = (self.manner, length) {
            fsdyno_os::clock::sleep(Duration::from_millis(wait_ms));
        }
        let mut body = Vec::with_capacity(length);
        let taken = from.take(length as u64).read_to_end(&mut body);
        // A connection that is reset ends as one that is closed.
        if !keeps_parts && taken? < length {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        Ok(Some((head, body)))
    }

    /// Whether this request is held, and if so, whether it has its effect.
    fn is_held(&self, head: &str) -> Option<bool> {
        let mut held = locked(&self.held);
        let held = held.as_mut()?;
        if held.holds {
            return Some(false);
        }
        if !head.starts_with(held.method) {
            return None;
        }
        let is_first = held.left == 0;
        held.left = held.left.saturating_sub(1);
        held.holds = is_first;
        is_first.then_some(held.done)
    }

    /// Whether the connection goes on.
    fn answer(&self, head: &str, body: Vec<u8>, to: &mut impl Write) -> std::io::Result<bool> {
        match self.manner {
            ServerBehaviour::Status(status, body) => write_answer(to, status, body.as_bytes(), false)?,
            ServerBehaviour::EndlessHead => {
                to.write_all(b"HTTP/1.1 200 OK\r\n")?;
                while !self.over.load(Ordering::Relaxed) {
                    to.write_all(b"X-Pad: 0123456789\r\n")?;
                }
            }
            ServerBehaviour::ClaimsMore(bytes) => {
                let length = length_asked(head) + bytes;
                write!(to, "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n0123")?;
                return Ok(false);
            }
            ServerBehaviour::OtherLength(length) => write_answer(to, 200, &vec![0; length], false)?,
            ServerBehaviour::SlowPages if !head.contains("list-type=") => {
                let (status, body) = self.keeps(head, body);
                write_answer(to, status, &body, false)?;
            }
            ServerBehaviour::SlowBytes | ServerBehaviour::SlowPages => {
                let length = if self.manner == ServerBehaviour::SlowPages { 1 << 20 } else { length_asked(head) };
                for byte in format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n").bytes().cycle() {
                    if self.over.load(Ordering::Relaxed) {
                        break;
                    }
                    to.write_all(&[byte])?;
                    to.flush()?;
                    fsdyno_os::clock::sleep(Duration::from_millis(20));
                }
            }
            ServerBehaviour::Silent => {
                while !self.over.load(Ordering::Relaxed) {
                    fsdyno_os::clock::sleep(Duration::from_millis(20));
                }
            }
            ServerBehaviour::ClosesAtOnce => return Ok(false),
            ServerBehaviour::OtherProtocol => to.write_all(b"220 mail.example.com ESMTP\r\n\r\n")?,
            ServerBehaviour::Redirects => {
                let path = head.split(' ').nth(1).unwrap_or("/");
                write!(to, "HTTP/1.1 307 Temporary Redirect\r\nLocation: {path}\r\nContent-Length: 0\r\n\r\n")?;
            }
            ServerBehaviour::EndlessError => {
                to.write_all(b"HTTP/1.1 500 Oops\r\n\r\n")?;
                while !self.over.load(Ordering::Relaxed) {
                    to.write_all(&[b'x'; 4096])?;
                }
            }
            _ => return self.answer_as_keeper(head, body, to),
        }
        Ok(true)
    }

    /// Answers like a server that keeps objects. Returns whether the connection goes on.
    fn answer_as_keeper(&self, head: &str, body: Vec<u8>, to: &mut impl Write) -> std::io::Result<bool> {
        let tells_mark = self.manner == ServerBehaviour::Honest && head.starts_with("PUT ");
        let written = if tells_mark { tag_of(&body) } else { String::new() };
        let (status, body) = self.keeps(head, body);
        let requests = || locked(&self.heads).len();
        if let ServerBehaviour::WarmsUp(slow) = self.manner {
            fsdyno_os::clock::sleep(Duration::from_millis(if requests() <= slow { 100 } else { 5 }));
        }
        if let ServerBehaviour::WantsFewer(each) = self.manner
            && requests().is_multiple_of(each)
        {
            write_answer(to, 503, b"<Error><Code>SlowDown</Code></Error>", false)?;
            return Ok(true);
        }
        if head.starts_with("HEAD ") {
            let tag = tag_of(&body);
            write!(to, "HTTP/1.1 {status} Word\r\n{tag}Content-Length: {}\r\n\r\n", body.len())?;
            return Ok(self.manner != ServerBehaviour::ClosesBehindAnswers);
        }
        if status == 200 && tells_mark && body.is_empty() {
            write!(to, "HTTP/1.1 200 Word\r\n{written}Content-Length: 0\r\n\r\n")?;
            return Ok(true);
        }
        if self.manner == ServerBehaviour::Interim {
            to.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        if let ServerBehaviour::HeadFirst(_) | ServerBehaviour::Nagle = self.manner {
            write!(to, "HTTP/1.1 {status} Word\r\nContent-Length: {}\r\n\r\n", body.len())?;
            if let ServerBehaviour::HeadFirst(pause_ms) = self.manner {
                fsdyno_os::clock::sleep(Duration::from_millis(pause_ms));
            }
            to.write_all(&body)?;
            return Ok(true);
        }
        if let ServerBehaviour::OldClock | ServerBehaviour::Dated(_) = self.manner {
            let date =
                if let ServerBehaviour::Dated(date) = self.manner { date } else { "Sun, 06 Nov 1994 08:49:37 GMT" };
            write!(
                to,
                "HTTP/1.1 {status} Word\r\nDate: {date}\r\nServer: old\r\nContent-Length: {}\r\n\r\n",
                body.len()
            )?;
            to.write_all(&body)?;
            return Ok(true);
        }
        write_answer(to, status, &body, self.manner == ServerBehaviour::Chunked)?;
        Ok(self.manner != ServerBehaviour::ClosesBehindAnswers)
    }

    /// Does what an honest server does: status and body.
    fn keeps(&self, head: &str, body: Vec<u8>) -> (u16, Body) {
        let mut words = head.split(' ');
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let careless = self.manner == ServerBehaviour::Careless;
        let target = if careless { target.replace("max-keys=1", "max-keys=9") } else { target.to_owned() };
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        let mut objects = locked(&self.objects);
        let is_of_upload = query.contains("uploadId=") || query.ends_with("uploads=");
        if is_of_upload && (self.manner != ServerBehaviour::Tacit || method != "GET") {
            let fails = self.manner == ServerBehaviour::CompletesBadly;
            let (status, body) = locked(&self.uploads).answer((method, path, query), body, &mut objects, fails);
            return (status, body.into());
        }
        if !query.is_empty() {
            return if self.manner == ServerBehaviour::Tacit {
                (403, b"<Error><Code>AccessDenied</Code></Error>".to_vec().into())
            } else {
                let document = match self.manner {
                    ServerBehaviour::EndlessPages if query.contains("list-type=") => object_list::page_with_next(query),
                    ServerBehaviour::Locks if query.starts_with("object-lock") => {
                        "<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled></ObjectLockConfiguration>"
                            .to_owned()
                    }
                    manner => {
                        let versions = match manner {
                            ServerBehaviour::Versioned => "<Status>Enabled</Status>",
                            ServerBehaviour::Suspended => "<Status>Suspended</Status>",
                            _ => "",
                        };
                        object_list::about_bucket(&objects, path, query, versions)
                    }
                };
                (200, document.into_bytes().into())
            };
        }
        let found = objects.get(path);
        if let ("GET" | "HEAD", Some(object)) = (method, found) {
            let whole = 0..object.len();
            let (status, part) = match range(head).filter(|_| !careless) {
                Some((from, to)) => {
                    let end = whole.end.min(to.saturating_add(1));
                    (206, from.min(end)..end)
                }
                None => (200, whole),
            };
            return (status, Body { bytes: Arc::clone(object), part });
        }
        let (status, body) = match (method, found) {
            ("PUT", _) if self.manner == ServerBehaviour::KeepsMarkersAlone && !path.ends_with("/.fsdyno-work") => {
                (503, b"<Error><Code>SlowDown</Code></Error>".to_vec())
            }
            // The platform of a machine answers this request.
            ("PUT", _) if path == "/latest/api/token" => (200, b"token-of-the-machine".to_vec()),
            ("PUT", Some(_)) if field(head, "if-none-match").is_some() && !careless => (412, Vec::new()),
            ("PUT", _) => {
                objects.insert(path.to_owned(), Arc::new(body));
                (200, Vec::new())
            }
            ("MKCOL", _) => (201, Vec::new()),
            ("PROPFIND", _) => (207, object_list::folder(&objects, path).into_bytes()),
            // A folder goes with all that is in it.
            ("DELETE", None) if path.ends_with('/') => {
                objects.retain(|name, _| !name.starts_with(path));
                (204, Vec::new())
            }
            ("DELETE", _) => (if objects.remove(path).is_some() { 204 } else { 404 }, Vec::new()),
            ("GET" | "HEAD", None) => (404, b"<Error><Code>NoSuchKey</Code></Error>".to_vec()),
            _ => (405, Vec::new()),
        };
        (status, body.into())
    }
}

/// Bytes of an object that its mark is made of: a mark of all bytes takes longer than all else.
const MARKED_BYTES: usize = 256;

/// Bytes of a body that are sent by one call with the head; more would be copied for nothing.
const BESIDE_HEAD_BYTES: usize = 64 << 10;

/// The field with the mark of these bytes: of their first ones, and of their number.
fn tag_of(body: &[u8]) -> String {
    let (words, rest) = body[..body.len().min(MARKED_BYTES)].as_chunks();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let mut sum = 14_695_981_039_346_656_037_u64;
    for word in words.iter().chain([&last, &body.len().to_le_bytes()]) {
        sum = (sum ^ u64::from_le_bytes(*word)).wrapping_mul(1_099_511_628_211);
    }
    format!("ETag: \"{sum:x}\"\r\n")
}

/// The number behind the last `_` of an object's name.
fn length_asked(head: &str) -> u64 {
    let path = head.split(' ').nth(1).unwrap_or_default();
    path.rsplit('_').next().and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

/// The value of a field.
fn field<'h>(head: &'h str, name: &str) -> Option<&'h str> {
    let fields = head.lines().filter_map(|line| line.split_once(':'));
    fields.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}

fn range(head: &str) -> Option<(usize, usize)> {
    let (from, to) = field(head, "range")?.strip_prefix("bytes=")?.split_once('-')?;
    Some((from.parse().ok()?, to.parse().ok()?))
}

/// The head of the next request; `None`: the client has gone.
fn take_head(from: &mut impl BufRead) -> std::io::Result<Option<String>> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if from.read_line(&mut head)? == 0 {
            return Ok(None);
        }
    }
    Ok(Some(head))
}

fn write_answer(to: &mut impl Write, status: u16, body: &[u8], chunked: bool) -> std::io::Result<()> {
    let mut answer = format!("HTTP/1.1 {status} Word\r\nETag: \"0\"\r\n").into_bytes();
    if status != 204 && chunked {
        answer.extend_from_slice(b"Transfer-Encoding: chunked\r\n\r\n");
        for chunk in body.chunks(1000) {
            answer.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
            answer.extend_from_slice(chunk);
            answer.extend_from_slice(b"\r\n");
        }
        answer.extend_from_slice(b"0\r\n\r\n");
    } else {
        let length = if status == 204 { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
        answer.extend_from_slice(format!("{length}\r\n").as_bytes());
        let (beside, rest) = body.split_at(body.len().min(BESIDE_HEAD_BYTES));
        answer.extend_from_slice(beside);
        to.write_all(&answer)?;
        return to.write_all(rest);
    }
    to.write_all(&answer)
}
