//! Uploads in parts: begun, each part sent, and completed. The object is there when the request Complete has been answered.

use std::ffi::CString;
use std::sync::Arc;

use fsdyno_object::{encoded_query, field_of, open_uploads, word_of};
use fsdyno_os::clock::{Clock, RealClock};
use fsdyno_results::{Finding, Latency, PhaseRecord};
use fsdyno_run::metadata::operations::{Failure, Item, Prepare};
use fsdyno_run::metadata::phase_counters::PhaseCounters;
use fsdyno_run::metadata::{Task, perform};

use super::answers::{self, Tallies};
use super::calls::Calls;
use super::keys::{KeySet, is_on};
use super::phase::Pace;
use super::server::Store;
use super::work::{Bucket, ObjectWork};
use crate::smallfiles::WholeFile;
use crate::smallfiles::relay::Relay;
use crate::study::StudyRun;
use crate::watch::Step;
use crate::work_directory::reason;
use crate::{Problem, Watcher};

/// The name of the set of their keys.
pub(super) const NAME: &str = "p16";

/// Bytes of a part: servers take no less than 5 MiB.
const PART_BYTES: u64 = 8 << 20;

/// Parts of an upload.
const PARTS: u64 = 2;

/// Bytes of an object that is uploaded in parts.
pub(super) const OBJECT_BYTES: u64 = PARTS * PART_BYTES;

/// Requests of an upload: its begin, its parts, its end.
pub(super) const REQUESTS: u64 = PARTS + 2;

/// Rounds of aborts at most; each has a page of uploads.
const ABORTS_MAX: usize = 100;

/// Makes uploads; an operation is a whole one, of which the request Complete is timed by itself.
fn uploads(store: &Store, tallies: &Tallies) -> Prepare {
    let (store, tallies) = (store.clone(), Arc::clone(tallies));
    Box::new(move || {
        let (mut calls, clock) = (Calls::connect(&store, 0, PART_BYTES, &tallies), RealClock::shared());
        Box::new(move |item| upload(&mut calls, &clock, &item.name.to_string_lossy()))
    })
}

/// One upload; one that fails is aborted. Returns the time of its Complete, ns.
fn upload(calls: &mut Calls, clock: &RealClock, key: &str) -> Result<u64, Failure> {
    let path = calls.store.path_of(key);
    let begun = calls.send("POST", &path, "uploads=", "", &[200])?;
    // Servers give the root of this document different names.
    let id = word_of(&begun.body, "", "UploadId")
        .ok_or_else(|| Failure::Wrong("POST", "the server gives the upload no id".to_owned()))?;
    let outcome = send_parts(calls, clock, &path, &id);
    if outcome.is_err() {
        let _ = calls.send("DELETE", &path, &encoded_query(&[("uploadId", &id)]), "", &[204]);
    }
    outcome
}

fn send_parts(calls: &mut Calls, clock: &RealClock, path: &str, id: &str) -> Result<u64, Failure> {
    let mut list = "<CompleteMultipartUpload>".to_owned();
    for number in 1..=PARTS {
        let query = encoded_query(&[("partNumber", &number.to_string()), ("uploadId", id)]);
        let reply = calls.send("PUT", path, &query, "", &[200])?;
        let tag = field_of(&reply.head, "etag").filter(|tag| !tag.contains(['<', '&']));
        let tag = tag.ok_or_else(|| Failure::Wrong("PUT", "the server gives the part no ETag".to_owned()))?;
        list.push_str(&format!("<Part><PartNumber>{number}</PartNumber><ETag>{tag}</ETag></Part>"));
    }
    list.push_str("</CompleteMultipartUpload>");
    let began_ns = clock.now_ns();
    calls.send("POST", path, &encoded_query(&[("uploadId", id)]), &list, &[200])?;
    Ok(clock.now_ns().saturating_sub(began_ns))
}

/// What uploads in parts did.
pub(super) struct Uploaded {
    pub(super) record: PhaseRecord,
    /// The latency of Complete.
    pub(super) complete: Latency,
    pub(super) findings: Vec<Finding>,
}

/// Uploads this number of times; the objects of the set take turns.
pub(super) fn run(
    study_run: &mut StudyRun<'_>,
    (work, counters, step): (&ObjectWork, &mut PhaseCounters, &Step),
    pace: Pace,
    times: u64,
) -> Result<Uploaded, Problem> {
    let Some(keys) = work.keys.iter().find(|keys| keys.name == NAME) else {
        return Err(Problem::new("internal error: no keys of uploads"));
    };
    let tallies = Tallies::default();
    let item = |number: u64| {
        let name = CString::new(format!("{}{}", work.folder, keys.key(number % keys.count.max(1)))).ok()?;
        Some(Item { index: u32::try_from(number).ok()?, name, other: None, expected: OBJECT_BYTES })
    };
    let task = Task {
        title: step.title.clone(),
        prepare: uploads(&work.bucket.store, &tallies),
        has_part: true,
        threads: pace.threads,
        items: (0..times).filter_map(item).collect(),
        limit_ns: Some(u64::from(pace.limit_s) * 1_000_000_000),
        wears_out: false,
        more_ns: work.bucket.store.deadline_ns.saturating_mul(REQUESTS),
        control: Arc::clone(&study_run.control),
    };
    let glance = counters.look();
    let outcome = perform(task, &mut Relay { step, watcher: &mut *study_run.watcher }).map_err(|error| {
        Problem::new(format!("cannot start a thread: {}", reason(&error))).with_next("ask for fewer --connections")
    })?;
    let operations = outcome.done.len() as u64;
    let record = PhaseRecord {
        name: "put-parts".to_owned(),
        operations,
        failures: outcome.failures,
        error: outcome.error.clone(),
        threads: pace.threads,
        bytes: Some(operations * OBJECT_BYTES),
        elapsed_ns: outcome.elapsed_ns(),
        cpu_ns: outcome.user_ns + outcome.system_ns,
        latency: outcome.latency.clone(),
        cache: None,
        conditions: Some(counters.since(&glance, outcome.waited_ns)),
    };
    let findings = answers::findings(&tallies, &record, (WholeFile::Write, PART_BYTES), &study_run.study);
    Ok(Uploaded { record, complete: outcome.part, findings })
}

impl Bucket {
    /// Aborts the uploads of keys that are on the list. Returns why some may be left.
    pub(super) fn abort_uploads(
        &mut self,
        folder: &str,
        list: &[KeySet],
        watcher: &mut dyn Watcher,
    ) -> Result<Option<String>, Problem> {
        if !list.iter().any(|keys| keys.name == NAME) {
            return Ok(None);
        }
        for _ in 0..ABORTS_MAX {
            self.looks(watcher);
            let reply = self.ask("GET", "", &[("prefix", folder), ("uploads", "")], &[])?;
            let page = match (reply.status, open_uploads(&reply.body)) {
                (200, Some(page)) => page,
                // A server without uploads has none.
                (400 | 404 | 405 | 501, _) => return Ok(None),
                (status, _) => {
                    return Ok(Some(format!("uploads that are not complete may be left, and are paid: HTTP {status}")));
                }
            };
            let is_ours = |key: &String| key.strip_prefix(folder).is_some_and(|own| is_on(list, own));
            let ours: Vec<_> = page.into_iter().filter(|(key, _)| is_ours(key)).collect();
            if ours.is_empty() {
                return Ok(None);
            }
            for (key, id) in ours {
                self.looks(watcher);
                let reply = self.ask("DELETE", &key, &[("uploadId", &id)], &[])?;
                if !matches!(reply.status, 200 | 204 | 404) {
                    return Err(self.refused("to abort an upload", &reply));
                }
            }
        }
        Ok(Some("uploads that are not complete are left: the server lists them again and again".to_owned()))
    }
}
