//! Rules of the engines that do no I/O.

use super::Rules;
use crate::access::Access;
use crate::typed::{Amount, EngineName, Job};

/// Bursts and pauses of `cpuio`, the program of `exec`. Whatever else is said of their requests, they are reads of no bytes.
pub(super) fn finish(job: &mut Job, rules: &mut Rules<'_>) {
    let engine = job.submission.engine;
    if !engine.computes() {
        return;
    }
    let options = &job.submission.engine_options;
    if engine == EngineName::Exec && options.program.name.is_empty() {
        rules.refuse(
            "ioengine",
            "fio: exec: no program is defined, it is mandatory to define one",
            "add --program=NAME",
        );
    }
    if engine == EngineName::Cpuio {
        let load = u64::from(options.burn.load_percent);
        if load == 0 {
            rules.refuse("ioengine", "fio: cpu thread needs rate (cpuload=)", "add --cpuload=50");
            return;
        }
        job.pacing.think_ns = u64::from(options.burn.burst_us) * 1000 * (100 - load) / load;
        job.pacing.think_spin_ns = 0;
        job.pacing.think_blocks = 1;
        job.pacing.think_on_issue = false;
    }
    job.pattern.access = Access::READ;
    job.files.size = Some(Amount::Bytes(job.pattern.block_size.read.max()));
    job.submission.depth = 1;
}
