//! Draws the conclusions of a load curve: where the response time leaves its floor, and from which load on the queue
//! grows.

use fsdyno_results::{LatencyFigures, Study, TestRounds, Trust};
use fsdyno_stats::Served;
use fsdyno_text::quantity::{count_per_s, latency, number};

use crate::requests::Requests;

/// A latency counts as above the floor from this multiple of it; the sentences say "twice".
const ABOVE_FLOOR: f64 = 2.0;

/// A rate above this multiple of the capacity is not chance.
const ABOVE_CAPACITY: f64 = 1.05;

/// A load that was offered, and whether it was served.
struct Load {
    percent: u32,
    offered_per_s: f64,
    achieved_per_s: f64,
    elapsed_s: f64,
    response: LatencyFigures,
    /// Whether its own run kept up.
    kept_up: bool,
    /// Whether longer runs would.
    served: Served,
}

impl Load {
    fn of(load: &fsdyno_results::Load<'_>) -> Option<Load> {
        let fsdyno_results::Load { percent, row, offered_per_s, achieved_per_s, elapsed_s, served, .. } = *load;
        let (response, kept_up) = (row.response_times()?, load.kept_up());
        Some(Load { percent, offered_per_s, achieved_per_s, elapsed_s, response, kept_up, served })
    }
}

/// The sentences that the rows allow. Invalid rows are not used, and are named.
pub(super) fn of(study: &Study, requests: &Requests) -> Vec<String> {
    let closed = study.rows.iter().filter_map(|row| {
        let (rounds, depth) = (TestRounds::of_rows([row]), row.numbered("qd")?.1);
        let rate = rounds.rates().1;
        Some((depth, rounds.value(rate).filter(|_| rounds.counts(rate))?))
    });
    let best = closed.max_by(|one, other| one.1.total_cmp(&other.1)).filter(|(_, iops)| *iops > 0.0);
    let Some((depth, capacity)) = best else {
        let title = requests.title();
        return vec![format!("{title}: the closed loop has no valid number, so that the loads have no reference.")];
    };
    let (valid, invalid): (Vec<_>, Vec<_>) =
        study.loads().into_iter().partition(|load| load.row.trust() < Trust::Invalid);
    let loads: Vec<Load> = valid.iter().filter_map(Load::of).collect();
    let mut sentences = vec![format!(
        "{}: {} A closed loop reached {} at {}: loads are given in % of this capacity.",
        requests.title(),
        served_rate(&loads),
        count_per_s(capacity),
        requests.at_once(depth),
    )];
    sentences.extend(floor(&loads));
    sentences.extend(saturation(&loads));
    sentences.extend(more_than_capacity(&loads, capacity));
    if !invalid.is_empty() {
        let percents = percents(invalid.iter().map(|load| load.percent));
        sentences.push(format!("The figures of {percents} load are invalid, and no part of these sentences."));
    }
    sentences
}

/// Loads in words: `75 %`, `75 and 90 %`.
fn percents(loads: impl Iterator<Item = u32>) -> String {
    let all: Vec<String> = loads.map(|percent| percent.to_string()).collect();
    match all.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last} %", others.join(", ")),
        Some((only, _)) => format!("{only} %"),
        None => String::new(),
    }
}

/// The largest value that `pick` finds in these loads.
fn most(loads: &[Load], pick: fn(&LatencyFigures) -> Option<u64>) -> Option<u64> {
    loads.iter().filter_map(|load| pick(&load.response)).max()
}

/// The rate that the storage keeps up with, and its response time: `keeps 9,000 IOPS with p99 within 2 ms.` No lighter
/// load may have fallen behind or been slower.
fn served_rate(loads: &[Load]) -> String {
    if loads.is_empty() {
        return "which rate it keeps cannot be told: no load was measured.".to_string();
    }
    let behind = loads.iter().position(|load| !load.kept_up).unwrap_or(loads.len());
    let Some(index) = loads[..behind].iter().rposition(|load| load.served == Served::Yes) else {
        return match loads.get(behind).filter(|_| loads[behind..].iter().any(|load| load.served == Served::Yes)) {
            Some(load) => format!(
                "which rate it keeps cannot be told: it fell behind at {} % load, and kept up at a heavier one.",
                load.percent
            ),
            None => without_a_served_load(loads),
        };
    };
    let p99 = |upto: usize| loads[upto].response.p99_ns.and(most(&loads[..=upto], |response| response.p99_ns));
    let within = |upto: usize| match p99(upto) {
        Some(p99_ns) => format!("with p99 within {}", latency(p99_ns as f64)),
        None => {
            let median = most(&loads[..=upto], |response| Some(response.p50_ns)).unwrap_or_default();
            format!("with a median within {}, too few requests for p99", latency(median as f64))
        }
    };
    // Well below that rate p99 may be much shorter.
    let tail = |upto: usize| p99(upto).map_or(0.0, |ns| ns as f64);
    let is_sooner = |upto: &usize| {
        loads[*upto].served == Served::Yes && tail(*upto) > 0.0 && tail(*upto) * ABOVE_FLOOR < tail(index)
    };
    let sooner = (0..index)
        .rev()
        .find(is_sooner)
        .map_or(String::new(), |upto| format!("; {} {}", number(loads[upto].achieved_per_s), within(upto)));
    format!("keeps {} {}{sooner}.", count_per_s(loads[index].achieved_per_s), within(index))
}

/// Says what was seen where no load is known to be served: that none kept up, or which did in a test too short to tell more.
fn without_a_served_load(loads: &[Load]) -> String {
    let mut kept_up = loads.iter().filter(|load| load.kept_up).map(|load| load.percent).peekable();
    match &loads[0] {
        _ if kept_up.peek().is_some() => format!(
            "which rate it keeps cannot be told: it kept up at {} load, but the tests are too short or vary too much.",
            percents(kept_up)
        ),
        lightest => format!(
            "kept up at no valid load, not even at {} %: {} of the {} offered were served.",
            lightest.percent,
            number(lightest.achieved_per_s),
            count_per_s(lightest.offered_per_s)
        ),
    }
}

/// Says at which load the response time leaves its floor.
fn floor(loads: &[Load]) -> Option<String> {
    // Where no load was served, the response times are those of the queue.
    if loads.len() < 2 || loads.iter().all(|load| load.served != Served::Yes) {
        return None;
    }
    // A load with too few requests for a percentile is skipped; the sentence is still made from the others.
    let part = |name: &str, pick: fn(&LatencyFigures) -> Option<u64>| {
        let known: Vec<(u32, f64)> =
            loads.iter().filter_map(|load| Some((load.percent, pick(&load.response)? as f64))).collect();
        let (lowest_at, lowest) = known.iter().copied().min_by(|one, other| one.1.total_cmp(&other.1))?;
        let is_away = |(_, ns): &(u32, f64)| *ns > ABOVE_FLOOR * lowest;
        let away: Vec<(u32, f64)> = known.iter().copied().filter(is_away).collect();
        let Some((first, at_first)) = away.first() else {
            let last = known.last()?.0;
            return Some(format!("{name} stays within twice its {} up to {last} % load", latency(lowest)));
        };
        let beyond = if known.iter().rev().take(away.len()).all(is_away) {
            format!("from {first} % on ({})", latency(*at_first))
        } else {
            let longest = away.iter().map(|(_, ns)| *ns).fold(0.0, f64::max);
            format!("at {} (up to {})", percents(away.iter().map(|(percent, _)| *percent)), latency(longest))
        };
        Some(format!("{name} is {} at {lowest_at} % load, and more than twice that {beyond}", latency(lowest)))
    };
    let p50 = part("the median", |response| Some(response.p50_ns));
    let p99 = part("p99", |response| response.p99_ns);
    let parts: Vec<String> = [p50, p99].into_iter().flatten().collect();
    Some(format!("Response time, from the intended start of a request: {}.", parts.join("; ")))
}

/// Says from which load on the storage falls behind.
fn saturation(loads: &[Load]) -> Option<String> {
    let last = loads.last()?;
    // A storage that serves a heavier load was only held up for a while at this one.
    let served_later =
        |index: usize| loads[index + 1..].iter().any(|load| load.achieved_per_s > loads[index].offered_per_s);
    let late: Vec<usize> = (0..loads.len()).filter(|index| loads[*index].served == Served::No).collect();
    let held_up: Vec<u32> =
        late.iter().filter(|index| served_later(**index)).map(|index| loads[*index].percent).collect();
    let mut text = match late.iter().find(|index| !served_later(**index)) {
        None => match loads.iter().rfind(|load| load.served == Served::Yes) {
            Some(load) => format!(
                "{}{} % load was served: {} of the {} offered.",
                if load.percent == last.percent && loads.iter().all(|load| load.kept_up) { "Even " } else { "" },
                load.percent,
                number(load.achieved_per_s),
                count_per_s(load.offered_per_s)
            ),
            // The first sentence already says which loads kept up.
            None => String::new(),
        },
        Some(index) => {
            let behind = &loads[*index];
            let all_heavier = loads[*index..].iter().all(|load| load.served == Served::No);
            format!(
                "At {} % load the storage falls behind: {} of the {} offered were served. {} the queue grows: response \
                 times show the length of the test ({} s), not the speed of the storage.",
                behind.percent,
                number(behind.achieved_per_s),
                count_per_s(behind.offered_per_s),
                if all_heavier { "From there on" } else { "There" },
                number(behind.elapsed_s)
            )
        }
    };
    if !held_up.is_empty() {
        text.push_str(&format!(
            " At {} it fell behind only for a while, since it served more at a heavier load: its rate varies.",
            percents(held_up.into_iter())
        ));
    }
    let open: Vec<&Load> = loads.iter().filter(|load| load.served == Served::CannotTell).collect();
    if !open.is_empty() {
        text.push_str(&format!(
            " Not clear whether it serves {} in longer tests: too few requests, or a rate that varies too much. Measure \
             longer, with --runtime.",
            unclear(&open, loads.len())
        ));
    }
    Some(text.trim_start().to_string())
}

/// Says that it is not clear whether these loads were served; a single load with its figures, several without (they are
/// in the table).
fn unclear(open: &[&Load], of_loads: usize) -> String {
    match open {
        [load] => format!(
            "{} % ({} of the {} offered)",
            load.percent,
            number(load.achieved_per_s),
            count_per_s(load.offered_per_s)
        ),
        all if all.len() == of_loads => format!("any of the {of_loads} loads"),
        several => format!("{} load", percents(several.iter().map(|load| load.percent))),
    }
}

/// Says that an open loop served more than the capacity that the closed loop found.
fn more_than_capacity(loads: &[Load], capacity: f64) -> Option<String> {
    let best = loads.iter().max_by(|one, other| one.achieved_per_s.total_cmp(&other.achieved_per_s))?;
    (best.achieved_per_s > capacity * ABOVE_CAPACITY).then(|| {
        format!(
            "The open loop served more than this capacity, {} at {} % load: the real capacity is higher, and the \
             loads are smaller shares of it.",
            count_per_s(best.achieved_per_s),
            best.percent
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A load of this percentage of 40,000 IOPS; it counts as served from 98 % on.
    fn load(percent: u32, achieved_per_s: f64, p50_us: u64, p99_us: u64) -> Load {
        let served = if achieved_per_s < f64::from(percent) * 392.0 { Served::No } else { Served::Yes };
        Load {
            percent,
            offered_per_s: f64::from(percent) * 400.0,
            achieved_per_s,
            elapsed_s: 5.0,
            kept_up: served == Served::Yes,
            served,
            response: LatencyFigures {
                count: 100_000,
                p50_ns: p50_us * 1000,
                p99_ns: Some(p99_us * 1000),
                ..LatencyFigures::default()
            },
        }
    }

    #[test]
    fn where_it_leaves_the_floor_and_where_the_queue_grows() {
        let loads = [
            load(10, 4_010.0, 120, 300),
            load(50, 19_990.0, 130, 450),
            load(75, 30_010.0, 180, 900),
            load(90, 35_900.0, 310, 2_000),
            load(100, 38_200.0, 90_000, 200_000),
            load(120, 38_500.0, 500_000, 900_000),
        ];
        assert_eq!(
            floor(&loads).unwrap(),
            "Response time, from the intended start of a request: the median is 120 µs at 10 % load, and more than \
             twice that from 90 % on (310 µs); p99 is 300 µs at 10 % load, and more than twice that from 75 % on (900 µs)."
        );
        assert_eq!(served_rate(&loads), "keeps 35,900 IOPS with p99 within 2.00 ms; 30,010 with p99 within 900 µs.");
        assert_eq!(
            saturation(&loads).unwrap(),
            "At 100 % load the storage falls behind: 38,200 of the 40,000 IOPS offered were served. From there on the \
             queue grows: response times show the length of the test (5.00 s), not the speed of the storage."
        );
    }

    #[test]
    fn an_idle_machine_that_is_slower_is_not_the_floor() {
        let loads = [load(10, 4_000.0, 300, 900), load(50, 20_000.0, 100, 400), load(90, 36_000.0, 150, 700)];
        let text = floor(&loads).unwrap();
        assert!(
            text.contains("the median is 100 µs at 50 % load, and more than twice that at 10 % (up to 300 µs)"),
            "{text}"
        );
        assert_eq!(saturation(&loads).unwrap(), "Even 90 % load was served: 36,000 of the 36,000 IOPS offered.");
    }

    #[test]
    fn a_stall_at_a_lighter_load_is_no_saturation() {
        let loads = [load(75, 28_000.0, 200, 900), load(100, 39_500.0, 300, 900), load(120, 45_000.0, 300, 900)];
        let text = saturation(&loads).unwrap();
        assert!(text.starts_with("At 120 % load the storage falls behind: 45,000 of the 48,000 IOPS"), "{text}");
        assert!(text.ends_with(
            "At 75 % it fell behind only for a while, since it served more at a heavier load: its rate varies."
        ));
        assert!(
            more_than_capacity(&loads, 40_000.0)
                .unwrap()
                .contains("45,000 IOPS at 120 % load: the real capacity is higher")
        );
        assert_eq!(more_than_capacity(&loads, 44_000.0), None);
    }

    #[test]
    fn what_cannot_be_told_is_said() {
        let mut loads = [load(50, 20_000.0, 1, 1), load(100, 39_500.0, 1, 1), load(120, 40_000.0, 1, 1)];
        assert_eq!(
            served_rate(&loads[2..]),
            "kept up at no valid load, not even at 120 %: 40,000 of the 48,000 IOPS offered were served."
        );
        loads[0].served = Served::CannotTell;
        assert_eq!(
            served_rate(&loads[..1]),
            "which rate it keeps cannot be told: it kept up at 50 % load, but the tests are too short or vary too much."
        );
        loads[0].served = Served::Yes;
        assert_eq!(served_rate(&[]), "which rate it keeps cannot be told: no load was measured.");
        loads[0].response.p99_ns = None;
        assert_eq!(
            served_rate(&loads[..1]),
            "keeps 20,000 IOPS with a median within 1.00 µs, too few requests for p99."
        );
        loads[1].served = Served::CannotTell;
        let text = saturation(&loads).unwrap();
        assert!(text.starts_with("At 120 % load the storage falls behind"), "{text}");
        assert!(text.contains(" Not clear whether it serves 100 % (39,500 of the 40,000 IOPS offered)"), "{text}");
        loads[2].served = Served::CannotTell;
        let text = saturation(&loads).unwrap();
        assert!(
            text.starts_with("50 % load was served: 20,000 of the 20,000 IOPS offered. Not clear whether it"),
            "{text}"
        );
        assert!(text.contains(" whether it serves 100 and 120 % load in longer tests: too few requests"), "{text}");
        loads[0].served = Served::CannotTell;
        assert_eq!(
            saturation(&loads).unwrap(),
            "Not clear whether it serves any of the 3 loads in longer tests: too few requests, or a rate that varies too \
             much. Measure longer, with --runtime."
        );
    }

    #[test]
    fn nothing_is_said_about_a_single_load() {
        assert_eq!(floor(&[load(10, 4_000.0, 1, 1)]), None);
        assert_eq!(floor(&[]), None);
        // Where the queue only grows, the response times depend on the test's length.
        assert_eq!(floor(&[load(10, 3.0, 1_200_000, 1_300_000), load(50, 9.0, 1_000_000, 1_100_000)]), None);
        assert_eq!(saturation(&[]), None);
    }

    fn number_before(text: &str, after: &str) -> Option<f64> {
        text.split(after).nth(1)?.split(' ').next()?.replace(',', "").parse().ok()
    }

    /// Parses a time: `16.6 ms` to ns.
    fn time_ns(text: &str) -> f64 {
        let (value, unit) = text.split_once(' ').unwrap();
        let unit = unit.split(|letter: char| !letter.is_alphabetic()).next().unwrap();
        let size =
            [("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)].into_iter().find(|(name, _)| *name == unit).unwrap();
        value.replace(',', "").parse::<f64>().unwrap() * size.1
    }

    /// Checks for random curves that each sentence agrees with its loads by arithmetic. FSDYNO_CASES=5000 draws more.
    #[test]
    fn no_sentence_denies_its_table() {
        for (_, mut draw) in testkit::draw::cases(400) {
            let mut loads: Vec<Load> = Vec::new();
            for percent in [10, 25, 50, 75, 90, 100, 120] {
                if draw.below(6) == 0 {
                    continue;
                }
                let offered = f64::from(percent) * 400.0;
                let share = [1.0, 1.002, 0.985, 0.97, 0.8, 0.4][draw.below(6) as usize];
                let (p50_us, factor) = (50 + draw.below(400), 1 + draw.below(30));
                let mut one = load(percent, offered * share, p50_us, p50_us * factor);
                if draw.below(5) == 0 {
                    one.served = Served::CannotTell;
                }
                if draw.below(6) == 0 {
                    one.response.p99_ns = None;
                }
                loads.push(one);
            }
            holds(&loads);
        }
    }

    /// Each number of a sentence is a load's percent, what was offered or achieved of it, or one of its latencies; the others
    /// are their count and the length of a test.
    fn explained(loads: &[Load], text: &str) {
        let of = |load: &Load| [f64::from(load.percent), load.offered_per_s, load.achieved_per_s, load.elapsed_s];
        let figures: Vec<f64> = loads.iter().flat_map(of).chain([loads.len() as f64]).collect();
        let times = loads.iter().flat_map(|load| [Some(load.response.p50_ns), load.response.p99_ns]);
        let times_ns: Vec<f64> = times.flatten().map(|ns| ns as f64).collect();
        let strange = testkit::draw::unexplained(text, &["p99"], &figures, &times_ns);
        assert!(strange.is_empty(), "{strange:?} in {text}");
    }

    /// The text, with the loads that it is about.
    fn with_loads(text: &str, loads: &[Load]) -> String {
        let figures: Vec<_> = loads
            .iter()
            .map(|load| (load.percent, load.achieved_per_s, load.response.p50_ns, load.response.p99_ns, load.served))
            .collect();
        format!("{text}\n{figures:?}")
    }

    /// The loads at which a latency is more than twice its lowest are those that the sentence names.
    fn floor_holds(loads: &[Load]) {
        let told = |text: &str| with_loads(text, loads);
        let Some(text) = floor(loads) else { return };
        for (part, pick) in [("the median ", 0), ("p99 ", 1)] {
            let Some(rest) = text.split(part).nth(1).map(|rest| rest.split(';').next().unwrap()) else { continue };
            let of = |load: &Load| if pick == 0 { Some(load.response.p50_ns) } else { load.response.p99_ns };
            let known: Vec<(u32, f64)> =
                loads.iter().filter_map(|load| Some((load.percent, of(load)? as f64))).collect();
            let lowest = known.iter().map(|(_, ns)| *ns).fold(f64::INFINITY, f64::min);
            let away: Vec<u32> =
                known.iter().filter(|(_, ns)| *ns > 2.0 * lowest).map(|(percent, _)| *percent).collect();
            if rest.starts_with("stays within twice its") {
                assert!(away.is_empty(), "{}", told(&text));
            } else if let Some(from) = number_before(rest, "twice that from ") {
                let on: Vec<u32> =
                    known.iter().map(|known| known.0).filter(|percent| f64::from(*percent) >= from).collect();
                assert_eq!(away, on, "{}", told(&text));
            } else {
                assert!(rest.contains(&format!("at {} (", percents(away.into_iter()))), "{}", told(&text));
            }
        }
    }

    fn holds(loads: &[Load]) {
        let told = |text: &str| with_loads(text, loads);
        let above = more_than_capacity(loads, 40_000.0);
        let all = [Some(served_rate(loads)), floor(loads), saturation(loads), above];
        all.into_iter().flatten().for_each(|text| explained(loads, &text));
        let text = served_rate(loads);
        if let Some(rate) = number_before(&text, "keeps ") {
            let at = loads
                .iter()
                .position(|load| load.served == Served::Yes && (load.achieved_per_s / rate - 1.0).abs() < 0.005);
            let upto = &loads[..=at.unwrap_or_else(|| panic!("{}", told(&text)))];
            assert!(upto.iter().all(|load| load.kept_up), "{}", told(&text));
            let kept = upto.last().unwrap();
            assert!(kept.achieved_per_s >= 0.98 * kept.offered_per_s, "{}", told(&text));
            if let Some(within) = text.split("p99 within ").nth(1) {
                let within = time_ns(within) * 1.005;
                assert!(
                    upto.iter().all(|load| load.response.p99_ns.is_none_or(|ns| ns as f64 <= within)),
                    "{}",
                    told(&text)
                );
            }
        }
        // What is said of the rows is what their column says.
        if text.starts_with("kept up at no valid load") {
            assert!(!loads.is_empty() && loads.iter().all(|load| !load.kept_up), "{}", told(&text));
        }
        if text.contains(" load, but the tests ") {
            let kept_up = percents(loads.iter().filter(|load| load.kept_up).map(|load| load.percent));
            assert!(text.contains(&format!(" it kept up at {kept_up} load, but ")), "{}", told(&text));
        }
        floor_holds(loads);
        let Some(text) = saturation(loads) else { return };
        if let Some(at) = number_before(&text, "Even ") {
            let last = loads.last().unwrap();
            assert!(
                f64::from(last.percent) == at && last.achieved_per_s >= 0.98 * last.offered_per_s,
                "{}",
                told(&text)
            );
        }
        if text.contains("From there on the queue grows") {
            let at = number_before(&text, "At ").unwrap();
            let mut on = loads.iter().filter(|load| f64::from(load.percent) >= at);
            assert!(on.all(|load| load.achieved_per_s < 0.98 * load.offered_per_s), "{}", told(&text));
        }
    }

    /// The capacity is the rate and the depth of the fastest closed loop that counts, for any loops and loads.
    #[test]
    fn the_capacity_is_that_of_the_table() {
        use testkit::draw::{Test, TestWork, cases, number_after, printed};
        let requests = Requests::parse("randread", "4k").unwrap();
        let mut known = 0;
        for (case, mut draw) in cases(150) {
            let mut study = Study::of_run(fsdyno_results::RunRecord::new("test", 0));
            study.question = fsdyno_results::Question::Curve;
            study.rows.clear();
            let capacity = draw.one_of(&[40.0, 900.0, 12_000.0]);
            let drawn = |draw: &mut testkit::draw::Draw, pattern: &str, depth, per_s| {
                let one = Test { target: 0, pattern, does: TestWork::Read, depth, block_bytes: 4096, rounds: 1, per_s };
                draw.rounds(&one)
            };
            for depth in [1, 4, 16] {
                let per_s = capacity * draw.one_of(&[0.3, 0.9, 1.0]);
                study.rows.extend(drawn(&mut draw, &format!("randread-4k-qd{depth}"), depth, per_s));
            }
            for percent in [50, 100] {
                let offered = f64::from(percent) * capacity / 100.0;
                let per_s = offered * draw.one_of(&[1.0, 0.8]);
                let mut rows = drawn(&mut draw, &format!("randread-4k-load{percent}"), 64, per_s);
                for job in rows.iter_mut().filter_map(|row| row.run.as_mut()).flat_map(|run| &mut run.jobs) {
                    job.options.push(("rate_iops".into(), offered.to_string()));
                    job.directions.read.response = Some(job.directions.read.lat.clone());
                }
                study.rows.extend(rows);
            }
            let rate = |row: &fsdyno_results::Row| {
                let counts = row.trust() < Trust::Invalid && row.first_error().is_none();
                let ios = row.run.as_ref()?.jobs[0].directions.read.ios as f64;
                (counts && ios > 0.0).then_some(ios / 2.0)
            };
            let loops = study.rows.iter().filter_map(|row| Some((row.numbered("qd")?.1, rate(row)?)));
            let best = loops.fold((0, 0.0), |best, one| if one.1 > best.1 { one } else { best });
            let text = of(&study, &requests).join("\n");
            let said = || format!("case {case}: {best:?}: {text}");
            let Some(reached) = number_after(&text, "closed loop reached ") else {
                assert!(best.1 == 0.0 && text.contains("has no valid number"), "{}", said());
                continue;
            };
            assert!(printed(reached, best.1), "{}", said());
            let depth = number_after(&text, "at depth ").unwrap();
            let is_as_fast = |row: &&fsdyno_results::Row| rate(row).is_some_and(|rate| rate >= best.1);
            let of_best = study.rows.iter().filter(is_as_fast).filter_map(|row| Some(f64::from(row.numbered("qd")?.1)));
            assert!(of_best.into_iter().any(|of| of == depth), "{}", said());
            let loads: Vec<_> = study.loads();
            let figures = loads.iter().flat_map(|load| {
                [f64::from(load.percent), load.offered_per_s, rate(load.row).unwrap_or_default(), 2.0]
            });
            let figures: Vec<f64> = figures.chain([best.1, depth, loads.len() as f64]).collect();
            let times = loads.iter().filter_map(|load| load.row.response_times());
            let times: Vec<f64> =
                times.flat_map(|of| [Some(of.p50_ns), of.p99_ns]).flatten().map(|ns| ns as f64).collect();
            let strange = testkit::draw::unexplained(&text, &["4k", "p99"], &figures, &times);
            assert!(strange.is_empty(), "{strange:?}: {}", said());
            known += 1;
        }
        assert!(known > 30, "{known}");
    }
}
