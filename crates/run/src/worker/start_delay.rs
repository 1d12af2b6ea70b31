//! Waits for `startdelay`.

use fsdyno_drive::{Equipment, WorkerCell};

use crate::conduct::Shared;
use crate::plan::WorkerPlan;

/// A number that differs between workers and is the same for the same seed (the finaliser of splitmix64).
fn spread(plan: &WorkerPlan) -> u64 {
    let mixed = (plan.workload.seed ^ (u64::from(plan.thread_number) << 32)).wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed ^ (mixed >> 27)
}

/// Waits for `startdelay`, in slices in which an order to stop is noticed; returns whether one came.
pub(super) fn start_delay(plan: &WorkerPlan, shared: &Shared, cell: &WorkerCell, engine: &dyn Equipment) -> bool {
    let (shortest_ns, longest_ns) = plan.job.extent.start_delay_ns;
    let spread_ns = longest_ns.saturating_sub(shortest_ns);
    let drawn_ns = if spread_ns == 0 { 0 } else { spread(plan) % (spread_ns + 1) };
    let until_ns = engine.now_ns() + shortest_ns + drawn_ns;
    let stopped = || shared.control.stopped() || cell.stopped();
    while engine.now_ns() < until_ns {
        if stopped() {
            return true;
        }
        engine.sleep_until_ns(until_ns.min(engine.now_ns() + 50_000_000));
    }
    false
}
