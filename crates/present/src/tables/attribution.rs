//! Shows `attribute`: a line for each pattern of two runs, on one screen.

use fsdyno_findings::limits::{Attribution, Culprit};
use fsdyno_results::Study;
use fsdyno_text::quantity::latency;

use super::screen::{LABELLED_LINES, LabelSubject, Labelled, SENTENCE_LINES, Screen, first_lines, lines_of};
use super::table::{Form, Table};
use crate::command;
use crate::headline::{Headline, Step};
use fsdyno_text::shell::as_typed;

/// Says where most of the client's latency comes from, on a terminal of 24 lines. `found`: each pattern with its parts,
/// or why they are not known; `whole`: the command that shows everything.
pub fn attribution(
    [server, client]: [&Study; 2],
    (heading, answer): (&str, Option<&str>),
    found: &[(&str, Result<&Attribution, &str>)],
    whole: &str,
    columns: usize,
) -> String {
    let form = Form::Text { columns };
    let mut table = Table::new(&["mean latency", "on the server", "on the client", "added", "<limit"]);
    for (pattern, found) in found.iter().filter_map(|(pattern, outcome)| Some((pattern, outcome.ok()?))) {
        let [server, client, added] = [found.server_ns, found.client_ns, found.added_ns].map(latency);
        let limit = found.culprit.map_or("not known", Culprit::word).to_owned();
        table.row(vec![(*pattern).to_owned(), server, client, added, limit]);
    }
    // Patterns without figures share a line for each reason.
    let mut unknown: Vec<(&str, Vec<&str>)> = Vec::new();
    for (pattern, reason) in found.iter().filter_map(|(pattern, outcome)| Some((*pattern, outcome.err()?))) {
        match unknown.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, patterns)) => patterns.push(pattern),
            None => unknown.push((reason, vec![pattern])),
        }
    }
    let line = |(reason, patterns): &(&str, Vec<&str>)| {
        form.paragraph(&format!("not known of {}: {reason}", patterns.join(", ")))
    };
    let reasons: String = unknown.iter().map(line).collect();
    let figures = if table.is_empty() { reasons } else { format!("{}{reasons}", table.shown(form)) };
    let trust = [("server", server), ("client", client)].map(|(side, study)| (side, Headline::of(study).trust.words()));
    let trust: Vec<(&str, String)> =
        trust.into_iter().map(|(side, words)| ("trust", format!("{side} {words}"))).collect();
    let limits = trust.iter().map(|line| {
        let of_first = |most| first_lines(&form.labelled(std::slice::from_ref(line)), most, columns);
        Labelled { lines: of_first(LABELLED_LINES), short: of_first(1), about: LabelSubject::Trust }
    });
    let all = Step { what: "all sentences and reasons:".to_owned(), command: Some(whole.to_owned()) };
    let culprits = found.iter().filter_map(|(_, outcome)| outcome.ok()?.culprit);
    Screen {
        heading: lines_of(&form.paragraph(heading)),
        places: Vec::new(),
        sentence: answer
            .map(|answer| first_lines(&form.paragraph(answer), SENTENCE_LINES, columns))
            .unwrap_or_default(),
        figures: lines_of(&figures),
        limits: limits.collect(),
        joined_limits: Vec::new(),
        steps: vec![lines_of(&form.step(&next([server, client], culprits)))],
        rest: lines_of(&form.step(&all).replacen("next: ", "", 1)),
        columns,
    }
    .shown()
}

/// The next step: where most patterns have their limit.
fn next([server, client]: [&Study; 2], culprits: impl Iterator<Item = Culprit>) -> Step {
    let mut count = [0; 3];
    culprits.for_each(|culprit| count[culprit as usize] += 1);
    let of = |culprit: Culprit| count[culprit as usize];
    let shown = |study: &Study| command::about(study, "show", &["--wide"]);
    let path = client.targets.first().map(|target| target.path.clone()).filter(|path| !path.is_empty());
    let (what, command) = match path {
        Some(path) if of(Culprit::Link) > of(Culprit::Server).max(of(Culprit::Client)) => (
            "on the client: the link to the server and how it is mounted",
            as_typed(&["fsdyno".into(), "inspect".into(), path]),
        ),
        _ if of(Culprit::Server) > of(Culprit::Client) => ("what limits the server by itself", shown(server)),
        _ => ("what limits the client", shown(client)),
    };
    Step { what: what.to_owned(), command: Some(command) }
}
