//! Converts the counts of the engine `http` to the form of the record.

use fsdyno_engine::ObjectTally;
use fsdyno_results::{Histogram, ObjectRecord};

/// The record of the counts; the first failure goes to the messages.
pub(super) fn record_of(tally: &ObjectTally, messages: &mut Vec<String>) -> ObjectRecord {
    messages.extend(tally.failure.iter().cloned());
    object_record(tally)
}

/// The record of the counts.
#[inline(never)]
pub fn object_record(tally: &ObjectTally) -> ObjectRecord {
    let [send, first_byte, body] = tally.phases.each_ref().map(|counts| Histogram::from_counts(counts.clone()));
    ObjectRecord {
        server: tally.server.clone(),
        addresses: vec![tally.address.clone()],
        resolved: Some(tally.resolved),
        ahead_s: tally.ahead_s,
        tls: tally.tls.clone(),
        signs_bodies: tally.signs_bodies,
        sign_ns: tally.sign_ns,
        tls_ns: tally.tls_ns,
        sending_ns: tally.sending_ns,
        window_limited_ns: tally.window_limited_ns,
        connect_ns: tally.connect_ns,
        handshake_ns: tally.handshake_ns,
        reconnects: tally.reconnects,
        reconnect_ns: tally.reconnect_ns,
        statuses: tally.statuses.iter().copied().collect(),
        answers: tally.answers,
        missing: tally.missing,
        send,
        first_byte,
        body,
    }
}
