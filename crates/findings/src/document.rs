//! The catalogue as a document.

use std::fmt::Write;

use crate::traps::catalogue;

/// `docs/findings.md`, from the same text as `explain`.
pub fn markdown() -> String {
    let mut text = String::from(
        "# Findings\n\n\
         What fsdyno says against its own numbers. **invalid**: the number answers another question, and cannot win a\n\
         comparison, confirm a change or pass a check. **caution**: it needs care; with `too-short` or `not-visible` it\n\
         cannot win a comparison either. **info**: worth knowing. Each finding is a function of the saved record. What\n\
         cannot be seen from here is never taken for a fault, nor for the absence of one; and what a more exact finding\n\
         of the same row explains is not said again. Jobs without a storage (null, sim) have none.\n\n\
         `fsdyno explain ID` prints one of these; `--findings=off` silences them.\n\n\
         Made from `crates/findings` by `cargo xtask docs --write`; do not edit.\n\n",
    );
    text.push_str("| id | trap | in short |\n| --- | --- | --- |\n");
    for explanation in catalogue() {
        let _ =
            writeln!(text, "| [`{id}`](#{id}) | {} | {} |", explanation.trap, explanation.title, id = explanation.id);
    }
    for explanation in catalogue() {
        let _ = write!(
            text,
            "\n## {id}\n\n{title} ({trap}).\n\n**What happens.** {happens}\n\n**How it is seen.** {seen}\n\n\
             **What to do.** {advice}\n\n**Documented.** {documented}\n",
            id = explanation.id,
            title = explanation.title,
            trap = explanation.trap,
            happens = explanation.happens,
            seen = explanation.seen,
            advice = explanation.advice,
            documented = explanation.documented,
        );
    }
    text
}
