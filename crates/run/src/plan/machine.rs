//! Plans what jobs need of the machine besides their files: users that this process may become, existing NUMA nodes.

use fsdyno_job::Job;
use fsdyno_os::errno::EPERM;
use fsdyno_probe::HostFacts;

use super::Refusal;

/// Refuses a job whose workers could not become another user or group, before its files are laid out.
pub(super) fn refuse_user(job: &Job, facts: &HostFacts) -> Option<Refusal> {
    let [may_change_group, may_change_user] = *facts.limits.other_identities.as_ref().ok()?;
    let (option, call, id) = match (job.process.group, job.process.user) {
        (Some(group), _) if !may_change_group => ("gid", "setgid", group),
        (_, Some(user)) if !may_change_user => ("uid", "setuid", user),
        _ => return None,
    };
    let name = &job.name;
    let message = format!(
        "fio: {name}: {option}={id}: this process may not become another. Next step: start fsdyno with sudo, or leave \
         {option} out"
    );
    Some(Refusal { code: EPERM, function: call, message })
}

/// A sentence on the first NUMA node that does not exist.
fn missing_node(job: &Job, facts: &HostFacts) -> Option<String> {
    let process = &job.process;
    let policy = process.memory_policy.iter().flat_map(|policy| policy.nodes());
    let asked = process.nodes.iter().map(|node| ("numa_cpu_nodes", node));
    let (option, node) = asked.chain(policy.map(|node| ("numa_mem_policy", node))).find(|(_, node)| {
        facts.limits.nodes.as_ref().is_ok_and(|nodes| nodes.iter().all(|(number, _)| number != *node))
    })?;
    let nodes = facts.limits.nodes.as_ref().ok()?;
    let there: Vec<String> = nodes.iter().map(|(number, _)| number.to_string()).collect();
    Some(format!(
        "fio: NUMA node {node} is out of range\nfio: failed parsing {option}\nNext step: use the nodes of this machine: {}",
        there.join(", ")
    ))
}

/// The CPUs that a job may use: those of its NUMA nodes, limited by `cpus_allowed`.
pub(super) fn processors(job: &Job, facts: &HostFacts) -> Result<Vec<u32>, String> {
    if let Some(sentence) = missing_node(job, facts) {
        return Err(sentence);
    }
    let (nodes, allowed) = (&job.process.nodes, &job.process.cpus_allowed);
    if nodes.is_empty() {
        return Ok(allowed.clone());
    }
    let next = "fio: failed parsing numa_cpu_nodes\nNext step: use --cpus_allowed";
    let there = facts.limits.nodes.as_ref().map_err(|error| format!("fio: no NUMA nodes: {error}\n{next}"))?;
    let of_nodes = there.iter().filter(|(number, _)| nodes.contains(number)).flat_map(|(_, processors)| processors);
    let chosen: Vec<u32> = of_nodes.copied().filter(|cpu| allowed.is_empty() || allowed.contains(cpu)).collect();
    if chosen.is_empty() {
        Err(format!("fio: these NUMA nodes have no CPU that is allowed\n{next}"))
    } else {
        Ok(chosen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsdyno_job::MemoryPolicy;
    use fsdyno_probe::Limits;

    fn facts() -> HostFacts {
        let nodes = Ok(vec![(0, vec![0, 1]), (2, vec![4, 5])]);
        HostFacts {
            limits: Limits { nodes, other_identities: Ok([true, false]), ..Limits::default() },
            ..HostFacts::default()
        }
    }

    fn job(change: impl FnOnce(&mut fsdyno_job::Process)) -> Job {
        let mut job = Job::default();
        change(&mut job.process);
        job
    }

    #[test]
    fn users_that_it_may_not_become_are_refused() {
        let refused = |job: &Job| refuse_user(job, &facts()).map(|refusal| refusal.function);
        assert_eq!(refused(&job(|process| process.group = Some(5))), None);
        assert_eq!(refused(&job(|process| process.user = Some(5))), Some("setuid"));
        assert_eq!(refused(&job(|_| {})), None);
        assert!(
            refuse_user(&job(|process| process.user = Some(5)), &HostFacts::default()).is_none(),
            "the thread tries"
        );
    }

    #[test]
    fn nodes_that_are_not_there_are_named() {
        let rejected = |job: &Job| processors(job, &facts()).err();
        assert_eq!(rejected(&job(|process| process.nodes = vec![0, 2])), None);
        assert!(rejected(&job(|process| process.nodes = vec![0, 1])).unwrap().contains("node 1 is out of range"));
        let policy = MemoryPolicy::Interleave(vec![2, 7]);
        let text = rejected(&job(|process| process.memory_policy = Some(policy))).unwrap();
        assert!(text.contains("numa_mem_policy") && text.ends_with("0, 2"), "{text}");
    }

    #[test]
    fn nodes_have_processors() {
        let of = |job: &Job| processors(job, &facts());
        assert_eq!(of(&job(|process| process.nodes = vec![2])), Ok(vec![4, 5]));
        assert_eq!(of(&job(|process| process.cpus_allowed = vec![3])), Ok(vec![3]));
        let both = |cpus: Vec<u32>| job(|process| (process.nodes, process.cpus_allowed) = (vec![0, 2], cpus));
        assert_eq!(of(&both(vec![1, 4])), Ok(vec![1, 4]));
        assert!(of(&both(vec![9])).is_err());
        assert!(processors(&job(|process| process.nodes = vec![0]), &HostFacts::default()).is_err());
    }
}
