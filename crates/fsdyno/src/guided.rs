//! The subcommands of the guided face: questions instead of option lists.

mod answer;
mod answer_file;
mod attribute;
mod check;
mod compare;
mod curve;
mod diff;
mod live;
mod measure;
mod misused;
mod progress;
mod scale;
mod smallfiles;
mod step_summary;
#[cfg(all(feature = "object", target_os = "linux"))]
mod store_options;
mod stored;
mod stream;
mod study_saver;
mod sweep;
mod time;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use fsdyno_guide::Problem;
use fsdyno_job::lookup::{distance, nearest};

use crate::explain::wrapped;
use crate::installed::FIO;
use crate::process::VERSION;
use crate::process::status::{TABLES, UNUSABLE};
use crate::process::streams::{answer_in_json, columns, print_stderr, refused, report_problem, shown};
use crate::settings::{Config, Display, Settings};

/// How fast a filesystem is, whether that is good enough, and whether the numbers can be trusted.
#[derive(Debug, Parser)]
#[command(name = "fsdyno", version = VERSION, disable_help_subcommand = true)]
struct Guided {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    display: Display,
}

#[derive(Debug, Subcommand)]
enum Command {
    Measure(measure::Measure),
    Check(check::Check),
    Compare(compare::Compare),
    Time(time::Time),
    Sweep(sweep::Sweep),
    Curve(curve::Curve),
    Scale(scale::Scale),
    Diff(diff::Diff),
    Attribute(attribute::Attribute),
    History(diff::History),
    Baseline(diff::Baseline),
    #[command(name = "smallfiles")]
    SmallFiles(smallfiles::SmallFiles),
    Runs(stored::Runs),
    Show(stored::Show),
    Clean(stored::Clean),
    Explain(crate::explain::Explain),
    Report(crate::report_command::Report),
    /// What this machine allows: fsdyno's own CPU cost, clock, engines, limits.
    Doctor {
        /// One JSON document instead of text.
        #[arg(long)]
        json: bool,
    },
    Inspect(crate::inspect::Inspect),
    Config(Config),
    Schema(crate::schema::Schema),
    Help(Help),
    Completions(crate::installed::Completions),
    Man(crate::installed::Manual),
}

/// The help of a command; `fsdyno help exit-status`: what each exit status means.
#[derive(Debug, Args)]
struct Help {
    /// A command, fio, or exit-status [default: the list of commands].
    #[arg(value_parser = PossibleValuesParser::new(topics()), hide_possible_values = true)]
    topic: Option<String>,
    /// A part of the command, such as `set` of `baseline`.
    part: Option<String>,
}

/// The help topic on exit statuses.
const EXIT_STATUS: &str = "exit-status";

fn topics() -> impl Iterator<Item = &'static str> {
    names().chain([FIO, EXIT_STATUS])
}

/// The commands in groups with a heading, for the list of commands. Each command is in one group.
const GROUPS: [(&str, &[&str]); 5] = [
    (
        "Measure a storage, by a directory on it (begin with `fsdyno inspect .`)",
        &["inspect", "measure", "smallfiles", "check"],
    ),
    ("Compare storages and loads", &["compare", "time", "sweep", "curve", "scale", "attribute"]),
    ("Show saved runs", &["runs", "show", "report", "diff", "history", "baseline", "schema"]),
    ("Explain, clean up, set up", &["explain", "doctor", "clean", "config", "help"]),
    ("Install beside the program", &["completions", "man"]),
];

/// Longest line, columns.
const COLUMNS_MAX: usize = 100;

/// The names of all commands.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    GROUPS.iter().flat_map(|(_, names)| names.iter().copied())
}

/// All questions as a clap command, from which completions and man pages are made.
pub(crate) fn command() -> clap::Command {
    Guided::command()
}

/// The same with help at the terminal's width.
fn tree() -> clap::Command {
    let columns = columns().min(COLUMNS_MAX);
    let command = Guided::command().term_width(columns);
    let overview = overview(&command, columns);
    command.override_help(overview)
}

/// Columns of a command's name before its summary.
const NAME_COLUMNS: usize = 14;

/// All commands on one page.
fn overview(command: &clap::Command, columns: usize) -> String {
    let about = |command: &clap::Command| command.get_about().map(ToString::to_string).unwrap_or_default();
    let mut page = wrapped(&format!("{}.", about(command)), columns).join("\n");
    page.push_str(
        "\n\nUsage: fsdyno COMMAND ...     help: `fsdyno help COMMAND`\n       fsdyno \
         OPTIONS | FILE  as fio: `fsdyno fio --help`\n       fsdyno --hosts A,B ... nodes: `fsdyno help \
         scale`\n",
    );
    for (heading, names) in GROUPS {
        page.push_str(&format!("\n{}\n", wrapped(heading, columns).join("\n")));
        for name in names {
            let about = command.find_subcommand(name).map(about).unwrap_or_default();
            let summary = about.split(". ").next().unwrap_or_default();
            for (index, line) in wrapped(summary, columns - NAME_COLUMNS).iter().enumerate() {
                let name = if index == 0 { *name } else { "" };
                page.push_str(&format!("  {name:<width$}{line}\n", width = NAME_COLUMNS - 2));
            }
        }
    }
    page
}

/// Whether the word is the name of a question. A job file with such a name needs `./` before it.
pub(crate) fn knows(word: &str) -> bool {
    names().any(|name| name == word)
}

/// Whether the word can only be a mistyped command: a plain name without a file of that name. If fio options follow a
/// word that resembles no command, it is a missing job file instead.
pub(crate) fn is_mistyped(word: &str, others: &[OsString]) -> bool {
    let is_plain = word.len() > 2 && word.bytes().all(|letter| letter.is_ascii_alphanumeric() || letter == b'-');
    let is_option = |word: &OsString| word.to_string_lossy().starts_with('-');
    let may_be = is_plain && !word.starts_with('-') && !Path::new(word).exists();
    may_be && (resembled(word).is_some() || !others.iter().any(is_option))
}

/// The command that differs from the word in at most two letters.
fn resembled(word: &str) -> Option<&'static str> {
    nearest(word, names()).filter(|name| distance(word, name) < 3)
}

/// Reports which command was probably meant, with the words after it.
pub(crate) fn mistyped(word: &str, others: &[OsString]) -> ExitCode {
    let others = || others.iter().map(|word| word.to_string_lossy().into_owned());
    let typed = |name: &str| ["fsdyno", name].map(str::to_owned).into_iter().chain(others()).collect::<Vec<_>>();
    let meant = resembled(word).map(|name| fsdyno_text::shell::as_typed(&typed(name)));
    report_problem(
        &Problem::new(format!("`{word}` is not a command, and no job file of that name is here"))
            .with_meant(meant, "`fsdyno help` shows all commands"),
    );
    ExitCode::from(UNUSABLE)
}

/// Reports what can be done with a directory that was given in place of a job file.
pub(crate) fn is_directory(word: &str) -> ExitCode {
    report_problem(
        &Problem::new(format!("{word} is a directory, and neither a command nor a job file"))
            .with_next(fsdyno_text::shell::as_typed(&["fsdyno", "measure", word].map(str::to_owned))),
    );
    ExitCode::from(UNUSABLE)
}

/// Prints the version with the program's own name; the fio form of the line is for tools that call fio.
pub(crate) fn version() -> ExitCode {
    shown(concat!("fsdyno ", env!("CARGO_PKG_VERSION"), " (runs command lines and job files of fio 3.42)\n"))
}

/// Prints an introduction, when the program is called without arguments.
pub(crate) fn welcome() -> ExitCode {
    print_stderr(WELCOME.trim_end());
    ExitCode::from(UNUSABLE)
}

/// The introduction; its lines fit narrow terminals.
const WELCOME: &str = "\
fsdyno measures how fast a filesystem is, and says whether
to trust the figures.

  fsdyno measure .                    how fast is it?
  fsdyno check etcd .                 fast enough for etcd?
  fsdyno compare local=/x nfs=/y      which one is faster?
  fsdyno --name=x --rw=read --size=1g a fio command line

All commands: fsdyno help
";

/// Prints the page of all commands.
pub(crate) fn help() -> ExitCode {
    shown(&tree().render_help().to_string())
}

impl Help {
    fn run(self) -> ExitCode {
        match self.topic {
            None => help(),
            Some(topic) if topic == FIO => crate::fio::run(&["--help".into()]),
            Some(topic) if topic == EXIT_STATUS => shown(&exit_statuses(columns().min(COLUMNS_MAX))),
            Some(topic) => {
                let words = [Some(topic), self.part, Some("--help".to_owned())];
                run(&words.into_iter().flatten().map(OsString::from).collect::<Vec<_>>())
            }
        }
    }
}

/// The meaning of each exit status, by face.
fn exit_statuses(columns: usize) -> String {
    let mut page = fsdyno_present::Page::new("Exit statuses", 10, columns);
    for (heading, meanings) in TABLES {
        page.heading(heading);
        meanings.iter().for_each(|meaning| page.line(&meaning.number(), meaning.text));
    }
    page.into_text()
}

/// Answers the question of a command line.
pub(crate) fn run(words: &[OsString]) -> ExitCode {
    if own(words).any(|word| word == "--json") {
        answer_in_json();
    }
    let settings = match settings_for(words) {
        Ok(settings) => settings,
        Err(problem) => return ExitCode::from(refused(&problem)),
    };
    let all_words = std::iter::once(OsString::from("fsdyno")).chain(words.iter().cloned());
    let matches = settings.applied_to(tree()).try_get_matches_from(all_words);
    let parsed = matches.and_then(|matches| Ok((Guided::from_arg_matches(&matches)?, matches)));
    let command = || words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    if let Ok((guided, _)) = &parsed {
        guided.display.apply();
    }
    match parsed {
        Ok((guided, matches)) => answered(guided.command, command, &settings, &matches),
        Err(error) => {
            // clap's texts for --help and --version go to stdout, its errors to stderr.
            if error.use_stderr() {
                ExitCode::from(refused(&misused::problem(&error, &Guided::command(), words)))
            } else {
                shown(&error.to_string())
            }
        }
    }
}

/// The program's own words: those after `--` belong to another command.
fn own(words: &[OsString]) -> impl Iterator<Item = &OsString> {
    words.iter().take_while(|word| *word != "--")
}

/// The settings for all questions. Help works whatever the configuration contains.
fn settings_for(words: &[OsString]) -> Result<Settings, Problem> {
    let asks_for_help = own(words).any(|word| word == "--help" || word == "-h");
    let needs_none = words.first().is_some_and(|word| word == "help" || word == "completions" || word == "man");
    if asks_for_help || needs_none { Ok(Settings::default()) } else { Settings::load(&Guided::command()) }
}

fn answered(
    asked: Command,
    command: impl FnOnce() -> Vec<String>,
    settings: &Settings,
    matches: &ArgMatches,
) -> ExitCode {
    match asked {
        Command::Measure(measure) => measure.run(command()),
        Command::SmallFiles(smallfiles) => smallfiles.run(command()),
        Command::Check(check) => check.run(command()),
        Command::Compare(compare) => compare.run(command()),
        Command::Time(time) => time.run(command()),
        Command::Sweep(sweep) => sweep.run(command()),
        Command::Curve(curve) => curve.run(command()),
        Command::Scale(scale) => scale.run(command()),
        Command::Diff(diff) => diff.run(),
        Command::Attribute(attribute) => attribute.run(command()),
        Command::History(history) => history.run(),
        Command::Baseline(baseline) => baseline.run(),
        Command::Runs(runs) => runs.run(),
        Command::Show(show) => show.run(),
        Command::Clean(clean) => clean.run(),
        Command::Explain(explain) => explain.run(),
        Command::Report(report) => report.run(),
        Command::Doctor { json } => crate::doctor::answer(json),
        Command::Inspect(inspect) => inspect.run(),
        Command::Config(config) => config.run(settings, matches),
        Command::Schema(schema) => schema.run(),
        Command::Help(help) => help.run(),
        Command::Completions(completions) => completions.run(),
        Command::Man(manual) => manual.run(),
    }
}

#[cfg(test)]
mod steps_tests;
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_stands_once_on_the_page() {
        let mut listed: Vec<&str> = names().collect();
        listed.sort_unstable();
        let command = Guided::command();
        let mut known: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
        known.sort_unstable();
        assert_eq!(listed, known);
    }

    #[test]
    fn each_command_that_answers_has_json() {
        // Commands that print pages or scripts, print JSON anyway, or have --as.
        let others = ["completions", "help", "man", "report", "schema"];
        let mut command = Guided::command();
        command.build();
        let has_json =
            |command: &clap::Command| command.get_arguments().any(|option| option.get_long() == Some("json"));
        let without = command.get_subcommands().filter(|command| !has_json(command)).map(clap::Command::get_name);
        let mut without: Vec<&str> = without.collect();
        without.sort_unstable();
        assert_eq!(without, others);
    }

    #[test]
    fn the_page_of_all_commands() {
        insta::assert_snapshot!(overview(&Guided::command(), 80));
    }

    #[test]
    fn the_help_of_each_command() {
        let mut command = Guided::command().term_width(80);
        command.build();
        for command in command.get_subcommands_mut() {
            let page = command.render_long_help().to_string();
            assert!(page.lines().all(|line| line.chars().count() <= 80), "{page}");
            insta::assert_snapshot!(format!("help_of_{}", command.get_name()), page);
        }
    }

    #[test]
    fn advice_names_only_options_that_the_command_has() {
        use fsdyno_results::Question;
        let command = Guided::command();
        let asked = Question::ALL.into_iter().filter(|question| *question != Question::Fio);
        for question in asked {
            let command = command.find_subcommand(question.word()).expect("a command");
            let has = |name: &str| command.get_arguments().any(|argument| argument.get_long() == Some(name));
            let advice =
                fsdyno_findings::catalogue().map(|found| fsdyno_guide::advice::for_question(found.id, question));
            let named = advice.chain(question.options().iter().map(|option| (*option).to_owned()));
            for text in named {
                let words = text.split(|letter: char| letter.is_whitespace() || "(),".contains(letter));
                for option in words.filter_map(|word| word.strip_prefix("--")) {
                    let name = option.split('=').next().unwrap_or_default();
                    assert!(has(name), "{}: {text}", question.word());
                }
            }
        }
    }

    #[test]
    fn a_mistyped_command_is_recognised() {
        let options = ["--size=1m".into()];
        for word in ["mesure", "smalfiles", "inspekt"] {
            assert!(is_mistyped(word, &options), "{word}");
        }
        assert!(is_mistyped("nonsense", &[]) && !is_mistyped("nonsense", &options));
        for word in ["jobs.fio", "x", "--measure", "/tmp", "src"] {
            assert!(!is_mistyped(word, &[]), "{word}");
        }
    }

    #[test]
    fn the_next_steps_are_commands_that_exist() {
        let mut study = fsdyno_results::Study::of_run(fsdyno_results::RunRecord::new("fsdyno", 0));
        study.targets[0].path = "/data".into();
        use fsdyno_results::Question::{Compare, Measure, Sweep};
        for (question, words) in [(Measure, "measure /data"), (Compare, "compare /data /other"), (Sweep, "sweep /data")]
        {
            study.question = question;
            study.command = words.split(' ').map(str::to_owned).collect();
            let (fsdyno_present::tables::JudgementCommand::MoreRounds(again)
            | fsdyno_present::tables::JudgementCommand::KeptRuns(again)) =
                fsdyno_present::tables::JudgementCommand::of(&study);
            Guided::try_parse_from(again.split_whitespace()).unwrap_or_else(|error| panic!("{again}: {error}"));
        }
    }

    /// Commands are alone on a line, on the screen and among all figures, and the program accepts them as they are.
    #[test]
    fn each_next_step_on_the_screen_can_be_copied() {
        use fsdyno_results::{Finding, Question, RunRecord, Severity, Study};
        let asked = [
            (Question::Measure, "measure /data --only=rand-read"),
            (Question::Measure, "measure --full /data"),
            (Question::Measure, "measure --like=cdm /data"),
            (Question::SmallFiles, "smallfiles /data"),
            (Question::Check, "check etcd --quick /data"),
            (Question::Compare, "compare a=/data b=/other --literal"),
            (Question::Compare, "compare a=/data b=/other --iodepth 4"),
            (Question::Sweep, "sweep /data"),
            (Question::Curve, "curve /data"),
            (Question::Scale, "scale /data"),
        ];
        // Many findings have the same next step: each command is parsed once.
        let mut accepted = std::collections::BTreeSet::new();
        for (question, words) in asked {
            let mut seen = 0;
            for explanation in fsdyno_findings::catalogue() {
                let mut study = Study::of_run(RunRecord::new("fsdyno", 0));
                (study.question, study.id) = (question, "20261122-043100-measure-1a2b".into());
                study.command = words.split(' ').map(str::to_owned).collect();
                study.targets[0].path = "/data".into();
                let next = fsdyno_guide::advice::for_question(explanation.id, question);
                let (id, severity, cause) = (explanation.id.to_owned(), Severity::Caution, "a cause".to_owned());
                study.rows[0].findings =
                    vec![Finding { id, severity, node: None, job: None, numbers: Vec::new(), cause, next }];
                for page in [fsdyno_present::tables::screen(&study, 60), fsdyno_present::tables::text(&study, 60)] {
                    for command in page.lines().filter_map(|line| line.trim_start().strip_prefix("fsdyno ")) {
                        if accepted.insert(command.to_owned()) {
                            let typed = std::iter::once("fsdyno").chain(command.split(' '));
                            Guided::try_parse_from(typed).unwrap_or_else(|error| panic!("{command}: {error}"));
                        }
                        seen += 1;
                    }
                    let is_step = |line: &str| line.trim_start().starts_with("fsdyno ") || !line.contains("fsdyno ");
                    assert!(page.lines().all(is_step), "{page}");
                }
            }
            assert!(seen > 100, "{words}: {seen}");
        }
    }

    #[test]
    fn what_a_newcomer_and_a_script_see_fits_the_terminal() {
        let fits = |page: &str, columns| page.lines().all(|line| line.chars().count() <= columns);
        assert!(fits(WELCOME, 80) && fits(&exit_statuses(80), 80) && fits(&exit_statuses(60), 60));
    }
}
