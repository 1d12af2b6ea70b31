//! Requests for whole objects, as operations of a phase: what a program does with files, done in a store.

use std::sync::{Arc, PoisonError};

use fsdyno_engine::{ObjectClient, ObjectReply};
use fsdyno_object::{ListPage, PlainRequest, encoded_query, error_code, field_of};
use fsdyno_run::metadata::operations::{Failure, Item, Prepare, payload};

use super::answers::Tallies;
use super::server::Store;
use crate::smallfiles::WholeFile;

/// Bytes of an answer beside the object itself.
const BODY_BYTES_MORE: u64 = 4 << 20;

/// The requests of each worker, over a connection of its own that stands before the first request. An item's name is a
/// key; of a list, the beginning of its keys.
pub(super) fn on_objects(store: &Store, act: WholeFile, object_bytes: u64, tallies: &Tallies) -> Prepare {
    let (store, tallies) = (store.clone(), Arc::clone(tallies));
    Box::new(move || {
        let written = if act == WholeFile::Write { object_bytes } else { 0 };
        let mut calls = Calls::connect(&store, object_bytes, written, &tallies);
        Box::new(move |item| calls.perform(act, item).map(|()| 0))
    })
}

/// The requests of one worker.
pub(super) struct Calls {
    pub(super) store: Store,
    client: Result<ObjectClient, String>,
    /// What is written.
    body: Vec<u8>,
    /// Where the counts of the answers go at the end.
    tallies: Tallies,
}

impl Drop for Calls {
    fn drop(&mut self) {
        if let Ok(client) = std::mem::replace(&mut self.client, Err(String::new())) {
            self.tallies.lock().unwrap_or_else(PoisonError::into_inner).push(client.into_tally());
        }
    }
}

impl Calls {
    /// Connects; `read`, `written`: the bytes of an object, or part, that is read or written.
    pub(super) fn connect(store: &Store, read: u64, written: u64, tallies: &Tallies) -> Calls {
        let mut client = ObjectClient::connect(&store.options());
        if let Ok(client) = &mut client {
            client.body_bytes_max = (read + BODY_BYTES_MORE) as usize;
            client.deadline_ns = store.deadline_ns;
        }
        Calls { store: store.clone(), client, body: payload(written), tallies: Arc::clone(tallies) }
    }

    fn perform(&mut self, act: WholeFile, item: &Item) -> Result<(), Failure> {
        let key = item.name.to_string_lossy();
        match act {
            WholeFile::Write => self.ask("PUT", &key, &[200, 201, 204]).map(drop),
            WholeFile::Remove => self.ask("DELETE", &key, &[200, 202, 204]).map(drop),
            WholeFile::Read | WholeFile::ReadAgain => {
                let reply = self.ask("GET", &key, &[200])?;
                right_size("GET", reply.body.len() as u64, item.expected)
            }
            WholeFile::Stat { .. } => {
                let reply = self.ask("HEAD", &key, &[200])?;
                let length = field_of(&reply.head, "content-length").and_then(|digits| digits.parse().ok());
                // A server need not say the length of what it does not send.
                right_size("HEAD", length.unwrap_or(item.expected), item.expected)
            }
            WholeFile::List => self.list(&key, item.expected),
        }
    }

    fn ask(&mut self, method: &'static str, key: &str, good: &[u16]) -> Result<ObjectReply, Failure> {
        let path = self.store.path_of(key);
        self.send(method, &path, "", "", good)
    }

    /// `text`: the body of a POST; that of a PUT is the worker's.
    pub(super) fn send(
        &mut self,
        method: &'static str,
        path: &str,
        query: &str,
        text: &str,
        good: &[u16],
    ) -> Result<ObjectReply, Failure> {
        let client = self.client.as_mut().map_err(|why| Failure::Wrong("connect", why.clone()))?;
        let body = if method == "PUT" { &self.body[..] } else { text.as_bytes() };
        let request = PlainRequest { method, path, query, body, only_new: false };
        let reply = client.ask(&request).map_err(|why| Failure::Wrong(method, why))?;
        // A server that has begun to answer before its work was done says an error behind a good status. A GET has an object.
        let code = error_code(&reply.body).filter(|_| method != "GET" || !good.contains(&reply.status));
        if good.contains(&reply.status) && code.is_none() {
            return Ok(reply);
        }
        let code = code.map(|code| format!(" {code}")).unwrap_or_default();
        Err(Failure::Wrong(method, format!("HTTP {}{code}", reply.status)))
    }

    /// All pages of the list.
    fn list(&mut self, before: &str, expected: u64) -> Result<(), Failure> {
        let (path, mut found, mut from) = (self.store.path_of(""), 0, None::<String>);
        loop {
            let mut query = Vec::new();
            query.extend(from.as_deref().map(|from| ("continuation-token", from)));
            query.extend([("list-type", "2"), ("prefix", before)]);
            let reply = self.send("GET", &path, &encoded_query(&query), "", &[200])?;
            let page = ListPage::parse(&reply.body)
                .ok_or_else(|| Failure::Wrong("LIST", "the list cannot be understood".to_owned()))?;
            found += page.keys.len() as u64;
            match page.next {
                Some(next) if found < expected && from.as_ref() != Some(&next) => from = Some(next),
                _ if found >= expected => return Ok(()),
                _ => {
                    let text = format!("the list has {found} keys instead of {expected}");
                    return Err(Failure::Wrong("LIST", text));
                }
            }
        }
    }
}

fn right_size(function: &'static str, found: u64, expected: u64) -> Result<(), Failure> {
    let wrong = || Failure::Wrong(function, format!("the object has {found} bytes instead of {expected}"));
    if found == expected { Ok(()) } else { Err(wrong()) }
}
