//! `cargo xtask book`: makes a site of the documents. Its contents are docs/SUMMARY.md; each finding has its own page.

#![expect(clippy::print_stdout, reason = "it talks to a person at a terminal")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::workspace::{folder, target_directory};

/// Pages of the site by their paths in it.
type Pages = BTreeMap<String, String>;

/// The page that is divided into one page per finding.
const FINDINGS: &str = "docs/findings.md";

/// Writes the pages below the build directory, and runs mdBook on them where it is installed.
pub(crate) fn run() -> Result<bool, String> {
    let place = target_directory().join("book");
    let cannot = |error: std::io::Error| format!("cannot write {}: {error}", place.display());
    let _ = std::fs::remove_dir_all(&place);
    for (path, text) in pages(&|path| read(path))? {
        let path = place.join("src").join(path);
        std::fs::create_dir_all(path.parent().unwrap_or(&path)).map_err(cannot)?;
        std::fs::write(path, text).map_err(cannot)?;
    }
    std::fs::write(place.join("book.toml"), read("docs/book.toml")?).map_err(cannot)?;
    // Pictures and schemas, at the paths that pages use.
    for name in ["docs/images", "docs/schema", "docs/example-report.html"] {
        let copied = Command::new("cp").arg("-R").arg(folder().join(name)).arg(place.join("src")).status();
        copied.map_err(cannot)?;
    }
    match Command::new("mdbook").arg("build").arg(&place).status() {
        Ok(status) => Ok(status.success()),
        Err(_) => {
            println!("skipped: mdbook is not installed; the pages are in {}", place.join("src").display());
            Ok(true)
        }
    }
}

fn read(path: &str) -> Result<String, String> {
    std::fs::read_to_string(folder().join(path)).map_err(|error| format!("cannot read {path}: {error}"))
}

/// All pages, with links converted to the site's paths.
fn pages(read: &dyn Fn(&str) -> Result<String, String>) -> Result<Pages, String> {
    let contents = read("docs/SUMMARY.md")?;
    let sources: Vec<String> = links(&contents).map(|link| resolved("docs", link)).collect();
    let mut pages = Pages::new();
    let mut listed = contents.replace("](../", "](");
    for source in &sources {
        let text = read(source)?;
        if source != FINDINGS {
            pages.insert(in_site(source), turned(&text, source, &sources));
            continue;
        }
        // Head and table first; then one page per finding.
        let mut parts = text.split("\n## ");
        let head = parts.next().unwrap_or_default();
        pages.insert(in_site(source), turned(&head.replace("](#", "](findings.md#"), source, &sources));
        let mut entries = String::new();
        for part in parts {
            let id = part.lines().next().unwrap_or_default();
            pages.insert(format!("traps/{id}.md"), format!("# {part}"));
            entries.push_str(&format!("    - [{id}](traps/{id}.md)\n"));
        }
        let line = contents.lines().find(|line| line.contains("](findings.md)")).unwrap_or_default();
        listed = listed.replace(&format!("{line}\n"), &format!("{line}\n{entries}"));
    }
    pages.insert("SUMMARY.md".to_owned(), listed);
    Ok(pages)
}

/// A page's path in the site.
fn in_site(source: &str) -> String {
    source.strip_prefix("docs/").unwrap_or(source).to_owned()
}

/// The path that a link of a page in `folder` refers to, from the top of the sources.
fn resolved(folder: &str, link: &str) -> String {
    let mut path = PathBuf::from(folder);
    for part in Path::new(link).components() {
        match part {
            std::path::Component::ParentDir => drop(path.pop()),
            part => path.push(part),
        }
    }
    path.display().to_string()
}

/// A page with its links converted; links to what is not in the site are removed.
fn turned(text: &str, source: &str, sources: &[String]) -> String {
    let folder = Path::new(source).parent().map(|path| path.display().to_string()).unwrap_or_default();
    let mut result = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("](") {
        let (before, after) = rest.split_at(at);
        let Some(end) = after.find(')') else { break };
        let link = &after[2..end];
        let (path, part) = link.split_once('#').map_or((link, None), |(path, part)| (path, Some(part)));
        let target = resolved(&folder, path);
        let anchor = part.map(|part| format!("#{part}")).unwrap_or_default();
        let new = match part {
            _ if path.is_empty() || link.contains("://") => Some(link.to_owned()),
            Some(id) if target == FINDINGS => Some(format!("traps/{id}.md")),
            _ if sources.contains(&target) => Some(in_site(&target) + &anchor),
            _ if target.starts_with("docs/") && !target.ends_with(".md") => Some(in_site(&target)),
            _ => None,
        };
        match (new, before.rfind('[')) {
            (None, Some(open)) => result.push_str(&format!("{}{}", &before[..open], &before[open + 1..])),
            (new, _) => result.push_str(&format!("{before}]({})", new.unwrap_or_default())),
        }
        rest = &after[end + 1..];
    }
    result + rest
}

/// The targets of the links in a list.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|rest| rest.split(')').next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_within_the_site_or_are_gone() {
        let sources = ["README.md".to_owned(), "docs/json.md".to_owned(), FINDINGS.to_owned()];
        let text = "[a](docs/json.md#x) [b](lab/README.md), ![c](docs/images/d.svg) [e](https://f) [g](docs/findings.md#h) [i](#j)";
        let expected = "[a](json.md#x) b, ![c](images/d.svg) [e](https://f) [g](traps/h.md) [i](#j)";
        assert_eq!(turned(text, "README.md", &sources), expected);
        assert_eq!(turned("[a](../README.md)", "docs/json.md", &sources), "[a](README.md)");
    }

    /// Checks the site: each link between pages has a target, and each document of docs/ and each finding is in it.
    #[test]
    fn the_site_is_whole() {
        let pages = pages(&|path| read(path)).unwrap();
        let mut count = 0;
        for (path, text) in &pages {
            let folder = Path::new(path).parent().map(|path| path.display().to_string()).unwrap_or_default();
            let prose = text.split("```").step_by(2).collect::<String>();
            for link in links(&prose).filter(|link| !link.contains("://") && link.contains(".md")) {
                let target = resolved(&folder, link.split('#').next().unwrap_or_default());
                assert!(pages.contains_key(&target), "{path}: {link}");
                count += 1;
            }
        }
        assert!(count > 60, "{count} links");
        for name in std::fs::read_dir(folder().join("docs")).unwrap().map(|entry| entry.unwrap().file_name()) {
            let name = name.to_string_lossy().into_owned();
            assert!(!name.ends_with(".md") || pages.contains_key(&name), "docs/SUMMARY.md does not name {name}");
        }
        for explanation in fsdyno_findings::catalogue() {
            assert!(pages.contains_key(&format!("traps/{}.md", explanation.id)), "{}", explanation.id);
        }
    }
}
