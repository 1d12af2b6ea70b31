//! T40: a node has mounted the storage differently from the others.

use fsdyno_results::evidence::{Mount, StorageClass};
use fsdyno_results::{Finding, Node, RunRecord, Severity};
use fsdyno_stats::sort;

use crate::explanation::Explanation;
use crate::report::Report;

pub(crate) const ID: &str = "mounts-differ";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T40",
    title: "A node has another mount",
    happens: "Another protocol version, transfer size, number of connections or caching rule makes a node faster or slower \
              than the others, and another source is another storage.",
    seen: "Type and options of the mount are compared on all nodes, for a network mount also its source. Each node \
           that differs from most nodes gets a caution. Addresses of the client itself (clientaddr) are not compared.",
    advice: "Mount the filesystem in the same way on all nodes, and run again.",
    documented: "nfs(5), mount options; proc(5), /proc/PID/mountinfo",
};

/// Options whose value differs on every node.
const OWN: [&str; 1] = ["clientaddr"];

/// The mount of a node's storage as words to compare, in order.
fn words(node: &Node) -> Option<Vec<String>> {
    let storage = node.storages.first()?;
    let Mount { source, fstype, options, .. } = storage.mount.value()?;
    let is_own = |option: &&String| OWN.contains(&option.split('=').next().unwrap_or_default());
    let mut words: Vec<String> = options.iter().filter(|option| !is_own(option)).cloned().collect();
    words.push(format!("type {fstype}"));
    // The name of a local disk may differ between nodes.
    if matches!(storage.class, StorageClass::Network | StorageClass::Fuse) {
        words.push(format!("source {source}"));
    }
    sort::by(&mut words, Ord::cmp);
    Some(words)
}

pub(crate) fn find(record: &RunRecord) -> Vec<Finding> {
    let mut ways: Vec<(Vec<String>, Vec<&Node>)> = Vec::new();
    for node in &record.nodes {
        let Some(words) = words(node) else { continue };
        match ways.iter_mut().find(|(way, _)| *way == words) {
            Some((_, nodes)) => nodes.push(node),
            None => ways.push((words, vec![node])),
        }
    }
    sort::by_key(&mut ways, |(_, nodes)| std::cmp::Reverse(nodes.len()));
    let Some(((usual, _), others)) = ways.split_first() else { return Vec::new() };
    others.iter().flat_map(|(way, nodes)| nodes.iter().map(|node| differs(node, way, usual))).collect()
}

/// Most words that a sentence lists.
const LISTED_MAX: usize = 3;

fn differs(node: &Node, way: &[String], usual: &[String]) -> Finding {
    let only = |one: &[String], other: &[String]| {
        let words: Vec<&str> =
            one.iter().filter(|word| !other.contains(word)).take(LISTED_MAX).map(String::as_str).collect();
        if words.is_empty() { "nothing else".to_owned() } else { words.join(", ") }
    };
    let cause = format!("{} has {}, where most nodes have {}", node.name, only(way, usual), only(usual, way));
    let next = "mount it in the same way on all nodes, and run again";
    Finding { node: Some(node.name.clone()), ..Report::of_run(ID, Severity::Caution).says(cause, next) }
}
