//! `inspect s3://BUCKET`: the server, the bucket and the way to them, by three requests that write nothing.

use fsdyno_object::{ListPage, epoch_s_of_date, error_code, field_of, webdav_names, word_of};
use fsdyno_results::evidence::RecordedFact;
use fsdyno_run::Bounds;

use super::server::Store;
use super::work::{Bucket, NOT_BY_WEBDAV};
use crate::Problem;
use crate::study::Place;

/// Facts about an object store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreFacts {
    /// The server, as requests name it.
    pub server: String,
    /// The address that was connected to.
    pub address: String,
    /// `path`, `virtual` or `webdav`.
    pub style: &'static str,
    /// The region that requests are signed for; `None`: WebDAV has none.
    pub region: Option<String>,
    /// The program of the server, as it calls itself.
    pub program: RecordedFact<String>,
    /// Until the connection stood, ns.
    pub connect_ns: u64,
    /// Until TLS stood behind it, ns; `None`: nothing is encrypted.
    pub handshake_ns: Option<u64>,
    /// Version and cipher of TLS; `None`: nothing is encrypted.
    pub tls: Option<String>,
    /// Connections that the three requests needed: more than one means that the server closes each.
    pub connections: u64,
    /// Seconds by which the server's clock is ahead of that of this machine, exact to a second or two.
    pub ahead_s: RecordedFact<i64>,
    /// Whether the bucket keeps the versions of its objects: `Enabled`, `Suspended`, `off`.
    pub versions: RecordedFact<String>,
    /// Whether the bucket locks its objects: `Enabled`, `off`.
    pub locks: RecordedFact<String>,
    /// Whether keys may be listed, which `clean` needs.
    pub lists: RecordedFact<String>,
}

/// Asks about an object store; writes nothing.
///
/// # Errors
/// When the server does not answer.
pub fn inspect(place: &Place, bounds: Bounds) -> Result<StoreFacts, Problem> {
    let mut bucket = Bucket::connect(Store::of(place, bounds)?)?;
    let before = bucket.store.key_before();
    let is_webdav = bucket.store.is_webdav();
    let [versions, locks, page] = if is_webdav {
        [
            bucket.ask("OPTIONS", &before, &[], &[])?,
            bucket.ask("OPTIONS", &before, &[], &[])?,
            bucket.ask("PROPFIND", &before, &[], &[])?,
        ]
    } else {
        let page = [("list-type", "2"), ("max-keys", "1"), ("prefix", &before)];
        [
            bucket.ask("GET", "", &[("versioning", "")], &[])?,
            bucket.ask("GET", "", &[("object-lock", "")], &[])?,
            bucket.ask("GET", "", &page, &[])?,
        ]
    };
    let here_s = fsdyno_run::now_ms() / 1000;
    let refused = |reply: &fsdyno_engine::ObjectReply| {
        let code = error_code(&reply.body).map(|code| format!(" {code}")).unwrap_or_default();
        RecordedFact::NotVisible(format!("HTTP {}{code}", reply.status))
    };
    let ahead_s = field_of(&page.head, "date").and_then(epoch_s_of_date).map(|there_s| there_s as i64 - here_s as i64);
    let state = |reply: &fsdyno_engine::ObjectReply, root, element| match reply.status {
        _ if is_webdav => RecordedFact::NotVisible(NOT_BY_WEBDAV.to_owned()),
        200 => RecordedFact::Value(word_of(&reply.body, root, element).unwrap_or_else(|| "off".to_owned())),
        404 if error_code(&reply.body).is_some_and(|code| code.starts_with("ObjectLock")) => {
            RecordedFact::Value("off".to_owned())
        }
        _ => refused(reply),
    };
    let server = &bucket.client.server;
    Ok(StoreFacts {
        server: server.name.clone(),
        address: server.address.clone(),
        style: match bucket.store.server.is_virtual {
            _ if is_webdav => "webdav",
            true => "virtual",
            false => "path",
        },
        region: Some(bucket.store.server.region.clone()).filter(|_| !is_webdav),
        program: field_of(&page.head, "server").map(str::to_owned).ok_or("it does not say").into(),
        connect_ns: server.connect_ns,
        handshake_ns: server.handshake_ns,
        tls: server.tls.clone(),
        connections: bucket.client.connections,
        ahead_s: ahead_s.ok_or("its answers have no date").into(),
        versions: state(&versions, "VersioningConfiguration", "Status"),
        locks: state(&locks, "ObjectLockConfiguration", "ObjectLockEnabled"),
        lists: match page.status {
            207 if webdav_names(&page.body).is_some() => RecordedFact::Value("yes".to_owned()),
            200 if ListPage::parse(&page.body).is_some() => RecordedFact::Value("yes".to_owned()),
            _ => refused(&page),
        },
    })
}
