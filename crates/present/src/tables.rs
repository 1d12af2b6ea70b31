//! Shows studies to people: tables and sentences at the width of a terminal, or in Markdown.

mod attribution;
mod bars;
mod changes;
mod check;
mod compare;
mod curve;
mod history;
mod measure;
mod nodes;
mod other_tools;
mod plot;
mod runs;
mod scale;
mod screen;
mod sentence;
mod smallfiles;
mod sweep;
mod table;
mod time;

pub use attribution::attribution;
pub use changes::{Changes, JudgementCommand, change_in_words};
pub use check::{ListedProfile, profiles, profiles_json};
pub use history::{history, history_json};
pub use runs::{runs, runs_json};
pub use screen::screen;
pub use sentence::summary;
pub(crate) use sentence::{incomplete, left_out};
pub(crate) use table::with_joined_units;

use fsdyno_results::evidence::{InMemory, Storage, StorageClass};
use fsdyno_results::{Question, Severity, Study, Target, TimeUse};
use fsdyno_text::escape;

use crate::headline::{Headline, finding_kinds};
use crate::quantity::{duration, percent};
use table::Form;

/// The whole study, `columns` wide.
pub fn text(study: &Study, columns: usize) -> String {
    escape::terminal(&shown(study, Form::Text { columns })).into_owned()
}

/// The study in Markdown.
pub fn markdown(study: &Study) -> String {
    escape::terminal(&shown(study, Form::Markdown)).into_owned()
}

fn shown(study: &Study, form: Form) -> String {
    let headline = Headline::of(study);
    let mut parts = vec![heading(study, form, false)];
    if study.question != Question::Fio {
        parts.push(answer(&headline, study, form));
    }
    parts.push(match study.question {
        Question::Compare | Question::Attribute => compare::tables(study, form),
        Question::Time => time::how_measured(&headline, form),
        Question::Sweep => sweep::tables(study, form),
        Question::Curve => curve::tables(study, form),
        Question::Scale if study.rows.iter().any(|row| row.numbered("n").is_some()) => scale::tables(study, form),
        Question::Check => check::answers(study, form),
        Question::SmallFiles => smallfiles::tables(study, form),
        // The plain table of rows fits any runs.
        _ => measure::table(&headline, form),
    });
    parts.push(nodes::table(&headline, form));
    parts.extend(sentences(&headline, study, form));
    parts.extend(headline.time.as_ref().map(|time| form.paragraph(&time_use(time))));
    parts.extend(findings(&headline, form));
    parts.extend(notes(study, form));
    parts.extend(sentence::incomplete(study).map(|[what, figures]| format!("{what}: {figures}.\n")));
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

/// The answer in Markdown, for the place before any table.
pub(crate) fn short_answer(headline: &Headline, study: &Study) -> String {
    format!("{}\n", answer(headline, study, Form::Markdown))
}

/// The table of nodes in Markdown; empty on one machine.
pub(crate) fn nodes_in_markdown(headline: &Headline) -> String {
    let table = nodes::table(headline, Form::Markdown);
    if table.is_empty() { table } else { format!("\n{table}") }
}

/// The headline and its figures, then trust, limits and next steps.
fn answer(headline: &Headline, study: &Study, form: Form) -> String {
    let steps: String = headline.steps(study).iter().map(|step| form.step(step)).collect();
    let mut parts = vec![sentence_of(headline, study, form), figures(headline, study, form)];
    if study.question != Question::Check && !headline.verdicts.is_empty() {
        parts.reverse();
    }
    let limits = form.labelled(&headline.lines(study));
    match form {
        Form::Text { .. } => parts.extend([limits, steps]),
        // Both in one list.
        Form::Markdown => parts.push(format!("{limits}{steps}")),
    }
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

/// The headline; empty where the lines of figures say all of it.
fn sentence_of(headline: &Headline, study: &Study, form: Form) -> String {
    let is_said = match study.question {
        // The lines show the number of each verdict.
        Question::Check => !headline.verdicts.is_empty(),
        Question::SmallFiles => {
            !headline.verdicts.is_empty() && headline.verdicts.iter().all(|line| line.measured.is_some())
        }
        _ => false,
    };
    let sentence = headline.headline.as_deref().filter(|_| !is_said);
    sentence.map(|sentence| form.paragraph(sentence)).unwrap_or_default()
}

/// The figures on which the headline rests.
fn figures(headline: &Headline, study: &Study, form: Form) -> String {
    match study.question {
        Question::Measure => measure::answer(headline, form),
        Question::Compare => compare::answer(headline, study, form),
        Question::Time => time::table(headline, form),
        _ if headline.verdicts.is_empty() => String::new(),
        _ => check::lines(headline, study.question, form),
    }
}

/// The question, its targets, and the time. `is_short`: a line that is too long for the terminal has the end of its path.
fn heading(study: &Study, form: Form, is_short: bool) -> String {
    let mut text = String::new();
    let mut when = (study.started_ms > 0).then(|| format!("   {}", runs::when(study.started_ms)));
    // A saved fio run has no target name and no path.
    for target in study.targets.iter().filter(|target| !target.path.is_empty()) {
        let on = filesystem(target).map(|on| format!(": {on}")).unwrap_or_default();
        let named = if target.name == target.path { String::new() } else { format!("{} = ", target.name) };
        let line = match form {
            Form::Text { columns } => {
                let (path, others) =
                    (escape::line(&target.path), escape::line(&format!("{named}{on}")).chars().count());
                let room = if is_short { columns.saturating_sub(others) } else { usize::MAX };
                let line = format!("{}{}{}", escape::line(&named), runs::ending(&path, room), escape::line(&on));
                let fits = |when: &String| line.chars().count() + when.chars().count() <= columns;
                format!("{line}{}\n", when.take_if(|when| fits(when)).unwrap_or_default())
            }
            Form::Markdown => {
                let place = escape::markdown(&format!("{named}{}", target.path));
                format!("**{place}**{}\n", escape::markdown(&on))
            }
        };
        text.push_str(&line);
    }
    // Without targets the time alone says nothing.
    match when.filter(|_| !text.is_empty()) {
        Some(when) => format!("{text}{}\n", when.trim_start()),
        None => text,
    }
}

/// The filesystem in words, `ext4 on /dev/vda`, `tmpfs, in memory`; `None`: not visible.
pub(crate) fn filesystem(target: &Target) -> Option<String> {
    let mount = target.storage.mount.value()?;
    Some(match target.storage.class {
        // The source of a filesystem in memory is an arbitrary word.
        StorageClass::Memory => format!("{}, in memory", mount.fstype),
        _ => format!("{} on {}{}", mount.fstype, mount.source, in_memory(&target.storage)),
    })
}

/// A remark where the layers below are memory.
fn in_memory(storage: &Storage) -> String {
    match (storage.in_memory(), storage.way_to_memory()) {
        (Some(InMemory::All), Some(way)) => format!(", in memory ({way})"),
        (Some(InMemory::Part), Some(way)) => format!(", partly in memory ({way})"),
        _ => String::new(),
    }
}

/// The study's sentences, without what the answer has said.
fn sentences(headline: &Headline, study: &Study, form: Form) -> Option<String> {
    let rest = study.sentences.iter().filter_map(|sentence| headline.beyond(study, sentence));
    let lines: Vec<String> = rest.map(|sentence| form.paragraph(sentence)).collect();
    (!lines.is_empty()).then(|| lines.concat())
}

/// What the wall time was used for, in a sentence.
fn time_use(time: &TimeUse) -> String {
    let seconds = |seconds: f64| duration(seconds * 1e9);
    let layout = match time.layout_s > 0.0 {
        true => {
            format!(" and {} ({}) wrote the file of the tests", seconds(time.layout_s), percent(time.layout_percent))
        }
        false => String::new(),
    };
    format!(
        "Of {}, {} ({}) were measured{layout}; preparation, warm-up and removal took the rest.",
        seconds(time.wall_s),
        seconds(time.measured_s),
        percent(time.measured_percent)
    )
}

/// The findings, each kind once; the table marks each row.
fn findings(headline: &Headline, form: Form) -> Option<String> {
    let mut text = String::new();
    for told in finding_kinds::by_kind(&headline.findings).iter().filter(|told| told.first().is_against()) {
        let (found, sentences) = (told.first(), told.sentences(headline.has_several_targets()).join("; "));
        text.push_str(&form.item(&format!("{}: {sentences}", found.word()), &told.next(), &found.id));
    }
    (!text.is_empty()).then_some(text)
}

fn notes(study: &Study, form: Form) -> Option<String> {
    // A comparison shows its notes: they tell how it was done.
    let is_shown = |note: &&fsdyno_results::Note| {
        note.severity > Severity::Info
            || study.question == Question::Compare
            || study.question == Question::Time && note.id != "environment"
    };
    let shown = study.notes.iter().filter(is_shown);
    let lines: Vec<String> = shown.map(|note| form.paragraph(&format!("note: {}", note.text))).collect();
    (!lines.is_empty()).then(|| lines.concat())
}
