//! The answers of an object server to the requests of a worker.

use std::collections::BTreeMap;

use fsdyno_job::PerDirection;
use fsdyno_stats::Histogram;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Counts and times of the answers of an object server. They include the answers of the ramp, and in a merged record the
/// answers of all workers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ObjectRecord {
    /// The server, as requests name it.
    pub server: String,
    /// The addresses that were connected to.
    pub addresses: Vec<String>,
    /// Number of addresses that the server's name had, of the same family; `None`: not recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved: Option<u64>,
    /// Seconds by which the server's clock was ahead of this machine's, exact to a second or two; `None`: its first answers
    /// had no date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ahead_s: Option<i64>,
    /// Version and cipher of TLS; `None`: nothing was encrypted.
    pub tls: Option<String>,
    /// Signatures covered the bodies.
    pub signs_bodies: bool,
    /// Time to hash bodies and to sign, ns; `None`: signatures left them out, or there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sign_ns: Option<u64>,
    /// Time to encrypt and to decrypt, without the handshake, ns; `None`: nothing was encrypted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls_ns: Option<u64>,
    /// Time with data that were to be sent, or not acknowledged, ns, summed over the connections; `None`: not visible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sending_ns: Option<u64>,
    /// Part of it in which the server's receive window kept connections from sending, ns; `None`: not visible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_limited_ns: Option<u64>,
    /// Longest time until a connection stood, ns, before the clock started.
    pub connect_ns: u64,
    /// Longest time until TLS stood behind it, ns; `None`: there was none.
    pub handshake_ns: Option<u64>,
    /// Connections during the run: each took the place of one that the server had closed.
    pub reconnects: u64,
    /// Their time together, ns; it is part of the latency of the requests that waited.
    pub reconnect_ns: u64,
    /// Answers by status.
    pub statuses: BTreeMap<u16, u64>,
    /// Answers.
    pub answers: PerDirection<u64>,
    /// Those that found no object (404), which fio counts as done.
    pub missing: PerDirection<u64>,
    /// Times to send a request.
    pub send: Histogram,
    /// Times from there to the first byte of the answer.
    pub first_byte: Histogram,
    /// Times from there to its last byte.
    pub body: Histogram,
}

impl ObjectRecord {
    /// Adds those of another worker.
    pub(crate) fn merge(&mut self, other: &ObjectRecord) {
        let ObjectRecord {
            server: _,
            addresses,
            resolved,
            ahead_s,
            tls: _,
            signs_bodies: _,
            sign_ns,
            tls_ns,
            sending_ns,
            window_limited_ns,
            connect_ns,
            handshake_ns,
            reconnects,
            reconnect_ns,
            statuses,
            answers,
            missing,
            send,
            first_byte,
            body,
        } = self;
        addresses.extend(other.addresses.iter().cloned());
        addresses.sort_unstable();
        addresses.dedup();
        *resolved = (*resolved).max(other.resolved);
        // The clock that is the farthest away.
        *ahead_s = [*ahead_s, other.ahead_s].into_iter().flatten().max_by_key(|ahead_s| ahead_s.unsigned_abs());
        *connect_ns = (*connect_ns).max(other.connect_ns);
        *handshake_ns = (*handshake_ns).max(other.handshake_ns);
        let sums = [
            (sign_ns, other.sign_ns),
            (tls_ns, other.tls_ns),
            (window_limited_ns, other.window_limited_ns),
            (sending_ns, other.sending_ns),
        ];
        for (sum, more) in sums {
            *sum = sum.map_or(more, |sum| Some(sum.saturating_add(more.unwrap_or(0))));
        }
        *reconnects += other.reconnects;
        *reconnect_ns += other.reconnect_ns;
        other.statuses.iter().for_each(|(status, count)| *statuses.entry(*status).or_default() += count);
        other.answers.iter().for_each(|(direction, count)| answers[direction] += count);
        other.missing.iter().for_each(|(direction, count)| missing[direction] += count);
        send.merge(&other.send);
        first_byte.merge(&other.first_byte);
        body.merge(&other.body);
    }

    /// Its distributions.
    pub(crate) fn histograms(&mut self) -> [&mut Histogram; 3] {
        [&mut self.send, &mut self.first_byte, &mut self.body]
    }
}
