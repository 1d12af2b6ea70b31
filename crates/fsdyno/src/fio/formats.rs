//! The report formats of one run.

use fsdyno_fio_report::{Details, Format, Sink};
use fsdyno_results::RunRecord;

/// The formats that were asked for; several are printed one after the other.
pub(super) struct Formats {
    chosen: Vec<&'static Format>,
    details: Details,
}

impl Formats {
    /// The formats of these words.
    pub(super) fn of(words: &[&str], details: Details) -> Formats {
        let chosen = fsdyno_fio_report::FORMATS.iter().rev().filter(|format| words.contains(&format.word)).collect();
        Formats { chosen, details }
    }

    /// The number of formats.
    pub(super) fn count(&self) -> usize {
        self.chosen.len()
    }

    /// Whether one of them is for people.
    pub(super) fn for_people(&self) -> bool {
        self.chosen.iter().any(|format| format.for_people)
    }

    /// Gives the report in each format to `sink`, in pieces.
    pub(super) fn write(&self, record: &RunRecord, sink: &mut Sink<'_>) -> std::io::Result<()> {
        self.chosen.iter().try_for_each(|format| (format.write)(record, &self.details, sink))
    }

    /// The report of the results so far; findings are made only at the end.
    pub(super) fn interim(&self, record: &RunRecord) -> String {
        let details = Details { remarks: false, ..self.details.clone() };
        self.chosen.iter().map(|format| format.report(record, &details)).collect()
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_option_takes_the_words_of_the_formats_and_no_others() {
        let mut taken = fsdyno_job::FORMATS.to_vec();
        let mut known: Vec<&str> = fsdyno_fio_report::FORMATS.iter().map(|format| format.word).collect();
        taken.sort_unstable();
        known.sort_unstable();
        assert_eq!(taken, known);
    }
}
