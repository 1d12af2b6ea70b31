//! Studies for people: tables and sentences at the width of a terminal, and the same in Markdown.

mod changes;
mod check;
mod compare;
mod curve;
mod measure;
mod plot;
mod runs;
mod sentence;
mod smallfiles;
mod sweep;
mod table;

pub(crate) use compare::verdict;

pub use changes::{changes, changes_json, history, history_json};
pub use check::{ListedProfile, profiles, profiles_json};
pub use runs::{runs, runs_json};
pub use sentence::summary;

use results::{Question, Severity, Study, escape};

use table::Form;

/// The study for a terminal of so many columns.
pub fn text(study: &Study, columns: usize) -> String {
    escape::terminal(&shown(study, Form::Text { columns })).into_owned()
}

/// The study in Markdown.
pub fn markdown(study: &Study) -> String {
    escape::terminal(&shown(study, Form::Markdown)).into_owned()
}

fn shown(study: &Study, form: Form) -> String {
    let mut parts = vec![heading(study, form)];
    parts.push(match study.question {
        Question::Compare => compare::table(study, form),
        Question::Sweep => sweep::tables(study, form),
        Question::Curve => curve::tables(study, form),
        Question::Check => check::answers(study, form),
        Question::SmallFiles => smallfiles::tables(study, form),
        // A line for each row, as any runs can be shown.
        _ => measure::table(study, form),
    });
    parts.extend(sentences(study, form));
    parts.extend(findings(study, form));
    parts.extend(notes(study, form));
    if !study.complete {
        parts.push("Stopped early: these are the results until then.\n".to_string());
    }
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

/// What was asked, of what.
fn heading(study: &Study, form: Form) -> String {
    let mut text = String::new();
    // A fio run that was saved by itself has no name and no place.
    for target in study.targets.iter().filter(|target| !target.path.is_empty()) {
        let mount = target.storage.mount.value();
        let on = mount.map(|mount| format!(": {} on {}", mount.fstype, mount.source)).unwrap_or_default();
        let named = if target.name == target.path { String::new() } else { format!("{} = ", target.name) };
        let line = match form {
            Form::Text { .. } => format!("{}\n", escape::line(&format!("{named}{}{on}", target.path))),
            Form::Markdown => {
                let place = escape::markdown(&format!("{named}{}", target.path));
                format!("**{place}**{}\n", escape::markdown(&on))
            }
        };
        text.push_str(&line);
    }
    text
}

fn sentences(study: &Study, form: Form) -> Option<String> {
    let lines: Vec<String> = study.sentences.iter().map(|sentence| form.paragraph(sentence)).collect();
    (!lines.is_empty()).then(|| lines.concat())
}

/// What was found against the numbers, each kind once per row that it concerns.
fn findings(study: &Study, form: Form) -> Option<String> {
    let mut text = String::new();
    let mut listed: Vec<(&str, &str)> = Vec::new();
    for row in &study.rows {
        for finding in row.findings.iter().filter(|finding| finding.severity > Severity::Info) {
            // A kind of finding on one target is told once; the table marks each row.
            let kind = (finding.id.as_str(), study.targets.get(row.target).map_or("", |target| target.name.as_str()));
            if listed.contains(&kind) {
                continue;
            }
            listed.push(kind);
            let word = if finding.severity == Severity::Invalid { "invalid" } else { "caution" };
            // With one target there is no other that it could be of.
            let of = if study.targets.len() > 1 { format!("{}, ", kind.1) } else { String::new() };
            let sentence = format!("{word}: {of}{}: {}", row.title, finding.cause);
            text.push_str(&form.item(&sentence, Some(&finding.next), &finding.id));
        }
    }
    (!text.is_empty()).then_some(text)
}

fn notes(study: &Study, form: Form) -> Option<String> {
    // Of a comparison, how it was done decides what it is worth.
    let is_shown = |note: &&results::Note| note.severity > Severity::Info || study.question == Question::Compare;
    let shown = study.notes.iter().filter(is_shown);
    let lines: Vec<String> = shown.map(|note| form.paragraph(&format!("note: {}", note.text))).collect();
    (!lines.is_empty()).then(|| lines.concat())
}
