//! `attribute s3://BUCKET /MOUNT`: what the mount of an object store adds to the store. Whole objects and whole files of the
//! same sizes, one at a time; what crossed the network is taken from counters of the mount's program and of the machine.

use fsdyno_results::{Lane, Metric, Question, Severity, Study, TestRounds};
use fsdyno_text::quantity::latency;

use super::compare::{estimate, run_rounds};
use super::phase::{Pace, Test};
use super::site::{Site, TESTS_OF_MOUNT};
use crate::Problem;
use crate::compare::Rounds;
use crate::smallfiles::judge_passes;
use crate::study::{Caller, Place, StudyRun};

/// Number of rounds.
const ROUNDS: u32 = 4;

/// The most seconds of a turn.
const RUNTIME_S: u32 = 3;

/// Two counters within this factor say the same: one has the headers, too.
const NEAR: f64 = 1.1;

/// Measures a store, and a directory on its mount, in turns.
///
/// # Errors
/// When one of them cannot be used, or the second is no directory; nothing is left on either then.
pub fn attribute(store: &Place, mount: &Place, caller: Caller<'_>) -> Result<Study, Problem> {
    if !store.is_object_store() || mount.is_object_store() {
        return Err(Problem::new("a store and a directory on its mount are needed, in this order")
            .with_next("name them as in `fsdyno attribute s3://BUCKET/PREFIX /mnt/s3`"));
    }
    let places =
        [Place { name: "store".to_owned(), ..store.clone() }, Place { name: "mount".to_owned(), ..mount.clone() }];
    let mut study_run = StudyRun::begin(Question::Attribute, &places, caller);
    study_run.watcher.outline(&estimate(&TESTS_OF_MOUNT, ROUNDS, std::slice::from_ref(store)));
    let mut sites = Vec::new();
    let outcome = open_and_run(&mut study_run, &places, &mut sites);
    sites.into_iter().for_each(|site| site.close(&mut study_run));
    if let Some(reason) = outcome? {
        study_run.note("rounds", Severity::Info, reason);
    }
    judge_passes(&mut study_run.study);
    study_run.study.sentences = sentences(&study_run.study);
    Ok(study_run.finish())
}

fn open_and_run(
    study_run: &mut StudyRun<'_>,
    places: &[Place],
    sites: &mut Vec<Site>,
) -> Result<Option<String>, Problem> {
    let pace = Pace { threads: 1, limit_s: RUNTIME_S };
    for place in places {
        sites.push(Site::open(study_run, place, None, (pace, false))?);
    }
    let tests: Vec<&Test> = TESTS_OF_MOUNT.iter().collect();
    let rounds = Rounds { asked: Some(ROUNDS), once: false, patterns: tests.len(), places: places.len() };
    run_rounds(study_run, &tests, sites, rounds, RUNTIME_S)
}

fn sentences(study: &Study) -> Vec<String> {
    let mut all: Vec<String> = [
        ("read-1m", "A read of 1 MiB"),
        ("write-1m", "A write of 1 MiB"),
        ("read-4k", "A read of 4 KiB"),
        ("write-4k", "A write of 4 KiB"),
    ]
    .into_iter()
    .filter_map(|(pattern, what)| added(study, pattern, what))
    .collect();
    all.extend(
        ["read-1m", "again-1m", "write-1m", "read-4k", "again-4k", "write-4k"].into_iter().filter_map(|pattern| {
            traffic(study, pattern).map(|words| format!("{pattern} through the mount: {words}."))
        }),
    );
    let requests: Vec<String> = ["read-1m", "again-1m", "read-4k", "again-4k"]
        .into_iter()
        .filter_map(|pattern| Some(format!("{:.1} for {pattern}", requests_at_most(study, pattern)?)))
        .collect();
    all.push(if requests.is_empty() {
        "Requests per operation are not visible: no counter shows what the mount's program sent.".to_owned()
    } else {
        format!(
            "Each read through the mount took at most these requests: {}. They are the segments with data that the \
             connections of the mount's program sent, as far as these were seen; a request is one or more of them.",
            requests.join(", ")
        )
    });
    all.push(
        "It is not checked that the mount shows this bucket. Each file counts as written when it is synced; before the \
         first read this machine drops the file's pages, before the second it does not."
            .to_owned(),
    );
    all
}

/// The most requests that the mount's program sent for each operation; `None`: no counter shows it, or no round counts.
fn requests_at_most(study: &Study, pattern: &str) -> Option<f64> {
    let counted = rounds(study, 1, pattern)?;
    let phases: Vec<_> = counted.counted().iter().filter_map(|repeat| repeat.phase).collect();
    let segments: Option<u64> =
        phases.iter().map(|phase| phase.conditions.as_ref()?.wire.as_ref()?.daemon_segments_sent).sum();
    let operations: u64 = phases.iter().map(|phase| phase.operations).sum();
    (operations > 0).then_some(segments? as f64 / operations as f64)
}

/// The rounds of a test on a target; `None`: none of them counts. All sentences are about these rounds.
fn rounds<'s>(study: &'s Study, target: usize, pattern: &'s str) -> Option<TestRounds<'s>> {
    Some(TestRounds::of_rows(study.repeats(target, pattern))).filter(|rounds| rounds.counts(Metric::Operations))
}

/// What the mount adds to the median latency; `None`: one side has no figure that counts.
fn added(study: &Study, pattern: &str, what: &str) -> Option<String> {
    let of = |target: usize| rounds(study, target, pattern)?.value(Metric::P50(Lane::Operation));
    let (store_ns, mount_ns) = (of(0)?, of(1)?);
    let both = format!("{what} takes {} at the store and {} through the mount", latency(store_ns), latency(mount_ns));
    Some(if mount_ns > store_ns {
        let (more_ns, share) = (mount_ns - store_ns, (1.0 - store_ns / mount_ns) * 100.0);
        format!("{both}, which adds {} ({share:.0} %).", latency(more_ns))
    } else {
        format!("{both}: no added time is seen. A cache of the mount may have answered, or it may send data later.")
    })
}

/// What crossed the network for each byte of the operations, and what a cache had; `None`: no round counts.
fn traffic(study: &Study, pattern: &str) -> Option<String> {
    let rounds = rounds(study, 1, pattern)?;
    let counted = rounds.counted();
    let phases = || counted.iter().filter_map(|repeat| repeat.phase);
    let asked: u64 = phases().filter_map(|phase| phase.bytes).sum();
    if asked == 0 {
        return None;
    }
    let writes = pattern.starts_with("write");
    let side = |bytes: fsdyno_results::ReadWrite<u64>| if writes { bytes.write } else { bytes.read };
    let wires: Option<Vec<_>> = phases().map(|phase| phase.conditions.as_ref()?.wire.as_ref()).collect();
    let Some(wires) = wires else { return Some("what crossed the network is not visible".to_owned()) };
    let witness = wires.first().map_or("", |wire| wire.witness.as_str());
    let share = |bytes: u64| bytes as f64 / asked as f64;
    let whole = share(wires.iter().map(|wire| side(wire.bytes)).sum());
    let of_sockets: Option<u64> = wires.iter().map(|wire| wire.daemon_sockets.map(side)).sum();
    let from_disk: Option<u64> = wires.iter().map(|wire| wire.daemon_storage_bytes.map(|bytes| bytes.read)).sum();
    Some(traffic_sentence(writes, whole, of_sockets.map(share), from_disk.map(share), witness))
}

/// `whole`: bytes on the interface for each byte asked for, the most that the mount can have moved; `sockets`: those of the
/// connections that were seen, the least; `from_disk`: bytes that its program read from local storage.
fn traffic_sentence(writes: bool, whole: f64, sockets: Option<f64>, from_disk: Option<f64>, witness: &str) -> String {
    let (verb, what) = if writes { ("sent", "written") } else { ("received", "read") };
    let mut text = match sockets {
        Some(least) if whole <= least * NEAR => {
            format!("{least:.2} bytes were {verb} for each byte {what} (connections of the mount's program)")
        }
        Some(least) if least <= whole => format!(
            "between {least:.2} and {whole:.2} bytes were {verb} for each byte {what} (connections of the mount's program \
             that were seen; {witness} with all else on it)"
        ),
        _ => format!("at most {whole:.2} bytes were {verb} for each byte {what} ({witness} with all else on it)"),
    };
    if !writes {
        text.push_str(&match whole {
            // What did not cross the network came from this machine.
            whole if whole < 1.0 => {
                format!(", so that a cache on this machine had at least {:.0} %", (1.0 - whole) * 100.0)
            }
            _ if sockets.is_some_and(|least| whole <= least * NEAR) => ", so that no cache had them".to_owned(),
            _ => "; the share of a cache is not visible".to_owned(),
        });
        if let Some(share) = from_disk.filter(|share| *share >= 0.01) {
            text.push_str(&format!("; the mount's program read {share:.2} bytes from local storage"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_a_cache_is_told_only_where_counters_show_it() {
        let sentence = |whole, sockets| traffic_sentence(false, whole, sockets, None, "interface lo");
        assert!(sentence(1.03, Some(1.0)).ends_with("so that no cache had them"), "{}", sentence(1.03, Some(1.0)));
        assert!(sentence(0.02, Some(0.0)).ends_with("a cache on this machine had at least 98 %"));
        assert!(sentence(0.02, None).starts_with("at most 0.02 bytes were received"));
        // Connections that nobody saw may have carried the rest.
        let open = sentence(1.2, Some(0.0));
        assert!(
            open.contains("between 0.00 and 1.20") && open.ends_with("the share of a cache is not visible"),
            "{open}"
        );
        assert!(sentence(3.0, None).ends_with("the share of a cache is not visible"));
        let written = super::traffic_sentence(true, 1.02, Some(1.0), Some(0.5), "interface lo");
        assert_eq!(written, "1.00 bytes were sent for each byte written (connections of the mount's program)");
    }
}
