//! The objects of a question: below a prefix of its own, with a marker that is written first and deleted last. Only keys
//! of the list in the marker are deleted, one by one.

use fsdyno_engine::{ObjectClient, ObjectReply};
use fsdyno_object::{ListPage, PlainRequest, encoded_query, error_code, webdav_names, word_of};
use fsdyno_os::clock::{Clock, RealClock};
use fsdyno_os::files::unguessable;
use fsdyno_results::Severity;
use fsdyno_text::shell::word_as_typed;
use serde::{Deserialize, Serialize};

use super::keys::{KeySet, is_on};
use super::server::Store;
use crate::study::StudyRun;
use crate::watch::SilentWatcher;
use crate::work_directory::marker::Marker;
use crate::work_directory::{PREFIX, SpaceNeeds};
use crate::{Problem, Watcher};

/// The marker's name in the folder of a run.
const MARKER: &str = ".fsdyno-work";

/// The marker's first words, for people who find it.
const WHAT: &str = "objects of fsdyno, removed by `fsdyno clean s3://BUCKET/PREFIX`";

/// Why a test of buckets is left out.
pub(super) const NOT_BY_WEBDAV: &str = "not by WebDAV";

/// Pages of a list that are read at most: each may be paid, and a run has fewer keys by far.
const PAGES_MAX: usize = 1_000;

/// A list takes this number of times the time of a request at most.
const LIST_TIMES: u64 = 10;

/// Bytes of the names of a list at most: a server that sends more is not believed.
const NAMES_BYTES_MAX: usize = 64 << 20;

/// What the marker says: who wrote the objects, and which they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ObjectMarker {
    what: String,
    pub(super) maker: Marker,
    pub(super) keys: Vec<KeySet>,
}

/// A bucket that answers.
pub(super) struct Bucket {
    pub(super) store: Store,
    pub(super) client: ObjectClient,
    /// Requests so far, beside those of jobs.
    pub(super) asked: u64,
}

impl Bucket {
    pub(super) fn connect(store: Store) -> Result<Bucket, Problem> {
        let mut client =
            ObjectClient::connect(&store.options()).map_err(|why| Problem::new(format!("{}: {why}", store.url)))?;
        client.deadline_ns = store.deadline_ns;
        Ok(Bucket { store, client, asked: 0 })
    }

    /// Says that another request begins: each has the whole time that a look has.
    pub(super) fn looks(&self, watcher: &mut dyn Watcher) {
        watcher.looks(std::path::Path::new(&self.store.url));
    }

    /// Asks for an object, or with an empty key for the bucket.
    pub(super) fn ask(
        &mut self,
        method: &'static str,
        key: &str,
        query: &[(&str, &str)],
        body: &[u8],
    ) -> Result<ObjectReply, Problem> {
        self.send(method, key, query, (body, method == "PUT"))
    }

    /// The same; with `only_new` the server is to refuse to replace an object.
    pub(super) fn send(
        &mut self,
        method: &'static str,
        key: &str,
        query: &[(&str, &str)],
        (body, only_new): (&[u8], bool),
    ) -> Result<ObjectReply, Problem> {
        let (path, query) = (self.store.path_of(key), encoded_query(query));
        let request = PlainRequest { method, path: &path, query: &query, body, only_new };
        self.asked += 1;
        self.client.ask(&request).map_err(|why| Problem::new(format!("{}: {why}", self.store.url)))
    }

    /// The sentence for an answer that is no success.
    pub(super) fn refused(&self, what: &str, reply: &ObjectReply) -> Problem {
        let code = error_code(&reply.body).map(|code| format!(" {code}")).unwrap_or_default();
        let problem =
            Problem::new(format!("{}: the server refuses {what}: HTTP {}{code}", self.store.url, reply.status));
        match reply.status {
            _ if code.contains("TimeTooSkewed") => {
                problem.with_next("set the clock of this machine, or that of the server")
            }
            401 | 403 if self.store.is_webdav() => problem.with_next("set FSDYNO_HTTP_USER and FSDYNO_HTTP_PASS"),
            404 | 409 if self.store.is_webdav() => problem.with_next("name a folder that exists: none is made"),
            301 | 307 | 400 => {
                problem.with_next("set AWS_REGION and AWS_ENDPOINT_URL to those of the bucket: no redirect is followed")
            }
            401 | 403 => problem.with_next(
                "compare the key (AWS_PROFILE, AWS_ACCESS_KEY_ID) and its rights with docs/object-storage.md",
            ),
            404 => problem.with_next("name a bucket that exists: none is made"),
            _ => problem,
        }
    }

    /// One page of the keys that begin with this text, or of their folders.
    fn page(&mut self, before: &str, folders: bool, from: Option<&str>) -> Result<ListPage, Problem> {
        if self.store.is_webdav() {
            return self.folder(before);
        }
        let mut query = Vec::new();
        query.extend(from.map(|from| ("continuation-token", from)));
        query.extend(folders.then_some(("delimiter", "/")));
        query.extend([("list-type", "2"), ("prefix", before)]);
        let reply = self.ask("GET", "", &query, &[])?;
        if reply.status != 200 {
            return Err(self.refused("a list of its keys", &reply));
        }
        ListPage::parse(&reply.body)
            .ok_or_else(|| Problem::new(format!("{}: the server's list cannot be understood", self.store.url)))
    }

    /// The keys and folders in a folder of WebDAV: that of this key, or of this beginning of keys.
    fn folder(&mut self, before: &str) -> Result<ListPage, Problem> {
        let folder = &before[..before.rfind('/').map_or(0, |at| at + 1)];
        let reply = self.ask("PROPFIND", folder, &[], &[])?;
        let names = webdav_names(&reply.body).filter(|_| reply.status == 207);
        let names = names.ok_or_else(|| self.refused("a list of its names", &reply))?;
        let (folders, keys) = names.into_iter().partition(|name| name.ends_with('/') || name.is_empty());
        Ok(ListPage { keys, folders, next: None })
    }

    /// All keys, or folders, that begin with this text, page by page.
    pub(super) fn list(
        &mut self,
        before: &str,
        folders: bool,
        watcher: &mut dyn Watcher,
    ) -> Result<Vec<String>, Problem> {
        let (mut names, mut names_bytes, mut from) = (Vec::new(), 0, None::<String>);
        let clock = RealClock::shared();
        let until_ns = clock.now_ns().saturating_add(self.store.deadline_ns.saturating_mul(LIST_TIMES));
        for _ in 0..PAGES_MAX {
            if clock.now_ns() > until_ns {
                break;
            }
            self.looks(watcher);
            let page = self.page(before, folders, from.as_deref())?;
            // A server may ignore the prefix: what is elsewhere is no business of ours.
            let more =
                if folders { page.folders } else { page.keys }.into_iter().filter(|name| name.starts_with(before));
            let more: Vec<String> = more.collect();
            names_bytes += more.iter().map(String::len).sum::<usize>();
            if names_bytes > NAMES_BYTES_MAX {
                break;
            }
            names.extend(more);
            match page.next {
                Some(next) if from.as_ref() != Some(&next) => from = Some(next),
                Some(_) => break,
                None => return Ok(names),
            }
        }
        Err(Problem::new(format!("{}: the server's list does not end", self.store.url)))
    }

    /// Why keys may not be listed; `None`: they may.
    pub(super) fn refuses_lists(&mut self) -> Result<Option<String>, Problem> {
        if self.store.is_webdav() {
            return Ok(Some(NOT_BY_WEBDAV.to_owned()));
        }
        let before = self.store.key_before();
        let reply = self.ask("GET", "", &[("list-type", "2"), ("max-keys", "1"), ("prefix", &before)], &[])?;
        Ok((reply.status != 200).then(|| format!("keys may not be listed (HTTP {})", reply.status)))
    }

    /// Refuses a bucket that keeps what is deleted. Returns what could not be seen.
    fn check_kept(&mut self) -> Result<Option<String>, Problem> {
        let mut unseen = Vec::new();
        let questions = [
            (
                "versioning",
                "VersioningConfiguration",
                "Status",
                "keeps the versions of objects, or a mark of each deleted one: they stay, and are paid",
            ),
            (
                "object-lock",
                "ObjectLockConfiguration",
                "ObjectLockEnabled",
                "locks its objects: they cannot be deleted for a time",
            ),
        ];
        for (query, root, element, what) in questions {
            let reply = self.ask("GET", "", &[(query, "")], &[])?;
            match reply.status {
                // A bucket whose versions are suspended keeps a mark for each deleted object.
                200 if word_of(&reply.body, root, element).is_some_and(|state| state != "Disabled") => {
                    return Err(Problem::new(format!("the bucket of {} {what}", self.store.url))
                        .with_next("use another bucket, or --versioned if this is meant"));
                }
                // A bucket without a lock has no such document.
                200 | 404 => {}
                status => unseen.push(format!("{query} (HTTP {status})")),
            }
        }
        Ok((!unseen.is_empty()).then(|| format!("not visible of the bucket: {}", unseen.join(", "))))
    }

    /// The marker of the run with this folder; `None`: it has none, or one that is not ours.
    pub(super) fn marker(&mut self, folder: &str) -> Result<Option<ObjectMarker>, Problem> {
        let reply = self.ask("GET", &format!("{folder}{MARKER}"), &[], &[])?;
        match reply.status {
            200 => Ok(serde_json::from_slice(&reply.body).ok().filter(|marker: &ObjectMarker| marker.what == WHAT)),
            404 => Ok(None),
            _ => Err(self.refused("the marker of a run", &reply)),
        }
    }

    fn delete(&mut self, key: &str) -> Result<(), Problem> {
        let reply = self.ask("DELETE", key, &[], &[])?;
        match reply.status {
            200 | 202 | 204 | 404 => Ok(()),
            _ => Err(self.refused("a delete", &reply)),
        }
    }

    /// Deletes the keys of a run that are on its list, then its marker. Keys of others there are left.
    pub(super) fn remove(
        &mut self,
        folder: &str,
        list: &[KeySet],
        found: Vec<String>,
        watcher: &mut dyn Watcher,
    ) -> Result<Removed, Problem> {
        let marker = format!("{folder}{MARKER}");
        let is_ours = |key: &String| key.strip_prefix(folder).is_some_and(|own| is_on(list, own));
        let (ours, others): (Vec<String>, Vec<String>) =
            found.into_iter().filter(|key| *key != marker).partition(is_ours);
        let is_webdav = self.store.is_webdav();
        let uploads_left = if is_webdav { None } else { self.abort_uploads(folder, list, watcher)? };
        for key in ours.iter().chain([&marker]) {
            self.looks(watcher);
            self.delete(key)?;
        }
        // A folder is deleted with all that is in it: only an empty one is.
        if is_webdav && others.is_empty() {
            let left = self.folder(folder)?;
            if left.keys.is_empty() && left.folders.iter().all(|name| name == folder) {
                self.delete(folder)?;
            }
        }
        let length = |key: &String| key.rsplit('_').next().and_then(|digits| digits.parse::<u64>().ok());
        Ok(Removed { objects: ours.len() as u64, bytes: ours.iter().filter_map(length).sum(), others, uploads_left })
    }
}

/// What was deleted of a run.
pub(super) struct Removed {
    pub(super) objects: u64,
    pub(super) bytes: u64,
    /// Keys in its folder that are on no list of ours.
    pub(super) others: Vec<String>,
    /// Why uploads in parts may be left.
    pub(super) uploads_left: Option<String>,
}

/// The objects of a running question.
pub(super) struct ObjectWork {
    pub(super) bucket: Bucket,
    /// The beginning of its keys, with `/` at its end.
    pub(super) folder: String,
    pub(super) keys: Vec<KeySet>,
}

impl ObjectWork {
    /// Writes the marker; nothing else has been written before. Also returns what could not be seen of the bucket.
    pub(super) fn open(
        mut bucket: Bucket,
        keys: Vec<KeySet>,
        keeps: bool,
    ) -> Result<(ObjectWork, Option<String>), Problem> {
        let unseen = if keeps || bucket.store.is_webdav() { None } else { bucket.check_kept()? };
        let maker = Marker::of_this_process(SpaceNeeds::bytes(0));
        let own = format!("{PREFIX}{}-{:x}-{:08x}/", maker.pid, maker.made_ms, unguessable() as u32);
        let folder = format!("{}{own}", bucket.store.key_before());
        let marker = ObjectMarker { what: WHAT.to_owned(), maker, keys: keys.clone() };
        let text = serde_json::to_vec(&marker).unwrap_or_default();
        if bucket.store.is_webdav() {
            let reply = bucket.ask("MKCOL", &folder, &[], &[])?;
            if reply.status != 201 {
                return Err(bucket.refused("to make a folder", &reply));
            }
        }
        let reply = bucket.ask("PUT", &format!("{folder}{MARKER}"), &[], &text)?;
        if !matches!(reply.status, 200..=204) {
            return Err(bucket.refused("to write an object", &reply));
        }
        Ok((ObjectWork { bucket, folder, keys }, unseen))
    }

    /// The words of a job on these keys: the name of its objects, without offset and length.
    pub(super) fn filename(&self, name: &str) -> String {
        self.bucket.store.name_of(&format!("{}{name}", self.folder)).replace(':', "\\:")
    }

    /// Deletes what was written. A failure is shown and noted; the figures stay valid.
    pub(super) fn close_in(self, study_run: &mut StudyRun<'_>) {
        // Each request has a deadline, and there are many of them: no look watches over all.
        if let Err(problem) = self.close() {
            let text = problem.next.as_deref().map_or_else(|| problem.to_string(), |next| format!("{problem}; {next}"));
            study_run.watcher.message(&format!("fsdyno: {text}"));
            study_run.note("left-behind", Severity::Caution, text);
        }
    }

    /// Deletes what was written.
    fn close(mut self) -> Result<(), Problem> {
        let (folder, keys) = (self.folder.clone(), self.keys.clone());
        let clean = format!("run `fsdyno clean {}`", word_as_typed(&self.bucket.store.url));
        // Without the right to list, all keys that the run may have written are deleted.
        let all = || keys.iter().flat_map(KeySet::all).map(|key| format!("{folder}{key}")).collect();
        let found = self.bucket.list(&folder, false, &mut SilentWatcher).unwrap_or_else(|_| all());
        self.bucket
            .remove(&folder, &keys, found, &mut SilentWatcher)
            .map(drop)
            .map_err(|problem| Problem::new(format!("objects were left below {folder}: {problem}")).with_next(clean))
    }
}
