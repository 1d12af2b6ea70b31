//! Determines the directions that a report shows for a row, separately or summed (`unified_rw_reporting`).

use std::borrow::Cow;

use fsdyno_results::{DirectionRecord, JobRecord, UnifiedReporting};

/// One block of a row: a direction, or the sum of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    Read,
    Write,
    Trim,
    Mixed,
}

impl Lane {
    pub(crate) const ALL: [Lane; 4] = [Lane::Read, Lane::Write, Lane::Trim, Lane::Mixed];

    /// `read`, the name of its block.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Lane::Read => "read",
            Lane::Write => "write",
            Lane::Trim => "trim",
            Lane::Mixed => "mixed",
        }
    }

    /// `READ`, its name in the status of a group.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Lane::Read => "READ",
            Lane::Write => "WRITE",
            Lane::Trim => "TRIM",
            Lane::Mixed => "MIXED",
        }
    }
}

/// The lanes of a row, in the order that all formats use.
pub(crate) fn lanes(row: &JobRecord) -> Vec<(Lane, Cow<'_, DirectionRecord>)> {
    let alone = || {
        vec![
            (Lane::Read, Cow::Borrowed(&row.directions.read)),
            (Lane::Write, Cow::Borrowed(&row.directions.write)),
            (Lane::Trim, Cow::Borrowed(&row.directions.trim)),
        ]
    };
    let mixed = || (Lane::Mixed, Cow::Owned(row.mixed()));
    match row.setup.unified {
        UnifiedReporting::None => alone(),
        UnifiedReporting::Mixed => vec![mixed()],
        UnifiedReporting::Both => {
            let mut lanes = alone();
            lanes.push(mixed());
            lanes
        }
    }
}
