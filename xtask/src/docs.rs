//! Documents that are made from the code, so that they cannot go stale.

use crate::workspace::Workspace;

/// A document and its text as it must be.
struct Document {
    path: &'static str,
    text: String,
}

/// All of them.
fn documents() -> Vec<Document> {
    Vec::new()
}

/// Compares each document with what is on the disk, or writes it (`--write`).
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
    Ok(fresh)
}
