//! Lists the options that may be written, for the man page and the shell completions.

use crate::option::{Arity, Choice, Kind, Offer, OptionRow, Status};
use crate::table::{CATEGORIES, PROGRAM, SHORT_OPTIONS};

/// Options of one subject.
#[derive(Debug)]
pub struct Section {
    /// Its heading, as in COMPAT.md.
    pub title: &'static str,
    /// In the order of the table.
    pub options: Vec<Offered>,
}

/// What the table says about one option.
#[derive(Debug)]
pub struct Offered {
    /// The canonical name.
    pub name: &'static str,
    /// Other names.
    pub aliases: &'static [&'static str],
    /// The letter that may be written after one dash.
    pub short: Option<char>,
    /// Whether it takes a value on the command line.
    pub arity: Arity,
    /// What it does, in one line.
    pub help: &'static str,
    /// Whether its value is free text, of which the kind says nothing.
    pub is_text: bool,
    /// What kind of value, as `--cmdhelp` calls it.
    pub kind: &'static str,
    /// The smallest and the largest value, as `--cmdhelp` writes them.
    pub range: Option<String>,
    /// The value that holds when the option is not written.
    pub default: Option<&'static str>,
    /// Engines that have this option; empty: it belongs to every job, or to the program.
    pub engines: &'static [&'static str],
    /// The honoured words of the option, with their meaning.
    pub choices: Vec<&'static Choice>,
    /// The texts that the table knows as values of the option.
    pub words: Vec<&'static str>,
    /// Whether the value names files or directories.
    pub offer: Offer,
    /// How far it is honoured.
    pub status: Status,
}

/// All options that are not refused: first those of the program, then those of jobs, by category.
pub fn sections() -> Vec<Section> {
    let program = Section { title: "Options of the program", options: permitted(PROGRAM) };
    let jobs = CATEGORIES.iter().map(|category| {
        let mut options = permitted(category.rows);
        // In job files these options may stand without a value; on the command line they may not.
        let text = category.rows.iter().filter(|row| matches!(row.kind, Kind::OptionalText(_)));
        for row in text {
            let named = options.iter_mut().filter(|option| option.name == row.name);
            named.for_each(|option| option.arity = Arity::Required);
        }
        Section { title: category.title, options }
    });
    let mut sections: Vec<Section> = std::iter::once(program).chain(jobs).collect();
    sections.retain(|section| !section.options.is_empty());
    for option in &mut sections[0].options {
        option.short = SHORT_OPTIONS.iter().find(|(_, name)| *name == option.name).map(|(letter, _)| *letter);
    }
    sections
}

fn permitted<T>(rows: &'static [OptionRow<T>]) -> Vec<Offered> {
    rows.iter().filter(|row| !row.status.refuses()).map(offered).collect()
}

fn offered<T>(row: &'static OptionRow<T>) -> Offered {
    let honoured = |choice: &&Choice| !choice.hidden && !choice.status.refuses();
    let choices: Vec<&'static Choice> = row.kind.choices().iter().filter(honoured).collect();
    let words = match (row.offer, &row.kind) {
        (Offer::Words(words), _) => words.to_vec(),
        (_, Kind::Flag(_) | Kind::Bool(_)) => vec!["0", "1"],
        _ => choices.iter().map(|choice| choice.word).collect(),
    };
    Offered {
        name: row.name,
        aliases: row.aliases,
        short: None,
        arity: row.kind.arity(),
        help: row.help,
        is_text: matches!(row.kind, Kind::Text(_) | Kind::OptionalText(_)),
        kind: row.kind.description(),
        range: row.kind.range(),
        default: row.default,
        engines: row.engines,
        choices,
        words,
        offer: row.offer,
        status: row.status,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table;

    #[test]
    fn what_is_refused_is_not_offered_and_everything_else_is() {
        let offered: Vec<&str> =
            sections().iter().flat_map(|section| &section.options).map(|option| option.name).collect();
        let rows = table::job_rows().map(|row| (row.name, row.status));
        let rows: Vec<(&str, Status)> = rows.chain(PROGRAM.iter().map(|row| (row.name, row.status))).collect();
        let permitted: Vec<&str> = rows.iter().filter(|(_, status)| !status.refuses()).map(|(name, _)| *name).collect();
        let sorted = |mut names: Vec<&'static str>| {
            names.sort_unstable();
            names
        };
        assert_eq!(sorted(offered), sorted(permitted));
        assert!(rows.len() > 300 && rows.iter().any(|(_, status)| status.refuses()));
    }

    #[test]
    fn words_are_those_that_run() {
        let sections = sections();
        let all = || sections.iter().flat_map(|section| &section.options);
        let words = |name: &str| all().find(|option| option.name == name).map(|option| option.words.clone()).unwrap();
        assert!(words("rw").contains(&"randtrim"));
        assert!(words("zonemode").contains(&"strided") && words("zonemode").contains(&"zbd"));
        assert!(words("ioengine").contains(&"io_uring") && !words("ioengine").contains(&"aio"));
        assert_eq!(words("direct"), ["0", "1"]);
        assert_eq!(words("output-format"), ["normal", "terse", "json", "json+"]);
        assert!(words("bs").is_empty());
    }

    #[test]
    fn words_of_free_text_are_read_by_their_option() {
        for row in PROGRAM {
            if let Offer::Words(words) = row.offer {
                for word in words {
                    let mut settings = crate::Settings::default();
                    let value = row.kind.read(row.name, Some(word), &mut crate::value::Reading::default()).unwrap();
                    row.kind.apply(&mut settings, &value).unwrap_or_else(|refusal| panic!("{word}: {refusal:?}"));
                    assert!(settings.remarks.is_empty(), "{word}: {:?}", settings.remarks);
                }
            }
        }
    }
}
