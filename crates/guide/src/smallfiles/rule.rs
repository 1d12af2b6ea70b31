//! Judges the published rule: 1,001 small files are written in under 10 s, and read in under 10 s.

use fsdyno_results::{
    Bound, Confidence, Finding, Interval, PhaseRecord, Requirement, RequirementKind, Row, Severity, Study, TestOrigin,
    Verdict, VerdictRow,
};
use fsdyno_stats::median;
use fsdyno_text::quantity::count;

use super::passes::whole;
use super::shell;

/// The time limit, s.
pub(super) const LIMIT_S: f64 = 10.0;

const PROFILE: &str = "gitlab-smallfiles";
const SOURCE: &str = "GitLab documentation, Filesystem performance benchmarking";
const READ_ON: &str = "2026-11";

/// Standard deviations of a two-sided 95 % interval of the normal distribution.
const DEVIATIONS: f64 = 1.96;

/// The phases that the rule judges: the native ones, and the shell loops.
const JUDGED: [(&str, &str); 4] = [
    ("write", shell::WRITE_LOOP),
    ("read", shell::READ_LOOP),
    ("shell-write", shell::WRITE_LOOP),
    ("shell-read", shell::READ_LOOP),
];

/// The finding that makes a pass invalid; `None`: it counts.
fn invalid(row: &Row) -> Option<&Finding> {
    row.findings.iter().find(|finding| finding.severity == Severity::Invalid)
}

/// Adds the verdicts on the passes of the study.
pub(super) fn judge(study: &mut Study, published: bool) {
    for (pattern, job) in JUDGED {
        let rows = || study.rows.iter().enumerate().filter(|(_, row)| row.pattern == pattern && row.phase.is_some());
        let Some((_, first)) = rows().next() else { continue };
        let valid: Vec<&PhaseRecord> =
            rows().filter(|(_, row)| invalid(row).is_none()).filter_map(|(_, row)| row.phase.as_ref()).collect();
        let doubt = invalid(first).filter(|_| valid.is_empty());
        let passes = if valid.is_empty() { rows().filter_map(|(_, row)| row.phase.as_ref()).collect() } else { valid };
        // The loops always are the published ones.
        let applies = published || pattern.starts_with("shell");
        let mut verdict = answer(requirement(pattern, &first.title, job), &passes, applies);
        verdict.rows = rows().map(|(index, _)| index).collect();
        if let Some(finding) = doubt.filter(|_| applies) {
            let reason = format!("the figure cannot be trusted: {}", finding.cause);
            verdict = VerdictRow { verdict: Verdict::Inconclusive, margin_percent: None, reason, ..verdict };
        }
        study.verdicts.push(verdict);
    }
}

fn requirement(pattern: &str, title: &str, job: &str) -> Requirement {
    Requirement {
        id: format!("{pattern}-elapsed"),
        profile: PROFILE.to_string(),
        profile_title: "GitLab: small files".to_string(),
        title: format!("1,001 small files: {title}"),
        metric: "phase.elapsed".to_string(),
        bound: Bound::AtMost,
        threshold: LIMIT_S,
        unit: "s".to_string(),
        derivation: None,
        source: SOURCE.to_string(),
        read_on: READ_ON.to_string(),
        kind: RequirementKind::VendorRequirement,
        confidence: Confidence::A,
        job: job.to_string(),
    }
}

/// The verdict by the median of the passes. Passes that were stopped are used only if all were.
fn answer(requirement: Requirement, passes: &[&PhaseRecord], applies: bool) -> VerdictRow {
    let whole = whole(passes.iter().copied());
    let times: Vec<f64> = whole.iter().map(|phase| phase.elapsed_ns as f64 / 1e9).collect();
    let elapsed_s = median(&times).unwrap_or(0.0);
    let interval = interval(whole.iter().copied(), &times);
    let attempted = whole.first().map_or(0, |phase| phase.operations + phase.failures);
    let as_long = passes.iter().filter(|phase| phase.operations + phase.failures == attempted);
    let failures = as_long.map(|phase| phase.failures).max().unwrap_or(0);
    let took = match times.len() {
        1 => format!("{elapsed_s:.3} s"),
        several => format!("the median of {several} passes, {elapsed_s:.3} s,"),
    };
    let limit = requirement.threshold;
    let files = count(shell::FILES.into());
    let (verdict, reason) = if !applies {
        let text = "the rule is for 1,001 files of 5 bytes in one directory, one after the other";
        (Verdict::NotApplicable, text.to_string())
    } else if attempted < u64::from(shell::FILES) {
        (Verdict::Inconclusive, format!("only {} of {files} files were done", count(attempted)))
    } else if failures > 0 {
        (Verdict::Inconclusive, format!("{} of {files} files failed", count(failures)))
    } else if interval.is_some_and(|interval| interval.contains(limit)) {
        (Verdict::Inconclusive, "too close to the limit: another run might be on the other side".to_string())
    } else if elapsed_s < limit {
        (Verdict::Pass, format!("{took} is below {limit} s"))
    } else {
        (Verdict::Fail, format!("{took} is not below {limit} s"))
    };
    let judged = matches!(verdict, Verdict::Pass | Verdict::Fail);
    VerdictRow {
        verdict,
        measured: (applies && attempted > 0).then_some(elapsed_s),
        interval,
        margin_percent: judged.then_some((limit - elapsed_s) / limit * 100.0),
        reason,
        origin: if passes.iter().any(|phase| phase.name.starts_with("shell")) && shell::IS_PUBLISHED {
            TestOrigin::Vendor
        } else {
            TestOrigin::Equivalent
        },
        caveats: Vec::new(),
        at_least: None,
        cap_s: None,
        rows: Vec::new(),
        requirement,
    }
}

/// The interval in which repeated passes would lie, over all passes.
fn interval<'a>(passes: impl Iterator<Item = &'a PhaseRecord>, times_s: &[f64]) -> Option<Interval> {
    passes.zip(times_s).filter_map(|(phase, elapsed_s)| within(phase, *elapsed_s)).reduce(Interval::joined)
}

/// The interval of one pass, with its files' latencies as the sample.
fn within(phase: &PhaseRecord, elapsed_s: f64) -> Option<Interval> {
    let moments = &phase.latency.moments;
    if moments.count < 30 {
        return None;
    }
    let half_s = DEVIATIONS * moments.deviation()? * (moments.count as f64).sqrt() / 1e9;
    Some(Interval { low: (elapsed_s - half_s).max(0.0), high: elapsed_s + half_s, confidence: 0.95 })
}

#[cfg(test)]
mod tests {
    use fsdyno_results::{JobError, Latency, Moments};

    use super::*;

    fn phase(operations: u64, failures: u64, elapsed_s: f64) -> PhaseRecord {
        let mut moments = Moments::default();
        let each_ns = (elapsed_s * 1e9 / operations as f64) as u64;
        // The latencies alternate between 5/4 and 3/4 of the mean.
        (0..operations)
            .for_each(|index| moments.record(if index % 2 == 0 { each_ns * 5 / 4 } else { each_ns * 3 / 4 }));
        PhaseRecord {
            name: "write".into(),
            operations,
            failures,
            error: (failures > 0).then(|| JobError { code: 28, function: "write".into(), text: "full".into() }),
            elapsed_ns: (elapsed_s * 1e9) as u64,
            latency: Latency { moments, histogram: None },
            ..PhaseRecord::default()
        }
    }

    fn verdict(phase: &PhaseRecord, applies: bool) -> VerdictRow {
        answer(requirement("write", "write", shell::WRITE_LOOP), &[phase], applies)
    }

    #[test]
    fn the_median_of_the_passes_decides_and_their_spread_can_leave_it_open() {
        let of = |times: &[f64]| {
            let passes: Vec<PhaseRecord> = times.iter().map(|time| phase(1001, 0, *time)).collect();
            let passes: Vec<&PhaseRecord> = passes.iter().collect();
            answer(requirement("write", "write", shell::WRITE_LOOP), &passes, true)
        };
        let even = of(&[0.11, 0.12, 0.13]);
        assert_eq!((even.verdict, even.measured), (Verdict::Pass, Some(0.12)));
        assert_eq!(even.reason, "the median of 3 passes, 0.120 s, is below 10 s");
        let below = of(&[0.01, 0.012, 4.0]);
        assert_eq!((below.verdict, below.measured), (Verdict::Pass, Some(0.012)), "all are below the limit");
        let uneven = of(&[4.0, 5.0, 12.0]);
        assert_eq!((uneven.verdict, uneven.measured), (Verdict::Inconclusive, Some(5.0)));
        // A pass that was stopped does not count beside whole ones.
        let (whole, stopped) = (phase(1001, 0, 0.1), phase(300, 0, 0.9));
        let verdict = answer(requirement("write", "write", shell::WRITE_LOOP), &[&whole, &stopped], true);
        assert_eq!((verdict.verdict, verdict.measured), (Verdict::Pass, Some(0.1)));
    }

    #[test]
    fn under_ten_seconds_passes_and_ten_does_not() {
        let passed = verdict(&phase(1001, 0, 0.116), true);
        assert_eq!(passed.verdict, Verdict::Pass);
        assert!((passed.margin_percent.unwrap() - 98.84).abs() < 0.01);
        let interval = passed.interval.unwrap();
        assert!(interval.contains(0.116) && interval.high < 0.12, "{interval:?}");
        assert_eq!(verdict(&phase(1001, 0, 176.0), true).verdict, Verdict::Fail);
    }

    #[test]
    fn a_limit_within_the_interval_is_not_decided() {
        let near = verdict(&phase(1001, 0, 9.95), true);
        assert_eq!((near.verdict, near.margin_percent), (Verdict::Inconclusive, None));
        // The shell loops give one figure without a sample: no interval.
        let alone = PhaseRecord { latency: Latency::default(), ..phase(1001, 0, 9.95) };
        assert_eq!(verdict(&alone, true).verdict, Verdict::Pass);
    }

    #[test]
    fn what_failed_was_stopped_or_is_something_else_is_not_judged() {
        assert_eq!(verdict(&phase(1000, 1, 0.1), true).verdict, Verdict::Inconclusive);
        assert_eq!(verdict(&phase(500, 0, 0.1), true).verdict, Verdict::Inconclusive);
        let other = verdict(&phase(500, 0, 0.1), false);
        assert_eq!((other.verdict, other.measured), (Verdict::NotApplicable, None));
    }
}
