//! What the wall time of a question was used for.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Question, Study, test_name};

/// The wall time of a question and its parts. The rest is preparation, warm-up and removal.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TimeUse {
    /// From the question's beginning to its end, s.
    pub wall_s: f64,
    /// Measured time: the sum over the tests, s.
    pub measured_s: f64,
    /// Share of the measured time in the wall time, percent.
    pub measured_percent: f64,
    /// Time in which the file of the tests was written, s.
    pub layout_s: f64,
    /// Share of that time in the wall time, percent.
    pub layout_percent: f64,
}

impl Study {
    /// What its wall time was used for; `None`: no test ran, the clock was set back meanwhile (the tests
    /// would take longer than all), or it is a fio run, whose
    /// jobs may run side by side.
    pub fn time_use(&self) -> Option<TimeUse> {
        if self.question == Question::Fio {
            return None;
        }
        let wall_ms = self.ended_ms.checked_sub(self.started_ms).filter(|wall_ms| *wall_ms > 0)? as f64;
        // Tests run one after the other, so their times add up.
        let sum_ms = |is_layout: bool| -> f64 {
            let rows = self.rows.iter().filter(|row| (row.pattern == test_name::FILL) == is_layout);
            rows.filter_map(crate::Row::elapsed_s).fold(0.0, |sum, elapsed_s| sum + elapsed_s * 1e3)
        };
        let (measured_ms, layout_ms) = (sum_ms(false), sum_ms(true));
        let seconds = |ms: f64| ms.round() / 1e3;
        let percent = |ms: f64| (ms / wall_ms * 1e4).round() / 100.0;
        (measured_ms > 0.0 && measured_ms + layout_ms <= wall_ms).then(|| TimeUse {
            wall_s: seconds(wall_ms),
            measured_s: seconds(measured_ms),
            measured_percent: percent(measured_ms),
            layout_s: seconds(layout_ms),
            layout_percent: percent(layout_ms),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PhaseRecord, Row};

    fn study(wall_ms: u64, phases_ms: &[(&str, u64)]) -> Study {
        let row = |(pattern, ms): &(&str, u64)| {
            let phase = PhaseRecord { elapsed_ns: ms * 1_000_000, ..PhaseRecord::default() };
            Row { pattern: (*pattern).to_owned(), phase: Some(phase), ..Row::default() }
        };
        let rows = phases_ms.iter().map(row).collect();
        Study {
            started_ms: 1_000,
            ended_ms: 1_000 + wall_ms,
            rows,
            question: Question::SmallFiles,
            ..Study::of_run(crate::RunRecord::default())
        }
    }

    #[test]
    fn tests_are_measured_time_and_the_fill_is_layout() {
        let used = study(8_000, &[(test_name::FILL, 1_000), ("create", 4_000), ("stat", 2_000)]).time_use().unwrap();
        let expected =
            TimeUse { wall_s: 8.0, measured_s: 6.0, measured_percent: 75.0, layout_s: 1.0, layout_percent: 12.5 };
        assert_eq!(used, expected);
        let without_layout = study(8_000, &[("create", 4_000)]).time_use().unwrap();
        assert!(without_layout.layout_s.is_sign_positive(), "-0 is no time");
    }

    #[test]
    fn without_a_test_or_a_wall_time_nothing_is_said() {
        assert_eq!(study(8_000, &[(test_name::FILL, 1_000)]).time_use(), None);
        assert_eq!(study(0, &[("create", 4_000)]).time_use(), None);
        assert_eq!(study(3_999, &[("create", 4_000)]).time_use(), None);
    }
}
