//! T20, second form: I/O threads waited for a CPU.

use fsdyno_results::{Finding, Row, Severity, TreeRecord};

use crate::evidence::{Evidence, Flow, JobInStage, Stage};
use crate::explanation::Explanation;
use crate::passes::Passes;
use crate::report::Report;
use crate::units::{count, counted, number, percent};

pub(crate) const ID: &str = "cpu-starved";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T20",
    title: "CPU contention: I/O threads waited for a CPU",
    happens: "I/O threads wait when the hypervisor runs other guests (steal), the control group has a CPU limit, \
              other processes are busy, or there are more jobs than CPUs. Throughput falls and latencies grow, but \
              not because of the storage. If the storage's own work uses the CPUs (a FUSE daemon, kernel threads of \
              io_uring), the rate is what this machine gets, and the row stays ok.",
    seen: "Steal time of the machine from 10 % on. CPU throttling by the control group from 5 % of the time on: this \
           cause is named first, because a throttled thread also waits for a CPU. I/O threads that waited for a CPU \
           for 20 % of their time or more; the finding names who used at least half of that CPU time. A caution; \
           information if the storage's own work used the CPUs. For a phase of operations on names the same shares \
           count, over all its passes, if its threads waited for 4 ms altogether. For a timed command: the same limits \
           of steal and throttling, over all its runs where none of them takes 0.2 s. Or the CPUs were busy for 90 % \
           of the time or more, others had 25 % of it, and the command itself computed for less than 95 % of its time.",
    advice: "Run on an idle machine, with no more jobs than CPUs and without a CPU limit.",
    documented: "proc(5), /proc/stat and schedstat; linux Documentation/admin-guide/cgroup-v2.rst, cpu.stat",
};

/// Stolen share of the CPU time.
const STEAL: f64 = 0.1;
/// Share of the time during which the control group throttled the run.
const THROTTLED: f64 = 0.05;
const QUOTA: &str = "the control group throttled the run";
pub(crate) const RAISE: &str = "raise the CPU limit of the control group (cpu.max), or run outside it";
const STOLEN: &str = "the hypervisor ran other guests";
const IDLE: &str = "run again when the host is idle";
const WAITED: &str = "I/O threads waited for a CPU";
/// The files that set the limit, in both versions of control groups.
const FILES: &str = "cpu.max, or cpu.cfs_quota_us of version 1";
/// Share of the workers' time in which they were runnable and did not run.
const WAITING: f64 = 0.2;

/// A cause of missing CPU time.
struct Shortage {
    name: &'static str,
    share: f64,
    limit: f64,
    /// Who used the CPUs, where it is known.
    user: Option<User>,
    next: &'static str,
}

/// CPU time of somebody other than the waiting workers.
struct User {
    name: &'static str,
    seconds: f64,
    /// CPUs that it used on average.
    cpus: f64,
    /// Number of the machine's CPUs.
    of_cpus: u32,
    /// Whether it worked for the storage.
    is_storage: bool,
    next: &'static str,
}

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let cpus = evidence.node.host.cpus;
    evidence.all_flows().filter_map(|(stage, row, flow)| judge(stage, row, flow, cpus)).collect()
}

fn judge(stage: &Stage<'_>, row: &JobInStage<'_>, flow: &Flow<'_>, cpus: Option<u32>) -> Option<Finding> {
    let over = |shortage: &Shortage| shortage.share.is_finite() && shortage.share >= shortage.limit;
    // A thread that the control group throttles also waits: the limit is its cause.
    let quota = Quota::of(row, flow);
    let worst = quota.as_ref().map(Quota::shortage).filter(over).or_else(|| {
        let all = [steal(flow), waiting(stage, row, flow, cpus)].into_iter().flatten().filter(over);
        all.max_by(|one, other| (one.share / one.limit).total_cmp(&(other.share / other.limit)))
    })?;
    let (share, limit) = (percent(worst.share), percent(worst.limit));
    let mut cause = format!("CPU contention: {} {share} of the time (results suffer from {limit} on)", worst.name);
    let mut severity = Severity::Caution;
    let mut next = worst.next;
    match quota {
        Some(quota) if worst.name == QUOTA => cause += &format!("; {}", quota.limit),
        Some(quota) if quota.times > 0.0 => {
            let (times, share) = (count(quota.times as u64), percent(quota.share));
            cause += &format!("; {QUOTA} {times} times ({share} of the time; {})", quota.limit);
        }
        _ => {}
    }
    if let Some(user) = worst.user {
        let of = counted(u64::from(user.of_cpus), "CPU");
        cause += &format!("; {} used {:.1} of {of}", user.name, user.cpus);
        severity = if user.is_storage { Severity::Info } else { severity };
        next = user.next;
    }
    Some(Report::new(ID, severity, row.name).number(worst.name, worst.share, "ratio").says(cause, next))
}

/// Waits below this, over all passes of a phase, are normal: any thread is migrated now and then, ns.
const PHASE_WAIT_NS: u64 = 4_000_000;
/// Times of the whole machine are counted in ticks, and are reliable from this on, ms.
const PHASE_TICKS_MS: u64 = 200;

/// For the passes of a phase.
pub(crate) fn of_phase(passes: &Passes<'_>) -> Option<Finding> {
    let total_ms = passes.counter(|seen| seen.total_ms);
    let share = |part: Option<u64>, of: u64| Some(part? as f64 / of.max(1) as f64);
    let between_us = passes.counter(|seen| Some(seen.between_ns / 1000)).unwrap_or(0);
    let waited_ns = passes.counter(|seen| seen.run_queue_wait_ns);
    let stolen = total_ms.filter(|total_ms| *total_ms >= PHASE_TICKS_MS);
    let causes = [
        (QUOTA, THROTTLED, share(passes.counter(|seen| seen.throttled_us), between_us), RAISE),
        (STOLEN, STEAL, stolen.and_then(|of| share(passes.counter(|seen| seen.steal_ms), of)), IDLE),
        (
            WAITED,
            WAITING,
            share(waited_ns.filter(|waited_ns| *waited_ns >= PHASE_WAIT_NS), passes.thread_ns()),
            "stop what else uses the CPUs, or use fewer threads, and run again",
        ),
    ];
    let worst = causes.into_iter().find(|(_, limit, share, _)| share.is_some_and(|share| share >= *limit))?;
    let (name, limit, share, next) = worst;
    let share = share?.min(1.0);
    let cause =
        format!("CPU contention: {name} {} of the time (results suffer from {} on)", percent(share), percent(limit));
    Some(Report::new(ID, Severity::Caution, passes.name()).number(name, share, "ratio").says(cause, next))
}

/// For one run of a timed command: CPUs that others used meanwhile, or that it was kept from.
pub(crate) fn of_command(row: &Row) -> Option<Finding> {
    CommandTime::of(&[row])?.starved()
}

/// The same for the runs of a command that are each too short, over all of them together: one test on one place.
pub(crate) fn of_short_commands(rows: &[&Row]) -> Option<Finding> {
    let are_short = rows.iter().all(|row| CommandTime::of(&[row]).is_none());
    if are_short { CommandTime::of(rows)?.starved() } else { None }
}

/// Whether these runs of a command took long enough, each or all together, and the machine's CPU time is visible.
pub(crate) fn is_visible(rows: &[&Row]) -> bool {
    let of_each: Vec<_> = rows.iter().map(|row| CommandTime::of(&[row])).collect();
    let of_all = CommandTime::of(rows);
    let seen = |time: &Option<CommandTime<'_>>| time.as_ref().is_some_and(|time| time.machine.is_some());
    if of_each.iter().all(Option::is_none) {
        seen(&of_all)
    } else {
        of_each.iter().flatten().all(|time| time.machine.is_some())
    }
}

/// CPU time of one or more runs of a command, and of the machine meanwhile, ns.
struct CommandTime<'a> {
    pattern: &'a str,
    elapsed: u64,
    own: u64,
    /// Of a FUSE daemon below the place.
    daemon: u64,
    /// Busy and total; `None`: not visible.
    machine: Option<(u64, u64)>,
    stolen: Option<u64>,
    throttled: Option<u64>,
}

impl CommandTime<'_> {
    /// `None`: the runs took too short a time to be judged, or there are none.
    fn of<'a>(rows: &[&'a Row]) -> Option<CommandTime<'a>> {
        /// The machine's CPU time is counted in ticks, which are too coarse for less, ns.
        const TIME_MIN: u64 = 200_000_000;
        let runs: Vec<_> =
            rows.iter().map(|row| Some((row.tree.as_ref()?, row.phase.as_ref()?))).collect::<Option<_>>()?;
        let elapsed: u64 = runs.iter().map(|(_, phase)| phase.elapsed_ns).sum();
        let of_trees = |of: fn(&TreeRecord) -> Option<u64>| runs.iter().map(|(tree, _)| of(tree)).sum::<Option<u64>>();
        let daemon = |tree: &TreeRecord| tree.during.wire.value().and_then(|wire| wire.daemon_cpu_ns).unwrap_or(0);
        (elapsed >= TIME_MIN).then(|| CommandTime {
            pattern: &rows[0].pattern,
            elapsed,
            own: runs.iter().map(|(_, phase)| phase.cpu_ns).sum(),
            daemon: runs.iter().map(|(tree, _)| daemon(tree)).sum(),
            machine: of_trees(|tree| tree.machine_busy_ns).zip(of_trees(|tree| tree.machine_total_ns)),
            stolen: of_trees(|tree| tree.machine_steal_ns),
            throttled: of_trees(|tree| tree.throttled_ns),
        })
    }

    fn starved(&self) -> Option<Finding> {
        /// From this share on the machine's CPU time is fully used, and others are the cause.
        const BUSY: f64 = 0.9;
        const OTHERS: f64 = 0.25;
        let report = |name: &'static str, share: f64, cause: String, next| {
            let report = Report::new(ID, Severity::Caution, self.pattern).number(name, share, "ratio");
            Some(report.says(format!("CPU contention: {cause}"), next))
        };
        let share = |part: u64, of: u64| part as f64 / of as f64;
        let throttled = self.throttled.map(|ns| (QUOTA, share(ns, self.elapsed), THROTTLED, RAISE));
        let stolen = self.stolen.zip(self.machine).map(|(ns, (_, total))| (STOLEN, share(ns, total), STEAL, IDLE));
        let over = |(_, share, limit, _): &(_, f64, f64, _)| share >= limit;
        if let Some((name, share, _, next)) = throttled.filter(over).or(stolen.filter(over)) {
            return report(name, share, format!("{name} {} of the time", percent(share.min(1.0))), next);
        }
        let (busy, total) = self.machine?;
        let others = share(busy.saturating_sub(self.own + self.daemon), total);
        if share(busy, total) < BUSY || others < OTHERS || self.was_never_waiting() {
            return None;
        }
        let cause = format!(
            "other processes used {} of this machine's CPU time while the command ran, and none was idle",
            percent(others)
        );
        report("CPU time of others", others, cause, "stop the other processes, and run again")
    }

    /// Whether a single process computed all the time: it had a CPU of its own, whatever others did.
    fn was_never_waiting(&self) -> bool {
        const COMPUTED: f64 = 0.95;
        self.own <= self.elapsed && self.own as f64 >= self.elapsed as f64 * COMPUTED
    }
}

fn steal(flow: &Flow<'_>) -> Option<Shortage> {
    let (begin, end) = (&flow.begin.system, &flow.end.system);
    let share = grown(end.steal_ms, begin.steal_ms)? / grown(end.total_ms, begin.total_ms)?;
    Some(Shortage { name: STOLEN, share, limit: STEAL, user: None, next: IDLE })
}

/// The effect of the control group's CPU limit on the run.
pub(crate) struct Quota {
    /// The limit with the files that set it.
    pub(crate) limit: String,
    times: f64,
    /// Share of the run's time that was throttled.
    pub(crate) share: f64,
}

impl Quota {
    /// `None`: no limit is visible.
    fn of(row: &JobInStage<'_>, flow: &Flow<'_>) -> Option<Quota> {
        let (begin, end) = (&flow.begin.system, &flow.end.system);
        // The kernel adds up the time of all CPUs.
        let share = (grown(end.throttled_us, begin.throttled_us)? / 1e6 / flow.seconds).min(1.0);
        let cpus = row.storage.and_then(|storage| storage.cgroup.cpus.value().copied().flatten());
        let limit = match cpus {
            Some(cpus) => format!("its limit is {} CPUs ({FILES})", number(cpus)),
            None => format!("its limit is in {FILES}"),
        };
        Some(Quota { limit, times: grown(end.throttled_count, begin.throttled_count).unwrap_or(0.0), share })
    }

    /// The limit, if it throttled the run for so long that it determined the result.
    pub(crate) fn that_held(row: &JobInStage<'_>, flow: &Flow<'_>) -> Option<Quota> {
        Quota::of(row, flow).filter(|quota| quota.share.is_finite() && quota.share >= THROTTLED)
    }

    fn shortage(&self) -> Shortage {
        Shortage { name: QUOTA, share: self.share, limit: THROTTLED, user: None, next: RAISE }
    }
}

/// The workers' own waiting. Threads that work for them (the kernel's for io_uring) are left out: many of them wait for
/// the storage.
fn waiting(stage: &Stage<'_>, row: &JobInStage<'_>, flow: &Flow<'_>, cpus: Option<u32>) -> Option<Shortage> {
    let waited_ns = row.workers.iter().map(|worker| worker.run_queue_wait_ns).sum::<Option<u64>>()?;
    let runtime_ms: u64 = row.workers.iter().map(|worker| worker.job_runtime_ms).sum();
    // A single job cannot be reduced.
    let next = match stage.workers.len() {
        1 => "stop what else runs on the job's CPU, and run again",
        _ => "use fewer jobs than the machine has CPUs, or stop other load",
    };
    Some(Shortage {
        name: WAITED,
        share: (waited_ns as f64 / 1e6 / runtime_ms as f64).min(1.0),
        limit: WAITING,
        // A user with less than half of the waited time does not explain it: the workers may be pinned to one CPU.
        user: cpus
            .and_then(|cpus| largest_user(stage, flow, cpus))
            .filter(|user| user.seconds >= waited_ns as f64 / 2e9),
        next,
    })
}

/// The largest other user of the machine's CPUs. Its time and that of the machine are read at one moment; the time of the
/// sample is that of an earlier moment, and would make more of a short stage than there is.
fn largest_user(stage: &Stage<'_>, flow: &Flow<'_>, of_cpus: u32) -> Option<User> {
    let (begin, end) = (&flow.begin.system, &flow.end.system);
    let busy_s = grown(end.busy_ms, begin.busy_ms)? / 1e3;
    let of_each_s = grown(end.total_ms, begin.total_ms)? / 1e3 / f64::from(of_cpus);
    let process_s = flow.process?.cpu_ns as f64 / 1e9;
    let workers = || stage.workers.iter();
    let workers_s = workers().map(|worker| worker.user_ns + worker.system_ns).sum::<u64>() as f64 / 1e9;
    let daemon_s = flow.daemon.and_then(|daemon| daemon.cpu_ns).unwrap_or(0) as f64 / 1e9;
    // Of one program the time is exact, and read a moment later than that of all.
    let user = |name, seconds: f64, is_storage, next| {
        let seconds = seconds.min(busy_s);
        User { name, seconds, cpus: seconds / of_each_s, of_cpus, is_storage, next }
    };
    let more_than_cpus = workers().count() > of_cpus as usize;
    let users = [
        user(
            "other processes and the kernel",
            busy_s - process_s - daemon_s,
            false,
            "stop the other processes, and run again",
        ),
        user(
            "this run's own I/O threads",
            if more_than_cpus { workers_s } else { 0.0 },
            false,
            "use no more jobs than the machine has CPUs",
        ),
        user(
            "the FUSE daemon",
            daemon_s,
            true,
            "give the mount's daemon more CPUs, or use fewer jobs or a lower queue depth",
        ),
        user(
            "the kernel threads for this run's requests",
            process_s - workers_s,
            true,
            "compare with --ioengine=psync and several jobs: here kernel threads do the requests",
        ),
    ];
    users.into_iter().filter(|_| of_each_s > 0.0).max_by(|one, other| one.seconds.total_cmp(&other.seconds))
}

fn grown(end: Option<u64>, begin: Option<u64>) -> Option<f64> {
    Some(end?.saturating_sub(begin?) as f64)
}

#[cfg(test)]
mod tests {
    use fsdyno_results::PhaseRecord;

    use super::*;

    /// A run on two CPUs: its time, CPU time of the command and of all, throttled time, and stolen time, ms.
    fn run(elapsed: u64, own: u64, busy: u64, throttled: u64, stolen: u64) -> Row {
        let ns = |ms: u64| ms * 1_000_000;
        let phase = PhaseRecord { elapsed_ns: ns(elapsed), cpu_ns: ns(own), ..PhaseRecord::default() };
        let tree = TreeRecord {
            machine_busy_ns: Some(ns(busy)),
            machine_total_ns: Some(ns(2 * elapsed)),
            throttled_ns: Some(ns(throttled)),
            machine_steal_ns: Some(ns(stolen)),
            ..TreeRecord::default()
        };
        Row { phase: Some(phase), tree: Some(tree), ..Row::default() }
    }

    fn found(own: u64, busy: u64, throttled: u64, stolen: u64) -> Option<String> {
        of_command(&run(1000, own, busy, throttled, stolen)).map(|finding| finding.cause)
    }

    #[test]
    fn short_runs_are_judged_together() {
        let (short, idle, long) = (run(60, 20, 120, 0, 0), run(60, 20, 60, 0, 0), run(300, 20, 300, 0, 0));
        assert!(of_command(&short).is_none() && !is_visible(&[&short]), "too short alone");
        let four = [&short; 4];
        let cause = of_short_commands(&four).expect("others had the CPUs").cause;
        assert!(cause.contains("other processes used 83 %"), "{cause}");
        assert!(is_visible(&four) && of_short_commands(&[&idle; 4]).is_none());
        assert_eq!(of_short_commands(&[&short, &short, &short, &long]), None, "the long one is judged by itself");
        assert!(is_visible(&[&short, &long]));
        let mut unseen = short.clone();
        unseen.tree.as_mut().unwrap().machine_busy_ns = None;
        assert!(!is_visible(&[&unseen; 4]));
    }

    #[test]
    fn a_command_waits_for_others_and_not_for_itself() {
        assert!(found(300, 2000, 0, 0).unwrap().contains("other processes used 85 %"));
        assert!(found(1500, 2000, 0, 0).unwrap().contains("other processes used 25 %"), "make -j2");
        assert_eq!(found(990, 2000, 0, 0), None, "it had a CPU all the time");
        assert_eq!(found(1900, 2000, 0, 0), None, "it kept both busy itself");
        assert_eq!(found(300, 1000, 0, 0), None, "a CPU was idle");
        assert!(found(300, 500, 100, 0).unwrap().contains("control group throttled the run 10 %"));
        assert!(found(300, 500, 0, 300).unwrap().contains("hypervisor ran other guests 15 %"));
        assert_eq!(found(300, 500, 20, 100), None);
    }
}
