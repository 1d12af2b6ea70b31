//! How often `diff` is right about two studies of one place at different times.

use fsdyno_stats::{CHANGE_CONFIDENCE, Difference, Estimate, Scatter, median_ratio, shifted_ratio};

use crate::noise::{Noise, Random};
use crate::{document, percent, shares};

/// Half-second windows of a round; then windows from the beginning of one round to that of the next.
const WINDOWS: usize = 6;
const STRIDE: usize = 60;

/// Largest share of false changes, and smallest share of intervals that contain the true ratio, in all conditions
/// that can be judged.
const FALSE_MAX: f64 = 0.05;
const COVERS_MIN: f64 = 0.92;

/// Smallest share of 15 % changes that are found, if there are enough rounds.
const FOUND_MIN: f64 = 0.8;

/// Number of studies before the base, if there is a history.
const EARLIER: usize = 5;

/// The conditions under which rounds are measured.
#[derive(Clone, Copy)]
struct Weather {
    words: &'static str,
    /// Noise from window to window, ±10 %.
    windows: Noise,
    /// Deviation of the level from round to round, then from study to study.
    round: f64,
    study: f64,
    /// Whether studies differ more than is assumed, so that only a history can show it.
    is_beyond_assumed: bool,
    /// Number of rounds with which a change of 15 % is found; `None`: studies differ too much.
    found_from: Option<usize>,
}

const fn weather(words: &'static str, windows: Noise) -> Weather {
    Weather { words, windows, round: 0.0, study: 0.0, is_beyond_assumed: false, found_from: Some(8) }
}

/// Conditions in which rounds differ more.
const fn loud(words: &'static str, windows: Noise) -> Weather {
    Weather { found_from: Some(12), ..weather(words, windows) }
}

const KEPT: Noise = Noise::Autocorrelated(0.8);

const WEATHERS: [Weather; 11] = [
    weather("windows for themselves", Noise::Independent),
    weather("ρ = 0.5 from window to window", Noise::Autocorrelated(0.5)),
    loud("ρ = 0.8 from window to window", KEPT),
    // With rounds half a minute apart, neighbours are still correlated.
    loud("ρ = 0.95 from window to window", Noise::Autocorrelated(0.95)),
    weather("bursts of about three windows, a third slower", Noise::Bursts),
    weather("a drift of 2 % a round", Noise::Drift(0.02 / STRIDE as f64)),
    Weather { round: 0.03, ..loud("ρ = 0.8, and each round has its level, ±3 %", KEPT) },
    Weather { round: 0.06, ..loud("ρ = 0.8, and each round has its level, ±6 %", KEPT) },
    Weather { study: 0.03, ..weather("each study has its level, ±3 %", Noise::Independent) },
    Weather { study: 0.03, found_from: None, ..weather("ρ = 0.8, and each study has its level, ±3 %", KEPT) },
    Weather {
        study: 0.06,
        is_beyond_assumed: true,
        found_from: None,
        ..weather("each study has its level, ±6 %", Noise::Independent)
    },
];

/// The rates of a study's rounds.
fn study(weather: Weather, rounds: usize, random: &mut Random) -> Vec<f64> {
    let study = weather.study * random.normal();
    let windows = weather.windows.series(random, 0.1, rounds * STRIDE);
    let mut rate = |windows: &[f64]| {
        let level = (study + weather.round * random.normal()).exp();
        level * windows[..WINDOWS].iter().map(|window| window.exp()).sum::<f64>() / WINDOWS as f64
    };
    windows.chunks(STRIDE).map(&mut rate).collect()
}

/// The judgement of `diff` about a new study; the last study of the history is the base.
fn judged(history: &[Vec<f64>], new: &[f64]) -> Estimate {
    Scatter::of(history).ratio(new, history.last().expect("a base")).expect("rates above 0")
}

fn is_shown(found: &Estimate) -> bool {
    found.difference(CHANGE_CONFIDENCE) == Difference::Shown
}

/// Shares of cases in the order of the table: a false change, an interval that contains the true ratio, a change of
/// 15 % that is found; first without a history, then with `earlier` studies before the base.
fn outcomes(weather: Weather, rounds: usize, earlier: usize) -> [f64; 6] {
    shares(|random| {
        let history: Vec<Vec<f64>> = (0..=earlier).map(|_| study(weather, rounds, random)).collect();
        let same = study(weather, rounds, random);
        let slower: Vec<f64> = same.iter().map(|rate| rate * 0.85).collect();
        let of = |history: &[Vec<f64>]| {
            let found = judged(history, &slower);
            [is_shown(&judged(history, &same)), found.interval.contains(0.85), is_shown(&found)]
        };
        let ([none, holds, found], [none_with, holds_with, found_with]) = (of(&history[earlier..]), of(&history));
        [none, holds, found, none_with, holds_with, found_with]
    })
}

#[test]
fn a_figure_that_is_the_same_does_not_change_and_a_slower_one_does() {
    let mut rows = Vec::new();
    for weather in WEATHERS {
        for rounds in [4, 8, 12] {
            let shares = outcomes(weather, rounds, EARLIER);
            let [none, holds, found, none_with, holds_with, found_with] = shares;
            let what = format!("{}, {rounds} rounds: {shares:?}", weather.words);
            assert!(none_with <= FALSE_MAX && holds_with >= COVERS_MIN, "{what}");
            assert!(weather.is_beyond_assumed || none <= FALSE_MAX && holds >= COVERS_MIN, "{what}");
            let finds = weather.found_from.is_some_and(|from| rounds >= from);
            assert!(!finds || found >= FOUND_MIN && found_with >= FOUND_MIN, "{what}");
            let [a, b, c, d, e, f] = shares.map(percent);
            rows.push([weather.words.to_string(), rounds.to_string(), a, b, c, d, e, f]);
        }
    }
    document::compare(
        "judgements::changes",
        [
            "rounds of both studies",
            "rounds",
            "no history; the same: a change is shown",
            "95 % interval holds the ratio",
            "15 % slower: shown",
            "five runs before; the same: a change is shown",
            "95 % interval holds the ratio",
            "15 % slower: shown",
        ],
        &rows,
    );
}

#[test]
fn a_history_of_any_length_keeps_false_changes_rare() {
    let weather = *WEATHERS.last().expect("the conditions with large shifts");
    for earlier in [3, 4, 7, 10] {
        let [none, .., none_with, holds_with, _] = outcomes(weather, 8, earlier);
        assert!(none > 2.0 * FALSE_MAX, "without a history, changes are false: {none}");
        assert!(none_with <= FALSE_MAX && holds_with >= COVERS_MIN, "{earlier} before: {none_with}, {holds_with}");
    }
}

#[test]
fn more_is_found_than_with_the_ratio_of_medians() {
    let power = |ratio: fn(&[f64], &[f64], f64) -> Option<Estimate>, slower: f64| {
        let [shown] = shares(|random| {
            let base = study(WEATHERS[6], 6, random);
            let new: Vec<f64> = study(WEATHERS[6], 6, random).iter().map(|rate| rate * (1.0 - slower)).collect();
            [is_shown(&ratio(&new, &base, CHANGE_CONFIDENCE).expect("rates above 0"))]
        });
        shown
    };
    let (ranks, medians) = (power(shifted_ratio, 0.15), power(median_ratio, 0.15));
    assert!(ranks > medians + 0.05, "{ranks} and {medians}");
    // For the rounds alone: 5 %, and three standard errors.
    assert!(power(shifted_ratio, 0.0) <= FALSE_MAX + 0.01);
}
