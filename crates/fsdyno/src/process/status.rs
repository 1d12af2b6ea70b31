//! Exit statuses: the constants, and the one table of their meanings.

/// Nothing failed.
pub(crate) const GOOD: u8 = 0;

/// The guided face: a test, a requirement or a condition failed.
pub(crate) const FAILED: u8 = 1;

/// The fio face: an error before the first job starts.
pub(crate) const REJECTED: u8 = 1;

/// The guided face: wrong input, or a place that cannot be used.
pub(crate) const UNUSABLE: u8 = 2;

/// The guided face: no requirement failed, and at least one is open.
pub(crate) const INCONCLUSIVE: u8 = 3;

/// Ended by a signal: the guided face adds the signal's number, the fio face the number of failed jobs.
pub(crate) const BY_SIGNAL: u8 = 128;

/// A status with its meaning.
pub(crate) struct StatusMeaning {
    status: u8,
    /// What is added to the status: `+N`.
    pub(crate) added: &'static str,
    pub(crate) text: &'static str,
}

impl StatusMeaning {
    /// The status in words: `2`, `N`, `128+N`.
    pub(crate) fn number(&self) -> String {
        let number = format!("{}{}", self.status, self.added);
        number.strip_prefix("0+").map(str::to_owned).unwrap_or(number)
    }
}

const fn plain(status: u8, text: &'static str) -> StatusMeaning {
    StatusMeaning { status, added: "", text }
}

/// The statuses of the guided face's commands.
pub(crate) const OF_COMMANDS: [StatusMeaning; 5] = [
    plain(GOOD, "Nothing failed. With `check`: every requirement that could be judged passed."),
    plain(
        FAILED,
        "A test ended with an error, a requirement of `check` failed, a condition of `--fail-if` is true, or `doctor` found \
         that no run is possible.",
    ),
    plain(
        UNUSABLE,
        "The command line, a path, a saved run or the configuration cannot be used, or the answer could not be written.",
    ),
    plain(INCONCLUSIVE, "`check`: no requirement failed, but one is INCONCLUSIVE."),
    StatusMeaning {
        status: BY_SIGNAL,
        added: "+N",
        text: "Signal N ended the run; the output has the results until then.",
    },
];

/// The statuses of a fio command line.
pub(crate) const OF_FIO: [StatusMeaning; 4] = [
    plain(GOOD, "No job failed."),
    StatusMeaning { status: 0, added: "+N", text: "N jobs ended with an error (at most 255)." },
    plain(REJECTED, "The command line or a job file was refused, or the report or `--record` could not be written."),
    StatusMeaning { status: BY_SIGNAL, added: "+N", text: "A signal ended the run, and N jobs had failed." },
];

/// Both tables, with their headings.
pub(crate) const TABLES: [(&str, &[StatusMeaning]); 2] = [
    ("Commands (`fsdyno measure`, `fsdyno check`, ...)", &OF_COMMANDS),
    ("A fio command line (`fsdyno --name=...`, `fsdyno fio ...`, a link called fio)", &OF_FIO),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn document() -> String {
        let mut text =
            "# Exit statuses\n\nWhat `fsdyno help exit-status` prints. `FSDYNO_DOCS=write cargo test -p fsdyno \
                        --bins` writes this page from\nthe table in the code; do not edit.\n"
                .to_owned();
        for (heading, meanings) in TABLES {
            text.push_str(&format!("\n## {heading}\n\n| status | meaning |\n|---|---|\n"));
            for meaning in meanings {
                text.push_str(&format!("| {} | {} |\n", meaning.number(), meaning.text));
            }
        }
        text
    }

    #[test]
    fn the_document_has_the_statuses_of_the_code() {
        testkit::assert_document("docs/exit-status.md", &document());
    }

    #[test]
    fn each_status_of_a_face_means_one_thing() {
        for (_, meanings) in TABLES {
            let mut numbers: Vec<String> = meanings.iter().map(StatusMeaning::number).collect();
            numbers.dedup();
            assert_eq!(numbers.len(), meanings.len());
        }
    }
}
