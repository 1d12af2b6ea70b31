//! What limits the tests, in a few words for each limit.

use findings::limits::{Limited, of_study};
use results::{Question, Study};

/// `the device (rand-read, rand-write)`; empty when nothing is visible.
pub(super) fn of(study: &Study) -> Vec<String> {
    let names = study.target_names();
    let limits = of_study(study);
    let visible = |limited: &Limited| Some((limited.target, limited.limiter.ok()?.word(), which(study, limited)));
    let visible: Vec<(usize, &str, String)> = limits.iter().filter_map(visible).collect();
    if names.len() < 2 {
        return visible.into_iter().map(|(_, word, tests)| format!("{word} ({tests})")).collect();
    }
    // Of several targets a line each.
    let of_target = |(target, name): (usize, &String)| {
        let own = visible.iter().filter(|(of, ..)| *of == target);
        let limits: Vec<String> = own.map(|(_, word, tests)| format!("{word} ({tests})")).collect();
        (!limits.is_empty()).then(|| format!("{name}: {}", limits.join(", ")))
    };
    names.iter().enumerate().filter_map(of_target).collect()
}

fn which(study: &Study, limited: &Limited) -> String {
    let word = if study.question == Question::Compare { "patterns" } else { "tests" };
    limited.in_short(word).unwrap_or_else(|| limited.tests.join(", "))
}
