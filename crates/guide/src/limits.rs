//! Sentences on what limits each target; patterns with the same limit share one.

use findings::limits::{Limit, Limiter, Phrase, of_run};
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
    let mut limits: Vec<(Limiter, Vec<String>, Vec<Phrase>)> = Vec::new();
    let mut unseen: Vec<(&str, Vec<String>)> = Vec::new();
    for pattern in study.patterns() {
        let called = called(study, pattern);
        match usual_limit(study, target, pattern) {
            Ok(limit) => match limits.iter_mut().find(|(limiter, _, _)| *limiter == limit.limiter) {
                Some((_, patterns, evidence)) => {
                    patterns.push(called);
                    evidence.push(limit.evidence);
                }
                None => limits.push((limit.limiter, vec![called], vec![limit.evidence])),
            },
            Err(reason) => match unseen.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, patterns)) => patterns.push(called),
                None => unseen.push((reason, vec![called])),
            },
        }
    }
    let mut sentences: Vec<String> = limits
        .into_iter()
        .map(|(limiter, patterns, evidence)| {
            let are = if patterns.len() == 1 { "is" } else { "are" };
            let what = if limiter == Limiter::Cache { "answered" } else { "limited" };
            let which = if patterns.len() == all && all > 1 { everything.to_string() } else { list(&patterns) };
            let shown = figures(&patterns, &evidence);
            sentence(format!("{of}{which} {are} {what} by {} ({shown}).", limiter.word()))
        })
        .collect();
    sentences.extend(unseen.into_iter().map(|(reason, patterns)| {
        let which = if patterns.len() == all && all > 1 { everything.to_string() } else { list(&patterns) };
        sentence(format!("{of}what limits {which} is not visible from here ({reason})."))
    }));
    sentences
}

/// The figures of all patterns, each from its least to its greatest; of the first one where the others need other
/// words.
fn figures(patterns: &[String], evidence: &[Phrase]) -> String {
    let of_the_first = || format!("{}: {}", patterns[0], evidence[0]);
    Phrase::together(&evidence.iter().collect::<Vec<_>>()).unwrap_or_else(of_the_first)
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

/// The limit that most rounds of a pattern show, or why none shows any.
fn usual_limit(study: &Study, target: usize, pattern: &str) -> Result<Limit, &'static str> {
    let mut seen: Vec<(usize, Limit)> = Vec::new();
    let mut unseen = "nothing was measured";
    for row in study.repeats(target, pattern) {
        let Some(run) = row.run.as_ref() else { continue };
        let limit = match of_run(run) {
            Ok(limit) => limit,
            Err(reason) => {
                unseen = reason;
                continue;
            }
        };
        match seen.iter_mut().find(|(_, known)| known.limiter == limit.limiter) {
            Some((count, _)) => *count += 1,
            None => seen.push((1, limit)),
        }
    }
    // Of equals the first: the rounds are in order.
    seen.into_iter().rev().max_by_key(|(count, _)| *count).map(|(_, limit)| limit).ok_or(unseen)
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
