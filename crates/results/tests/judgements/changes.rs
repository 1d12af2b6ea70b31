//! `diff`: two studies of one place, measured apart from each other.

use fsdyno_stats::{CHANGE_CONFIDENCE, Difference, Estimate, Scatter, median_ratio, shifted_ratio};

use crate::noise::{Noise, Random};
use crate::{document, percent, shares};

/// Half-second windows of a round, and from the beginning of one round to that of the next.
const WINDOWS: usize = 6;
const STRIDE: usize = 60;

/// The most false changes and the fewest intervals that hold the ratio, in any weather that can be judged.
const FALSE_MAX: f64 = 0.05;
const COVERS_MIN: f64 = 0.92;

/// The fewest changes of 15 % that are found, where there are rounds enough.
const FOUND_MIN: f64 = 0.8;

/// Studies before the base, where there is a history.
const EARLIER: usize = 5;

/// How rounds come about.
#[derive(Clone, Copy)]
struct Weather {
    words: &'static str,
    /// Window by window, ±10 %.
    windows: Noise,
    /// How far the level of each round lies from the others', and that of each study.
    round: f64,
    study: f64,
    /// A change between days by more than is assumed: only a history can show it.
    is_beyond_assumed: bool,
    /// Number of rounds that finds a change of 15 %; `None`: the studies lie too far apart.
    found_from: Option<usize>,
}

const fn weather(words: &'static str, windows: Noise) -> Weather {
    Weather { words, windows, round: 0.0, study: 0.0, is_beyond_assumed: false, found_from: Some(8) }
}

/// One whose rounds differ more.
const fn loud(words: &'static str, windows: Noise) -> Weather {
    Weather { found_from: Some(12), ..weather(words, windows) }
}

const KEPT: Noise = Noise::Autocorrelated(0.8);

const WEATHERS: [Weather; 11] = [
    weather("windows for themselves", Noise::Independent),
    weather("ρ = 0.5 from window to window", Noise::Autocorrelated(0.5)),
    loud("ρ = 0.8 from window to window", KEPT),
    // Rounds half a minute apart still remember each other.
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

/// What `diff` says of a new study, with these before it and the base among them as the last.
fn judged(history: &[Vec<f64>], new: &[f64]) -> Estimate {
    Scatter::of(history).ratio(new, history.last().expect("a base")).expect("rates above 0")
}

fn is_shown(found: &Estimate) -> bool {
    found.difference(CHANGE_CONFIDENCE) == Difference::Shown
}

/// Shares of cases, in the order of the table: a change that is none, intervals that hold, a change of 15 % that is found;
/// without a history, and with `earlier` studies before the base.
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
    document::hold(
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
    let weather = *WEATHERS.last().expect("the one of large shifts");
    for earlier in [3, 4, 7, 10] {
        let [none, .., none_with, holds_with, _] = outcomes(weather, 8, earlier);
        assert!(none > 2.0 * FALSE_MAX, "these days can mislead: {none}");
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
    // Of the rounds alone: 5 %, and three standard errors.
    assert!(power(shifted_ratio, 0.0) <= FALSE_MAX + 0.01);
}
