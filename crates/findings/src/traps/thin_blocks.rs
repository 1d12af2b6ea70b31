//! T13: blocks of a device that were never written.

use fsdyno_results::evidence::{Gap, Image, Layer, LayerKind, StorageClass};
use fsdyno_results::{Finding, Severity};

use crate::evidence::{Evidence, JobInStage, Stage, Transfer};
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
    seen: "A raw device with a thin volume below it, or a loop device whose file has holes or allocated ranges that were \
           never written, was read by a run that wrote nothing to it. The devices below delivered less than nine tenths, or are not visible. The device \
           mapper shows thin volumes to root only, LVM to everybody; others are reported as of unknown kind. Always a \
           caution: likely, not certain.",
    advice: "Write the whole device once before reading it, or test a file on a filesystem there.",
    documented: "lvmthin(7); TKperf pull request 46",
};

/// If the devices below delivered this share of what was read, the blocks exist.
const DELIVERED: f64 = 0.9;

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let writes = evidence.rows().any(|(_, row)| row.writes());
    let readers = evidence.rows().filter(|(_, row)| row.reads() && !writes);
    readers.filter_map(|(stage, row)| judge(stage, row)).collect()
}

fn judge(stage: &Stage<'_>, row: &JobInStage<'_>) -> Option<Finding> {
    let (layer, gap) = layer_with_gaps(row)?;
    let moved = stage.flow.as_ref().and_then(|flow| {
        let (asked, device) = (flow.application.bytes.read, flow.storage.read.clone()?);
        // A loop device delivers holes as well: the disk below its file shows whether there is data.
        let in_image = matches!(gap, Gaps::Image(_));
        let delivered = if in_image { flow.below_loop(layer, Transfer::Read)? } else { device.clone() };
        // If others' bytes are included, nothing follows for these blocks.
        (!delivered.shared).then_some((asked, device.bytes, delivered.bytes))
    });
    let report = Report::new(ID, Severity::Caution, row.name);
    let next = "write the whole device once before the read test (this destroys its data)";
    let what = match gap {
        Gaps::Image(Gap::Holes) => "an image with holes",
        Gaps::Image(Gap::Unwritten) => "an image that is allocated but not written",
        Gaps::Thin => "a thin volume",
        Gaps::Perhaps => "a volume that may be thin",
    };
    if gap == Gaps::Perhaps && moved.is_none() {
        return None;
    }
    let Some((asked, passed, delivered)) = moved else {
        let cause = format!("{what} was read ({layer}): blocks never written are likely answered without a disk");
        return Some(report.says(cause, next));
    };
    // Through the page cache another layer may have answered, which has a finding of its own.
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

/// Why blocks of a device may not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gaps {
    /// The device is thin, whatever is below its pool.
    Thin,
    /// The file of a loop device has holes.
    Image(Gap),
    /// It is not visible whether the device is thin.
    Perhaps,
}

/// Whether a raw device may have blocks that were never written: then what the devices did not deliver is no cache's.
pub(super) fn has_gaps(row: &JobInStage<'_>) -> bool {
    layer_with_gaps(row).is_some()
}

/// The layer of a raw device that may lack blocks; a thin volume comes before all others.
fn layer_with_gaps<'r>(row: &JobInStage<'r>) -> Option<(&'r Layer, Gaps)> {
    let storage = row.storage.filter(|storage| storage.class == StorageClass::Device)?;
    let mut found: Vec<(&Layer, Gaps)> = Vec::new();
    each_raw_layer(&storage.layers, &mut |layer| {
        found.extend(match layer.kind {
            LayerKind::Thin => Some((layer, Gaps::Thin)),
            LayerKind::MaybeThin => Some((layer, Gaps::Perhaps)),
            _ => layer.image.as_ref().and_then(Image::gap).map(|gap| (layer, Gaps::Image(gap))),
        });
    });
    let of = |wanted: fn(&Gaps) -> bool| found.iter().find(|(_, gap)| wanted(gap));
    let first = of(|gap| *gap == Gaps::Thin).or_else(|| of(|gap| matches!(gap, Gaps::Image(_))));
    first.or_else(|| of(|gap| *gap == Gaps::Perhaps)).copied()
}

/// Visits the layers down to the first filesystem: the blocks of a written file exist, whatever holes the storage below
/// has elsewhere.
fn each_raw_layer<'l>(layers: impl IntoIterator<Item = &'l Layer>, visit: &mut dyn FnMut(&'l Layer)) {
    for layer in layers.into_iter().filter(|layer| layer.is_device()) {
        visit(layer);
        each_raw_layer(layer.below_with_data().collect::<Vec<_>>(), visit);
    }
}
