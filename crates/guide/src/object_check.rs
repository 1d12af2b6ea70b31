//! What a check asks of an object store and what it gets. Every build has these types, also one without object stores.

use fsdyno_results::Row;
use serde::Deserialize;

use crate::Problem;
use crate::study::{Place, StudyRun};

/// A function that applications need of an object store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ObjectFunction {
    /// A new object is read back at once.
    ReadAfterWrite,
    /// An object that was replaced has its new bytes at once.
    Overwrite,
    /// A deleted object is gone at once.
    Delete,
    /// A part of an object is read by itself.
    Range,
    /// HEAD says how long an object is.
    Head,
    /// The tag of an object changes with its bytes, and with nothing else.
    Etag,
    /// A write that asks for it replaces no object.
    IfNoneMatch,
    /// A list comes in pages, with each key once.
    ListPages,
}

/// What a request that no job makes does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlainVerb {
    /// Asks for the attributes of an object.
    Head,
    /// Deletes an object.
    Delete,
    /// Lists all objects.
    List,
}

/// Requests that no job makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PlainRequests {
    /// What they do.
    pub verb: PlainVerb,
    /// Number of objects, which are written before.
    pub objects: u32,
    /// Bytes of each of them.
    pub object_bytes: u64,
    /// Requests at once.
    pub connections: u32,
    /// Number of requests of a run.
    pub requests: u32,
}

impl PlainRequests {
    /// The name of their phase in the record.
    pub const PHASE: &'static str = "requests";

    /// Number of objects that each request is about.
    pub fn objects_each(&self) -> u32 {
        if self.verb == PlainVerb::List { self.objects } else { 1 }
    }

    /// The most requests of this number of runs, with the writes before them.
    pub fn requests_max(&self, runs: u32) -> u64 {
        let (runs, objects) = (u64::from(runs), u64::from(self.objects));
        let writes = if self.verb == PlainVerb::Delete { runs * objects } else { objects };
        // A page of a list has 1,000 keys.
        let pages = self.objects_each().div_ceil(1000);
        writes + runs * u64::from(self.requests) * u64::from(pages)
    }
}

/// Whether a function works; the sentence says what was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Examined {
    /// Yes.
    Works(String),
    /// No.
    Fails(String),
    /// Why it is not known.
    NotExamined(String),
}

/// What a check needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AskedObjects {
    /// Sizes of objects, bytes, with their number.
    pub sets: Vec<(u64, u64)>,
    /// The functions that are examined.
    pub functions: Vec<ObjectFunction>,
    /// The requests that no job makes.
    pub plain: Vec<PlainRequests>,
    /// The most requests of the tests.
    pub requests: u64,
    /// Whether a bucket that keeps versions, or locks objects, is used too.
    pub keeps: bool,
}

/// The objects of a running check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckedObjects {
    /// The words of a job's line for the engine and its options.
    pub engine: Vec<String>,
    /// The name of the objects as a job's line writes it, without offset and length.
    pub file: String,
    /// What was found of each function.
    pub answers: Vec<(ObjectFunction, Examined)>,
}

/// Makes requests that no job makes, and adds their row to the study; returns its index.
pub type AskPlain<'a> = &'a dyn Fn(&mut StudyRun<'_>, &PlainRequests, Row) -> Result<usize, Problem>;

/// What is done while the objects may be used.
pub type UseObjects<'u> = &'u mut dyn FnMut(&mut StudyRun<'_>, &CheckedObjects, AskPlain<'_>) -> Result<(), Problem>;

/// Opens a bucket, lets its objects be used, and deletes them.
pub type WithObjects = fn(&mut StudyRun<'_>, &Place, &AskedObjects, UseObjects<'_>) -> Result<(), Problem>;
