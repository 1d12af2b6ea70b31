//! Turns a plan into a record: layout, workers, the loop that drives I/O, and the conductor that watches them.
//!
//! The path of the data: [`plan::plan`] (pure) → layout → one thread per worker: generator → engine → recorder →
//! [`fsdyno_results::RunRecord`]. Workers share only the orders to stop and the totals that they publish.
#![forbid(unsafe_code)]

mod account;
mod conduct;
mod control;
mod control_groups;
mod descriptors;
mod guard;
mod idleness;
mod layout;
mod layout_steps;
mod ledger;
mod line;
mod logs;
pub mod metadata;
mod names;
mod open_log;
mod other_ranks;
pub mod plan;
mod progress;
mod replay;
mod signals;
mod sources;
mod stage_workers;
mod stall;
mod steady_state;
mod stop_rule;
mod verification;
mod worker;

pub use conduct::{LOGS_INCOMPLETE, Observer, View, clock_facts};
pub use control::Control;
pub use fsdyno_drive::{Bounds, Published, Queueing, Silence, WorkerCell, WorkerState, now_ms};
pub use fsdyno_drive::{InflateError, inflate_log};
pub use idleness::{UnitWork, calibrate_unit_work};
pub use layout::LayoutPart;
pub use line::{CommandLine, Conditions, PlannedLine, ProbedLine, Ready};
pub use logs::claim_logs;
pub use other_ranks::{JointRun, OtherRanks};
pub use progress::seconds_left;
pub use replay::{Replay, merge_traces};
pub use signals::{SignalRelay, SignalWatch};
pub use sources::MachineSources;
pub use stall::{Liveness, StallDetector};
pub use stop_rule::StopRule;
pub use worker::objects::object_record;
