//! Reads the configuration file.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use clap::Command;
use fsdyno_guide::Problem;
use fsdyno_job::lookup::nearest;
use fsdyno_os::files::{SMALL_FILE_BYTES_MAX, read_text};
use toml::{Spanned, Value};

use super::{KEYS, Kind, Setting, Source, checked};

/// The file's path; `None`: no home is known.
pub(super) fn path() -> Option<PathBuf> {
    Some(fsdyno_guide::configuration::directory()?.join("config.toml"))
}

/// The settings in the file; empty where there is none.
pub(super) fn read(path: &Path, command: &Command) -> Result<Vec<Setting>, Problem> {
    match read_text(path, SMALL_FILE_BYTES_MAX) {
        Ok(text) => parsed(path, &text, command),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(Problem::new(format!("cannot read the configuration {}: {error}", path.display()))),
    }
}

pub(super) fn parsed(path: &Path, text: &str, command: &Command) -> Result<Vec<Setting>, Problem> {
    let line = |at: usize| 1 + text[..at.min(text.len())].matches('\n').count();
    let fault = |at: usize, what: &str, next: Option<String>| {
        let problem = Problem::new(format!("{}:{}: {what}", path.display(), line(at)));
        if let Some(next) = next { problem.with_next(next) } else { problem }
    };
    let written: BTreeMap<Spanned<String>, Spanned<Value>> = toml::from_str(text)
        .map_err(|error| fault(error.span().map_or(0, |span| span.start), &error.message().replace('\n', " "), None))?;
    let mut settings = Vec::new();
    for (name, value) in written {
        let at = name.span().start;
        let names = || KEYS.iter().map(|key| key.name);
        let Some(key) = KEYS.iter().find(|key| key.name == name.get_ref()) else {
            let all = names().collect::<Vec<_>>().join(", ");
            let meant = nearest(name.get_ref(), names());
            let next = meant.map_or(String::new(), |meant| format!("did you mean `{meant}`? "));
            return Err(fault(
                at,
                &format!("there is no setting `{}`", name.get_ref()),
                Some(format!("{next}The settings are {all}")),
            ));
        };
        let values = words(value.into_inner(), key.kind).map_err(|form| {
            fault(at, &format!("{} must be {form}", key.name), Some(format!("for example: {}", example(key.name))))
        })?;
        let values = checked(key, values, command).map_err(|(what, next)| fault(at, &what, next))?;
        settings.push(Setting { key, values, source: Source::File(line(at)) });
    }
    Ok(settings)
}

/// The words of a value; the error says what it must be.
fn words(value: Value, kind: Kind) -> Result<Vec<String>, &'static str> {
    match (kind, value) {
        (Kind::Directory | Kind::Word, Value::String(word)) => Ok(vec![word]),
        (Kind::Words, Value::Array(values)) => {
            let word = |value: Value| if let Value::String(word) = value { Some(word) } else { None };
            values.into_iter().map(word).collect::<Option<_>>().ok_or("a list of words in quotes")
        }
        (Kind::Words, _) => Err("a list of words in quotes"),
        _ => Err("a word in quotes"),
    }
}

fn example(key: &str) -> &'static str {
    match key {
        "store" => "store = \"~/fsdyno-runs\"",
        "units" => "units = \"binary\"",
        "color" => "color = \"never\"",
        _ => "patterns = [\"read\", \"randread\"]",
    }
}
