//! What was found out, first: sentences, verdicts, and the comparison at a glance.

use maud::{Markup, html};
use results::{Bound, Confidence, Question, TestOrigin, Trust, Verdict, VerdictRow};

use super::chart::ratios::{self, Dot, Group};
use super::place::{Place, scrolling};
use crate::quantity::{counted, number, percent, shortened};
use crate::summary::{Cell, Grid, Line, Metric};

pub(super) fn section(grid: &Grid<'_>, place: &Place) -> Markup {
    let study = grid.study;
    let title = if study.question == Question::Check { "Verdict" } else { "Answer" };
    place.section(
        "answer",
        title,
        html! {
            @let sentences = sentences(grid);
            @if sentences.is_empty() {
                p.lead { (in_short(grid)) }
            } @else {
                @for (index, sentence) in sentences.iter().enumerate() {
                    p.lead[index == 0] { (sentence) }
                }
            }
            @if !study.verdicts.is_empty() { (verdicts(&study.verdicts)) }
            (at_a_glance(grid, place))
            (super::load::figure(grid, place))
        },
    )
}

/// Of a comparison, who is ahead comes first; then what the study says itself.
fn sentences(grid: &Grid<'_>) -> Vec<String> {
    let study = grid.study;
    let several = study.question == Question::Compare && grid.targets.len() > 1;
    let verdict = if several { crate::tables::verdict(grid).join(" ") } else { String::new() };
    let mut sentences = vec![verdict];
    sentences.retain(|sentence| !sentence.is_empty());
    sentences.extend(study.sentences.iter().cloned());
    sentences
}

/// What the study holds, when it has no sentences.
fn in_short(grid: &Grid<'_>) -> String {
    let cells: Vec<_> = grid.cells().collect();
    if cells.is_empty() {
        return "No results.".to_owned();
    }
    if let [(line, _, cell)] = cells[..] {
        let trust = match cell.trust() {
            Trust::Ok => "No findings.".to_owned(),
            Trust::Caution => format!("Needs care: {}.", cell.reasons().join(", ")),
            Trust::Invalid => "Invalid: see the findings.".to_owned(),
        };
        return format!("{}: {}. {trust}", shortened(&line.title, 120), super::pattern::in_figures(cell));
    }
    let of = |trust: Trust| cells.iter().filter(|(_, _, cell)| cell.trust() == trust).count();
    let (caution, invalid) = (of(Trust::Caution), of(Trust::Invalid));
    let what = format!(
        "{} on {}, {} each.",
        counted(grid.lines.len() as u64, if grid.lines.iter().all(Line::is_phase) { "phase" } else { "pattern" }),
        counted(grid.targets.len() as u64, "target"),
        counted(grid.rounds() as u64, "round"),
    );
    let trust = match (caution, invalid) {
        (0, 0) => "No findings against the numbers.".to_owned(),
        (_, 0) => format!("{} of {} results need care.", caution, cells.len()),
        (0, _) => format!("{} of {} results are invalid.", invalid, cells.len()),
        _ => format!("{} of {} results are invalid, {} need care.", invalid, cells.len(), caution),
    };
    format!("{what} {trust}")
}

/// The glance, when there is something to compare with.
fn at_a_glance(grid: &Grid<'_>, place: &Place) -> Markup {
    let group = |line: &Line<'_>| {
        let baseline = line.cells.first()?;
        if baseline.trust() == Trust::Invalid {
            return None;
        }
        let dot = |(target, cell): (usize, &Cell<'_>)| {
            let ratio = cell.ratio(baseline, line.headline()).filter(|ratio| ratio.value > 0.0)?;
            Some(Dot { target, name: grid.targets[target].clone(), ratio, trust: cell.trust() })
        };
        let dots: Vec<Dot> = line.cells.iter().enumerate().skip(1).filter_map(dot).collect();
        (!dots.is_empty()).then(|| Group { title: line.title.clone(), dots })
    };
    let mut groups: Vec<Group> = grid.lines.iter().filter_map(group).collect();
    shorten(&mut groups);
    let Some(baseline) = grid.targets.first() else { return html! {} };
    let what = if grid.lines.iter().all(Line::is_phase) {
        "Operations per second"
    } else if grid.lines.iter().any(|line| line.headline() == Metric::Durable) {
        "Throughput (of writes: until durable)"
    } else {
        "Throughput"
    };
    let Some(chart) = ratios::chart(&place.id("glance"), what, baseline, &groups) else { return html! {} };
    html! {
        figure.glance {
            (scrolling("Chart: throughput as a multiple of the baseline", chart))
            figcaption { (what) " as a multiple of " strong { (shortened(baseline, 60)) }
                ": median of the alternating rounds, and its " (confidence(&groups)) " interval." }
        }
    }
}

/// What all titles say after their first comma (`, depth 32`) tells no pattern from another.
fn shorten(groups: &mut [Group]) {
    let first = |title: &str| title.split(", ").next().unwrap_or_default().to_owned();
    let mut firsts: Vec<String> = groups.iter().map(|group| first(&group.title)).collect();
    firsts.sort();
    firsts.dedup();
    if firsts.len() == groups.len() {
        groups.iter_mut().for_each(|group| group.title = first(&group.title));
    }
}

/// `95 %`; of few rounds less, and it says so.
fn confidence(groups: &[Group]) -> String {
    let intervals = groups.iter().flat_map(|group| &group.dots).filter_map(|dot| dot.ratio.interval);
    let least = intervals.map(|interval| interval.confidence).reduce(f64::min);
    least.map_or(String::new(), |confidence| format!("{:.0}\u{a0}%", confidence * 100.0))
}

fn verdicts(rows: &[VerdictRow]) -> Markup {
    scrolling(
        "Verdicts",
        html! {
            table.verdicts {
                caption { span { "Each requirement with the measured value and the verdict." } }
                thead { tr {
                    th scope="col" { "Verdict" }
                    th scope="col" { "Requirement" }
                    th.num scope="col" { "Measured" }
                    th.num scope="col" { "Asked" }
                    th.num scope="col" { "Margin" }
                    th scope="col" { "Why" }
                    th scope="col" { "Source" }
                } }
                tbody { @for row in rows { (verdict(row)) } }
            }
        },
    )
}

fn verdict(row: &VerdictRow) -> Markup {
    let requirement = &row.requirement;
    let class = match row.verdict {
        Verdict::Pass => "badge ok",
        Verdict::Fail => "badge invalid",
        Verdict::Inconclusive => "badge caution",
        Verdict::NotApplicable | Verdict::Reference => "badge none",
    };
    let asked = match requirement.bound {
        Bound::AtMost => format!("≤ {} {}", number(requirement.threshold), requirement.unit),
        Bound::AtLeast => format!("≥ {} {}", number(requirement.threshold), requirement.unit),
        Bound::Gate => "yes".to_owned(),
    };
    let test = match row.origin {
        TestOrigin::Vendor => "the vendor's test",
        TestOrigin::Equivalent => "the vendor's procedure, done natively",
        TestOrigin::Ours => "fsdyno's own test",
        TestOrigin::Sound => "a sounder test beside the vendor's",
    };
    let known = match requirement.confidence {
        Confidence::A => "the vendor's own text",
        Confidence::B => "seen in part or in a copy",
        Confidence::C => "second-hand",
    };
    html! {
        tr {
            td { span class=(class) { (row.verdict.word()) } }
            th scope="row" { (requirement.title) " " small { (requirement.profile) " · " (requirement.id) } }
            td.num {
                @match row.measured {
                    Some(measured) => { (number(measured)) " " (requirement.unit) }
                    None => { span.muted { "not measured" } }
                }
                @if let Some(interval) = row.interval {
                    small.interval { (number(interval.low)) "–" (number(interval.high)) }
                }
            }
            td.num { (asked) @if let Some(derivation) = &requirement.derivation { br; small { (derivation) } } }
            td.num { @match row.margin_percent { Some(margin) => (percent(margin)), None => span.muted { "–" } } }
            td { (row.reason)
                @for caveat in &row.caveats { br; small { (caveat) } } }
            td { (requirement.source) " " small { (requirement.read_on) " · " (requirement.kind.word()) " · " (known) " · " (test) } }
        }
    }
}
