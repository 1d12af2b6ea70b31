//! The byte ledger of a run: all layers looked at when a stage begins and ends and each second in between, on a
//! thread of its own. A look that hangs with its mount holds up no worker and no report: the conductor waits for the
//! first and the last look of a stage only, and not for long.

mod files;
pub(crate) mod foreign;
pub(crate) mod latency;
mod probes;
mod schedule;

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use probe::ThreadWait;
use results::evidence::{Ledger, MachineEvidence};

use crate::conduct::Shared;
use crate::plan::{Plan, diskless};
use probes::Probes;
use schedule::Schedule;

/// With more workers than this nobody looks at each worker's latency and waiting.
pub(crate) const WORKERS_LOOKED_AT: usize = 64;

/// So long the conductor waits for a look that it needs.
const PATIENCE: Duration = Duration::from_secs(3);

/// The sampler's stack: it holds no large value.
const STACK_BYTES: usize = 128 * 1024;

/// What the sampler is told.
enum Order {
    /// The workers of the stage are ready and have done no I/O.
    Begin(u32),
    /// A second is over.
    During(u32),
    /// All of them have ended; how long their threads waited for a processor.
    End(u32, Vec<ThreadWait>),
}

/// The conductor's side of the sampler.
pub(crate) struct Sampler {
    orders: Sender<Order>,
    /// CPU time of each look as it is done, ns.
    answers: Receiver<u64>,
    outstanding: u32,
    schedule: Schedule,
    ledger: Arc<Mutex<Ledger>>,
}

impl Sampler {
    /// Starts the sampler. `machine`: what the caller knows of it already.
    pub(crate) fn begin(shared: &Arc<Shared>, machine: MachineEvidence) -> std::io::Result<Sampler> {
        let (orders, orders_in) = channel();
        let (answers_out, answers) = channel();
        let ledger = Arc::new(Mutex::new(Ledger { machine, ..Ledger::default() }));
        let work = {
            let (shared, ledger) = (Arc::clone(shared), Arc::clone(&ledger));
            move || work(&mut Probes::begin(shared, ledger), &orders_in, &answers_out)
        };
        std::thread::Builder::new().name("ledger".to_owned()).stack_size(STACK_BYTES).spawn(work)?;
        Ok(Sampler { orders, answers, outstanding: 0, schedule: Schedule::idle(), ledger })
    }

    /// The look before the first I/O of a stage.
    pub(crate) fn begin_stage(&mut self, stage: u32) {
        self.order(Order::Begin(stage));
        self.wait();
    }

    /// The gate is open.
    pub(crate) fn stage_runs(&mut self, now_ns: u64) {
        self.schedule = Schedule::begin(now_ns);
    }

    /// Looks if a second is over; called often.
    pub(crate) fn watch(&mut self, now_ns: u64, stage: u32) {
        while let Ok(cost_ns) = self.answers.try_recv() {
            self.outstanding -= 1;
            self.schedule.cost(cost_ns);
        }
        if !self.schedule.due(now_ns) {
            return;
        }
        match self.outstanding {
            0 => self.order(Order::During(stage)),
            _ => self.ledger().missed += 1,
        }
    }

    /// The look after the last.
    pub(crate) fn end_stage(&mut self, stage: u32, waits: Vec<ThreadWait>) {
        self.schedule = Schedule::idle();
        self.order(Order::End(stage, waits));
        self.wait();
    }

    /// What has been seen so far.
    pub(crate) fn so_far(&self) -> Ledger {
        self.ledger().clone()
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        lock(&self.ledger)
    }

    fn order(&mut self, order: Order) {
        // A sampler that has come to an end by a fault of its own answers no more; `wait` sees that.
        if self.orders.send(order).is_ok() {
            self.outstanding += 1;
        }
    }

    /// Waits until every order is answered, or patience is over.
    fn wait(&mut self) {
        while self.outstanding > 0 {
            match self.answers.recv_timeout(PATIENCE) {
                Ok(_) => self.outstanding -= 1,
                Err(_) => {
                    self.ledger().missed += 1;
                    return;
                }
            }
        }
    }
}

/// Follows the orders until the conductor has gone.
fn work(probes: &mut Probes, orders: &Receiver<Order>, answers: &Sender<u64>) {
    for order in orders {
        let stage_is_over = matches!(order, Order::End(..));
        let cost_ns = match order {
            Order::Begin(stage) => probes.begin_stage(stage),
            Order::During(stage) => probes.look_during(stage),
            Order::End(stage, waits) => probes.end_stage(stage, waits),
        };
        if answers.send(cost_ns).is_err() {
            break;
        }
        if stage_is_over {
            probes.close_files();
        }
    }
}

fn lock(ledger: &Mutex<Ledger>) -> MutexGuard<'_, Ledger> {
    ledger.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Places that stand for all files of the run: the first files, and one for each other directory.
fn places(plan: &Plan) -> Vec<PathBuf> {
    let files = plan
        .workers
        .iter()
        .filter(|worker| worker.refused.is_none() && !diskless(worker.job.submission.engine))
        .flat_map(|worker| &worker.files);
    let mut places: Vec<PathBuf> = Vec::new();
    let mut directories = HashSet::new();
    for file in files {
        let new_directory = directories.insert(file.path.parent());
        if new_directory || places.len() < WORKERS_LOOKED_AT && !places.contains(&file.path) {
            places.push(file.path.clone());
        }
    }
    places
}
