//! Writes the plan in the form of the record: the settings that a reader of the figures needs.

use fsdyno_job::SyncOpen;
use fsdyno_results::{JobPlan, Pace, PerDirection};

use super::WorkerPlan;
use super::queueing::for_record;
use super::verify;

/// Number of paths of a worker's files that are kept.
pub(crate) const FILES_KEPT: usize = 16;

impl WorkerPlan {
    /// Whether its ramp ends when its group has moved enough bytes.
    pub(crate) fn shares_ramp(&self) -> bool {
        self.job.extent.ramp_bytes > 0 && self.job.reporting.group
    }

    /// The worker's plan for the record.
    pub fn for_record(&self) -> JobPlan {
        let (job, extent) = (&self.job, &self.job.extent);
        let durability = &job.durability;
        let engine = job.submission.engine;
        let has_files = !engine.is_diskless();
        let named = self.files.iter().filter(|_| has_files);
        JobPlan {
            stage: self.stage,
            files: named.clone().take(FILES_KEPT).map(|file| fsdyno_job::bytes::shown(&file.path)).collect(),
            file_count: named.count() as u64,
            parts: self.parts.clone(),
            offset_bytes: self.files.first().map_or(0, |file| file.start),
            // With `fill_device` the length is known only when the device is full.
            span_bytes: (!job.files.fill_device)
                .then(|| self.files.iter().fold(0u64, |sum, file| sum.saturating_add(file.length))),
            io_bytes: self.io_bytes(),
            runtime_ms: (extent.runtime_ns > 0).then_some(extent.runtime_ns / 1_000_000),
            ramp_ms: extent.ramp_ns / 1_000_000,
            time_based: extent.time_based,
            // A mapping uses the page cache, however its file was opened.
            direct: has_files.then_some(job.submission.direct && !engine.maps_files()),
            queueing: Some(for_record(self.queueing)),
            synchronous: job.submission.sync_open != SyncOpen::None,
            sync_every_writes: [durability.fsync_every, durability.fdatasync_every]
                .into_iter()
                .filter(|every| *every > 0)
                .min()
                .map_or(0, u64::from),
            end_sync: durability.end_fsync || durability.fsync_on_close || durability.end_syncfs,
            invalidated: has_files.then_some(job.files.invalidate && !job.files.pre_read),
            synchronous_engine: job.submission.is_synchronous(),
            paced: job.pacing.is_paced() || job.traces.keeps_time(),
            pace: (job.pacing.has_rate() || job.pacing.think_ns > 0).then(|| Pace {
                bytes_per_s: job.pacing.rate,
                ios_per_s: PerDirection::from_fn(|direction| job.pacing.rate_iops[direction].map(u64::from)),
                think_ns: job.pacing.think_ns,
                think_ios: job.pacing.think_blocks.into(),
            }),
            compressible_percent: match (verify::writes_pattern(job), job.content.zero) {
                (true, _) => None,
                (false, true) => Some(100),
                (false, false) => job.content.compress.map(|(percent, _)| percent),
            },
            uniform_data: verify::writes_pattern(job)
                || job.content.zero
                || job.content.pattern.is_some() && job.content.compress.is_none(),
            laid_out: self.laid_out,
        }
    }

    /// Bytes after which it stops.
    fn io_bytes(&self) -> Option<u64> {
        let workload = &self.workload;
        if workload.time_based || self.job.files.fill_device {
            return None;
        }
        let one_loop = match workload.number_ios {
            0 => workload.bytes,
            ios => workload.bytes.min(ios.saturating_mul(self.block_bytes_max)),
        };
        Some(one_loop.saturating_mul(workload.loops.into()))
    }
}
