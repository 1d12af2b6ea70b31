//! Runs a rank as two processes: its agent, which the launcher has started, and one that does the work.

use std::io::{PipeReader, PipeWriter};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use fsdyno_os::process::{ForkSide, closes_within, divide, hear_end_of_parent, wait_for};
use fsdyno_os::signals::{Listener, SIGUSR1};

use crate::process::left_behind;
use crate::process::patience::bounds;
use crate::process::status::{BY_SIGNAL, GOOD};
use crate::process::supervisor::{ORPHANED, status_writer, wait};

/// Does the work of a rank in a separate process, beside its agent, which waits for it. Returns the agent's exit
/// status, in the other process that of the work.
pub(crate) fn accompanied(
    work: impl FnOnce(PipeReader, PipeWriter) -> ExitCode,
    agent: impl FnOnce(fsdyno_cluster::WorkerProcess, Arc<AtomicI32>) -> fsdyno_cluster::Ending,
    lost: impl FnOnce(Option<Box<fsdyno_results::RunRecord>>) -> u8,
) -> std::io::Result<ExitCode> {
    let ((orders, to_worker), (reports, from_worker)) = (std::io::pipe()?, std::io::pipe()?);
    match divide()? {
        ForkSide::New { writer } => {
            drop((to_worker, reports));
            if !hear_end_of_parent(&writer) {
                return Ok(ORPHANED.into());
            }
            *status_writer() = Some(writer);
            left_behind::tell_of_directories();
            Ok(work(orders, from_worker))
        }
        ForkSide::Old { child, held, reader } => {
            drop((orders, from_worker));
            let signal = Arc::new(AtomicI32::new(0));
            let heard = Arc::clone(&signal);
            let listener = Listener::begin("relay", move |signal| {
                // A child that has ended needs no signal; the agent informs the other ranks.
                let _ = fsdyno_os::process::signal(child, signal);
                heard.store(if signal == SIGUSR1 { 0 } else { signal }, Ordering::Relaxed);
            });
            drop(held);
            let ending = agent(fsdyno_cluster::WorkerProcess { process: child, orders: to_worker, reports }, signal);
            drop(listener);
            Ok(match ending {
                fsdyno_cluster::Ending::Over => {
                    let (status, left) = wait(child, reader);
                    left_behind::remove(&left);
                    status.into()
                }
                // The worker's errors are in the record, and in the first rank's status.
                fsdyno_cluster::Ending::Followed { signal } => {
                    if closes_within(&reader, bounds().patience()) {
                        let _ = wait_for(child);
                    }
                    signal.map_or(GOOD, |signal| BY_SIGNAL.saturating_add(signal)).into()
                }
                fsdyno_cluster::Ending::Lost(record) => lost(record).into(),
            })
        }
    }
}
