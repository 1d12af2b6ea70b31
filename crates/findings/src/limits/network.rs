//! Finds the limits of a storage behind a network.

use super::phrase::{Phrase, latency, rate as per_s};
use super::{Limit, Limiter, direction};
use crate::evidence::{Flow, JobInStage, Transfer};
use fsdyno_results::evidence::NfsOperation;

/// The link is the limit from this share of its speed on: headers and acknowledgements take the rest.
pub(super) const LINK_FILLED: f64 = 0.85;

/// Requests wait in the client if that takes longer than this multiple of the time on wire and server.
const QUEUED: f64 = 1.0;

/// From this multiple of a TCP connect on, a request takes more time than the network alone explains.
pub(crate) const ROUND_TRIPS: f64 = 3.0;

/// Slower than any link in use today (10 Mbit/s), bytes per second.
const SLOWEST_LINK: f64 = 1.25e6;

/// The evidence: where the time of a request goes.
const TIMES: &str = "takes {} on the network and in the server, a TCP connect {}";

/// Least number of requests: fewer may all have been slow by chance.
const REQUESTS_MIN: u64 = 4;

/// Mean times of a READ or WRITE. A server may keep a WRITE in memory and write to disk only for the COMMIT after it:
/// the time of COMMITs is distributed over the WRITEs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NfsTimes {
    /// Time in the client's queue, ns.
    pub queue_ns: f64,
    /// Time on the wire and in the server, ns.
    pub round_trip_ns: f64,
    /// Number of READs or WRITEs.
    pub operations: u64,
    /// Number of COMMITs between the WRITEs.
    pub commits: u64,
}

impl NfsTimes {
    /// The name of the timed request.
    pub fn request(&self) -> &'static str {
        if self.commits > 0 { "a WRITE with its share of COMMITs" } else { "a request" }
    }
}

/// Bytes per second on the wire in the row's direction, and the link's speed, bytes per second.
pub(crate) fn link_rates(row: &JobInStage<'_>, flow: &Flow<'_>) -> Option<(f64, f64)> {
    let speed = row.storage?.server.as_ref()?.link_bits_per_s.value().copied()? as f64 / 8.0;
    let wire = flow.wire.as_ref()?;
    // Written data may cross after the workers have ended; read data has crossed before.
    let (busiest, seconds) = match wire.bytes.read >= wire.bytes.write {
        true => (wire.bytes.read, flow.reading_seconds),
        false => (wire.bytes.write, flow.seconds),
    };
    (seconds > 0.0 && speed > 0.0).then(|| (busiest as f64 / seconds, speed))
}

/// The link as the limit, if its speed is known and used.
pub(super) fn link(row: &JobInStage<'_>, flow: &Flow<'_>) -> Option<Limit> {
    let (rate, speed) = link_rates(row, flow)?;
    (rate >= LINK_FILLED * speed).then(|| Limit {
        limiter: Limiter::Link,
        evidence: Phrase::new("{} of its {} were in use", [per_s(rate), per_s(speed)]),
    })
}

/// What the requests of an NFS mount wait for.
pub(super) fn requests(row: &JobInStage<'_>, flow: &Flow<'_>) -> Option<Limit> {
    let times = nfs_times(row, flow).filter(|times| times.operations >= REQUESTS_MIN)?;
    let connect_ns = row.storage?.server.as_ref()?.connect_ns.value().map(|connect_ns| *connect_ns as f64);
    // A queue in front of a slow server or link is caused by these: the client's own queue shows where both are fast.
    let quick = connect_ns.is_none_or(|connect_ns| times.round_trip_ns <= ROUND_TRIPS * connect_ns);
    if quick && times.queue_ns > QUEUED * times.round_trip_ns {
        let words = format!(
            "{} waited {{}} in the client and {{}} on the network and in the server; more connections (nconnect) help",
            times.request()
        );
        let evidence = Phrase::new(&words, [latency(times.queue_ns), latency(times.round_trip_ns)]);
        return Some(Limit { limiter: Limiter::ClientQueue, evidence });
    }
    let connect_ns = connect_ns?;
    let link_known = link_rates(row, flow).is_some();
    let rate = flow.wire.as_ref().map_or(0.0, |wire| wire.bytes.sum() as f64 / flow.seconds);
    let (request, times) = (times.request(), [latency(times.round_trip_ns), latency(connect_ns)]);
    let most = |what: &str| Phrase::new(&format!("{request} {TIMES}: most of it {what}"), times);
    Some(match () {
        () if quick => Limit { limiter: Limiter::RoundTrip, evidence: most("on the network") },
        () if link_known || rate < SLOWEST_LINK => Limit { limiter: Limiter::Server, evidence: most("in the server") },
        () => {
            let words = format!("{request} {TIMES}; {{}} crossed a link of unknown speed (set FSDYNO_LINK_MBIT)");
            let [round_trip, connect] = times;
            Limit { limiter: Limiter::ServerOrLink, evidence: Phrase::new(&words, [round_trip, connect, per_s(rate)]) }
        }
    })
}

/// Times of the reads or writes of an NFS mount during the stage; `None`: no such mount, or no such request.
pub(crate) fn nfs_times(row: &JobInStage<'_>, flow: &Flow<'_>) -> Option<NfsTimes> {
    let (begin, end) = (flow.begin.wire.value()?, flow.end.wire.value()?);
    let during = |name: &str| {
        let of =
            |all: &[NfsOperation]| all.iter().find(|operation| operation.name == name).cloned().unwrap_or_default();
        let (begin, end) = (of(&begin.nfs_operations), of(&end.nfs_operations));
        let more = |of: fn(&NfsOperation) -> u64| of(&end).saturating_sub(of(&begin));
        [more(|all| all.operations), more(|all| all.queue_ms), more(|all| all.round_trip_ms)]
    };
    let is_reading = direction(row) == Transfer::Read;
    let [operations, queue_ms, round_trip_ms] = during(if is_reading { "READ" } else { "WRITE" });
    let [commits, commits_queue_ms, commits_round_trip_ms] = if is_reading { [0; 3] } else { during("COMMIT") };
    let each_ns = |ms: u64| ms as f64 * 1e6 / operations as f64;
    (operations > 0).then(|| NfsTimes {
        queue_ns: each_ns(queue_ms + commits_queue_ms),
        round_trip_ns: each_ns(round_trip_ms + commits_round_trip_ms),
        operations,
        commits,
    })
}
