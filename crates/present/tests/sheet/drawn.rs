//! Draws random studies of all kinds and checks each sentence of their answers against the rounds by arithmetic.
//! FSDYNO_CASES=5000 draws more.

use fsdyno_present::Headline;
use fsdyno_present::tables::{Changes, JudgementCommand, history};
use fsdyno_results::{Digest, Latency, Question, Row, Severity, Significance, Study, Trust, test_name};
use fsdyno_stats::median;
use fsdyno_text::quantity::{bytes_per_s, latency, number};
use testkit::draw::{Draw, Test, TestWork, cases, number_after, numbers, printed, time_after};

use crate::fixture;

pub(crate) fn drawn(
    draw: &mut Draw,
    question: Question,
    places: &[&str],
    tests: &[(&str, TestWork, u32)],
    rounds: u32,
) -> Study {
    let mut study = fixture::empty(question);
    study.sentences.clear();
    let target = |name: &&str| fixture::target(name, &format!("/{name}"), Default::default());
    study.targets = places.iter().map(target).collect();
    for (pattern, does, depth) in tests {
        let base = draw.one_of(&[0.4, 3.0, 40.0, 900.0, 150_000.0]);
        let block_bytes = if pattern.starts_with("seq") { 1 << 20 } else { 4096 };
        for target in 0..places.len() {
            let per_s = base * draw.one_of(&[1.0, 1.0, 1.01, 1.5, 7.0]);
            let (does, depth) = (*does, *depth);
            study.rows.extend(draw.rounds(&Test { target, pattern, does, depth, block_bytes, rounds, per_s }));
        }
    }
    study
}

/// Whether a round counts, decided independently.
pub(crate) fn counts(row: &Row) -> bool {
    let ran = match (&row.phase, &row.run) {
        (Some(phase), _) => phase.operations > 0,
        (None, run) => run.iter().flat_map(|run| &run.jobs).any(|job| job.directions.iter().any(|(_, of)| of.ios > 0)),
    };
    let invalid = row.findings.iter().any(|finding| finding.severity == Severity::Invalid);
    ran && !invalid && row.first_error().is_none()
}

fn counting<'s>(study: &'s Study, target: usize, pattern: &str) -> Vec<&'s Row> {
    study.rows.iter().filter(|row| row.target == target && row.pattern == pattern && counts(row)).collect()
}

/// The median over the rounds that count; `None`: none does.
fn over(study: &Study, target: usize, pattern: &str, of: impl Fn(&Row) -> f64) -> Option<f64> {
    median(&counting(study, target, pattern).into_iter().map(of).collect::<Vec<_>>())
}

/// Requests and bytes per second of a round; writes count once they are durable.
fn rates(row: &Row) -> (f64, f64) {
    let job = &row.run.as_ref().unwrap().jobs[0];
    let (read, write) = (&job.directions.read, &job.directions.write);
    let durable_s = job.final_sync_ns.map_or(0.0, |_| job.close_ns.unwrap_or(0) as f64 / 1e9);
    let seconds = if read.ios > 0 { read.runtime_ms as f64 / 1e3 } else { write.runtime_ms as f64 / 1e3 + durable_s };
    ((read.ios + write.ios) as f64 / seconds, (read.bytes + write.bytes) as f64 / seconds)
}

/// All latencies of the rounds that count; those of the syncs, where there are any.
fn latencies(study: &Study, pattern: &str) -> Latency {
    let mut all = Latency::default();
    for row in counting(study, 0, pattern) {
        let job = &row.run.as_ref().unwrap().jobs[0];
        match pattern == test_name::SYNC_LATENCY {
            true => all.merge(&job.sync.lat),
            false => [&job.directions.read, &job.directions.write].into_iter().for_each(|of| all.merge(&of.lat)),
        }
    }
    all
}

#[test]
fn the_answer_of_measure_holds() {
    const TESTS: [(&str, TestWork, u32); 7] = [
        (test_name::SEQ_READ, TestWork::Read, 16),
        (test_name::SEQ_WRITE, TestWork::Write, 16),
        (test_name::RAND_READ, TestWork::Read, 32),
        (test_name::RAND_WRITE, TestWork::Write, 32),
        (test_name::READ_LATENCY, TestWork::Read, 1),
        (test_name::WRITE_LATENCY, TestWork::Write, 1),
        (test_name::SYNC_LATENCY, TestWork::SyncedWrite, 1),
    ];
    for (case, mut draw) in cases(25) {
        let rounds = draw.one_of(&[1, 2, 3, 5]);
        let study = drawn(&mut draw, Question::Measure, &["data"], &TESTS, rounds);
        let Some(text) = Headline::of(&study).headline else { continue };
        let told = || format!("case {case}: {text}");
        // The sentence must have a part for each test that counts, and no other.
        let mut expected: Vec<String> = Vec::new();
        let part = |pattern: &str, words: &dyn Fn(f64, f64) -> String| {
            let found = over(&study, 0, pattern, |row| rates(row).0).zip(over(&study, 0, pattern, |row| rates(row).1));
            found.map(|(requests, bytes)| words(requests, bytes))
        };
        for (verb, large, small) in [
            ("reads", test_name::SEQ_READ, test_name::RAND_READ),
            ("writes", test_name::SEQ_WRITE, test_name::RAND_WRITE),
        ] {
            let moved = [
                part(large, &|_, bytes| bytes_per_s(bytes)),
                part(small, &|requests, _| format!("{} IOPS", number(requests))),
            ];
            let both: Vec<String> = moved.into_iter().flatten().collect();
            expected.extend((!both.is_empty()).then(|| format!("{verb} {}", both.join(" and "))));
        }
        for (what, pattern) in [
            ("a 4k read", test_name::READ_LATENCY),
            ("a 4k write", test_name::WRITE_LATENCY),
            ("making a write durable", test_name::SYNC_LATENCY),
        ] {
            let all = latencies(&study, pattern);
            let Some(mean) = all.moments.mean() else { continue };
            let middle = all.shown(50.0).map_or(mean, |ns| ns as f64);
            let name = if all.shown(50.0).is_some() { "median" } else { "mean" };
            let far = mean >= middle * 3.0 || middle >= mean * 3.0;
            let apart = if far { format!(" (mean {})", latency(mean)) } else { String::new() };
            let takes = if expected.iter().any(|part| part.contains(" takes ")) { "" } else { "takes " };
            expected.push(format!("{what} {takes}a {name} of {}{apart}", latency(middle)));
        }
        expected.extend(part(test_name::SYNC_LATENCY, &|requests, _| format!("{} durable writes/s", number(requests))));
        for part in &expected {
            assert!(text.contains(part.as_str()), "`{part}` is missing in {}", told());
        }
        let figures: Vec<f64> = expected.iter().flat_map(|part| numbers(part)).collect();
        let said = text.split("; nothing else").next().unwrap().split("no figure").next().unwrap();
        assert!(
            numbers(said).iter().all(|shown| figures.contains(shown)),
            "a figure of no test that counts: {}",
            told()
        );
        let void = TESTS.iter().filter(|(pattern, ..)| {
            study.rows.iter().any(|row| row.pattern == *pattern) && counting(&study, 0, pattern).is_empty()
        });
        let (void, tests) = (void.count(), study.tests().len());
        assert!(!text.contains("nothing else can be trusted") || void * 2 >= tests, "{}", told());
        assert!(!text.contains("no figure can be trusted") || void == tests, "{}", told());
    }
}

#[test]
fn the_answer_of_compare_holds() {
    const TESTS: [(&str, TestWork, u32); 3] =
        [("read", TestWork::Read, 4), ("randwrite", TestWork::Write, 4), ("randread", TestWork::Read, 4)];
    for (case, mut draw) in cases(25) {
        let places = draw.one_of(&[&["a", "b"][..], &["a", "b", "c"]]);
        let rounds = draw.one_of(&[1, 3, 8, 12]);
        let study = drawn(&mut draw, Question::Compare, places, &TESTS, rounds);
        let found = Headline::of(&study);
        let Some(text) = &found.headline else { continue };
        let told = || format!("case {case}, {rounds} rounds: {text}\n{:?}", found.standings);
        let place = |name: &str| places.iter().position(|known| *known == name).unwrap_or_else(|| panic!("{}", told()));
        for sentence in text.split(". ") {
            for standing in found.standings.iter().filter(|standing| mentions(sentence, &standing.name)) {
                let pattern = &standing.name;
                if let Some((winner, rest)) = sentence.split_once(" wins in ") {
                    assert_eq!(standing.winner.as_deref(), Some(winner), "{}", told());
                    let ratio = number_after(rest, &format!("{pattern} (")).unwrap();
                    let (value, interval) = (standing.ratio.unwrap(), standing.interval.unwrap());
                    assert!(printed(ratio, value) && interval.low > 1.0 && interval.contains(value), "{}", told());
                    // The ratio comes from pairs of rounds: in most pairs the winner must be ahead.
                    let second = standing.against.as_deref().unwrap();
                    assert!(share_ahead(&study, [place(winner), place(second)], pattern) > 0.5, "{}", told());
                } else if let Some((names, _)) = sentence.split_once(" cannot win in ") {
                    for name in names.split(", ").flat_map(|names| names.split(" and ")) {
                        assert!(standing.cannot_win.iter().any(|known| known == name), "{}", told());
                        let of_it = |row: &&Row| row.target == place(name) && row.pattern == *pattern;
                        let doubt = |row: &Row| !row.findings.is_empty() || row.first_error().is_some() || !counts(row);
                        assert!(
                            study.rows.iter().filter(of_it).any(doubt),
                            "nothing speaks against {name}: {}",
                            told()
                        );
                    }
                } else if sentence.contains("cannot show a difference") {
                    assert!(standing.winner.is_none(), "{}", told());
                    assert!(standing.conclusion.starts_with("too few rounds"), "{}", told());
                    let second = place(standing.against.as_deref().unwrap());
                    let known = (0..places.len()).filter(|other| *other != second);
                    let most = known.map(|first| in_common(&study, [first, second], pattern)).max();
                    assert!(most.unwrap() < 12, "{}", told());
                } else if sentence.contains("no clear difference") {
                    assert!(standing.conclusion.starts_with("no difference shown"), "{}", told());
                    // Differences below 2 % do not matter.
                    let interval = standing.interval.unwrap();
                    let little = (standing.ratio.unwrap() - 1.0).abs() < 0.021 || interval.low < 1.021;
                    assert!(interval.contains(1.0) || little || standing.ratio.unwrap() < 1.0, "{}", told());
                }
            }
        }
    }
}

/// Whether a sentence contains a pattern's whole name.
fn mentions(sentence: &str, pattern: &str) -> bool {
    sentence.split(|letter: char| !letter.is_alphanumeric()).any(|word| word == pattern)
}

/// The share of the common rounds in which the first place is ahead; without common rounds, of all pairs.
fn share_ahead(study: &Study, [first, second]: [usize; 2], pattern: &str) -> f64 {
    let (mine, theirs) = (counting(study, first, pattern), counting(study, second, pattern));
    let beside = in_common(study, [first, second], pattern) > 0;
    let pairs: Vec<bool> = mine
        .iter()
        .flat_map(|row| {
            theirs.iter().filter(move |other| !beside || other.round == row.round).map(move |other| (row, other))
        })
        .map(|(row, other)| rates(row).1 >= rates(other).1)
        .collect();
    pairs.iter().filter(|ahead| **ahead).count() as f64 / pairs.len() as f64
}

fn in_common(study: &Study, [one, other]: [usize; 2], pattern: &str) -> usize {
    let (one, other) = (counting(study, one, pattern), counting(study, other, pattern));
    one.iter().filter(|row| other.iter().any(|of| of.round == row.round)).count()
}

#[test]
fn the_answer_of_time_holds() {
    const TESTS: [(&str, TestWork, u32); 2] = [("tar", TestWork::Command, 1), ("git", TestWork::Command, 1)];
    for (case, mut draw) in cases(40) {
        let places = draw.one_of(&[&["data", "memory"][..], &["data", "nfs", "memory"]]);
        let rounds = draw.one_of(&[1, 3, 8, 12]);
        let mut study = drawn(&mut draw, Question::Time, places, &TESTS, rounds);
        study.targets.last_mut().unwrap().reference = true;
        let found = Headline::of(&study);
        let text = fsdyno_present::tables::text(&study, 400);
        let told = || format!("case {case}, {rounds} rounds: {text}");
        let place = |name: &str| places.iter().position(|known| *known == name).unwrap_or_else(|| panic!("{}", told()));
        let wall = |target: usize, pattern: &str| {
            over(&study, target, pattern, |row| row.phase.as_ref().unwrap().elapsed_ns as f64)
        };
        for time in &found.times {
            let Some(middle) = wall(place(&time.target), &time.name) else {
                let (takes, on) = (format!("{} takes ", time.name), format!(" on {}.", time.target));
                let quoted = text.lines().any(|line| line.contains(&takes) && line.contains(&on));
                assert!(!quoted && time.storage_percent.is_none(), "no run of {} counts: {}", time.name, told());
                continue;
            };
            assert!((time.wall_s.unwrap().median * 1e9 / middle - 1.0).abs() < 1e-3, "{middle}: {}", told());
            let walls = counting(&study, place(&time.target), &time.name);
            let requests = |row: &&Row| row.tree.as_ref().unwrap().requests().unwrap() as f64;
            assert_eq!(time.requests, median(&walls.iter().map(requests).collect::<Vec<_>>()), "{}", told());
            assert_eq!(time.runs, walls.len(), "{}", told());
        }
        if let Some((_, rest)) = text.split_once(" takes ").filter(|_| found.standings.is_empty()) {
            let longest = ["tar", "git"].into_iter().filter_map(|name| wall(0, name)).fold(0.0, f64::max);
            assert!(printed(time_after(&format!(" {rest}"), " ").unwrap(), longest), "{longest}: {}", told());
            let asked = ["tar", "git"].into_iter().filter(|name| wall(0, name).is_some()).count();
            assert_eq!(rest.contains("It is the longest of 2 commands"), asked > 1, "{}", told());
        }
        if let Some((before, rest)) = text.split_once(" times as many requests on ") {
            let (times, mut words) = (*numbers(before).last().unwrap(), rest.split_whitespace());
            let (most, least) = (words.next().unwrap(), words.nth(2).unwrap().trim_end_matches([',', '.']));
            let name = before.split_whitespace().rev().nth(2).unwrap();
            let of = |place: &str| {
                let time = found.times.iter().find(|time| time.target == place && time.name == name);
                time.unwrap_or_else(|| panic!("{name} {place} {}", told())).requests.unwrap()
            };
            assert!(printed(times, of(most) / of(least)), "{}", told());
        }
        for time in &found.times {
            let Some(share) = time.storage_percent else { continue };
            let (here, memory) = (place(&time.target), places.len() - 1);
            assert!(wall(memory, &time.name).is_some(), "memory has no run that counts: {}", told());
            if let Some(interval) = share.interval {
                assert!(interval.low <= share.about && share.about <= interval.high, "{share:?} {}", told());
            } else if in_common_times(&study, [here, memory], &time.name) == 0 {
                let by_medians = (1.0 - wall(memory, &time.name).unwrap() / wall(here, &time.name).unwrap()).max(0.0);
                assert!((share.about - by_medians * 100.0).abs() < 1.0, "{share:?} {}", told());
            }
        }
        if text.contains("compare CPUs instead") {
            let mut shares = found.times.iter().filter_map(|time| time.storage_percent?.interval);
            assert!(shares.any(|share| share.high < 20.0), "{}", told());
        }
    }
}

fn in_common_times(study: &Study, [one, other]: [usize; 2], pattern: &str) -> usize {
    let (one, other) = (counting(study, one, pattern), counting(study, other, pattern));
    one.iter().filter(|row| other.iter().any(|of| of.round == row.round)).count()
}

/// Where the mean of a test is at least three times its median, or at most a third, the answer of each question shows
/// both.
#[test]
fn means_far_from_their_medians_stand_beside_them() {
    const READS: [(&str, TestWork, u32); 5] = [
        ("rand-read", TestWork::Read, 4),
        ("seq-read", TestWork::Read, 4),
        ("seq-read-64k", TestWork::Read, 4),
        ("rand-mixed", TestWork::Read, 4),
        ("read-latency", TestWork::Read, 1),
    ];
    const DEPTHS: [(&str, TestWork, u32); 3] = [
        ("randread-4k-qd1", TestWork::Read, 1),
        ("randread-4k-qd4", TestWork::Read, 4),
        ("randread-4k-qd16", TestWork::Read, 16),
    ];
    const NODES: [(&str, TestWork, u32); 2] =
        [("randread-4k-n1", TestWork::Read, 4), ("randread-4k-n2", TestWork::Read, 4)];
    const PHASES: [(&str, TestWork, u32); 3] =
        [("create", TestWork::Phase, 1), ("stat-hot", TestWork::Phase, 1), ("unlink", TestWork::Phase, 1)];
    let (mut told, mut silent) = (0, 0);
    for (case, mut draw) in cases(25) {
        for (question, tests) in [
            (Question::Measure, &READS[..]),
            (Question::Check, &READS),
            (Question::Compare, &READS),
            (Question::Sweep, &DEPTHS),
            (Question::Scale, &NODES),
            (Question::SmallFiles, &PHASES),
        ] {
            let places: &[&str] = if question == Question::Compare { &["data", "nfs"] } else { &["data"] };
            let study = drawn(&mut draw, question, places, tests, 2);
            let far = |test: &&fsdyno_present::TestFigures| {
                let found = test.latency_us.and_then(|found| Some((found.p50?, found.mean?)));
                let is_valid = test.trust < Trust::Invalid && test.error.is_none();
                // The headline of measure has it already.
                let is_named = question == Question::Measure && test.name == "read-latency";
                is_valid
                    && !is_named
                    && found.is_some_and(|(median, mean)| mean >= 3.0 * median || median >= 3.0 * mean)
            };
            let headline = Headline::of(&study);
            let far: Vec<_> = headline.tests.iter().filter(far).collect();
            for page in
                [fsdyno_present::tables::text(&study, 4000), fsdyno_present::tables::markdown(&study).replace("**", "")]
            {
                let line = page.lines().find(|line| line.contains("median and mean are far apart: ")).unwrap_or("");
                assert_eq!(line.is_empty(), far.is_empty(), "case {case}, {question:?}: {page}");
                for test in far.iter().take(3) {
                    let found = test.latency_us.unwrap();
                    let (median, mean) = (latency(found.p50.unwrap() * 1e3), latency(found.mean.unwrap() * 1e3));
                    let both = format!("(median {median}, mean {mean})");
                    // A numbered test is called as its row is, a phase by its title.
                    let name = match test.name.rsplit_once("-qd").or(test.name.rsplit_once("-n")) {
                        Some((_, depth)) if question == Question::Sweep => format!("depth {depth}"),
                        Some((_, nodes)) if question == Question::Scale => format!("{nodes} node"),
                        _ => fsdyno_results::test_name::title_of_phase(&test.name).to_owned(),
                    };
                    assert!(line.contains(&name) && line.contains(&both), "case {case}, {question:?}: {both}: {line}");
                }
                let more = number_after(line, ") and ").unwrap_or(0.0) as usize;
                assert_eq!(more, far.len().saturating_sub(3), "case {case}, {question:?}: {line}");
            }
            *(if far.is_empty() { &mut silent } else { &mut told }) += 1;
        }
    }
    assert!(told > 5 && silent > 5, "{told} and {silent}");
}

#[test]
fn what_diff_and_history_say_holds() {
    const TESTS: [(&str, TestWork, u32); 3] =
        [("rand-read", TestWork::Read, 4), ("write-latency", TestWork::Write, 1), ("seq-read", TestWork::Read, 4)];
    for (case, mut draw) in cases(25) {
        let rounds = draw.one_of(&[1, 3, 4, 6]);
        let [base, mut new] = [(); 2].map(|()| drawn(&mut draw, Question::Measure, &["data"], &TESTS, rounds));
        new.id = "20261122-120228-measure-3f2b".into();
        let found = fsdyno_results::changes(&base, &new, &[]);
        let next = JudgementCommand::KeptRuns("fsdyno history".into());
        let shown = Changes { found: &found, base: "a".into(), new: "b".into(), obstacles: &[], next, wide: true };
        let text = shown.text(400);
        let told = || format!("case {case}, {rounds} rounds: {text}\n{found:?}");
        let answer = text.lines().next().unwrap();
        let count = |of: Significance| found.iter().filter(|change| change.shown == of).count();
        let judged = found.len() - count(Significance::Unknown);
        if let Some((worse, rest)) = answer.split_once(" worse and ") {
            let ([worse], [better, of]) = (&numbers(worse)[..], &numbers(rest)[..]) else { panic!("{}", told()) };
            let all = [*worse as usize, *better as usize, *of as usize];
            assert_eq!(all, [count(Significance::Worse), count(Significance::Better), judged], "{}", told());
        } else if answer.starts_with("Nothing changed beyond the noise") {
            assert!(count(Significance::Worse) + count(Significance::Better) == 0 && judged > 0, "{}", told());
            let is_judged = |change: &&fsdyno_results::Change| {
                change.shown == Significance::NotShown && change.trust < Trust::Invalid
            };
            let speeds = || found.iter().filter(is_judged).filter(|change| change.measure.word() != "cpu");
            let most = speeds().map(|change| change.ratio.ln().abs()).fold(0.0, f64::max);
            let largest = speeds().find(|change| (change.ratio.ln().abs() - most).abs() < 1e-12);
            let named = largest.is_none_or(|change| answer.contains(&format!(" is {} ", change.pattern)));
            assert!(named, "another one is the largest: {}", told());
        } else if answer.contains("one run does not show") {
            assert!(found.iter().all(|change| change.rounds == (1, 1)), "{}", told());
        } else if answer.contains("each side needs four rounds") {
            assert!(found.iter().all(|change| change.rounds.0.min(change.rounds.1) < 4), "{}", told());
        } else {
            assert!(answer.contains("all are invalid"), "{}", told());
            assert!(
                found
                    .iter()
                    .filter(|change| change.rounds.0.min(change.rounds.1) > 3)
                    .all(|change| change.trust == Trust::Invalid),
                "{}",
                told()
            );
        }
        for change in &found {
            let is_confirmed = matches!(change.shown, Significance::Better | Significance::Worse);
            if is_confirmed {
                assert!(change.trust < Trust::Invalid, "an invalid one decides: {}", told());
                assert!(change.interval.is_some_and(|interval| !interval.contains(1.0)), "{}", told());
                let better = (change.ratio > 1.0) == change.measure.more_is_better();
                assert_eq!(change.shown == Significance::Better, better, "{}", told());
            }
            if change.measure.word() == "iops" && change.trust < Trust::Invalid {
                let by_hand = |study: &Study| over(study, 0, &change.pattern, |row| rates(row).0).unwrap();
                assert!(printed(change.base, by_hand(&base)) && printed(change.new, by_hand(&new)), "{}", told());
            }
        }
        let course = history(&[Digest::of(&base), Digest::of(&new)], 400);
        for study in [&base, &new] {
            let Some(line) = course.lines().find(|text| text.contains(&study.id)) else { continue };
            let shown = numbers(line.split_once(&study.id).unwrap().1);
            for pattern in ["rand-read", "write-latency"] {
                // The tests of a difference are those of the first run.
                let is_there = base.rows.iter().any(|row| row.pattern == pattern);
                let Some(iops) = over(study, 0, pattern, |row| rates(row).0).filter(|_| is_there) else { continue };
                assert!(shown.iter().any(|of| printed(*of, iops)), "{pattern} {iops}: {}\n{course}", told());
            }
        }
    }
}
