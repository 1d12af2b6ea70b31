//! Decides when a comparison has enough rounds: every place differs clearly from the first one, or the intervals are
//! narrow.

use fsdyno_results::{Metric, Study, TestRounds};
use fsdyno_stats::{Difference, Estimate, WINNER_HALF_WIDTH, WINNER_ROUNDS};

/// The half width of an interval from which nothing can be told: as wide as its figure.
const NOTHING_KNOWN: f64 = 0.5;

/// The number of rounds, rounded up to an even one so that both orders of the places run equally often; 1 stays 1.
pub(crate) fn even(rounds: u32) -> u32 {
    if rounds > 1 { rounds.next_multiple_of(2) } else { rounds }
}

/// Why the rounds are enough; `None`: they are not. The widest interval without a clear difference decides; `metric` is
/// the figure by which places are compared.
pub(crate) fn enough(study: &Study, rounds: u32, cap: u32, metric: fn(&TestRounds<'_>) -> Metric) -> Option<String> {
    let mut widest: Option<(f64, String)> = None;
    for pattern in study.patterns() {
        let baseline = TestRounds::of_rows(study.repeats(0, pattern));
        for target in (1..study.targets.len()).filter(|target| !study.targets[*target].reference) {
            let rounds = TestRounds::of_rows(study.repeats(target, pattern));
            // A place that does not allow a test has no rows of it, and never will.
            if rounds.repeats.is_empty() || baseline.repeats.is_empty() {
                continue;
            }
            let found = rounds.ratio(&baseline, metric(&rounds));
            let width = match found.and_then(|found| Some(Estimate { value: found.value, interval: found.interval? })) {
                Some(estimate) if estimate.winner() == Difference::Shown => continue,
                Some(estimate) => estimate.relative_half_width().unwrap_or(f64::INFINITY),
                None => f64::INFINITY,
            };
            if widest.as_ref().is_none_or(|(known, _)| width > *known) {
                widest = Some((width, format!("{pattern} on {}", study.targets[target].name)));
            }
        }
    }
    stop(widest, rounds, cap)
}

/// Why to stop, given the half width (and name) of the widest interval without a clear difference; `None`: go on.
fn stop(widest: Option<(f64, String)>, rounds: u32, cap: u32) -> Option<String> {
    if rounds % 2 == 1 || rounds < WINNER_ROUNDS.0.min(cap) {
        return None;
    }
    let Some((width, of)) = widest else {
        return Some(format!("stopped after {rounds} rounds: all differences from the baseline are clear"));
    };
    let (percent, wanted) = (width * 100.0, WINNER_HALF_WIDTH * 100.0);
    if width <= WINNER_HALF_WIDTH {
        return Some(format!(
            "stopped after {rounds} rounds: each result without a clear difference is within ±{wanted:.0} % of the \
             baseline (widest: {of}, ±{percent:.1} %)"
        ));
    }
    (rounds >= cap).then(|| {
        if width.is_finite() && width > NOTHING_KNOWN {
            format!(
                "stopped at the maximum of {cap} rounds: {of} did not settle (its interval is wider than the figure \
                 itself)"
            )
        } else if width.is_finite() {
            format!(
                "stopped at the maximum of {cap} rounds: {of} did not stabilise (±{percent:.0} %, wanted \
                     ±{wanted:.0} %)"
            )
        } else {
            format!("stopped at the maximum of {cap} rounds: {of} has no confidence interval")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_end_for_a_reason() {
        let widest = |width: f64| Some((width, "read on nfs".to_string()));
        assert_eq!(stop(widest(0.01), 6, 12), None, "six rounds have no 99 %");
        assert_eq!(stop(widest(0.01), 9, 12), None, "one order would have run once more");
        let precise = stop(widest(0.05), 8, 12).unwrap();
        assert!(precise.starts_with("stopped after 8 rounds") && precise.contains("read on nfs, ±5.0 %"), "{precise}");
        assert_eq!(stop(widest(0.3), 10, 12), None);
        assert!(stop(None, 8, 12).unwrap().contains("all differences from the baseline are clear"));
        let cap = stop(widest(0.3), 12, 12).unwrap();
        assert!(cap.contains("maximum of 12 rounds: read on nfs did not stabilise (±30 %"), "{cap}");
        let unknown = stop(widest(4.08), 12, 12).unwrap();
        assert!(unknown.contains("read on nfs did not settle") && !unknown.contains('±'), "{unknown}");
        assert!(stop(widest(f64::INFINITY), 12, 12).unwrap().contains("no confidence interval"));
    }

    #[test]
    fn rounds_are_even_unless_there_is_one() {
        assert_eq!([1, 2, 5, 8].map(even), [1, 2, 6, 8]);
    }

    /// The reason to stop has the half width that the table shows for the pattern it names, for any rounds.
    #[test]
    fn no_reason_denies_its_table() {
        use testkit::draw::{Test, TestWork, cases, number_after, numbers};
        let mut told = 0;
        for (case, mut draw) in cases(120) {
            let mut study = Study::of_run(fsdyno_results::RunRecord::new("test", 0));
            study.targets =
                ["local", "nfs"].map(|name| fsdyno_results::Target { name: name.into(), ..Default::default() }).into();
            study.rows.clear();
            let rounds = draw.one_of(&[8, 12]);
            for pattern in ["read", "write"] {
                for target in 0..2 {
                    let per_s = draw.one_of(&[900.0, 905.0, 7000.0]);
                    let test =
                        Test { target, pattern, does: TestWork::Read, depth: 1, block_bytes: 4096, rounds, per_s };
                    study.rows.extend(draw.rounds(&test));
                }
            }
            let Some(text) = enough(&study, rounds, 12, |rounds| rounds.rates().0) else { continue };
            let half_widths = ["read", "write"].map(|pattern| {
                let [base, other] = [0, 1].map(|target| TestRounds::of_rows(study.repeats(target, pattern)));
                let found = other.ratio(&base, other.rates().0)?;
                let interval = found.interval?;
                let is_clear = interval.low > 1.0 || interval.high < 1.0;
                Some((is_clear, (interval.high - found.value).max(found.value - interval.low) / found.value * 100.0))
            });
            let said = || format!("case {case}: {text}\n{half_widths:?}");
            let known = |shown: f64| half_widths.iter().flatten().any(|(_, width)| (width - shown).abs() <= 0.51);
            let figures = numbers(&text);
            let is_said = |shown: &f64| [f64::from(rounds), 12.0, 20.0, 10.0, 5.0].contains(shown) || known(*shown);
            assert!(figures.iter().all(is_said), "{}", said());
            for (pattern, width) in ["read", "write"].iter().zip(&half_widths) {
                let shown = number_after(&text, &format!("{pattern} on nfs, ±"))
                    .or(number_after(&text, &format!("{pattern} on nfs did not stabilise (±")));
                let of = width.map(|(_, width)| width);
                assert!(shown.is_none_or(|shown| of.is_some_and(|of| (of - shown).abs() <= 0.51)), "{}", said());
            }
            let unclear = half_widths.iter().flatten().filter(|(is_clear, _)| !is_clear).count();
            let has_all = half_widths.iter().all(Option::is_some);
            assert!(!text.contains("all differences") || has_all, "{}", said());
            assert!(!text.contains("is within") || has_all && unclear < 3, "{}", said());
            told += 1;
        }
        assert!(told > 10, "{told}");
    }
}
