//! Student's intervals of a mean of few values.

use super::Interval;
use super::descriptive::mean;

/// Smallest number of runs that shows how much runs differ.
pub const RUNS_MIN: usize = 3;

/// Number of degrees of freedom in the tables.
const QUANTILES: usize = 30;

/// Student's distribution at one confidence.
#[derive(Clone, Copy, Debug)]
pub struct Student {
    quantiles: [f64; QUANTILES],
    confidence: f64,
}

/// Two-sided 95 %, for 1 to 30 degrees of freedom (NIST/SEMATECH e-Handbook of Statistical Methods, section
/// 1.3.6.7.2). With more degrees the last one is used, so that an interval is a little too wide.
pub const STUDENT_95: Student = Student {
    quantiles: [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
        2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
    ],
    confidence: 0.95,
};

/// Two-sided 99 %, from the same source.
pub const STUDENT_99: Student = Student {
    quantiles: [
        63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.250, 3.169, 3.106, 3.055, 3.012, 2.977, 2.947,
        2.921, 2.898, 2.878, 2.861, 2.845, 2.831, 2.819, 2.807, 2.797, 2.787, 2.779, 2.771, 2.763, 2.756, 2.750,
    ],
    confidence: 0.99,
};

impl Student {
    /// Half the width of the interval of a mean. `None`: there are too few values, or one is not finite.
    pub fn half_width(&self, values: &[f64]) -> Option<f64> {
        let count = values.len();
        let centre = mean(values).filter(|_| count >= RUNS_MIN)?;
        let square = values.iter().map(|value| (value - centre).powi(2)).sum::<f64>() / (count - 1) as f64;
        Some(self.quantiles[(count - 2).min(QUANTILES - 1)] * (square / count as f64).sqrt())
    }

    /// The interval of the figures of runs. Figures differ by factors, so that it is the interval of the mean of
    /// their logarithms. `None`: there are too few runs, or a figure is not above 0.
    pub fn of_runs(&self, figures: &[f64]) -> Option<Interval> {
        if figures.iter().any(|figure| *figure <= 0.0) {
            return None;
        }
        let logarithms: Vec<f64> = figures.iter().map(|figure| figure.ln()).collect();
        let (centre, half) = (mean(&logarithms)?, self.half_width(&logarithms)?);
        Some(Interval { low: (centre - half).exp(), high: (centre + half).exp(), confidence: self.confidence })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hand_computed() {
        // Mean 2, deviation 1: 4.303 / sqrt(3).
        let half = STUDENT_95.half_width(&[1.0, 2.0, 3.0]).unwrap();
        assert!((half - 2.484).abs() < 1e-3, "{half}");
        let found = STUDENT_99.of_runs(&[1.0, 10.0, 100.0]).unwrap();
        let factor = 10f64.powf(9.925 / 3f64.sqrt());
        assert!((found.high / (10.0 * factor) - 1.0).abs() < 1e-9 && (found.low * factor / 10.0 - 1.0).abs() < 1e-9);
        assert_eq!(found.confidence, 0.99);
    }

    #[test]
    fn what_cannot_be_said_is_none() {
        assert_eq!(STUDENT_95.of_runs(&[1.0, 2.0]), None);
        assert_eq!(STUDENT_95.of_runs(&[1.0, 0.0, 2.0]), None);
        assert_eq!(STUDENT_95.of_runs(&[1.0, f64::NAN, 2.0]), None);
    }
}
