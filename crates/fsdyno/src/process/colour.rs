//! Colours: decides whether they are used, and which words have one.

use std::io::IsTerminal;
use std::sync::OnceLock;

use anstyle::{AnsiColor, Effects, Style};
use clap::ValueEnum;

use super::streams::is_terminal;

/// When colours are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColourChoice {
    /// On a terminal.
    #[default]
    Auto,
    /// In files and pipes too.
    Always,
    /// Nowhere.
    Never,
}

/// The choice of the configuration or the command line; empty: the environment decides.
static CHOSEN: OnceLock<ColourChoice> = OnceLock::new();

/// Sets the choice for the rest of the program.
pub(crate) fn choose(when: ColourChoice) {
    let _ = CHOSEN.set(when);
}

/// The environment's choice, and the variable that makes it.
pub(crate) fn of_environment() -> Option<(ColourChoice, &'static str)> {
    match () {
        () if anstyle_query::no_color() => Some((ColourChoice::Never, "NO_COLOR")),
        () if anstyle_query::clicolor_force() => Some((ColourChoice::Always, "CLICOLOR_FORCE")),
        () if anstyle_query::clicolor() == Some(false) => Some((ColourChoice::Never, "CLICOLOR")),
        () => None,
    }
}

/// Whether this stream should have colours.
pub(crate) fn is_wanted(stream: &impl IsTerminal) -> bool {
    let when = CHOSEN.get().copied().or_else(|| Some(of_environment()?.0)).unwrap_or_default();
    match when {
        ColourChoice::Always => true,
        ColourChoice::Never => false,
        ColourChoice::Auto => is_terminal(stream) && anstyle_query::term_supports_color(),
    }
}

const GOOD: Style = AnsiColor::Green.on_default();
const DOUBTFUL: Style = AnsiColor::Yellow.on_default();
const NEUTRAL: Style = AnsiColor::Cyan.on_default();
const BAD: Style = AnsiColor::Red.on_default().effects(Effects::BOLD);

/// Verdicts in capitals, which are coloured anywhere.
const CAPITALS: [(&str, Style); 7] = [
    ("PASS", GOOD),
    ("INCONCLUSIVE", DOUBTFUL),
    ("FAIL", BAD),
    ("WORSE", BAD),
    ("NOT", NEUTRAL),
    ("APPLICABLE", NEUTRAL),
    ("REFERENCE", NEUTRAL),
];

/// Verdicts that are also ordinary words: they are coloured only in a table cell, or before a colon.
const WORDS: [(&str, Style); 4] = [("ok", GOOD), ("better", GOOD), ("caution", DOUBTFUL), ("invalid", BAD)];

/// The beginning of the line that says how far to trust an answer.
const TRUST: &str = "trust";

/// Colours the verdicts of a page. Control characters must have been made visible before.
pub(crate) fn painted(page: &str) -> String {
    page.split_inclusive('\n').map(painted_line).collect()
}

fn painted_line(line: &str) -> String {
    // Cells are separated by several blanks, words of sentences by one.
    let has_cells = line.trim().contains("  ");
    let mut painted = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(begin) = rest.find(|letter: char| !letter.is_whitespace()) {
        let (blanks, from) = rest.split_at(begin);
        let end = from.find(char::is_whitespace).unwrap_or(from.len());
        let (word, after) = from.split_at(end);
        let bare = word.trim_end_matches([':', ',']);
        let is_label = ["", TRUST].contains(&painted.trim()) && word.ends_with(':');
        let is_cell = has_cells && bare == word && (after.trim().is_empty() || after.starts_with("  "));
        let among = |words: &[(&str, Style)]| words.iter().find(|(known, _)| *known == bare).map(|(_, style)| *style);
        let style = among(&CAPITALS).or_else(|| among(&WORDS).filter(|_| is_label || is_cell));
        painted.push_str(blanks);
        match style {
            Some(style) => painted.push_str(&format!("{style}{bare}{style:#}{}", &word[bare.len()..])),
            None => painted.push_str(word),
        }
        rest = after;
    }
    painted + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_have_colours_where_they_are_verdicts() {
        let plain = "caution: a is ok here\nread   1,234 ok\nwrite  5 invalid\nFAIL: sync, PASS\nit is not\nok\n";
        let shown = painted(plain).replace("\x1b[32m", "G(").replace("\x1b[33m", "Y(").replace("\x1b[1m\x1b[31m", "R(");
        assert_eq!(
            shown.replace("\x1b[0m", ")"),
            "Y(caution): a is ok here\nread   1,234 G(ok)\nwrite  5 R(invalid)\nR(FAIL): sync, G(PASS)\nit is not\nok\n"
        );
        let neutral = painted("etcd  NOT APPLICABLE  p99\n").replace("\x1b[36m", "C(").replace("\x1b[0m", ")");
        assert_eq!(neutral, "etcd  C(NOT) C(APPLICABLE)  p99\n");
        let trust = painted("trust  caution: trust ok: of others\n").replace("\x1b[33m", "Y(").replace("\x1b[0m", ")");
        assert_eq!(trust, "trust  Y(caution): trust ok: of others\n");
        assert_eq!(painted("  no verdict\n\n  x  y\n"), "  no verdict\n\n  x  y\n");
    }
}
