//! Rows: rates, think time, and limits on latency.

use super::JobRow;
use super::build::*;
use crate::option::{Choice, Kind, Status::*};
use crate::value::TimeUnit;

const PROCESSES: &[Choice] =
    &[Choice::new("linear", "Even gaps"), Choice::new("poisson", "Exponential gaps, as independent clients make them")];

const THINK_SIDES: &[Choice] =
    &[Choice::new("complete", "Completed blocks count"), Choice::new("issue", "Issued blocks count")];

/// The limit that a rate sets; a rate of 0 sets none.
fn limit(number: u64) -> Option<u64> {
    Some(number).filter(|number| *number > 0)
}

fn limit_iops(number: u64) -> Option<u32> {
    limit(number).map(|number| u32::try_from(number).unwrap_or(u32::MAX))
}

#[rustfmt::skip]
pub(super) const ROWS: &[JobRow] = &[
    option("rate", numbers(0, u64::MAX, |d, list| merge(&mut d.job.pacing.rate, list, limit)))
        .tier(1).help("Bytes per second of each clone: reads,writes,trims"),
    option("rate_iops", numbers(0, u32::MAX as u64, |d, list| merge(&mut d.job.pacing.rate_iops, list, limit_iops)))
        .tier(1).help("I/Os per second of each clone: reads,writes,trims"),
    option("rate_min", numbers(0, u64::MAX, |d, list| merge(&mut d.job.pacing.rate_min, list, limit)))
        .aliases(&["ratemin"]).help("Fail the job below this number of bytes per second"),
    option("rate_iops_min", numbers(0, u32::MAX as u64, |d, list| {
        merge(&mut d.job.pacing.rate_iops_min, list, limit_iops);
    })).help("Fail the job below this number of I/Os per second"),
    option("rate_cycle", integer(0, COUNT_MAX, |d, n| d.job.pacing.rate_cycle_ms = count(n)))
        .aliases(&["ratecycle"]).default("1000").help("Window of rate_min and rate_iops_min in milliseconds"),
    option("rate_process", word(PROCESSES, |d, word| { d.job.pacing.poisson = word.choice.word == "poisson"; Ok(()) }))
        .default("linear").help("How the gaps between I/Os under a rate are spread"),
    option("rate_ignore_thinktime", boolean(|d, on| d.job.pacing.ignore_think_time = on))
        .tier(3).default("0").help("Do not make up for the time that think time took"),
    option("thinktime", microseconds(|d, ns| d.job.pacing.think_ns = ns))
        .default("0").help("Pause after each group of blocks"),
    option("thinktime_spin", microseconds(|d, ns| d.job.pacing.think_spin_ns = ns))
        .default("0").help("Part of the pause that burns CPU time"),
    option("thinktime_blocks", integer(0, COUNT_MAX, |d, n| d.written.think_blocks = Some(count(n).max(1))))
        .default("1").help("Blocks between two pauses"),
    option("thinktime_blocks_type", word(THINK_SIDES, |d, word| {
        d.job.pacing.think_on_issue = word.choice.word == "issue";
        Ok(())
    })).tier(3).default("complete").help("What counts as a block for thinktime_blocks"),
    option("thinktime_iotime", seconds(|d, ns| d.job.pacing.think_interval_ns = ns))
        .tier(3).default("0").help("Time of I/O between two pauses, in addition to thinktime_blocks if that is given"),
    option("thinkcycles", integer(0, COUNT_MAX, |d, n| d.job.pacing.think_cycles = count(n)))
        .tier(3).default("0").help("Turns of an empty loop before each I/O, about a CPU cycle each"),
    option("max_latency", Kind::Times {
        unit: TimeUnit::Microseconds,
        set: |d, list| merge(&mut d.job.pacing.max_latency_ns, list, |ns| ns),
    }).help("Fail the job on an I/O slower than this: reads,writes,trims"),
    option("latency_target", microseconds(|d, ns| d.written.latency_target.target_ns = ns))
        .default("0").help("Find the depth that keeps this latency"),
    option("latency_window", microseconds(|d, ns| d.written.latency_target.window_ns = ns))
        .default("0").help("How long a depth is tried for latency_target"),
    option("latency_percentile", floats(0.0, 100.0, 1, |d, list| {
        d.written.latency_target.percentile = list.first().copied().unwrap_or(100.0);
    })).default("100").help("Percent of I/Os that must keep latency_target"),
    option("latency_run", boolean(|d, on| d.written.latency_target.run = on))
        .default("0").help("Go on adjusting the depth while the job runs"),
    option("flow", integer(-1000, 1000, |d, n| {
        (d.written.flow.weight, d.written.flow_negative) = (count(n.max(0)), n < 0);
    }))
        .tier(3).default("0").help("Weight of this job among those of one flow_id; 0 is no flow"),
    option("flow_id", integer(0, COUNT_MAX, |d, n| d.written.flow.id = count(n)))
        .tier(3).default("0").help("Which jobs share a flow"),
    option("flow_sleep", integer(0, COUNT_MAX, |d, n| d.written.flow.sleep_ns = n.unsigned_abs() * 1000))
        .tier(3).default("0").help("Microseconds to sleep when the flow holds a job back"),
    option("flow_watermark", integer(0, COUNT_MAX, ignore))
        .tier(4).help("Formerly the slack of a flow").status(WithoutEffect(DEPRECATED)),
];
