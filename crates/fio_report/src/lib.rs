//! Run records as text: the report formats of fio 3.42. Pure functions of [`fsdyno_results::RunRecord`]: they read no clock,
//! no terminal and no file, so that a saved record gives the same report years later. What a record gains has no place here:
//! the formats are fixed. Only cautions and worse may stand beside them: after the normal report, and in one object of the
//! JSON document.
//!
//! Where these reports differ from fio's on purpose:
//! - an error is named by the function that failed and its text, without a position in fio's source;
//! - an error that was survived is named too, where fio prints empty parentheses;
//! - the second bandwidth of a steady state is in the other unit (fio repeats the first number);
//! - `bw (   kB/s)` lines (`kb_base=1000`) hold kB, not KiB;
//! - JSON is always valid: control characters are escaped, an option given twice appears once, with its last text;
//! - JSON keeps `sync` with `unified_rw_reporting=mixed`;
//! - a terse line stays one line, whatever a description holds;
//! - of a run on several nodes, clients come in the order of their names and not as they ended, each entry of their JSON has
//!   its options, no line describes their machines, and `port` is 0, as nobody listens.
#![forbid(unsafe_code)]

mod calendar;
mod clients;
mod disks;
mod figures;
mod groups;
pub mod json;
mod lanes;
pub mod normal;
mod number;
mod progress;
pub mod remarks;
mod sink;
pub mod terse;

pub use number::Style;
pub use progress::{Progress, RateLimit};
pub use sink::Sink;

use std::io;

use fsdyno_results::RunRecord;
use fsdyno_text::escape;
use jiff::tz::TimeZone;

/// A format of reports.
#[derive(Debug)]
pub struct Format {
    /// The format's word in `--output-format` and `report --as`.
    pub word: &'static str,
    /// The description, in a few words.
    pub help: &'static str,
    /// Whether people read it: messages during the run are then printed in the same place.
    pub for_people: bool,
    /// Whether it is one JSON document per run, so that two cannot be in one file.
    pub is_json: bool,
    /// Gives the report of a record to a sink, in pieces.
    pub write: fn(&RunRecord, &Details, &mut Sink<'_>) -> io::Result<()>,
}

impl Format {
    /// The whole report of a record.
    pub fn report(&self, run: &RunRecord, details: &Details) -> String {
        let mut text = String::new();
        let mut keep = |piece: &str| {
            text.push_str(piece);
            Ok(())
        };
        (self.write)(run, details, &mut keep).expect("memory takes each piece");
        text
    }
}

/// The caller's choices for reports.
#[derive(Clone, Debug)]
pub struct Details {
    /// Version of the terse format.
    pub terse: terse::Version,
    /// Whether the JSON document also has the findings and their evidence.
    pub evidence: bool,
    /// Whether the normal report and the JSON document have cautions and worse, if there are any.
    pub remarks: bool,
    /// Whether the lines before a run's end were printed already, and are left out.
    pub announced: bool,
    /// The time zone for times.
    pub zone: TimeZone,
}

/// All formats. A run that writes several prints the last one first, as fio does.
pub const FORMATS: &[Format] = &[
    Format {
        word: "normal",
        help: "fio's report for people",
        for_people: true,
        is_json: false,
        write: |run, details, sink| {
            let report = if details.announced { normal::results } else { normal::full };
            let remarks = match details.remarks {
                true => escape::terminal(&(remarks::block(run) + &remarks::replays(run))).into_owned(),
                false => String::new(),
            };
            sink(&(report(run, &details.zone) + &remarks))
        },
    },
    Format {
        word: "json",
        help: "fio's JSON",
        for_people: false,
        is_json: true,
        write: |run, details, sink| json::write_document(run, json::Extras::of(details, false), &details.zone, sink),
    },
    Format {
        word: "json+",
        help: "fio's JSON with latency bins",
        for_people: false,
        is_json: true,
        write: |run, details, sink| json::write_document(run, json::Extras::of(details, true), &details.zone, sink),
    },
    Format {
        word: "terse",
        help: "fio's terse format",
        for_people: false,
        is_json: false,
        write: |run, details, sink| sink(&terse::lines(run, details.terse)),
    },
];

/// The format of this word.
pub fn format(word: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.word == word)
}
