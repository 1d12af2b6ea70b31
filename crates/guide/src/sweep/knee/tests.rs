use fsdyno_results::{
    DirectionRecord, Finding, Interval, JobRecord, JobSetup, Latency, LatencyFigures, PerDirection, RunRecord, Severity,
};

use super::*;

/// The points of a closed loop with `servers` servers of 100 µs each. Rounds differ by the share `scatter` in either
/// direction, with another rhythm at each depth.
fn points(servers: f64, scatter: f64, deepest: u32) -> Vec<Point> {
    let depths = (0..).map(|bit| 1u32 << bit).take_while(|depth| *depth <= deepest);
    depths
        .map(|depth| {
            let iops = f64::from(depth).min(servers) * 10_000.0;
            let mean_ns = f64::from(depth) / iops * 1e9;
            let side = |round: u32| {
                if (round >> (depth.ilog2() % 3)).is_multiple_of(2) { 1.0 + scatter } else { 1.0 - scatter }
            };
            let around = |value: f64, share: f64| Interval {
                low: value * (1.0 - share),
                high: value * (1.0 + share),
                confidence: 0.95,
            };
            let p50_ns = mean_ns as u64;
            let latency =
                LatencyFigures { mean_ns, p50_ns, p99_ns: Some((mean_ns * 2.0) as u64), ..LatencyFigures::default() };
            let found = SweepPoint {
                trust: fsdyno_results::Trust::Ok,
                in_flight: None,
                runs: (0..8).map(|round| (round, iops * side(round))).collect(),
                iops,
                interval: Some(around(iops, scatter)),
                bytes_per_s: iops * 4096.0,
                latency: Some(latency),
                p99_interval: Some(around(mean_ns * 2.0, 0.05)),
            };
            Point { depth, found, mean_ns, not_reached: false, of_objects: false }
        })
        .collect()
}

#[test]
fn the_depth_after_which_only_latency_grows_is_named() {
    assert_eq!(
        description(&points(8.0, 0.01, 64)),
        "use depth 8: it has the most IOPS (80,000), and more depth only adds latency. The knee is there: \
         80,000 IOPS at a mean latency of 100 µs. Beyond it more requests in flight gain no throughput, while at depth \
         64 the mean is 8.00 times as long, 800 µs, and p99 changes from 200 µs to 1.60 ms."
    );
    assert!(description(&points(1.0, 0.01, 64)).starts_with("use depth 1:"));
    let mut slightly = points(8.0, 0.01, 64);
    slightly[6].found.iops *= 1.05;
    let text = description(&slightly);
    assert!(
        text.starts_with("use depth 8: 95 % of the most IOPS (84,000) at 12 % of the latency of depth 64."),
        "{text}"
    );
}

#[test]
fn connections_take_the_place_of_depth_where_objects_are_asked_for() {
    let of_objects = |servers, scatter| {
        let mut points = points(servers, scatter, 64);
        points.iter_mut().for_each(|point| point.of_objects = true);
        description(&points)
    };
    let text = of_objects(8.0, 0.01);
    assert!(
        text.starts_with("use 8 connections: it has the most IOPS (80,000), and more connections only add"),
        "{text}"
    );
    assert!(text.contains("at 64 connections the mean is") && !text.contains("depth"), "{text}");
    assert!(of_objects(1.0, 0.01).starts_with("use 1 connection:"));
    let text = of_objects(8.0, 0.2);
    let begin =
        "the best number of connections cannot be told: anywhere from 8 connections to 64 connections or beyond,";
    assert!(text.starts_with(begin) && !text.contains("depth"), "{text}");
    assert!(of_objects(64.0, 0.01).ends_with("go on, with --connections 64..512."));
}

#[test]
fn a_sweep_that_still_rises_has_none() {
    let text = description(&points(64.0, 0.01, 64));
    assert!(
        text.starts_with("use depth 64 or more: throughput still grew by 100 % from depth 32, to 640,000 IOPS."),
        "{text}"
    );
    assert!(text.contains("--iodepth 64..512"), "{text}");
}

#[test]
fn runs_that_differ_hide_the_knee() {
    let text = description(&points(8.0, 0.2, 64));
    assert!(text.starts_with("the best depth cannot be told: anywhere from depth 8 to depth 64 or beyond"), "{text}");
    assert!(text.contains("The 8 runs per depth") && text.contains("vary too much (±20.0 %)"), "{text}");
    let text = description(&points(8.0, 0.6, 64));
    assert!(text.contains("because the figures have not settled") && !text.contains('±'), "{text}");
    let mut gentle = points(8.0, 0.02, 64);
    // Depth 4 is 9 % below the deeper ones: a gain beyond it cannot be excluded.
    gentle[2].found.runs.iter_mut().for_each(|(_, iops)| *iops *= 1.82);
    let text = description(&gentle);
    assert!(text.contains("anywhere from depth 4 to depth 8,"), "{text}");
}

#[test]
fn too_few_points_or_runs_are_told() {
    assert_eq!(
        description(&points(8.0, 0.01, 2)),
        "the best depth cannot be told: 3 points with a valid number are needed, and this sweep has 2."
    );
    let mut short = points(8.0, 0.001, 64);
    // The last depth was interrupted in its third turn.
    short[6].found.runs.truncate(2);
    let text = description(&short);
    assert!(text.starts_with("the best depth cannot be told: 2 rounds with a valid number at every"), "{text}");
    short[6].found.runs = vec![(5, 80_000.0), (7, 80_000.0), (6, 80_000.0)];
    assert!(description(&short).starts_with("use depth 8"), "three rounds that all have");
}

/// Runs of 3 s, each a little faster than the previous one.
fn rows(depth: u32, servers: u32) -> Vec<Row> {
    let run = |round: u32| {
        let iops = u64::from(depth.min(servers)) * (10_000 + u64::from(round) * 10);
        let mut lat = Latency::with_histogram();
        (0..1000).for_each(|_| lat.record(u64::from(depth) * 1_000_000_000 / iops));
        let (ios, bytes) = (3 * iops, 3 * iops * 4096);
        let read = DirectionRecord { ios, bytes, runtime_ms: 3000, lat, ..DirectionRecord::default() };
        let pattern = format!("randread-4k-qd{depth}");
        let mut run = RunRecord::new("fsdyno", 0);
        run.jobs.push(JobRecord {
            directions: PerDirection { read, ..PerDirection::default() },
            ..JobRecord::new(&pattern, 1, JobSetup::default())
        });
        Row { pattern, round, ..Study::of_run(run).rows.remove(0) }
    };
    (0..4).map(run).collect()
}

fn finding(id: &str, severity: Severity) -> Finding {
    Finding::new(id, severity, String::new(), String::new())
}

#[test]
fn a_study_is_read_from_its_rows() {
    let requests = Requests::parse("randread", "4k").unwrap();
    let mut study = Study::of_run(RunRecord::new("fsdyno", 0));
    study.rows = [64, 1, 2, 4, 8, 16, 32].iter().flat_map(|depth| rows(*depth, 8)).collect();
    let text = sentence(&study, &requests);
    assert!(
        text.starts_with("4k random read: use depth 8: ") && text.contains(" 80,120 IOPS at a mean latency of"),
        "{text}"
    );
    // Rows whose figures do not count are left out, and so are other kinds of requests.
    study.rows[..4].iter_mut().for_each(|row| row.findings.push(finding("page-cache", Severity::Invalid)));
    study.rows.extend(rows(128, 1000).into_iter().map(|row| Row { pattern: "randread-64k-qd128".into(), ..row }));
    let text = sentence(&study, &requests);
    assert!(
        text.contains("at depth 32 the mean") && text.ends_with("Left out, without a valid number: depth 64."),
        "{text}"
    );
    for row in &mut study.rows {
        row.findings = vec![finding("depth-not-reached", Severity::Caution)];
    }
    assert!(sentence(&study, &requests).contains("use depth 1: one request was in flight at every depth"));
}

#[test]
fn tails_that_overlap_are_not_called_different() {
    let mut points = points(8.0, 0.01, 16);
    let last = points.len() - 1;
    points[last].found.p99_interval = points[3].found.p99_interval;
    assert!(description(&points).contains("(no clear difference)"));
}

/// Checks for random points that each sentence agrees with its loads by arithmetic. FSDYNO_CASES=5000 draws more.
#[test]
fn no_sentence_denies_its_table() {
    for (_, mut drawn_from) in testkit::draw::cases(300) {
        let mut draw = |bound: u64| drawn_from.below(bound);
        let (servers, scatter) = ([1.0, 4.0, 8.0, 200.0][draw(4) as usize], [0.0, 0.01, 0.2][draw(3) as usize]);
        let mut drawn = points(servers, scatter, 64);
        for point in &mut drawn {
            let factor = [1.0, 1.0, 0.97, 1.06, 0.7, 1.3][draw(6) as usize];
            point.found.runs.iter_mut().for_each(|(_, iops)| *iops *= factor);
            let keep = [8, 8, 8, 8, 5, 2, 0][draw(7) as usize];
            point.found.runs.truncate(keep);
            point.mean_ns *= [1.0, 1.0, 0.6, 1.7][draw(4) as usize];
            point.found.iops *= factor;
            let latency = point.found.latency.as_mut().unwrap();
            latency.mean_ns = point.mean_ns;
        }
        drawn.retain(|point| !point.found.runs.is_empty());
        if drawn.is_empty() {
            continue;
        }
        let text = description(&drawn);
        let means = drawn.iter().map(|point| point.mean_ns);
        let tails = drawn.iter().filter_map(|point| Some(point.found.latency?.p99_ns? as f64));
        let times_ns: Vec<f64> = means.chain(tails).collect();
        let strange = testkit::draw::unexplained(&text, &["p99"], &known(&drawn), &times_ns);
        assert!(strange.is_empty(), "{strange:?} in {text}");
        holds(&drawn, &text);
    }
}

/// Each figure that the sentence may have: depths, how many there are and their rounds, their rates; shares of the best rate
/// and of its latency, growth, how far the runs lie apart, and what is needed for a judgement.
fn known(points: &[Point]) -> Vec<f64> {
    let most = points.iter().map(|point| point.found.iops).fold(0.0, f64::max);
    let mut known = vec![GAIN * 100.0, POINTS_MIN as f64, RUNS_MIN as f64, points.len() as f64, 0.5];
    for point in points {
        let found = &point.found;
        let in_all = found
            .runs
            .iter()
            .filter(|(round, _)| points.iter().all(|other| other.found.runs.iter().any(|(of, _)| of == round)));
        known.extend([f64::from(point.depth), found.iops, found.runs.len() as f64, in_all.count() as f64]);
        known.push((found.iops / most * 100.0).round_ties_even());
        let aside = found.interval.map(|found| (found.high - found.low) / 2.0);
        known.extend(aside.map(|aside| aside / found.iops * 100.0));
        for other in points {
            let times = other.mean_ns / point.mean_ns;
            known.extend([times, (times * 100.0).round_ties_even(), (other.found.iops / found.iops - 1.0) * 100.0]);
        }
    }
    // The interval of a depth stayed where its rate was moved.
    let moved = |point: &Point| point.found.interval.map(|at| (at.high / point.found.iops - 1.0).abs() * 100.0);
    let moved_down = |point: &Point| point.found.interval.map(|at| (1.0 - at.low / point.found.iops) * 100.0);
    known.extend(points.iter().flat_map(|point| [moved(point), moved_down(point)]).flatten());
    known
}

fn holds(points: &[Point], text: &str) {
    let told = || {
        format!(
            "{text}\n{:?}",
            points.iter().map(|point| (point.depth, point.found.iops, point.mean_ns)).collect::<Vec<_>>()
        )
    };
    let number_after = |after: &str| -> Option<f64> {
        text.split(after).nth(1)?.split([' ', ')', ':']).next()?.trim_end_matches(',').replace(',', "").parse().ok()
    };
    let Some(depth) = number_after("use depth ") else {
        assert!(text.starts_with("the best depth cannot be told"), "{}", told());
        return;
    };
    let at = points.iter().find(|point| f64::from(point.depth) == depth).unwrap_or_else(|| panic!("{}", told()));
    let (most, last) = (points.iter().map(|point| point.found.iops).fold(0.0, f64::max), points.last().unwrap());
    if text.contains("it has the most IOPS") {
        assert!(at.found.iops == most, "{}", told());
    } else if text.contains("within 0.5 % of the most") {
        assert!(at.found.iops > most * 0.995, "{}", told());
    }
    if let Some(percent) = number_after(&format!("use depth {depth}: ")).filter(|_| text.contains("% of the most IOPS"))
    {
        assert!((at.found.iops / most * 100.0 - percent).abs() < 0.51, "{}", told());
    }
    if text.contains("gain no throughput") {
        let deeper = points.iter().filter(|point| point.depth > at.depth);
        assert!(deeper.map(|point| point.found.iops / at.found.iops).all(|gained| gained < 1.005), "{}", told());
    }
    if text.contains("more depth only adds latency") || text.contains("The knee is there") {
        assert!(last.mean_ns > at.mean_ns, "{}", told());
    }
    if text.contains("has no longer latency") {
        assert!(last.mean_ns <= at.mean_ns, "{}", told());
    }
    if let Some(percent) = number_after("still grew by ") {
        let before = &points[points.len() - 2];
        let grown = (last.found.iops / before.found.iops - 1.0) * 100.0;
        assert!((grown - percent).abs() <= 0.006 * grown.max(1.0), "{}", told());
    } else {
        assert!(!text.contains("still grew from"), "{}", told());
    }
}
