//! Rules across the options of recorded I/O.

use super::Rules;
use crate::diagnostic::WarningCode;
use crate::typed::{Job, MergedTrace};

/// Options that decide which requests come, or when. In a replay the log decides this.
const OF_THE_LOG: [&str; 7] = ["size", "io_size", "number_ios", "loops", "time_based", "filename", "directory"];

/// Applies the rules of replaying and recording.
pub(super) fn finish(job: &mut Job, merge: MergedTrace, rules: &mut Rules<'_>) {
    job.traces.depth_given = rules.origin("iodepth").is_some();
    if !merge.file.is_empty() {
        for (option, list) in [("merge_blktrace_scalars", &merge.scalars), ("merge_blktrace_iters", &merge.iterations)]
        {
            let (given, logs) = (list.len(), job.traces.replay.len());
            if given > 0 && given != logs {
                let text = format!("fio: {option}({given}) != nr_logs({logs})");
                rules.refuse(option, text, "give one value for each trace, with colons between");
            }
        }
        job.traces.merge = Some(merge);
    }
    let traces = &mut job.traces;
    let align = traces.options.align;
    if align > 0 && !align.is_power_of_two() {
        let text = format!("fio: replay_align={align} is not a power of two");
        rules.refuse("replay_align", text, "use a power of two such as 4096");
    }
    if job.submission.engine.works_on_names() && (traces.record.is_some() || !traces.replay.is_empty()) {
        let text = format!("fio: ioengine={} has no I/O to record or to replay", job.submission.engine.name());
        rules.refuse("ioengine", text, "use an engine that reads and writes");
    }
    if traces.replay.is_empty() {
        return;
    }
    if traces.record.take().is_some() {
        rules.warn(WarningCode::Replayed, "write_iolog", "fio: read iolog overrides write_iolog");
    }
    for option in OF_THE_LOG {
        if rules.origin(option).is_some() {
            let text = format!("{option} has no effect on a replay: the log says which I/O there is, once");
            rules.warn(WarningCode::WithoutEffect, option, text);
        }
    }
    if job.verify.is_some() {
        let text = "fio: verify with read_iolog: what a log writes is not verified";
        rules.refuse("verify", text, "leave out verify");
    }
    if job.pacing.has_rate() && job.traces.keeps_time() {
        let text = "fio: a rate with read_iolog: the log has the times of its I/O";
        rules.refuse("read_iolog", text, "leave out the rate, or set replay_no_stall=1");
    }
}
