//! How often the sheet recognises the warm-up at the beginning of a series.

use fsdyno_stats::{WarmUp, warm_up};

use crate::noise::{Noise, Random};
use crate::{document, percent, shares};

const TOLERANCE: f64 = 0.05;

const LENGTHS: [usize; 4] = [10, 30, 60, 300];

/// A series around 100, ±10 %.
fn level(noise: Noise, values: usize, random: &mut Random) -> Vec<f64> {
    noise.series(random, 0.1, values).iter().map(|value| 100.0 * value.exp()).collect()
}

#[test]
fn a_level_series_has_no_warm_up_and_a_clear_one_is_found() {
    let noises = [
        ("values for themselves", Noise::Independent, true),
        ("ρ = 0.5", Noise::Autocorrelated(0.5), true),
        ("ρ = 0.8", Noise::Autocorrelated(0.8), true),
        ("ρ = 0.95", Noise::Autocorrelated(0.95), false),
    ];
    let mut rows = Vec::new();
    for (words, noise, held) in noises {
        for values in LENGTHS {
            let [ends, open] = shares(|random| {
                let found = warm_up(&level(noise, values, random), TOLERANCE);
                let open = found == Some(WarmUp::CannotTell);
                [!open && found != Some(WarmUp::Level), open]
            });
            let [found] = shares(|random| {
                let mut series = level(noise, values, random);
                let first = values / 5;
                series[..first].iter_mut().for_each(|value| *value *= 0.3);
                [matches!(warm_up(&series, TOLERANCE), Some(WarmUp::Until(_)))]
            });
            assert!(!held || ends <= 0.05, "{words}, {values} values: {ends} false ends");
            rows.push([words.to_string(), values.to_string(), percent(ends), percent(open), percent(found)]);
        }
    }
    document::compare(
        "judgements::warm_ups",
        ["series", "values", "level: a warm-up is named", "level: cannot be told", "a fifth at 30 %: named"],
        &rows,
    );
}
