//! The table of differences from fio that we have chosen. COMPAT.md shows it.

mod language;
mod other_engines;
mod recorded;
mod runs;
mod zones;

/// One chosen difference.
#[derive(Clone, Copy, Debug)]
pub struct Difference {
    /// What is written or asked for.
    pub written: &'static str,
    /// What fio 3.42 does.
    pub fio: &'static str,
    /// What happens here.
    pub here: &'static str,
    /// Why.
    pub reason: &'static str,
}

const fn difference(written: &'static str, fio: &'static str, here: &'static str, reason: &'static str) -> Difference {
    Difference { written, fio, here, reason }
}

const EARLY: &str = "a job must not end before its size";

const GIVEN: &str = "an option that is given is followed";

const MISREAD: &str = "a silent misreading measures something else than was asked for";

/// Differences in the language: values, names, files.
pub fn of_language() -> &'static [Difference] {
    language::LANGUAGE
}

/// All differences, in the order of COMPAT.md.
pub fn differences() -> impl Iterator<Item = &'static Difference> {
    let runs = language::LANGUAGE.iter().chain(runs::RUNS).chain(recorded::RECORDED);
    runs.chain(zones::ZONES).chain(other_engines::OTHER_ENGINES)
}
