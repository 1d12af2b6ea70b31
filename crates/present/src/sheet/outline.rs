//! Tracks the position in the page: ids stay unique with several studies, and heading levels in order.

use fsdyno_results::Trust;
use maud::{Markup, html};

use crate::quantity::shortened;
use crate::summary::Grid;

/// A position in the page's outline.
#[derive(Clone)]
pub(super) struct Outline {
    prefix: String,
    /// The heading level, 2 to 6.
    level: u8,
}

impl Outline {
    pub(super) fn new(prefix: &str, level: u8) -> Outline {
        Outline { prefix: prefix.to_owned(), level: level.clamp(2, 6) }
    }

    /// The position below this one's headings.
    pub(super) fn deeper(&self) -> Outline {
        Outline::new(&self.prefix, self.level + 1)
    }

    /// An id that is unique in the page when `name` is unique in the study.
    pub(super) fn id(&self, name: &str) -> String {
        format!("{}-{name}", self.prefix)
    }

    /// A heading that can be linked to.
    pub(super) fn heading(&self, name: &str, content: Markup) -> Markup {
        let id = self.id(name);
        match self.level {
            2 => html! { h2 id=(id) { (content) } },
            3 => html! { h3 id=(id) { (content) } },
            4 => html! { h4 id=(id) { (content) } },
            5 => html! { h5 id=(id) { (content) } },
            _ => html! { h6 id=(id) { (content) } },
        }
    }

    /// A section with its heading.
    pub(super) fn section(&self, name: &str, title: &str, content: Markup) -> Markup {
        html! {
            section {
                (self.heading(name, html! { (title) }))
                (content)
            }
        }
    }
}

/// Names longer than this may be broken anywhere.
const LONG: usize = 24;

/// The name of a test, in its usual form.
pub(super) fn test(name: &str) -> Markup {
    html! { code class=[(name.chars().count() > LONG).then_some("long")] { (shortened(name, 60)) } }
}

/// The name of a storage in its colour; `None`: there is only one.
pub(super) fn place_of(grid: &Grid<'_>, target: usize) -> Option<Markup> {
    (grid.targets.len() > 1).then(|| named(grid, target))
}

/// The name of a storage in its colour.
pub(super) fn named(grid: &Grid<'_>, target: usize) -> Markup {
    html! { span.place {
        span class=(format!("swatch {}", super::chart::colour(target))) aria-hidden="true" {}
        span { (shortened(&grid.targets[target], 12)) }
    } }
}

/// The badge of a trust: its word and sign, never the colour alone.
pub(super) fn badge(trust: Trust) -> Markup {
    html! { span class=(format!("badge {}", trust.word())) { span aria-hidden="true" { (sign(trust)) } " " (trust.word()) } }
}

/// The sign of a trust that is not ok, where there is no space for the word; a legend explains it.
pub(super) fn mark(trust: Trust) -> Markup {
    html! { @if trust > Trust::Ok {
        span class=(format!("badge {}", trust.word())) title=(trust.word()) { span aria-hidden="true" { (sign(trust)) }
            span.unseen { (trust.word()) } }
    } }
}

fn sign(trust: Trust) -> &'static str {
    match trust {
        Trust::Ok => "✓",
        Trust::Caution => "!",
        Trust::Invalid => "!!",
    }
}
