//! Takes the samples of the ledger.

use std::sync::{Arc, Mutex};

use fsdyno_os::clock::{Clock, RealClock};
use fsdyno_os::thread;
use fsdyno_probe::Meters;
use fsdyno_results::evidence::{
    CacheCounters, LayerCounters, Ledger, LedgerSample, MachineEvidence, Moment, RecordedFact,
};

use super::files::Files;
use super::{SamplerOrder, lock};
use crate::conduct::Shared;
use crate::plan::{Plan, WorkerPlan};

/// Longest time for counting pages each second, ns; if it takes longer, they are counted only at the ends of a stage.
const PAGES_NS_MAX: u64 = 200_000;

/// Samples that are kept between the ends of stages: an hour's. Beyond that every other one is dropped.
const SAMPLES_MAX: usize = 3600;

pub(super) struct Probes {
    shared: Arc<Shared>,
    ledger: Arc<Mutex<Ledger>>,
    clock: RealClock,
    /// Time at which the first stage began, ns.
    origin_ns: Option<u64>,
    meters: Meters,
    /// Why the counters of the kernel do not say what the current stage did.
    uncounted: Option<String>,
    files: Files,
    /// Time that counting the pages took last, ns.
    pages_ns: u64,
    /// One sample in this number is kept; it doubles when samples are dropped.
    keep_one_in: u64,
    looks: u64,
}

impl Probes {
    pub(super) fn begin(shared: Arc<Shared>, meters: Meters, ledger: Arc<Mutex<Ledger>>) -> Probes {
        let files = Files::of(&shared.plan);
        let machine = meters.machine();
        {
            let mut ledger = lock(&ledger);
            let known = std::mem::take(&mut ledger.machine);
            ledger.machine = MachineEvidence {
                generator_floor_ns: known.generator_floor_ns,
                foreign_bytes_per_s: known.foreign_bytes_per_s,
                ..machine
            };
            ledger.files = files.evidence();
            ledger.files_left_out = files.left_out();
        }
        Probes {
            uncounted: None,
            shared,
            ledger,
            clock: RealClock::shared(),
            origin_ns: None,
            meters,
            files,
            pages_ns: 0,
            keep_one_in: 1,
            looks: 0,
        }
    }

    /// Carries out an order; returns its CPU time, ns.
    pub(super) fn follow(&mut self, order: SamplerOrder) -> u64 {
        match order {
            SamplerOrder::Begin(stage) => self.begin_stage(stage),
            SamplerOrder::During(stage) => self.look_during(stage),
            SamplerOrder::End(stage) => self.end_stage(stage),
        }
    }

    /// Reads the state of the files, then takes the first sample.
    fn begin_stage(&mut self, stage: u32) -> u64 {
        self.uncounted = uncounted(&self.shared.plan, stage);
        let first = self.origin_ns.is_none();
        let meters = &self.meters;
        self.files.begin_stage(stage, first, |path| meters.fstype_of(path));
        lock(&self.ledger).files = self.files.evidence();
        self.look(stage, Moment::Begin)
    }

    /// Takes a sample in between; it is not kept where samples have been thinned out.
    fn look_during(&mut self, stage: u32) -> u64 {
        self.looks += 1;
        if !self.looks.is_multiple_of(self.keep_one_in) {
            return 0;
        }
        let cost_ns = self.look(stage, Moment::During);
        self.thin_out();
        cost_ns
    }

    /// Takes the last sample, then reads the state of the files.
    fn end_stage(&mut self, stage: u32) -> u64 {
        let cost_ns = self.look(stage, Moment::End);
        self.files.end_stage(stage);
        let limits = self.meters.io_limits();
        {
            let mut ledger = lock(&self.ledger);
            ledger.files = self.files.evidence();
            ledger.io_limits_after = limits;
        }
        self.files.close();
        cost_ns
    }

    /// Takes one sample; returns its CPU time on this thread, ns.
    fn look(&mut self, stage: u32, moment: Moment) -> u64 {
        let used = thread::usage();
        let now_ns = self.clock.now_ns();
        let origin_ns = *self.origin_ns.get_or_insert(now_ns);
        let application = self.application();
        let cache = self.pages(stage, moment);
        let mut reading = self.meters.read();
        if let Some(reason) = &self.uncounted {
            (reading.devices, reading.stacked_devices) = (RecordedFact::NotVisible(reason.clone()), Vec::new());
            reading.group = None;
        }
        if moment != Moment::During {
            self.meters.count_images(&mut reading);
        }
        let sample = LedgerSample {
            at_ms: now_ns.saturating_sub(origin_ns) / 1_000_000,
            stage,
            moment,
            application,
            process: reading.process,
            cache,
            devices: reading.devices,
            stacked_devices: reading.stacked_devices,
            group: reading.group,
            wire: reading.wire,
            system: reading.system,
        };
        let spent = thread::usage().since(&used);
        let cost_ns = (spent.user + spent.system).as_nanos() as u64;
        let mut ledger = lock(&self.ledger);
        ledger.samples.push(sample);
        ledger.cost_ns += cost_ns;
        cost_ns
    }

    /// The totals that all workers have published.
    fn application(&self) -> LayerCounters {
        let mut sum = LayerCounters::default();
        for published in self.shared.cells.iter().map(|cell| cell.published()) {
            sum.bytes = sum.bytes.plus(published.bytes.into());
            sum.operations = sum.operations.plus(published.ios.into());
        }
        sum
    }

    fn pages(&mut self, stage: u32, moment: Moment) -> RecordedFact<CacheCounters> {
        if moment == Moment::During && self.pages_ns > PAGES_NS_MAX {
            let reason =
                format!("counting takes {} us: done only at the beginning and end of a stage", self.pages_ns / 1000);
            return RecordedFact::NotVisible(reason);
        }
        let began_ns = self.clock.now_ns();
        let pages = self.files.pages(stage);
        self.pages_ns = self.clock.now_ns().saturating_sub(began_ns);
        pages.into()
    }

    /// Drops every other sample between the ends of stages once there are too many.
    fn thin_out(&mut self) {
        let mut ledger = lock(&self.ledger);
        let during = |sample: &LedgerSample| sample.moment == Moment::During;
        if ledger.samples.iter().filter(|sample| during(sample)).count() < SAMPLES_MAX {
            return;
        }
        self.keep_one_in *= 2;
        let mut odd = false;
        ledger.samples.retain(|sample| {
            odd ^= during(sample);
            !during(sample) || !odd
        });
    }
}

/// Why the counters of the kernel do not say what a stage does: jobs in it send commands, which no counter has. Beside
/// them the bytes of other jobs cannot be told apart.
fn uncounted(plan: &Plan, stage: u32) -> Option<String> {
    let workers = plan.workers.iter().filter(|worker| worker.stage == stage && worker.refused.is_none());
    let (sending, others): (Vec<&WorkerPlan>, Vec<&WorkerPlan>) =
        workers.partition(|worker| worker.job.submission.engine.commands_devices());
    let first = sending.first()?;
    let mut reason = format!(
        "job {} ({}) sends commands to a device, which pass the counters of the block layer",
        first.job.name,
        first.job.submission.engine.name()
    );
    if !others.is_empty() {
        reason.push_str("; --stonewall between the jobs shows the bytes of the others");
    }
    Some(reason)
}
