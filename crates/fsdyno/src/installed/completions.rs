//! `completions`: prints the scripts that clap_complete writes. The options of the fio face are passed to it as
//! arguments made from the option table; only bash, which splits `--name=value`, has a separate function for that face.

use std::process::ExitCode;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgAction, Args, Command, ValueHint};
use clap_complete::Shell;
use fsdyno_job::offered::{Offered, sections};
use fsdyno_job::option::{Arity, Offer};

use super::{FIO, FIO_ABOUT, bash};
use crate::process::status::UNUSABLE;
use crate::process::streams::print;

/// Print the script that makes a shell complete commands, options and values.
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
    /// For a link to this program that is called fio.
    #[arg(long)]
    fio: bool,
}

impl Completions {
    pub(crate) fn run(&self) -> ExitCode {
        let script = if self.fio { script_of_link(self.shell) } else { script(self.shell) };
        if print(&script) { ExitCode::SUCCESS } else { ExitCode::from(UNUSABLE) }
    }
}

/// The script for the program by its own name: both faces.
fn script(shell: Shell) -> String {
    let guided = crate::guided::command();
    match shell {
        Shell::Bash => {
            let commands: Vec<&str> = guided.get_subcommands().map(Command::get_name).collect();
            let both = bash::both_faces(&commands);
            format!("{}\n{}\n{both}", generated(shell, guided.clone(), "fsdyno"), bash::fio_face(&offered()))
        }
        _ => {
            let script =
                generated(shell, guided.args(arguments(&["help", "version"])).subcommand(fio_face()), "fsdyno");
            with_job_files(shell, script)
        }
    }
}

/// Adds job files, which may take the place of a command; clap cannot express that.
fn with_job_files(shell: Shell, mut script: String) -> String {
    match shell {
        Shell::Zsh => script.replace(ZSH_COMMANDS, "\":: :{_fsdyno_commands || _files}\""),
        Shell::Fish => {
            script.push_str("complete -c fsdyno -n \"__fish_fsdyno_needs_command\" -F\n");
            script
        }
        _ => script,
    }
}

/// The place in clap_complete's zsh script that asks for a command.
const ZSH_COMMANDS: &str = "\":: :_fsdyno_commands\"";

/// The script for a link to the fio face alone.
fn script_of_link(shell: Shell) -> String {
    match shell {
        Shell::Bash => format!("{}\n{}", bash::fio_face(&offered()), bash::link()),
        _ => generated(shell, fio_face(), FIO),
    }
}

fn generated(shell: Shell, mut command: Command, name: &str) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, name, &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// The options of the table, each name once: some engines share names.
fn offered() -> Vec<Offered> {
    let mut options: Vec<Offered> = Vec::new();
    for option in sections().into_iter().flat_map(|section| section.options) {
        match options.iter_mut().find(|known| known.name == option.name) {
            Some(known) => known.words.extend(option.words),
            None => options.push(option),
        }
    }
    options
}

/// The fio face as a clap command.
fn fio_face() -> Command {
    let files = Arg::new("job files").num_args(0..).value_hint(ValueHint::FilePath).help("Job files");
    // The table itself contains --help and --version.
    let face = Command::new(FIO).about(FIO_ABOUT).disable_help_flag(true).disable_version_flag(true);
    face.args(arguments(&[])).arg(files)
}

/// The options of the table except those that clap makes itself.
fn arguments(known: &[&str]) -> Vec<Arg> {
    offered().iter().filter(|option| !known.contains(&option.name)).map(argument).collect()
}

fn argument(option: &Offered) -> Arg {
    let argument = Arg::new(option.name).long(option.name).aliases(option.aliases).help(option.help);
    let argument = match option.arity {
        Arity::None => return argument.action(ArgAction::SetTrue),
        Arity::Optional => argument.num_args(0..=1).require_equals(true),
        Arity::Required => argument.num_args(1),
    };
    let argument = argument.action(ArgAction::Append);
    match option.offer {
        Offer::Files => argument.value_hint(ValueHint::FilePath),
        Offer::Directories => argument.value_hint(ValueHint::DirPath),
        _ if option.words.is_empty() => argument.value_hint(ValueHint::Other),
        _ => argument.value_parser(PossibleValuesParser::new(option.words.iter().map(|word| {
            let meaning = option.choices.iter().find(|choice| choice.word == *word);
            PossibleValue::new(*word).help(meaning.map_or("", |choice| choice.help))
        }))),
    }
}
