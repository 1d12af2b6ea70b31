//! Writes what the reader must know beside fio's report: the last block of the normal report, and an object of the JSON
//! document. Its lines do not match what scripts look for in fio's rows (`grep read:`).

use fsdyno_results::{Finding, JobRecord, Latency, Note, RunRecord, Severity, Trust};
use serde_json::{Value, json};

/// The last block of the normal report, after a blank line; empty where there is nothing to say.
pub(crate) fn block(run: &RunRecord) -> String {
    let notes = notes(run).map(note).chain(sampled_latencies(run));
    let lines: Vec<String> = findings(&grave(run)).into_iter().chain(notes).collect();
    if lines.is_empty() {
        return String::new();
    }
    let lines: String = lines.iter().map(|line| format!("  {line}\n")).collect();
    format!("\nFindings and notes (fsdyno):\n{lines}")
}

/// The block on replays after it; empty without a replay.
pub(crate) fn replays(run: &RunRecord) -> String {
    let lines: String = lateness(run).iter().map(|line| format!("  {line}\n")).collect();
    if lines.is_empty() { lines } else { format!("\nLateness (fsdyno):\n{lines}") }
}

/// How late replayed requests were, one line for each job.
pub fn lateness(run: &RunRecord) -> Vec<String> {
    let us = |ns: u64| format!("{:.1} us", ns as f64 / 1000.0);
    late(run)
        .map(|(name, late)| {
            let shown =
                |percent: f64| late.shown(percent).map(|ns| format!("p{percent} {}, ", us(ns))).unwrap_or_default();
            let percentiles: String = LATENESS.into_iter().map(shown).collect();
            let (count, most) = (late.moments.count, us(late.moments.max));
            line("replay", name, &format!("later than recorded by {percentiles}at most {most} ({count} requests)"))
        })
        .collect()
}

/// The percentiles of lateness.
const LATENESS: [f64; 4] = [50.0, 90.0, 99.0, 99.9];

fn late(run: &RunRecord) -> impl Iterator<Item = (&str, &Latency)> {
    run.jobs.iter().filter_map(|job| Some((job.name.as_str(), job.lateness.as_deref()?)))
}

/// The lateness for the object `fsdyno`; `None`: there was no replay.
pub(crate) fn replays_object(run: &RunRecord) -> Option<Value> {
    let entry = |(job, late): (&str, &Latency)| {
        let of = |percent: f64| json!(late.shown(percent));
        let [p50, p90, p99, p999] = LATENESS.map(of);
        let (requests, max) = (late.moments.count, late.moments.max);
        json!({ "job": job, "requests": requests, "lateness_ns": { "p50": p50, "p90": p90, "p99": p99, "p99.9": p999, "max": max } })
    };
    let entries: Vec<Value> = late(run).map(entry).collect();
    (!entries.is_empty()).then_some(Value::Array(entries))
}

/// The object `fsdyno` of the JSON document; `None`: there is no caution or worse, and no replay.
pub(crate) fn object(run: &RunRecord) -> Option<Value> {
    let (findings, notes) = (grave(run), notes(run).collect::<Vec<_>>());
    let replays = replays_object(run);
    (!findings.is_empty() || !notes.is_empty() || replays.is_some()).then(|| {
        let trust = Trust::of(&run.findings).word();
        let mut own = json!({ "schema": run.schema, "trust": trust, "findings": findings, "notes": notes });
        if let Some(replays) = replays {
            own["replays"] = replays;
        }
        own
    })
}

fn grave(run: &RunRecord) -> Vec<Finding> {
    run.findings.iter().filter(|finding| finding.severity > Severity::Info).cloned().collect()
}

fn notes(run: &RunRecord) -> impl Iterator<Item = &Note> {
    run.notes.iter().filter(|note| note.severity > Severity::Info)
}

/// Two lines for each cause; jobs with the same cause share them.
pub fn findings(found: &[Finding]) -> Vec<String> {
    let mut lines = Vec::new();
    for (index, finding) in found.iter().enumerate() {
        let alike = |other: &&Finding| other.id == finding.id && other.cause == finding.cause;
        if found[..index].iter().any(|earlier| alike(&earlier)) {
            continue;
        }
        let jobs: Vec<&str> = found.iter().filter(alike).filter_map(|finding| finding.job.as_deref()).collect();
        let severity = if finding.severity == Severity::Invalid { "invalid" } else { "caution" };
        lines.push(line(severity, &jobs.join(", "), &format!("{} [{}]", finding.cause, finding.id)));
        lines.push(format!("  next: {}", unlike_rows(&finding.next)));
    }
    lines
}

/// One line for a note.
pub fn note(note: &Note) -> String {
    let job = note.job.as_deref().unwrap_or_default();
    let text = note.text.strip_prefix(job).and_then(|text| text.strip_prefix(": ")).unwrap_or(&note.text);
    line("note", job, text)
}

/// A line about jobs. No colon follows their names, as a job may be called `seqread`.
fn line(kind: &str, jobs: &str, text: &str) -> String {
    let text = unlike_rows(text);
    if jobs.is_empty() { format!("{kind}: {text}") } else { format!("{kind} ({jobs}): {text}") }
}

/// The text without the words that begin rows of fio's report. Names of options and files are not changed.
fn unlike_rows(text: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut out = String::with_capacity(text.len());
    for piece in text.split_inclusive(|c| !is_word(c)) {
        let (word, end) = piece.split_at(piece.trim_end_matches(|c| !is_word(c)).len());
        let alone = (out.is_empty() || out.ends_with([' ', '('])) && !["/", "-"].contains(&end);
        out.push_str(match word {
            "IOPS" | "iops" if alone => "I/Os per second",
            "BW" | "bw" if alone => "bandwidth",
            "lat" if alone => "latency",
            "clat" if alone => "completion latency",
            "slat" if alone => "submission latency",
            _ => word,
        });
        let row = ["read", "write", "trim", "lat"].iter().any(|row| word.to_lowercase().ends_with(row));
        out.push_str(if row && end == ":" { " :" } else { end });
    }
    out
}

/// The latencies that `gtod_reduce` leaves out of the report, one line for each row.
pub fn sampled_latencies(run: &RunRecord) -> Vec<String> {
    run.report_rows().iter().filter_map(|row| sampled(row)).collect()
}

fn sampled(job: &JobRecord) -> Option<String> {
    let latencies = job.sampled_latency.as_ref()?;
    let figures: Vec<String> = latencies.iter().filter_map(|(direction, one)| figures(direction.name(), one)).collect();
    (!figures.is_empty()).then(|| {
        let (every, figures) = (job.timed_one_in, figures.join("; "));
        let text = format!("gtod_reduce=1 leaves latency out of the report; one I/O in {every} was timed: {figures}");
        line("note", &job.name, &text)
    })
}

/// The median, and the 99th percentile where there are enough values.
fn figures(direction: &str, latency: &Latency) -> Option<String> {
    let us = |ns: u64| format!("{:.1} us", ns as f64 / 1000.0);
    let median = us(latency.shown(50.0)?);
    let p99 = latency.shown(99.0).map_or_else(|| "needs 1000 samples".to_owned(), us);
    Some(format!("{direction} p50 {median}, p99 {p99} ({count} samples)", count = latency.moments.count))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(id: &str, job: Option<&str>, cause: &str) -> Finding {
        Finding { job: job.map(str::to_owned), ..Finding::new(id, Severity::Caution, cause, "add stonewall") }
    }

    #[test]
    fn one_cause_is_told_once_for_all_its_jobs() {
        let both = [finding("jobs-overlap", Some("a"), "together"), finding("jobs-overlap", Some("b"), "together")];
        assert_eq!(findings(&both), ["caution (a, b): together [jobs-overlap]", "  next: add stonewall"]);
        let run = Finding { severity: Severity::Invalid, ..finding("clock", None, "drifts") };
        assert_eq!(findings(&[run])[0], "invalid: drifts [clock]");
    }

    #[test]
    fn a_replay_says_how_late_it_was() {
        let mut run = RunRecord::new("", 0);
        let mut row = JobRecord::new("seqread", 1, fsdyno_results::JobSetup::default());
        let mut late = Latency::with_histogram();
        (0..1000).for_each(|_| late.record(100));
        late.record(2_000_000);
        row.lateness = Some(Box::new(late));
        run.jobs.push(row);
        let text = "  replay (seqread): later than recorded by p50 0.1 us, p90 0.1 us, p99 0.1 us, at most 2000.0 us (1001 requests)\n";
        assert_eq!((replays(&run), block(&run)), (format!("\nLateness (fsdyno):\n{text}"), String::new()));
        assert!(LOOKED_FOR.iter().all(|looked_for| !replays(&run).contains(looked_for)));
        let object = object(&run).expect("there is a replay");
        let expected = json!({ "p50": 100, "p90": 100, "p99": 100, "p99.9": null, "max": 2_000_000 });
        assert_eq!(object["replays"], json!([{ "job": "seqread", "requests": 1001, "lateness_ns": expected }]));
        run.jobs[0].lateness = None;
        assert_eq!(replays(&run), "");
    }

    /// The words that people look for in fio's reports.
    const LOOKED_FOR: [&str; 22] = [
        "read:",
        "write:",
        "trim:",
        "READ:",
        "WRITE:",
        "TRIM:",
        "iops",
        "IOPS",
        "IOPS=",
        "BW=",
        "bw=",
        "bw (",
        "lat (",
        "clat",
        "slat",
        "lat:",
        "runt=",
        "util=",
        "err=",
        "cpu  ",
        "issued",
        "percentiles",
    ];

    #[test]
    fn no_line_is_found_by_who_looks_for_a_row_of_fio() {
        let mut run = RunRecord::new("", 0);
        for job in ["seqread", "randwrite", "trim", "lat", "READ"] {
            let cause = "the median read: 5,000 IOPS (BW 3 MB/s), clat and slat (lat (ns)) of WRITE: more, iops=1";
            run.findings.push(finding(&format!("of-{job}"), Some(job), cause));
            let text = format!("{job}: the writes did not finish: /data/{job}: nothing was verified");
            run.notes.push(Note { job: Some(job.to_owned()), ..Note::new("nothing", Severity::Caution, text) });
            let mut row = JobRecord::new(job, 1, fsdyno_results::JobSetup::default());
            let mut read = Latency::with_histogram();
            (0..2000).for_each(|_| read.record(5000));
            row.sampled_latency = Some(Box::new(fsdyno_results::PerDirection { read, ..Default::default() }));
            run.jobs.push(row);
        }
        let block = block(&run);
        assert_eq!(block.lines().filter(|line| line.contains("seqread")).count(), 3, "{block}");
        for looked_for in LOOKED_FOR {
            assert!(!block.contains(looked_for), "{looked_for} is in\n{block}");
        }
        assert!(
            block.contains("  caution (seqread): the median read : 5,000 I/Os per second (bandwidth 3 MB/s)"),
            "{block}"
        );
        assert!(block.contains("  note (lat): the writes did not finish: /data/lat : nothing was verified"), "{block}");
    }

    #[test]
    fn a_sampled_percentile_needs_ten_values_beyond_it() {
        for (samples, p99) in [(999, "p99 needs 1000 samples"), (1000, "p99 5.0 us")] {
            let mut read = Latency::with_histogram();
            (0..samples).for_each(|_| read.record(5000));
            assert_eq!(figures("read", &read), Some(format!("read p50 5.0 us, {p99} ({samples} samples)")));
        }
    }

    #[test]
    fn information_alone_adds_nothing_to_fios_formats() {
        let mut run = RunRecord::new("", 0);
        run.findings = vec![Finding { severity: Severity::Info, ..finding("latency-off", None, "off") }];
        run.notes = vec![Note::new("settled", Severity::Info, "settled")];
        assert_eq!((block(&run), object(&run)), (String::new(), None));
        run.notes.push(Note::new("clock-stepped", Severity::Invalid, "the clock stepped"));
        assert_eq!(block(&run), "\nFindings and notes (fsdyno):\n  note: the clock stepped\n");
        run.findings.push(finding("jobs-overlap", Some("a"), "together"));
        let object = object(&run).expect("there is a caution");
        assert_eq!((&object["trust"], object["findings"].as_array().map(Vec::len)), (&json!("caution"), Some(1)));
    }
}
