//! Saves records as JSON with a schema number, and reads them. Records of a newer program are refused.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::record::{RunRecord, SCHEMA_VERSION};
use crate::structs_as_objects;

/// Why a text cannot be read as a record.
#[derive(Debug, thiserror::Error)]
pub enum SavedRecordError {
    /// A newer program wrote it.
    #[error(
        "this record has format {found}, but this program reads formats up to {SCHEMA_VERSION}: use the version that \
         wrote it, or a newer one"
    )]
    Newer {
        /// The record's schema number.
        found: u32,
    },
    /// The text is not a record, or a damaged one.
    #[error("this is not a run record: {0}")]
    Malformed(#[from] serde_json::Error),
}

impl RunRecord {
    /// The record as one line of JSON.
    ///
    /// A float that is not finite cannot be written in JSON; then reading the text returns an error.
    pub fn to_json(&self) -> String {
        let text = serde_json::to_string(self).expect("a record has no map whose keys could fail to be text");
        fsdyno_text::escape::json(&text).into_owned()
    }

    /// Reads the text of [`RunRecord::to_json`].
    ///
    /// # Errors
    /// If the text is not a record, or has a newer format.
    pub fn from_json(text: &str) -> Result<RunRecord, SavedRecordError> {
        #[derive(Deserialize)]
        struct Header {
            schema: u32,
        }
        // The number is read first: a newer format may fail to parse for a good reason.
        let Header { schema } = structs_as_objects::from_str(text)?;
        if schema > SCHEMA_VERSION {
            return Err(SavedRecordError::Newer { found: schema });
        }
        if schema < SCHEMA_VERSION {
            let mut record = serde_json::from_str(text)?;
            upgrade(&mut record);
            return Ok(reread(&record)?);
        }
        Ok(structs_as_objects::from_str(text)?)
    }
}

/// Reads an upgraded record or study as a text. Reading it as a value would compile all of the reading code again:
/// half a megabyte.
pub(crate) fn reread<T: DeserializeOwned>(upgraded: &Value) -> serde_json::Result<T> {
    structs_as_objects::from_str(&upgraded.to_string())
}

/// Upgrades an older record to this format. Missing or wrong fields stay as they are; reading the record reports
/// them.
pub(crate) fn upgrade(record: &mut Value) {
    let Some(record) = record.as_object_mut() else { return };
    let before = record.insert("schema".into(), json!(SCHEMA_VERSION));
    // Format 6 adds how ranks ran together; records of one machine do not have this field.
    if before.and_then(|schema| schema.as_u64()) < Some(5) {
        upgrade_nodes(record);
    }
    for node in record.get_mut("nodes").and_then(Value::as_array_mut).into_iter().flatten() {
        let storages = node.get_mut("storages").and_then(Value::as_array_mut);
        storages.into_iter().flatten().for_each(upgrade_storage);
    }
}

/// Before format 7, sentences described the layers below a storage.
pub(crate) fn upgrade_storage(storage: &mut Value) {
    let Some(storage) = storage.as_object_mut() else { return };
    let Some(Value::Array(sentences)) = storage.remove("stack") else { return };
    let layers = sentences.into_iter().map(|sentence| json!({"kind": "unknown", "name": sentence})).collect();
    storage.insert("layers".into(), Value::Array(layers));
}

/// Before format 5, a record was of one machine, and the machine's facts were in the record itself.
fn upgrade_nodes(record: &mut Map<String, Value>) {
    let mut node = Map::from_iter([("name".into(), json!("")), ("storages".into(), json!([]))]);
    for key in ["host", "storages", "disks", "ledger"] {
        node.extend(record.remove_entry(key));
    }
    record.insert("nodes".into(), json!([node]));
    for job in record.get_mut("jobs").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(job) = job.as_object_mut() {
            upgrade_job(job);
        }
    }
}

/// In older formats, the directions of a job were separate fields, or lists.
fn upgrade_job(job: &mut Map<String, Value>) {
    job.insert("node".into(), json!(0));
    let directions = ["read", "write", "trim"].into_iter().filter_map(|name| job.remove_entry(name)).collect();
    job.insert("directions".into(), Value::Object(directions));
    let latencies = job.get_mut("sampled_latency").map(Value::take);
    job.insert("sampled_latency".into(), latencies.map_or(Value::Null, by_direction));
    if let Some(sizes) = job.get_mut("setup").and_then(|setup| setup.get_mut("block_sizes")) {
        *sizes = by_direction(sizes.take());
    }
}

fn by_direction(list: Value) -> Value {
    match list {
        Value::Array(values) => ["read", "write", "trim"].map(str::to_owned).into_iter().zip(values).collect(),
        other => other,
    }
}
