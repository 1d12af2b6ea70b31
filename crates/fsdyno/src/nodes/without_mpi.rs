//! The same functions for a program built without MPI: it runs on this machine alone, and refuses anything else.

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;

use fsdyno_guide::Problem;
use fsdyno_job::Request;
use fsdyno_run::OtherRanks;

use super::launcher::Launched;
use crate::process::status::UNUSABLE;
use crate::process::streams::report_problem;

/// The programs that run on several nodes.
const PACKAGES: &str = "install the package fsdyno-openmpi or fsdyno-mpich, for the MPI library of the nodes, on all of them, \
                        and begin the line with that name in place of fsdyno (docs/scale.md tells more)";

/// The options before a command that is to run on several ranks.
const BEFORE: [&str; 4] = ["--hosts", "--hostfile", "--dry-run", "--shift"];

/// Refuses options that start or arrange ranks.
fn refuse(words: &[OsString]) -> Option<ExitCode> {
    report_problem(&problem_of(words)?);
    Some(ExitCode::from(UNUSABLE))
}

fn problem_of(words: &[OsString]) -> Option<Problem> {
    let word = words.first()?.to_str()?;
    let option = word.split_once('=').map_or(word, |(name, _)| name);
    BEFORE.contains(&option).then(|| {
        Problem::new(format!("{option} is for runs on several nodes, and this program was built without MPI"))
            .with_next(PACKAGES)
    })
}

impl Launched {
    /// Refuses to run as one of several ranks: without MPI they would not know each other, and each would compete for
    /// the storage's speed.
    fn refuse(&self) -> ExitCode {
        if self.is_first() {
            report_problem(&self.problem());
        }
        ExitCode::from(UNUSABLE)
    }

    fn problem(&self) -> Problem {
        let Launched { launcher, variable, ranks, .. } = self;
        Problem::new(format!(
            "{launcher} has started {ranks} ranks, but this program was built without MPI: they would be {ranks} \
             independent runs that disturb each other"
        ))
        .with_next(format!("{PACKAGES}; for independent runs put `env -u {variable}` before the program"))
    }
}

/// Runs the words, unless several ranks were asked for.
pub(super) fn run(
    launched: Option<Launched>,
    words: &[OsString],
    face: impl FnOnce(&[OsString]) -> ExitCode,
) -> ExitCode {
    match launched {
        Some(launched) => launched.refuse(),
        None => refuse(words).unwrap_or_else(|| face(words)),
    }
}

/// There are no other ranks.
pub(crate) fn other_ranks() -> Option<Arc<dyn OtherRanks>> {
    None
}

/// Names stay as they are.
pub(crate) fn with_names(request: Request) -> Request {
    request
}

/// Nobody waits for this process.
pub(crate) fn leave() {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nodes::launcher::tests::of as launched_by;

    #[test]
    fn what_starts_ranks_is_refused_and_what_does_not_is_no_business_of_this() {
        let of =
            |line: &str| problem_of(&line.split(' ').map(Into::into).collect::<Vec<_>>()).map(|problem| problem.what);
        assert!(
            of("--hosts=a,b measure .").is_some_and(|what| what.starts_with("--hosts is for runs on several nodes"))
        );
        assert!(of("--hostfile hosts scale .").is_some() && of("--shift measure .").is_some());
        let next = problem_of(&["--hosts=a,b".into()]).and_then(|problem| problem.next);
        assert!(next.is_some_and(|next| next.contains("fsdyno-openmpi") && next.contains("fsdyno-mpich")));
        assert_eq!(of("measure . --hosts"), None);
        assert_eq!(of("--name=a --rw=read"), None);
    }

    #[test]
    fn the_refusal_names_launcher_ranks_and_a_way() {
        let launched = launched_by(&[("OMPI_COMM_WORLD_SIZE", "4"), ("OMPI_COMM_WORLD_RANK", "0")]).unwrap();
        let problem = launched.problem();
        assert!(problem.what.starts_with("Open MPI's mpirun has started 4 ranks"), "{problem}");
        assert!(problem.next.is_some_and(|next| next.contains("docs/scale.md") && next.contains("env -u OMPI_COMM")));
    }
}
