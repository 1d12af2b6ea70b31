//! `fsdyno inspect s3://BUCKET`.

use fsdyno_guide::Problem;
use fsdyno_guide::objects::{StoreFacts, inspect};
use fsdyno_guide::study::Place;
use fsdyno_results::evidence::RecordedFact;
use fsdyno_text::escape;
use fsdyno_text::quantity::{counted, latency};
use serde_json::json;

use crate::process::patience::bounds;
use crate::process::status::UNUSABLE;
use crate::process::streams::{columns, print, refused};

/// A clock that differs by more makes servers refuse signed requests in the end (they allow 15 minutes), s.
const AHEAD_S_MAX: u64 = 60;

/// Prints what is known of the store; returns the exit status.
pub(super) fn answer(place: &Place, in_json: bool, expected: Option<&str>) -> u8 {
    let shown = fsdyno_job::bytes::shown(&place.path);
    if let Some(expected) = expected {
        return refused(&Problem::new(format!("{shown} should be {expected}, but it is an object store")));
    }
    let facts = match inspect(place, bounds()) {
        Ok(facts) => facts,
        Err(problem) => return refused(&problem),
    };
    let text = if in_json { document(&shown, &facts) } else { page(&shown, &facts) };
    if print(&escape::terminal(&text)) { 0 } else { UNUSABLE }
}

fn page(shown: &str, facts: &StoreFacts) -> String {
    let mut page = fsdyno_present::Page::new(shown, 14, columns());
    let mut line = |name: &str, text: String| page.line(name, &text);
    let way = facts
        .region
        .as_deref()
        .map_or_else(|| "WebDAV".to_owned(), |region| format!("{} style, region {region}", facts.style));
    line("server", format!("{} ({}), {way}", facts.server, facts.address));
    line("program", words(&facts.program));
    let tls = facts.tls.as_deref().map_or_else(
        || match facts.region {
            Some(_) => "no TLS: keys are signed, data are not encrypted".to_owned(),
            None => "no TLS: neither name and password nor data are encrypted".to_owned(),
        },
        |tls| format!("{tls}, handshake {}", latency(facts.handshake_ns.unwrap_or(0) as f64)),
    );
    line("connection", format!("connect {}; {tls}", latency(facts.connect_ns as f64)));
    line(
        "keep-alive",
        match facts.connections {
            1 => "three requests over one connection".to_owned(),
            more => format!(
                "the server closes connections: {} for three requests, and each request pays for one",
                counted(more, "connection")
            ),
        },
    );
    line(
        "clock",
        match &facts.ahead_s {
            RecordedFact::Value(ahead) if ahead.unsigned_abs() > AHEAD_S_MAX => format!(
                "the server's is {} {} that of this machine: signed requests are refused from 15 minutes on",
                counted(ahead.unsigned_abs(), "second"),
                if *ahead > 0 { "ahead of" } else { "behind" }
            ),
            RecordedFact::Value(ahead) => format!("{ahead:+} s against this machine"),
            RecordedFact::NotVisible(why) => format!("not visible ({why})"),
        },
    );
    line("versions", words(&facts.versions));
    line("locks", words(&facts.locks));
    line(
        "list",
        match &facts.lists {
            RecordedFact::Value(_) => "keys may be listed".to_owned(),
            RecordedFact::NotVisible(why) => {
                format!("keys may not be listed ({why}): clean cannot find what a killed run leaves")
            }
        },
    );
    page.into_text()
}

fn words(fact: &RecordedFact<String>) -> String {
    match fact {
        RecordedFact::Value(value) => value.clone(),
        RecordedFact::NotVisible(why) => format!("not visible ({why})"),
    }
}

fn document(shown: &str, facts: &StoreFacts) -> String {
    let StoreFacts {
        server,
        address,
        style,
        region,
        program,
        connect_ns,
        handshake_ns,
        tls,
        connections,
        ahead_s,
        versions,
        locks,
        lists,
    } = facts;
    fsdyno_present::document(
        format!("{shown} at {server}"),
        json!({
            "place": shown,
            "server": server,
            "address": address,
            "style": style,
            "region": region,
            "program": program,
            "connect_ns": connect_ns,
            "handshake_ns": handshake_ns,
            "tls": tls,
            "connections": connections,
            "ahead_s": ahead_s,
            "versions": versions,
            "locks": locks,
            "lists": lists,
        }),
    )
}
