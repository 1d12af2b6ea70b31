//! `attribute`: shows where the latency of a client's mount comes from.

use std::io;
#[cfg(all(feature = "object", target_os = "linux"))]
use std::path::Path;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use fsdyno_guide::Problem;
use fsdyno_guide::attribution::{Attributed, attribute};
use fsdyno_guide::study::check_places;
#[cfg(all(feature = "object", target_os = "linux"))]
use fsdyno_guide::study::{Place, is_object_store};
use fsdyno_present::short_id;
#[cfg(all(feature = "object", target_os = "linux"))]
use fsdyno_results::Question;
use fsdyno_results::Study;
use fsdyno_stats::sort;
use serde_json::{Value, json};

#[cfg(all(feature = "object", target_os = "linux"))]
use super::answer::{AskedQuestion, Shared, answer};
use super::stored::{ended, opened, printed};
use crate::process::streams::{columns, is_terminal};

/// Where the latency of a network mount comes from: server, link or client. Compares two runs of the same question, one
/// on the server's own filesystem and one on the client's mount; each is a kept run or a file. Of s3://BUCKET/PREFIX and a
/// directory on its mount, measures what the mount adds.
#[derive(Debug, Args)]
pub(crate) struct Attribute {
    /// The run on the server: a name, the beginning of one, a baseline's name, or a file. Or s3://BUCKET/PREFIX.
    server: String,
    /// The run on the client. Or a directory on a mount of that bucket.
    client: String,
    /// One JSON document.
    #[arg(long)]
    json: bool,
    /// Print all sentences and reasons on a terminal too, and not only what fits 24 lines.
    #[arg(long, conflicts_with = "json")]
    wide: bool,
    /// Where runs are kept [default: $XDG_DATA_HOME/fsdyno, on Windows %LOCALAPPDATA%\fsdyno].
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
    /// Save no record of a measurement.
    #[cfg(all(feature = "object", target_os = "linux"))]
    #[arg(long, conflicts_with = "store")]
    no_store: bool,
}

impl Attribute {
    pub(crate) fn run(self, command: Vec<String>) -> ExitCode {
        #[cfg(all(feature = "object", target_os = "linux"))]
        if [&self.server, &self.client].into_iter().any(|word| is_object_store(word)) {
            return self.measure(command);
        }
        drop(command);
        ended(self.answer())
    }

    /// Measures a store and its mount.
    #[cfg(all(feature = "object", target_os = "linux"))]
    fn measure(self, command: Vec<String>) -> ExitCode {
        let words = [self.server, self.client];
        let places = words.each_ref().map(|word| Place::at(Path::new(word)));
        let asked = AskedQuestion::among(Question::Attribute, &places, &words, command);
        let shared = Shared {
            json: self.json,
            wide: self.wide,
            store: self.store,
            no_store: self.no_store,
            record_interval: 10,
            ..Shared::default()
        };
        let [store, mount] = &places;
        answer(&shared, asked, |caller| fsdyno_guide::objects::attribute(store, mount, caller))
    }

    fn answer(self) -> Result<ExitCode, Problem> {
        check_places("attribute", 1, [&*self.server, &*self.client].into_iter())?;
        let store = opened(self.store.as_deref())?;
        let (server, client) = (store.find(&self.server)?, store.find(&self.client)?);
        let found = attribute(&server, &client)?;
        let first_line = format!("{} on the server, {} on the client", server.id, client.id);
        let whole = self.whole([&server, &client]);
        let [of_server, of_client] = [&server, &client].map(|study| fsdyno_present::Headline::of(study).trust);
        Ok(printed(&if self.json {
            let patterns: Vec<Value> = found.iter().map(as_json).collect();
            fsdyno_present::document(
                headline(&found),
                json!({
                    "server": server.id,
                    "client": client.id,
                    "trust": {"server": of_server, "client": of_client},
                    "patterns": patterns,
                }),
            )
        } else if self.wide || !is_terminal(&io::stdout()) {
            let trust = [("server", of_server), ("client", of_client)];
            as_text(&first_line, &found, &trust.map(|(side, trust)| format!("trust: {side} {}", trust.words())))
        } else {
            let parts: Vec<_> =
                found.iter().map(|one| (&*one.pattern, one.outcome.as_ref().map_err(|why| &**why))).collect();
            let said = (&*first_line, in_short(&found));
            let said = (said.0, said.1.as_deref());
            fsdyno_present::tables::attribution([&server, &client], said, &parts, &whole, columns())
        }))
    }

    /// The command that shows everything.
    fn whole(&self, [server, client]: [&Study; 2]) -> String {
        let named = |word: &'_ String, study: &Study| match &self.store {
            Some(_) if *word == study.id => short_id(word).to_owned(),
            _ => word.clone(),
        };
        let runs = [named(&self.server, server), named(&self.client, client)];
        let words = ["fsdyno", "attribute", &runs[0], &runs[1], "--wide"].map(str::to_owned);
        let store = self.store.iter().map(|store| format!("--store={}", store.display()));
        fsdyno_text::shell::as_typed(&words.into_iter().chain(store).collect::<Vec<_>>())
    }
}

/// The sentence of each pattern, or that there is none.
fn headline(found: &[Attributed]) -> String {
    let sentences = found.iter().filter_map(|found| Some(found.outcome.as_ref().ok()?.sentence.as_str()));
    let sentences: Vec<&str> = sentences.collect();
    if sentences.is_empty() { NOTHING_KNOWN.to_owned() } else { sentences.join(" ") }
}

/// The answer where every pattern has a reason instead of figures.
const NOTHING_KNOWN: &str = "What the network adds is known for no pattern; each pattern has its reason.";

fn as_text(first_line: &str, found: &[Attributed], trust: &[String]) -> String {
    let mut page = fsdyno_present::Page::new(first_line, 2, columns());
    if let Some(answer) = in_short(found) {
        page.gap();
        page.paragraph("", &answer);
    }
    page.gap();
    trust.iter().for_each(|line| page.paragraph("", line));
    for Attributed { title, outcome, .. } in found {
        page.heading(title);
        page.paragraph("  ", outcome.as_ref().map_or_else(String::as_str, |found| &found.sentence));
    }
    page.into_text()
}

/// A sentence on where most of the client's latency comes from, over all patterns; `None`: nothing is known.
fn in_short(found: &[Attributed]) -> Option<String> {
    if found.iter().all(|one| one.outcome.is_err()) {
        return Some(NOTHING_KNOWN.to_owned());
    }
    let mut culprits: Vec<(&str, usize)> = Vec::new();
    for word in found.iter().filter_map(|one| Some(one.outcome.as_ref().ok()?.culprit?.word())) {
        match culprits.iter_mut().find(|(known, _)| *known == word) {
            Some((_, count)) => *count += 1,
            None => culprits.push((word, 1)),
        }
    }
    sort::by_key(&mut culprits, |(_, count)| std::cmp::Reverse(*count));
    let parts = culprits.iter().map(|(word, count)| format!("{word} ({count} of {} patterns)", found.len()));
    let parts: Vec<String> = parts.collect();
    (!parts.is_empty()).then(|| format!("Most of the latency on the client comes from {}.", parts.join(", ")))
}

fn as_json(attributed: &Attributed) -> Value {
    let Attributed { pattern, title, outcome } = attributed;
    match outcome {
        Ok(found) => json!({
            "pattern": pattern,
            "title": title,
            "server_ns": found.server_ns,
            "client_ns": found.client_ns,
            "added_ns": found.added_ns,
            "added_share": found.added_share,
            "queue_ns": found.queue_ns,
            "round_trip_ns": found.round_trip_ns,
            "limit": found.culprit.map(|culprit| culprit.word()),
            "sentence": found.sentence,
        }),
        Err(reason) => json!({"pattern": pattern, "title": title, "not_visible": reason}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attributed(outcome: Result<fsdyno_findings::limits::Attribution, String>) -> Attributed {
        Attributed { pattern: "read-latency".into(), title: "4k random read, depth 1".into(), outcome }
    }

    #[test]
    fn what_cannot_be_told_says_why_in_both_forms() {
        let open = attributed(Err("the plans differ".into()));
        assert_eq!(
            as_text("a on the server, b on the client", std::slice::from_ref(&open), &["trust: server ok".to_owned()]),
            format!(
                "a on the server, b on the client\n\n{NOTHING_KNOWN}\n\ntrust: server ok\n\n4k random read, depth 1\n  the plans differ\n"
            )
        );
        assert_eq!(headline(std::slice::from_ref(&open)), NOTHING_KNOWN);
        assert_eq!(as_json(&open)["not_visible"], "the plans differ");
        assert!(as_json(&open).get("limit").is_none());
    }

    #[test]
    fn a_terminal_gets_one_screen_with_what_to_look_at_next() {
        let found = |culprit| fsdyno_findings::limits::Attribution {
            server_ns: 1e6,
            client_ns: 4e6,
            added_ns: 3e6,
            added_share: 0.75,
            queue_ns: None,
            round_trip_ns: None,
            culprit: Some(culprit),
            sentence: "A read takes 4 ms.".into(),
        };
        let of = |id: &str| fsdyno_results::Study {
            id: id.into(),
            ..fsdyno_results::Study::of_run(fsdyno_results::RunRecord::new("test", 1))
        };
        let (server, mut client) = (of("server"), of("client"));
        client.targets[0].path = "/mnt/nfs".into();
        use fsdyno_findings::limits::Culprit::{Client, Link, Server};
        for (culprit, next) in
            [(Link, "inspect /mnt/nfs"), (Server, "show server --wide"), (Client, "show client --wide")]
        {
            let found = found(culprit);
            let mut parts = vec![("read-latency", Ok(&found)); 9];
            parts.extend([("rand-read", Err("the plans differ")), ("rand-write", Err("the plans differ"))]);
            let whole = "fsdyno attribute server client --wide";
            let told = ("server on the server, client on the client", Some("An answer."));
            let page = fsdyno_present::tables::attribution([&server, &client], told, &parts, whole, 80);
            assert!(page.lines().count() <= 22 && page.lines().all(|line| line.chars().count() <= 80), "{page}");
            let steps: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("    fsdyno ")).collect();
            assert_eq!(steps, [next, "attribute server client --wide"], "{page}");
            let json = as_json(&attributed(Ok(found.clone())));
            for figure in ["server_ns", "client_ns", "added_ns"] {
                let shown = fsdyno_text::quantity::latency(json[figure].as_f64().unwrap());
                assert!(page.contains(&shown), "{figure} {shown}: {page}");
            }
            for words in ["1.00 ms", "4.00 ms", "3.00 ms", culprit.word(), "trust"] {
                assert!(page.contains(words), "{words}: {page}");
            }
            let without = page.lines().filter(|line| line.contains("rand-")).collect::<Vec<_>>();
            assert_eq!(without, ["not known of rand-read, rand-write: the plans differ"], "{page}");
        }
    }

    /// For two random runs with rounds of all kinds, the sentence, the screen and JSON have the same digits.
    #[test]
    fn each_form_has_the_figures_of_the_rounds_that_count() {
        use testkit::draw::{Test, TestWork, cases};
        let mut seen = 0;
        for (case, mut draw) in cases(40) {
            let mut sides = [1000.0, 300.0].map(|per_s| {
                let test = Test {
                    target: 0,
                    pattern: "a",
                    does: TestWork::Read,
                    depth: 4,
                    block_bytes: 4096,
                    rounds: draw.one_of(&[1, 3, 5]),
                    per_s,
                };
                let study = fsdyno_results::Study::of_run(fsdyno_results::RunRecord::new("test", 1));
                fsdyno_results::Study { rows: draw.rounds(&test), ..study }
            });
            sides[1].targets[0].storage.class = fsdyno_results::evidence::StorageClass::Network;
            let Ok(found) = attribute(&sides[0], &sides[1]) else { continue };
            let Ok(outcome) = &found[0].outcome else { continue };
            let (json, wide) = (as_json(&found[0]), as_text("a", &found, &[]).replace("\n  ", " "));
            let told = ("a", Some("An answer."));
            let page =
                fsdyno_present::tables::attribution([&sides[0], &sides[1]], told, &[("a", Ok(outcome))], "fsdyno", 120);
            for (figure, value) in
                [("server_ns", outcome.server_ns), ("client_ns", outcome.client_ns), ("added_ns", outcome.added_ns)]
            {
                let shown = fsdyno_text::quantity::latency(json[figure].as_f64().unwrap());
                assert_eq!(json[figure].as_f64(), Some(value), "case {case}");
                assert!(page.contains(&shown), "case {case}: {figure} {shown}: {page}");
                let is_said = figure != "added_ns" || !wide.contains("add nothing");
                assert!(!is_said || wide.contains(&shown), "case {case}: {figure} {shown}: {wide}");
            }
            seen += 1;
        }
        assert!(seen > 10, "{seen}");
    }

    #[test]
    fn programs_get_the_figures_behind_the_sentence() {
        let found = fsdyno_findings::limits::Attribution {
            server_ns: 1e6,
            client_ns: 4e6,
            added_ns: 3e6,
            added_share: 0.75,
            queue_ns: None,
            round_trip_ns: Some(3e6),
            culprit: Some(fsdyno_findings::limits::Culprit::Link),
            sentence: "A read takes 4 ms.".into(),
        };
        let found = [attributed(Ok(found)), attributed(Err("the plans differ".into()))];
        let answer = "a\n\nMost of the latency on the client comes from the link (1 of 2 patterns).\n";
        let text = as_text("a", &found, &["trust: server ok", "trust: client caution"].map(str::to_owned));
        assert!(text.starts_with(&format!("{answer}\ntrust: server ok\ntrust: client caution\n")), "{text}");
        let json = as_json(&found[0]);
        assert_eq!((&json["limit"], &json["added_share"]), (&json!("the link"), &json!(0.75)));
        assert!(json["queue_ns"].is_null(), "not visible is not 0");
    }
}
