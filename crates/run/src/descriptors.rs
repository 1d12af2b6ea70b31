//! Computes how many file descriptors the jobs need at a time, and whether this process may have as many.

use std::collections::BTreeMap;

use fsdyno_job::EngineName;
use fsdyno_probe::Limits;

use crate::plan::{Plan, WATCHED_MAX, WorkerPlan};

/// Descriptors that the run needs for short times: to examine the machine, and to open a file before another is closed.
const BRIEF: u64 = 8;

/// The descriptors that the workers of one stage need.
#[derive(Clone, Copy, Debug, Default)]
struct Stage {
    /// Of the workers that begin together, and of all.
    at_once: u64,
    all: u64,
    /// The part of `all` that is not files.
    besides: u64,
    workers: u64,
}

/// The descriptors that a worker needs besides its files.
fn besides(worker: &WorkerPlan) -> u64 {
    let submission = &worker.job.submission;
    let ring = matches!(submission.engine, EngineName::IoUring | EngineName::Posixaio);
    let engine = match submission.engine {
        EngineName::Splice | EngineName::Netsplice => 2,
        _ if ring && submission.offloads() => worker.queueing.depth as u64,
        _ if ring => 1,
        _ => 0,
    };
    // Where files take turns (`openfiles`), one is opened before the other is closed.
    engine + u64::from(worker.open_files() < worker.files.len())
}

/// Whether the worker itself opens files.
fn opens(worker: &WorkerPlan) -> bool {
    worker.refused.is_none() && !worker.job.submission.engine.is_diskless()
}

/// The needs by stage, including the log files of all.
fn stages(plan: &Plan) -> BTreeMap<u32, Stage> {
    let logs = crate::logs::paths(plan).len() as u64;
    let mut stages: BTreeMap<u32, Stage> = BTreeMap::new();
    for worker in plan.workers.iter().filter(|worker| opens(worker)) {
        let first = Stage { at_once: logs, all: logs, besides: logs, ..Stage::default() };
        let stage = stages.entry(worker.stage).or_insert(first);
        let (files, besides) = (worker.open_files() as u64, besides(worker));
        stage.at_once += if worker.waits_for.is_empty() { files + besides } else { 0 };
        stage.all += files + besides;
        stage.besides += besides;
        stage.workers += 1;
    }
    stages
}

/// The number of descriptors that this process may still open; `None`: no limit is known.
fn descriptors_left(limit: &fsdyno_probe::Fact<Option<u64>>, limits: &Limits) -> Option<u64> {
    let limit = (*limit.as_ref().ok()?)?;
    Some(limit.saturating_sub(limits.descriptors.clone().unwrap_or(0) + BRIEF))
}

/// A sentence if the jobs that begin together need more open files than the limit allows.
pub(crate) fn refusal(plan: &Plan, limits: &Limits) -> Option<String> {
    let left = descriptors_left(&limits.open_files_hard, limits)?;
    let stage = stages(plan).into_values().max_by_key(|stage| stage.at_once)?;
    if stage.at_once <= left {
        return None;
    }
    let limit = limits.open_files_hard.clone().ok().flatten()?;
    let each = left.saturating_sub(stage.besides) / stage.workers.max(1);
    // Without `openfiles`, the file that is opened before another is closed is not counted yet.
    let next = match each.saturating_sub(1) {
        0 => "lower numjobs".to_owned(),
        each => format!("use --openfiles={each}, the number of files that each job has open"),
    };
    Some(format!(
        "fio: the jobs open {} files at the same time, and this process may open {left} more: its limit is {limit} \
         (ulimit -Hn)\nNext step: {next}, or raise the limit",
        stage.at_once
    ))
}

/// The number of files that the ledger may hold open without taking what a worker needs later.
pub(crate) fn watched_max(plan: &Plan, limits: &Limits) -> usize {
    let left = descriptors_left(&limits.open_files_hard, limits).map(|left| left.saturating_sub(most(plan)));
    left.map_or(WATCHED_MAX, |left| WATCHED_MAX.min(left as usize))
}

/// The descriptors of the stage that needs most.
fn most(plan: &Plan) -> u64 {
    stages(plan).into_values().map(|stage| stage.all).max().unwrap_or(0)
}

/// Raises the soft limit to the hard one if the plan needs it.
pub(crate) fn allow(plan: &Plan, limits: &Limits) {
    if descriptors_left(&limits.open_files, limits).is_some_and(|left| most(plan) + WATCHED_MAX as u64 > left) {
        // If the limit cannot be raised, opening a file fails and says so.
        let _ = fsdyno_os::process::raise_open_files();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan_of(words: &str) -> Plan {
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        let fsdyno_job::Outcome::Run(request) = fsdyno_job::parse_command_line(&words, &mut crate::MachineSources)
        else {
            panic!("{words:?} is a job")
        };
        crate::plan::plan(&request.jobs, &fsdyno_probe::HostFacts::default(), 0)
    }

    fn limits(hard: u64) -> Limits {
        Limits { open_files_hard: Ok(Some(hard)), descriptors: Ok(6), ..Limits::default() }
    }

    fn needs(words: &str) -> (u64, u64) {
        let stages = stages(&plan_of(words)).into_values();
        stages.map(|stage| (stage.at_once, stage.all)).max().unwrap_or_default()
    }

    #[test]
    fn what_is_open_at_the_same_time_is_counted() {
        let job = "--name=a --rw=write --size=1m --nrfiles=10";
        assert_eq!(needs(job), (10, 10));
        assert_eq!(needs(&format!("{job} --openfiles=3 --numjobs=2")), (8, 8), "and one of each that is opened");
        assert_eq!(needs(&format!("{job} --openfiles=30")), (10, 10));
        assert_eq!(needs(&format!("{job} --ioengine=io_uring")), (11, 11));
        assert_eq!(needs(&format!("{job} --ioengine=splice")), (12, 12));
        assert_eq!(needs(&format!("{job} --write_bw_log=x --write_lat_log=x")), (14, 14), "bw, slat, clat, lat");
        assert_eq!(needs(&format!("{job} --ioengine=null")), (0, 0));
        assert_eq!(needs(&format!("{job} --ioengine=filecreate")), (0, 0), "by name, one after the other");
        assert_eq!(needs(&format!("{job} --name=b --stonewall --rw=write --size=1m")), (10, 10), "one after the other");
        assert_eq!(needs(&format!("{job} --name=b --wait_for=a --rw=write --size=1m")), (10, 11));
    }

    #[test]
    fn the_number_that_is_advised_is_enough() {
        let job = "--name=a --rw=write --size=1m --nrfiles=100 --numjobs=2";
        let text = refusal(&plan_of(job), &limits(64)).unwrap();
        assert!(text.contains("open 200 files") && text.contains("may open 50 more: its limit is 64"), "{text}");
        assert!(text.contains("--openfiles=24,"), "{text}");
        assert_eq!(refusal(&plan_of(&format!("{job} --openfiles=24")), &limits(64)), None);
        assert_eq!(refusal(&plan_of(job), &limits(300)), None);
        assert_eq!(refusal(&plan_of(job), &Limits::default()), None, "no limit is known");
        let many = "--name=a --rw=write --size=1m --numjobs=100";
        assert!(refusal(&plan_of(many), &limits(64)).unwrap().contains("Next step: lower numjobs, or"));
    }

    #[test]
    fn the_ledger_takes_nothing_that_jobs_need() {
        let plan = plan_of("--name=a --rw=write --size=1m --nrfiles=100 --openfiles=20");
        assert_eq!(watched_max(&plan, &limits(64)), 29);
        assert_eq!(watched_max(&plan, &limits(34)), 0);
        assert_eq!(watched_max(&plan, &limits(1024)), WATCHED_MAX);
        assert_eq!(watched_max(&plan, &Limits::default()), WATCHED_MAX);
    }
}
