//! Tests the page: complete, well-formed, self-contained, with headings in order, whatever the study contains.

use std::collections::HashSet;

use fsdyno_present::sheet::{SheetOptions, html};
use fsdyno_results::{Finding, Question, Row, Severity, Study};

use crate::document::{Element, elements};
use crate::{fixture, odd};

fn sheet(study: Study) -> String {
    html(&[study], &SheetOptions::default())
}

/// Checks everything that must hold for any sheet.
#[track_caller]
fn check(page: &str) -> Vec<Element> {
    let elements = elements(page);
    let ids: Vec<&str> = elements.iter().filter_map(|element| element.attribute("id")).collect();
    let known: HashSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), known.len(), "an id stands there twice");
    for element in &elements {
        let labels = element.attribute("aria-labelledby").into_iter().flat_map(str::split_whitespace);
        let links = element.attribute("href").map(|href| href.strip_prefix('#').expect("links stay in the page"));
        for id in labels.chain(links) {
            assert!(known.contains(id), "{id} is nowhere");
        }
        assert!(element.attribute("src").is_none() && element.name != "link", "nothing is loaded: {element:?}");
        assert!(!element.attributes.iter().any(|(name, _)| name.starts_with("on") || name == "style"), "{element:?}");
        if element.name == "th" {
            assert!(element.attribute("scope").is_some(), "{element:?}");
        }
        if element.name == "svg" {
            // A chart that only repeats the figure beside it has no name of its own.
            let is_named = element.attribute("role") == Some("img") && element.attribute("aria-labelledby").is_some();
            assert!(is_named || element.attribute("aria-hidden") == Some("true"), "{element:?}");
        }
    }
    let mut level = 0;
    for element in &elements {
        if let Some(found) = element.name.strip_prefix('h').and_then(|digit| digit.parse::<u32>().ok()) {
            assert!(found <= level + 1, "h{found} after h{level}");
            level = found;
        }
    }
    assert_eq!(elements.iter().filter(|element| element.name == "h1").count(), 1);
    assert!(!page.contains("NaN") || page.matches("NaN").count() == elements_script_nans(page), "no figure is NaN");
    elements
}

/// The number of NaN in the script itself, which may contain them.
fn elements_script_nans(page: &str) -> usize {
    page.rsplit("<script>").next().map_or(0, |script| script.matches("NaN").count())
}

#[test]
fn the_answer_comes_first_and_what_rests_on_it_after() {
    let page = sheet(fixture::comparison());
    check(&page);
    let order = ["s-answer", "s-charts", "s-findings", "s-why", "s-figures", "s-storage", "s-ledger", "s-reproduce"];
    let places: Vec<usize> = order.iter().map(|id| page.find(&format!("id=\"{id}\"")).expect(id)).collect();
    assert!(places.is_sorted(), "{places:?}");
    let before = |first: &str, other: &str| assert!(page.find(first).expect(first) < page.find(other).expect(other));
    before("local wins in read", "<table");
    before("<table class=\"small glance\"", "<dt>trust</dt>");
    before("<dt>limited by</dt>", "<dt>next</dt>");
    before("<dt>next</dt>", "data-axes");
    assert_eq!(page.matches("data-axes=\"").count(), 5, "a chart over time for each pattern");
}

#[test]
fn nine_rounds_of_five_patterns_on_three_places_stay_below_half_a_megabyte() {
    let mut study = fixture::comparison();
    let ninth: Vec<_> = study.rows.iter().filter(|row| row.round == 0).cloned().collect();
    study.rows.extend(ninth.into_iter().map(|row| fsdyno_results::Row { round: 8, ..row }));
    let page = sheet(study);
    assert!(page.contains("Medians of 9 rounds"));
    assert!(page.len() < 500_000, "{} bytes", page.len());
}

#[test]
fn long_runs_stay_below_half_a_megabyte() {
    let mut study = fixture::comparison();
    // A chart is as long as its longest round.
    let long = study.rows.iter_mut().filter(|row| row.round < 2);
    for run in long.filter_map(|row| row.run.as_mut()) {
        // A chart shows the sum of all workers: one is enough.
        run.jobs.truncate(1);
        let job = &mut run.jobs[0];
        for direction in
            [&mut job.directions.read, &mut job.directions.write].into_iter().filter(|direction| direction.ios > 0)
        {
            let mut long = fsdyno_results::Samples::default();
            (0..7200u64).for_each(|window| long.record(100_000 + window * 7919 % 5000, (window + 1) * 500));
            (direction.bandwidth_samples, direction.iops_samples) = (long.clone(), long);
        }
        let short = job.latency_series.clone();
        job.latency_series = (0..3600u64)
            .map(|second| {
                let slice = &short[second as usize % short.len()];
                fsdyno_results::LatencySlice { at_ms: (second + 1) * 1000, classes: slice.classes.clone() }
            })
            .collect();
    }
    let page = sheet(study);
    assert!(page.len() < 500_000, "{} bytes", page.len());
    assert!(page.contains("samples, to keep the file small"), "what is left out is said");
}

#[test]
fn trust_is_a_word_and_nothing_is_left_unsaid() {
    let page = sheet(fixture::comparison());
    for word in ["</span> ok", "</span> caution", "</span> invalid", "not compared", "Input/output error"] {
        assert!(page.contains(word), "{word}");
    }
    // The median of local sequential reads, and the ratio of NFS to it.
    assert!(page.contains("515") && page.contains("0.21x"));
    assert!(page.contains("s3: device not visible, a FUSE mount has no device of its own"));
    assert!(page.contains("A warm-up of 5.00\u{a0}s before it is not counted"));
    assert!(page.contains("Triangles mark seconds in which the control group's CPU limit"));
    assert!(!page.contains("(none)") && !page.contains("1 rounds"));
}

#[test]
fn a_tile_for_each_figure_with_its_trust_and_its_course() {
    let mut study = odd::quick();
    let page = sheet(study.clone());
    check(&page);
    let tiles: Vec<&str> = page.split("<li class=\"tile\">").skip(1).collect();
    assert_eq!(tiles.len(), 7);
    assert!(tiles.iter().all(|tile| tile.contains("</span> caution")) && page.contains("a durable 4k write"));
    // Two samples do not make a chart.
    assert!(!page.contains("class=\"spark\"") && page.contains("too short for a chart over time"));
    let long = fixture::comparison().rows.swap_remove(0);
    study.rows[2].run = long.run;
    assert!(sheet(study).contains("class=\"spark\""));
}

#[test]
fn more_findings_than_three_are_folded_away() {
    let page = sheet(fixture::comparison());
    let (open, folded) = page.split_once("<summary>2 more findings</summary>").expect("five cards");
    let cards = |part: &str| part.matches("<li class=\"finding ").count();
    assert_eq!((cards(open), cards(folded)), (3, 2));
    let quiet = sheet(odd::small_files());
    assert!(!quiet.contains("more finding") && quiet.contains("failed"));
}

/// A call that is timed within a phase has that phase's findings, which count once: in the trust line and in the table.
#[test]
fn trust_counts_a_phase_once_whatever_is_timed_within_it() {
    let mut study = odd::small_files();
    study.targets.truncate(1);
    study.rows.retain(|row| row.target == 0);
    for row in study.rows.iter_mut().filter(|row| row.pattern == "fsync-file") {
        row.findings = vec![Finding::new("foreign-load", Severity::Caution, "others wrote", "run again")];
    }
    let mut parts: Vec<Row> = study.rows.iter().filter(|row| row.pattern == "fsync-file").cloned().collect();
    parts.iter_mut().for_each(|row| row.pattern = "fsync-file-only".into());
    study.rows.append(&mut parts);
    let page = sheet(study);
    check(&page);
    assert!(page.contains("1 of 6 tests: ") && page.contains("as <code>fsync-file</code>"), "{page}");
    let table = page.split("<table class=\"wide\">").nth(1).and_then(|rest| rest.split("</table>").next()).unwrap();
    assert_eq!(table.matches("</span> caution").count(), 6, "a badge for each phase, which nobody examined: {table}");
}

/// A verdict may rest on a percentile that tables leave out because few values lie beyond it.
#[test]
fn the_table_has_each_percentile_that_a_verdict_rests_on() {
    let mut study = odd::check();
    study.verdicts.truncate(2);
    study.verdicts.remove(0);
    let table = |study: &Study| {
        let page = sheet(study.clone());
        page.split("<table class=\"wide\">").nth(1).and_then(|rest| rest.split("</table>").next()).unwrap().to_owned()
    };
    assert!(!table(&study).contains("as judged"), "5,000 syncs have a percentile");
    for job in study.rows.iter_mut().filter_map(|row| row.run.as_mut()).flat_map(|run| &mut run.jobs) {
        job.sync.lat = fixture::latency(2_100_000.0, 0.3, 20);
    }
    assert!(table(&study).contains("14.0 ms<small class=\"muted\"> as judged</small>"), "{}", table(&study));
}

#[test]
fn a_column_without_any_value_is_left_out() {
    let heads = |page: &str| -> Vec<String> {
        let table = page.split("<table class=\"wide\">").nth(1).expect("the full table");
        let head = table.split("</thead>").next().unwrap_or_default();
        head.split("scope=\"col\">").skip(1).map(|head| head.split("</th>").next().unwrap_or("").to_owned()).collect()
    };
    let compared = heads(&sheet(fixture::comparison()));
    assert!(compared.iter().any(|head| head == "Place") && compared.iter().any(|head| head == "Ratio"));
    let bare = heads(&sheet(odd::one_bare_row()));
    assert_eq!(bare, ["Test", "Trust", "Depth", "MB/s", "IOPS"]);
}

#[test]
fn what_people_wrote_is_never_markup() {
    let page = sheet(odd::hostile());
    let elements = check(&page);
    assert_eq!(elements.iter().filter(|element| element.name == "script").count(), 1);
    assert!(!elements.iter().any(|element| element.name == "img"));
    assert!(!page.contains('\u{202e}') && !page.contains('\u{0}'));
    assert!(page.contains("&lt;img src=x onerror=alert(2)&gt;"), "it is shown as it is");
}

#[test]
fn degenerate_studies_have_pages_too() {
    check(&html(&[], &SheetOptions::default()));
    assert!(sheet(odd::nothing()).contains("No results."));
    check(&sheet(odd::nothing()));
    let bare = sheet(odd::one_bare_row());
    check(&bare);
    for words in ["no samples were recorded", "no latencies were recorded", "not inspected", "not recorded"] {
        assert!(bare.contains(words), "{words}");
    }
    let failed = sheet(odd::failed_job());
    check(&failed);
    assert!(failed.contains("No space left on device") && failed.contains("<strong>Stopped early</strong>: these"));
    let mut beyond = fixture::comparison();
    beyond.rows.truncate(3);
    beyond.rows[0].target = usize::MAX / 2;
    beyond.targets.clear();
    check(&sheet(beyond));
}

#[test]
fn long_names_are_shortened_where_there_is_no_room() {
    let page = sheet(odd::long_names());
    check(&page);
    for heading in page.split("<h3").skip(1).map(|heading| heading.split("</h3").next().unwrap_or("")) {
        assert!(heading.len() < 400, "{heading}");
    }
    let texts = page.split("<text").skip(1).map(|text| text.split("</text").next().unwrap_or(""));
    assert!(texts.map(str::len).max().unwrap_or(0) < 200);
}

#[test]
fn other_questions() {
    let small = sheet(odd::small_files());
    check(&small);
    for words in ["stat, names cached", "p99", "3 failed", "0.032x"] {
        assert!(small.contains(words), "{words}");
    }
    let verdicts = sheet(odd::check());
    check(&verdicts);
    for words in ["PASS", "FAIL", "INCONCLUSIVE", "at most 10", "etcd documentation"] {
        assert!(verdicts.contains(words), "{words}");
    }
    for question in [Question::Sweep, Question::Curve] {
        let page = sheet(odd::sweep(question));
        check(&page);
        assert!(page.contains("load-chart"), "{question:?}");
        assert!(page.contains("<summary>Throughput and latency of all 14 tests</summary>"), "many tests are folded");
    }
}

#[test]
fn a_curve_plots_response_times_against_the_offered_load() {
    let mut study = odd::sweep(Question::Curve);
    let mut look = study.rows[0].clone();
    look.pattern = "randread-4k-qd4".into();
    study.rows.insert(0, look);
    let response = study.rows[1].response_times().expect("response times");
    let service = study.rows[1].figures().unwrap().total.latency.unwrap();
    assert!(response.p99_ns.unwrap() > 2 * service.p99_ns.unwrap());
    let description = |study: Study| {
        let page = sheet(study);
        let chart = page.find("load-chart").map(|start| page[start..].to_owned())?;
        Some(chart.split("</desc>").next()?.to_owned())
    };
    let chart = description(study.clone()).expect("a chart");
    let p99 = fsdyno_text::quantity::latency(response.p99_ns.unwrap() as f64).replace(' ', "\u{a0}");
    assert!(chart.contains(&format!("load 10\u{a0}%: p99 {p99}; load 25\u{a0}%")), "{chart}");
    study
        .rows
        .iter_mut()
        .filter_map(|row| row.run.as_mut())
        .for_each(|run| run.jobs[0].directions.read.response = None);
    assert_eq!(description(study), None, "service times are no response times");
}

#[test]
fn several_studies_stand_one_after_the_other() {
    let studies = [fixture::comparison(), odd::small_files(), odd::one_bare_row(), odd::nothing()];
    let page = html(&studies, &SheetOptions { title: Some("All <of> it".into()), ..SheetOptions::default() });
    let elements = check(&page);
    assert!(page.contains("<h1>All &lt;of&gt; it</h1>"));
    assert_eq!(elements.iter().filter(|element| element.attribute("class") == Some("study")).count(), 4);
    assert!(elements.iter().all(|element| element.name != "article" || !element.inside.is_empty()));
}
