//! What `inspect` says of a store.

use super::ask;
use testkit::{ObjectServer, ServerBehaviour, TestDirectory};

/// Three requests that write nothing, and what they show; beside each an honest server that does not show it.
#[test]
fn a_store_is_inspected_without_a_write() {
    let place = TestDirectory::new();
    let page = |manner| {
        let server = ObjectServer::start(manner);
        let ran = ask(&place, &server, "inspect s3://bucket/pre").good();
        let document = ask(&place, &server, "inspect s3://bucket/pre --json").good().document();
        assert_eq!(document["server"].as_str(), Some(server.host().as_str()), "{document}");
        let heads = server.heads();
        assert!(heads.len() == 6 && heads.iter().all(|head| head.starts_with("GET /bucket/?")), "{heads:?}");
        assert!(ran.stdout.contains("path style, region lab-1"), "{ran:?}");
        ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let honest = page(ServerBehaviour::Honest);
    for says in
        ["over one connection", "clock not visible", "versions off", "locks off", "keys may be listed", "no TLS"]
    {
        assert!(honest.contains(says), "{says}: {honest}");
    }
    for (manner, says) in [
        (ServerBehaviour::Versioned, "versions Enabled"),
        (ServerBehaviour::ClosesBehindAnswers, "the server closes connections: 3 connections for three requests"),
        (ServerBehaviour::OldClock, "behind that of this machine: signed requests are refused"),
        (ServerBehaviour::Tacit, "keys may not be listed (HTTP 403 AccessDenied)"),
    ] {
        let found = page(manner);
        assert!(found.contains(says) && !honest.contains(says), "{manner:?}: {found}");
    }
}
