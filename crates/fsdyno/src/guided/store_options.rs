//! Options that questions to object stores share.

use clap::{Args, value_parser};
use fsdyno_guide::Problem;
use fsdyno_guide::objects::ObjectLimits;
use fsdyno_guide::study::Place;
use fsdyno_text::shell::word_as_typed;

/// Options that object stores alone have.
#[derive(Debug, Args)]
#[command(next_help_heading = "Object stores")]
pub(crate) struct StoreOptions {
    /// Requests at once, each over a connection of its own.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = value_parser!(u32).range(2..=256))]
    pub(crate) connections: u32,
    #[command(flatten)]
    pub(crate) limits: StoreLimits,
}

/// What a question may use of an object store.
#[derive(Debug, Args)]
#[command(next_help_heading = "Object stores")]
pub(crate) struct StoreLimits {
    /// The most requests of all tests together: they cost money.
    #[arg(long, value_name = "REQUESTS", default_value_t = 1_000_000)]
    pub(crate) budget: u64,
    /// Use a bucket that keeps versions, or locks objects, too: what is deleted there stays, and is paid.
    #[arg(long)]
    pub(crate) versioned: bool,
}

impl StoreLimits {
    /// The limits, where none of the options that directories alone have is given.
    pub(crate) fn of(&self, place: &Place, question: &str, foreign: &[(&str, bool)]) -> Result<ObjectLimits, Problem> {
        let store = fsdyno_job::bytes::shown(&place.path);
        check_foreign(foreign, &store, &format!("fsdyno {question} {}", word_as_typed(&store)))?;
        Ok(ObjectLimits { requests_max: self.budget, keeps: self.versioned })
    }
}

/// Refuses options that are given and mean nothing for an object store; `next`: a command that has none of them.
pub(crate) fn check_foreign(options: &[(&str, bool)], store: &str, next: &str) -> Result<(), Problem> {
    let Some((option, _)) = options.iter().find(|(_, given)| *given) else { return Ok(()) };
    Err(Problem::new(format!("{option} is for directories, and {store} is an object store"))
        .with_next(format!("run `{next}`")))
}
