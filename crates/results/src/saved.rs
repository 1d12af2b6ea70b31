//! Records as text: JSON with a schema number, refused when a newer program wrote it.

use serde::Deserialize;

use crate::record::{RunRecord, SCHEMA_VERSION};

/// Why a text is no usable record.
#[derive(Debug, thiserror::Error)]
pub enum SavedRecordError {
    /// Written by a newer program.
    #[error(
        "this record has format {found}, but this program reads formats up to {SCHEMA_VERSION}: use the version that \
         wrote it, or a newer one"
    )]
    Newer {
        /// The record's schema number.
        found: u32,
    },
    /// Not a record, or a damaged one.
    #[error("this is not a run record: {0}")]
    Malformed(#[from] serde_json::Error),
}

impl RunRecord {
    /// The record as one line of JSON.
    ///
    /// A float that is not finite cannot be written in JSON and comes back as an error when the text is read.
    pub fn to_json(&self) -> String {
        let text = serde_json::to_string(self).expect("a record has no map whose keys could fail to be text");
        crate::escape::json(&text).into_owned()
    }

    /// Reads what [`RunRecord::to_json`] wrote.
    ///
    /// # Errors
    /// When the text is not a record, or one of a newer format.
    pub fn from_json(text: &str) -> Result<RunRecord, SavedRecordError> {
        #[derive(Deserialize)]
        struct Header {
            schema: u32,
        }
        // The number first: a newer format may fail to parse, and that is not the reader's fault.
        let Header { schema } = serde_json::from_str(text)?;
        if schema > SCHEMA_VERSION {
            return Err(SavedRecordError::Newer { found: schema });
        }
        Ok(serde_json::from_str(text)?)
    }
}
