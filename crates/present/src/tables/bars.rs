//! Draws bars and sparklines of block characters in text tables.

/// A bar of this share of `columns`, in steps of an eighth of a column: `██▌`.
pub(super) fn bar(share: f64, columns: usize) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (share.clamp(0.0, 1.0) * (columns * 8) as f64).round() as usize;
    // A small value above 0 is still visible.
    let eighths = if share > 0.0 { eighths.max(1) } else { eighths };
    format!("{}{}", "█".repeat(eighths / 8), PARTS[eighths % 8])
}

/// A sparkline of values, from 0 to the largest of them: `▂▅█`.
pub(super) fn sparkline(values: &[f64]) -> String {
    const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = most(values.iter().copied());
    let height = |value: &f64| HEIGHTS[((value / most * 8.0).ceil() as usize).clamp(1, 8) - 1];
    values.iter().map(height).collect()
}

/// The largest value; 0 if there are none.
pub(super) fn most(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_have_the_length_of_their_values() {
        assert_eq!([bar(1.0, 3), bar(0.5, 3), bar(0.001, 3), bar(0.0, 3)], ["███", "█▌", "▏", ""]);
        assert_eq!(bar(f64::NAN, 3), "");
        assert_eq!(sparkline(&[1.0, 4.0, 8.0]), "▁▄█");
        assert_eq!(sparkline(&[]), "");
    }
}
