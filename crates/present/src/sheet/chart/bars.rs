//! Small charts that stand in a table's cell: depth and CPU.

use maud::{Markup, html};
use results::JobRecord;

use super::{Frame, label, px, rectangle, svg};
use crate::quantity::number;

/// How many of the requests were submitted at which depth, as seven columns.
pub(in crate::sheet) fn depth(id: &str, title: &str, levels: &[u64; 7], class: &str) -> Markup {
    const WIDTH: f64 = 26.0;
    let total: u64 = levels.iter().sum();
    let share = |count: u64| count as f64 / total.max(1) as f64;
    let described: Vec<String> = levels
        .iter()
        .zip(JobRecord::DEPTH_LABELS)
        .filter(|(count, _)| **count > 0)
        .map(|(count, depth)| format!("depth {depth}: {} %", number(share(*count) * 100.0)))
        .collect();
    let description = if described.is_empty() { "No request was counted.".to_owned() } else { described.join(", ") };
    svg(
        &Frame { id, title, description: &description, size: (7.0 * WIDTH, 52.0) },
        html! {
            @for (index, count) in levels.iter().enumerate() {
                @let height = (share(*count) * 34.0).max(if *count > 0 { 1.5 } else { 0.0 });
                @let x = index as f64 * WIDTH;
                (rectangle(x + 3.0, 36.0 - height, WIDTH - 6.0, height, &format!("bar {class}")))
                (rectangle(x + 3.0, 36.0, WIDTH - 6.0, 1.0, "node"))
                (label(x + WIDTH / 2.0, 49.0, "tick small middle", JobRecord::DEPTH_LABELS[index].trim_start_matches(">=")))
            }
        },
    )
}

/// CPU time as a share of one processor, user and system; `most` is where the scale ends, percent.
pub(in crate::sheet) fn cpu(id: &str, title: &str, (user, system): (f64, f64), most: f64) -> Markup {
    const WIDTH: f64 = 150.0;
    let scale = WIDTH / most.max(1e-9);
    let (wide, more) = ((user * scale).min(WIDTH), (system * scale).min(WIDTH));
    let description = format!("User {} %, system {} % of one CPU.", number(user), number(system));
    svg(
        &Frame { id, title, description: &description, size: (WIDTH, 14.0) },
        html! {
            (rectangle(0.0, 1.0, WIDTH, 12.0, "track"))
            (rectangle(0.0, 1.0, wide, 12.0, "bar user"))
            rect class="bar system" x=(px(wide)) y="1" width=(px(more.min(WIDTH - wide).max(0.0))) height="12" {}
        },
    )
}
