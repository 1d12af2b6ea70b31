//! Writes the catalogue of findings as a document.

use std::fmt::Write;

use crate::traps::catalogue;

/// The text of `docs/findings.md`, from the same source as `explain`.
pub fn markdown() -> String {
    let mut text = String::from(
        "# Findings\n\n\
         Problems that fsdyno finds in its own numbers. **invalid**: the number answers another question, and cannot\n\
         win a comparison, confirm a change or pass a check. **caution**: the number needs care; with `too-short` or\n\
         `not-visible` it cannot win a comparison either. **info**: worth knowing. Each finding is a function of the\n\
         saved record. What is not visible is neither a fault nor proof that there is none. What a more exact finding\n\
         of the same row explains is not reported twice. Jobs without storage (null, sim) have no findings.\n\n\
         `fsdyno explain ID` prints one of them. On the fio face they end the normal report and stand in the object\n\
         `fsdyno` of the JSON document; `--findings=all` prints them on stderr, `--findings=off` nowhere.\n\n\
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
            "\n## {id}\n\n{title} ({trap}).\n\n**What happens.** {happens}\n\n**How it is detected.** {seen}\n\n\
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
