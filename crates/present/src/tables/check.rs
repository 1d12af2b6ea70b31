//! Shows `check`: a line for each verdict, what it rests on profile by profile, and the list of profiles.

use fsdyno_results::{
    Bound, Confidence, Question, Requirement, RequirementKind, Study, TestOrigin, Verdict, VerdictRow,
};
use fsdyno_text::escape;
use fsdyno_text::quantity::{counted, published};
use serde_json::json;

use super::table::{Form, Table, wrapped};
use crate::headline::verdict::{between, distinct_verdicts, figure, margin};
use crate::headline::{Headline, VerdictLine};

/// One line for each requirement: `etcd  FAIL  p99 of fdatasync: 11.7 ms, at most 10 ms (95 %: 10.2 – 12.9)`.
/// Requirements that do not apply for the same reason share a line. The profile is left out where none was asked for.
pub(super) fn lines(headline: &Headline, question: Question, form: Form) -> String {
    let verdicts = &headline.verdicts;
    let is_named = question == Question::Check;
    let widest = |columns: &mut dyn Iterator<Item = usize>| columns.max().unwrap_or(0);
    let profile_columns = widest(&mut verdicts.iter().map(|line| line.profile.chars().count()));
    let verdict_columns = widest(&mut verdicts.iter().map(|line| line.verdict.len()));
    let line = |(line, words): (&VerdictLine, String)| match form {
        Form::Text { .. } => {
            let verdict = format!("{:<verdict_columns$}", line.verdict);
            let label = if is_named { format!("{:<profile_columns$}  {verdict}", line.profile) } else { verdict };
            form.labelled(&[(&escape::line(&label), words)])
        }
        Form::Markdown => {
            let profile = if is_named { format!(" {}:", escape::markdown(&line.profile)) } else { String::new() };
            format!("- **{}**{profile} {}\n", line.verdict, escape::markdown_sentence(&words))
        }
    };
    distinct_verdicts(verdicts).into_iter().map(line).collect()
}

/// The details below the lines, profile by profile; in Markdown everything, in a table.
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

/// The verdict of a profile as a whole: the worst of its rows.
fn overall(rows: &[&VerdictRow]) -> Verdict {
    let order = [Verdict::Fail, Verdict::Inconclusive, Verdict::Pass, Verdict::Reference, Verdict::NotApplicable];
    let given = |verdict: &Verdict| rows.iter().any(|row| row.verdict == *verdict);
    order.into_iter().find(given).unwrap_or(Verdict::NotApplicable)
}

/// What the profile is about, with its name where the title does not begin with it.
fn about(rows: &[&VerdictRow]) -> String {
    let Requirement { profile, profile_title, .. } = &rows[0].requirement;
    match profile_title.strip_prefix(profile.as_str()) {
        _ if profile_title.is_empty() => profile.clone(),
        Some(rest) if rest.starts_with(':') => profile_title.clone(),
        _ => format!("{profile_title} [{profile}]"),
    }
}

/// Indentation of what belongs to a row.
const INDENT: usize = 4;

/// The details that the lines lack: margins, what the verdicts rest on, notes and sources.
fn block(rows: &[&VerdictRow], columns: usize) -> String {
    let mut text = wrapped(&about(rows), columns, INDENT);
    let mut line = |indent: usize, sentence: &str| {
        text.push_str(&wrapped(&format!("{:indent$}{sentence}", ""), columns, indent + 2));
    };
    let sources = distinct(rows.iter().map(|row| source(row)));
    let marked = |row: &VerdictRow| {
        if sources.len() > 1 { format!(" [{}]", place(&sources, &source(row))) } else { String::new() }
    };
    // The line of a row without a figure is complete.
    let judged: Vec<&VerdictRow> = rows.iter().copied().filter(|row| row.measured.is_some()).collect();
    let shared = shared_remarks(&judged);
    for row in &judged {
        line(2, &format!("{}{}", beside(row), marked(row)));
        let own = remarks(row).into_iter().filter(|remark| !shared.contains(remark));
        own.for_each(|remark| line(INDENT, &remark));
    }
    shared.iter().for_each(|remark| line(2, remark));
    match &sources[..] {
        [source] => line(2, &format!("source: {source}")),
        several => {
            let numbered = several.iter().enumerate();
            numbered.for_each(|(index, source)| line(2, &format!("source [{}]: {source}", index + 1)));
        }
    }
    text
}

/// The requirement with its margin, and how its limit is computed.
fn beside(row: &VerdictRow) -> String {
    let margin = margin(row).map(|words| match row.verdict {
        _ if words.contains(" times ") => words,
        Verdict::Reference => format!("{words} against what is published"),
        _ => format!("margin {words}"),
    });
    let what = if row.verdict == Verdict::Reference { "that" } else { "the limit" };
    let from = row.requirement.derivation.as_ref().map(|from| format!("{what} is {from}"));
    let more: Vec<String> = [margin, from].into_iter().flatten().collect();
    if more.is_empty() {
        row.requirement.title.clone()
    } else {
        format!("{}: {}", row.requirement.title, more.join("; "))
    }
}

/// The reason for a verdict, and other remarks.
fn remarks(row: &VerdictRow) -> Vec<String> {
    let notes = row.caveats.iter().map(|caveat| format!("note: {caveat}"));
    std::iter::once(why(row)).chain(notes).collect()
}

/// The texts without duplicates, in the order of their first occurrence.
fn distinct(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    texts.for_each(|text| {
        if !all.contains(&text) {
            all.push(text);
        }
    });
    all
}

/// The position of a text, counted from 1.
fn place(all: &[String], one: &str) -> usize {
    1 + all.iter().position(|text| text == one).unwrap_or(0)
}

/// Remarks that concern every figure of a block; they are printed once.
fn shared_remarks(judged: &[&VerdictRow]) -> Vec<String> {
    match judged {
        [] | [_] => Vec::new(),
        [first, others @ ..] => {
            let everywhere = |remark: &String| others.iter().all(|row| remarks(row).contains(remark));
            remarks(first).into_iter().filter(everywhere).collect()
        }
    }
}

/// The reason for a verdict, and the test that it rests on.
fn why(row: &VerdictRow) -> String {
    let test = match row.origin {
        _ if row.requirement.bound == Bound::Gate => "",
        TestOrigin::Vendor | TestOrigin::Sound => "",
        TestOrigin::Equivalent => "; the vendor's procedure, done natively",
        TestOrigin::Ours => "; the test is our choice",
    };
    format!("{}{test}", row.reason)
}

fn measured(row: &VerdictRow) -> Option<String> {
    let interval = row.interval.map(|interval| format!(" ({})", between(&interval)));
    Some(format!("{} {}{}", figure(row.measured?), row.requirement.unit, interval.unwrap_or_default()))
}

fn limit(row: &VerdictRow) -> Option<String> {
    let requirement = &row.requirement;
    let side = match requirement.bound {
        Bound::AtMost => "at most",
        Bound::AtLeast => "at least",
        Bound::Gate => return None,
    };
    let what = if row.verdict == Verdict::Reference { "published" } else { "limit" };
    let from = requirement.derivation.as_ref().map(|from| format!(" ({from})")).unwrap_or_default();
    Some(format!("{what}: {side} {} {}{from}", published(requirement.threshold), requirement.unit))
}

/// The source of the requirement, and the kind of its figure.
fn source(row: &VerdictRow) -> String {
    let requirement = &row.requirement;
    format!(
        "{}, read {}; {}, {}",
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
    let (verdict, title) = (overall(rows), about(rows));
    let mut table = Table::new(&["<verdict", "<requirement", "<measured", "<limit", "margin", "<why", "<source"]);
    for row in rows {
        let why: Vec<String> = std::iter::once(why(row)).chain(row.caveats.iter().cloned()).collect();
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
    format!("### {}: {}\n\n{}", verdict.word(), escape::markdown(&title), table.shown(Form::Markdown))
}

/// A profile in the list.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedProfile {
    /// The profile's name on the command line.
    pub name: String,
    /// The subject, in one line.
    pub title: String,
    /// The source of most of its requirements.
    pub source: String,
    /// When the source was read, or its version.
    pub read_on: String,
    /// The kind of its figures.
    pub kind: RequirementKind,
    /// Time of those tests that end by time, with their original runtimes, s.
    pub seconds: u64,
    /// Whether some of its tests end by bytes.
    pub ends_by_bytes: bool,
    /// The names of its tiers, if it has any.
    pub tiers: Vec<String>,
    /// The file that it was read from; `None`: compiled in.
    pub path: Option<String>,
}

/// The groups of profiles, by the application that people run.
const GROUPS: [(&str, &[&str]); 6] = [
    (
        "Kubernetes and platforms",
        &[
            "etcd",
            "etcd-sizing",
            "openshift-etcd",
            "harvester",
            "vault",
            "prometheus-gate",
            "ibm-cloud-pak",
            "red-hat-satellite",
            "ansible-platform",
        ],
    ),
    ("Git", &["gitaly", "gitlab-fio", "gitlab-nfs-gate", "gitlab-smallfiles"]),
    ("Databases", &["postgresql-wal", "cockroachdb", "tidb", "sql-server", "sap-hana", "milvus"]),
    ("Mail, logs, backups, nodes of a chain", &["exchange", "splunk", "commvault", "polkadot"]),
    (
        "Volumes and filesystems of a cloud or of your own",
        &[
            "aws-ebs-gp3",
            "aws-ebs-io2",
            "aws-efs",
            "azure-netapp-files",
            "gcp-filestore",
            "google-netapp-volumes",
            "ceph-osd",
            "juicefs-bands",
        ],
    ),
    ("Object stores", &["s3-functional", "s3-standard", "juicefs-object"]),
];

/// All profiles for people: grouped, a line for each.
pub fn profiles(listed: &[ListedProfile], columns: usize) -> String {
    let is_grouped = |name: &str| GROUPS.iter().any(|(_, names)| names.contains(&name));
    let name_columns = listed.iter().map(|profile| profile.name.chars().count()).max().unwrap_or(0);
    let line = |profile: &ListedProfile| {
        let from = profile.path.as_ref().map(|path| format!(" (from {path})")).unwrap_or_default();
        let name = format!("  {:<name_columns$}", escape::line(&profile.name));
        Form::Text { columns }.labelled(&[(&name, format!("{}{from}", profile.title))])
    };
    let mut text = String::new();
    let mut group = |heading: &str, all: Vec<&ListedProfile>| {
        if !all.is_empty() {
            text.push_str(&format!("{heading}\n{}\n", all.into_iter().map(line).collect::<String>()));
        }
    };
    for (heading, names) in GROUPS {
        group(heading, names.iter().filter_map(|name| listed.iter().find(|one| one.name == *name)).collect());
    }
    group("Others", listed.iter().filter(|one| !is_grouped(&one.name)).collect());
    text.push_str(&wrapped("Tests, limits and sources of one: fsdyno check --show NAME", columns, 2));
    escape::terminal(&text).into_owned()
}

/// The same as a JSON document.
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
                "ends_by_bytes": profile.ends_by_bytes,
                "tiers": profile.tiers,
                "path": profile.path,
            })
        })
        .collect();
    crate::document(counted(all.len() as u64, "profile"), json!({ "profiles": all }))
}

#[cfg(test)]
mod tests;
