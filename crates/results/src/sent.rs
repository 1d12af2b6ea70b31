//! Records as bytes between the processes of a run: JSON, and behind it the distributions, which are most of a record and
//! take a fifth of the space and time when they are packed.

use fsdyno_stats::packed::{put, take, take_bytes};

use crate::{Histogram, JobRecord, RunRecord, structs_as_objects};

impl RunRecord {
    /// The record as bytes for another process of the same program.
    pub fn into_bytes(mut self) -> Vec<u8> {
        let mut distributions = Vec::new();
        for histogram in self.jobs.iter_mut().flat_map(JobRecord::histograms) {
            let counts = histogram.take_packed();
            put(&mut distributions, counts.len() as u64);
            distributions.extend_from_slice(&counts);
        }
        let json = serde_json::to_vec(&self).expect("a record has no map whose keys could fail to be text");
        let mut bytes = Vec::new();
        put(&mut bytes, json.len() as u64);
        bytes.extend_from_slice(&json);
        bytes.extend_from_slice(&distributions);
        bytes
    }

    /// The record of [`RunRecord::into_bytes`]; `None`: the bytes are damaged.
    pub fn of_bytes(bytes: &[u8]) -> Option<RunRecord> {
        let mut rest = bytes.iter();
        let mut part = || {
            let length = take(&mut rest)?.try_into().ok()?;
            take_bytes(&mut rest, length)
        };
        let json = str::from_utf8(part()?).ok()?;
        let mut record: RunRecord = structs_as_objects::from_str(json).ok()?;
        for histogram in record.jobs.iter_mut().flat_map(JobRecord::histograms) {
            *histogram = Histogram::of_packed(part()?)?;
        }
        Some(record)
    }
}
