//! Formats the command line of a study so that it can be typed again.

use fsdyno_results::{Question, Study};

use fsdyno_text::shell::as_typed;

/// The study's own command.
pub(crate) fn of(study: &Study) -> String {
    as_typed(&words(study))
}

/// The date and time of a run's id: they name it in a command that has a directory, too, and little room in its line.
pub fn short_id(id: &str) -> &str {
    &id[..id.match_indices('-').nth(1).map_or(id.len(), |(index, _)| index)]
}

/// The words of the study's command that are its own: after `--` stand those of the program that `time` runs.
pub(crate) fn own_words(study: &Study) -> impl Iterator<Item = &str> {
    study.command.iter().map(String::as_str).take_while(|word| *word != "--")
}

/// A command on the saved study, such as `show`, with the store's directory, beside which its id is short.
pub(crate) fn about(study: &Study, question: &str, options: &[&str]) -> String {
    let command = &study.command;
    let own = own_words(study).position(|word| word.split('=').next() == Some("--store"));
    let store =
        own.and_then(|index| command[index].strip_prefix("--store=").or(command.get(index + 1).map(String::as_str)));
    let id = if store.is_some() { short_id(&study.id) } else { &study.id };
    let words = ["fsdyno", question, id].into_iter().chain(options.iter().copied()).map(str::to_owned);
    as_typed(&words.chain(store.map(|store| format!("--store={store}"))).collect::<Vec<_>>())
}

/// The same command with another value of an option, such as `--runs`.
pub(crate) fn with(study: &Study, option: &str, value: impl std::fmt::Display) -> String {
    let mut all = repeated(study);
    remove(&mut all, option, true);
    add(&mut all, format!("{option}={value}"));
    as_typed(&all)
}

/// The same command with one more option, which has no value.
pub(crate) fn adding(study: &Study, option: &str) -> String {
    let mut all = repeated(study);
    add(&mut all, option.to_owned());
    as_typed(&all)
}

/// Options on how and where the answer is printed, each with whether it takes a value.
const PRINTED: [(&str, bool); 9] = [
    ("--json", false),
    ("--markdown", false),
    ("--quiet", false),
    ("-q", false),
    ("--wide", false),
    ("--github", false),
    ("--live", true),
    ("--metrics", true),
    ("--junit", true),
];

/// The words of the study's command without the options on its output: a step is for a person at a terminal.
fn repeated(study: &Study) -> Vec<String> {
    let mut all = words(study);
    let of_timed = all.iter().position(|word| word == "--").map(|index| all.split_off(index));
    for (option, has_value) in PRINTED {
        while remove(&mut all, option, has_value) {}
    }
    all.extend(of_timed.into_iter().flatten());
    all
}

/// Adds an option; in front of the words of a timed command, which has options of its own.
fn add(words: &mut Vec<String>, option: String) {
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    words.insert(end, option);
}

/// The same command without these options, each with whether it takes a value; `None`: it has none of them.
pub(crate) fn without(study: &Study, options: &[(&str, bool)]) -> Option<String> {
    let mut all = repeated(study);
    let removed = options.iter().filter(|(option, has_value)| remove(&mut all, option, *has_value)).count();
    (removed > 0).then(|| as_typed(&all))
}

/// Removes an option; returns whether it was there.
fn remove(words: &mut Vec<String>, option: &str, has_value: bool) -> bool {
    let Some(index) = words.iter().position(|word| word.split('=').next() == Some(option)) else { return false };
    // The value may be a separate word.
    let value = has_value && !words[index].contains('=') && index + 1 < words.len();
    words.drain(index..=index + usize::from(value));
    true
}

fn words(study: &Study) -> Vec<String> {
    let first = study.command.first().map(String::as_str).unwrap_or_default();
    let program = match study.question {
        Question::Fio if first.starts_with('-') => Some("fio"),
        Question::Fio => None,
        question => (first == question.word()).then_some("fsdyno"),
    };
    program.map(str::to_owned).into_iter().chain(study.command.iter().cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_for_stays_and_the_option_is_there_once() {
        let study = |words: &[&str]| {
            let command = words.iter().map(|word| (*word).to_owned()).collect();
            Study { question: Question::Measure, command, ..Study::of_run(fsdyno_results::RunRecord::new("fsdyno", 0)) }
        };
        for (words, again) in [
            (&["measure", "/data"][..], "fsdyno measure /data --runs=4"),
            (&["measure", "/data", "--only=rand-read"], "fsdyno measure /data --only=rand-read --runs=4"),
            (&["measure", "--runs", "2", "/data"], "fsdyno measure /data --runs=4"),
            (&["measure", "--runs=2", "/data", "--size=1g"], "fsdyno measure /data --size=1g --runs=4"),
            (&["measure", "/data", "--json", "-q", "--quiet", "-q"], "fsdyno measure /data --runs=4"),
            (&["measure", "--junit", "a.xml", "/data", "--live=-", "--github"], "fsdyno measure /data --runs=4"),
            (&["measure", "/data", "--", "ls", "--json"], "fsdyno measure /data --runs=4 -- ls --json"),
        ] {
            assert_eq!(with(&study(words), "--runs", 4), again);
        }
        let shortened = study(&["measure", "--quick", "--size", "1g", "/data"]);
        let shorter = [("--quick", false), ("--size", true)];
        assert_eq!(without(&shortened, &shorter).as_deref(), Some("fsdyno measure /data"));
        assert_eq!(without(&study(&["measure", "/data"]), &shorter), None);
        assert_eq!(of(&study(&["measure", "/my data"])), "fsdyno measure '/my data'");
        assert_eq!(adding(&study(&["measure", "/data"]), "--buffered"), "fsdyno measure /data --buffered");
    }

    #[test]
    fn a_command_about_a_saved_run_finds_it() {
        let about = |words: &str| {
            let command = words.split(' ').map(str::to_owned).collect();
            let id = "20261122-043100-measure-1a2b".into();
            let study = Study { command, id, ..Study::of_run(fsdyno_results::RunRecord::new("fsdyno", 0)) };
            super::about(&study, "show", &["--wide"])
        };
        for words in ["measure /data --store=/kept", "measure --store /kept /data"] {
            assert_eq!(about(words), "fsdyno show 20261122-043100 --wide --store=/kept");
        }
        for words in ["measure /data", "time /data -- git --store=a"] {
            assert_eq!(about(words), "fsdyno show 20261122-043100-measure-1a2b --wide");
        }
    }
}
