//! What a pattern's throughput did through the run, in words: a warm-up at its beginning, a lasting step later on.

use results::statistics::{Sensitivity, WarmUp, change_point, median, warm_up};

use super::series::Series;
use crate::quantity::{listed, megabytes_per_s, round, shortened};
use crate::summary::Grid;

/// Values this near to the later ones are no warm-up.
const TOLERANCE: f64 = 0.05;

/// Fewer points show neither.
const POINTS_MIN: usize = 10;

/// One sentence per target that did something, or that none did.
pub(super) fn sentences(series: &Series, grid: &Grid<'_>) -> Vec<String> {
    let mut text = Vec::new();
    let (mut level, mut short) = (Vec::new(), Vec::new());
    for line in series.main_lines() {
        let name = shortened(&grid.targets[line.target], 40);
        let values: Vec<f64> = line.values.iter().map_while(|value| *value).collect();
        if values.len() < POINTS_MIN {
            short.push(name);
            continue;
        }
        let of = |points: usize| round(points as f64 * series.step_s);
        // A step first: a burst that ends is none of the beginning.
        if let Some(step) = change_point(&values, &Sensitivity::default()) {
            let (before, after) = (megabytes_per_s(step.before_median), megabytes_per_s(step.after_median));
            text.push(format!("{name} changed from {before} to {after} at {} s and stayed there.", of(step.index)));
            continue;
        }
        match warm_up(&values, TOLERANCE) {
            Some(WarmUp::Level) => level.push(name),
            Some(WarmUp::Until(end)) => {
                let (first, rest) = (median(&values[..end]), median(&values[end..]));
                let way = if first > rest { "faster than what followed" } else { "slower: a warm-up" };
                text.push(format!("{name}: the first {} s were {way}.", of(end)));
            }
            Some(WarmUp::CannotTell) => text.push(format!("{name} varies too much to separate a warm-up.")),
            Some(WarmUp::Unsettled) | None => text.push(format!("{name} did not settle in the first half of the run.")),
        }
    }
    if !level.is_empty() {
        text.push(format!("No warm-up and no lasting change: {}.", listed(&level)));
    }
    if !short.is_empty() {
        text.push(format!("Too short to look for a warm-up or a change: {}.", listed(&short)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheet::series::RoundLine;

    fn sentences_of(values: &[f64]) -> Vec<String> {
        let study = results::Study::of_run(results::RunRecord::new("fio-3.42-test", 0));
        let mut grid = Grid::of(&study);
        grid.targets = vec!["disk".to_owned()];
        let values = values.iter().map(|value| Some(value * 1e6)).collect();
        let rounds = vec![RoundLine { target: 0, round: 0, values }];
        let series =
            Series { step_s: 0.5, thinned: 1, rounds, medians: Vec::new(), marks: Vec::new(), figures: Vec::new() };
        sentences(&series, &grid).iter().map(|sentence| sentence.replace('\u{a0}', " ")).collect()
    }

    #[test]
    fn a_course_is_told_in_words() {
        let level: Vec<f64> = (0..20).map(|index| 100.0 + f64::from(index % 3)).collect();
        assert_eq!(sentences_of(&level), ["No warm-up and no lasting change: disk."]);
        assert_eq!(sentences_of(&level[..9]), ["Too short to look for a warm-up or a change: disk."]);
        let rising = [&[20.0, 60.0][..], &level].concat();
        assert_eq!(sentences_of(&rising), ["disk: the first 1 s were slower: a warm-up."]);
        let burst = [&[400.0, 300.0][..], &level].concat();
        assert_eq!(sentences_of(&burst), ["disk: the first 1 s were faster than what followed."]);
        let wanders = [&[120.0, 118.0, 121.0][..], &level, &[112.0, 113.0, 90.0, 92.0]].concat();
        assert_eq!(sentences_of(&wanders), ["disk varies too much to separate a warm-up."]);
        let falling: Vec<f64> = level.iter().copied().chain(level.iter().map(|value| value / 4.0)).collect();
        assert_eq!(sentences_of(&falling), ["disk changed from 101 MB/s to 25.2 MB/s at 10 s and stayed there."]);
    }
}
