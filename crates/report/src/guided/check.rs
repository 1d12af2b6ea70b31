//! `check`: the answers, profile by profile; and the list of profiles.

use results::quantity::number;
use results::{Bound, Confidence, RequirementKind, Study, TestOrigin, Verdict, VerdictRow};
use serde_json::json;

use super::table::{Form, Table, wrapped};

/// All answers.
pub(super) fn answers(study: &Study, form: Form) -> String {
    let mut profiles: Vec<&str> = Vec::new();
    for row in &study.verdicts {
        if !profiles.contains(&row.requirement.profile.as_str()) {
            profiles.push(&row.requirement.profile);
        }
    }
    let blocks = profiles.iter().map(|profile| {
        let rows: Vec<&VerdictRow> = study.verdicts.iter().filter(|row| row.requirement.profile == **profile).collect();
        match form {
            Form::Text { columns } => block(&rows, columns),
            Form::Markdown => markdown(&rows),
        }
    });
    blocks.collect::<Vec<_>>().join("\n")
}

/// The answer of a profile as a whole: the worst of its rows.
fn overall(rows: &[&VerdictRow]) -> Verdict {
    let order = [Verdict::Fail, Verdict::Inconclusive, Verdict::Pass, Verdict::Reference, Verdict::NotApplicable];
    let given = |verdict: &Verdict| rows.iter().any(|row| row.verdict == *verdict);
    order.into_iter().find(given).unwrap_or(Verdict::NotApplicable)
}

fn heading(rows: &[&VerdictRow]) -> (Verdict, String) {
    let first = &rows[0].requirement;
    let title = if first.profile_title.is_empty() { &first.profile } else { &first.profile_title };
    (overall(rows), format!("{title} [{}]", first.profile))
}

/// Space before what belongs to a row.
const INDENT: usize = 4;

fn block(rows: &[&VerdictRow], columns: usize) -> String {
    let (verdict, title) = heading(rows);
    let mut text = wrapped(&format!("{}  {title}", verdict.word()), columns, INDENT);
    let shared = source(rows[0]);
    let one_source = rows.iter().all(|row| source(row) == shared);
    let detail = |sentence: &str| wrapped(&format!("{:INDENT$}{sentence}", ""), columns, INDENT + 2);
    // Rows that say nothing about this storage share their reason: it is told once.
    let mut told = "";
    for row in rows {
        text.push_str(&wrapped(&format!("  {}", sentence(row)), columns, INDENT));
        if row.verdict != Verdict::NotApplicable || row.reason != told {
            text.push_str(&detail(&row.reason));
        }
        told = &row.reason;
        row.caveats.iter().for_each(|caveat| text.push_str(&detail(&format!("note: {caveat}"))));
        if !one_source {
            text.push_str(&detail(&source(row)));
        }
    }
    if one_source {
        text.push_str(&wrapped(&format!("  {shared}"), columns, INDENT));
    }
    text
}

/// Verdict, figure, limit and margin.
fn sentence(row: &VerdictRow) -> String {
    let requirement = &row.requirement;
    let mut text = format!("{}  {}", row.verdict.word(), requirement.title);
    let figures: Vec<String> = [measured(row), limit(row), margin(row).map(|margin| format!("margin {margin}"))]
        .into_iter()
        .flatten()
        .collect();
    if !figures.is_empty() {
        text.push_str(&format!(": {}", figures.join(", ")));
    }
    text
}

fn measured(row: &VerdictRow) -> Option<String> {
    let interval = row.interval.map(|interval| {
        format!(" ({:.0} %: {} to {})", interval.confidence * 100.0, number(interval.low), number(interval.high))
    });
    Some(format!("{} {}{}", number(row.measured?), row.requirement.unit, interval.unwrap_or_default()))
}

fn limit(row: &VerdictRow) -> Option<String> {
    let requirement = &row.requirement;
    let side = match requirement.bound {
        Bound::AtMost => "at most",
        Bound::AtLeast => "at least",
        Bound::Gate => return None,
    };
    let published = if row.verdict == Verdict::Reference { "published" } else { "limit" };
    let from = requirement.derivation.as_ref().map(|from| format!(" ({from})")).unwrap_or_default();
    Some(format!("{published}: {side} {} {}{from}", number(requirement.threshold), requirement.unit))
}

fn margin(row: &VerdictRow) -> Option<String> {
    let percent = row.margin_percent?;
    let sign = if percent > 0.0 { "+" } else { "" };
    Some(format!("{sign}{} %", number(percent)))
}

/// Where the figure was read, and what it is.
fn source(row: &VerdictRow) -> String {
    let requirement = &row.requirement;
    let test = match row.origin {
        _ if requirement.bound == Bound::Gate => "",
        TestOrigin::Vendor | TestOrigin::Sound => "",
        TestOrigin::Equivalent => "; the vendor's procedure, done natively",
        TestOrigin::Ours => "; the test is our choice",
    };
    format!(
        "source: {}, read {}; {}, {}{test}",
        requirement.source,
        requirement.read_on,
        requirement.kind.word(),
        confidence(requirement.confidence)
    )
}

fn confidence(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::A => "the vendor's own text",
        Confidence::B => "read in part, in a copy or in an older version",
        Confidence::C => "second-hand",
    }
}

fn markdown(rows: &[&VerdictRow]) -> String {
    let (verdict, title) = heading(rows);
    let mut table = Table::new(&["<verdict", "<requirement", "<measured", "<limit", "margin", "<why", "<source"]);
    for row in rows {
        let why: Vec<&str> =
            std::iter::once(row.reason.as_str()).chain(row.caveats.iter().map(String::as_str)).collect();
        table.row(vec![
            format!("**{}**", row.verdict.word()),
            row.requirement.title.clone(),
            measured(row).unwrap_or_else(|| "-".to_string()),
            limit(row).unwrap_or_else(|| "-".to_string()),
            margin(row).unwrap_or_else(|| "-".to_string()),
            why.join("; "),
            source(row),
        ]);
    }
    format!("### {}: {title}\n\n{}", verdict.word(), table.shown(Form::Markdown))
}

/// A profile in the list.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedProfile {
    /// Its name on the command line.
    pub name: String,
    /// What it is about, one line.
    pub title: String,
    /// Where most of it was read.
    pub source: String,
    /// When, or which version.
    pub read_on: String,
    /// What its figures are.
    pub kind: RequirementKind,
    /// Seconds that its tests take as they are written; `None`: some end by bytes.
    pub seconds: Option<u64>,
    /// Its tiers, if it has any.
    pub tiers: Vec<String>,
    /// The file that it comes from; `None`: compiled in.
    pub path: Option<String>,
}

/// All profiles, for people.
pub fn profiles(listed: &[ListedProfile], columns: usize) -> String {
    let mut text = String::new();
    for profile in listed {
        let mut about = vec![profile.kind.word().to_string()];
        about.push(match profile.seconds {
            None => "ends by bytes".to_string(),
            Some(0) => "no measuring".to_string(),
            Some(seconds) if seconds < 120 => format!("{seconds} s"),
            Some(seconds) => format!("{} min", seconds.div_ceil(60)),
        });
        if !profile.tiers.is_empty() {
            about.push(format!("tiers {}", profile.tiers.join(", ")));
        }
        about.extend(profile.path.as_ref().map(|path| format!("from {path}")));
        text.push_str(&wrapped(&format!("{}  {}", profile.name, profile.title), columns, INDENT));
        text.push_str(&wrapped(&format!("{:INDENT$}{}", "", about.join("; ")), columns, INDENT));
        let source = format!("{:INDENT$}{}, read {}", "", profile.source, profile.read_on);
        text.push_str(&wrapped(&source, columns, INDENT));
    }
    text
}

/// The same as one JSON document.
pub fn profiles_json(listed: &[ListedProfile]) -> String {
    let all: Vec<_> = listed
        .iter()
        .map(|profile| {
            json!({
                "name": profile.name,
                "title": profile.title,
                "source": profile.source,
                "read_on": profile.read_on,
                "kind": profile.kind,
                "seconds": profile.seconds,
                "tiers": profile.tiers,
                "path": profile.path,
            })
        })
        .collect();
    format!("{}\n", json!({ "profiles": all }))
}

#[cfg(test)]
mod tests;
