//! Detects by the environment whether a launcher of parallel programs (`mpirun`, `mpiexec`, `srun`) has started this
//! program as one of several ranks.

/// The variable of Open MPI's launcher with the number of ranks.
const OPEN_MPI: &str = "OMPI_COMM_WORLD_SIZE";

/// Launchers: the name, and the variables with the number of ranks and with the rank.
const LAUNCHERS: [(&str, &str, &str); 3] = [
    ("Open MPI's mpirun", OPEN_MPI, "OMPI_COMM_WORLD_RANK"),
    ("a launcher with PMI (such as MPICH's mpiexec)", "PMI_SIZE", "PMI_RANK"),
    // The variables of the step: a batch script is one process, however many tasks its job has.
    ("Slurm's srun", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID"),
];

/// A launcher that has started several ranks.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Launched {
    pub(super) launcher: &'static str,
    pub(super) variable: &'static str,
    pub(super) ranks: u32,
    rank: u32,
}

impl Launched {
    /// Whether this rank prints what all ranks would print.
    pub(crate) fn is_first(&self) -> bool {
        self.rank == 0
    }
}

#[cfg(feature = "mpi")]
impl Launched {
    /// Refuses a question that the ranks cannot answer together; one rank prints it.
    pub(crate) fn refuse(&self, question: &str, reason: &str, others: &[&str]) -> std::process::ExitCode {
        let what = format!("{self} has started {} ranks, but `{question}` runs on one: {reason}", self.ranks);
        if self.is_first() {
            crate::process::streams::report_problem(&fsdyno_guide::Problem::new(what).with_next(format!(
                "run it without a launcher; {} and fio command lines run on all ranks",
                others.join(", ")
            )));
        }
        crate::process::status::UNUSABLE.into()
    }

    /// Why the ranks cannot run together: the MPI library does not know the launcher, and each rank is alone.
    /// `library`: its name.
    pub(crate) fn strangers(&self, library: &str) -> String {
        format!(
            "{self} has started {} ranks, and this program's MPI ({library}) sees one; use that MPI's own mpiexec, \
             or srun with the type of MPI that fits",
            self.ranks
        )
    }

    /// How a rank ends under this launcher. Open MPI ends all ranks at the first status other than 0, while the first
    /// rank may still have to write: the others therefore do not end by the signal. Other launchers wait for all; when
    /// MPICH's was told to end, it may return the status of the rank that ended last.
    pub(crate) fn ending(&self, ending: fsdyno_cluster::Ending) -> fsdyno_cluster::Ending {
        match ending {
            fsdyno_cluster::Ending::Followed { .. } if self.variable == OPEN_MPI => {
                fsdyno_cluster::Ending::Followed { signal: None }
            }
            ending => ending,
        }
    }
}

impl std::fmt::Display for Launched {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.launcher)
    }
}

/// The launcher that has started this program; `None`: there is none, or this is the only rank.
pub(super) fn launched() -> Option<Launched> {
    launched_by(|name| std::env::var(name).ok())
}

/// Whether Open MPI's launcher has started this program, even as the only rank: it gives its ranks terminals of their
/// own, whatever reads their output.
pub(crate) fn gives_terminals() -> bool {
    std::env::var_os(OPEN_MPI).is_some()
}

fn launched_by(variable: impl Fn(&str) -> Option<String>) -> Option<Launched> {
    let number = |name: &str| variable(name)?.parse::<u32>().ok();
    LAUNCHERS.iter().find_map(|(launcher, size, rank)| {
        let ranks = number(size).filter(|ranks| *ranks > 1)?;
        Some(Launched { launcher, variable: size, ranks, rank: number(rank)? })
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::nodes) fn of(variables: &[(&str, &str)]) -> Option<Launched> {
        launched_by(|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string()))
    }

    #[test]
    fn several_ranks_are_seen_and_a_single_one_is_none() {
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[("OMPI_COMM_WORLD_SIZE", "1"), ("OMPI_COMM_WORLD_RANK", "0")]), None);
        assert_eq!(of(&[("SLURM_NTASKS", "8"), ("SLURM_PROCID", "0")]), None, "a batch script");
        let mpich = of(&[("PMI_SIZE", "16"), ("PMI_RANK", "3")]).unwrap();
        assert_eq!((mpich.ranks, mpich.rank), (16, 3));
        let slurm = of(&[("SLURM_STEP_NUM_TASKS", "4"), ("SLURM_PROCID", "2")]).unwrap();
        assert_eq!((slurm.launcher, slurm.ranks, slurm.rank), ("Slurm's srun", 4, 2));
    }

    /// The variables that Slurm sets: srun for each task of its step, sbatch and salloc for one shell, however many
    /// tasks the job has.
    #[test]
    fn tasks_of_srun_are_ranks_and_shells_of_slurm_are_none() {
        let job = [("SLURM_JOB_ID", "7"), ("SLURM_NTASKS", "4"), ("SLURM_NPROCS", "4"), ("SLURM_NTASKS_PER_NODE", "2")];
        let with =
            |more: &[(&str, &str)]| of(&[&job[..], more].concat()).map(|seen| (seen.variable, seen.ranks, seen.rank));
        let salloc = [("SLURM_JOB_NUM_NODES", "2"), ("SLURM_TASKS_PER_NODE", "2(x2)")];
        assert_eq!(with(&salloc), None);
        let batch = [("SLURM_PROCID", "0"), ("SLURM_LOCALID", "0"), ("SLURM_NODEID", "0"), ("ENVIRONMENT", "BATCH")];
        assert_eq!(with(&batch), None);
        let one = [("SLURM_STEP_ID", "0"), ("SLURM_STEP_NUM_TASKS", "1"), ("SLURM_PROCID", "0")];
        assert_eq!(with(&one), None);

        // Without an MPI interface, and with PMIx, which gives the rank but not the number of ranks.
        let step = [("SLURM_STEP_ID", "0"), ("SLURM_STEP_NUM_TASKS", "4"), ("SLURM_PROCID", "3")];
        let srun = Some(("SLURM_STEP_NUM_TASKS", 4, 3));
        assert_eq!(with(&step), srun);
        let pmix = [("PMIX_RANK", "3"), ("PMIX_NAMESPACE", "slurm.pmix.7.0")];
        assert_eq!(with(&[&step[..], &pmix].concat()), srun);
        let pmi2 = [("PMI_RANK", "3"), ("PMI_SIZE", "4"), ("PMI_FD", "12")];
        assert_eq!(with(&[&step[..], &pmi2].concat()), Some(("PMI_SIZE", 4, 3)));
        // In the shell of a step with one task, which has PMI2's variables; srun starts several from it, without them.
        assert_eq!(with(&[&step[..], &[("PMI_RANK", "0"), ("PMI_SIZE", "1")]].concat()), srun);
        // srun starts a launcher's own processes, one on each node: the ranks that these start count.
        let proxies = [("SLURM_STEP_NUM_TASKS", "2"), ("SLURM_PROCID", "1"), ("PMI_SIZE", "16"), ("PMI_RANK", "9")];
        assert_eq!(with(&proxies), Some(("PMI_SIZE", 16, 9)));
    }

    #[cfg(feature = "mpi")]
    #[test]
    fn ranks_that_do_not_see_each_other_are_told_of_launcher_and_library() {
        let launched = of(&[("SLURM_STEP_NUM_TASKS", "1000"), ("SLURM_PROCID", "2")]).unwrap();
        assert!(!launched.is_first());
        let sentence = launched.strangers("Intel(R) MPI Library");
        assert!(
            sentence.starts_with("Slurm's srun has started 1000 ranks") && sentence.contains("(Intel"),
            "{sentence}"
        );
        assert!(sentence.len() <= 200, "{}", sentence.len());
    }

    #[cfg(feature = "mpi")]
    #[test]
    fn only_launchers_that_wait_for_all_ranks_hear_of_their_signals() {
        for (size, rank, heard) in [(OPEN_MPI, "OMPI_COMM_WORLD_RANK", None), ("PMI_SIZE", "PMI_RANK", Some(15))] {
            let launched = of(&[(size, "2"), (rank, "1")]).unwrap();
            match launched.ending(fsdyno_cluster::Ending::Followed { signal: Some(15) }) {
                fsdyno_cluster::Ending::Followed { signal } => assert_eq!(signal, heard, "{size}"),
                other => panic!("{other:?}"),
            }
        }
    }
}
