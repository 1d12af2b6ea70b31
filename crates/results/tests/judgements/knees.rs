//! How often `sweep` names the right knee: a point per depth, repeated in turns.

use fsdyno_stats::{Knee, LoadPoint, knee, order_of_round};

use crate::noise::{Noise, Random};
use crate::{document, percent, shares};

/// Repeats of a point in a sweep of the usual length.
const ROUNDS: u32 = 8;

/// Measured tenths of a second of a turn; then tenths from the beginning of one turn to that of the next.
const WINDOWS: usize = 6;
const STRIDE: usize = 8;

const GAIN: f64 = 0.1;

/// The rates at depths 1, 2, 4 and so on, and the index of the knee.
struct Curve {
    rates: [f64; 7],
    knee: usize,
}

/// A sharp knee: eight servers.
const SHARP: Curve = Curve { rates: [1.0, 2.0, 4.0, 8.0, 8.0, 8.0, 8.0], knee: 3 };

/// A gentle knee: depth 16 is 17 % below the best rate, depth 32 is almost the best.
const GENTLE: Curve = Curve { rates: [1.0, 1.9, 3.4, 5.2, 6.8, 8.1, 8.2], knee: 5 };

/// A weak knee: depth 8 is 11 % below the best rate, hardly more than the gain that counts.
const BARE: Curve = Curve { rates: [1.0, 2.0, 4.0, 7.2, 7.7, 8.0, 8.0], knee: 4 };

/// The conditions while the turns run.
#[derive(Clone, Copy)]
struct Weather {
    words: &'static str,
    /// Noise from tenth to tenth of a second, ±10 %.
    windows: Noise,
    /// Noise of the level from turn to turn.
    turns: Noise,
    turn: f64,
    /// Whether intervals must contain the true rate in 92 % of cases.
    covers: bool,
}

const fn weather(words: &'static str, windows: Noise) -> Weather {
    Weather { words, windows, turns: Noise::Independent, turn: 0.0, covers: true }
}

const WEATHERS: [Weather; 10] = [
    weather("tenths of a second for themselves", Noise::Independent),
    weather("ρ = 0.5 from tenth to tenth", Noise::Autocorrelated(0.5)),
    weather("ρ = 0.8 from tenth to tenth", Noise::Autocorrelated(0.8)),
    Weather { covers: false, ..weather("ρ = 0.95 from tenth to tenth", Noise::Autocorrelated(0.95)) },
    // Bursts are so rare that one point in six meets none.
    Weather { covers: false, ..weather("bursts of about three tenths, a third slower", Noise::Bursts) },
    // If the rate falls steadily, there is no single true rate.
    Weather { covers: false, ..weather("a drift of 1 % a turn", Noise::Drift(0.01 / STRIDE as f64)) },
    Weather { turn: 0.03, ..weather("ρ = 0.5, and each turn has its level, ±3 %", Noise::Autocorrelated(0.5)) },
    Weather { turn: 0.03, ..weather("ρ = 0.8, and each turn has its level, ±3 %", Noise::Autocorrelated(0.8)) },
    Weather { turn: 0.06, ..weather("ρ = 0.8, and each turn has its level, ±6 %", Noise::Autocorrelated(0.8)) },
    Weather {
        turn: 0.06,
        turns: Noise::Autocorrelated(0.8),
        covers: false,
        ..weather("levels of ±6 % that keep ρ = 0.8 from turn to turn", Noise::Independent)
    },
];

/// The points of a sweep.
fn sweep(curve: &Curve, weather: Weather, rounds: u32, random: &mut Random) -> Vec<LoadPoint> {
    let depths = curve.rates.len();
    let turns = depths * rounds as usize;
    let levels = weather.turns.series(random, weather.turn, turns);
    let windows = weather.windows.series(random, 0.1, turns * STRIDE);
    let mut turns = levels.iter().zip(windows.chunks(STRIDE)).map(|(level, windows)| {
        level.exp() * windows[..WINDOWS].iter().map(|window| window.exp()).sum::<f64>() / WINDOWS as f64
    });
    let mut throughputs = vec![Vec::new(); depths];
    for depth in (0..rounds).flat_map(|round| order_of_round(round, depths)) {
        throughputs[depth].push(curve.rates[depth] * turns.next().unwrap_or_default());
    }
    let point = |(depth, throughputs)| {
        let load = f64::from(1u32 << depth);
        LoadPoint { load, throughputs, latency: load / curve.rates[depth] }
    };
    throughputs.into_iter().enumerate().map(point).collect()
}

/// Share of sweeps with a false knee, then with the true knee.
fn named(curve: &Curve, weather: Weather) -> [f64; 2] {
    shares(|random| {
        let found = knee(&sweep(curve, weather, ROUNDS, random), GAIN).expect("seven points, eight rounds");
        let right = found == Knee::At(curve.knee);
        [!right && !matches!(found, Knee::Within(..)), right]
    })
}

#[test]
fn a_false_knee_is_rare_and_a_clear_one_is_found() {
    let mut rows = Vec::new();
    for weather in WEATHERS {
        let truth = SHARP.rates[3] * mean_of(weather);
        let [covers] = shares(|random| {
            let points = sweep(&SHARP, weather, ROUNDS, random);
            [fsdyno_results::interval_of_rounds(&points[3].throughputs).is_some_and(|found| found.contains(truth))]
        });
        let [sharp, gentle, bare] = [SHARP, GENTLE, BARE].map(|curve| named(&curve, weather));
        for [wrong, _] in [sharp, gentle, bare] {
            assert!(wrong <= 0.05, "{}: {wrong} false knees", weather.words);
        }
        assert!(!weather.covers || covers >= 0.92, "{}: {covers} of the intervals hold the rate", weather.words);
        let [[sharp_wrong, sharp_right], [gentle_wrong, gentle_right], [bare_wrong, bare_right]] =
            [sharp, gentle, bare].map(|shares| shares.map(percent));
        rows.push([
            weather.words.to_string(),
            percent(covers),
            sharp_wrong,
            sharp_right,
            gentle_wrong,
            gentle_right,
            bare_wrong,
            bare_right,
        ]);
    }
    document::compare(
        "judgements::knees",
        [
            "turns",
            "95 % interval holds the rate",
            "sharp: false knee",
            "named",
            "17 % below: false knee",
            "named",
            "11 % below: false knee",
            "named",
        ],
        &rows,
    );
}

/// Mean rate of a turn whose true rate is 1, over many sweeps.
fn mean_of(weather: Weather) -> f64 {
    const SWEEPS: usize = 400;
    let mut random = Random::new(1);
    let turns = SHARP.rates.len() * ROUNDS as usize;
    let mut one = |noise: Noise, deviation: f64, count: usize| {
        let sum: f64 = (0..SWEEPS).flat_map(|_| noise.series(&mut random, deviation, count)).map(f64::exp).sum();
        sum / (SWEEPS * count) as f64
    };
    one(weather.windows, 0.1, turns * STRIDE) * one(weather.turns, weather.turn, turns)
}

#[test]
fn one_run_of_each_point_would_name_false_knees() {
    let weather = WEATHERS[8];
    let [wrong] = shares(|random| {
        let points = sweep(&SHARP, weather, 1, random);
        let rate = |point: &LoadPoint| point.throughputs[0];
        let gains_nothing =
            |index: &usize| points[index + 1..].iter().all(|later| rate(later) <= rate(&points[*index]) * (1.0 + GAIN));
        [(0..points.len()).find(gains_nothing) != Some(SHARP.knee)]
    });
    assert!(wrong > 0.3, "this noise can mislead: {wrong}");
}
