//! T13: blocks of a device that were never written.

use results::evidence::StorageClass;
use results::{Finding, Severity};

use crate::evidence::{Evidence, Row, Stage};
use crate::explanation::Explanation;
use crate::report::Report;
use crate::units::size;

pub(crate) const ID: &str = "thin-blocks";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T13",
    title: "Likely thin or deallocated blocks of a raw device",
    happens: "Blocks of a thin volume that were never written do not exist: a read returns zeros without any disk. \
              The same is true of trimmed blocks of an SSD; on some drives such reads are even slower than real ones.",
    seen: "A raw device with a thin volume below it, or a loop device whose file has holes, was read by a run that \
           wrote nothing to it. The devices below delivered less than nine tenths, or are not visible. The device \
           mapper shows thin volumes to root only, LVM to everybody; others are reported as of unknown kind. Always a \
           caution: likely, not certain.",
    advice: "Write the whole device once before reading it, or test a file on a filesystem there.",
    documented: "lvmthin(7); TKperf pull request 46",
};

/// The devices below delivered this share of what was read: the blocks are there.
const DELIVERED: f64 = 0.9;

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let writes = evidence.rows().any(|(_, row)| row.writes());
    let readers = evidence.rows().filter(|(_, row)| row.reads() && !writes);
    readers.filter_map(|(stage, row)| judge(stage, row)).collect()
}

fn judge(stage: &Stage<'_>, row: &Row<'_>) -> Option<Finding> {
    // A thin volume answers for itself, whatever lies below its pool.
    let thin = thin_layer(row);
    let image = sparse_image(row).filter(|_| thin.is_none());
    let unknown = unknown_layer(row).filter(|_| thin.or(image).is_none());
    let layer = thin.or(image).or(unknown)?;
    let moved = stage.flow.as_ref().and_then(|flow| {
        let (asked, device) = (flow.application.bytes.read, flow.device.as_ref()?.done.bytes.read);
        let below = flow.below_files.map(|bytes| bytes.read);
        // The loop device delivers holes as well: what the disk below its file did counts.
        Some((asked, device, if image.is_some() { below? } else { device }))
    });
    let report = Report::new(ID, Severity::Caution, row.name);
    let next = "write the whole device once before the read test (this destroys its data)";
    let what = match () {
        () if image.is_some() => "an image with holes",
        () if unknown.is_some() => "a volume that may be thin",
        () => "a thin volume",
    };
    if unknown.is_some() && moved.is_none() {
        return None;
    }
    let Some((asked, passed, delivered)) = moved else {
        let cause = format!("{what} was read ({layer}): blocks never written are likely answered without a disk");
        return Some(report.says(cause, next));
    };
    // Through the page cache something else may have answered, and has a finding of its own.
    let answered_above = row.buffered() && (passed as f64) < asked as f64 * DELIVERED;
    if answered_above || delivered as f64 >= asked as f64 * DELIVERED {
        return None;
    }
    let cause = format!(
        "{} read of {what} ({layer}), but only {} delivered by the devices below: the rest was likely never written",
        size(asked),
        size(delivered)
    );
    let report = report.bytes("bytes read by the job", asked).bytes("bytes delivered", delivered);
    Some(report.says(cause, next))
}

/// What the stack of a raw device says of thin volumes.
pub(super) fn thin_layer<'r>(row: &Row<'r>) -> Option<&'r str> {
    layer(row, ": thin volume")
}

/// What the stack of a raw device says of a volume that may be thin as well as not.
pub(super) fn unknown_layer<'r>(row: &Row<'r>) -> Option<&'r str> {
    layer(row, ", of a kind that is not visible (")
}

fn layer<'r>(row: &Row<'r>, words: &str) -> Option<&'r str> {
    let storage = row.storage.filter(|storage| storage.class == StorageClass::Device)?;
    storage.stack.iter().map(String::as_str).find(|layer| layer.contains(words))
}

/// What the stack of a raw device says of an image file with holes.
pub(super) fn sparse_image<'r>(row: &Row<'r>) -> Option<&'r str> {
    layer(row, ": sparse file ")
}
