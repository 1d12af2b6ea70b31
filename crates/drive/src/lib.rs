//! The I/O loop of one worker, and all that it touches: requests go from the generator to the engine, time stamps to
//! the recorder.
//!
//! [`drive()`] makes the engine and gives it to a [`Worker`], which returns the [`LoopParts`] of its [`Loop`] and runs
//! the loop. The loop's types do not leave this crate, so that it is compiled here with optimisation; the code around
//! it is in `run`.
#![forbid(unsafe_code)]

mod bounds;
mod control;
mod end;
mod file_locks;
mod flow;
mod intervals;
mod job_clock;
mod latency_series;
mod logs;
mod loops;
mod open_files;
mod queueing;
mod recorder;
mod recording;
mod verification;
mod wall;

pub use bounds::{Bounds, Silence};
pub use control::{Orders, Published, WorkerCell, WorkerState};
pub use end::WorkerEnd;
pub use file_locks::{LockedFiles, file_locks};
pub use flow::{FlowShare, Flows};
pub use intervals::{Interval, IntervalMeter};
pub use job_clock::{JobClock, RampEnd};
pub use latency_series::LatencySeries;
pub use logs::{
    InflateError, LogBuffer, LogColumns, LogFile, LogSender, LogWriter, LoggedFigure, Style, Targets, epoch_ms,
    inflate_log,
};
pub use loops::{
    AbandonedRequests, Account, BetweenPasses, DepthSearch, Ended, Equipment, Failure, Governor, IssueConditions, Loop,
    LoopParts, Progress, Survival, Worker, drive,
};
pub use open_files::{OpenFiles, Opener};
pub use queueing::Queueing;
pub use recorder::{Distributed, Recorder, RecorderOptions, ReportedFigures, TransferRecord};
pub use recording::Recording;
pub use verification::Verification;
pub use wall::now_ms;
