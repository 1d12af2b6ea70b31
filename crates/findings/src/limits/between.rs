//! Server against client: the same plan on the server's own filesystem and on a client's mount. What the client's
//! requests take longer is the network's and the protocol's; the mount's own counters say where.

use results::RunRecord;
use results::quantity::{bytes_per_s, latency};

use super::network::{link_rates, nfs_times};
use super::{direction, machine_busy, mean_latency_ns};
use crate::evidence::Evidence;

/// Who is the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Culprit {
    /// The server's storage: it takes most of the time on the server, too.
    Server,
    /// The network between.
    Link,
    /// The client: its processors, or its queue of requests.
    Client,
}

impl Culprit {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Culprit::Server => "the server's storage",
            Culprit::Link => "the link",
            Culprit::Client => "the client",
        }
    }
}

/// Where a client's latency comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribution {
    /// Mean latency on the server, ns.
    pub server_ns: f64,
    /// Mean latency on the client, ns.
    pub client_ns: f64,
    /// What network and protocol add, ns.
    pub added_ns: f64,
    /// That as a share of the client's latency, 0 to 1.
    pub added_share: f64,
    /// Mean time of a request in the client's queue, ns; `None`: the mount's counters are not visible.
    pub queue_ns: Option<f64>,
    /// Mean time of a request on the wire and in the server, ns; `None` likewise.
    pub round_trip_ns: Option<f64>,
    /// Who is the limit; `None`: the counters do not tell.
    pub culprit: Option<Culprit>,
    /// All of this in one or two sentences.
    pub sentence: String,
}

/// From this share of the link's speed on it is the limit.
const LINK_FILLED: f64 = 0.85;

/// From this share of the processors' time on they are the limit.
const BUSY: f64 = 0.9;

/// The part that takes at least this share of the latency is the limit.
const MOST: f64 = 0.5;

/// Compares one run on the server with the same run on a client. `None`: one of them measured no latency.
pub fn between(server: &RunRecord, client: &RunRecord) -> Option<Attribution> {
    let (server, client) = (Evidence::of(server), Evidence::of(client));
    let server_row = server.stages.first()?.rows.first()?;
    let client_stage = client.stages.first()?;
    let client_row = client_stage.rows.first()?;
    let (server_ns, client_ns) = (mean_latency_ns(server_row)?, mean_latency_ns(client_row)?);
    let added_ns = (client_ns - server_ns).max(0.0);
    let flow = client_stage.flow.as_ref();
    let times = flow.and_then(|flow| nfs_times(client_row, flow));
    let rates = flow.and_then(|flow| link_rates(client_row, flow));
    let busy = flow.and_then(machine_busy);
    let share = |part_ns: f64| if client_ns > 0.0 { part_ns / client_ns } else { 0.0 };
    let queue_ns = times.map(|times| times.queue_ns);
    let round_trip_ns = times.map(|times| times.round_trip_ns);
    // What a request takes beyond the server's own time, on the way.
    let way_ns = round_trip_ns.map_or(added_ns, |round_trip_ns| (round_trip_ns - server_ns).max(0.0));
    let (culprit, why) = if let Some((rate, speed)) = rates.filter(|(rate, speed)| *rate >= LINK_FILLED * speed) {
        (Some(Culprit::Link), format!("{} of its {} are in use", bytes_per_s(rate), bytes_per_s(speed)))
    } else if share(server_ns) >= MOST {
        (Some(Culprit::Server), format!("it takes {} for the same request by itself", latency(server_ns)))
    } else if let Some(busy) = busy.filter(|busy| *busy >= BUSY) {
        (Some(Culprit::Client), format!("its processors were busy for {:.0} % of the time", busy * 100.0))
    } else if let Some(queue_ns) = queue_ns.filter(|queue_ns| share(*queue_ns) >= MOST) {
        (Some(Culprit::Client), format!("a request waits {} in its queue before it is sent", latency(queue_ns)))
    } else if share(way_ns) >= MOST {
        (Some(Culprit::Link), format!("a request spends {} on the way", latency(way_ns)))
    } else {
        (None, String::new())
    };
    let mut sentence = format!(
        "A {} takes {} on the server and {} on the client: network and protocol add {} ({:.0} %).",
        if direction(client_row) == 0 { "read" } else { "write" },
        latency(server_ns),
        latency(client_ns),
        latency(added_ns),
        share(added_ns) * 100.0
    );
    if let (Some(queue_ns), Some(round_trip_ns)) = (queue_ns, round_trip_ns) {
        sentence.push_str(&format!(
            " The mount's own counters say {} in the client's queue and {} on the wire and in the server.",
            latency(queue_ns),
            latency(round_trip_ns)
        ));
    }
    sentence.push_str(&match culprit {
        Some(culprit) => format!(" The limit is {}: {why}.", culprit.word()),
        None => " What limits it cannot be told from these counters.".to_string(),
    });
    Some(Attribution {
        server_ns,
        client_ns,
        added_ns,
        added_share: share(added_ns),
        queue_ns,
        round_trip_ns,
        culprit,
        sentence,
    })
}
