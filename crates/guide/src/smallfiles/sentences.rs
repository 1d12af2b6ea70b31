//! Writes the sentences of the answer.

use fsdyno_results::evidence::{InMemory, Mount};
use fsdyno_results::{Lane, Metric, Study, Verdict};
use fsdyno_run::metadata::caches::HOT_INLINE;
use fsdyno_stats::median;
use fsdyno_text::quantity::{by_median, count, counted, latency, number};

use super::passes::{passes_of, phase_of, whole};
use super::rule::LIMIT_S;
use super::shell;

/// The sentences that the rows allow. `shell_ns`: the time of the published loops without storage, writing and reading.
pub(super) fn of(study: &Study, mount: Option<&Mount>, shell_ns: Option<[u64; 2]>) -> Vec<String> {
    let times = mount.and_then(times);
    [rule(study), loops(study, shell_ns), inline(study), durability(study), times, orientation(study, mount)]
        .into_iter()
        .flatten()
        .collect()
}

fn time(ns: u64) -> String {
    latency(ns as f64)
}

/// The time of all files, over the whole passes that count.
struct TimeOfAllFiles {
    files: u64,
    passes: u64,
    elapsed_ns: f64,
}

impl TimeOfAllFiles {
    /// `None`: no pass counts.
    fn of(study: &Study, pattern: &str) -> Option<TimeOfAllFiles> {
        let rounds = passes_of(study, pattern);
        let passes = whole(rounds.counted().iter().filter(|round| round.counts()).filter_map(|round| round.phase));
        let times: Vec<f64> = passes.iter().map(|phase| phase.elapsed_ns as f64).collect();
        Some(TimeOfAllFiles {
            files: passes.first()?.operations,
            passes: passes.len() as u64,
            elapsed_ns: median(&times)?,
        })
    }
}

fn rule(study: &Study) -> Option<String> {
    let (write, read) = (TimeOfAllFiles::of(study, "write")?, TimeOfAllFiles::of(study, "read")?);
    let medians = |passes| if passes > 1 { format!(" (medians of {passes} passes)") } else { String::new() };
    let [of_write, of_both] = match (write.passes, read.passes) {
        (one, other) if one == other => [String::new(), medians(one)],
        (one, other) => [format!(" ({})", counted(one, "pass")), format!(" ({})", counted(other, "pass"))],
    };
    let done = format!(
        "{} {} written in {}{of_write} and {} read back in {}{of_both}",
        counted(write.files, "file"),
        if write.files == 1 { "was" } else { "were" },
        latency(write.elapsed_ns),
        count(read.files),
        latency(read.elapsed_ns)
    );
    let verdict = study.verdicts.first()?;
    let source = format!("the {} (read {})", verdict.requirement.source, verdict.requirement.read_on);
    Some(match verdict.verdict {
        // The verdict's line says why.
        Verdict::NotApplicable => format!("{done}."),
        _ => format!("{done}, one after the other. The rule: below {LIMIT_S} s for each, by {source}."),
    })
}

/// A sentence on the published loops: what the shell adds, or what they took.
fn loops(study: &Study, shell_ns: Option<[u64; 2]>) -> Option<String> {
    let [write_ns, read_ns] = shell_ns?;
    let own = format!(
        "{} to the write and {} to the read on any storage, {}",
        time(write_ns),
        time(read_ns),
        shell::OWN_COST
    );
    let [name, loops] = shell::TITLES;
    // The verdicts already say how long the loops took.
    Some(match phase_of(study, "shell-write") {
        Some(_) => format!("{name} itself adds about {own}."),
        None => format!("{loops} (--literal) add about {own}."),
    })
}

/// A figure of a phase as the table shows it; `None`: no figures count.
fn figure(study: &Study, pattern: &str, metric: Metric) -> Option<f64> {
    let passes = passes_of(study, pattern);
    passes.value(metric).filter(|_| passes.counts(metric))
}

/// A sentence for filesystems that keep small files in their inodes: dropping pages does not make such files cold.
fn inline(study: &Study) -> Option<String> {
    let is_hot = phase_of(study, "open-read")?.cache.as_deref() == Some(HOT_INLINE);
    is_hot.then(|| {
        "open+read is not of the device: this filesystem keeps so small files within its metadata, which stays cached \
         (--size=64k makes files that it reads from the device)."
            .to_string()
    })
}

/// A sentence on writes without a sync, which say little about the storage.
fn durability(study: &Study) -> Option<String> {
    if study.targets.first().is_some_and(|target| target.storage.in_memory() == Some(InMemory::All)) {
        return Some("These files stayed in memory: this filesystem has no storage below it.".to_string());
    }
    let p50_ns = |pattern| figure(study, pattern, Metric::P50(Lane::Operation));
    let mean_ns = |pattern| passes_of(study, pattern).latency(Lane::Operation)?.moments.mean();
    let (write_ns, synced_ns) = (p50_ns("write")?, p50_ns("fsync-file")?);
    let (write_mean_ns, synced_mean_ns) = (mean_ns("write")?, mean_ns("fsync-file")?);
    let times = synced_ns / write_ns.max(1.0);
    // Where close already stores the file (NFS, object storage), fsync adds too little for a sentence.
    (times >= 2.0).then(|| {
        format!(
            "Without a sync a file takes {}, with fsync {}, {} times as long: mail stores and databases wait for that.",
            by_median(Some(write_ns), write_mean_ns),
            by_median(Some(synced_ns), synced_mean_ns),
            number(times)
        )
    })
}

/// The timestamps that the mount's options do not update.
fn times(mount: &Mount) -> Option<String> {
    let parts: Vec<&str> = [
        mount.option("noatime").map(|_| "reads store no access times (noatime)"),
        mount.option("lazytime").map(|_| "changed times stay in memory until fsync, sync or a day later (lazytime)"),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!parts.is_empty()).then(|| format!("On this mount {}; mounts without differ in that.", parts.join(", and ")))
}

/// A sentence on what several nodes reach together; in the cold phase each uses another node's files.
pub(super) fn of_nodes(study: &Study, ranks: u32, is_shared: bool) -> Option<String> {
    // Where operations failed, the rate of the others is not the rate of all.
    let failed = |pattern: &str| study.rows.iter().any(|row| row.pattern == pattern && row.first_error().is_some());
    let rate = |pattern: &str, what: &str| {
        let rate = figure(study, pattern, Metric::Operations).filter(|_| !failed(pattern))?;
        Some(format!("{} {what}", number(rate)))
    };
    let rates: Vec<String> = [
        rate("create", "files created"),
        rate("stat-cold", "of another's files asked for (stat)"),
        rate("open-read", "of another's files read"),
        rate("unlink", "removed"),
    ]
    .into_iter()
    .flatten()
    .collect();
    let place = if is_shared { "in one directory" } else { "each in a directory of its own" };
    (ranks > 1 && !rates.is_empty())
        .then(|| format!("{ranks} nodes together, {place}, per second: {}.", rates.join(", ")))
}

/// Operations per second of mdtest on one client, as the vendor of one of the three storages published them: create,
/// remove.
const PUBLISHED: [(&str, &str, &str); 3] =
    [("s3fs", "5.7", "24"), ("JuiceFS", "1,410", "1,163"), ("EFS", "179", "217")];

/// Figures that others published for the same kind of mount, where there are any.
fn orientation(study: &Study, mount: Option<&Mount>) -> Option<String> {
    let mount = mount?;
    let kind = match mount.fstype.as_str() {
        "fuse.s3fs" => "s3fs",
        "fuse.juicefs" => "JuiceFS",
        "nfs4" if mount.source.contains(".efs.") => "EFS",
        _ => return None,
    };
    let (_, create, remove) = PUBLISHED.iter().find(|(name, ..)| *name == kind)?;
    let rate = |pattern| figure(study, pattern, Metric::Operations).map(number);
    Some(format!(
        "For orientation only: the JuiceFS documentation shows {create} creates and {remove} removals per second for \
         {kind} (mdtest, one client, older versions); here it was {} and {}.",
        rate("create")?,
        rate("unlink")?
    ))
}

#[cfg(test)]
mod tests;
