//! Shows the tests of another tool as that tool does: both directions side by side.

use fsdyno_results::test_name;

use super::figures::{rate, throughput, typical_named};
use super::test::TestFigures;

/// The two directions of a test of another tool; `None`: did not run.
pub(crate) struct Pair<'a> {
    /// The tool's name for it.
    pub(crate) name: &'static str,
    /// Whether it is judged by its requests and their latency (random I/O).
    pub(crate) is_random: bool,
    pub(crate) read: Option<&'a TestFigures>,
    pub(crate) write: Option<&'a TestFigures>,
}

/// The tests that ran.
pub(crate) fn pairs(tests: &[TestFigures]) -> Vec<Pair<'_>> {
    let find = |name: &str| tests.iter().find(|test| test.name == name);
    test_name::familiar()
        .map(|known| Pair {
            name: known.name,
            is_random: known.is_random,
            read: find(known.read),
            write: find(known.write),
        })
        .filter(|pair| pair.read.is_some() || pair.write.is_some())
        .collect()
}

impl Pair<'_> {
    /// A sentence on both directions: `SEQ1M Q8T1 reads 3,480 MB/s and writes 2,900 MB/s`; `None`: neither counts.
    pub(super) fn sentence(&self) -> Option<String> {
        let moved = |verb: &str, test: Option<&TestFigures>| {
            let test = test.filter(|test| test.counts())?;
            let moved = throughput(test)?;
            let more = [rate(test), typical_named(test)].into_iter().flatten().collect::<Vec<_>>().join(", ");
            Some(if self.is_random && !more.is_empty() {
                format!("{verb} {moved} ({more})")
            } else {
                format!("{verb} {moved}")
            })
        };
        let both: Vec<String> =
            [moved("reads", self.read), moved("writes", self.write)].into_iter().flatten().collect();
        (!both.is_empty()).then(|| format!("{} {}", self.name, both.join(" and ")))
    }
}
