//! Samples the byte ledger of a run: all layers when a stage begins and ends, and each second in between. Where reading
//! a file's state may wait for a server, samples are taken on a separate thread, so that a mount that hangs delays no
//! worker and no report: the conductor waits only for the first and the last sample of a stage, with a timeout.

mod files;
pub(crate) mod foreign;
mod probes;
mod schedule;

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use fsdyno_probe::{Look, Meters};
use fsdyno_results::evidence::{Ledger, MachineEvidence, Moment, Storage};

use crate::conduct::Shared;
use crate::plan::Plan;
use probes::Probes;
use schedule::Schedule;
pub(crate) use schedule::slices_max;

/// How long the conductor waits for the first or last sample of a stage.
const PATIENCE: Duration = Duration::from_secs(3);

/// Stack of the sampler's thread, bytes.
const STACK_BYTES: usize = 128 * 1024;

/// Orders to the sampler.
enum SamplerOrder {
    /// The workers of the stage are ready and have done no I/O.
    Begin(u32),
    /// A second is over.
    During(u32),
    /// All workers of the stage have ended.
    End(u32),
}

/// Samples all layers when it is told to.
pub(crate) struct Sampler {
    place: SamplingThread,
    schedule: Schedule,
    ledger: Arc<Mutex<Ledger>>,
}

/// Where the samples are taken.
enum SamplingThread {
    /// On the conductor's thread: none of its sources can wait for a server.
    Here(Box<Probes>),
    /// On a separate thread.
    Apart(ThreadedSampler),
}

/// The conductor's side of a sampler on a separate thread.
struct ThreadedSampler {
    orders: Sender<SamplerOrder>,
    /// CPU time of each sample when it is done, ns.
    answers: Receiver<u64>,
    outstanding: u32,
    patience: Duration,
}

impl Sampler {
    /// Finds the layers below the files of the run. `look`, `storages`, `machine`: what is known already.
    pub(crate) fn begin(
        shared: &Arc<Shared>,
        look: &Look,
        storages: &[Storage],
        machine: MachineEvidence,
    ) -> std::io::Result<Sampler> {
        let ledger = Arc::new(Mutex::new(Ledger { machine, ..Ledger::default() }));
        let meters = Meters::begin(look.clone(), &places(&shared.plan), &interfaces(storages));
        let may_block = meters.may_block();
        let mut probes = Probes::begin(Arc::clone(shared), meters, Arc::clone(&ledger));
        let place = match may_block {
            true => SamplingThread::Apart(ThreadedSampler::begin(move |order| probes.follow(order), PATIENCE)?),
            false => SamplingThread::Here(Box::new(probes)),
        };
        Ok(Sampler { place, schedule: Schedule::idle(), ledger })
    }

    /// Takes the sample before the first I/O of a stage.
    pub(crate) fn begin_stage(&mut self, stage: u32) {
        self.need(SamplerOrder::Begin(stage));
    }

    /// The gate was opened `waited_ns` after the first sample. Nothing was moved meanwhile, so rates count from here.
    pub(crate) fn stage_runs(&mut self, now_ns: u64, waited_ns: u64) {
        self.schedule = Schedule::begin(now_ns);
        let ledger = &mut *lock(&self.ledger);
        let first = ledger.samples.last_mut().filter(|sample| sample.moment == Moment::Begin);
        first.into_iter().for_each(|sample| sample.at_ms += waited_ns / 1_000_000);
    }

    /// Takes a sample if a second is over; called often.
    pub(crate) fn watch(&mut self, now_ns: u64, stage: u32) {
        if let SamplingThread::Apart(apart) = &mut self.place
            && let Some(cost_ns) = apart.answered()
        {
            self.schedule.cost(cost_ns);
        }
        if !self.schedule.due(now_ns) {
            return;
        }
        match &mut self.place {
            SamplingThread::Here(probes) => {
                let cost_ns = probes.follow(SamplerOrder::During(stage));
                self.schedule.cost(cost_ns);
            }
            SamplingThread::Apart(apart) if apart.outstanding == 0 => apart.order(SamplerOrder::During(stage)),
            SamplingThread::Apart(_) => lock(&self.ledger).missed += 1,
        }
    }

    /// Takes the sample after the last I/O of a stage.
    pub(crate) fn end_stage(&mut self, stage: u32) {
        self.schedule = Schedule::idle();
        self.need(SamplerOrder::End(stage));
    }

    /// Whether a file of the run may wait for a server or daemon.
    pub(crate) fn may_wait(&self) -> bool {
        matches!(self.place, SamplingThread::Apart(_))
    }

    /// The ledger so far.
    pub(crate) fn so_far(&self) -> Ledger {
        lock(&self.ledger).clone()
    }

    /// Takes a sample that the run waits for, up to a timeout.
    fn need(&mut self, order: SamplerOrder) {
        let in_time = match &mut self.place {
            SamplingThread::Here(probes) => {
                probes.follow(order);
                true
            }
            SamplingThread::Apart(apart) => {
                apart.order(order);
                apart.wait()
            }
        };
        if !in_time {
            lock(&self.ledger).missed += 1;
        }
    }
}

impl ThreadedSampler {
    /// Starts the thread; `follow` carries out an order.
    fn begin(
        mut follow: impl FnMut(SamplerOrder) -> u64 + Send + 'static,
        patience: Duration,
    ) -> std::io::Result<ThreadedSampler> {
        let (orders, orders_in) = channel();
        let (answers_out, answers) = channel();
        let work = move || {
            for order in orders_in {
                // The receiver is gone: the run is over.
                if answers_out.send(follow(order)).is_err() {
                    break;
                }
            }
        };
        fsdyno_os::thread::begin("ledger", STACK_BYTES, work)?;
        Ok(ThreadedSampler { orders, answers, outstanding: 0, patience })
    }

    fn order(&mut self, order: SamplerOrder) {
        // A sampler whose thread has panicked answers no more.
        if self.orders.send(order).is_ok() {
            self.outstanding += 1;
        }
    }

    /// The CPU time of the last sample that was finished since the last call.
    fn answered(&mut self) -> Option<u64> {
        let answers = std::iter::from_fn(|| self.answers.try_recv().ok());
        let (count, last) = answers.fold((0, None), |(count, _), cost_ns| (count + 1, Some(cost_ns)));
        self.outstanding -= count;
        last
    }

    /// Waits until every order is answered; false at the timeout.
    fn wait(&mut self) -> bool {
        while self.outstanding > 0 {
            match self.answers.recv_timeout(self.patience) {
                Ok(_) => self.outstanding -= 1,
                Err(_) => return false,
            }
        }
        true
    }
}

/// The interfaces to the servers; empty if one is not known: then all interfaces are counted.
fn interfaces(storages: &[Storage]) -> Vec<String> {
    let servers = storages.iter().filter_map(|storage| storage.server.as_ref());
    servers.map(|server| server.interface.value().cloned()).collect::<Option<Vec<_>>>().unwrap_or_default()
}

fn lock(ledger: &Mutex<Ledger>) -> MutexGuard<'_, Ledger> {
    ledger.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// The path of a file on each storage of the run.
pub(crate) fn places(plan: &Plan) -> Vec<PathBuf> {
    plan.storages.iter().map(|storage| storage.path.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsdyno_results::evidence::LedgerSample;

    #[test]
    fn rates_of_a_stage_count_from_its_start() {
        let apart = ThreadedSampler::begin(|_| 0, Duration::from_secs(1)).unwrap();
        let samples = vec![LedgerSample { moment: Moment::Begin, at_ms: 3, ..LedgerSample::default() }];
        let ledger = Arc::new(Mutex::new(Ledger { samples, ..Ledger::default() }));
        let mut sampler = Sampler { place: SamplingThread::Apart(apart), schedule: Schedule::idle(), ledger };
        sampler.stage_runs(0, 250_000_000);
        assert_eq!(sampler.so_far().samples[0].at_ms, 253, "the ranks have waited for their common start");
    }

    #[test]
    fn a_look_that_hangs_holds_up_nobody() {
        let (release, hangs) = channel::<()>();
        let follow = move |order| match order {
            SamplerOrder::During(stage) => u64::from(stage),
            _ => {
                // Blocks until the test releases it.
                let _ = hangs.recv();
                7
            }
        };
        let apart = ThreadedSampler::begin(follow, Duration::from_millis(20)).unwrap();
        let mut sampler =
            Sampler { place: SamplingThread::Apart(apart), schedule: Schedule::begin(0), ledger: Arc::default() };
        sampler.begin_stage(0);
        sampler.stage_runs(0, 0);
        sampler.watch(1_000_000_000, 0);
        sampler.watch(2_000_000_000, 0);
        assert_eq!(sampler.so_far().missed, 3, "the first look, and one each second");
        drop(release);
        let SamplingThread::Apart(apart) = &mut sampler.place else { unreachable!() };
        apart.patience = Duration::from_secs(600);
        assert!(apart.wait(), "it answers in the end");
        sampler.watch(3_000_000_000, 5);
        let SamplingThread::Apart(apart) = &mut sampler.place else { unreachable!() };
        assert!(apart.wait());
        assert_eq!(sampler.so_far().missed, 3, "and goes on");
    }
}
