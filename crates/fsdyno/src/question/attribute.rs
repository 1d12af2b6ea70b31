//! `attribute`: whose the latency of a client's mount is.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use guide::Problem;
use guide::attribution::{Attributed, attribute};
use guide::store::Store;
use serde_json::{Value, json};

use super::stored::{ended, printed};

/// Server, link or client: where the latency of a network mount comes from. The same question asked on the server's own
/// filesystem and on the client's mount, each a kept run or a file.
#[derive(Debug, Args)]
pub(crate) struct Attribute {
    /// The run on the server: a name, the beginning of one, a baseline's name, or a file.
    server: String,
    /// The run on the client.
    client: String,
    /// One JSON document.
    #[arg(long)]
    json: bool,
    /// Where runs are kept [default: $XDG_DATA_HOME/fsdyno].
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
}

impl Attribute {
    pub(crate) fn run(self) -> ExitCode {
        ended(self.answer())
    }

    fn answer(self) -> Result<ExitCode, Problem> {
        let store = Store::at(self.store.as_deref())?;
        let (server, client) = (store.find(&self.server)?, store.find(&self.client)?);
        let found = attribute(&server, &client)?;
        let first_line = format!("{} on the server, {} on the client", server.id, client.id);
        Ok(printed(&if self.json {
            let patterns: Vec<Value> = found.iter().map(as_json).collect();
            format!("{}\n", json!({"server": server.id, "client": client.id, "patterns": patterns}))
        } else {
            as_text(&first_line, &found)
        }))
    }
}

fn as_text(first_line: &str, found: &[Attributed]) -> String {
    let mut page = report::Page::new(first_line, 2, super::columns());
    for Attributed { title, outcome, .. } in found {
        page.heading(title);
        page.paragraph("  ", outcome.as_ref().map_or_else(String::as_str, |found| &found.sentence));
    }
    page.into_text()
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
