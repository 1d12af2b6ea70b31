//! What limits the tests, in a few words for each limit.

use findings::limits::of_study;
use results::Study;

/// `the device (rand-read, rand-write)`; empty when nothing is visible.
pub(super) fn of(study: &Study) -> Vec<String> {
    let names = study.target_names();
    of_study(study)
        .into_iter()
        .filter_map(|limited| {
            let limiter = limited.limiter.ok()?;
            let tests = if limited.all { "all tests".to_owned() } else { limited.tests.join(", ") };
            let target = if names.len() > 1 { format!("{}: ", names[limited.target]) } else { String::new() };
            Some(format!("{target}{} ({tests})", limiter.word()))
        })
        .collect()
}
