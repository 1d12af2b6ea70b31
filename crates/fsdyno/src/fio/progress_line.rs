//! Computes the numbers of the progress line from what the workers publish.

use fsdyno_fio_report::{Progress, RateLimit};
use fsdyno_job::{Direction, PerDirection};
use fsdyno_run::plan::WorkerPlan;
use fsdyno_run::{View, WorkerState};

/// Totals at one time, for rates.
#[derive(Clone, Copy, Default)]
struct Totals {
    elapsed_ns: u64,
    bytes: PerDirection<u64>,
    ios: PerDirection<u64>,
}

/// Makes progress lines; keeps the totals of the previous one.
#[derive(Default)]
pub(super) struct ProgressMeter {
    last: Totals,
}

impl ProgressMeter {
    pub(super) fn measure(&mut self, view: &View<'_>) -> Progress {
        let mut now = Totals { elapsed_ns: view.elapsed_ns, ..Totals::default() };
        let (mut running, mut open_files) = (0, 0);
        let mut ramping = false;
        for cell in view.cells {
            let published = cell.published();
            for direction in Direction::ALL {
                now.bytes[direction] += published.bytes[direction];
                now.ios[direction] += published.ios[direction];
            }
            let state = cell.state();
            if matches!(state, WorkerState::Ramp | WorkerState::Running | WorkerState::Verifying | WorkerState::Syncing)
            {
                running += 1;
                open_files += published.open_files;
            }
            ramping |= cell.state() == WorkerState::Ramp;
        }
        let spent_ns = now.elapsed_ns.saturating_sub(self.last.elapsed_ns).max(1);
        let rate =
            |now: u64, then: u64| (u128::from(now.saturating_sub(then)) * 1_000_000_000 / u128::from(spent_ns)) as u64;
        let bandwidth = now.bytes.zip(self.last.bytes).map(|(now, then)| rate(now, then));
        let iops = now.ios.zip(self.last.ios).map(|(now, then)| rate(now, then));
        self.last = now;
        let elapsed_s = now.elapsed_ns / 1_000_000_000;
        let left_s = fsdyno_run::seconds_left(view);
        let percent = left_s.filter(|_| !ramping).map(|left| {
            let whole = elapsed_s + left;
            if whole == 0 { 100.0 } else { elapsed_s as f64 * 100.0 / whole as f64 }
        });
        let reporting = view.plan.workers.first().map(|worker| &worker.job.reporting);
        Progress {
            running,
            open_files,
            limit: limit(view),
            states: view
                .plan
                .workers
                .iter()
                .zip(view.cells)
                .map(|(worker, cell)| letter(worker, cell.state()))
                .collect(),
            elapsed_s,
            percent,
            bandwidth,
            iops,
            eta_s: left_s,
            significant_figures: reporting.map_or(4, |reporting| reporting.significant_figures),
            kb_base: reporting.map_or(1024, |reporting| reporting.kb_base),
            unit_base: reporting.map_or(0, |reporting| reporting.unit_base),
        }
    }
}

/// The sum of the rate limits of the running workers.
fn limit(view: &View<'_>) -> Option<RateLimit> {
    let mut bytes = (0, 0);
    let mut ios = (0, 0);
    for (worker, cell) in view.plan.workers.iter().zip(view.cells) {
        if !matches!(cell.state(), WorkerState::Ramp | WorkerState::Running) {
            continue;
        }
        let pacing = &worker.job.pacing;
        for direction in Direction::ALL.into_iter().filter(|d| worker.job.pattern.access.has(*d)) {
            bytes.0 += pacing.rate_min[direction].unwrap_or(0);
            bytes.1 += pacing.rate[direction].unwrap_or(0);
            ios.0 += u64::from(pacing.rate_iops_min[direction].unwrap_or(0));
            ios.1 += u64::from(pacing.rate_iops[direction].unwrap_or(0));
        }
    }
    if bytes != (0, 0) {
        Some(RateLimit::Bandwidth(bytes.0, bytes.1))
    } else if ios != (0, 0) {
        Some(RateLimit::Iops(ios.0, ios.1))
    } else {
        None
    }
}

fn letter(worker: &WorkerPlan, state: WorkerState) -> char {
    let access = worker.job.pattern.access;
    match state {
        WorkerState::Waiting => 'P',
        WorkerState::Created => 'C',
        WorkerState::Initialised => 'I',
        WorkerState::Ramp => '/',
        WorkerState::Verifying => 'V',
        WorkerState::Syncing => 'F',
        WorkerState::Exited => 'E',
        WorkerState::Reaped => '_',
        WorkerState::Failed => 'X',
        WorkerState::Running => {
            let letter = match (access.reads, access.writes) {
                (true, true) => 'm',
                (true, false) => 'r',
                (false, true) => 'w',
                (false, false) => 'd',
            };
            if access.random { letter } else { letter.to_ascii_uppercase() }
        }
    }
}
