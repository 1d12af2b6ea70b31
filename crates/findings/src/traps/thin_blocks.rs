//! T13: raw blocks that nobody has written.

use results::evidence::StorageClass;
use results::{Finding, Severity};

use crate::evidence::Evidence;
use crate::report::Report;
use crate::story::Story;

pub(crate) const ID: &str = "thin-blocks";

pub(crate) const STORY: Story = Story {
    id: ID,
    trap: "T13",
    title: "Likely thin or deallocated blocks of a raw device",
    happens: "Blocks of a thin volume that were never written exist nowhere: reading them gives zeros without any disk. \
              Trimmed blocks of an SSD likewise; on some drives such reads are even slower than real ones.",
    seen: "A raw device whose stack names a thin volume, read by a run that wrote nothing to it. What was written \
           earlier cannot be seen: only ever a caution, and likely, not certain.",
    advice: "Write the whole device once before reading it, or test a file on a filesystem there.",
    documented: "lvmthin(7); TKperf pull request 46",
};

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let writes = evidence.rows().any(|(_, row)| row.writes());
    let mut found = Vec::new();
    for (_, row) in evidence.rows().filter(|(_, row)| row.reads() && row.judgeable() && !writes) {
        let Some(storage) = row.storage.filter(|storage| storage.class == StorageClass::Device) else { continue };
        let Some(layer) = storage.stack.iter().find(|layer| layer.contains("thin")) else { continue };
        let cause =
            format!("a thin volume was read ({layer}): what was never written is likely answered without a disk");
        let report = Report::new(ID, Severity::Caution, row.name);
        found.push(report.says(cause, "write the whole device once before the read test, if its data may go"));
    }
    found
}
