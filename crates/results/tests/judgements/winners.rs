//! How often `compare` names the right winner: two places, five patterns, rounds until there are enough.

use fsdyno_stats::{
    Difference, Estimate, WINNER_CONFIDENCE, WINNER_HALF_WIDTH, WINNER_ROUNDS, order_of_round, paired_ratio,
};

use crate::noise::{Noise, Random};
use crate::{document, percent, shares};

const PATTERNS: usize = 5;

/// The conditions while the turns run.
#[derive(Clone, Copy)]
struct Weather {
    words: &'static str,
    /// Noise of this deviation from turn to turn.
    turns: Noise,
    deviation: f64,
    /// How much faster the second test of a round is, as a logarithm.
    second: f64,
}

const fn weather(words: &'static str, turns: Noise) -> Weather {
    Weather { words, turns, deviation: 0.05, second: 0.0 }
}

const WEATHERS: [Weather; 9] = [
    weather("each turn for itself, ±5 %", Noise::Independent),
    Weather { deviation: 0.02, ..weather("each turn for itself, ±2 %", Noise::Independent) },
    Weather { deviation: 0.1, ..weather("each turn for itself, ±10 %", Noise::Independent) },
    weather("ρ = 0.5 from turn to turn, ±5 %", Noise::Autocorrelated(0.5)),
    weather("ρ = 0.8 from turn to turn, ±5 %", Noise::Autocorrelated(0.8)),
    weather("ρ = 0.95 from turn to turn, ±5 %", Noise::Autocorrelated(0.95)),
    weather("bursts of about three turns, a third slower", Noise::Bursts),
    weather("a drift of 1 % a turn", Noise::Drift(0.01)),
    Weather { second: 0.04, ..weather("±5 %, and what goes second is 4 % faster", Noise::Independent) },
];

/// The paired ratio of the second place to the first in each pattern, after all rounds of a comparison.
fn comparison(weather: Weather, slower: f64, random: &mut Random) -> Vec<Estimate> {
    let (least, most) = WINNER_ROUNDS;
    let mut turns = weather.turns.series(random, weather.deviation, most as usize * PATTERNS * 2).into_iter();
    let mut rates = vec![[Vec::new(), Vec::new()]; PATTERNS];
    for round in 0..most {
        for pattern in &mut rates {
            for (turn, place) in order_of_round(round, 2).into_iter().enumerate() {
                let level = if place == 1 { (1.0 - slower).ln() } else { 0.0 };
                let noise = turns.next().unwrap_or_default() + weather.second * turn as f64;
                pattern[place].push((level + noise).exp());
            }
        }
        if (round + 1) % 2 == 0 && round + 1 >= least && (round + 1 == most || rates.iter().all(is_known)) {
            break;
        }
    }
    rates.iter().map(|[base, new]| paired_ratio(new, base, WINNER_CONFIDENCE).expect("enough rounds")).collect()
}

/// Whether a pattern needs no more rounds.
fn is_known([base, new]: &[Vec<f64>; 2]) -> bool {
    paired_ratio(new, base, WINNER_CONFIDENCE).is_some_and(|found| {
        is_shown(&found) || found.relative_half_width().is_some_and(|width| width <= WINNER_HALF_WIDTH)
    })
}

fn is_shown(found: &Estimate) -> bool {
    found.winner() == Difference::Shown
}

#[test]
fn equal_places_have_no_winner_and_a_slower_one_is_found() {
    let mut rows = Vec::new();
    for weather in WEATHERS {
        let [none] = shares(|random| [comparison(weather, 0.0, random).iter().any(is_shown)]);
        let [covers, one, any] = shares(|random| {
            let found = comparison(weather, 0.15, random);
            [found[0].interval.contains(0.85), is_shown(&found[0]), found.iter().any(is_shown)]
        });
        rows.push([weather.words.to_string(), percent(none), percent(covers), percent(one), percent(any)]);
        assert!(none <= 0.05, "{}: {none} of equal places have a winner in some pattern", weather.words);
        assert!(covers >= 0.98, "{}: {covers} of the 99 % intervals hold the true ratio", weather.words);
        assert!(any >= 0.8, "{}: {any} of the slower places are found", weather.words);
    }
    document::compare(
        "judgements::winners",
        [
            "turns",
            "equal places: a winner in any of five patterns",
            "99 % interval holds the ratio",
            "15 % slower: found in a pattern",
            "found in any pattern",
        ],
        &rows,
    );
}

#[test]
fn a_fixed_order_would_take_the_second_turn_for_a_winner() {
    let weather = Weather { second: 0.08, ..WEATHERS[8] };
    let [fixed] = shares(|random| {
        let turns = weather.turns.series(random, 0.01, 16);
        let side = |place: usize| -> Vec<f64> {
            turns.chunks(2).map(|pair| (pair[place] + weather.second * place as f64).exp()).collect()
        };
        [is_shown(&paired_ratio(&side(1), &side(0), WINNER_CONFIDENCE).expect("eight rounds"))]
    });
    assert!(fixed > 0.9, "this noise can mislead: {fixed}");
}
