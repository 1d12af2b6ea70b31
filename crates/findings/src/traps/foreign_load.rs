//! T27: other programs used the storage.

use results::evidence::StorageClass;
use results::{Finding, Severity};

use crate::evidence::{Evidence, Flow, Row, Stage};
use crate::explanation::Explanation;
use crate::report::Report;
use crate::units::{percent, rate, size};

pub(crate) const ID: &str = "foreign-load";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T27",
    title: "Others used the same device",
    happens: "A backup, an update, another test or the write-back of earlier data shares the device. Each gets a part \
              of its throughput, and the next run gets another part.",
    seen: "Bytes that the device read beyond those that this process requested. Bytes that the device wrote while the \
           run wrote nothing and laid out no file. Bytes that the device moved in a short look before the run. A \
           caution from 10 % of the run's own bytes and 1 MiB/s on; during the run from 16 MiB on.",
    advice: "Stop the other load (iotop shows it), run sync to finish earlier writes, and run again.",
    documented: "proc(5), /proc/PID/io; linux Documentation/admin-guide/iostats.rst",
};

/// Foreign bytes over the run's own.
const SHARE: f64 = 0.1;
/// Bytes a second below which it does not matter on any disk.
const RATE_MIN: f64 = (1u64 << 20) as f64;
/// Bytes below which it may be journal and metadata.
const BYTES_MIN: u64 = 16 << 20;

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let on_disk = evidence
        .flows()
        .filter(|(stage, _, _)| matches!(stage.class(), Some(StorageClass::Block | StorageClass::Device)));
    on_disk.filter_map(|(stage, row, flow)| during(stage, row, flow).or_else(|| before(evidence, row, flow))).collect()
}

/// What the device did beyond what was asked of it.
fn during(stage: &Stage<'_>, row: &Row<'_>, flow: &Flow<'_>) -> Option<Finding> {
    let device = flow.device.as_ref()?;
    let own = flow.application.bytes.sum();
    // The kernel charges each read to who asked, readahead included; write-back is charged when pages get dirty.
    let reads = flow.process.map_or(0, |process| device.done.bytes.read.saturating_sub(process.storage_bytes.read));
    // Files that this run or an earlier one wrote may still be on their way.
    let quiet = stage.rows.iter().all(|row| !row.writes() && !row.first().plan.laid_out);
    let writes = if quiet { device.done.bytes.write } else { 0 };
    let foreign = reads.saturating_add(writes);
    let too_much =
        foreign >= BYTES_MIN && foreign as f64 >= own as f64 * SHARE && foreign as f64 >= RATE_MIN * flow.seconds;
    too_much.then(|| {
        let cause = format!(
            "{} moved {} for others, besides this run's {}{}",
            device.name,
            size(foreign),
            size(own),
            stage.together()
        );
        Report::new(ID, Severity::Caution, row.name)
            .bytes("foreign bytes", foreign)
            .bytes("bytes of the run", own)
            .says(cause, "find who else uses the device (iotop), and run again when it is idle")
    })
}

/// What moved on the devices before the run.
fn before(evidence: &Evidence<'_>, row: &Row<'_>, flow: &Flow<'_>) -> Option<Finding> {
    let foreign = evidence.ledger()?.machine.foreign_bytes_per_s.value()?;
    let foreign = foreign.read + foreign.write;
    let own = (flow.application.bytes.read as f64 + flow.application.bytes.write as f64) / flow.seconds;
    if foreign < RATE_MIN || !own.is_finite() || foreign < own * SHARE {
        return None;
    }
    let cause = format!(
        "before the run others moved {} on the devices, {} of this run's rate",
        rate(foreign),
        percent(foreign / own.max(1.0))
    );
    let report = Report::new(ID, Severity::Caution, row.name).number("foreign rate before the run", foreign, "B/s");
    Some(report.says(cause, "find who else uses the device (iotop), and run again when it is idle"))
}
