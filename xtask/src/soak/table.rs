//! The counts of verdicts, and the findings that a person should judge.

use std::collections::BTreeMap;
use std::fmt::Write;

use fsdyno_results::{Finding, Severity, Trust};

use super::lines::Target;

/// The finding on short runs is arithmetic, and always right: lines that end by bytes are over at once on fast storage.
const PROVED: &str = "too-short";

/// One run and its findings.
pub(super) struct JudgedRun {
    pub(super) target: &'static Target,
    /// The line, or the row in a study.
    pub(super) what: String,
    pub(super) findings: Vec<Finding>,
}

impl JudgedRun {
    /// Whether it was called invalid for a reason that its target does not explain.
    pub(super) fn invalid(&self) -> bool {
        self.doubtful().any(|finding| finding.severity == Severity::Invalid)
    }

    /// Findings that neither the target explains nor the record proves.
    fn doubtful(&self) -> impl Iterator<Item = &Finding> {
        let known = |finding: &&Finding| finding.id != PROVED && !self.target.right.contains(&finding.id.as_str());
        self.findings.iter().filter(|finding| finding.severity > Severity::Info).filter(known)
    }
}

/// Runs by trust, findings by id, and each relevant finding with its cause.
pub(super) fn text(all: &[JudgedRun]) -> String {
    let mut out = String::new();
    write_all(&mut out, all);
    out
}

fn write_all(out: &mut String, all: &[JudgedRun]) {
    let mut put = |line: std::fmt::Arguments<'_>| {
        let _ = writeln!(out, "{line}");
    };
    put(format_args!("{:<12} {:>5} {:>8} {:>8} {:>8} {:>9}", "target", "runs", "invalid", "caution", "ok", "to judge"));
    let mut targets: Vec<&Target> = Vec::new();
    for one in all {
        if targets.iter().all(|known| known.name != one.target.name) {
            targets.push(one.target);
        }
    }
    for target in targets {
        put(format_args!("{}", counts(target.name, all.iter().filter(|one| one.target.name == target.name))));
    }
    put(format_args!("{}", counts("all", all.iter())));
    put(format_args!(""));
    put(format_args!("{:<22} {:>8} {:>8} {:>8}", "finding", "invalid", "caution", "info"));
    for (id, [info, caution, invalid]) in by_id(all) {
        put(format_args!("{id:<22} {invalid:>8} {caution:>8} {info:>8}"));
    }
    let doubtful = || all.iter().flat_map(|one| one.doubtful().map(move |finding| (one, finding)));
    let runs = all.iter().filter(|one| one.doubtful().next().is_some()).count();
    put(format_args!(
        "\nTo judge: {runs} of {} runs ({:.1} %). Is each of these right about that run on this machine?",
        all.len(),
        runs as f64 * 100.0 / all.len().max(1) as f64
    ));
    for (one, finding) in doubtful() {
        let severity = if finding.severity == Severity::Invalid { "INVALID" } else { "caution" };
        put(format_args!("\n{severity} {} on {}: {}", finding.id, one.target.name, finding.cause));
        put(format_args!("    {}", one.what));
    }
}

/// A line of the first table.
fn counts<'j>(name: &str, runs: impl Iterator<Item = &'j JudgedRun>) -> String {
    let (mut by_trust, mut doubtful) = ([0u64; 3], 0u64);
    for one in runs {
        by_trust[Trust::of(&one.findings) as usize] += 1;
        doubtful += u64::from(one.doubtful().next().is_some());
    }
    let [ok, caution, invalid] = by_trust;
    format!("{name:<12} {:>5} {invalid:>8} {caution:>8} {ok:>8} {doubtful:>9}", ok + caution + invalid)
}

/// Findings of each severity, info first.
fn by_id(all: &[JudgedRun]) -> BTreeMap<&str, [u64; 3]> {
    let mut by_id: BTreeMap<&str, [u64; 3]> = BTreeMap::new();
    for finding in all.iter().flat_map(|one| &one.findings) {
        by_id.entry(&finding.id).or_default()[finding.severity as usize] += 1;
    }
    by_id
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::soak::lines::TARGETS;

    fn judged(target: &str, id: &str, severity: Severity) -> JudgedRun {
        let target = TARGETS.iter().find(|known| known.name == target).unwrap();
        let finding = Finding::new(id, severity, "its cause", String::new());
        JudgedRun { target, what: "--its line".into(), findings: vec![finding] }
    }

    #[test]
    fn what_the_target_makes_right_needs_no_judge() {
        let all = [
            judged("throttle", "throttled", Severity::Caution),
            judged("ext4", "throttled", Severity::Caution),
            judged("ext4", "too-short", Severity::Caution),
        ];
        let text = text(&all);
        assert!(text.contains("To judge: 1 of 3 runs (33.3 %)"), "{text}");
        assert!(text.contains("caution throttled on ext4: its cause\n    --its line"), "{text}");
        assert!(!text.contains("on throttle:"), "{text}");
        assert!(text.contains("all              3        0        3        0         1"), "{text}");
        assert!(!all[1].invalid() && judged("ext4", "page-cache", Severity::Invalid).invalid());
        let memory = |target| judged(target, "memory-storage", Severity::Invalid).invalid();
        assert!(memory("ext4") && !memory("tmpfs"), "tmpfs is memory");
    }
}
