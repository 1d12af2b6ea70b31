//! What limits each target, in sentences: tests with the same limit share one.

use findings::limits::{Limited, Limiter, Phrase, of_study};
use results::{Question, Study};

/// One sentence per target and limit, in the order of the targets, with the figures that show it.
pub fn sentences(study: &Study) -> Vec<String> {
    // What a cache did is told by its finding, and that there is no device below memory needs no figures.
    let told = |limited: &&Limited| !matches!(limited.limiter, Ok(Limiter::Cache | Limiter::Memory));
    of_study(study).iter().filter(told).map(|limited| sentence(study, limited)).collect()
}

/// Which tests a limit is of, the line of limits says: here are the figures that it rests on.
fn sentence(study: &Study, limited: &Limited) -> String {
    // Of one target everything is said anyway.
    let of = if study.targets.len() > 1 { format!("{}: ", study.targets[limited.target].name) } else { String::new() };
    let text = match limited.limiter {
        Ok(limiter) => format!("{}: {}.", limiter.word(), figures(&limited.tests, &limited.evidence)),
        Err(reason) => {
            let word = if study.question == Question::Measure { "tests" } else { "patterns" };
            let which = limited.in_short(word).unwrap_or_else(|| list(&limited.tests));
            format!("what limits {which} is not visible from here ({reason}).")
        }
    };
    if of.is_empty() { capitalised(&text) } else { format!("{of}{text}") }
}

/// The figures of the tests: of those that are alike each from its least to its greatest, with their names where there are
/// others.
fn figures(tests: &[String], evidence: &[Phrase]) -> String {
    let mut kinds: Vec<(Vec<String>, Vec<&Phrase>)> = Vec::new();
    for (test, shown) in tests.iter().zip(evidence) {
        match kinds.iter_mut().find(|(_, known)| known.iter().all(|known| known.is_near(shown))) {
            Some((names, known)) => {
                names.push(test.clone());
                known.push(shown);
            }
            None => kinds.push((vec![test.clone()], vec![shown])),
        }
    }
    let is_one = kinds.len() == 1;
    let words = |(names, shown): &(Vec<String>, Vec<&Phrase>)| {
        let text = Phrase::together(shown).unwrap_or_default();
        if is_one { text } else { format!("{text} ({})", list(names)) }
    };
    kinds.iter().map(words).collect::<Vec<_>>().join("; ")
}

/// With a large letter at its beginning.
fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// `a`, `a and b`, `a, b and c`.
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
    fn lists_read_as_people_write_them() {
        let words = ["read", "write", "randrw"].map(str::to_string);
        assert_eq!(list(&words[..1]), "read");
        assert_eq!(list(&words[..2]), "read and write");
        assert_eq!(list(&words), "read, write and randrw");
    }
}
