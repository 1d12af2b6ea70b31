//! Rows: jobs, their order and their time.

use super::JobRow;
use super::build::*;
use crate::option::{Choice, Status::*};
use crate::typed::ExitWhat;

const EXIT_WHAT: &[Choice] = &[
    Choice::new("group", "The jobs of the same group"),
    Choice::new("stonewall", "What runs now; jobs after the next stonewall still start"),
    Choice::new("all", "Everything, later jobs too"),
];

const CLOCKS: &[Choice] = &[
    Choice::new("gettimeofday", "The wall clock"),
    Choice::new("clock_gettime", "The monotonic clock"),
    Choice::new("cpu", "The time stamp counter"),
];

const OWN_CLOCK: &str = "the fastest exact clock is always used: the time stamp counter where it \
                         is invariant, else clock_gettime; every record names it";

#[rustfmt::skip]
pub(super) const ROWS: &[JobRow] = &[
    option("name", text(|d, text| { d.job.display_name = Some(text.to_owned()); Ok(()) }))
        .tier(1).help("Label of the job; on the command line it begins a new job, in a section it renames the first clone"),
    option("description", text(|d, text| { d.job.description = Some(text.to_owned()); Ok(()) }))
        .help("Free text that the reports repeat"),
    option("numjobs", integer(1, 1 << 20, |d, n| d.job.clones = count(n)))
        .tier(1).default("1").help("Clones of this job, each with its own worker and file names"),
    option("thread", flag(|d, on| d.job.process.thread = on))
        .tier(1).help("Threads instead of processes; workers are threads here in any case"),
    option("runtime", seconds(|d, ns| d.job.extent.runtime_ns = ns))
        .tier(1).aliases(&["timeout"]).default("0").help("Upper limit of the run after the ramp; 0 is none"),
    option("time_based", flag(|d, on| d.job.extent.time_based = on))
        .tier(1).help("Begin the size again until the runtime is over"),
    option("ramp_time", seconds(|d, ns| d.job.extent.ramp_ns = ns))
        .tier(1).default("0").help("Warm-up before the measured time, not reported"),
    option("ramp_size", size(1, |d, bytes| d.job.extent.ramp_bytes = bytes))
        .tier(3).help("Warm-up by bytes instead of time; with group_reporting by the bytes of the group"),
    option("startdelay", crate::option::Kind::TimeRange {
        unit: crate::value::TimeUnit::Seconds,
        set: |d, low, high| d.job.extent.start_delay_ns = (low, high),
    }).default("0").help("Time before this job starts, or a random time of a range"),
    option("loops", integer(0, COUNT_MAX, |d, n| d.job.extent.loops = count(n).max(1)))
        .default("1").help("Repetitions of the whole job within one report"),
    option("stonewall", flag(|d, on| d.job.stonewall = on))
        .tier(1).aliases(&["wait_for_previous"]).help("Wait for all earlier jobs and begin a report group"),
    option("new_group", flag(|d, on| d.job.new_group = on))
        .help("Begin a report group without waiting"),
    option("wait_for", text(|d, name| { d.job.wait_for = Some(name.to_owned()); Ok(()) }))
        .tier(3).help("Start when all clones of the earlier job of this name have ended"),
    option("exitall", flag(|d, on| d.job.exit_all = on))
        .help("When this job ends, end the others of its group (or of exit_what)"),
    option("exit_what", word(EXIT_WHAT, |d, word| {
        d.job.exit_what = match word.choice.word {
            "all" => ExitWhat::All,
            "stonewall" => ExitWhat::Stonewall,
            _ => ExitWhat::Group,
        };
        Ok(())
    })).tier(3).default("group").help("Which jobs exitall and exitall_on_error end"),
    option("exitall_on_error", flag(|d, on| d.job.exit_all_on_error = on))
        .help("When this job fails, end the others of its group (or of exit_what)"),
    option("clocksource", word(CLOCKS, ignore_word))
        .tier(3).help("Clock that times are read from").status(WithoutEffect(OWN_CLOCK)),
    option("gtod_cpu", integer(0, COUNT_MAX, ignore))
        .tier(3).help("A CPU that only reads the clock")
        .status(WithoutEffect("a reading of the clock takes some 10 ns, and the CPU stays free for jobs; where doctor says that readings are slow, \
                               gtod_reduce=1 makes fewer")),
    option("job_start_clock_id", integer(0, COUNT_MAX, |d, n| d.job.reporting.start_clock = count(n)))
        .tier(3).default("0").help("Clock of the job_start field in JSON, as clock_gettime numbers them"),
];
