//! The latencies and the rare counters of one direction.

use fsdyno_job::IoPriority;
use fsdyno_results::{PriorityRecord, Samples};
use fsdyno_workload::{Op, OpKind};

use super::distributed::{Distributed, Sums, merged};
use super::on_request::{OfPriority, OnRequest};

/// No request has this priority: the kernel knows no such class.
pub(super) const NO_PRIORITY: u16 = u16::MAX;

/// One direction's latencies and rare counters. Distributions exist only if the direction has I/O.
#[derive(Clone)]
pub(super) struct Lane {
    /// Number of issued I/Os that failed.
    pub(super) lost: u64,
    pub(super) short: u64,
    pub(super) dropped: u64,
    /// Whether requests complete while they are queued: then they have no submission latency.
    pub(super) at_once: bool,
    pub(super) clat: Option<Distributed>,
    /// Total latency; only kept apart from clat if there is a submission latency.
    pub(super) lat: Sums,
    pub(super) slat: Sums,
    /// The priority of transfers whose latencies have no place in the distributions on request: 0, or
    /// [`NO_PRIORITY`] if each transfer has one.
    pub(super) plain_priority: u16,
    /// Distributions that are kept only on request. They stand together, so that an I/O needs one check only.
    pub(super) on_request: Option<Box<OnRequest>>,
    /// Response time, from the intended start, for paced jobs.
    pub(super) response: Option<Distributed>,
    pub(super) bandwidth: RateSample,
    pub(super) iops: RateSample,
}

/// The sampled rate: the counter at the start of the window.
#[derive(Clone, Default)]
pub(super) struct RateSample {
    pub(super) counter_then: u64,
    pub(super) samples: Samples,
}

impl RateSample {
    /// Closes the window. `counter` is the counter of what the rate measures; `per_unit` scales it.
    pub(super) fn close(&mut self, counter: u64, elapsed_ms: u64, at_ms: u64, per_unit: u64) {
        let delta = counter - self.counter_then;
        if delta > 0 && elapsed_ms > 0 {
            self.samples.record(delta * 1000 / elapsed_ms / per_unit, at_ms);
        }
        self.counter_then = counter;
    }
}

impl Lane {
    /// Adds the latencies of the transfers up to the first one of another kind, and returns the number (1 and up) and
    /// the bytes of these transfers. Sums are kept in registers meanwhile.
    #[inline]
    pub(super) fn took_run(&mut self, kind: OpKind, ops: &[Op], latencies_ns: &[u64]) -> (usize, u64) {
        let Some(Distributed { count, sums, cells }) = &mut self.clat else {
            // Nothing is timed in a direction without I/O of its own.
            return (1, ops.first().map_or(0, |op| op.length));
        };
        let mut sum = sums.clone();
        let (mut taken, mut bytes) = (0, 0);
        for (op, latency_ns) in ops.iter().zip(latencies_ns).take_while(|(op, _)| op.kind == kind) {
            bytes += op.length;
            taken += 1;
            sum.add(*latency_ns);
            cells.add(*latency_ns);
        }
        *sums = sum;
        *count += taken as u64;
        (taken, bytes)
    }

    /// Adds the latencies of a transfer. A separate function, so that its registers are its own.
    #[inline(never)]
    pub(super) fn took(&mut self, priority: u16, start_ns: u64, issue_ns: u64, end_ns: u64) {
        let (slat_ns, clat_ns) = (issue_ns.saturating_sub(start_ns), end_ns.saturating_sub(issue_ns));
        if priority != self.plain_priority {
            // The last call of this function: nothing has to be kept over it.
            return self.took_otherwise(priority, slat_ns, clat_ns);
        }
        self.slat.add(slat_ns);
        self.lat.add(slat_ns + clat_ns);
        if let Some(clat) = &mut self.clat {
            clat.add(clat_ns);
        }
    }

    /// Adds a transfer of a job that asks for more distributions.
    #[inline(never)]
    pub(super) fn took_on_request(&mut self, priority: u16, slat_ns: u64, clat_ns: u64) {
        let lat_ns = slat_ns + clat_ns;
        self.slat.add(slat_ns);
        self.lat.add(lat_ns);
        let Some(on_request) = &mut self.on_request else { return };
        if let Some(cells) = &mut on_request.slat {
            cells.add(slat_ns);
        }
        let mut clat = self.clat.as_mut();
        if let Some(cells) = &mut on_request.lat {
            cells.add(lat_ns);
            if let Some(latencies) = on_request.by_priority.of(priority) {
                latencies.add(lat_ns);
            }
        } else if priority != 0 {
            clat = on_request.by_priority.of(priority).or(clat);
        }
        if let Some(clat) = clat {
            clat.add(clat_ns);
        }
    }

    /// Adds a transfer of a priority of its own, or of a job that asks for more distributions.
    fn took_otherwise(&mut self, priority: u16, slat_ns: u64, clat_ns: u64) {
        if self.plain_priority == NO_PRIORITY {
            self.took_on_request(priority, slat_ns, clat_ns);
        } else {
            self.took_with_priority(priority, slat_ns, clat_ns);
        }
    }

    /// Adds a transfer of a priority of its own, of a job that asks for no more distributions: its completion latency
    /// is not among those of the direction.
    #[inline]
    fn took_with_priority(&mut self, priority: u16, slat_ns: u64, clat_ns: u64) {
        self.slat.add(slat_ns);
        self.lat.add(slat_ns + clat_ns);
        let own = self.on_request.as_mut().and_then(|on_request| on_request.by_priority.of(priority));
        if let Some(clat) = own.or(self.clat.as_mut()) {
            clat.add(clat_ns);
        }
    }

    /// The latencies of completion: those of a priority of its own may stand apart.
    pub(super) fn clats(&self) -> impl Iterator<Item = &Distributed> {
        self.clat.iter().chain(self.on_request.iter().flat_map(|on_request| on_request.clats()))
    }

    /// The priorities that occurred.
    pub(super) fn priorities(&self) -> Vec<PriorityRecord> {
        let Some(on_request) = &self.on_request else { return Vec::new() };
        // Completion latencies of requests with the priority of their thread are among those of the direction.
        let shared = self.clat.as_ref().filter(|_| on_request.lat.is_none());
        let of = |(place, one): (usize, &OfPriority)| {
            let latency = merged([&one.latencies].into_iter().chain(shared.filter(|_| place == 0)));
            let IoPriority { class, level, hint } = one.priority;
            PriorityRecord { class, level, hint, latency }
        };
        let all = on_request.by_priority.all().iter().enumerate().map(of);
        all.filter(|one| one.latency.moments.count > 0).collect()
    }
}
