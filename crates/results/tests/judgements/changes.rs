//! `diff`: two studies of one place, measured apart from each other.

use results::statistics::{CHANGE_CONFIDENCE, Difference, Estimate, median_ratio, shifted_ratio};

use crate::noise::{Noise, Random};
use crate::{document, percent, shares};

/// Half-second windows of a round, and from the beginning of one round to that of the next.
const WINDOWS: usize = 6;
const STRIDE: usize = 60;

/// 5 %, and three standard errors of 4,000 cases.
const FALSE_MAX: f64 = 0.06;

/// How rounds come about.
#[derive(Clone, Copy)]
struct Weather {
    words: &'static str,
    /// Window by window, ±10 %.
    windows: Noise,
    /// How far the level of each round lies from the others', and that of each study.
    round: f64,
    study: f64,
    /// The most false changes that are let pass; `None`: more than anything could promise.
    most_false: Option<f64>,
}

const fn weather(words: &'static str, windows: Noise) -> Weather {
    Weather { words, windows, round: 0.0, study: 0.0, most_false: Some(FALSE_MAX) }
}

const WEATHERS: [Weather; 9] = [
    weather("windows for themselves", Noise::Independent),
    weather("ρ = 0.5 from window to window", Noise::Autocorrelated(0.5)),
    weather("ρ = 0.8 from window to window", Noise::Autocorrelated(0.8)),
    // Rounds half a minute apart still remember each other.
    Weather { most_false: Some(0.07), ..weather("ρ = 0.95 from window to window", Noise::Autocorrelated(0.95)) },
    weather("bursts of about three windows, a third slower", Noise::Bursts),
    weather("a drift of 2 % a round", Noise::Drift(0.02 / STRIDE as f64)),
    Weather { round: 0.03, ..weather("ρ = 0.8, and each round has its level, ±3 %", Noise::Autocorrelated(0.8)) },
    Weather { round: 0.06, ..weather("ρ = 0.8, and each round has its level, ±6 %", Noise::Autocorrelated(0.8)) },
    Weather {
        study: 0.03,
        most_false: None,
        ..weather("ρ = 0.8, and each study has its level, ±3 %", Noise::Autocorrelated(0.8))
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

/// A study and a later one, of a storage that has become so much slower.
fn change(weather: Weather, rounds: usize, slower: f64, random: &mut Random) -> Estimate {
    let base = study(weather, rounds, random);
    let new: Vec<f64> = study(weather, rounds, random).iter().map(|rate| rate * (1.0 - slower)).collect();
    shifted_ratio(&new, &base, CHANGE_CONFIDENCE).expect("rates above 0")
}

fn is_shown(found: &Estimate) -> bool {
    found.difference(CHANGE_CONFIDENCE) == Difference::Shown
}

#[test]
fn a_figure_that_is_the_same_does_not_change_and_a_slower_one_does() {
    let mut rows = Vec::new();
    for weather in WEATHERS {
        for rounds in [4, 5, 8] {
            let [changed, fires] = shares(|random| {
                let found = change(weather, rounds, 0.0, random);
                [is_shown(&found), is_shown(&found) && found.interval.high < 0.95]
            });
            let [covers, found] = shares(|random| {
                let found = change(weather, rounds, 0.15, random);
                [found.interval.contains(0.85), is_shown(&found)]
            });
            let cells = [changed, fires, covers, found].map(percent);
            let [changed_cell, fires_cell, covers_cell, found_cell] = cells;
            let rounds_cell = rounds.to_string();
            rows.push([weather.words.to_string(), rounds_cell, changed_cell, fires_cell, covers_cell, found_cell]);
            let what = format!("{}, {rounds} rounds", weather.words);
            if let Some(most) = weather.most_false {
                assert!(changed <= most, "{what}: {changed} false changes");
                assert!(covers >= 0.92, "{what}: {covers} of the 95 % intervals hold the ratio");
            }
        }
    }
    document::hold(
        "judgements::changes",
        [
            "rounds of both studies",
            "rounds",
            "the same: a change is shown",
            "`< -5%` fires",
            "95 % interval holds the ratio",
            "15 % slower: shown",
        ],
        &rows,
    );
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
    assert!(power(shifted_ratio, 0.0) <= FALSE_MAX);
}
