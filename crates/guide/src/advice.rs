//! Replaces the advice of findings, which names options of fio's language, by advice that fits the question's own
//! options.

use fsdyno_results::{Finding, Question};

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
const ADVICE: [Advice; 22] = [
    advice("above-link-speed", "use more data than this machine has memory", Some("--size")),
    advice("burst", "use the later figure, and measure for minutes", Some("--runtime=300")),
    advice("clock", "choose a faster clock source, where the system has one", None),
    advice("cpu-starved", "compare with an engine that needs no kernel threads", Some("--engine=psync")),
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

/// Replaces the advice of these findings by advice that the question's options can carry out.
pub(crate) fn advise(findings: &mut [Finding], question: Question) {
    for finding in findings.iter_mut().filter(|finding| finding.next.contains("--")) {
        finding.next = for_question(&finding.id, question);
    }
}

/// The advice for a kind of finding under a question; empty where there is none.
pub fn for_question(id: &str, question: Question) -> String {
    let has = |option: &str| option.split('=').next().is_some_and(|name| question.options().contains(&name));
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
        advise(&mut found, Question::Measure);
        let rest = ["run again when the host is idle", "fsdyno explain a-new-one"];
        assert_eq!(next(&found), ["measure for longer (--runtime=60)", rest[0], rest[1]]);
        let depth = |question| for_question("depth-not-reached", question);
        assert!(depth(Question::Measure).ends_with("(--engine=io_uring)"), "{}", depth(Question::Measure));
        assert!(depth(Question::Sweep).ends_with("(--engine=io_uring)"), "{}", depth(Question::Sweep));
        assert!(depth(Question::Compare).ends_with("(--iodepth=8)"), "{}", depth(Question::Compare));
        advise(&mut of_check, Question::Check);
        assert_eq!(
            next(&of_check),
            ["measure for longer, in a profile of your own (--show, --profiles)", rest[0], rest[1]]
        );
    }

    #[test]
    fn every_advice_is_of_a_finding_that_exists() {
        for advice in &ADVICE {
            assert!(fsdyno_findings::explanation(advice.id).is_some(), "{}", advice.id);
        }
    }
}
