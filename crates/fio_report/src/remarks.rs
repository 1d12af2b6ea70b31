//! What the reader must know beside fio's report: the last block of the normal report, and an object of the JSON document.

use results::{Finding, JobRecord, Latency, Note, RunRecord, Severity, Trust};
use serde_json::{Value, json};

/// The last block of the normal report, with a blank line before it; empty where there is nothing to say.
pub(crate) fn block(run: &RunRecord) -> String {
    let notes = notes(run).map(|note| format!("note: {}", note.text)).chain(sampled_latencies(run));
    let lines: Vec<String> = findings(&grave(run)).into_iter().chain(notes).collect();
    if lines.is_empty() {
        return String::new();
    }
    let lines: String = lines.iter().map(|line| format!("  {line}\n")).collect();
    format!("\nFindings and notes (fsdyno):\n{lines}")
}

/// The object `fsdyno` of the JSON document; `None`: nothing is a caution or worse.
pub(crate) fn object(run: &RunRecord) -> Option<Value> {
    let (findings, notes) = (grave(run), notes(run).collect::<Vec<_>>());
    (!findings.is_empty() || !notes.is_empty()).then(|| {
        json!({ "schema": run.schema, "trust": Trust::of(&run.findings).word(), "findings": findings, "notes": notes })
    })
}

fn grave(run: &RunRecord) -> Vec<Finding> {
    run.findings.iter().filter(|finding| finding.severity > Severity::Info).cloned().collect()
}

fn notes(run: &RunRecord) -> impl Iterator<Item = &Note> {
    run.notes.iter().filter(|note| note.severity > Severity::Info)
}

/// Two lines for each cause; jobs with the same cause together.
pub fn findings(found: &[Finding]) -> Vec<String> {
    let mut lines = Vec::new();
    for (index, finding) in found.iter().enumerate() {
        let alike = |other: &&Finding| other.id == finding.id && other.cause == finding.cause;
        if found[..index].iter().any(|earlier| alike(&earlier)) {
            continue;
        }
        let jobs: Vec<&str> = found.iter().filter(alike).filter_map(|finding| finding.job.as_deref()).collect();
        let who = if jobs.is_empty() { String::new() } else { format!("{}: ", jobs.join(", ")) };
        let severity = if finding.severity == Severity::Invalid { "invalid" } else { "caution" };
        lines.push(format!("{severity}: {who}{} [{}]", finding.cause, finding.id));
        lines.push(format!("  next: {}", finding.next));
    }
    lines
}

/// The latencies that `gtod_reduce` keeps out of the report, one line for each row.
pub fn sampled_latencies(run: &RunRecord) -> Vec<String> {
    run.report_rows().iter().filter_map(sampled).collect()
}

fn sampled(job: &JobRecord) -> Option<String> {
    let latencies = job.sampled_latency.as_ref()?;
    let figures: Vec<String> = latencies.iter().filter_map(|(direction, one)| figures(direction.name(), one)).collect();
    (!figures.is_empty()).then(|| {
        format!(
            "note: {name}: gtod_reduce=1 leaves latency out of the report; one I/O in {every} was timed: {figures}",
            name = job.name,
            every = job.timed_one_in,
            figures = figures.join("; ")
        )
    })
}

fn figures(direction: &str, latency: &Latency) -> Option<String> {
    let histogram = latency.histogram.as_ref()?;
    let at = |percent| histogram.percentile(percent).map(|ns| ns as f64 / 1000.0);
    let (p50, p99) = (at(50.0)?, at(99.0)?);
    Some(format!("{direction} clat p50={p50:.1}us p99={p99:.1}us ({count} samples)", count = latency.moments.count))
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
        assert_eq!(findings(&both), ["caution: a, b: together [jobs-overlap]", "  next: add stonewall"]);
        let run = Finding { severity: Severity::Invalid, ..finding("clock", None, "drifts") };
        assert_eq!(findings(&[run])[0], "invalid: drifts [clock]");
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
