//! The objects of a check, and whether the functions of a store work: each by a few requests, with objects of its own.

use fsdyno_engine::ObjectReply;
use fsdyno_object::{ListPage, field_of};
use fsdyno_results::Severity;
use fsdyno_text::quantity::{bytes, count};

use super::cost::Cost;
use super::keys::KeySet;
use super::plain;
use super::server::Store;
use super::work::{Bucket, ObjectWork};
use crate::Problem;
use crate::io_mode::IoMode;
use crate::object_check::{AskedObjects, CheckedObjects, Examined, ObjectFunction, UseObjects};
use crate::study::{Place, StudyRun};

/// The name of the objects of tests, without offset and length.
const NAME: &str = "c";

/// The objects that functions are tried on: their name, bytes and number.
const TRIED: (&str, u64, u64) = ("f", 4096, 12);

/// Objects that are written and read in turn; a store that is late is not late each time.
const TRIES: u64 = 10;

/// Requests for the functions, at most.
const REQUESTS_MAX: u64 = 200;

/// Opens a bucket for a check, examines its functions, lets its objects be used, and deletes them.
///
/// # Errors
/// When the bucket cannot be used; nothing is left there then.
pub fn with_objects(
    study_run: &mut StudyRun<'_>,
    place: &Place,
    asked: &AskedObjects,
    use_them: UseObjects<'_>,
) -> Result<(), Problem> {
    let store = Store::of(place, study_run.control.bounds())?;
    study_run.watcher.looks(&place.path);
    let bucket = Bucket::connect(store)?;
    let most = asked.sets.iter().map(|(size, _)| *size).max().unwrap_or(0).max(TRIED.1);
    let requests = asked.requests + REQUESTS_MAX;
    // What each request will be is not known here.
    let cost = Cost { puts: requests, gets: 0, read_bytes: requests.saturating_mul(most) };
    let text = format!(
        "at most {} requests, of at most {} each, then a DELETE for each object{}",
        count(requests),
        bytes(most),
        cost.sentence(true)
    );
    study_run.watcher.outline(&text);
    let set = |(name, block_bytes, count): (&str, u64, u64)| KeySet { name: name.to_owned(), block_bytes, count };
    let keys = asked.sets.iter().map(|(size, count)| (NAME, *size, *count)).chain([TRIED]).map(set);
    let keys = keys.chain(plain::key_sets(asked)).collect();
    let (mut work, unseen) = ObjectWork::open(bucket, keys, asked.keeps)?;
    study_run.watcher.looked();
    if let Some(unseen) = unseen {
        study_run.note("bucket-unseen", Severity::Info, unseen);
    }
    let mut engine = work.bucket.store.words();
    engine.push(IoMode::WHOLE_LATENCY.to_owned());
    let answers = asked.functions.iter().map(|function| {
        let stopped = || Examined::NotExamined("not examined: a signal came before".to_owned());
        let examined = if study_run.stopped() { stopped() } else { Trial { work: &mut work }.examine(*function) };
        (*function, examined)
    });
    let objects = CheckedObjects { answers: answers.collect(), engine, file: work.filename(NAME) };
    let outcome =
        use_them(study_run, &objects, &|study_run, requests, row| plain::run(study_run, &work, requests, row));
    work.close_in(study_run);
    outcome
}

/// A function that does not work, or that could not be examined.
enum Stop {
    Fails(String),
    NotExamined(String),
}

impl From<Problem> for Stop {
    fn from(problem: Problem) -> Stop {
        Stop::NotExamined(problem.what)
    }
}

/// Functions on the objects of a check.
struct Trial<'w> {
    work: &'w mut ObjectWork,
}

impl Trial<'_> {
    fn examine(&mut self, function: ObjectFunction) -> Examined {
        let outcome = match function {
            ObjectFunction::ReadAfterWrite => self.read_after_write(),
            ObjectFunction::Overwrite => self.overwrite(),
            ObjectFunction::Delete => self.delete(),
            ObjectFunction::Range => self.range(),
            ObjectFunction::Head => self.head(),
            ObjectFunction::Etag => self.etag(),
            ObjectFunction::IfNoneMatch => self.if_none_match(),
            ObjectFunction::ListPages => self.list_pages(),
        };
        match outcome {
            Ok(seen) => Examined::Works(seen),
            Err(Stop::Fails(seen)) => Examined::Fails(seen),
            Err(Stop::NotExamined(why)) => Examined::NotExamined(format!("not examined: {why}")),
        }
    }

    fn key(&self, number: u64) -> String {
        format!("{}{}_{}_{}", self.work.folder, TRIED.0, number * TRIED.1, TRIED.1)
    }

    /// Asks about an object. An answer that says nothing of the function ends the examination.
    fn ask(&mut self, method: &'static str, number: u64, body: &[u8], only_new: bool) -> Result<ObjectReply, Stop> {
        let key = self.key(number);
        let reply = self.work.bucket.send(method, &key, &[], (body, only_new))?;
        match reply.status {
            401 | 403 | 429 | 500 | 502..=599 => {
                Err(Stop::NotExamined(format!("{method} is answered with HTTP {}", reply.status)))
            }
            _ => Ok(reply),
        }
    }

    fn put(&mut self, number: u64, body: &[u8]) -> Result<ObjectReply, Stop> {
        let reply = self.ask("PUT", number, body, false)?;
        match reply.status {
            200..=204 => Ok(reply),
            status => Err(Stop::NotExamined(format!("PUT is answered with HTTP {status}"))),
        }
    }

    /// Whether a GET has these bytes.
    fn has(&mut self, number: u64, body: &[u8]) -> Result<bool, Stop> {
        let reply = self.ask("GET", number, &[], false)?;
        Ok(reply.status == 200 && reply.body == body)
    }

    fn read_after_write(&mut self) -> Result<String, Stop> {
        let mut late = 0;
        for number in 0..TRIES {
            self.ask("DELETE", number, &[], false)?;
            self.put(number, &content(number))?;
            late += u64::from(!self.has(number, &content(number))?);
        }
        counted(late, "new objects were read back at once")
    }

    fn overwrite(&mut self) -> Result<String, Stop> {
        let mut late = 0;
        for number in 0..TRIES {
            self.put(0, &content(number))?;
            late += u64::from(!self.has(0, &content(number))?);
        }
        counted(late, "replaced objects had their new bytes at once")
    }

    fn delete(&mut self) -> Result<String, Stop> {
        let mut late = 0;
        for number in 0..TRIES {
            self.put(number, &content(number))?;
            self.ask("DELETE", number, &[], false)?;
            late += u64::from(self.ask("GET", number, &[], false)?.status != 404);
        }
        counted(late, "deleted objects were gone at once (404)")
    }

    fn range(&mut self) -> Result<String, Stop> {
        let body = content(7);
        self.put(0, &body)?;
        self.work.bucket.client.range = Some((1000, 1999));
        let reply = self.ask("GET", 0, &[], false);
        self.work.bucket.client.range = None;
        let reply = reply?;
        match reply.status {
            206 if reply.body == body[1000..2000] => Ok("bytes 1,000 to 1,999 were answered with HTTP 206".to_owned()),
            status => Err(Stop::Fails(format!(
                "bytes 1,000 to 1,999 were answered with HTTP {status} and {} bytes, or with others",
                count(reply.body.len() as u64)
            ))),
        }
    }

    fn head(&mut self) -> Result<String, Stop> {
        self.put(0, &content(0))?;
        let reply = self.ask("HEAD", 0, &[], false)?;
        match field_of(&reply.head, "content-length") {
            Some(length) if reply.status == 200 && length == TRIED.1.to_string() => {
                Ok(format!("it says {length} bytes"))
            }
            length => Err(Stop::Fails(format!("HTTP {}, {} bytes", reply.status, length.unwrap_or("no number of")))),
        }
    }

    fn etag(&mut self) -> Result<String, Stop> {
        let tag = |reply: &ObjectReply| field_of(&reply.head, "etag").map(str::to_owned);
        let mut tags = Vec::new();
        for number in [0, 0, 1] {
            let put = tag(&self.put(0, &content(number))?);
            let head = tag(&self.ask("HEAD", 0, &[], false)?);
            if put.is_none() || put != head {
                return Err(Stop::Fails("PUT and HEAD do not give the same ETag".to_owned()));
            }
            tags.push(put);
        }
        match tags[0] == tags[1] && tags[1] != tags[2] {
            true => Ok("it is the same for the same bytes, and another one for others".to_owned()),
            false => Err(Stop::Fails("it does not follow the bytes of the object".to_owned())),
        }
    }

    fn if_none_match(&mut self) -> Result<String, Stop> {
        self.put(0, &content(0))?;
        let reply = self.ask("PUT", 0, &content(1), true)?;
        let kept = self.has(0, &content(0))?;
        match reply.status {
            409 | 412 if kept => Ok(format!("a second write was refused with HTTP {}", reply.status)),
            status => {
                let what = if kept { "is still there" } else { "was replaced" };
                Err(Stop::Fails(format!("a second write was answered with HTTP {status}, and the object {what}")))
            }
        }
    }

    fn list_pages(&mut self) -> Result<String, Stop> {
        let before = format!("{}{}_", self.work.folder, TRIED.0);
        for number in 0..TRIED.2 {
            // What other functions left is not part of it.
            if number < 3 {
                drop(self.put(number, &content(number))?)
            } else {
                drop(self.ask("DELETE", number, &[], false)?)
            }
        }
        let mut wanted: Vec<String> = (0..3).map(|number| self.key(number)).collect();
        fsdyno_stats::sort::by(&mut wanted, Ord::cmp);
        let (mut found, mut from) = (Vec::new(), None::<String>);
        // One page more than there should be.
        for _ in 0..4 {
            let mut query = Vec::new();
            query.extend(from.as_deref().map(|from| ("continuation-token", from)));
            query.extend([("list-type", "2"), ("max-keys", "1"), ("prefix", &before)]);
            let reply = self.work.bucket.ask("GET", "", &query, &[])?;
            if matches!(reply.status, 401 | 403) {
                return Err(Stop::NotExamined(format!("keys may not be listed (HTTP {})", reply.status)));
            }
            let page = ListPage::parse(&reply.body).filter(|page| reply.status == 200 && page.keys.len() <= 1);
            let Some(page) = page else {
                return Err(Stop::Fails(format!(
                    "a page of one key was answered with HTTP {}, or with more",
                    reply.status
                )));
            };
            found.extend(page.keys);
            from = page.next;
            if from.is_none() {
                break;
            }
        }
        match found == wanted && from.is_none() {
            true => Ok("3 keys came in pages of one, each once and in order".to_owned()),
            false => Err(Stop::Fails(format!("pages of one key had {} of 3 keys, or others", found.len()))),
        }
    }
}

/// The bytes of an object: others for each number.
fn content(number: u64) -> Vec<u8> {
    (0..TRIED.1).map(|at| ((at * 31 + at / 256 + number * 7) % 251) as u8).collect()
}

/// What was seen in all tries.
fn counted(late: u64, what: &str) -> Result<String, Stop> {
    let text = format!("{} of {TRIES} {what}", TRIES - late);
    if late == 0 { Ok(text) } else { Err(Stop::Fails(text)) }
}
