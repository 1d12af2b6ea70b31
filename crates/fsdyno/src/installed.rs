//! What is installed beside the program: the shells' completions and the man pages. Commands and their options come
//! from clap's definitions, the options of fio's face from the option table.

mod bash;
mod completions;
mod manual;

pub(crate) use completions::Completions;
pub(crate) use manual::Manual;

/// What the fio face is, for lists of commands.
const FIO_ABOUT: &str = "Run a fio command line or job files";

/// The name of the fio face among the commands.
pub(crate) const FIO: &str = "fio";
