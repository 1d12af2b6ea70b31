//! Combines the limits of several nodes.

use fsdyno_results::RunRecord;
use fsdyno_stats::sort;

use super::network::{LINK_FILLED, link_rates};
use super::phrase::{Phrase, count, rate};
use super::{Limit, Limiter, UNWATCHED, of_node};
use crate::evidence::Evidence;

/// What limited the run's first job; with several nodes, what limited them together.
///
/// # Errors
/// The reason why it is not visible.
pub fn of_run(record: &RunRecord) -> Result<Limit, &'static str> {
    if record.nodes.len() > 1 {
        return of_nodes(record);
    }
    of_node(record, &Evidence::of_first_job(record).ok_or(UNWATCHED)?)
}

/// The server's link if all nodes together fill one like their own; else the limit of most nodes.
fn of_nodes(record: &RunRecord) -> Result<Limit, &'static str> {
    let mut limits: Vec<Limit> = Vec::new();
    let mut why_not = None;
    let (mut moved, mut speed, mut counted) = (0.0, 0.0, 0);
    for evidence in Evidence::of(record) {
        match of_node(record, &evidence) {
            Ok(limit) => limits.push(limit),
            Err(reason) => why_not = why_not.or(Some(reason)),
        }
        let stage = evidence.stages.first();
        let rates = stage.and_then(|stage| link_rates(stage.rows.first()?, stage.flow.as_ref()?));
        if let Some((own, of_link)) = rates {
            (moved, speed, counted) = (moved + own, f64::max(speed, of_link), counted + 1);
        }
    }
    use Limiter::{Cache, ClientProcessor, CpuQuota, IoThrottle, Link};
    let of_its_own = |limit: &&Limit| matches!(limit.limiter, Cache | CpuQuota | IoThrottle | Link | ClientProcessor);
    let limited_alone = limits.iter().filter(of_its_own).count();
    if counted > 1 && speed > 0.0 && moved >= LINK_FILLED * speed && limited_alone * 2 < record.nodes.len() {
        let evidence = Phrase::new(
            "{} nodes together moved {}, and a link like theirs carries {}",
            [count(counted), rate(moved), rate(speed)],
        );
        return Ok(Limit { limiter: Limiter::ServerLink, evidence });
    }
    // The most frequent limit; of equally frequent ones the first.
    sort::by_key(&mut limits, |limit| limit.limiter);
    let most = limits
        .chunk_by(|one, other| one.limiter == other.limiter)
        .reduce(|most, next| if next.len() > most.len() { next } else { most });
    most.and_then(|limits| limits.first()).cloned().ok_or(why_not.unwrap_or(UNWATCHED))
}
