//! The engine `http`: each request reads, writes or deletes an object of a server. A worker has one connection, which is
//! opened before the clock starts.
//!
//! The engine makes no retries and follows no redirects. In one case it sends a request again, and counts that: if the
//! server has closed a connection that had already carried answers, the request goes over a new connection. No call waits
//! long: the engine tells the worker that the request is not done, the worker reads its orders and calls again. The state
//! of the request is kept here in between.

mod algorithms;
mod authorities;
pub(crate) mod client;
mod keys;
pub(crate) mod setup;
mod stream;
mod trouble;
mod trust;

use std::net::SocketAddr;

use fsdyno_job::{Direction, ObjectDialect};
use fsdyno_object::{
    Body, Chunks, HEAD_BYTES_MAX, Method, ObjectRequest, Requests, ResponseHead, SecretBytes, error_code,
};
use fsdyno_os::clock::Clock;
use fsdyno_os::errno::EINVAL;
use fsdyno_os::linux::sockets::SendTimes;
use fsdyno_workload::{Op, OpKind};

use self::stream::{Connected, Identity, Outgoing, Stream, is_closed, is_wait};
use self::trouble::Trouble;
use crate::contract::WAITING;
use crate::object_tally::ObjectTally;
use crate::setup::{EngineSetup, EngineSetupError};

/// Time after which a request has failed, ns; each MiB of the object adds `PER_MIB_NS`.
const DEADLINE_NS: u64 = 30_000_000_000;
const PER_MIB_NS: u64 = 1_000_000_000;

/// Longest time for which a call keeps the worker from reading its stop flag, ns.
const ORDERS_NS: u64 = 50_000_000;

/// The same for a write that is not to be cut, ns; each MiB of it adds `PER_MIB_NS`.
const WHOLE_NS: u64 = 5_000_000_000;

/// Largest body of an error document that is read, bytes. If the body is longer, the connection is closed.
const DOCUMENT_BYTES_MAX: u64 = 64 << 10;

/// Bytes of an error document that are kept to find its code.
const DOCUMENT_BYTES_KEPT: usize = 4 << 10;

/// The objects of a worker.
pub(super) struct Objects {
    requests: Requests,
    paths: Box<[String]>,
    address: SocketAddr,
    identity: Option<Identity>,
    stream: Option<Stream>,
    /// Number of answers that came over this connection.
    carried: u64,
    /// The server keeps the part of an object that has come.
    keeps_parts: bool,
    /// The times of earlier connections; `None`: not visible.
    earlier: Option<SendTimes>,
    /// The head of the request in flight.
    head: SecretBytes,
    /// Received bytes; the first `come` of them are not consumed yet.
    inbox: Box<[u8]>,
    come: usize,
    document: Vec<u8>,
    progress: Progress,
    clock: fsdyno_os::clock::RealClock,
    tally: ObjectTally,
}

/// State of the request in flight.
#[derive(Clone, Copy, Debug)]
enum Progress {
    Idle,
    Sending { times: Times, sent: usize },
    Answering { times: Times },
    Body { times: Times, answer: Answer },
}

#[derive(Clone, Copy, Debug)]
struct Times {
    began_ns: u64,
    sent_ns: u64,
    first_ns: u64,
    deadline_ns: u64,
}

/// An answer whose head has been received.
#[derive(Clone, Copy, Debug)]
struct Answer {
    head: ResponseHead,
    chunks: Chunks,
    /// Number of received bytes of the body.
    come: u64,
    /// Whether the body is the object, which goes to the buffer of the I/O.
    is_object: bool,
}

impl std::fmt::Debug for Objects {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Objects").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Drop for Objects {
    /// A store that has a whole object makes it, even if the connection has ended: the object would come behind the deletes
    /// that follow a job. So the answer to the last write is awaited.
    fn drop(&mut self) {
        let is_written = matches!(self.progress, Progress::Answering { .. }) && self.head.starts_with(b"PUT ");
        while is_written && self.may_end() {
            let Some(stream) = &mut self.stream else { return };
            match stream.receive(&mut self.inbox) {
                Err(error) if is_wait(&error) => {}
                _ => return,
            }
        }
    }
}

impl Objects {
    /// Connects. Wrong names and missing keys are errors here, before the clock starts.
    pub(super) fn new(setup: &EngineSetup<'_>) -> Result<Objects, EngineSetupError> {
        let options = &setup.options.object;
        let endpoint = setup::endpoint(options)?;
        let requests = keys::requests(options, &endpoint, keys::key(options)?);
        let (paths, identity) = (setup::paths(setup)?, setup::identity(options, &endpoint)?);
        let setup::Reached { address, resolved, connected } =
            setup::connect(&endpoint, identity.as_ref(), &setup.clock)?;
        let mut tally = ObjectTally::new(endpoint.authority);
        (tally.address, tally.resolved) = (address.to_string(), resolved);
        tally.signs_bodies = requests.signs_bodies();
        tally.sign_ns = tally.signs_bodies.then_some(0);
        tally.tls = connected.stream.cipher();
        tally.connect_ns = connected.connect_ns;
        tally.handshake_ns = connected.handshake_ns;
        Ok(Objects {
            requests,
            paths,
            address,
            identity,
            stream: Some(connected.stream),
            carried: 0,
            keeps_parts: options.dialect == ObjectDialect::WebDav,
            earlier: Some(SendTimes::default()),
            head: SecretBytes::with_capacity(HEAD_BYTES_MAX),
            inbox: vec![0; HEAD_BYTES_MAX + setup.block_bytes_max.min(64 << 10) as usize].into_boxed_slice(),
            come: 0,
            document: Vec::with_capacity(DOCUMENT_BYTES_KEPT),
            progress: Progress::Idle,
            clock: setup.clock,
            tally,
        })
    }

    /// All counts until now.
    pub(super) fn tally(&mut self) -> &ObjectTally {
        self.tally.set_send_times(self.earlier.zip(self.send_times()).map(|(one, other)| one.plus(other)));
        &self.tally
    }

    /// The times of this connection; `None`: not visible.
    fn send_times(&self) -> Option<SendTimes> {
        self.stream.as_ref().map_or(Some(SendTimes::default()), Stream::send_times)
    }

    /// Closes the connection, if there is one.
    #[cold]
    fn close(&mut self) {
        self.earlier = self.earlier.zip(self.send_times()).map(|(sum, more)| sum.plus(more));
        self.stream = None;
    }

    /// Continues the request. Returns its bytes, a negative errno, or `WAITING`.
    pub(super) fn request(&mut self, op: &Op, place: &mut [u8]) -> i64 {
        let Some(direction) = op.kind.direction() else { return -i64::from(EINVAL) };
        let trouble = loop {
            match self.advance(op, direction, place) {
                Ok(bytes) => {
                    self.progress = Progress::Idle;
                    return bytes;
                }
                Err(Trouble::Waits) if op.kind == OpKind::Write && self.is_to_end() => {}
                Err(trouble) => break trouble,
            }
        };
        if matches!(trouble, Trouble::Waits) && self.clock.now_ns() < self.deadline_ns() {
            return WAITING;
        }
        // The rest of this answer would be read as the next answer: the connection is closed.
        self.progress = Progress::Idle;
        self.close();
        let (code, lines) = trouble.errno_and_lines(op.kind, op.length);
        if self.tally.failure.is_empty() {
            self.tally.failure = lines;
        }
        -i64::from(code)
    }

    /// Whether the request is not to be cut by the end of the job: a server of WebDAV keeps the part of an object that has
    /// come.
    fn is_to_end(&self) -> bool {
        self.keeps_parts && self.may_end()
    }

    /// Whether the request has time left that the end of the job does not take.
    fn may_end(&self) -> bool {
        self.clock.now_ns() + DEADLINE_NS < self.deadline_ns() + WHOLE_NS
    }

    fn deadline_ns(&self) -> u64 {
        match self.progress {
            Progress::Idle => u64::MAX,
            Progress::Sending { times, .. } | Progress::Answering { times } | Progress::Body { times, .. } => {
                times.deadline_ns
            }
        }
    }

    fn advance(&mut self, op: &Op, direction: Direction, place: &mut [u8]) -> Result<i64, Trouble> {
        let until_ns = self.clock.now_ns() + ORDERS_NS;
        loop {
            match self.progress {
                Progress::Idle => self.begin(op, place)?,
                Progress::Sending { times, sent } => self.send(op, place, times, sent)?,
                Progress::Answering { times } => self.take_head(op, times)?,
                Progress::Body { times, answer } => {
                    if self.take_body(op, place, answer)? {
                        return self.end(op, direction, place, times);
                    }
                }
            }
            // A server that sends a few bytes at a time must not keep the worker from its stop flag.
            if self.clock.now_ns() > until_ns {
                return Err(Trouble::Waits);
            }
        }
    }

    fn begin(&mut self, op: &Op, place: &[u8]) -> Result<(), Trouble> {
        let began_ns = self.clock.now_ns();
        if self.stream.is_none() {
            self.reconnect()?;
        }
        let request = self.described(op, place)?;
        let epoch_s = std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs());
        let mut head = std::mem::take(&mut self.head);
        let path = &self.paths[op.file as usize];
        let sign_began_ns = self.tally.sign_ns.map(|_| self.clock.now_ns());
        self.requests.write_head(&mut head, &ObjectRequest { path, ..request }, epoch_s);
        if let (Some(sum), Some(began_ns)) = (&mut self.tally.sign_ns, sign_began_ns) {
            *sum += self.clock.now_ns().saturating_sub(began_ns);
        }
        self.head = head;
        self.come = 0;
        self.document.clear();
        let deadline_ns = began_ns + DEADLINE_NS + op.length / (1 << 20) * PER_MIB_NS;
        let times = Times { began_ns, sent_ns: began_ns, first_ns: began_ns, deadline_ns };
        self.progress = Progress::Sending { times, sent: 0 };
        Ok(())
    }

    fn described<'p>(&self, op: &Op, place: &'p [u8]) -> Result<ObjectRequest<'p>, Trouble> {
        let method = match op.kind {
            OpKind::Read => Method::Get,
            OpKind::Write => Method::Put,
            OpKind::Trim => Method::Delete,
            _ => return Err(Trouble::Closed),
        };
        let body = if method == Method::Put { place } else { &[] };
        Ok(ObjectRequest { method, path: "", offset: op.offset, length: op.length, body })
    }

    /// Opens a connection in place of one that the server has closed.
    #[cold]
    fn reconnect(&mut self) -> Result<(), Trouble> {
        let began_ns = self.clock.now_ns();
        let Connected { stream, .. } = stream::connect(&self.address, self.identity.as_ref(), &self.clock)
            .map_err(|error| if is_wait(&error) { Trouble::TooSlow } else { Trouble::Connection(error) })?;
        (self.stream, self.carried) = (Some(stream), 0);
        self.tally.reconnects += 1;
        self.tally.reconnect_ns += self.clock.now_ns().saturating_sub(began_ns);
        Ok(())
    }

    fn send(&mut self, op: &Op, place: &[u8], mut times: Times, mut sent: usize) -> Result<(), Trouble> {
        let body = if op.kind == OpKind::Write { place } else { &[] };
        let stream = self.stream.as_mut().ok_or(Trouble::Closed)?;
        let outcome = stream.send(Outgoing { head: &self.head, body, sent: &mut sent });
        self.progress = Progress::Sending { times, sent };
        match outcome {
            Err(error) if is_wait(&error) => return Err(Trouble::Waits),
            // A server that refuses a long body answers before it closes the connection.
            Err(error) if !is_closed(&error) => return Err(Trouble::Connection(error)),
            Ok(()) | Err(_) => {}
        }
        times.sent_ns = self.clock.now_ns();
        self.progress = Progress::Answering { times };
        Ok(())
    }

    fn take_head(&mut self, op: &Op, mut times: Times) -> Result<(), Trouble> {
        let stream = self.stream.as_mut().ok_or(Trouble::Closed)?;
        // The inbox has room: the parser refuses a head as long as HEAD_BYTES_MAX.
        let bytes = match stream.receive(&mut self.inbox[self.come..]) {
            Err(error) if is_wait(&error) => return Err(Trouble::Waits),
            Err(error) if is_closed(&error) => 0,
            outcome => outcome.map_err(Trouble::Connection)?,
        };
        if bytes == 0 {
            return self.closed_before_answer();
        }
        if self.come == 0 {
            times.first_ns = self.clock.now_ns();
        }
        self.come += bytes;
        self.progress = Progress::Answering { times };
        let Some(head) = ResponseHead::parse(&self.inbox[..self.come]).map_err(Trouble::Answer)? else { return Ok(()) };
        if self.carried == 0 && self.tally.ahead_s.is_none() {
            self.compare_clocks(head.head_bytes);
        }
        let is_object = op.kind == OpKind::Read && matches!(head.status, 200 | 206);
        if let (true, Body::Bytes(length)) = (is_object, head.body)
            && length != op.length
        {
            return Err(Trouble::Length { status: head.status, length });
        }
        self.inbox.copy_within(head.head_bytes..self.come, 0);
        self.come -= head.head_bytes;
        self.progress =
            Progress::Body { times, answer: Answer { head, chunks: Chunks::default(), come: 0, is_object } };
        Ok(())
    }

    /// Keeps how far the server's clock is ahead, if the head of its first answer has a date.
    #[cold]
    fn compare_clocks(&mut self, head_bytes: usize) {
        self.tally.ahead_s = setup::seconds_ahead(&self.inbox[..head_bytes]);
    }

    /// The connection ended before an answer. If it had carried answers, the server closed it while it was idle, and the
    /// request goes over a new one.
    #[cold]
    fn closed_before_answer(&mut self) -> Result<(), Trouble> {
        if self.come > 0 || self.carried == 0 {
            return Err(Trouble::Closed);
        }
        self.progress = Progress::Idle;
        self.close();
        Ok(())
    }

    /// Receives a part of the body; true: the body is complete.
    fn take_body(&mut self, op: &Op, place: &mut [u8], mut answer: Answer) -> Result<bool, Trouble> {
        let outcome = self.part_of_body(op, place, &mut answer);
        if let Progress::Body { answer: kept, .. } = &mut self.progress {
            *kept = answer;
        }
        outcome
    }

    fn part_of_body(&mut self, op: &Op, place: &mut [u8], answer: &mut Answer) -> Result<bool, Trouble> {
        // Bytes that were received with the head or by the call before.
        let taken = self.take_come(place, answer)?;
        self.inbox.copy_within(taken..self.come, 0);
        self.come -= taken;
        match answer.head.body {
            Body::Bytes(length) if answer.come == length => return Ok(true),
            Body::Chunks if answer.chunks.ended() => return Ok(true),
            _ if !answer.is_object && answer.come > DOCUMENT_BYTES_MAX => {
                answer.head.keeps_alive = false;
                return Ok(true);
            }
            _ => {}
        }
        let stream = self.stream.as_mut().ok_or(Trouble::Closed)?;
        let straight = answer.is_object && matches!(answer.head.body, Body::Bytes(_));
        let outcome = match straight {
            true => stream.receive(&mut place[answer.come as usize..]),
            false => stream.receive(&mut self.inbox),
        };
        match outcome {
            Err(error) if is_wait(&error) => Err(Trouble::Waits),
            Ok(0) if answer.head.body == Body::UntilClose => Ok(true),
            Ok(0) => Err(Trouble::Short { come: answer.come, length: op.length }),
            Err(error) if is_closed(&error) => Err(Trouble::Short { come: answer.come, length: op.length }),
            Err(error) => Err(Trouble::Connection(error)),
            Ok(bytes) if straight => {
                answer.come += bytes as u64;
                Ok(false)
            }
            Ok(bytes) => {
                self.come = bytes;
                Ok(false)
            }
        }
    }

    /// Copies received bytes to the buffer or to the error document; returns how many of them belong to the body.
    fn take_come(&mut self, place: &mut [u8], answer: &mut Answer) -> Result<usize, Trouble> {
        let (document, is_object) = (&mut self.document, answer.is_object);
        let mut beyond = false;
        let mut come = answer.come;
        let mut take = |bytes: &[u8]| {
            let at = come as usize;
            come += bytes.len() as u64;
            if !is_object {
                let room = DOCUMENT_BYTES_KEPT - document.len();
                document.extend_from_slice(&bytes[..bytes.len().min(room)]);
            } else if let Some(part) = place.get_mut(at..at + bytes.len()) {
                part.copy_from_slice(bytes);
            } else {
                beyond = true;
            }
        };
        let inbox = &self.inbox[..self.come];
        let taken = match answer.head.body {
            Body::Bytes(length) => {
                let part = (length - answer.come).min(inbox.len() as u64) as usize;
                take(&inbox[..part]);
                part
            }
            Body::Chunks => answer.chunks.feed(inbox, &mut take).map_err(Trouble::Answer)?,
            Body::UntilClose => {
                take(inbox);
                inbox.len()
            }
        };
        answer.come = come;
        if beyond { Err(Trouble::Length { status: answer.head.status, length: come }) } else { Ok(taken) }
    }

    /// The answer is complete: counts it, and judges its status.
    fn end(&mut self, op: &Op, direction: Direction, place: &mut [u8], times: Times) -> Result<i64, Trouble> {
        let Progress::Body { answer, .. } = self.progress else { return Err(Trouble::Closed) };
        let end_ns = self.clock.now_ns();
        let status = answer.head.status;
        let phases_ns = [
            times.sent_ns.saturating_sub(times.began_ns),
            times.first_ns.saturating_sub(times.sent_ns),
            end_ns.saturating_sub(times.first_ns),
        ];
        self.tally.answered(direction, status, phases_ns);
        self.carried += 1;
        if let Some(ns) = self.stream.as_mut().and_then(Stream::take_tls_ns) {
            *self.tally.tls_ns.get_or_insert(0) += ns;
        }
        // Bytes behind the answer belong to no request: the connection is closed.
        if !answer.head.keeps_alive || self.come > 0 {
            self.close();
        }
        if answer.is_object && answer.come < op.length {
            return Err(Trouble::Length { status, length: answer.come });
        }
        let good = match op.kind {
            OpKind::Write => {
                matches!(status, 200..=204) && (self.document.is_empty() || error_code(&self.document).is_none())
            }
            OpKind::Read if status == 404 => {
                place.fill(0);
                true
            }
            OpKind::Read => answer.is_object,
            _ => matches!(status, 200 | 202 | 204 | 404),
        };
        if good { Ok(op.length as i64) } else { Err(Trouble::Refused { status, code: error_code(&self.document) }) }
    }
}
