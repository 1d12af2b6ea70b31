//! Compares server and client: the same plan on the server's own filesystem and on a client's mount. The additional
//! latency on the client is due to network and protocol; the mount's counters show to which.

use fsdyno_results::RunRecord;
use fsdyno_text::quantity::{by_mean, bytes_per_s, latency};

use super::network::{NfsTimes, ROUND_TRIPS, link_rates, nfs_times};
use super::{direction, machine_busy, mean_latency_ns, median_latency_ns};
use crate::evidence::{Evidence, JobInStage, Transfer};

/// Where the limit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Culprit {
    /// The server's storage: it takes most of the time on the server, too.
    Server,
    /// The network between them.
    Link,
    /// The client: its CPUs, or its queue of requests.
    Client,
}

impl Culprit {
    /// The part's name.
    pub fn word(self) -> &'static str {
        match self {
            Culprit::Server => "the server's storage",
            Culprit::Link => "the link",
            Culprit::Client => "the client",
        }
    }
}

/// The parts of a client's latency.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribution {
    /// Mean latency on the server, ns.
    pub server_ns: f64,
    /// Mean latency on the client, ns.
    pub client_ns: f64,
    /// The additional latency of network and protocol, ns.
    pub added_ns: f64,
    /// The additional latency as a share of the client's, 0 to 1.
    pub added_share: f64,
    /// Mean time of a request in the client's queue, ns; `None`: the mount's counters are not visible.
    pub queue_ns: Option<f64>,
    /// Mean time of a request on the wire and in the server, ns; `None` likewise.
    pub round_trip_ns: Option<f64>,
    /// The limiting part; `None`: the counters do not show it.
    pub culprit: Option<Culprit>,
    /// The result in one or two sentences.
    pub sentence: String,
}

/// The link is the limit from this share of its speed on.
const LINK_FILLED: f64 = 0.85;

/// The CPUs are the limit from this share of their time on.
const BUSY: f64 = 0.9;

/// A part that takes at least this share of the latency is the limit.
const MOST: f64 = 0.5;

/// The facts about both runs.
struct ComparedRuns {
    server_ns: f64,
    client_ns: f64,
    /// Median latencies on the server and on the client, ns.
    medians_ns: [Option<f64>; 2],
    /// Times of the mount's requests.
    times: Option<NfsTimes>,
    /// Time of a TCP connect without load, ns.
    connect_ns: Option<f64>,
    /// Used and possible rate, bytes per second.
    link: Option<(f64, f64)>,
    /// Share of the client's CPU time in use.
    busy: Option<f64>,
    /// Whether the server's run did not wait until its writes were durable, which an NFS server does before it answers.
    unsafe_writes: bool,
}

/// Compares one run on the server with the same run on a client. `None`: one of them measured no latency.
pub fn between(server: &RunRecord, client: &RunRecord) -> Option<Attribution> {
    let (server, client) = (Evidence::of_first_job(server)?, Evidence::of_first_job(client)?);
    let server_row = server.stages.first()?.rows.first()?;
    let client_stage = client.stages.first()?;
    let client_row = client_stage.rows.first()?;
    let flow = client_stage.flow.as_ref();
    let plan = &server_row.first().plan;
    let known = ComparedRuns {
        server_ns: mean_latency_ns(server_row)?,
        client_ns: mean_latency_ns(client_row)?,
        medians_ns: [server_row, client_row].map(median_latency_ns),
        times: flow.and_then(|flow| nfs_times(client_row, flow)),
        connect_ns: client_row
            .storage
            .and_then(|storage| storage.server.as_ref()?.connect_ns.value())
            .map(|connect_ns| *connect_ns as f64),
        link: flow.and_then(|flow| link_rates(client_row, flow)),
        busy: flow.and_then(machine_busy),
        unsafe_writes: server_row.writes() && !plan.synchronous && plan.sync_every_writes == 0,
    };
    let found = known.culprit();
    let added_ns = (known.client_ns - known.server_ns).max(0.0);
    Some(Attribution {
        server_ns: known.server_ns,
        client_ns: known.client_ns,
        added_ns,
        added_share: known.share(added_ns),
        queue_ns: known.times.map(|times| times.queue_ns),
        round_trip_ns: known.times.map(|times| times.round_trip_ns),
        culprit: found.as_ref().ok().map(|(culprit, _)| *culprit),
        sentence: known.sentence(client_row, added_ns, found),
    })
}

impl ComparedRuns {
    fn share(&self, part_ns: f64) -> f64 {
        if self.client_ns > 0.0 { part_ns / self.client_ns } else { 0.0 }
    }

    /// The limiting part with its evidence, or why it cannot be told.
    fn culprit(&self) -> Result<(Culprit, String), &'static str> {
        if let Some((rate, speed)) = self.link.filter(|(rate, speed)| *rate >= LINK_FILLED * speed) {
            let why = format!("{} of its {} are in use", bytes_per_s(rate), bytes_per_s(speed));
            return Ok((Culprit::Link, why));
        }
        if self.share(self.server_ns) >= MOST {
            let why = format!("the same request takes {} on the server alone", latency(self.server_ns));
            return Ok((Culprit::Server, why));
        }
        if let Some(busy) = self.busy.filter(|busy| *busy >= BUSY) {
            return Ok((Culprit::Client, format!("its CPUs were busy {:.0} % of the time", busy * 100.0)));
        }
        if let Some(times) = self.times.filter(|times| self.queues_by_itself(times)) {
            let why = format!("a request waits {} in the client's queue before it is sent", latency(times.queue_ns));
            return Ok((Culprit::Client, why));
        }
        // A request's time after it left the queue, beyond the server's own time.
        let way_ns = self.times.map_or(self.client_ns, |times| times.round_trip_ns + times.queue_ns) - self.server_ns;
        if self.share(way_ns) < MOST {
            return Err("no part takes most of the time");
        }
        if self.unsafe_writes {
            return Err("the run on the server did not wait for durable writes, but an NFS server does; only writes \
                        that both sync (sync-latency of measure, --sync=dsync) show whose time it is");
        }
        Ok((Culprit::Link, format!("a request spends {} on the network", latency(way_ns))))
    }

    /// Whether the queue is the client's own: requests wait although network and server are fast. A queue in front of a
    /// slow server or link is caused by these.
    fn queues_by_itself(&self, times: &NfsTimes) -> bool {
        let quick = self.connect_ns.is_none_or(|connect_ns| times.round_trip_ns <= ROUND_TRIPS * connect_ns);
        quick && self.share(times.queue_ns) >= MOST
    }

    fn sentence(&self, row: &JobInStage<'_>, added_ns: f64, found: Result<(Culprit, String), &str>) -> String {
        let what = match direction(row) {
            Transfer::Read => "read",
            Transfer::Write if row.first().plan.sync_every_writes == 1 => "write with its sync",
            Transfer::Write => "write",
        };
        let [server, client] = self.medians_ns;
        let (server, client) = (by_mean(self.server_ns, server), by_mean(self.client_ns, client));
        let added = match added_ns {
            0.0 => "network and protocol add nothing that these two runs show".to_owned(),
            _ => format!("network and protocol add {} ({:.0} %)", latency(added_ns), self.share(added_ns) * 100.0),
        };
        let mut sentence =
            format!("A {what} takes {server} on the server and {client} on the client, on average: {added}.");
        if let Some(times) = self.times {
            sentence.push_str(&format!(
                " NFS counters: {} in the client's queue, {} on the network and in the server.",
                latency(times.queue_ns),
                latency(times.round_trip_ns)
            ));
        }
        sentence.push_str(&match found {
            Ok((culprit, why)) => format!(" The limit is {}: {why}.", culprit.word()),
            Err(why) => format!(" The limit is unknown: {why}."),
        });
        sentence
    }
}
