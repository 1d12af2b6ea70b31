//! T53: all ranks read the same bytes of one file in the same order.

use fsdyno_results::evidence::StorageClass;
use fsdyno_results::{Finding, JobRecord, RunRecord, Severity};

use crate::explanation::Explanation;
use crate::node_comparison::{is_same_job, jobs_on_nodes};
use crate::report::Report;

pub(crate) const ID: &str = "same-offsets";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T53",
    title: "All ranks read the same bytes in the same order",
    happens: "fio draws the offsets of a random job from a fixed seed, and a sequential job starts at its offset. Ranks that \
              run the same job on one file therefore read the same bytes at about the same time: the first one brings \
              them into the server's memory, and the server's storage is not asked by the others. With eight ranks, seven \
              of eight reads may be such answers.",
    seen: "From the plan of each rank: reads of the same file of a server from the same offset, in a sequence that a fixed \
           seed gives. A caution; how much the server's memory answered is not visible here.",
    advice: "Give random jobs --randrepeat=0: each rank then has an order of its own. Give sequential jobs a file for each \
             rank (--directory in place of --filename), or use fsdyno scale.",
    documented: "fio documentation, randrepeat, randseed; IOR, option -Z",
};

pub(crate) fn find(record: &RunRecord) -> Vec<Finding> {
    jobs_on_nodes(record).iter().filter_map(|job| of_job(record, job.first)).collect()
}

fn of_job(record: &RunRecord, first: &JobRecord) -> Option<Finding> {
    let file = first.plan.files.first()?;
    if first.directions.read.ios == 0 || !is_of_server(record, first) || has_own_order(record, first) {
        return None;
    }
    let same =
        |job: &&JobRecord| job.plan.files.first() == Some(file) && job.plan.offset_bytes == first.plan.offset_bytes;
    let alike = record.jobs.iter().filter(|job| is_same_job(job, first)).filter(same);
    let mut nodes: Vec<usize> = alike.filter(|job| !has_own_order(record, job)).map(|job| job.node).collect();
    fsdyno_stats::sort::by(&mut nodes, Ord::cmp);
    nodes.dedup();
    if nodes.len() < 2 {
        return None;
    }
    let random = first.setup.access.random;
    let order = if random { "the same random order" } else { "the same order" };
    let cause = format!(
        "{} ranks read {file} at the same offsets in {order}: the server's memory may have answered all but one of them",
        nodes.len()
    );
    let next = match random {
        true => "add --randrepeat=0: each rank then reads in an order of its own",
        false => "give each rank a file of its own (--directory in place of --filename)",
    };
    let report = Report::new(ID, Severity::Caution, &first.name);
    Some(report.number("ranks on the same offsets", nodes.len() as f64, "ranks").says(cause, next))
}

/// Whether its file lies on a server, whose memory all ranks share.
fn is_of_server(record: &RunRecord, job: &JobRecord) -> bool {
    let storage = job.plan.parts.first().and_then(|part| record.nodes.get(job.node)?.storages.get(part.storage));
    storage.is_some_and(|storage| matches!(storage.class, StorageClass::Network | StorageClass::Fuse))
}

/// Whether the system seeds its random offsets: then no two ranks have the same ones.
fn has_own_order(record: &RunRecord, job: &JobRecord) -> bool {
    let options = || record.global_options.iter().chain(&job.options);
    let is_seeded = options().any(|(name, _)| name == "randseed");
    let repeats = options().rfind(|(name, _)| matches!(name.as_str(), "randrepeat" | "allrandrepeat"));
    job.setup.access.random && !is_seeded && repeats.is_some_and(|(_, value)| value == "0")
}
