//! The latency classes of the series over time.

/// Number of classes: quarter octaves from 1 ns up.
pub(crate) const CLASSES: usize = 256;

/// The class of a latency: class `4 * e + q` is the quarter `q` of the range from 2^e ns to 2^(e + 1) ns.
pub(crate) fn class_of(latency_ns: u64) -> usize {
    let ns = latency_ns.max(1);
    let octave = ns.ilog2();
    let above = u128::from(ns - (1 << octave));
    octave as usize * 4 + ((above * 4) >> octave) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_quarters_of_octaves() {
        let classes = [0, 1, 2, 3, 4, 5, 7, 8, 1023, 1024, 1279, 1280, 2047, u64::MAX].map(class_of);
        assert_eq!(classes, [0, 0, 4, 6, 8, 9, 11, 12, 39, 40, 40, 41, 43, CLASSES - 1]);
    }
}
