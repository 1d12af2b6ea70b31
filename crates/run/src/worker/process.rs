//! Sets up a worker's thread before its first action: CPUs, priority, memory, user.

use fsdyno_engine::buffers::{ArenaError, LockedMemory};
use fsdyno_os::errno::{EINVAL, ENOMEM, EPERM};
use fsdyno_os::thread::{self, ThreadError};

use super::Refused;
use crate::control_groups::ControlGroups;
use crate::plan::WorkerPlan;

/// Applies the job's settings to the calling thread. The user comes last, as an ordinary one may do less.
pub(super) fn apply(plan: &WorkerPlan, groups: &ControlGroups) -> Result<LockedMemory, Refused> {
    let process = &plan.job.process;
    let start_clock = plan.job.reporting.start_clock;
    if fsdyno_drive::epoch_ms(start_clock).is_none() {
        let text = "this system cannot read such a clock. Next step: use 0, the wall clock, or 1, the monotonic clock";
        let message = format!("fio: {}: job_start_clock_id={start_clock}: {text}", plan.job.name);
        return Err(Refused { code: EINVAL, function: "clock_gettime", message });
    }
    groups.join(plan).map_err(|error| {
        let message = format!("fio: {}: cannot join its cgroup: {error}", plan.job.name);
        Refused { code: error.code, function: "cgroup", message }
    })?;
    if let Some(name) = &process.thread_name {
        thread::set_name(name).map_err(refused)?;
    }
    if !process.cpus_allowed.is_empty() {
        let allowed = &process.cpus_allowed;
        let own = [allowed[plan.clone as usize % allowed.len()]];
        thread::set_affinity(if process.cpus_split { &own } else { allowed }).map_err(refused)?;
    }
    if let Some(nice) = process.nice {
        thread::set_nice(nice).map_err(refused)?;
    }
    if let Some(priority) = process.priority {
        thread::set_io_priority(priority).map_err(refused)?;
    }
    if let Some(policy) = &process.memory_policy {
        thread::set_memory_policy(policy).map_err(refused)?;
    }
    let locked = LockedMemory::new(plan.job.submission.locked_bytes).map_err(|error| {
        let code = if let ArenaError::Locked { code: EPERM, .. } = error { EPERM } else { ENOMEM };
        Refused { code, function: "mlock", message: format!("fio: {}: {error}", plan.job.name) }
    })?;
    if process.user.is_some() || process.group.is_some() {
        thread::become_user(process.user, process.group).map_err(refused)?;
    }
    Ok(locked)
}

fn refused(error: ThreadError) -> Refused {
    Refused { code: error.code, function: "thread attributes", message: error.to_string() }
}
