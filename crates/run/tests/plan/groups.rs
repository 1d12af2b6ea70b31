//! Tests report groups, and which jobs wait for which.

use crate::world::{World, plan};

/// Name, group and stage of each worker.
fn order(plan: &fsdyno_run::plan::Plan) -> Vec<(&str, u32, u32)> {
    plan.workers.iter().map(|worker| (worker.job.name.as_str(), worker.group, worker.stage)).collect()
}

#[test]
fn jobs_run_together_in_one_group() {
    assert_eq!(order(&plan("--size=8k --name=a --name=b")), [("a", 0, 0), ("b", 0, 0)]);
}

#[test]
fn a_wall_begins_a_stage_and_a_group_and_a_group_no_stage() {
    let plan = plan(
        "--size=8k --name=a --stonewall --name=b --new_group --name=c --numjobs=2 --stonewall --name=d \
         --name=e --wait_for_previous",
    );
    let expected = [("a", 0, 0), ("b", 1, 0), ("c", 2, 1), ("c", 2, 1), ("d", 2, 1), ("e", 3, 2)];
    assert_eq!(order(&plan), expected, "the first job has nothing to wait for");
}

#[test]
fn a_wall_for_all_runs_one_job_after_the_other() {
    let plan = plan("--size=8k --stonewall --name=a --name=b --new_group --name=c");
    assert_eq!(order(&plan), [("a", 0, 0), ("b", 1, 1), ("c", 2, 2)]);
}

#[test]
fn each_job_file_after_the_first_begins_behind_a_wall() {
    let mut world = World::new()
        .job_file("1.fio", "[global]\nsize=8k\n[a]\n[b]\n")
        .job_file("2.fio", "[global]\nsize=8k\n[c]\n[d]\nnew_group\n[e]\nstonewall\n");
    let of_files = [("a", 0, 0), ("b", 0, 0), ("c", 1, 1), ("d", 2, 1), ("e", 3, 2)];
    assert_eq!(order(&world.plan("1.fio 2.fio")), of_files);
    // Jobs of the command line come first, and the first file joins them.
    let with_line = world.plan("--name=z --size=8k 1.fio 2.fio");
    assert_eq!(order(&with_line)[0], ("z", 0, 0));
    assert_eq!(order(&with_line)[1..], of_files);
}

#[test]
fn a_job_waits_for_all_earlier_workers_of_a_name() {
    let plan = plan("--size=8k --name=a --numjobs=2 --name=b --name=c --wait_for=a --numjobs=2 --name=c --wait_for=c");
    let awaited: Vec<&[usize]> = plan.workers.iter().map(|worker| &worker.waits_for[..]).collect();
    assert_eq!(awaited, [&[][..], &[], &[], &[0, 1], &[0, 1], &[3, 4]]);
    assert_eq!(order(&plan)[5], ("c", 0, 0), "waiting makes neither a group nor a stage");
}

#[test]
fn jobs_that_are_reported_together_agree_about_their_end() {
    let rejected = |words: &str| plan(&format!("--size=8k {words}")).rejections.join("\n");
    let differ = "--name=a --ss=iops:1% --ss_dur=3 --name=b --ss=iops:2% --ss_dur=3";
    let reason = "steadystate options must be consistent within reporting groups";
    assert!(rejected(&format!("--group_reporting {differ}")).contains(reason));
    assert_eq!(rejected(differ), "", "each is judged alone");
    assert_eq!(rejected("--group_reporting --name=a --ss=iops:1% --ss_dur=3 --name=b"), "", "b runs on");
    assert_eq!(rejected(&format!("--group_reporting {differ} --new_group")), "");
    let ramps = "--group_reporting --name=a --ramp_size=1m --name=b --ramp_size=2m";
    assert!(rejected(ramps).contains("ramp_size must be the same within reporting groups"));
}

#[test]
fn thread_numbers_run_through_all_jobs() {
    let plan = plan("--size=8k --name=a --numjobs=2 --name=b --stonewall --numjobs=2");
    let numbers: Vec<u32> = plan.workers.iter().map(|worker| worker.workload.thread_number).collect();
    assert_eq!(numbers, [1, 2, 3, 4]);
}
