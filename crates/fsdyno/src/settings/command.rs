//! `config`: shows the settings, and where each was made.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args};
use fsdyno_guide::store::Store;
use serde_json::json;

use super::{KEYS, Key, Settings, Source, file};
use crate::process::status::UNUSABLE;
use crate::process::streams::{columns, print, print_page};

/// Print the settings for all questions, and where each is set: default, file, environment or command line.
///
/// The file is $XDG_CONFIG_HOME/fsdyno/config.toml, or ~/.config/fsdyno/config.toml; docs/configuration.md has its
/// keys.
#[derive(Debug, Args)]
pub(crate) struct Config {
    /// One JSON document instead of text.
    #[arg(long)]
    json: bool,
    /// As an option of a question.
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
    /// As an option of a question.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    only: Vec<String>,
}

/// A key with the value that applies.
struct AppliedSetting {
    key: &'static Key,
    values: Vec<String>,
    source: String,
}

impl Config {
    pub(crate) fn run(self, settings: &Settings, matches: &ArgMatches) -> ExitCode {
        let matches = matches.subcommand_matches("config").unwrap_or(matches);
        let held: Vec<AppliedSetting> = KEYS.iter().map(|key| held(key, settings, matches)).collect();
        let path = file::path();
        let is_there = path.as_ref().is_some_and(|path| path.exists());
        let written = if self.json {
            let values = held.iter().map(|held| {
                let value = if held.values.len() == 1 { json!(held.values[0]) } else { json!(held.values) };
                (held.key.name.to_owned(), json!({"value": value, "source": held.source}))
            });
            let values: serde_json::Map<_, _> = values.collect();
            let file = path.map(|path| path.display().to_string());
            print(&fsdyno_present::document(
                file.clone(),
                json!({"file": file, "file_exists": is_there, "settings": values}),
            ))
        } else {
            let file = path.map_or("no home directory is known".to_owned(), |path| path.display().to_string());
            let mut page = fsdyno_present::Page::new(
                format!("{file}{}", if is_there { "" } else { " (not there)" }),
                12,
                columns(),
            );
            page.gap();
            for held in &held {
                page.line(held.key.name, &format!("{} ({})", held.values.join(", "), held.source));
            }
            print_page(&page.into_text())
        };
        if written { ExitCode::SUCCESS } else { ExitCode::from(UNUSABLE) }
    }
}

fn held(key: &'static Key, settings: &Settings, matches: &ArgMatches) -> AppliedSetting {
    if matches.value_source(key.option) == Some(ValueSource::CommandLine) {
        let words = matches.get_raw(key.option).into_iter().flatten();
        let values = words.map(|word| word.to_string_lossy().into_owned()).collect();
        return AppliedSetting { key, values, source: "command line".to_owned() };
    }
    match settings.get(key) {
        Some(setting) => {
            let source = match &setting.source {
                Source::File(line) => format!("file, line {line}"),
                Source::Environment(variable) => format!("environment, {variable}"),
            };
            AppliedSetting { key, values: setting.values.clone(), source }
        }
        None => AppliedSetting { key, values: vec![default(key)], source: "default".to_owned() },
    }
}

/// The value that applies where nothing is set.
fn default(key: &Key) -> String {
    match key.name {
        "store" => Store::at(None).map_or("none".to_owned(), |store| store.directory().display().to_string()),
        "units" => "decimal".to_owned(),
        "color" => "auto".to_owned(),
        _ => "all".to_owned(),
    }
}
