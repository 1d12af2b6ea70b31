//! Single requests beside those that are measured: about a bucket, and about whole objects.

use std::io;
use std::net::SocketAddr;

use fsdyno_job::Direction;
use fsdyno_object::{Body, Chunks, Endpoint, HEAD_BYTES_MAX, PlainRequest, Requests, ResponseHead, SecretBytes};
use fsdyno_os::clock::{Clock, RealClock};

use super::setup;
use super::stream::{self, Identity, Outgoing, Stream, is_wait};
use crate::object_tally::ObjectTally;
use crate::setup::EngineSetupError;

/// Time after which a request has failed, unless the caller sets another, ns.
const DEADLINE_NS: u64 = 30_000_000_000;

/// The sentence for an answer that is not whole by then.
const LATE: &str = "the server has not answered in time";

/// The longest answer: a page of a list has at most 1,000 keys of 1,024 bytes, with some facts about each.
const BODY_BYTES_MAX: usize = 4 << 20;

/// Room for the head of a request, bytes: few are longer.
const REQUEST_BYTES: usize = 2 << 10;

/// The most bytes that one call receives: a whole object needs few calls.
const PIECE_BYTES: u64 = 256 << 10;

/// Asks a server one request after the other over one connection.
pub struct ObjectClient {
    requests: Requests,
    address: SocketAddr,
    identity: Option<Identity>,
    stream: Option<Stream>,
    /// Answers that came over this connection.
    carried: u64,
    /// Connections so far.
    pub connections: u64,
    /// The longest body of an answer that is read, bytes.
    pub body_bytes_max: usize,
    /// Time after which a request has failed, ns.
    pub deadline_ns: u64,
    /// The first and the last byte that the next requests ask for; `None`: the whole object.
    pub range: Option<(u64, u64)>,
    clock: RealClock,
    /// What is known of the server.
    pub server: ObjectServerFacts,
    tally: ObjectTally,
}

/// What a connection shows of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectServerFacts {
    /// The server, as requests name it.
    pub name: String,
    /// The address that was connected to.
    pub address: String,
    /// Until the connection stood, ns.
    pub connect_ns: u64,
    /// Until TLS stood behind it, ns; `None`: there is none.
    pub handshake_ns: Option<u64>,
    /// Version and cipher of TLS; `None`: nothing is encrypted.
    pub tls: Option<String>,
}

/// What the server answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectReply {
    /// 200, 404, …
    pub status: u16,
    /// The head, for its fields.
    pub head: Vec<u8>,
    /// The body.
    pub body: Vec<u8>,
    /// The server takes further requests on this connection.
    pub keeps_alive: bool,
}

impl ObjectClient {
    /// Connects. The requests have their key.
    pub(super) fn open(
        endpoint: &Endpoint,
        identity: Option<Identity>,
        requests: Requests,
    ) -> Result<ObjectClient, String> {
        let clock = RealClock::shared();
        let setup::Reached { address, resolved, connected } =
            setup::connect(endpoint, identity.as_ref(), &clock).map_err(reason)?;
        let server = ObjectServerFacts {
            name: endpoint.authority.clone(),
            address: address.to_string(),
            connect_ns: connected.connect_ns,
            handshake_ns: connected.handshake_ns,
            tls: connected.stream.cipher(),
        };
        let mut tally = ObjectTally::new(endpoint.authority.clone());
        (tally.address, tally.resolved) = (server.address.clone(), resolved);
        tally.signs_bodies = requests.signs_bodies();
        tally.sign_ns = tally.signs_bodies.then_some(0);
        (tally.connect_ns, tally.handshake_ns) = (server.connect_ns, server.handshake_ns);
        tally.tls.clone_from(&server.tls);
        Ok(ObjectClient {
            requests,
            address,
            identity,
            stream: Some(connected.stream),
            carried: 0,
            connections: 1,
            body_bytes_max: BODY_BYTES_MAX,
            deadline_ns: DEADLINE_NS,
            range: None,
            clock,
            server,
            tally,
        })
    }

    /// The counts and times of all answers.
    pub fn into_tally(mut self) -> ObjectTally {
        self.tally.set_send_times(self.stream.as_ref().and_then(Stream::send_times));
        self.tally
    }

    /// Asks, and reads the whole answer. A request goes over a new connection where the server had closed one that
    /// had carried answers; nothing else is done again.
    ///
    /// # Errors
    /// A sentence: why there is no answer.
    pub fn ask(&mut self, request: &PlainRequest<'_>) -> Result<ObjectReply, String> {
        self.ask_until(request, self.clock.now_ns() + self.deadline_ns)
    }

    fn ask_until(&mut self, request: &PlainRequest<'_>, deadline_ns: u64) -> Result<ObjectReply, String> {
        loop {
            let mut stream = match self.stream.take() {
                Some(stream) => stream,
                None => {
                    self.carried = 0;
                    self.connections += 1;
                    let began_ns = self.clock.now_ns();
                    let connected = stream::connect(&self.address, self.identity.as_ref(), &self.clock);
                    let connected = connected.map_err(|error| format!("the connection failed: {error}"))?;
                    self.tally.reconnects += 1;
                    self.tally.reconnect_ns += self.clock.now_ns().saturating_sub(began_ns);
                    connected.stream
                }
            };
            match self.exchange(&mut stream, request, deadline_ns) {
                Ok(reply) => {
                    self.carried += 1;
                    self.stream = reply.keeps_alive.then_some(stream);
                    return Ok(reply);
                }
                Err(None) if self.carried > 0 => {}
                Err(None) => return Err("the server closed the connection without an answer".to_owned()),
                Err(Some(sentence)) => return Err(sentence),
            }
        }
    }

    fn head_of(&mut self, request: &PlainRequest<'_>) -> SecretBytes {
        let mut head = SecretBytes::with_capacity(REQUEST_BYTES);
        let epoch_s = std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs());
        self.requests.write_plain(&mut head, request, epoch_s);
        if let Some((first, last)) = self.range {
            // The field is not signed; it stands before the empty line.
            head.truncate(head.len() - 2);
            head.push(format!("Range: bytes={first}-{last}\r\n\r\n").as_bytes());
        }
        head
    }

    /// `Err(None)`: the connection ended before the first byte of an answer.
    fn exchange(
        &mut self,
        stream: &mut Stream,
        request: &PlainRequest<'_>,
        deadline_ns: u64,
    ) -> Result<ObjectReply, Option<String>> {
        let began_ns = self.clock.now_ns();
        let (head, mut sent) = (self.head_of(request), 0);
        if let Some(sum) = &mut self.tally.sign_ns {
            *sum += self.clock.now_ns().saturating_sub(began_ns);
        }
        while let Err(error) = stream.send(Outgoing { head: &head, body: request.body, sent: &mut sent }) {
            self.may_wait(&error, deadline_ns)?;
        }
        let sent_ns = self.clock.now_ns();
        let (mut come, mut first_ns) = (Vec::new(), None);
        let head = loop {
            if self.receive(stream, &mut come, HEAD_BYTES_MAX, deadline_ns)? == 0 {
                return Err(if come.is_empty() { None } else { Some("the connection ended within an answer".into()) });
            }
            first_ns.get_or_insert(self.clock.now_ns());
            if let Some(head) = ResponseHead::parse(&come).map_err(|fault| Some(fault.to_string()))? {
                break head;
            }
        };
        let mut reply = ObjectReply {
            status: head.status,
            body: come.split_off(head.head_bytes),
            head: come,
            keeps_alive: head.keeps_alive,
        };
        if self.tally.ahead_s.is_none() {
            self.tally.ahead_s = setup::seconds_ahead(&reply.head);
        }
        if request.method == "HEAD" {
            reply.keeps_alive &= reply.body.is_empty();
        } else {
            self.read_body(stream, head.body, &mut reply, deadline_ns)?;
        }
        let direction = match request.method {
            "DELETE" => Direction::Trim,
            "GET" | "HEAD" => Direction::Read,
            _ => Direction::Write,
        };
        let first_ns = first_ns.unwrap_or(sent_ns);
        let end_ns = self.clock.now_ns();
        let times = [(began_ns, sent_ns), (sent_ns, first_ns), (first_ns, end_ns)];
        let times = times.map(|(from, to)| to.saturating_sub(from));
        self.tally.answered(direction, reply.status, times);
        if let Some(ns) = stream.take_tls_ns() {
            *self.tally.tls_ns.get_or_insert(0) += ns;
        }
        Ok(reply)
    }

    /// Reads the rest of the body, and takes what frames it away.
    fn read_body(
        &self,
        stream: &mut Stream,
        body: Body,
        reply: &mut ObjectReply,
        deadline_ns: u64,
    ) -> Result<(), Option<String>> {
        let (mut chunks, mut fed, mut plain) = (Chunks::default(), 0, Vec::new());
        loop {
            let ended = match body {
                Body::Bytes(length) => reply.body.len() as u64 >= length,
                Body::Chunks => {
                    let part = &reply.body[fed..];
                    fed += chunks
                        .feed(part, |bytes| plain.extend_from_slice(bytes))
                        .map_err(|fault| Some(fault.to_string()))?;
                    chunks.ended()
                }
                Body::UntilClose => false,
            };
            if ended {
                break;
            }
            if reply.body.len() > self.body_bytes_max {
                return Err(Some("the answer is longer than any that was asked for".to_owned()));
            }
            let left = match body {
                Body::Bytes(length) => length.saturating_sub(reply.body.len() as u64),
                _ => 0,
            };
            let piece = left.clamp(HEAD_BYTES_MAX as u64, PIECE_BYTES) as usize;
            if self.receive(stream, &mut reply.body, piece, deadline_ns)? == 0 {
                match body {
                    Body::UntilClose => break,
                    _ => return Err(Some("the connection ended within an answer".to_owned())),
                }
            }
        }
        match body {
            Body::Chunks => {
                reply.keeps_alive &= fed == reply.body.len();
                reply.body = plain;
            }
            Body::Bytes(length) => {
                reply.keeps_alive &= reply.body.len() as u64 == length;
                reply.body.truncate(length as usize);
            }
            Body::UntilClose => {}
        }
        Ok(())
    }

    /// Appends what comes next, at most `piece` bytes; 0: the connection has ended.
    fn receive(
        &self,
        stream: &mut Stream,
        come: &mut Vec<u8>,
        piece: usize,
        deadline_ns: u64,
    ) -> Result<usize, Option<String>> {
        // A server that sends one byte at a time never lets a receive wait.
        if self.clock.now_ns() > deadline_ns {
            return Err(Some(LATE.to_owned()));
        }
        let at = come.len();
        come.resize(at + piece, 0);
        let outcome = loop {
            match stream.receive(&mut come[at..]) {
                Err(error) if stream::is_closed(&error) => break Ok(0),
                Err(error) => match self.may_wait(&error, deadline_ns) {
                    Ok(()) => {}
                    Err(sentence) => break Err(sentence),
                },
                Ok(bytes) => break Ok(bytes),
            }
        };
        come.truncate(at + outcome.as_ref().copied().unwrap_or(0));
        outcome
    }

    fn may_wait(&self, error: &io::Error, deadline_ns: u64) -> Result<(), Option<String>> {
        match () {
            () if stream::is_closed(error) => Err(None),
            () if !is_wait(error) => Err(Some(format!("the connection failed: {error}"))),
            () if self.clock.now_ns() > deadline_ns => Err(Some(LATE.to_owned())),
            () => Ok(()),
        }
    }
}

/// The reason alone: a person who asks a question has named no engine and no option.
pub(super) fn reason(error: EngineSetupError) -> String {
    match error {
        EngineSetupError::Option { reason, .. } => reason,
        EngineSetupError::Refused { code, advice, .. } => match advice.strip_prefix("is a server at ") {
            Some(rest) => {
                let server = rest.strip_suffix("? See http_host").unwrap_or(rest);
                format!("{server} does not answer: {}", io::Error::from_raw_os_error(code))
            }
            None => advice,
        },
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use fsdyno_job::{ObjectDialect, Tls};

    use fsdyno_job::ObjectOptions;

    use super::*;

    #[test]
    fn an_answer_that_comes_byte_by_byte_ends_at_the_deadline() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let server = fsdyno_os::thread::begin("drips", 1 << 18, move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
            // Without an end, unless the client leaves.
            while stream.write_all(b"x").is_ok() {}
        });
        let options = ObjectOptions { host, tls: Tls::Off, dialect: ObjectDialect::WebDav, ..ObjectOptions::default() };
        let mut client = ObjectClient::connect(&options).unwrap();
        let request = PlainRequest { method: "GET", path: "/a", query: "", body: &[], only_new: false };
        let answer = client.ask_until(&request, client.clock.now_ns());
        assert_eq!(answer.unwrap_err(), LATE);
        drop(client);
        server.unwrap().join().unwrap();
    }
}
