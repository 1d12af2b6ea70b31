//! An open loop: requests come at a rate, whatever the storage does.

/// What may be missing from the offered rate, as a share, however many requests there were.
const TOLERANCE: f64 = 0.02;

/// Chance moves the number of arrivals by this many of its standard deviations at most.
const DEVIATIONS: f64 = 3.0;

/// Whether a load was served: the rate of completions is that of the arrivals, as far as Poisson arrivals let it be told
/// in `elapsed_s` seconds. If not, a queue grew.
pub fn load_was_served(offered_per_s: f64, achieved_per_s: f64, elapsed_s: f64) -> bool {
    let expected = offered_per_s * elapsed_s;
    let tolerance = TOLERANCE.max(DEVIATIONS / expected.max(1.0).sqrt());
    achieved_per_s >= offered_per_s * (1.0 - tolerance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_arrivals_may_be_fewer_by_chance() {
        assert!(load_was_served(1000.0, 985.0, 100.0));
        assert!(!load_was_served(1000.0, 970.0, 100.0));
        // 100 expected arrivals deviate by 10 %.
        assert!(load_was_served(10.0, 7.5, 10.0));
        assert!(!load_was_served(10.0, 6.5, 10.0));
    }
}
