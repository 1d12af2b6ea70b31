//! Tails of the binomial distribution, for counts from one to billions.

/// P(B ≤ k) for B ~ Binomial(n, p), 0 < p < 1.
pub(super) fn at_most(k: u64, n: u64, p: f64) -> f64 {
    if k >= n {
        1.0
    } else if k as f64 <= n as f64 * p {
        lower_sum(k, n, p)
    } else {
        1.0 - upper_sum(k + 1, n, p)
    }
}

/// P(B ≥ k) for B ~ Binomial(n, p), 0 < p < 1.
pub(super) fn at_least(k: u64, n: u64, p: f64) -> f64 {
    if k == 0 {
        1.0
    } else if k > n {
        0.0
    } else if k as f64 > n as f64 * p {
        upper_sum(k, n, p)
    } else {
        1.0 - lower_sum(k - 1, n, p)
    }
}

/// The sum of the terms from k down to 0. Below the mean they shrink, so that only a multiple of sqrt(n) terms
/// matter.
fn lower_sum(k: u64, n: u64, p: f64) -> f64 {
    let odds = (1.0 - p) / p;
    let mut term = probability(k, n, p);
    let mut sum = term;
    for count in (1..=k).rev() {
        term *= count as f64 / (n - count + 1) as f64 * odds;
        sum += term;
        if term <= sum * f64::EPSILON / 8.0 {
            break;
        }
    }
    sum
}

/// The sum of the terms from k up to n, which is the lower sum of the failures.
fn upper_sum(k: u64, n: u64, p: f64) -> f64 {
    lower_sum(n - k, n, 1.0 - p)
}

/// P(B = k), by logarithms of the gamma function.
fn probability(k: u64, n: u64, p: f64) -> f64 {
    let log_factorial = |count: u64| libm::lgamma(count as f64 + 1.0);
    let log_ways = log_factorial(n) - log_factorial(k) - log_factorial(n - k);
    (log_ways + k as f64 * p.ln() + (n - k) as f64 * (-p).ln_1p()).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_counts_are_those_of_pascals_triangle() {
        let ways = [1.0, 5.0, 10.0, 10.0, 5.0, 1.0];
        for k in 0..=5 {
            let below: f64 = ways[..=k].iter().sum();
            let above: f64 = ways[k..].iter().sum();
            assert!((at_most(k as u64, 5, 0.5) - below / 32.0).abs() < 1e-14, "{k}");
            assert!((at_least(k as u64, 5, 0.5) - above / 32.0).abs() < 1e-14, "{k}");
        }
        assert_eq!((at_most(9, 5, 0.5), at_least(9, 5, 0.5)), (1.0, 0.0));
    }
}
