//! Reads from the environment how long the program waits for what does not answer, as tests need short times.

use fsdyno_run::{Bounds, Control};

use super::streams::print_stderr;

/// The variable with the seconds that replace the half minute of docs/reliability.md.
const VARIABLE: &str = "FSDYNO_PATIENCE";

/// The control of a run, with this program's timeouts.
pub(crate) fn control() -> Control {
    Control::with_bounds(bounds()).with_other_ranks(crate::nodes::other_ranks())
}

pub(crate) fn bounds() -> Bounds {
    let Some(text) = std::env::var_os(VARIABLE) else { return Bounds::default() };
    match text.to_str().and_then(|text| text.parse().ok()).filter(|seconds| (1..=86_400).contains(seconds)) {
        Some(seconds) => Bounds::of_seconds(seconds),
        None => {
            print_stderr(&format!(
                "note: {VARIABLE}={}: not a number of seconds from 1 to 86400; using 30",
                text.display()
            ));
            Bounds::default()
        }
    }
}
