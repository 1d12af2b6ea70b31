//! What limits each target, in sentences: patterns with the same limit share one.

use findings::limits::{Limit, Limiter, of_run};
use results::{Question, Study};

/// One sentence per target and limit, in the order of the targets.
pub fn sentences(study: &Study) -> Vec<String> {
    (0..study.targets.len()).flat_map(|target| of_target(study, target)).collect()
}

fn of_target(study: &Study, target: usize) -> Vec<String> {
    // Of one target everything is said anyway.
    let of = if study.targets.len() > 1 { format!("{}: ", study.targets[target].name) } else { String::new() };
    let all = study.patterns().len();
    let everything = if study.question == Question::Measure { "all tests" } else { "all patterns" };
    let sentence = |text: String| if of.is_empty() { capitalised(&text) } else { text };
    let mut limits: Vec<(Limiter, Vec<String>, String)> = Vec::new();
    let mut unknown = Vec::new();
    for pattern in study.patterns() {
        let called = called(study, pattern);
        match usual_limit(study, target, pattern) {
            Some(limit) => match limits.iter_mut().find(|(limiter, _, _)| *limiter == limit.limiter) {
                Some((_, patterns, _)) => patterns.push(called),
                None => limits.push((limit.limiter, vec![called], limit.evidence)),
            },
            None => unknown.push(called),
        }
    }
    let mut sentences: Vec<String> = limits
        .into_iter()
        .map(|(limiter, patterns, evidence)| {
            let are = if patterns.len() == 1 { "is" } else { "are" };
            let what = if limiter == Limiter::Cache { "answered" } else { "limited" };
            let which = if patterns.len() == all && all > 1 { everything.to_string() } else { list(&patterns) };
            // The figures are those of one pattern, and the others have others.
            let whose = if patterns.len() > 1 { format!("{}: ", patterns[0]) } else { String::new() };
            sentence(format!("{of}{which} {are} {what} by {} ({whose}{evidence}).", limiter.word()))
        })
        .collect();
    if !unknown.is_empty() {
        let which = if unknown.len() == all && all > 1 { everything.to_string() } else { list(&unknown) };
        sentences.push(sentence(format!("{of}what limits {which} is not visible from here.")));
    }
    sentences
}

/// With a large letter at its beginning.
fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// As the answer's table calls it, without a comma.
fn called(study: &Study, pattern: &str) -> String {
    let row = study.rows.iter().find(|row| row.pattern == pattern && study.question == Question::Measure);
    row.map_or_else(|| pattern.to_string(), |row| row.title.replace(", ", " at "))
}

/// The limit that most rounds of a pattern show.
fn usual_limit(study: &Study, target: usize, pattern: &str) -> Option<Limit> {
    let mut seen: Vec<(usize, Limit)> = Vec::new();
    for row in study.repeats(target, pattern) {
        let Some(limit) = row.run.as_ref().and_then(of_run) else { continue };
        match seen.iter_mut().find(|(_, known)| known.limiter == limit.limiter) {
            Some((count, _)) => *count += 1,
            None => seen.push((1, limit)),
        }
    }
    // Of equals the first: the rounds are in order.
    seen.into_iter().rev().max_by_key(|(count, _)| *count).map(|(_, limit)| limit)
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
