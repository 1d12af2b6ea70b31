//! `man`: makes the pages of the program, of each command, and of the fio face. clap_mangen writes what clap knows; the
//! options of the fio face come from the option table.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use clap::{Args, Command};
use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, bold, italic, roman};
use fsdyno_guide::Problem;
use fsdyno_job::offered::{Offered, sections};
use fsdyno_job::option::{Arity, Status};
use fsdyno_os::files::{Readers, write_whole};

use super::{FIO, FIO_ABOUT};
use crate::process::status::{TABLES, UNUSABLE};
use crate::process::streams::{print, report_problem};

/// Print a man page: of the program, of a command, or of the fio face.
///
/// `fsdyno man measure | man -l -` shows it.
#[derive(Debug, Args)]
pub(crate) struct Manual {
    /// A command, or fio [default: the program].
    #[arg(value_parser = PossibleValuesParser::new(crate::guided::names().chain([FIO])), hide_possible_values = true)]
    command: Option<String>,
    /// Write all pages into this directory: fsdyno.1, fsdyno-measure.1, ...
    #[arg(short, long, value_name = "DIR", conflicts_with = "command")]
    output: Option<PathBuf>,
}

impl Manual {
    pub(crate) fn run(&self) -> ExitCode {
        let written = match &self.output {
            Some(directory) => write_all(directory).map(|()| true),
            None => self.page().map(|page| print(&page.text)),
        };
        match written {
            Ok(true) => ExitCode::SUCCESS,
            Ok(false) => ExitCode::from(UNUSABLE),
            Err(problem) => {
                report_problem(&problem);
                ExitCode::from(UNUSABLE)
            }
        }
    }

    fn page(&self) -> Result<Page, Problem> {
        let name = self.command.as_ref().map_or("fsdyno".to_owned(), |command| format!("fsdyno-{command}"));
        let pages = pages().map_err(|error| Problem::new(format!("cannot write a page: {error}")))?;
        let page = pages.into_iter().find(|page| page.name == name);
        page.ok_or_else(|| {
            Problem::new(format!("there is no page {name}")).with_next("`fsdyno help` shows all commands")
        })
    }
}

fn write_all(directory: &Path) -> Result<(), Problem> {
    let write = || -> io::Result<()> {
        std::fs::create_dir_all(directory)?;
        pages()?.iter().try_for_each(|page| {
            write_whole(&directory.join(format!("{}.1", page.name)), Readers::ByUmask, page.text.as_bytes())
        })
    };
    write().map_err(|error| {
        Problem::new(format!("cannot write man pages into {}: {error}", directory.display()))
            .with_next("choose a directory that you may write to")
    })
}

/// A page of section 1.
struct Page {
    /// The name without the section.
    name: String,
    /// The text in roff.
    text: String,
}

/// The pages of the program, of each command, and of the fio face.
fn pages() -> io::Result<Vec<Page>> {
    let mut tree = crate::guided::command()
        .disable_help_subcommand(true)
        .subcommand_help_heading("COMMANDS")
        .override_usage("fsdyno COMMAND ...\nfsdyno OPTIONS | FILE ...")
        .subcommand(Command::new(FIO).about(FIO_ABOUT).override_usage("fsdyno fio OPTIONS | FILE ..."));
    for (order, name) in crate::guided::names().chain([FIO]).enumerate() {
        tree = tree.mut_subcommand(name, |command| command.display_order(order));
    }
    tree.build();
    let mut pages = vec![page(&tree, program_page)?];
    for command in tree.get_subcommands() {
        let write = if command.get_name() == FIO { fio_page } else { command_page };
        pages.push(page(command, write)?);
    }
    Ok(pages)
}

fn page(command: &Command, write: impl FnOnce(&Man, &mut Vec<u8>) -> io::Result<()>) -> io::Result<Page> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
    let man = Man::new(command.clone())
        .title(name.to_uppercase())
        .source(concat!("fsdyno ", env!("CARGO_PKG_VERSION")))
        .manual("fsdyno");
    let mut text = Vec::new();
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    man.render_synopsis_section(&mut text)?;
    write(&man, &mut text)?;
    Ok(Page { name, text: String::from_utf8_lossy(&text).into_owned() })
}

fn program_page(man: &Man, page: &mut Vec<u8>) -> io::Result<()> {
    let mut roff = Roff::new();
    roff.control("SH", ["DESCRIPTION"]);
    roff.text([roman(
        "With one of the commands below, fsdyno measures storage through its filesystem and reports evidence. With a \
         fio command line or job file it runs that and reports as fio does.",
    )]);
    roff.control("PP", []);
    roff.text([bold("fsdyno help"), roman(" lists the commands, "), bold("fsdyno COMMAND --help")]);
    roff.text([roman("the options of one, "), bold("fsdyno --cmdhelp"), roman(" those of the fio language.")]);
    roff.to_writer(page)?;
    man.render_subcommands_section(page)?;
    let mut roff = Roff::new();
    roff.control("SH", ["EXIT STATUS"]);
    for (heading, meanings) in TABLES {
        roff.control("PP", []);
        roff.text([roman(heading)]);
        meanings.iter().for_each(|meaning| item(&mut roff, [bold(meaning.number())], meaning.text));
    }
    roff.control("SH", ["ENVIRONMENT"]);
    item(&mut roff, [bold("XDG_DATA_HOME")], "Runs are saved in the directory fsdyno below it (~/.local/share).");
    item(
        &mut roff,
        [bold("XDG_CONFIG_HOME")],
        "The configuration is fsdyno/config.toml below it (~/.config), profiles of your own are in fsdyno/profiles.",
    );
    let ours = "Set --store, --units and --only for all commands, over the configuration.";
    item(
        &mut roff,
        [bold("FSDYNO_STORE"), roman(", "), bold("FSDYNO_UNITS"), roman(", "), bold("FSDYNO_PATTERNS")],
        ours,
    );
    let colours = "NO_COLOR turns the colours of verdicts off, CLICOLOR_FORCE on.";
    item(&mut roff, [bold("NO_COLOR"), roman(", "), bold("CLICOLOR_FORCE")], colours);
    roff.control("SH", ["SEE ALSO"]);
    roff.text([bold("fsdyno-fio"), roman("(1), "), bold("fsdyno-measure"), roman("(1), "), bold("fio"), roman("(1)")]);
    roff.to_writer(page)
}

fn command_page(man: &Man, page: &mut Vec<u8>) -> io::Result<()> {
    man.render_description_section(page)?;
    man.render_options_section(page)?;
    see_also(page)
}

fn see_also(page: &mut Vec<u8>) -> io::Result<()> {
    let mut roff = Roff::new();
    roff.control("SH", ["SEE ALSO"]);
    roff.text([bold("fsdyno"), roman("(1)")]);
    roff.to_writer(page)
}

fn fio_page(_: &Man, page: &mut Vec<u8>) -> io::Result<()> {
    let mut roff = Roff::new();
    roff.control("SH", ["DESCRIPTION"]);
    roff.text([roman(
        "Runs jobs as fio describes them, on the command line or in job files. The words \
         fsdyno fio may be left out before an option or a file, and a link named fio to this program is the same.",
    )]);
    roff.control("PP", []);
    roff.text([roman(
        "A job begins with --name; options before the first are the defaults of all. One dash will do instead \
         of two, and a blank instead of the equals sign where a value is required. In job files, options stand without \
         dashes below [NAME] or [global].",
    )]);
    roff.control("PP", []);
    roff.text([roman("An option of fio that is missing here stops the run with its name, before any write.")]);
    for section in sections() {
        roff.control("SH", [section.title.to_uppercase().as_str()]);
        section.options.iter().for_each(|option| describe(&mut roff, option));
    }
    roff.to_writer(page)?;
    see_also(page)
}

/// Describes an option of the table: its names, its help, its words, and the rules of its value.
fn describe(roff: &mut Roff, option: &Offered) {
    item(roff, heading(option), &format!("{}.", option.help));
    if !option.choices.is_empty() {
        roff.control("RS", []);
        roff.control("PD", ["0"]);
        for choice in &option.choices {
            let tail = choice.tail.map(|what| format!("[:{what}]")).unwrap_or_default();
            let meaning = match choice.status {
                Status::Partial(reason) => format!("{} ({reason})", choice.help),
                _ => choice.help.to_owned(),
            };
            item(roff, [bold(choice.word), italic(tail)], &meaning);
        }
        roff.control("PD", []);
        roff.control("RE", []);
    }
    let facts = facts(option);
    if !facts.is_empty() {
        roff.control("RS", []);
        roff.text([roman(facts)]);
        roff.control("RE", []);
    }
}

fn heading(option: &Offered) -> Vec<Inline> {
    let mut heading = Vec::new();
    if let Some(letter) = option.short {
        heading.extend([bold(format!("-{letter}")), roman(", ")]);
    }
    for (index, name) in std::iter::once(&option.name).chain(option.aliases).enumerate() {
        heading.extend((index > 0).then(|| roman(", ")));
        heading.push(bold(format!("--{name}")));
    }
    match option.arity {
        Arity::None => {}
        Arity::Optional => heading.extend([roman("["), roman("="), italic("value"), roman("]")]),
        Arity::Required => heading.extend([roman("="), italic("value")]),
    }
    heading
}

/// Kind, range, default, engines, and what is missing compared with fio.
fn facts(option: &Offered) -> String {
    let mut facts: Vec<String> = Vec::new();
    // For free text there is nothing to add to the help.
    if option.choices.is_empty() && option.arity != Arity::None && !option.is_text {
        facts.push(match &option.range {
            Some(range) => format!("{}, {range}", option.kind),
            None => option.kind.to_owned(),
        });
    }
    facts.extend(option.default.map(|default| format!("default: {default}")));
    if !option.engines.is_empty() {
        facts.push(format!("engines: {}", option.engines.join(", ")));
    }
    if option.status != Status::Full {
        facts.push(format!("{}: {}", option.status.label(), option.status.reason()));
    }
    facts.join("; ")
}

/// A paragraph below its heading.
fn item(roff: &mut Roff, heading: impl Into<Vec<Inline>>, text: &str) {
    roff.control("TP", []);
    roff.text(heading);
    roff.text([roman(text)]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_its_page_and_every_option_its_place() {
        let pages = pages().unwrap();
        let named =
            |name: &str| pages.iter().find(|page| page.name == name).unwrap_or_else(|| panic!("no page {name}"));
        let whole = named("fsdyno");
        let commands = crate::guided::command();
        for command in commands.get_subcommands() {
            let page = named(&format!("fsdyno-{}", command.get_name()));
            assert!(whole.text.contains(&format!("fsdyno\\-{}(1)", command.get_name())), "{}", page.name);
            for option in command.get_arguments().filter_map(|argument| argument.get_long()) {
                assert!(page.text.contains(&option.replace('-', "\\-")), "{}: {option}", page.name);
            }
        }
        assert_eq!(pages.len(), commands.get_subcommands().count() + 2);
        let fio = named("fsdyno-fio");
        for option in sections().iter().flat_map(|section| &section.options) {
            let name = option.name.replace('-', "\\-");
            assert!(fio.text.contains(&format!("\\fB\\-\\-{name}\\fR")), "{name}");
            assert!(!option.help.is_empty(), "{name} has no help");
        }
        assert!(!fio.text.contains("write_zone_remainder") && !fio.text.contains("cudamalloc"));
    }
}
