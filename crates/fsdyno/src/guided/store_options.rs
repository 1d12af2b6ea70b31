//! Options that questions to object stores share.

use clap::{Args, value_parser};
use fsdyno_guide::Problem;

/// Options that object stores alone have.
#[derive(Debug, Args)]
#[command(next_help_heading = "Object stores")]
pub(crate) struct StoreOptions {
    /// Requests at once, each over a connection of its own.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = value_parser!(u32).range(2..=256))]
    pub(crate) connections: u32,
    /// The most requests of all tests together: they cost money.
    #[arg(long, value_name = "REQUESTS", default_value_t = 1_000_000)]
    pub(crate) budget: u64,
    /// Use a bucket that keeps versions, or locks objects, too: what is deleted there stays, and is paid.
    #[arg(long)]
    pub(crate) versioned: bool,
}

/// Refuses options that are given and mean nothing for an object store; `next`: a command that has none of them.
pub(crate) fn check_foreign(options: &[(&str, bool)], store: &str, next: &str) -> Result<(), Problem> {
    let Some((option, _)) = options.iter().find(|(_, given)| *given) else { return Ok(()) };
    Err(Problem::new(format!("{option} is for directories, and {store} is an object store"))
        .with_next(format!("run `{next}`")))
}
