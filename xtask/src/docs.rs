//! Makes documents from the code, so that they cannot become outdated.

use crate::workspace::Workspace;

/// A document with its required text.
struct Document {
    path: &'static str,
    text: String,
}

/// All of them.
fn documents() -> Vec<Document> {
    vec![
        Document { path: "COMPAT.md", text: compat() },
        Document { path: "docs/findings.md", text: fsdyno_findings::markdown() },
    ]
}

const COMPAT_HEAD: &str = "\
# Compatibility with fio 3.42

Every option of fio 3.42 and its state in fsdyno. **full**: as in fio. **partial**: with the limits that the text names.
**accepted without effect**: read, checked and noted; the text says why a job that fio runs can neither fail nor take
longer here. **not yet**: ends the run by name before the first byte. **rejected**: likewise, for good. Nothing is
ignored in silence.

Made from the option table by `cargo xtask docs --write`; do not edit.
";

fn compat() -> String {
    let text = format!("{COMPAT_HEAD}\n{}\n{}", fsdyno_job::compat::summary(), fsdyno_job::compat::markdown());
    format!("{}\n", text.trim_end())
}

/// Compares each document with the file on disk, or writes it (`--write`).
pub(crate) fn run(words: &[String]) -> Result<bool, String> {
    let write = match words {
        [] => false,
        [word] if word == "--write" => true,
        _ => return Err(format!("docs takes --write or nothing, not {}", words.join(" "))),
    };
    let workspace = Workspace::load()?;
    let mut fresh = true;
    for document in documents() {
        let path = workspace.root.join(document.path);
        if std::fs::read_to_string(&path).ok().as_deref() == Some(document.text.as_str()) {
            continue;
        }
        if write {
            std::fs::write(&path, &document.text)
                .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
            println!("{} is written", document.path);
        } else {
            fresh = false;
            println!("{} is stale: cargo xtask docs --write", document.path);
        }
    }
    let readme = workspace.root.join("README.md");
    let readme =
        std::fs::read_to_string(&readme).map_err(|error| format!("cannot read {}: {error}", readme.display()))?;
    let summary = fsdyno_job::compat::summary();
    if !has_counts(&readme, &summary) {
        fresh = false;
        println!("README.md has other counts of options than COMPAT.md: {}", summary.trim());
    }
    Ok(fresh)
}

/// Whether a text with line breaks contains the counts of a summary.
fn has_counts(text: &str, summary: &str) -> bool {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    words(text).contains(words(summary).trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::has_counts;

    #[test]
    fn counts_are_found_across_lines_and_others_are_not() {
        let text = "Of fio's 3 options: 1 full,\n2 rejected (COMPAT.md)";
        assert!(
            has_counts(text, "3 options: 1 full, 2 rejected.\n") && !has_counts(text, "3 options: 2 full, 1 rejected.")
        );
    }
}
