//! Where in the page something stands: names stay unique with several studies, and headings in order.

use maud::{Markup, html};
use results::Trust;

/// A place in the page's outline.
#[derive(Clone)]
pub(super) struct Place {
    prefix: String,
    /// Level of its headings, 2 to 6.
    level: u8,
}

impl Place {
    pub(super) fn new(prefix: &str, level: u8) -> Place {
        Place { prefix: prefix.to_owned(), level: level.clamp(2, 6) }
    }

    /// The place below this one's headings.
    pub(super) fn deeper(&self) -> Place {
        Place::new(&self.prefix, self.level + 1)
    }

    /// A name that is unique in the page when `name` is unique in the study.
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

/// Something wide that scrolls by itself, with the keyboard too.
pub(super) fn scrolling(name: &str, content: Markup) -> Markup {
    html! { div.scroll role="group" aria-label=(name) tabindex="0" { (content) } }
}

/// The word and the sign of a trust: never the colour alone.
pub(super) fn badge(trust: Trust) -> Markup {
    let sign = match trust {
        Trust::Ok => "✓",
        Trust::Caution => "!",
        Trust::Invalid => "✕",
    };
    html! { span class=(format!("badge {}", trust.word())) { span aria-hidden="true" { (sign) } " " (trust.word()) } }
}
