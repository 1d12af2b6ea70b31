//! Whether a launcher of parallel programs (`mpirun`, `mpiexec`, `srun`) has started this program as one of several
//! ranks, as its environment says.

/// What a launcher says in the environment: its name, how many ranks there are, and which one this is.
const LAUNCHERS: [(&str, &str, &str); 3] = [
    ("Open MPI's mpirun", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
    ("a launcher with PMI, such as MPICH's mpiexec", "PMI_SIZE", "PMI_RANK"),
    // Those of the step: a batch script is one process, however many tasks its job has.
    ("Slurm's srun", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID"),
];

/// A launcher that has started several ranks.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Launched {
    launcher: &'static str,
    variable: &'static str,
    ranks: u32,
    rank: u32,
}

#[cfg(feature = "mpi")]
impl Launched {
    /// A question that the ranks cannot answer together; said once.
    pub(crate) fn refuse(&self, question: &str, reason: &str, others: &[&str]) -> std::process::ExitCode {
        let what = format!("{self} has started {} ranks, but `{question}` runs on one: {reason}", self.ranks);
        if self.rank == 0 {
            super::streams::report_problem(&guide::Problem::new(what).with_next(format!(
                "run it without a launcher; {} and fio command lines run on all ranks",
                others.join(", ")
            )));
        }
        super::status::UNUSABLE.into()
    }
}

impl std::fmt::Display for Launched {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.launcher)
    }
}

/// The launcher that has started this program; `None`: nobody, or as the only rank.
pub(crate) fn launched() -> Option<Launched> {
    launched_by(|name| std::env::var(name).ok())
}

fn launched_by(variable: impl Fn(&str) -> Option<String>) -> Option<Launched> {
    let number = |name: &str| variable(name)?.parse::<u32>().ok();
    LAUNCHERS.iter().find_map(|(launcher, size, rank)| {
        let ranks = number(size).filter(|ranks| *ranks > 1)?;
        Some(Launched { launcher, variable: size, ranks, rank: number(rank)? })
    })
}

#[cfg(not(feature = "mpi"))]
pub(crate) mod without_mpi {
    use std::ffi::OsString;
    use std::process::ExitCode;

    use guide::Problem;

    use super::Launched;
    use crate::process::status::UNUSABLE;
    use crate::process::streams::report_problem;

    /// What stands before a command that is to run on several ranks.
    const BEFORE: [&str; 4] = ["--hosts", "--hostfile", "--dry-run", "--shift"];

    /// Refuses to start ranks, or to arrange them.
    pub(crate) fn refuse(words: &[OsString]) -> Option<ExitCode> {
        report_problem(&problem_of(words)?);
        Some(ExitCode::from(UNUSABLE))
    }

    pub(super) fn problem_of(words: &[OsString]) -> Option<Problem> {
        let word = words.first()?.to_str()?;
        let option = word.split_once('=').map_or(word, |(name, _)| name);
        BEFORE.contains(&option).then(|| {
            Problem::new(format!("{option} is for runs on several nodes, and this program was built without MPI"))
                .with_next("use a program that was built with MPI (docs/scale.md tells how)")
        })
    }

    impl Launched {
        /// Several copies would know nothing of each other, and each would take the storage's whole speed for itself.
        pub(crate) fn refuse(&self) -> ExitCode {
            // The others would say the same.
            if self.rank == 0 {
                report_problem(&self.problem());
            }
            ExitCode::from(UNUSABLE)
        }

        pub(super) fn problem(&self) -> Problem {
            let Launched { launcher, variable, ranks, .. } = self;
            Problem::new(format!(
                "{launcher} has started {ranks} ranks, but this program was built without MPI: they would be {ranks} \
                 independent runs that disturb each other"
            ))
            .with_next(format!(
                "use a program that was built with MPI (docs/scale.md tells how); for independent runs put \
                 `env -u {variable}` before the program"
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Option<Launched> {
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

    #[cfg(not(feature = "mpi"))]
    #[test]
    fn what_starts_ranks_is_refused_and_what_does_not_is_no_business_of_this() {
        let of = |line: &str| {
            without_mpi::problem_of(&line.split(' ').map(Into::into).collect::<Vec<_>>()).map(|problem| problem.what)
        };
        assert!(
            of("--hosts=a,b measure .").is_some_and(|what| what.starts_with("--hosts is for runs on several nodes"))
        );
        assert!(of("--hostfile hosts scale .").is_some() && of("--shift measure .").is_some());
        assert_eq!(of("measure . --hosts"), None);
        assert_eq!(of("--name=a --rw=read"), None);
    }

    #[cfg(not(feature = "mpi"))]
    #[test]
    fn the_refusal_names_launcher_ranks_and_a_way() {
        let launched = of(&[("OMPI_COMM_WORLD_SIZE", "4"), ("OMPI_COMM_WORLD_RANK", "0")]).unwrap();
        let problem = launched.problem();
        assert!(problem.what.starts_with("Open MPI's mpirun has started 4 ranks"), "{problem}");
        assert!(problem.next.is_some_and(|next| next.contains("docs/scale.md") && next.contains("env -u OMPI_COMM")));
    }
}
