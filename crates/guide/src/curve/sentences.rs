//! Conclusions from a load curve: where response time leaves its floor, and from which load on the queue grows.

use results::quantity::{count_per_s, latency, number};
use results::statistics::Served;
use results::{LatencyFigures, Study, Trust};

use crate::requests::Requests;

/// So many times the floor is away from it: the sentences say twice.
const AWAY: f64 = 2.0;

/// More than chance: so many times the capacity.
const MORE: f64 = 1.05;

/// A load that was offered, and what came of it.
struct Load {
    percent: u32,
    offered_per_s: f64,
    achieved_per_s: f64,
    elapsed_s: f64,
    response: LatencyFigures,
    served: Served,
}

impl Load {
    fn of(load: &results::Load<'_>) -> Option<Load> {
        let results::Load { percent, row, offered_per_s, achieved_per_s, elapsed_s, served, .. } = *load;
        Some(Load { percent, offered_per_s, achieved_per_s, elapsed_s, response: row.response_times()?, served })
    }
}

/// The sentences that the rows allow.
pub(super) fn of(study: &Study, requests: &Requests) -> Vec<String> {
    let valid = study.rows.iter().filter(|row| row.trust() < Trust::Invalid);
    let closed = valid.filter_map(|row| Some((row.numbered("qd")?.1, row.figures()?.iops())));
    let best = closed.max_by(|one, other| one.1.total_cmp(&other.1)).filter(|(_, iops)| *iops > 0.0);
    let loads: Vec<Load> = study.loads().iter().filter_map(Load::of).collect();
    let Some((depth, capacity)) = best else {
        let title = requests.title();
        return vec![format!("{title}: the closed loop has no valid number, so that the loads have no reference.")];
    };
    let mut sentences = vec![format!(
        "{}: {} A closed loop reached {} at depth {depth}: loads are given in % of this capacity.",
        requests.title(),
        kept(&loads),
        count_per_s(capacity),
    )];
    sentences.extend(floor(&loads));
    sentences.extend(saturation(&loads));
    sentences.extend(more_than_capacity(&loads, capacity));
    sentences
}

/// What it keeps up with, and within which time: `keeps 9,000 IOPS with p99 within 2 ms.`
fn kept(loads: &[Load]) -> String {
    if loads.is_empty() {
        return "which rate it keeps cannot be told: no load was measured.".to_string();
    }
    let Some(most) = loads.iter().rfind(|load| load.served == Served::Yes) else {
        return "which rate it keeps cannot be told: no load was clearly served.".to_string();
    };
    let within = |load: &Load| match load.response.p99_ns {
        Some(p99_ns) => format!("with p99 within {}", latency(p99_ns as f64)),
        None => format!("with a median of {}, too few requests for p99", latency(load.response.p50_ns as f64)),
    };
    // Well below that rate it may answer much sooner.
    let tail = |load: &Load| load.response.p99_ns.map_or(0.0, |ns| ns as f64);
    let sooner = |load: &&Load| {
        load.served == Served::Yes && load.percent < most.percent && tail(load) > 0.0 && tail(load) * AWAY < tail(most)
    };
    let sooner = loads
        .iter()
        .rfind(sooner)
        .map_or(String::new(), |load| format!("; {} {}", number(load.achieved_per_s), within(load)));
    format!("keeps {} {}{sooner}.", count_per_s(most.achieved_per_s), within(most))
}

/// Where the response time leaves its floor.
fn floor(loads: &[Load]) -> Option<String> {
    // Where none was served, response times are those of the queue.
    if loads.len() < 2 || loads.iter().all(|load| load.served != Served::Yes) {
        return None;
    }
    // Too few requests for a percentile are no reason to leave a sentence: that load says nothing about the tail.
    let part = |name: &str, pick: fn(&LatencyFigures) -> Option<u64>| {
        let loads: Vec<&Load> = loads.iter().filter(|load| pick(&load.response).is_some()).collect();
        let (first, last) = (*loads.first()?, *loads.last()?);
        let of = |load: &Load| pick(&load.response).map_or(0.0, |ns| ns as f64);
        let lowest = loads.iter().enumerate().min_by(|one, other| of(one.1).total_cmp(&of(other.1)));
        let (index, lowest) = lowest.unwrap_or((0, &first));
        Some(match loads[index..].iter().find(|load| of(load) > AWAY * of(lowest)) {
            Some(away) => format!(
                "{name} is {} at {} % load, and more than twice that from {} % on ({})",
                latency(of(lowest)),
                lowest.percent,
                away.percent,
                latency(of(away))
            ),
            None => {
                format!("{name} stays within twice its {} up to {} % load", latency(of(lowest)), last.percent)
            }
        })
    };
    let p50 = part("the median", |response| Some(response.p50_ns));
    let p99 = part("p99", |response| response.p99_ns);
    let parts: Vec<String> = [p50, p99].into_iter().flatten().collect();
    Some(format!("Response time, from the intended start of a request: {}.", parts.join("; ")))
}

/// From which load on the storage falls behind.
fn saturation(loads: &[Load]) -> Option<String> {
    let last = loads.last()?;
    // Who serves more at a heavier load was only held up for a while.
    let served_later =
        |index: usize| loads[index + 1..].iter().any(|load| load.achieved_per_s > loads[index].offered_per_s);
    let late: Vec<usize> = (0..loads.len()).filter(|index| loads[*index].served == Served::No).collect();
    let held_up: Vec<String> =
        late.iter().filter(|index| served_later(**index)).map(|index| format!("{} %", loads[*index].percent)).collect();
    let mut text = match late.iter().find(|index| !served_later(**index)).map(|index| &loads[*index]) {
        None => match loads.iter().rfind(|load| load.served == Served::Yes) {
            Some(load) => format!(
                "{}{} % load was served: {} of the {} offered.",
                if load.percent == last.percent { "Even " } else { "" },
                load.percent,
                number(load.achieved_per_s),
                count_per_s(load.offered_per_s)
            ),
            // The first sentence has said that none was clearly served.
            None => String::new(),
        },
        Some(behind) => format!(
            "At {} % load the storage falls behind: {} of the {} offered were served. From there on the queue grows: \
             response times show the length of the test ({} s), not the speed of the storage.",
            behind.percent,
            number(behind.achieved_per_s),
            count_per_s(behind.offered_per_s),
            number(behind.elapsed_s)
        ),
    };
    if !held_up.is_empty() {
        let loads = held_up.join(", ");
        text.push_str(&format!(
            " At {loads} it fell behind only for a while, since it served more at a heavier load: its rate varies."
        ));
    }
    let open: Vec<&Load> = loads.iter().filter(|load| load.served == Served::CannotTell).collect();
    if !open.is_empty() {
        text.push_str(&format!(
            " Not clear whether it serves {}: too few requests, or a rate that varies too much. Measure longer, with \
             --runtime.",
            unclear(&open, loads.len())
        ));
    }
    Some(text.trim_start().to_string())
}

/// A single load with its figures; of several the table has them.
fn unclear(open: &[&Load], of_loads: usize) -> String {
    match open {
        [load] => format!(
            "{} % ({} of the {} offered)",
            load.percent,
            number(load.achieved_per_s),
            count_per_s(load.offered_per_s)
        ),
        all if all.len() == of_loads => format!("any of the {of_loads} loads"),
        several => {
            let percents: Vec<String> = several.iter().map(|load| load.percent.to_string()).collect();
            let (last, others) = percents.split_last().expect("there are several");
            format!("{} and {last} % load", others.join(", "))
        }
    }
}

/// More than the capacity was served: the closed loop has not found it.
fn more_than_capacity(loads: &[Load], capacity: f64) -> Option<String> {
    let best = loads.iter().max_by(|one, other| one.achieved_per_s.total_cmp(&other.achieved_per_s))?;
    (best.achieved_per_s > capacity * MORE).then(|| {
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

    /// Of 40,000 IOPS, of which 98 % count as all.
    fn load(percent: u32, achieved_per_s: f64, p50_us: u64, p99_us: u64) -> Load {
        let served = if achieved_per_s < f64::from(percent) * 392.0 { Served::No } else { Served::Yes };
        Load {
            percent,
            offered_per_s: f64::from(percent) * 400.0,
            achieved_per_s,
            elapsed_s: 5.0,
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
        assert_eq!(kept(&loads), "keeps 35,900 IOPS with p99 within 2.00 ms; 30,010 with p99 within 900 µs.");
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
        assert!(text.contains("the median stays within twice its 100 µs up to 90 % load"), "{text}");
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
        assert_eq!(kept(&loads[2..]), "which rate it keeps cannot be told: no load was clearly served.");
        assert_eq!(kept(&[]), "which rate it keeps cannot be told: no load was measured.");
        loads[0].response.p99_ns = None;
        assert_eq!(kept(&loads[..1]), "keeps 20,000 IOPS with a median of 1.00 µs, too few requests for p99.");
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
        assert!(text.contains(" whether it serves 100 and 120 % load: too few requests, or a rate"), "{text}");
        loads[0].served = Served::CannotTell;
        assert_eq!(
            saturation(&loads).unwrap(),
            "Not clear whether it serves any of the 3 loads: too few requests, or a rate that varies too much. Measure \
             longer, with --runtime."
        );
    }

    #[test]
    fn nothing_is_said_about_a_single_load() {
        assert_eq!(floor(&[load(10, 4_000.0, 1, 1)]), None);
        assert_eq!(floor(&[]), None);
        // Of a queue that only grows the times are those of the test.
        assert_eq!(floor(&[load(10, 3.0, 1_200_000, 1_300_000), load(50, 9.0, 1_000_000, 1_100_000)]), None);
        assert_eq!(saturation(&[]), None);
    }
}
