//! T7: a rate above the speed of the link.

use fsdyno_results::{Finding, ReadWrite, Severity};

use crate::evidence::{Evidence, JobInStage, Transfer};
use crate::explanation::Explanation;
use crate::report::Report;
use crate::units::rate;

pub(crate) const ID: &str = "above-link-speed";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T7",
    title: "Faster than the network link",
    happens: "A network filesystem cannot move data faster than its link. A higher number came from a cache on this \
              machine.",
    seen: "The reported rate is compared with the speed of the interface to the server, for 4 MiB or more. Invalid if \
           it is more than 5 % higher. Most virtual interfaces do not report a speed: set FSDYNO_LINK_MBIT=1000, or \
           this check is skipped.",
    advice: "Use more data than this machine has memory, fresh files for reads, and --end_fsync=1 for writes. See \
             also nfs-data-cache and fuse-cache.",
    documented: "linux Documentation/ABI/testing/sysfs-class-net, speed; seaweedfs issue 5157",
};

/// The rate must exceed the link by this factor: counters and clocks are less wrong.
const FACTOR: f64 = 1.05;
/// Least number of bytes to judge.
const BYTES_MIN: u64 = 4 << 20;

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (stage, row, _) in evidence.byte_flows() {
        let Some(server) = row.storage.and_then(|storage| storage.server.as_ref()) else { continue };
        let Some(bits) = server.link_bits_per_s.value().filter(|bits| **bits > 0) else { continue };
        let link = *bits as f64 / 8.0;
        let does = ReadWrite { read: row.reads() && stage.reads_are_the_workload(), write: row.writes() };
        // The bytes of the report: a close after the clock stopped may have moved more.
        let reported = |direction| {
            let done = || stage.rows.iter().map(|row| row.done(direction));
            // Buffers on the way can take a few bytes at any rate.
            let enough = done().map(|done| done.bytes).sum::<u64>() >= BYTES_MIN;
            let per_s = |row: &JobInStage<'_>| row.done(direction).bytes as f64 * 1e3 / row.runtime_ms().max(1) as f64;
            if enough { stage.rows.iter().map(per_s).sum() } else { 0.0 }
        };
        let fastest = Transfer::BOTH.into_iter().filter(|direction| does[*direction]).map(reported).fold(0.0, f64::max);
        if fastest <= link * FACTOR || stage.class().is_none() {
            continue;
        }
        let interface = server.interface.value().map_or("the link", String::as_str);
        let cause = format!(
            "{} is more than {interface} can carry ({}): a cache on this machine answered{}",
            rate(fastest),
            rate(link),
            stage.shared_figures_note()
        );
        let report = Report::new(ID, Severity::Invalid, row.name).number("rate of the job", fastest, "B/s").number(
            "speed of the link",
            link,
            "B/s",
        );
        let next = if row.writes() && !row.first().plan.end_sync {
            "add --end_fsync=1, and use more data than this machine has memory"
        } else {
            "use more data than memory, in files that this machine has not read or written since the mount"
        };
        found.push(report.says(cause, next));
    }
    found
}
