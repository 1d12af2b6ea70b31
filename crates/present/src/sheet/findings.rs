//! Makes the section of findings: what is doubtful about a figure, and the next step. A card for each kind, the worst
//! first.

use fsdyno_results::{Severity, Trust};
use maud::{Markup, html};

use super::answer::{prose, unbroken};
use super::outline::{Outline, badge};
use crate::headline::Headline;
use crate::headline::finding_kinds::{self, FindingKind};
use crate::summary::Grid;

/// More cards than this are collapsed on screens; print shows all.
const OPEN_MAX: usize = 3;

/// Number of findings that print shows completely, with one place and with several; of the others it has the names
/// only, to save a sheet.
const ON_PAPER_MAX: [usize; 2] = [4, 12];

pub(super) fn section(grid: &Grid<'_>, headline: &Headline, place: &Outline) -> Markup {
    let several_targets = grid.targets.len() > 1;
    let errors: Vec<Markup> = grid
        .cells()
        .filter_map(|(line, target, cell)| {
            let place = if several_targets { format!("{} · ", grid.targets[target]) } else { String::new() };
            Some(html! { li.finding.invalid {
                p.finding-head { (badge(Trust::Invalid)) " " strong { (place) (line.title) } }
                p { "Failed with an error: " (sentence(&cell.error()?)) }
            } })
        })
        .collect();
    let in_full = ON_PAPER_MAX[usize::from(several_targets)].saturating_sub(errors.len());
    let kinds = finding_kinds::by_kind(&headline.findings);
    let found = kinds.iter().enumerate();
    let found = found.map(|(index, told)| card(told, index >= in_full, several_targets, place));
    let cards: Vec<Markup> = errors.into_iter().chain(found).collect();
    // The trust line says that there are no findings.
    if cards.is_empty() {
        return html! {};
    }
    let (first, more) = cards.split_at(cards.len().min(OPEN_MAX));
    place.section(
        "findings",
        "Findings",
        html! {
            ul.findings { @for card in first { (card) } }
            @if !more.is_empty() {
                details.printed {
                    summary { (more.len()) " more " (if more.len() == 1 { "finding" } else { "findings" }) }
                    ul.findings { @for card in more { (card) } }
                }
            }
            @if kinds.len() > in_full { p.on-paper.muted {
                "Of some findings paper has the name alone: this file, opened in a browser, says what was seen, and "
                code { "fsdyno explain NAME" } " what it means."
            } }
        },
    )
}

/// The anchor to which a cell's reason links.
pub(super) fn anchor(place: &Outline, target: usize, id: &str) -> String {
    let plain: String =
        id.chars().map(|character| if character.is_ascii_alphanumeric() { character } else { '-' }).collect();
    place.id(&format!("finding-{target}-{plain}"))
}

/// A card. `is_later`: print shows only its name.
fn card(told: &FindingKind<'_>, is_later: bool, several_targets: bool, place: &Outline) -> Markup {
    let found = told.first();
    let trust = if found.severity == Severity::Invalid { Trust::Invalid } else { Trust::Caution };
    let later = if is_later { " later" } else { "" };
    let class = if found.is_against() { trust.word() } else { "info" };
    let others = told.places.iter().skip(1);
    html! {
        li class=(format!("finding {class}{later}")) id=(anchor(place, found.target_index, &found.id)) {
            p.finding-head {
                @for other in others { span id=(anchor(place, other.target_index, &other.id)) {} }
                @if found.is_against() { (badge(trust)) " " }
                @if several_targets { strong { (told.targets()) } " · " }
                strong { (found.title) } " " code.muted { (unbroken(&found.id)) }
            }
            @for cause in told.sentences(told.places.len() > 1) { p { (prose(&sentence(&cause))) } }
            @if !found.next.trim().is_empty() { p.next { strong { "Next: " } (unbroken(&told.next())) } }
        }
    }
}

/// The text with its full stop.
fn sentence(text: &str) -> String {
    let text = text.trim_end();
    if text.ends_with(['.', '!', '?', ':']) { text.to_owned() } else { format!("{text}.") }
}
