//! Draws a small chart of characters: a linear horizontal axis from 0, a logarithmic vertical one.

/// A point with its label.
pub(super) struct Mark {
    pub(super) x: f64,
    /// The vertical value, above 0.
    pub(super) y: f64,
    pub(super) label: String,
}

/// A label below the horizontal axis with its position.
pub(super) struct Tick {
    pub(super) x: f64,
    pub(super) label: String,
}

/// Lines of the plot area; odd, so that one is the middle.
const LINES: usize = 13;

/// Greatest width: longer lines of points are hard to follow.
const WIDEST: usize = 78;

/// The chart in at most this number of columns, ending with a line feed; `None` with fewer than two points, or without
/// space.
pub(super) fn plot(marks: &[Mark], ticks: &[Tick], show_y: fn(f64) -> String, columns: usize) -> Option<String> {
    let usable = |mark: &&Mark| mark.x.is_finite() && mark.x >= 0.0 && mark.y.is_finite() && mark.y > 0.0;
    let marks: Vec<&Mark> = marks.iter().filter(usable).collect();
    let right = marks.iter().map(|mark| mark.x).fold(0.0, f64::max);
    let low = marks.iter().map(|mark| mark.y).fold(f64::INFINITY, f64::min);
    let high = marks.iter().map(|mark| mark.y).fold(0.0, f64::max);
    if marks.len() < 2 || right <= 0.0 {
        return None;
    }
    // All points have the same height: the range is widened so that they are in the middle.
    let (low, high) = if high > low * 1.001 { (low, high) } else { (low / 2.0, high * 2.0) };
    let height = |share: f64| low * (high / low).powf(share);
    let labels = [1.0, 0.5, 0.0].map(|share| show_y(height(share)));
    let margin = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
    let width = columns.min(WIDEST).checked_sub(margin + 2).filter(|width| *width >= 20)?;
    let mut area = Area { lines: vec![vec![' '; width]; LINES] };
    for mark in &marks {
        let up = (mark.y / low).ln() / (high / low).ln();
        let line = ((1.0 - up) * (LINES - 1) as f64).round() as usize;
        area.write(line, column(mark.x, right, width), &mark.label);
    }
    let mut text = String::new();
    for (index, line) in area.lines.iter().enumerate() {
        let label = match index {
            0 => &labels[0],
            _ if index == LINES / 2 => &labels[1],
            _ if index == LINES - 1 => &labels[2],
            _ => "",
        };
        let points: String = line.iter().collect();
        text.push_str(&format!("{label:>margin$} │{}\n", points.trim_end()));
    }
    text.push_str(&format!("{:margin$} └{}\n", "", "─".repeat(width)));
    let mut below = Area { lines: vec![vec![' '; width]] };
    ticks.iter().for_each(|tick| below.write(0, column(tick.x, right, width), &tick.label));
    let below: String = below.lines[0].iter().collect();
    text.push_str(&format!("{:margin$}  {}\n", "", below.trim_end()));
    Some(text)
}

fn column(x: f64, right: f64, width: usize) -> usize {
    (x / right * (width - 1) as f64).round() as usize
}

struct Area {
    lines: Vec<Vec<char>>,
}

impl Area {
    /// Writes a label at its position, or at the nearest free one of the line, with a blank on both sides.
    fn write(&mut self, line: usize, column: usize, label: &str) {
        let letters: Vec<char> = label.chars().collect();
        let Some(line) = self.lines.get_mut(line) else { return };
        let Some(last) = line.len().checked_sub(letters.len()) else { return };
        let is_free = |start: &usize| {
            let around = start.saturating_sub(1)..(start + letters.len() + 1).min(line.len());
            line[around].iter().all(|letter| *letter == ' ')
        };
        let wanted = column.min(last);
        let place = (0..=last).filter(is_free).min_by_key(|start| start.abs_diff(wanted));
        if let Some(start) = place {
            line[start..start + letters.len()].copy_from_slice(&letters);
        }
    }
}

#[cfg(test)]
mod tests {
    use fsdyno_text::quantity::latency;

    use super::*;

    fn mark(x: f64, y: f64, label: &str) -> Mark {
        Mark { x, y, label: label.to_string() }
    }

    #[test]
    fn points_stand_where_their_values_say() {
        let marks = [mark(0.0, 1e3, "a"), mark(100.0, 1e5, "z"), mark(50.0, 1e4, "m")];
        let ticks = [Tick { x: 0.0, label: "0".into() }, Tick { x: 100.0, label: "100".into() }];
        let text = plot(&marks, &ticks, latency, 40).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), LINES + 2);
        assert!(lines[0].starts_with(" 100 µs │") && lines[0].ends_with('z'), "{text}");
        assert_eq!(lines[0].chars().count(), 40);
        assert_eq!(lines[LINES / 2].trim_end(), "10.0 µs │               m", "{text}");
        assert!(lines[LINES - 1].starts_with("1.00 µs │a"), "{text}");
        assert_eq!(lines[LINES + 1].trim_start().len(), 31, "{text}");
    }

    #[test]
    fn labels_that_would_meet_stand_beside_each_other() {
        let marks = [mark(50.0, 10.0, "16"), mark(50.0, 10.0, "32"), mark(100.0, 1000.0, "64")];
        let text = plot(&marks, &[], latency, 60).unwrap();
        let bottom = text.lines().nth(LINES - 1).unwrap();
        assert!(bottom.contains("16 32") || bottom.contains("32 16"), "{text}");
    }

    #[test]
    fn what_makes_no_chart_makes_none() {
        assert!(plot(&[mark(1.0, 1.0, "1")], &[], latency, 80).is_none());
        assert!(plot(&[mark(0.0, 1.0, "1"), mark(0.0, 2.0, "2")], &[], latency, 80).is_none());
        assert!(plot(&[mark(1.0, 0.0, "1"), mark(1.0, f64::NAN, "2")], &[], latency, 80).is_none());
        assert!(plot(&[mark(1.0, 1.0, "1"), mark(2.0, 2.0, "2")], &[], latency, 20).is_none());
        let level = plot(&[mark(1.0, 5.0, "1"), mark(2.0, 5.0, "2")], &[], latency, 60).unwrap();
        assert!(level.lines().nth(LINES / 2).unwrap().contains("1 "), "{level}");
    }
}
