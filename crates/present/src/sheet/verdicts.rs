//! Makes the sections of `check`: the verdict on each requirement, then all details.

use fsdyno_results::{Bound, Confidence, TestOrigin, VerdictRow};
use fsdyno_text::quantity::published;
use maud::{Markup, html};

use super::outline::Outline;
use super::table::{Table, TableRow};
use crate::headline::VerdictLine;
use crate::headline::verdict::{distinct_verdicts, figure, margin};
use crate::summary::Grid;
use crate::tables::with_joined_units;

/// One line for each requirement.
pub(super) fn list(lines: &[VerdictLine]) -> Markup {
    html! {
        @if !lines.is_empty() { ul.verdicts { @for (line, words) in distinct_verdicts(lines) { li {
            (badge(line.verdict))
            span { (with_joined_units(&words)) " " code.option { (line.profile) } }
        } } } }
    }
}

fn asked(row: &VerdictRow) -> Option<String> {
    let requirement = &row.requirement;
    let side = match requirement.bound {
        Bound::AtMost => "at most",
        Bound::AtLeast => "at least",
        Bound::Gate => return None,
    };
    Some(format!("{side} {} {}", published(requirement.threshold), requirement.unit))
}

fn badge(verdict: &str) -> Markup {
    let class = match verdict {
        "PASS" => "badge ok",
        "FAIL" => "badge invalid",
        "INCONCLUSIVE" => "badge caution",
        _ => "badge none",
    };
    html! { span class=(class) { (verdict) } }
}

/// Every requirement with its reason and its source.
pub(super) fn section(grid: &Grid<'_>, place: &Outline) -> Markup {
    let rows = &grid.study.verdicts;
    if rows.is_empty() {
        return html! {};
    }
    let mut table = Table::new().words("Requirement").words("Verdict").numbers("Measured").numbers("Asked");
    table = table.numbers("Margin").words("Why").words("Source");
    for row in rows {
        let requirement = &row.requirement;
        table.row(TableRow {
            begins: true,
            is_void: false,
            cells: vec![
                Some(html! { (requirement.title) small.what { (requirement.profile) " · " (requirement.id) } }),
                Some(badge(row.verdict.word())),
                row.measured.map(|measured| html! { (figure(measured)) " " (requirement.unit) }),
                asked(row).map(|asked| {
                    html! { (asked)
                    @if let Some(derivation) = &requirement.derivation { small.what { (derivation) } } }
                }),
                margin(row).map(|margin| match margin.split_once(" times ") {
                    Some((number, what)) => html! { (number) " times" small.what { (what) } },
                    None => html! { (margin) },
                }),
                Some(html! { span.sentence { (row.reason) } @for caveat in &row.caveats { small.what { (caveat) } } }),
                Some(html! { (requirement.source) small.what { (requirement.read_on) " · " (requirement.kind.word())
                " · " (known(requirement.confidence)) " · " (test(row.origin)) } }),
            ],
        });
    }
    place.section("requirements", "Requirements", table.shown("wide", ""))
}

fn test(origin: TestOrigin) -> &'static str {
    match origin {
        TestOrigin::Vendor => "the vendor's test",
        TestOrigin::Equivalent => "the vendor's procedure, done natively",
        TestOrigin::Ours => "fsdyno's own test",
        TestOrigin::Sound => "a sounder test beside the vendor's",
    }
}

fn known(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::A => "the vendor's own text",
        Confidence::B => "seen in part or in a copy",
        Confidence::C => "second-hand",
    }
}
