//! Describes a pattern's throughput over time in words: a warm-up at its beginning, a lasting step later on.

use fsdyno_stats::{Sensitivity, WarmUp, change_point, median, warm_up};

use super::series::Series;
use crate::quantity::{round, shortened};
use crate::summary::Grid;

/// Values within this share of the later ones are not warm-up.
const TOLERANCE: f64 = 0.05;

/// Least number of points that can show either.
const POINTS_MIN: usize = 10;

/// One sentence per target; none for targets that did nothing, or were too short to tell.
pub(super) fn sentences(series: &Series, grid: &Grid<'_>) -> Vec<String> {
    let mut text = Vec::new();
    for line in series.main_lines() {
        // With one storage its name is not needed.
        let name =
            if grid.targets.len() > 1 { shortened(&grid.targets[line.target], 40) } else { "The rate".to_owned() };
        let values: Vec<f64> = line.values.iter().map_while(|value| *value).collect();
        if values.len() < POINTS_MIN {
            continue;
        }
        let of = |points: usize| round(points as f64 * series.step_s);
        // The step is looked for first: a burst that ends is not part of a warm-up.
        if let Some(step) = change_point(&values, &Sensitivity::default()) {
            let (before, after) = (series.unit.words(step.before_median), series.unit.words(step.after_median));
            text.push(format!("{name} changed from {before} to {after} at {} s and stayed there.", of(step.index)));
            continue;
        }
        match warm_up(&values, TOLERANCE) {
            Some(WarmUp::Level) => {}
            Some(WarmUp::Until(end)) => {
                let (first, rest) = (median(&values[..end]), median(&values[end..]));
                let way = if first > rest { "faster than what followed" } else { "slower: a warm-up" };
                text.push(format!("{name}: the first {} s were {way}.", of(end)));
            }
            Some(WarmUp::CannotTell) => text.push(format!("{name} varies too much to separate a warm-up.")),
            Some(WarmUp::Unsettled) | None => text.push(format!("{name} did not settle in the first half of the run.")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheet::series::{RoundLine, Unit};

    fn sentences_of(values: &[f64]) -> Vec<String> {
        let study = fsdyno_results::Study::of_run(fsdyno_results::RunRecord::new("fio-3.42-test", 0));
        let grid = Grid::of(&study);
        let values = values.iter().map(|value| Some(value * 1e6)).collect();
        let rounds = vec![RoundLine { target: 0, round: 0, values }];
        let (medians, marks, figures) = (Vec::new(), Vec::new(), Vec::new());
        let series = Series { unit: Unit::Bytes, step_s: 0.5, thinned: 1, rounds, medians, marks, figures };
        sentences(&series, &grid).iter().map(|sentence| sentence.replace('\u{a0}', " ")).collect()
    }

    #[test]
    fn a_course_is_told_in_words() {
        let level: Vec<f64> = (0..20).map(|index| 100.0 + f64::from(index % 3)).collect();
        assert_eq!(sentences_of(&level), [""; 0]);
        assert_eq!(sentences_of(&level[..9]), [""; 0]);
        let rising = [&[20.0, 60.0][..], &level].concat();
        assert_eq!(sentences_of(&rising), ["The rate: the first 1 s were slower: a warm-up."]);
        let burst = [&[400.0, 300.0][..], &level].concat();
        assert_eq!(sentences_of(&burst), ["The rate: the first 1 s were faster than what followed."]);
        let wanders = [&[120.0, 118.0, 121.0][..], &level, &[112.0, 113.0, 90.0, 92.0]].concat();
        assert_eq!(sentences_of(&wanders), ["The rate varies too much to separate a warm-up."]);
        let falling: Vec<f64> = level.iter().copied().chain(level.iter().map(|value| value / 4.0)).collect();
        assert_eq!(sentences_of(&falling), ["The rate changed from 101 MB/s to 25.2 MB/s at 10 s and stayed there."]);
    }
}
