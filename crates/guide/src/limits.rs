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

/// The figures of all tests, each from its least to its greatest; of the first one where the others need other words.
fn figures(tests: &[String], evidence: &[Phrase]) -> String {
    let of_the_first = || format!("{}: {}", tests[0], evidence[0]);
    Phrase::together(&evidence.iter().collect::<Vec<_>>()).unwrap_or_else(of_the_first)
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
    use super::list;

    #[test]
    fn lists_read_as_people_write_them() {
        let words = ["read", "write", "randrw"].map(str::to_string);
        assert_eq!(list(&words[..1]), "read");
        assert_eq!(list(&words[..2]), "read and write");
        assert_eq!(list(&words), "read, write and randrw");
    }
}
