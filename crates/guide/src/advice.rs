//! Replaces the advice of findings, which names options of fio's language, by advice that fits the question's own
//! options.

use fsdyno_results::{Finding, Question, Row, Study};

use crate::study::is_object_store;

/// The advice for one kind of finding: the words, and the option that carries it out (`None`: words alone).
struct Advice {
    id: &'static str,
    words: &'static str,
    option: Option<&'static str>,
}

const fn advice(id: &'static str, words: &'static str, option: Option<&'static str>) -> Advice {
    Advice { id, words, option }
}

/// The advice per kind of finding. The first line whose option the question has is taken, else the kind's last line
/// without an option.
const ADVICE: [Advice; 24] = [
    advice("above-link-speed", "use more data than this machine has memory", Some("--size")),
    advice("burst", "use the later figure, and measure for minutes", Some("--runtime=300")),
    advice("clock", "choose a faster clock source, where the system has one", None),
    advice("cpu-starved", "compare with an engine that needs no kernel threads", Some("--engine=psync")),
    advice("cpu-starved", "keep fewer requests in flight: kernel threads do them", Some("--iodepth=1")),
    advice("cpu-starved", "stop what else runs on this machine, or use one with more CPUs", None),
    advice(
        "depth-not-reached",
        "use an engine that keeps requests in flight, and direct I/O",
        Some("--engine=io_uring"),
    ),
    advice("depth-not-reached", "use fewer requests in flight: the storage holds no more", Some("--iodepth=8")),
    advice("drift", "measure longer, until the rate settles", Some("--runtime=300")),
    advice("fits-in-memory", "use four times the data, and check whether the rate falls", Some("--size")),
    advice("fuse-cache", "use more data than the daemon and this machine can cache", Some("--size")),
    advice("generator-bound", "one I/O thread is the limit: a machine with faster CPUs reads more", None),
    advice("host-cache", "use more data than the host or controller has memory", Some("--size")),
    advice("lazy-blocks", "use the later figure: blocks were fetched or allocated at first use", None),
    advice("nfs-data-cache", "use direct I/O, or more data than this machine has memory", Some("--size")),
    advice("page-cache", "use direct I/O for the storage's own number", None),
    advice(
        "ranks-apart",
        "use more files, or a shorter --limit, so that the time ends all nodes' phases",
        Some("--files=20000"),
    ),
    advice("ranks-apart", "measure for longer", Some("--runtime=60")),
    advice("request-size", "look at the file's extents (filefrag -v) and at the device's largest request", None),
    advice("shared-file", "give each job its own file", None),
    advice("too-short", "use more files, or a longer --limit", Some("--files=1001")),
    advice("too-short", "measure for longer", Some("--runtime=60")),
    advice("unwritten-data", "run again: the question writes its files before it reads them", None),
    advice("writes-in-memory", "take the rate until durable, which counts the sync at the end", None),
];

/// Options that no question to an object store has.
const NOT_OF_STORES: [&str; 3] = ["--size", "--engine", "--iodepth"];

/// Replaces the advice of these findings by advice that the question's options can carry out.
pub(crate) fn advise(findings: &mut [Finding], study: &Study) {
    let on_objects = study.targets.iter().any(|target| is_object_store(&target.path));
    for finding in findings.iter_mut().filter(|finding| finding.next.contains("--")) {
        finding.next = for_place(&finding.id, study.question, on_objects);
    }
}

/// The same for the passes of a phase, which are too short where they have few files or objects, or little time.
pub(crate) fn advise_passes(findings: &mut [Finding], study: &Study, rows: &[&Row]) {
    advise(findings, study);
    let is_short = |finding: &&mut Finding| finding.id == fsdyno_findings::TOO_SHORT;
    for finding in findings.iter_mut().filter(is_short) {
        let phases = || rows.iter().filter_map(|row| row.phase.as_ref());
        let of_passes = phases().map(|phase| phase.operations).sum::<u64>().max(1);
        let times = fsdyno_findings::OPERATIONS_MIN as f64 / of_passes as f64;
        // No time ends the phase that writes the files.
        let written = study.rows.iter().filter(|row| row.pattern == "write").filter_map(|row| row.phase.as_ref());
        let files = written.map(|phase| phase.operations).max();
        finding.next = match study.question.rounds_option() {
            // The rounds of a comparison are even.
            Some(option) => {
                let rounds = (rows.len() as f64 * times).ceil() as u64;
                format!("use more rounds ({option}={})", rounds.next_multiple_of(2))
            }
            None if study.question == Question::SmallFiles && phases().all(|phase| Some(phase.operations) < files) => {
                let longest_s = phases().map(|phase| phase.elapsed_ns).max().unwrap_or(0) as f64 / 1e9;
                format!("let it run for longer (--limit={})", (longest_s * times * 2.0).ceil().max(1.0))
            }
            None => continue,
        };
    }
}

/// The advice for a kind of finding under a question; empty where there is none.
pub fn for_question(id: &str, question: Question) -> String {
    for_place(id, question, false)
}

fn for_place(id: &str, question: Question, on_objects: bool) -> String {
    let has = |option: &str| {
        let name = option.split('=').next().unwrap_or_default();
        question.options().contains(&name) && !(on_objects && NOT_OF_STORES.contains(&name))
    };
    let mut of_kind = ADVICE.iter().filter(|advice| advice.id == id);
    let followed = of_kind.clone().find(|advice| advice.option.is_some_and(has));
    let Some(advice) = followed.or_else(|| of_kind.next_back()) else { return format!("fsdyno explain {id}") };
    match advice.option.filter(|option| has(option)) {
        Some(option) => format!("{} ({option})", advice.words),
        // The profile fixes how its tests run: no option of `check` changes that.
        None if question == Question::Check && advice.option.is_some() => {
            format!("{}, in a profile of your own (--show, --profiles)", advice.words)
        }
        None => advice.words.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsdyno_results::Severity;

    #[test]
    fn advice_of_fio_options_becomes_advice_of_the_question() {
        let finding = |id: &str, next: &str| Finding {
            id: id.into(),
            severity: Severity::Caution,
            node: None,
            job: None,
            numbers: Vec::new(),
            cause: String::new(),
            next: next.into(),
        };
        let mut found = vec![
            finding("too-short", "add --time_based --runtime=60"),
            finding("cpu-starved", "run again when the host is idle"),
            finding("a-new-one", "add --gtod_reduce=1"),
        ];
        let next = |found: &[Finding]| found.iter().map(|finding| finding.next.clone()).collect::<Vec<_>>();
        let mut of_check = found.clone();
        let asked = |question, path: &str| {
            let (name, storage) = ("a".to_owned(), fsdyno_results::evidence::Storage::default());
            let target = fsdyno_results::Target { name, path: path.into(), storage, reference: false };
            Study { question, targets: vec![target], ..Study::of_run(fsdyno_results::RunRecord::new("test", 1)) }
        };
        advise(&mut found, &asked(Question::Measure, "/data"));
        let rest = ["run again when the host is idle", "fsdyno explain a-new-one"];
        assert_eq!(next(&found), ["measure for longer (--runtime=60)", rest[0], rest[1]]);
        let depth = |question| for_question("depth-not-reached", question);
        assert!(depth(Question::Measure).ends_with("(--engine=io_uring)"), "{}", depth(Question::Measure));
        assert!(depth(Question::Sweep).ends_with("(--engine=io_uring)"), "{}", depth(Question::Sweep));
        assert!(depth(Question::Compare).ends_with("(--iodepth=8)"), "{}", depth(Question::Compare));
        advise(&mut of_check, &asked(Question::Check, "/data"));
        assert_eq!(
            next(&of_check),
            ["measure for longer, in a profile of your own (--show, --profiles)", rest[0], rest[1]]
        );
        let store = asked(Question::Compare, "s3://bucket");
        let mut found = vec![finding("fits-in-memory", "add --size=4g"), finding("too-short", "a longer --limit")];
        advise(&mut found, &store);
        let words = "use four times the data, and check whether the rate falls";
        assert_eq!(next(&found), [words, "measure for longer (--runtime=60)"], "a store has no --size");
        // Two passes of 16 objects: 64 operations need four.
        let row = |operations| {
            let elapsed_ns = 2_000_000_000;
            let phase = fsdyno_results::PhaseRecord { operations, elapsed_ns, ..Default::default() };
            Row { phase: Some(phase), ..Row::default() }
        };
        advise_passes(&mut found, &store, &[&row(16), &row(16)]);
        assert_eq!(next(&found), [words, "use more rounds (--rounds=4)"]);
        advise_passes(&mut found, &asked(Question::Measure, "s3://bucket"), &[&row(63)]);
        assert_eq!(next(&found), [words, "use more rounds (--runs=2)"]);
        // 16 files are few; of 200 files, the time of 2 s left 160 out.
        let mut files = asked(Question::SmallFiles, "/data");
        files.rows = vec![Row { pattern: "write".into(), ..row(16) }];
        found[1].next = "use more files, or a longer --limit".into();
        advise_passes(&mut found, &files, &[&row(16)]);
        assert_eq!(next(&found)[1], "use more files, or a longer --limit (--files=1001)");
        files.rows = vec![Row { pattern: "write".into(), ..row(200) }];
        advise_passes(&mut found, &files, &[&row(40)]);
        assert_eq!(next(&found)[1], "let it run for longer (--limit=7)");
    }

    #[test]
    fn every_advice_is_of_a_finding_that_exists() {
        for advice in &ADVICE {
            assert!(fsdyno_findings::explanation(advice.id).is_some(), "{}", advice.id);
        }
    }
}
