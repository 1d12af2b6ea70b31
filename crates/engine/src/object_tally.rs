//! The counts and times that the engine `http` keeps beside the results of its requests.

#[cfg(all(feature = "object", target_os = "linux"))]
use fsdyno_job::Direction;
use fsdyno_job::PerDirection;
#[cfg(all(feature = "object", target_os = "linux"))]
use fsdyno_stats::{BUCKETS, bucket_of};

/// Different statuses that are told apart: a server has a handful.
#[cfg(all(feature = "object", target_os = "linux"))]
const STATUSES_MAX: usize = 32;

/// Counts and times of the requests of one worker, those of the ramp included.
#[derive(Clone, Debug)]
pub struct ObjectTally {
    /// The server, as requests name it.
    pub server: String,
    /// The address that was connected to.
    pub address: String,
    /// Number of addresses that the server's name has, of the same family.
    pub resolved: u64,
    /// Seconds by which the server's clock is ahead of that of this machine; `None`: no answer had a date.
    pub ahead_s: Option<i64>,
    /// Version and cipher of TLS; `None`: nothing is encrypted.
    pub tls: Option<String>,
    /// Signatures cover the bodies.
    pub signs_bodies: bool,
    /// Time to hash bodies and to sign, ns; `None`: bodies are not signed.
    pub sign_ns: Option<u64>,
    /// Time to encrypt and to decrypt, ns; `None`: nothing is encrypted.
    pub tls_ns: Option<u64>,
    /// Time with data that were to be sent, or not acknowledged, ns; `None`: not visible.
    pub sending_ns: Option<u64>,
    /// Part of it in which the server's receive window kept connections from sending, ns; `None`: not visible.
    pub window_limited_ns: Option<u64>,
    /// Until the connection stood, ns.
    pub connect_ns: u64,
    /// Until TLS stood behind it, ns; `None`: there is none.
    pub handshake_ns: Option<u64>,
    /// Connections beside the first one, of which each took the place of one that the server had closed.
    pub reconnects: u64,
    /// The time of these, ns.
    pub reconnect_ns: u64,
    /// Answers by status.
    pub statuses: Vec<(u16, u64)>,
    /// Answers.
    pub answers: PerDirection<u64>,
    /// Those that found no object (404).
    pub missing: PerDirection<u64>,
    /// Times in fio's buckets: to send a request, then to the first byte of its answer, then to the last one.
    pub phases: [Vec<u64>; 3],
    /// The first failure, in lines.
    pub failure: Vec<String>,
}

#[cfg(all(feature = "object", target_os = "linux"))]
impl ObjectTally {
    pub(crate) fn new(server: String) -> ObjectTally {
        ObjectTally {
            server,
            address: String::new(),
            resolved: 0,
            ahead_s: None,
            tls: None,
            signs_bodies: false,
            sign_ns: None,
            tls_ns: None,
            sending_ns: None,
            window_limited_ns: None,
            connect_ns: 0,
            handshake_ns: None,
            reconnects: 0,
            reconnect_ns: 0,
            statuses: Vec::with_capacity(STATUSES_MAX),
            answers: PerDirection::default(),
            missing: PerDirection::default(),
            phases: [(); 3].map(|()| vec![0; BUCKETS]),
            failure: Vec::new(),
        }
    }

    #[cfg(target_os = "linux")]
    pub(crate) fn set_send_times(&mut self, times: Option<fsdyno_os::linux::sockets::SendTimes>) {
        (self.sending_ns, self.window_limited_ns) = times.map(|times| (times.busy_ns, times.window_limited_ns)).unzip();
    }

    /// Counts an answer. Allocates nothing.
    pub(crate) fn answered(&mut self, direction: Direction, status: u16, phases_ns: [u64; 3]) {
        match self.statuses.iter().position(|(known, _)| *known == status) {
            Some(at) => self.statuses[at].1 += 1,
            None if self.statuses.len() < STATUSES_MAX => self.statuses.push((status, 1)),
            None => {}
        }
        self.answers[direction] += 1;
        self.missing[direction] += u64::from(status == 404);
        for (counts, ns) in self.phases.iter_mut().zip(phases_ns) {
            counts[bucket_of(ns)] += 1;
        }
    }
}
