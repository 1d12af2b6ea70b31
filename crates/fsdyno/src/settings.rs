//! Settings for all questions, from the configuration file or the environment. Each setting is the default of an
//! option; the command line overrides it. The fio face reads none of them.

mod command;
mod file;

use std::path::Path;

use clap::{Args, Command, ValueEnum};
use fsdyno_guide::Problem;
use fsdyno_job::lookup::nearest;
use fsdyno_text::quantity;

use crate::process::colour::{self, ColourChoice};

pub(crate) use command::Config;

/// Options of every question that say how it prints.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "Display")]
pub(crate) struct Display {
    /// Units of rates: decimal (MB/s) or binary (MiB/s) [default: decimal].
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "UNITS",
        hide_possible_values = true,
        hide_default_value = true
    )]
    units: Option<Units>,
    /// Verdicts in colour: auto (on a terminal), always or never [default: auto].
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "WHEN",
        hide_possible_values = true,
        hide_default_value = true
    )]
    color: Option<ColourChoice>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Units {
    /// MB/s.
    Decimal,
    /// MiB/s.
    Binary,
}

impl Display {
    /// Makes the program print in this way from now on.
    pub(crate) fn apply(self) {
        match self.units {
            Some(Units::Binary) => quantity::Units::Binary.show(),
            Some(Units::Decimal) | None => quantity::Units::Decimal.show(),
        }
        self.color.into_iter().for_each(colour::choose);
    }
}

/// A setting that can be made.
#[derive(Debug)]
struct Key {
    name: &'static str,
    /// The option whose default it is.
    option: &'static str,
    /// The variable that sets it; colours have variables that are not ours.
    variable: Option<&'static str>,
    kind: Kind,
}

/// The kind of its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A directory: absolute, or relative to the home directory (`~`).
    Directory,
    /// One of the words of its option.
    Word,
    /// Several words of its option, which differ from command to command.
    Words,
}

const KEYS: [Key; 4] = [
    Key { name: "store", option: "store", variable: Some("FSDYNO_STORE"), kind: Kind::Directory },
    Key { name: "units", option: "units", variable: Some("FSDYNO_UNITS"), kind: Kind::Word },
    Key { name: "color", option: "color", variable: None, kind: Kind::Word },
    Key { name: "patterns", option: "only", variable: Some("FSDYNO_PATTERNS"), kind: Kind::Words },
];

/// The source of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Source {
    /// A line of the configuration file.
    File(usize),
    /// An environment variable.
    Environment(&'static str),
}

/// A key that has a value.
#[derive(Clone, Debug)]
struct Setting {
    key: &'static Key,
    values: Vec<String>,
    source: Source,
}

/// All settings.
#[derive(Debug, Default)]
pub(crate) struct Settings(Vec<Setting>);

impl Settings {
    /// Reads the configuration file, overridden by the environment.
    ///
    /// # Errors
    /// With line, key and nearest valid word, when a value cannot be used.
    pub(crate) fn load(command: &Command) -> Result<Settings, Problem> {
        let mut settings = match file::path() {
            Some(path) => file::read(&path, command)?,
            None => Vec::new(),
        };
        for setting in of_environment(command)? {
            settings.retain(|other: &Setting| other.key.name != setting.key.name);
            settings.push(setting);
        }
        Ok(Settings(settings))
    }

    /// The command with the settings as its options' defaults.
    pub(crate) fn applied_to(&self, command: Command) -> Command {
        self.0.iter().fold(command, |command, setting| {
            let command = with_default(command, setting);
            command.mut_subcommands(|subcommand| with_default(subcommand, setting))
        })
    }

    fn get(&self, key: &Key) -> Option<&Setting> {
        self.0.iter().find(|setting| setting.key.name == key.name)
    }
}

fn with_default(command: Command, setting: &Setting) -> Command {
    let Some(option) = command.get_arguments().find(|option| option.get_id() == setting.key.option) else {
        return command;
    };
    let shown = option.get_possible_values().into_iter().filter(|word| !word.is_hide_set());
    let known: Vec<String> = shown.map(|word| word.get_name().to_owned()).collect();
    let fits = |value: &&String| setting.key.kind == Kind::Directory || known.contains(value);
    // clap needs defaults that live as long as the program, as settings do.
    let values: Vec<&'static str> = setting.values.iter().filter(fits).map(|value| &*value.clone().leak()).collect();
    if values.is_empty() {
        return command;
    }
    command.mut_arg(setting.key.option, |option| option.default_values(values))
}

fn of_environment(command: &Command) -> Result<Vec<Setting>, Problem> {
    let mut found = Vec::new();
    for key in &KEYS {
        let Some(variable) = key.variable else { continue };
        let Some(text) = std::env::var_os(variable).filter(|text| !text.is_empty()) else { continue };
        let text = text.into_string().map_err(|_| Problem::new(format!("{variable} is not valid UTF-8")))?;
        let values = match key.kind {
            Kind::Words => text.split(',').map(str::trim).map(str::to_owned).collect(),
            _ => vec![text],
        };
        let values = checked(key, values, command).map_err(|(what, next)| {
            let problem = Problem::new(format!("{variable}: {what}"));
            if let Some(next) = next { problem.with_next(next) } else { problem }
        })?;
        found.push(Setting { key, values, source: Source::Environment(variable) });
    }
    if let Some((when, variable)) = colour::of_environment() {
        let word = when.to_possible_value().map(|word| word.get_name().to_owned());
        let key = KEYS.iter().find(|key| key.name == "color").expect("it is one of them");
        found.push(Setting { key, values: word.into_iter().collect(), source: Source::Environment(variable) });
    }
    Ok(found)
}

/// What is wrong with a value, and what would be right.
type Fault = (String, Option<String>);

/// The values in the form that the option takes.
fn checked(key: &Key, values: Vec<String>, command: &Command) -> Result<Vec<String>, Fault> {
    if key.kind == Kind::Directory {
        return values.into_iter().map(|value| directory(key, &value)).collect();
    }
    let words = words(key, command);
    for value in &values {
        if !words.contains(value) {
            let meant = nearest(value, words.iter().map(String::as_str));
            let next = meant.map_or(format!("use one of {}", words.join(", ")), |word| {
                format!("did you mean `{word}`? The words are {}", words.join(", "))
            });
            return Err((format!("`{value}` is no value of {}", key.name), Some(next)));
        }
    }
    Ok(values)
}

/// The words that the key's option has in any command.
fn words(key: &Key, command: &Command) -> Vec<String> {
    let options = command.get_subcommands().chain([command]).flat_map(Command::get_arguments);
    let options = options.filter(|option| option.get_id() == key.option);
    let mut words: Vec<String> = Vec::new();
    for word in options.flat_map(|option| option.get_possible_values()).filter(|word| !word.is_hide_set()) {
        if !words.iter().any(|known| known == word.get_name()) {
            words.push(word.get_name().to_owned());
        }
    }
    words
}

/// The directory with its `~` expanded. A relative path is refused: it would mean another directory in each place.
fn directory(key: &Key, value: &str) -> Result<String, Fault> {
    let home = || std::env::var("HOME").ok().filter(|home| !home.is_empty());
    match (value.strip_prefix("~/"), home()) {
        _ if Path::new(value).is_absolute() => Ok(value.to_owned()),
        (Some(below), Some(home)) => Ok(format!("{home}/{below}")),
        _ => Err((format!("{} = `{value}` is not a whole path", key.name), Some("begin it with / or ~/".to_owned()))),
    }
}
