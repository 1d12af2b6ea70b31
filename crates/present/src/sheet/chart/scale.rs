//! Maps values to positions on an axis, and chooses round values for its marks.

/// One axis.
#[derive(Clone, Copy, Debug)]
pub(in crate::sheet) struct Scale {
    logarithmic: bool,
    low: f64,
    high: f64,
    /// Positions of the lowest and of the highest value, px.
    from: f64,
    to: f64,
}

impl Scale {
    /// A linear axis.
    pub(in crate::sheet) fn linear(low: f64, high: f64, from: f64, to: f64) -> Scale {
        let high = if high > low { high } else { low + 1.0 };
        Scale { logarithmic: false, low, high, from, to }
    }

    /// A logarithmic axis; both ends above 0.
    pub(in crate::sheet) fn logarithmic(low: f64, high: f64, from: f64, to: f64) -> Scale {
        let low = if low > 0.0 { low } else { f64::MIN_POSITIVE };
        let high = if high > low { high } else { low * 10.0 };
        Scale { logarithmic: true, low, high, from, to }
    }

    /// The lowest value.
    pub(in crate::sheet) fn low(&self) -> f64 {
        self.low
    }

    /// The highest value.
    pub(in crate::sheet) fn high(&self) -> f64 {
        self.high
    }

    pub(in crate::sheet) fn is_logarithmic(&self) -> bool {
        self.logarithmic
    }

    /// The position of a value; values beyond the ends are at the end.
    pub(in crate::sheet) fn at(&self, value: f64) -> f64 {
        let value = value.clamp(self.low, self.high);
        let share = if self.logarithmic {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        self.from + share * (self.to - self.from)
    }

    /// Round values for marks, at most about `wanted`.
    pub(in crate::sheet) fn marks(&self, wanted: usize) -> Vec<f64> {
        if self.logarithmic { self.logarithmic_marks(wanted) } else { self.linear_marks(wanted) }
    }

    /// Most of the round values that are at least this far from each other, px.
    pub(in crate::sheet) fn marks_apart(&self, px: f64) -> Vec<f64> {
        let is_apart = |marks: &Vec<f64>| marks.windows(2).all(|pair| self.at(pair[1]) - self.at(pair[0]) >= px);
        (1..=5).rev().map(|wanted| self.marks(wanted)).find(is_apart).unwrap_or_default()
    }

    fn linear_marks(&self, wanted: usize) -> Vec<f64> {
        let step = round_up((self.high - self.low) / wanted.max(1) as f64);
        let first = (self.low / step).ceil();
        let count = (self.high / step).floor() - first;
        (0..=count.clamp(0.0, 100.0) as u32).map(|index| (first + f64::from(index)) * step).collect()
    }

    fn logarithmic_marks(&self, wanted: usize) -> Vec<f64> {
        let decades = (self.low.log10().floor() as i32)..=(self.high.log10().ceil() as i32);
        let of = |steps: &[f64]| -> Vec<f64> {
            let all = decades.clone().flat_map(|decade| steps.iter().map(move |step| step * 10f64.powi(decade)));
            all.filter(|mark| (self.low * 0.9999..=self.high * 1.0001).contains(mark)).collect()
        };
        let sparse = |every: usize| of(&[1.0]).into_iter().step_by(every.max(1)).collect::<Vec<f64>>();
        [of(&[1.0, 2.0, 5.0]), of(&[1.0, 3.0]), of(&[1.0])]
            .into_iter()
            .find(|marks| marks.len() <= wanted)
            .unwrap_or_else(|| sparse(of(&[1.0]).len().div_ceil(wanted.max(1))))
    }
}

/// The value rounded up to 1, 2, 5, 10, 20, 50 ...
pub(in crate::sheet) fn round_up(value: f64) -> f64 {
    if value.is_nan() || value <= 0.0 {
        return 1.0;
    }
    let decade = 10f64.powf(value.log10().floor());
    let steps = [1.0, 2.0, 5.0].into_iter().map(|step| step * decade);
    steps.into_iter().find(|step| *step >= value * 0.999_999).unwrap_or(10.0 * decade)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places() {
        let linear = Scale::linear(0.0, 10.0, 100.0, 0.0);
        assert_eq!((linear.at(0.0), linear.at(5.0), linear.at(10.0), linear.at(11.0)), (100.0, 50.0, 0.0, 0.0));
        let log = Scale::logarithmic(1.0, 100.0, 0.0, 10.0);
        assert!((log.at(10.0) - 5.0).abs() < 1e-9);
        assert_eq!(log.at(0.0), 0.0);
        assert!(Scale::linear(3.0, 3.0, 0.0, 1.0).at(3.0).is_finite());
        assert!(Scale::logarithmic(0.0, 0.0, 0.0, 1.0).at(3.0).is_finite());
    }

    #[test]
    fn marks_are_round() {
        assert_eq!(Scale::linear(0.0, 508.0, 0.0, 1.0).marks(5), [0.0, 200.0, 400.0]);
        assert_eq!(Scale::linear(0.0, 10.0, 0.0, 1.0).marks(5), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(Scale::logarithmic(40.0, 2500.0, 0.0, 1.0).marks(6), [50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0]);
        assert_eq!(Scale::logarithmic(1.0, 1e9, 0.0, 1.0).marks(5), [1.0, 100.0, 1e4, 1e6, 1e8]);
    }
}
