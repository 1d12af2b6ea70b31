//! The numbers themselves, to copy.

use maud::{Markup, html};

use super::place::Place;
use crate::export;
use crate::summary::Grid;

pub(super) fn section(grid: &Grid<'_>, place: &Place) -> Markup {
    if grid.lines.is_empty() {
        return html! {};
    }
    let csv = export::csv(grid.study);
    place.section(
        "numbers",
        "Raw numbers",
        html! {
            details {
                summary { "Every round as CSV (" (csv.lines().count().saturating_sub(1)) " rows)" }
                pre.csv tabindex="0" { (csv) }
            }
        },
    )
}
