//! The JSON report: one document, fio's keys in fio's order and number forms.

mod direction;
mod documents;
mod entries;
mod job;
mod text;

pub use documents::{NamedDocument, documents};

use jiff::tz::TimeZone;
use results::{CpuIdleness, DiskRecord, RunRecord, Trust};
use serde_json::{Map, Value, json};

use entries::entries;

use crate::calendar::moment;
use crate::disks::{Below, disks_of};
use crate::groups::Table;
use crate::{Details, remarks};

/// What the document has beside fio's keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extras {
    /// The bins of the histograms (`json+`).
    pub bins: bool,
    /// An object `fsdyno` with the findings and the evidence they rest on (`--fsdyno-json`).
    pub evidence: bool,
    /// The same object with findings and notes alone, if there is a caution or worse.
    pub remarks: bool,
}

impl Extras {
    pub(crate) fn of(details: &Details, bins: bool) -> Extras {
        Extras { bins, evidence: details.evidence, remarks: details.remarks }
    }
}

/// The document, ending with a line feed. `plus` adds the bins of the histograms (`json+`). Times are shown in `zone`.
pub fn document(run: &RunRecord, plus: bool, zone: &TimeZone) -> String {
    document_with(run, Extras { bins: plus, ..Extras::default() }, zone)
}

/// [`document`] with these extras.
pub fn document_with(run: &RunRecord, extras: Extras, zone: &TimeZone) -> String {
    let RunRecord { schema, version, taken_ms, global_options, nodes, notes, findings, .. } = run;
    let table = Table::of(run);
    let mut document = Map::new();
    document.insert("fio version".into(), json!(version));
    document.insert("timestamp".into(), json!(taken_ms / 1000));
    document.insert("timestamp_ms".into(), json!(taken_ms));
    document.insert("time".into(), json!(moment(*taken_ms, zone)));
    if !global_options.is_empty() {
        document.insert("global options".into(), options(global_options));
    }
    let rows = table.grouped_rows().map(|(row, group)| job::object(run, row, group, extras.bins)).collect();
    document.insert("jobs".into(), Value::Array(rows));
    let disks = disks_of(run);
    if !disks.is_empty() {
        document.insert("disk_util".into(), disks.into_iter().map(disk).collect());
    }
    if let Some(idleness) = run.only_node().and_then(|node| node.idleness.as_ref()) {
        document.insert("cpu_idleness".into(), idle_object(idleness));
    }
    if extras.evidence {
        let own = json!({
            "schema": schema,
            "trust": Trust::of(findings).word(),
            "findings": findings,
            "notes": notes,
            "nodes": nodes,
        });
        document.insert("fsdyno".into(), own);
    } else if let Some(own) = remarks::object(run).filter(|_| extras.remarks) {
        document.insert("fsdyno".into(), own);
    }
    text::print(&Value::Object(document))
}

/// Options by name. One that was given twice keeps its last text: two equal keys are no proper JSON.
fn options(options: &[(String, String)]) -> Value {
    Value::Object(options.iter().map(|(name, text)| (name.clone(), json!(text))).collect())
}

fn idle_object(idleness: &CpuIdleness) -> Value {
    let CpuIdleness { system_percent, processors, unit_us_mean, unit_us_deviation } = idleness;
    let mut object = entries(json!({ "system": system_percent }));
    let each = processors.iter().enumerate();
    object.extend(each.map(|(place, percent)| (format!("cpu-{place}"), json!(percent))));
    object.extend(entries(json!({ "unit_mean": unit_us_mean, "unit_stddev": unit_us_deviation })));
    Value::Object(object)
}

fn disk(disk: &DiskRecord) -> Value {
    let DiskRecord { name, ios, sectors, merges, ticks_ms, in_queue_ms, util_percent, slaves } = disk;
    let mut object = json!({
        "name": name,
        "read_ios": ios.read,
        "write_ios": ios.write,
        "read_sectors": sectors.read,
        "write_sectors": sectors.write,
        "read_merges": merges.read,
        "write_merges": merges.write,
        "read_ticks": ticks_ms.read,
        "write_ticks": ticks_ms.write,
        "in_queue": in_queue_ms,
        "util": util_percent,
    });
    if let (Some(Below { ios, sectors, merges, ticks_ms, in_queue_ms, util_percent }), Some(object)) =
        (Below::of(slaves), object.as_object_mut())
    {
        object.extend(entries(json!({
            "aggr_read_ios": ios.read,
            "aggr_write_ios": ios.write,
            "aggr_read_sectors": sectors.read,
            "aggr_write_sectors": sectors.write,
            "aggr_read_merges": merges.read,
            // In the singular, as fio spells it.
            "aggr_write_merge": merges.write,
            "aggr_read_ticks": ticks_ms.read,
            "aggr_write_ticks": ticks_ms.write,
            "aggr_in_queue": in_queue_ms,
            "aggr_util": util_percent,
        })));
    }
    object
}
