//! How often `curve` judges a load rightly: requests come at random, at a share of the storage's capacity.

use fsdyno_stats::{ENOUGH_REQUESTS, Served, achieved_per_s, was_served};

use crate::noise::{Noise, Random};
use crate::{CASES, document, percent, shares_of};

/// Measured time of a load, s: the shortest that can be asked for, then the longest.
const RUNTIME_S: f64 = 1.0;
const EXTENDED_S: f64 = 30.0;

/// Largest number of requests in flight; then the number that the storage works on at the same time.
const OPEN_DEPTH: usize = 256;
const SERVERS: usize = 4;

const WINDOW_S: f64 = 0.1;

const CAPACITIES: [f64; 3] = [50.0, 500.0, 5000.0];

/// Number of cases if each has 5,000 requests.
const FEWER_CASES: u64 = 2000;

/// How the storage's speed varies from tenth to tenth of a second, and from run to run.
#[derive(Clone, Copy)]
struct Weather {
    words: &'static str,
    speed: Noise,
    deviation: f64,
    run: f64,
}

const fn weather(words: &'static str, speed: Noise) -> Weather {
    Weather { words, speed, deviation: 0.1, run: 0.0 }
}

const WEATHERS: [Weather; 7] = [
    weather("tenths of a second for themselves", Noise::Independent),
    weather("ρ = 0.5", Noise::Autocorrelated(0.5)),
    weather("ρ = 0.8", Noise::Autocorrelated(0.8)),
    weather("ρ = 0.95", Noise::Autocorrelated(0.95)),
    weather("bursts of about 0.3 s, a third slower", Noise::Bursts),
    weather("a drift of 1 % a second", Noise::Drift(0.001)),
    Weather { run: 0.05, ..weather("ρ = 0.5, and each run has its level, ±5 %", Noise::Autocorrelated(0.5)) },
];

/// The judgement of a load of `share` of the storage's `capacity` per second.
fn judged(weather: Weather, capacity: f64, share: f64, random: &mut Random) -> Served {
    let offered = capacity * share;
    let runtime_s = (ENOUGH_REQUESTS / offered).clamp(RUNTIME_S, EXTENDED_S);
    let speeds = speeds(weather, runtime_s, random);
    let mut free_s = [0.0; SERVERS];
    let (mut due_s, mut ends) = (0.0, Vec::<f64>::new());
    loop {
        due_s -= random.unit().ln() / offered;
        let place_s = ends.len().checked_sub(OPEN_DEPTH).map_or(0.0, |index| ends[index]);
        if due_s.max(place_s) >= runtime_s {
            break;
        }
        let server = (0..SERVERS).fold(0, |first, next| if free_s[next] < free_s[first] { next } else { first });
        let start_s = due_s.max(free_s[server]);
        let speed = speeds[((start_s / WINDOW_S) as usize).min(speeds.len() - 1)];
        let end_s = start_s - random.unit().ln() * SERVERS as f64 / capacity / speed;
        free_s[server] = end_s;
        ends.push(end_s);
    }
    let elapsed_s = ends.iter().copied().fold(runtime_s, f64::max);
    let mut windows = vec![0.0; (elapsed_s / WINDOW_S) as usize];
    for end_s in &ends {
        if let Some(window) = windows.get_mut((end_s / WINDOW_S) as usize) {
            *window += 1.0 / WINDOW_S;
        }
    }
    let achieved = achieved_per_s(ends.len() as u64, elapsed_s, &windows);
    achieved.map_or(Served::CannotTell, |achieved| was_served(offered, &achieved.interval))
}

/// The storage's speed in each window: 1 on average, multiplied by the level of the run.
fn speeds(weather: Weather, runtime_s: f64, random: &mut Random) -> Vec<f64> {
    let count = (runtime_s / WINDOW_S) as usize;
    let level = (weather.run * random.normal()).exp();
    let speeds: Vec<f64> =
        weather.speed.series(random, weather.deviation, count).iter().map(|speed| speed.exp()).collect();
    let mean = speeds.iter().sum::<f64>() / count as f64;
    speeds.iter().map(|speed| level * speed / mean).collect()
}

#[test]
fn too_much_is_not_called_served_and_what_is_served_not_too_much() {
    let mut rows = Vec::new();
    for (weather, capacity) in WEATHERS.into_iter().flat_map(|weather| CAPACITIES.map(|capacity| (weather, capacity))) {
        let of = |share: f64| {
            let cases = if capacity > 1000.0 { FEWER_CASES } else { CASES };
            shares_of(cases, |random| {
                let served = judged(weather, capacity, share, random);
                [served == Served::Yes, served == Served::No]
            })
        };
        let ([_, light], [kept_up, busy], [served, behind]) = (of(0.8), of(0.9), of(1.2));
        let what = format!("{}, {capacity} IOPS", weather.words);
        assert!(light <= 0.05 && busy <= 0.05, "{what}: {light} and {busy} are called too much");
        assert!(served <= 0.05, "{what}: {served} of loads of 120 % are called served");
        let cells = [light, busy, kept_up, served, behind].map(percent);
        let [light_cell, busy_cell, kept_up_cell, served_cell, behind_cell] = cells;
        let words = weather.words.to_string();
        rows.push([words, capacity.to_string(), light_cell, busy_cell, kept_up_cell, served_cell, behind_cell]);
    }
    document::compare(
        "judgements::loads",
        [
            "speed of the storage",
            "IOPS",
            "80 %: called not served",
            "90 %: called not served",
            "90 %: called served",
            "120 %: called served",
            "120 %: called not served",
        ],
        &rows,
    );
}
