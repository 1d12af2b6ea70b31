//! Makes the files that are installed beside the program: shell completions and man pages. Commands and their options
//! come from clap's definitions, the options of the fio face from the option table.

mod bash;
mod completions;
mod manual;

pub(crate) use completions::Completions;
pub(crate) use manual::Manual;

/// The description of the fio face in lists of commands.
const FIO_ABOUT: &str = "Run a fio command line or job files";

/// The fio face's name among the commands.
pub(crate) const FIO: &str = "fio";
