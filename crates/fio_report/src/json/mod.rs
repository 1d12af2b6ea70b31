//! Writes the JSON report: one document, with fio's keys in fio's order and number formats.

mod direction;
mod documents;
mod entries;
mod job;
mod text;

pub use documents::{NamedDocument, documents};

use std::io;

use fsdyno_results::{CpuIdleness, DiskRecord, RunRecord, Trust};
use jiff::tz::TimeZone;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use entries::entries;

use crate::calendar::moment;
use crate::clients::{self, Client};
use crate::disks::{LowerDevices, disks_of, listed};
use crate::groups::Table;
use crate::sink::Sink;
use crate::{Details, remarks};

/// Additions to fio's keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extras {
    /// The bins of the histograms (`json+`).
    pub bins: bool,
    /// An object `fsdyno` with the findings and their evidence (`--fsdyno-json`).
    pub evidence: bool,
    /// The same object with findings and notes only, if there is a caution or worse.
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
    let mut text = String::new();
    let mut keep = |piece: &str| {
        text.push_str(piece);
        Ok(())
    };
    write_document(run, extras, zone, &mut keep).expect("memory takes each piece");
    text
}

/// Gives the document to `sink` in pieces, as it is made.
///
/// # Errors
/// Those of `sink`, after which nothing more is made.
pub fn write_document(run: &RunRecord, extras: Extras, zone: &TimeZone, sink: &mut Sink<'_>) -> io::Result<()> {
    let RunRecord { schema, version, taken_ms, global_options, nodes, ranks_record: together, notes, findings, .. } =
        run;
    let clients = clients::clients(run);
    let table = clients.is_none().then(|| Table::of(run));
    let mut document = Map::new();
    document.insert("fio version".into(), json!(version));
    document.insert("timestamp".into(), json!(taken_ms / 1000));
    if clients.is_none() {
        document.insert("timestamp_ms".into(), json!(taken_ms));
    }
    document.insert("time".into(), json!(moment(*taken_ms, zone)));
    match &clients {
        Some(clients) => document.extend(of_clients(run, clients, extras.bins)),
        None => {
            if !global_options.is_empty() {
                document.insert("global options".into(), options(global_options));
            }
            document.insert(JOBS.into(), Value::Null);
            let disks = disks_of(run);
            if !disks.is_empty() {
                document.insert("disk_util".into(), disks.into_iter().map(disk).collect());
            }
        }
    }
    if let Some(idleness) = run.only_node().and_then(|node| node.idleness.as_ref()) {
        document.insert("cpu_idleness".into(), idle_object(idleness));
    }
    if extras.evidence {
        let mut own = json!({
            "schema": schema,
            "trust": Trust::of(findings).word(),
            "findings": findings,
            "notes": notes,
            "nodes": nodes,
        });
        if let Some(together) = together {
            own["together"] = json!(together);
        }
        if let Some(replays) = remarks::replays_object(run) {
            own["replays"] = replays;
        }
        document.insert("fsdyno".into(), own);
    } else if let Some(own) = remarks::object(run).filter(|_| extras.remarks) {
        document.insert("fsdyno".into(), own);
    }
    let jobs = table.as_ref().map(|table| Jobs { run, table, plus: extras.bins });
    text::write(&WithJobs { document: &document, jobs }, sink)
}

/// The key of the rows.
const JOBS: &str = "jobs";

/// A document whose rows are made one at a time, while it is written: those of many jobs take more memory than its text.
struct WithJobs<'r> {
    document: &'r Map<String, Value>,
    /// Stands in place of the value of [`JOBS`].
    jobs: Option<Jobs<'r>>,
}

struct Jobs<'r> {
    run: &'r RunRecord,
    table: &'r Table<'r>,
    plus: bool,
}

impl Serialize for WithJobs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.document.len()))?;
        for (key, value) in self.document {
            match self.jobs.as_ref().filter(|_| key == JOBS) {
                Some(jobs) => map.serialize_entry(key, jobs)?,
                None => map.serialize_entry(key, value)?,
            }
        }
        map.end()
    }
}

impl Serialize for Jobs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer
            .collect_seq(self.table.grouped_rows().map(|(row, group)| job::object(self.run, row, group, self.plus)))
    }
}

fn rows(run: &RunRecord, table: &Table<'_>, plus: bool) -> Vec<Value> {
    table.grouped_rows().map(|(row, group)| job::object(run, row, group, plus)).collect()
}

/// The keys of a document of several clients, in place of one machine's jobs.
fn of_clients(run: &RunRecord, clients: &[Client<'_>], plus: bool) -> Map<String, Value> {
    let entries = |client: &Client<'_>, table: &Table<'_>| -> Vec<Value> {
        let mut rows = rows(run, table, plus);
        for row in &mut rows {
            row.as_object_mut().into_iter().for_each(|row| row.retain(|key, _| key != "eta" && key != "elapsed"));
            clients::name(row, client.node);
        }
        rows
    };
    let mut stats: Vec<Value> = clients.iter().flat_map(|client| entries(client, &client.table)).collect();
    // The sum has the last client's name.
    if let (Some(all), Some(last)) = (clients::all(clients), clients.last()) {
        stats.extend(entries(last, &all));
    }
    let given = |client: &Client<'_>| {
        let mut given = clients::origin(client.node);
        given.extend(entries::entries(options(&run.global_options)));
        Value::Object(given)
    };
    let named_disk = |client: &Client<'_>, device: &DiskRecord| {
        let mut object = disk(device);
        clients::name(&mut object, client.node);
        object
    };
    let disks =
        clients.iter().flat_map(|client| listed(&client.node.disks).into_iter().map(move |disk| (client, disk)));
    let mut part = Map::new();
    part.insert("global options".into(), clients.iter().map(given).collect());
    part.insert("client_stats".into(), Value::Array(stats));
    part.insert("disk_util".into(), disks.map(|(client, disk)| named_disk(client, disk)).collect());
    part
}

/// Options by name. If an option was given twice, the last text is kept: equal keys are not valid JSON.
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
    if let (Some(LowerDevices { ios, sectors, merges, ticks_ms, in_queue_ms, util_percent }), Some(object)) =
        (LowerDevices::of(slaves), object.as_object_mut())
    {
        object.extend(entries(json!({
            "aggr_read_ios": ios.read,
            "aggr_write_ios": ios.write,
            "aggr_read_sectors": sectors.read,
            "aggr_write_sectors": sectors.write,
            "aggr_read_merges": merges.read,
            // fio writes it in the singular.
            "aggr_write_merge": merges.write,
            "aggr_read_ticks": ticks_ms.read,
            "aggr_write_ticks": ticks_ms.write,
            "aggr_in_queue": in_queue_ms,
            "aggr_util": util_percent,
        })));
    }
    object
}
