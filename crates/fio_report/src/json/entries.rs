//! Builds objects in parts.

use serde_json::{Map, Value};

/// The entries of an object that was written with `json!`.
pub(super) fn entries(object: Value) -> Map<String, Value> {
    match object {
        Value::Object(entries) => entries,
        _ => Map::new(),
    }
}
