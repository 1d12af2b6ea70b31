//! Says in sentences what limited each target; tests with the same limit share a sentence.

use fsdyno_findings::limits::{Limited, Limiter, Phrase, of_study};
use fsdyno_results::{Question, Study};

/// One sentence per target and limit, in the order of the targets, with the figures that show it.
pub fn sentences(study: &Study) -> Vec<String> {
    // A cache has its own finding, and "memory" has no device whose figures could be shown.
    let told = |limited: &&Limited| !matches!(limited.limiter, Ok(Limiter::Cache | Limiter::Memory));
    of_study(study).iter().filter(told).map(|limited| sentence(study, limited)).collect()
}

fn sentence(study: &Study, limited: &Limited) -> String {
    // With a single target the sentence needs no name.
    let of = if study.targets.len() > 1 { format!("{}: ", study.targets[limited.target].name) } else { String::new() };
    let word = if study.question == Question::Measure { "tests" } else { "patterns" };
    let which = || limited.in_short(word).unwrap_or_else(|| list(&limited.tests));
    let text = match limited.limiter {
        Ok(limiter) => {
            let kinds = kinds(&limited.tests, &limited.evidence);
            // Where tests have different limits, each group lists its tests.
            let which = if kinds.len() > 1 { String::new() } else { format!(" ({})", which()) };
            format!("{}{which}: {}.", limiter.word(), figures(&kinds))
        }
        Err(reason) => format!("what limits {} is not visible from here ({reason}).", which()),
    };
    if of.is_empty() { capitalised(&text) } else { format!("{of}{text}") }
}

/// The names of the tests whose figures are alike, with their phrases.
type Kind<'a> = (Vec<String>, Vec<&'a Phrase>);

fn kinds<'a>(tests: &[String], evidence: &'a [Phrase]) -> Vec<Kind<'a>> {
    let mut kinds: Vec<Kind<'a>> = Vec::new();
    for (test, shown) in tests.iter().zip(evidence) {
        match kinds.iter_mut().find(|(_, known)| known.iter().all(|known| known.is_near(shown))) {
            Some((names, known)) => {
                names.push(test.clone());
                known.push(shown);
            }
            None => kinds.push((vec![test.clone()], vec![shown])),
        }
    }
    kinds
}

/// The range of each kind's figures, with the names of its tests where there are several kinds.
fn figures(kinds: &[Kind<'_>]) -> String {
    let words = |(names, shown): &Kind<'_>| {
        let text = Phrase::joined(shown).unwrap_or_default();
        if kinds.len() == 1 { text } else { format!("{text} ({})", list(names)) }
    };
    kinds.iter().map(words).collect::<Vec<_>>().join("; ")
}

/// The text with a capital first letter.
fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// The words as a list: `a`, `a and b`, `a, b and c`.
fn list(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_names_its_tests() {
        let target = fsdyno_results::Target::default();
        let study = Study { targets: vec![target], ..Study::of_run(fsdyno_results::RunRecord::new("test", 1)) };
        let words = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let told = |others: &[&str]| {
            let (tests, others) = (words(&["read", "write"]), words(others));
            let limiter = Ok(Limiter::Device);
            sentence(&study, &Limited { target: 0, limiter, tests, others, evidence: Vec::new() })
        };
        assert!(told(&[]).starts_with("The device (all patterns): "), "{}", told(&[]));
        assert!(
            told(&["randrw", "trim"]).starts_with("The device (read and write): "),
            "{}",
            told(&["randrw", "trim"])
        );
    }

    #[test]
    fn lists_read_as_people_write_them() {
        let words = ["read", "write", "randrw"].map(str::to_string);
        assert_eq!(list(&words[..1]), "read");
        assert_eq!(list(&words[..2]), "read and write");
        assert_eq!(list(&words), "read, write and randrw");
    }
}
