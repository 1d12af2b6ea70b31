//! Helpers of the tests of the faces for reports.

/// A report from the first job's block on.
#[track_caller]
pub(crate) fn results(stdout: &str) -> &str {
    let begin = stdout.find(": (groupid=").unwrap_or_else(|| panic!("no result block:\n{stdout}"));
    let line = stdout[..begin].rfind('\n').map_or(0, |newline| newline + 1);
    &stdout[line..]
}
