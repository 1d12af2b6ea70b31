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
    Bounds::of_seconds(seconds(VARIABLE, 30))
}

/// The seconds that a variable names.
pub(crate) fn seconds(variable: &str, otherwise: u64) -> u64 {
    let Some(text) = std::env::var_os(variable) else { return otherwise };
    let named = text.to_str().and_then(|text| text.parse().ok()).filter(|seconds| (1..=86_400).contains(seconds));
    named.unwrap_or_else(|| {
        print_stderr(&format!(
            "note: {variable}={}: not a number of seconds from 1 to 86400; using {otherwise}",
            text.display()
        ));
        otherwise
    })
}
