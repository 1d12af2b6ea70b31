//! Words clap's errors like all other problems: what is wrong, which word was probably meant, and how to see all words.

use std::error::Error as _;
use std::ffi::OsString;

use clap::Command;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use fsdyno_guide::Problem;
use fsdyno_job::lookup::{distance, nearest};

/// The problem of a clap error. `command`: all questions; `words`: the command line.
pub(super) fn problem(error: &Error, command: &Command, words: &[OsString]) -> Problem {
    let asked = words.first().and_then(|word| command.find_subcommand(word));
    let name = asked.map_or("fsdyno", Command::get_name);
    let all = match asked {
        None => "`fsdyno help` shows all commands".to_owned(),
        // The topics of help are the commands.
        Some(_) if name == "help" => "`fsdyno help` shows all".to_owned(),
        Some(_) => format!("`fsdyno help {name}` shows all"),
    };
    let wrong = first(error, ContextKind::InvalidArg).unwrap_or_default();
    let value = first(error, ContextKind::InvalidValue).unwrap_or_default();
    // `--size <SIZE>` is named by its option, a positional word by its placeholder.
    let option = match wrong.split_once(' ').map_or(wrong, |(option, _)| option) {
        option if option.starts_with('-') => format!("value of {option}"),
        position => position.trim_matches(['<', '>', '[', ']', '.']).to_lowercase(),
    };
    match error.kind() {
        ErrorKind::UnknownArgument if wrong.starts_with('-') => {
            let options = asked.into_iter().flat_map(Command::get_arguments).filter_map(clap::Arg::get_long);
            let meant = near(wrong.trim_start_matches('-'), options.chain(["help"]));
            Problem::new(format!("{name} has no option `{wrong}`"))
                .with_meant(meant.map(|option| format!("--{option}")), &all)
        }
        ErrorKind::UnknownArgument => Problem::new(format!("`{wrong}` is a word too many for {name}")).with_next(all),
        ErrorKind::InvalidSubcommand => {
            let word = first(error, ContextKind::InvalidSubcommand).unwrap_or_default();
            let parts = asked.into_iter().flat_map(Command::get_subcommands).map(Command::get_name);
            Problem::new(format!("`{word}` is no part of {name}")).with_meant(near(word, parts), &all)
        }
        ErrorKind::InvalidValue if value.is_empty() => Problem::new(format!("{wrong} needs a value")).with_next(all),
        ErrorKind::InvalidValue => {
            let known = each(error, ContextKind::ValidValue);
            let problem = Problem::new(format!("`{value}` is no {option}"));
            match near(value, known.iter().copied()) {
                None => problem.with_next(format!("use one of {}", known.join(", "))),
                meant => problem.with_meant(meant, &all),
            }
        }
        ErrorKind::ValueValidation => {
            let reason = error.source().map(ToString::to_string).unwrap_or_default();
            // Fio's language has its advice in a line of its own.
            let (reason, meant) = reason.split_once('\n').unwrap_or((&reason, ""));
            let reason = match reason.split_once(" is not in ") {
                Some((_, range)) => format!(": the range is {range}"),
                None if reason.starts_with("invalid digit") => ": it is not a whole number".to_owned(),
                None if reason.starts_with("fio: failed parsing") => String::new(),
                None => format!(": {reason}"),
            };
            Problem::new(format!("`{value}` is no {option}{reason}")).with_next(format!("{meant} {all}").trim_start())
        }
        ErrorKind::MissingRequiredArgument => {
            Problem::new(format!("{name} needs {}", each(error, ContextKind::InvalidArg).join(" and "))).with_next(all)
        }
        ErrorKind::ArgumentConflict => {
            let others = each(error, ContextKind::PriorArg).join(" and ");
            Problem::new(format!("{wrong} and {others} exclude each other")).with_next(all)
        }
        _ => {
            let text = error.to_string();
            let what: Vec<&str> = text.lines().take_while(|line| !line.is_empty()).map(str::trim).collect();
            Problem::new(what.join(" ").trim_start_matches("error: ")).with_next(all)
        }
    }
}

/// The nearest known word, if it is near enough.
fn near<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest(word, known).filter(|meant| distance(word, meant) < 4)
}

fn first(error: &Error, kind: ContextKind) -> Option<&str> {
    each(error, kind).first().copied()
}

fn each(error: &Error, kind: ContextKind) -> Vec<&str> {
    match error.get(kind) {
        Some(ContextValue::String(word)) => vec![word],
        Some(ContextValue::Strings(words)) => words.iter().map(String::as_str).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::command;
    use super::*;

    fn problem_of(line: &str) -> String {
        let words: Vec<OsString> = line.split(' ').map(Into::into).collect();
        let all = std::iter::once("fsdyno".into()).chain(words.clone());
        let error = command().try_get_matches_from(all).unwrap_err();
        let problem = problem(&error, &command(), &words);
        format!("{}\n{}", problem.what, problem.next.unwrap())
    }

    #[test]
    fn complaints_have_the_form_of_all_others() {
        for (line, expected) in [
            (
                "measure --ful .",
                "measure has no option `--ful`\ndid you mean `--full`? `fsdyno help measure` shows all",
            ),
            ("clean --zzzzzzzz", "clean has no option `--zzzzzzzz`\n`fsdyno help clean` shows all"),
            ("measure . extra", "`extra` is a word too many for measure\n`fsdyno help measure` shows all"),
            ("measure --full --quick .", "--full and --quick exclude each other\n`fsdyno help measure` shows all"),
            (
                "measure --only=rand-rea .",
                "`rand-rea` is no value of --only\ndid you mean `rand-read`? `fsdyno help measure` shows all",
            ),
            (
                "measure --engine=io_urng .",
                "`io_urng` is no value of --engine\ndid you mean `io_uring`? `fsdyno help measure` shows all",
            ),
            (
                "sweep --rw=randraed .",
                "`randraed` is no value of --rw\ndid you mean `randread`? `fsdyno help sweep` shows all",
            ),
            ("measure --color=no .", "`no` is no value of --color\nuse one of auto, always, never"),
            (
                "measure --runs=x .",
                "`x` is no value of --runs: it is not a whole number\n`fsdyno help measure` shows all",
            ),
            (
                "measure --runs=500 .",
                "`500` is no value of --runs: the range is 1..=100\n`fsdyno help measure` shows all",
            ),
            ("report --as htm", "`htm` is no value of --as\ndid you mean `html`? `fsdyno help report` shows all"),
            ("schema studdy", "`studdy` is no document\ndid you mean `study`? `fsdyno help schema` shows all"),
            ("help mesure", "`mesure` is no topic\ndid you mean `measure`? `fsdyno help` shows all"),
            ("baseline st", "`st` is no part of baseline\ndid you mean `set`? `fsdyno help baseline` shows all"),
            ("attribute a", "attribute needs <CLIENT>\n`fsdyno help attribute` shows all"),
            ("runs --keep=-1", "`-1` is no value of --keep: it is not a whole number\n`fsdyno help runs` shows all"),
            ("runs --keep -1", "`-1` is no value of --keep: it is not a whole number\n`fsdyno help runs` shows all"),
            ("show --bogus", "show has no option `--bogus`\n`fsdyno help show` shows all"),
            ("runs --store", "--store <DIR> needs a value\n`fsdyno help runs` shows all"),
        ] {
            assert_eq!(problem_of(line), expected);
        }
    }
}
