//! The report formats of one run, in the order in which fio prints them.

use fio_report::json::Extras;
use fio_report::terse::Version;
use jiff::tz::TimeZone;
use results::RunRecord;

/// Formats asked for. Several at once are printed one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Formats {
    /// For people.
    pub(crate) normal: bool,
    /// One JSON document.
    pub(crate) json: bool,
    /// The JSON document also has latency bins.
    pub(crate) json_plus: bool,
    /// Semicolons, of this version.
    pub(crate) terse: Option<Version>,
    /// The JSON document also has the findings and their evidence.
    pub(crate) evidence: bool,
}

impl Formats {
    /// How many there are.
    pub(crate) fn count(self) -> usize {
        usize::from(self.normal) + usize::from(self.json || self.json_plus) + usize::from(self.terse.is_some())
    }

    /// The report: terse, JSON, normal.
    pub(crate) fn report(self, record: &RunRecord) -> String {
        let mut text = String::new();
        if let Some(version) = self.terse {
            text.push_str(&fio_report::terse::lines(record, version));
        }
        if self.json || self.json_plus {
            let extras = Extras { bins: self.json_plus, evidence: self.evidence };
            text.push_str(&fio_report::json::document_with(record, extras, &TimeZone::system()));
        }
        if self.normal {
            text.push_str(&fio_report::normal::results(record, &TimeZone::system()));
        }
        text
    }
}
