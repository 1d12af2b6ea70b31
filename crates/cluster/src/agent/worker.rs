//! The worker process of a rank, seen from its agent.

use std::io::{PipeReader, PipeWriter};
use std::sync::mpsc::{Receiver, channel};

use fsdyno_os::process::{Ended, wait_for};
use fsdyno_run::Bounds;

use crate::frames;
use crate::messages::{Message, Round};

/// SIGKILL: the process cannot react to it.
const KILL: i32 = 9;

/// Stack of the thread that reads the worker's messages, bytes: the parser recurses into records.
const STACK_BYTES: usize = 1 << 20;

/// A worker process and the pipes to it.
#[derive(Debug)]
pub struct WorkerProcess {
    /// The process number.
    pub process: u32,
    /// The pipe to the worker.
    pub orders: PipeWriter,
    /// The pipe from the worker.
    pub reports: PipeReader,
}

pub(super) enum Event {
    Said(Message),
    /// The worker has closed its end of the pipe.
    Gone,
}

pub(super) struct Worker {
    process: u32,
    orders: PipeWriter,
    pub(super) events: Receiver<Event>,
    /// Time of silence after which it is lost, ns.
    silent_ns_max: u64,
    pub(super) heard_ns: u64,
    /// The round that it waits for silently.
    pub(super) waits_for: Option<Round>,
    busy: bool,
    /// Why it is lost.
    pub(super) lost: Option<String>,
}

impl Worker {
    pub(super) fn begin(worker: WorkerProcess, bounds: Bounds) -> std::io::Result<Worker> {
        let WorkerProcess { process, orders, mut reports } = worker;
        let (sender, events) = channel();
        fsdyno_os::thread::begin("worker", STACK_BYTES, move || {
            while let Ok(message) = frames::read(&mut reports) {
                if sender.send(Event::Said(message)).is_err() {
                    return;
                }
            }
            // The agent may have ended.
            let _ = sender.send(Event::Gone);
        })?;
        let silent_ns_max = bounds.answer().lost_ns.saturating_mul(2);
        Ok(Worker { process, orders, events, silent_ns_max, heard_ns: 0, waits_for: None, busy: false, lost: None })
    }

    pub(super) fn tell(&mut self, message: &Message) {
        if self.lost.is_none() {
            // That the worker is gone is noticed at the other pipe.
            let _ = frames::write(&mut self.orders, message);
        }
    }

    /// The worker begins to run a line.
    pub(super) fn begins(&mut self, now_ns: u64) {
        (self.busy, self.heard_ns, self.waits_for) = (true, now_ns, None);
    }

    /// A line is run without this worker.
    pub(super) fn is_idle(&mut self) {
        self.busy = false;
    }

    /// The worker goes on after this round, if it waits for it.
    pub(super) fn is_released(&mut self, round: Round, now_ns: u64) {
        if self.waits_for == Some(round) {
            (self.busy, self.heard_ns, self.waits_for) = (round != Round::Recorded, now_ns, None);
        }
    }

    pub(super) fn signal(&self, signal: i32) {
        if self.lost.is_none() {
            // The worker may have ended.
            let _ = fsdyno_os::process::signal(self.process, signal);
        }
    }

    /// Why it is lost, if it has been silent for too long. While it waits for others, silence is normal.
    pub(super) fn silence(&self, now_ns: u64) -> Option<String> {
        let waits = !self.busy || self.waits_for.is_some() || self.lost.is_some();
        let silent_ns = now_ns.saturating_sub(self.heard_ns);
        (!waits && silent_ns > self.silent_ns_max)
            .then(|| format!("it did not answer within {} s", silent_ns / 1_000_000_000))
    }

    /// Gives the worker up; returns why.
    pub(super) fn lose(&mut self, silence: Option<String>) -> String {
        let reason = silence.unwrap_or_else(|| match wait_for(self.process) {
            Ok(Ended::Signal(signal)) => format!("it ended by signal {signal}"),
            Ok(Ended::Status(status)) => format!("it ended with status {status}"),
            Err(_) => "it ended".to_owned(),
        });
        self.signal(KILL);
        self.lost = Some(reason.clone());
        reason
    }
}
