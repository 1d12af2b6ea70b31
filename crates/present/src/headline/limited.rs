//! Says what limits the tests, in a few words for each limit.

use fsdyno_findings::limits::{Limited, Limiter, Phrase, in_groups, of_study};
use fsdyno_results::{Load, Question, Study};
use fsdyno_stats::sort;

use super::figures::called;

/// Up to this number of tests are named, those that differ by their number as one; of more only the count is given.
const NAMED: usize = 4;

/// How much is said of each limit.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(crate) enum LimitDetail {
    /// Its name.
    Name,
    /// … and its tests.
    Tests,
    /// … and what shows it.
    Evidence,
}

/// The limits with their tests: `the device (rand-read, rand-write)`; empty when none is visible.
pub(super) fn of(study: &Study, said: LimitDetail) -> Vec<String> {
    let names = study.target_names();
    let served = served(study);
    let mut limits = of_tests(study, &served);
    let names_of = |limited: &mut Limited| {
        limited.tests.iter_mut().chain(&mut limited.others).for_each(|test| *test = called(study, test));
    };
    limits.iter_mut().for_each(names_of);
    let manner = LimitWording {
        word: if study.question == Question::Compare { "patterns" } else { "tests" },
        is_all: served.is_empty(),
        has_sentences: matches!(study.question, Question::Measure | Question::Compare),
        said,
    };
    let of_target = |target: usize| manner.words(limits.iter().filter(|limited| limited.target == target).collect());
    if names.len() < 2 {
        return of_target(0);
    }
    // With several targets, a line for each.
    let named = |(target, name): (usize, &String)| {
        let limits = of_target(target);
        (!limits.is_empty()).then(|| format!("{name}: {}", limits.join(", ")))
    };
    names.iter().enumerate().filter_map(named).collect()
}

/// The limits of several targets in the fewest words, each limit once: `the device (a, c)`, `the server (b)`.
pub(super) fn with_targets(study: &Study) -> Vec<String> {
    let names = study.target_names();
    let mut known: Vec<(Limiter, Vec<usize>)> = Vec::new();
    for (limiter, target) in
        of_tests(study, &served(study)).iter().filter_map(|one| Some((one.limiter.ok()?, one.target)))
    {
        match known.iter_mut().find(|(other, _)| *other == limiter) {
            Some((_, targets)) => targets.push(target),
            None => known.push((limiter, vec![target])),
        }
    }
    let of = |targets: &[usize]| match targets.len() == names.len() {
        true => "all".to_owned(),
        false => targets
            .iter()
            .filter_map(|index| names.get(*index))
            .map(|name| name.trim_matches(['(', ')']))
            .collect::<Vec<_>>()
            .join(", "),
    };
    known.iter().map(|(limiter, targets)| format!("{} ({})", limiter.word(), of(targets))).collect()
}

/// The loads that the storage kept up with: they had the rate that was offered, and nothing limited them.
fn served(study: &Study) -> Vec<&String> {
    study.loads().into_iter().filter(Load::kept_up).map(|load| &load.row.pattern).collect()
}

/// The limits of the tests that were not served.
fn of_tests(study: &Study, served: &[&String]) -> Vec<Limited> {
    let mut limits = of_study(study);
    limits.iter_mut().for_each(|limited| limited.leave_out(served));
    limits.retain(|limited| !limited.tests.is_empty());
    limits
}

/// How the limits of a study are worded.
struct LimitWording {
    /// The word for the tests: `patterns` or `tests`.
    word: &'static str,
    /// Whether each test has a limit, or a reason why it has none.
    is_all: bool,
    /// Whether the study's own sentences give the evidence of its limits.
    has_sentences: bool,
    said: LimitDetail,
}

impl LimitWording {
    /// The limits of one target, as far as they are visible.
    fn words(&self, mut limits: Vec<&Limited>) -> Vec<String> {
        let word = self.word;
        // Limits of few tests come first, so that those can be named and the rest be "all others"; tests without a
        // visible limit come last.
        sort::by_key(&mut limits, |limited| (limited.limiter.is_err(), limited.tests.len()));
        let in_words = |(index, limited): (usize, &&Limited)| {
            let limiter = limited.limiter.ok()?.word();
            if self.said == LimitDetail::Name {
                return Some(limiter.to_owned());
            }
            // "all others" is clear only if all earlier tests were named.
            let is_rest = self.is_all && index > 0 && index + 1 == limits.len() && limited.tests.len() > 1;
            let tests = match limited.tests.len() {
                _ if is_rest && limits[..index].iter().all(|earlier| is_exact(earlier, word)) => {
                    "all others".to_owned()
                }
                _ if is_exact(limited, word) => {
                    limited.in_short(word).unwrap_or_else(|| in_groups(&limited.tests).join(", "))
                }
                tests => format!("{tests} of {} {word}", tests + limited.others.len()),
            };
            let shown =
                if self.said == LimitDetail::Tests { String::new() } else { shown_by(limited, self.has_sentences) };
            Some(format!("{limiter} ({tests}){shown}"))
        };
        limits.iter().enumerate().filter_map(in_words).collect()
    }
}

/// Longest evidence in a line, characters.
const EVIDENCE: usize = 80;

/// The evidence of a limit, where no sentence of the study gives it; always for a link, which is inferred from a share
/// of its speed.
fn shown_by(limited: &Limited, has_sentence: bool) -> String {
    let evidence: Vec<&Phrase> = limited.evidence.iter().collect();
    // That memory has no device is no evidence.
    let is_asked = match limited.limiter {
        Ok(Limiter::Link | Limiter::ServerLink) => true,
        limiter => !has_sentence && limiter != Ok(Limiter::Memory),
    };
    let shown = Phrase::joined(&evidence).filter(|text| is_asked && text.chars().count() <= EVIDENCE);
    shown.filter(|text| !text.is_empty()).map(|text| format!(": {text}")).unwrap_or_default()
}

/// Whether the words make clear for each test whether the limit is its own.
fn is_exact(limited: &Limited, word: &str) -> bool {
    in_groups(&limited.tests).len() <= NAMED || limited.in_short(word).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 9] = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];

    /// The lines for `device` tests with the first limit and `cpus` tests with the second; the other tests have no
    /// visible limit.
    fn limit_lines(device: usize, cpus: usize, said: LimitDetail) -> Vec<String> {
        let names = |tests: &[&str]| tests.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let limited = |from: usize, to: usize, limiter| Limited {
            target: 0,
            limiter,
            tests: names(&NAMES[from..to]),
            others: names(&[&NAMES[..from], &NAMES[to..]].concat()),
            evidence: Vec::new(),
        };
        let limits = [
            limited(0, device, Ok(Limiter::Device)),
            limited(device, device + cpus, Ok(Limiter::ClientProcessor)),
            limited(device + cpus, 9, Err("it is not visible")),
        ];
        let manner = LimitWording { word: "tests", is_all: true, has_sentences: true, said };
        manner.words(limits.iter().filter(|limited| !limited.tests.is_empty()).collect())
    }

    #[test]
    fn the_last_limit_is_that_of_all_others_only_where_it_is() {
        let words = |device, cpus| limit_lines(device, cpus, LimitDetail::Evidence).join("; ");
        let (device, cpus) = (Limiter::Device.word(), Limiter::ClientProcessor.word());
        assert_eq!(words(4, 5), format!("{device} (a, b, c, d); {cpus} (all others)"));
        assert_eq!(words(9, 0), format!("{device} (all tests)"));
        assert_eq!(words(8, 1), format!("{cpus} (i); {device} (all others)"));
        assert_eq!(words(4, 4), format!("{device} (a, b, c, d); {cpus} (e, f, g, h)"), "one is not visible");
        assert_eq!(limit_lines(4, 5, LimitDetail::Name), [device, cpus], "there is no room for more");
    }
}
