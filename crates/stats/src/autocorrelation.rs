//! The effective number of independent values in a series with autocorrelation.

use super::null_distribution::doubled_ranks;

/// The share of independent values in a series whose level or trend was removed: (1 - r) / (1 + r), where r is the
/// correlation of each value's rank with the next one's (G. V. Bayley and J. M. Hammersley, Journal of the Royal
/// Statistical Society, Supplement 8, 1946, 184–197). It is 1 if r is negative, or not larger than in one of twenty
/// independent series (1.645 / sqrt(n)).
pub(super) fn independent_share(residuals: &[f64]) -> f64 {
    let n = residuals.len();
    // The mean of a doubled rank is n + 1.
    let excess = |rank: usize| rank as f64 - (n + 1) as f64;
    let ranks: Vec<f64> = doubled_ranks(residuals).into_iter().map(excess).collect();
    let squares: f64 = ranks.iter().map(|rank| rank * rank).sum();
    let products: f64 = ranks.windows(2).map(|pair| pair[0] * pair[1]).sum();
    // A series without noise gives 0/0, which is not a number and therefore not above the bound.
    let correlation = products / squares;
    if correlation > 1.645 / (n as f64).sqrt() { (1.0 - correlation) / (1.0 + correlation) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::random::noise::share;

    #[test]
    fn it_is_what_the_correlation_of_neighbours_says() {
        let series = Random::new(1).series(0.5, 5000);
        assert!((independent_share(&series) - 1.0 / 3.0).abs() < 0.04, "{}", independent_share(&series));
        let all = share(1000, |random| independent_share(&random.series(0.0, 60)) == 1.0);
        assert!((0.93..0.99).contains(&all), "{all}");
        let alternating: Vec<f64> = (0..60).map(|index| f64::from(index % 2)).collect();
        assert_eq!(independent_share(&alternating), 1.0);
        assert_eq!(independent_share(&[3.0; 20]), 1.0);
        assert_eq!(independent_share(&[]), 1.0);
    }
}
