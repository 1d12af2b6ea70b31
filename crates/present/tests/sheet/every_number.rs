//! Checks that each number in each form comes from the answer. Three tests of each question have rounds of all kinds,
//! with no two figures equal. `--json` has the figures; other numbers that a form may contain are listed here with
//! their arithmetic.

use std::collections::{BTreeMap, BTreeSet};

use fsdyno_present::Headline;
use fsdyno_present::export::{csv, junit, markdown, openmetrics};
use fsdyno_present::tables::{Changes, JudgementCommand, change_in_words, history, runs, screen};
use fsdyno_results::evidence::RecordedFact;
use fsdyno_results::{DeviceWork, Digest, Latency, Question, Row, Severity, Study, TreeRecord};
use fsdyno_stats::median;
use fsdyno_text::quantity::{bytes, latency, number};
use serde_json::Value;

use crate::fixture;
use crate::one_figure::{ROUNDS, forms_for_people, latencies, numbers, row, verdict};

/// Factors for the tests of a study: of requests, and of latencies.
const TIMES: [(u64, u64); 3] = [(1, 3), (3, 7), (7, 19)];

fn patterns(question: Question) -> [&'static str; 3] {
    match question {
        Question::Measure => ["rand-read", "seq-read", "read-latency"],
        Question::Sweep => ["randread-4k-qd1", "randread-4k-qd4", "randread-4k-qd16"],
        Question::Curve => ["randread-4k-load20", "randread-4k-load40", "randread-4k-load80"],
        Question::Scale => ["randread-4k-n1", "randread-4k-n2", "randread-4k-n4"],
        Question::SmallFiles => ["create", "stat-hot", "unlink"],
        Question::Time => ["tar", "git-clone", "make"],
        _ => ["read", "randread", "randrw"],
    }
}

fn mixed(question: Question) -> Study {
    let mut study = fixture::empty(question);
    study.command.truncate(2);
    let several = matches!(question, Question::Compare | Question::Time);
    let names = if several { &["local", "nfs"][..] } else { &["local"] };
    let target = |name: &&str| fixture::target(name, &format!("/{name}"), Default::default());
    study.targets = names.iter().map(target).collect();
    for target in 0..names.len() {
        for (index, (pattern, (times, slower))) in patterns(question).into_iter().zip(TIMES).enumerate() {
            // A load of a curve has one round.
            let rounds = if question == Question::Curve { &ROUNDS[index..=index] } else { &ROUNDS };
            for (round, (ios, kind)) in (0..).zip(rounds) {
                let ios = on_target(*ios, target) * times;
                let made_of = if question == Question::Time { Question::SmallFiles } else { question };
                let mut row = row(made_of, target, pattern, round, (ios, kind));
                stretch(&mut row, slower + target as u64, kind);
                if question == Question::Time {
                    as_command(&mut row, ios);
                }
                study.rows.push(row);
            }
        }
    }
    // Numbers that no figure of the answer has.
    study.notes = vec![
        fixture::note("rules", Severity::Info, "each round writes new files; a turn lasts 8861 s"),
        fixture::note(
            "size-adapted",
            Severity::Caution,
            "the file has 4097 MiB instead of 8263 MiB: not enough free space",
        ),
    ];
    if question == Question::Check {
        study.verdicts.push(verdict(&study.rows[..ROUNDS.len()]));
    }
    study
}

/// The second place is a little faster.
fn on_target(ios: u64, target: usize) -> u64 {
    (ios + 17 * target as u64) * u64::from(ios > 0)
}

/// Makes the latencies of a row longer.
fn stretch(row: &mut Row, times: u64, kind: &str) {
    let longer = latencies(kind, times);
    if let Some(phase) = row.phase.as_mut().filter(|phase| phase.operations > 0) {
        phase.latency = longer;
    } else if let Some(run) = &mut row.run {
        let read = &mut run.jobs[0].directions.read;
        read.lat = if read.ios > 0 { longer } else { Latency::default() };
        read.response = read.response.as_ref().map(|_| read.lat.clone());
    }
}

/// Turns a phase into a command, with figures derived from its operations.
fn as_command(row: &mut Row, ios: u64) {
    let phase = row.phase.as_mut().unwrap();
    (phase.elapsed_ns, phase.cpu_ns, phase.latency) = (ios * 1_370_000, ios * 210_000, Latency::default());
    (phase.operations, phase.bytes) = (u64::from(ios > 0 && phase.error.is_none()), None);
    let work = |per: u64| DeviceWork {
        requests: [ios * per, 0].into(),
        bytes: [ios * per * 4096, 0].into(),
        ..DeviceWork::default()
    };
    let mut tree = TreeRecord { sync_ns: Some(ios * 330_000), ..TreeRecord::default() };
    (tree.during.devices, tree.in_sync.devices) = (RecordedFact::Value(work(2)), RecordedFact::Value(work(1)));
    row.tree = Some(tree);
}

/// Collects the numbers below a key of the answer, in each unit in which a form may print them.
fn collect(key: &str, value: &Value, known: &mut Vec<f64>) {
    match value {
        Value::Object(keys) => keys.iter().for_each(|(name, value)| {
            let key = if ["low", "high", "mean", "p50", "p99", "median", "least", "most"].contains(&name.as_str()) {
                key
            } else {
                name
            };
            collect(key, value, known);
        }),
        Value::Array(values) => values.iter().for_each(|value| collect(key, value, known)),
        Value::Number(found) => {
            let found = found.as_f64().unwrap();
            let scales: &[f64] = match key {
                "latency_us" | "p50_us" => &[1e3, 1.0, 1e-3, 1e-6],
                "mb_per_s" => &[1.0, 1e3, 1e-3],
                "confidence" => &[100.0],
                // Bytes of a command are printed in larger units.
                "bytes" => &[1.0 / 1024.0, 1.0 / 1_048_576.0],
                key if key.ends_with("_s") => &[1.0, 1e3, 1e6],
                _ => &[1.0],
            };
            known.extend(scales.iter().map(|scale| found * scale));
        }
        _ => {}
    }
}

/// The numbers that follow from a test's figures by arithmetic, and those that were asked for.
fn derived(question: Question, test: &Value, known: &mut Vec<f64>) {
    let figure = |key: &str| test[key].as_f64();
    let depth = 4.0;
    known.extend([figure("runs").unwrap() + figure("left_out").unwrap(), depth]);
    for key in ["mb_per_s", "iops"] {
        let (Some(middle), found) = (figure(key), &test["intervals"][key]) else { continue };
        let Some((low, high)) = found["low"].as_f64().zip(found["high"].as_f64()) else { continue };
        let half = (high - middle).max(middle - low) / middle * 100.0;
        known.extend([half, half.round(), (high - low) / middle * 100.0]);
    }
    let (Some(mb_per_s), Some(iops)) = (figure("mb_per_s"), figure("iops")) else { return };
    let last_of_name = || numbers(test["name"].as_str().unwrap()).last().copied().unwrap();
    match question {
        Question::Sweep => {
            // The number of requests in flight.
            known.push(last_of_name());
            known.extend(test["latency_us"]["mean"].as_f64().map(|us| iops * us / 1e6));
        }
        Question::Scale => known.extend([last_of_name(), mb_per_s / last_of_name()]),
        // A load's share of the capacity, and the offered rate.
        Question::Curve => known.extend([last_of_name(), 1200.0]),
        _ => {}
    }
    // Megabytes per second of CPU time.
    known.extend(figure("cpu_percent").map(|percent| mb_per_s / percent * 100.0));
}

/// Numbers from the comparison of rounds: their variation, and the ratios of the second place to the first.
fn of_rounds(known: &mut Vec<f64>) {
    let of_target = |target| {
        let counts = |kind: &str| ["ok", "caution"].contains(&kind);
        let all = ROUNDS.iter().filter(move |(_, kind)| counts(kind));
        all.map(|(ios, _)| on_target(*ios, target) as f64).collect::<Vec<_>>()
    };
    let [first, second] = [of_target(0), of_target(1)];
    let of_times = [first.clone(), second.clone()].map(|rates| rates.into_iter().map(|rate| 1.0 / rate).collect());
    for rates in [&first, &second].into_iter().chain(&of_times) {
        let (middle, most) = (median(rates).unwrap(), rates.iter().copied().fold(0.0, f64::max));
        known.extend([scatter_percent(rates), ((most / middle - 1.0) * 100.0).round()]);
    }
    let ratios: Vec<f64> = first.iter().zip(&second).map(|(first, second)| second / first).collect();
    let ratios: Vec<f64> = ratios.iter().copied().chain(median(&ratios)).collect();
    let both_ways = ratios.iter().flat_map(|ratio| [*ratio, 1.0 / ratio]);
    known.extend(both_ways.flat_map(|ratio| [ratio, (ratio * 100.0).round() / 100.0]));
    // The slowest request of each test.
    known.extend(TIMES.iter().flat_map(|(_, slower)| [0.8 * *slower as f64, 0.8 * (slower + 1) as f64]));
    // The confidence of a difference; latencies of the rounds do not differ.
    known.extend([99.0, 0.0]);
}

/// The standard deviation divided by the mean, percent.
fn scatter_percent(rates: &[f64]) -> f64 {
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    let squares: f64 = rates.iter().map(|rate| (rate - mean).powi(2)).sum();
    (squares / (rates.len() - 1) as f64).sqrt() / mean * 100.0
}

/// All numbers that a form may contain.
fn known(study: &Study) -> BTreeSet<String> {
    let answer: Value = serde_json::from_str(&Headline::json(study)).unwrap();
    let (summary, mut known) = (&answer["summary"], Vec::new());
    collect("", summary, &mut known);
    let tests = summary["tests"].as_array().unwrap();
    tests.iter().for_each(|test| derived(study.question, test, &mut known));
    of_rounds(&mut known);
    let of_all = |key: &str| tests.iter().filter_map(|test| test[key].as_f64()).sum::<f64>();
    known.push(of_all("left_out"));
    // A sentence on both places counts the runs of both.
    let runs = summary["findings"].as_array().unwrap().iter().map(|found| &found["cases"][0]["runs"]);
    let runs: Vec<f64> = runs.filter_map(Value::as_f64).collect();
    known.extend(runs.iter().map(|runs| runs * study.targets.len() as f64));
    // Number of tests with findings.
    known.extend(study.notes.iter().flat_map(|note| numbers(&note.text)));
    let doubtful = tests.iter().filter(|test| test["findings"] != Value::Array(Vec::new())).count();
    known.extend(
        [1, doubtful, tests.len(), study.targets.len(), study.rows.len(), patterns(study.question).len()]
            .map(|count| count as f64),
    );
    known.into_iter().map(plain).collect()
}

fn plain(value: f64) -> String {
    let shown: f64 = number(value).replace(',', "").parse().unwrap_or(value);
    shown.to_string()
}

/// The numbers of a form that nothing explains, apart from names, commands, dates and chart axes.
fn unexplained(study: &Study, text: &str) -> Vec<String> {
    let known = known(study);
    let text = text.split("Storage and machine").next().unwrap();
    let is_axis = |line: &str| !line.is_empty() && line.chars().all(|letter| " 0123456789.,".contains(letter));
    let has_own = |line: &str| {
        let begins =
            ["fsdyno ", "next"].iter().any(|begin| line.trim_start_matches(['-', ' ', '*']).starts_with(begin));
        begins || ["│", "└", "UTC", "<sub>"].iter().any(|mark| line.contains(mark))
    };
    let mut lines: Vec<&str> = text.lines().collect();
    while let Some(index) = lines.iter().position(|line| line.contains('└')) {
        // The line below an axis has its numbers.
        let numbers = 1 + usize::from(lines.get(index + 1).is_some_and(|line| is_axis(line)));
        lines.drain(index..index + numbers);
    }
    let mut text = lines.into_iter().filter(|line| !has_own(line)).collect::<Vec<_>>().join("\n");
    for name in patterns(study.question).into_iter().chain([
        &*study.id,
        "--direct=1",
        "--rounds=8",
        "p50",
        "p99.9",
        "p99",
        "p90",
    ]) {
        text = text.replace(name, " ");
    }
    numbers(&text).into_iter().map(|found| found.to_string()).filter(|found| !known.contains(found)).collect()
}

fn asked() -> impl Iterator<Item = Study> {
    Question::ALL.into_iter().filter(|question| *question != Question::Fio).map(mixed)
}

/// All forms of a study, and of the difference between two of its runs.
fn texts(study: &Study) -> Vec<(&'static str, String)> {
    let mut texts = forms_for_people(study).to_vec();
    texts.extend([("short", screen(study, 80)), ("ticket", markdown(study))]);
    if study.question == Question::Check {
        texts.push(("junit", junit::junit("check", &junit::cases(study))));
    }
    let digest = Digest::of(study);
    texts.push(("history", history(std::slice::from_ref(&digest), 120)));
    texts.push(("runs", runs(std::slice::from_ref(&digest), &BTreeMap::new(), 80)));
    texts.into_iter().map(|(form, text)| (form, text.replace('\u{a0}', " "))).collect()
}

#[test]
fn each_number_of_each_form_is_of_the_answer() {
    let mut wrong = Vec::new();
    for study in asked() {
        for (form, text) in texts(&study) {
            let strange = unexplained(&study, &text);
            if !strange.is_empty() {
                wrong.push(format!("{:?}, {form}: {strange:?} in\n{text}", study.question));
            }
            assert!(numbers(&text).len() > 3, "{form} has figures");
            // The whole forms say each note with its numbers.
            let is_whole = ["wide", "sheet"].contains(&form);
            for note in study.notes.iter().filter(|note| is_whole && note.severity > Severity::Info) {
                let of_note = numbers(&note.text);
                assert!(numbers(&text).windows(of_note.len()).any(|found| found == of_note), "{form}: {}", note.text);
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    let phases = fsdyno_present::tables::text(&mixed(Question::SmallFiles), 120);
    assert!(phases.contains("create: 1 failed, the first with read: broken"), "{phases}");
}

/// A cell of a table: its row and its column.
struct Cell {
    row: String,
    column: String,
    said: String,
}

fn cells_of_markdown(text: &str) -> Vec<Cell> {
    let (mut heads, mut pattern, mut cells) = (Vec::new(), "", Vec::new());
    for line in text.lines() {
        let Some(line) = line.strip_prefix('|') else {
            heads.clear();
            continue;
        };
        let words: Vec<&str> = line.trim_end_matches('|').split('|').map(str::trim).collect();
        if heads.is_empty() {
            heads = words;
            continue;
        }
        // In a comparison the figures stand below their pattern.
        let is_below = heads[0] == "pattern" && line.starts_with("   ");
        pattern = if is_below { pattern } else { words[0] };
        for (head, said) in heads.iter().zip(&words).skip(1) {
            let (row, column) =
                if is_below { (format!("{pattern} {head}"), words[0]) } else { (pattern.to_owned(), *head) };
            cells.push(Cell { row, column: column.to_owned(), said: (*said).to_owned() });
        }
    }
    cells
}

fn cells_of_sheet(html: &str) -> Vec<Cell> {
    // The first text in a piece of HTML.
    let text = |html: &str| {
        let parts = html.split('<').map(|part| part.split_once('>').map_or("", |(_, text)| text));
        parts.into_iter().find(|text| !text.is_empty()).unwrap_or("").replace('\u{a0}', " ")
    };
    let (mut test, mut cells) = (String::new(), Vec::new());
    for part in html.split("<tr").skip(1) {
        let row = part.split("</tr>").next().unwrap();
        if let Some((_, name)) = row.split_once("<code>") {
            test = name.split("</code>").next().unwrap().to_owned();
        }
        let labelled = row.split("data-label=\"").skip(1).map(|cell| (cell.split('"').next().unwrap(), text(cell)));
        let labelled: Vec<(&str, String)> = labelled.collect();
        let place = labelled.iter().find(|(column, _)| *column == "Place").map_or("", |(_, said)| said);
        let cell = |(column, said): &(&str, String)| Cell {
            row: format!("{test} {place}").trim().to_owned(),
            column: (*column).to_owned(),
            said: said.clone(),
        };
        cells.extend(labelled.iter().map(cell));
    }
    cells
}

/// What the cell must contain; `None`: it is no figure of the answer.
fn expected(tests: &[Value], cell: &Cell) -> Option<String> {
    let is_of = |test: &&Value| {
        let (name, target) = (test["name"].as_str().unwrap(), test["target"].as_str().unwrap());
        let last = cell.row.trim_end_matches(" %");
        let ends = ["qd", "n", "load"].iter().any(|before| name.ends_with(&format!("-4k-{before}{last}")));
        cell.row == name || cell.row == format!("{name} {target}") || ends
    };
    let test = tests.iter().find(is_of)?;
    let command = &test["command"];
    let seconds = |figure: &Value| figure.as_f64().map(|seconds| latency(seconds * 1e9));
    let time = |figure: &Value| figure.as_f64().map(|us| latency(us * 1e3));
    match cell.column.as_str() {
        "IOPS" | "ops/s" | "achieved/s" => test["iops"].as_f64().map(number),
        "MB/s" => test["mb_per_s"].as_f64().map(number),
        "CPU %" => test["cpu_percent"].as_f64().map(number),
        "mean" | "Mean" => time(&test["latency_us"]["mean"]),
        "p50" | "p50 read" => time(&test["latency_us"]["p50"]),
        "p99" | "p99 read" => time(&test["latency_us"]["p99"]),
        "wall" | "Wall" => seconds(&test["wall_s"]),
        "CPU" => seconds(&command["cpu_s"]),
        "+ sync" => seconds(&command["sync_s"]),
        "requests" | "Requests" => command["requests"].as_f64().map(number),
        "bytes" | "Bytes" => command["bytes"].as_f64().map(|moved| bytes(moved as u64)),
        _ => None,
    }
}

/// The number of the answer's figures in these cells; each must be that of its test.
fn count(study: &Study, form: &str, cells: &[Cell]) -> usize {
    let answer: Value = serde_json::from_str(&Headline::json(study)).unwrap();
    let mut tests = answer["summary"]["tests"].as_array().unwrap().clone();
    // Commands have more figures.
    for (test, time) in tests.iter_mut().zip(answer["summary"]["times"].as_array().unwrap()) {
        assert_eq!((&test["name"], &test["target"]), (&time["name"], &time["target"]));
        test["command"] = time.clone();
    }
    let mut seen = BTreeSet::new();
    for cell in cells {
        let Some(figure) = expected(&tests, cell) else { continue };
        let shown = cell.said.trim_end_matches(['!', ' ']);
        assert_eq!(shown, figure, "{:?}, {form}: {} of {}", study.question, cell.column, cell.row);
        seen.insert((&cell.row, &cell.column));
    }
    seen.len()
}

#[test]
fn each_cell_has_the_figure_of_its_test() {
    for study in asked() {
        let page = fsdyno_present::sheet::html(std::slice::from_ref(&study), &Default::default());
        let markdown = fsdyno_present::tables::markdown(&study).replace('\u{a0}', " ");
        let tests = study.tests().len() * study.targets.len();
        // The tables of check show its requirements instead.
        let has_table = study.question != Question::Check;
        // A command has its wall time, CPU time, sync, requests and bytes.
        let on_sheet = if study.question == Question::Time { 5 } else { 3 };
        let least = [
            ("markdown", cells_of_markdown(&markdown), usize::from(has_table)),
            ("sheet", cells_of_sheet(&page), on_sheet),
        ];
        for (form, cells, each) in least {
            let found = count(&study, form, &cells);
            assert!(found >= each * tests, "{:?}, {form}: {found} cells", study.question);
        }
        // A wide terminal has the same cells in the same order.
        let wide = fsdyno_present::tables::text(&study, 400);
        let lines: Vec<String> = wide.lines().map(words_of).collect();
        for line in markdown.lines().filter(|line| line.starts_with('|') && !line.starts_with("|--")) {
            let line = words_of(&line.replace(['|', '*'], " "));
            let is_there = lines.contains(&line);
            assert!(is_there || study.question == Question::Check, "{:?}: {line} is not in\n{wide}", study.question);
        }
    }
}

fn words_of(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A rate rounded to six digits, as this form does.
fn six_digits(rate: f64) -> String {
    format!("{rate:.5e}")
}

/// Forms for programs have each figure with all digits.
#[test]
fn programs_get_the_same_figures() {
    for study in asked() {
        let tests = Headline::of(&study).tests;
        let metrics = openmetrics(&study);
        let rounds = csv(&study);
        let mut lines = rounds.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let heads = lines.next().unwrap();
        let column = |name: &str| heads.iter().position(|head| *head == name).expect(name);
        let lines: Vec<Vec<&str>> = lines.collect();
        for test in &tests {
            let labels = format!("target=\"{}\",pattern=\"{}\"", test.target, test.name);
            let value = |name: &str, label: &str| -> Option<f64> {
                let name = format!("{name}{{");
                let is_it = |line: &&str| line.starts_with(&name) && line.contains(&labels) && line.contains(label);
                metrics.lines().find(is_it)?.rsplit_once(' ')?.1.parse().ok()
            };
            let told = || format!("{:?}: {labels}", study.question);
            let rate = value("fsdyno_operations_per_second", "");
            assert_eq!(rate.map(six_digits), test.iops.map(six_digits), "{}", told());
            assert_eq!(value("fsdyno_rounds", ""), Some(test.runs as f64), "{}", told());
            let p50_us =
                value("fsdyno_latency_seconds", "quantile=\"0.5\"").map(|seconds| (seconds * 1e9).round() / 1e3);
            assert_eq!(p50_us, test.latency_us.and_then(|found| found.p50), "{}", told());
            // Each line is a round.
            let is_of =
                |line: &&Vec<&str>| line[column("target")] == test.target && line[column("pattern")] == test.name;
            let counts =
                |line: &&Vec<&str>| test.trust == fsdyno_results::Trust::Invalid || line[column("trust")] != "invalid";
            let of_rounds =
                lines.iter().filter(is_of).filter(counts).filter_map(|line| line[column("iops")].parse().ok());
            let of_rounds: Vec<f64> = of_rounds.filter(|rate| *rate > 0.0).collect();
            assert_eq!(median(&of_rounds).map(six_digits), test.iops.map(six_digits), "{}\n{rounds}", told());
        }
    }
}

/// Both sides of a difference are figures of the answer.
#[test]
fn diff_has_the_same_figures() {
    for study in asked() {
        let found = fsdyno_results::changes(&study, &study, &[]);
        let next = JudgementCommand::KeptRuns("fsdyno history".into());
        let shown = Changes { found: &found, base: "a".into(), new: "b".into(), obstacles: &[], next, wide: true };
        let told: Value = serde_json::from_str(&shown.json()).unwrap();
        let text = shown.text(400);
        // JUnit's documents have these words.
        for words in found.iter().map(change_in_words) {
            let in_table = numbers(&text);
            let strange: Vec<f64> = numbers(&words).into_iter().filter(|number| !in_table.contains(number)).collect();
            assert!(strange.is_empty(), "{:?}: {strange:?} in {words}\n{text}", study.question);
        }
        let tests = Headline::of(&study).tests;
        let mut seen = 0;
        for change in told["changes"].as_array().unwrap() {
            let is_of = |test: &&fsdyno_present::TestFigures| {
                change["pattern"] == *test.name && change["target"].as_str().is_none_or(|name| name == test.target)
            };
            let Some(test) = tests.iter().find(is_of) else { panic!("{change}") };
            let (figure, words) = match change["figure"].as_str().unwrap() {
                "iops" => (test.iops, test.iops.map(number)),
                "p50" => {
                    let ns = test.latency_us.and_then(|found| found.p50).map(|us| us * 1e3);
                    (ns, ns.map(latency))
                }
                _ => continue,
            };
            let near = |side: &str| (change[side].as_f64().unwrap() / figure.unwrap() - 1.0).abs() < 1e-6;
            assert!(near("base") && near("new"), "{:?}: {change} {figure:?}", study.question);
            assert!(text.contains(&words.unwrap()), "{:?}: {change}\n{text}", study.question);
            seen += 1;
        }
        assert!(seen >= 2 || study.question == Question::Time, "{:?}: {text}", study.question);
    }
}

/// The sheet shows what the terminal says of a command beside its figures, and shows no command as a fio line.
#[test]
fn the_sheet_of_a_command_says_all_of_it() {
    let mut study = mixed(Question::Time);
    study.targets[1].reference = true;
    study.rows.iter_mut().for_each(|row| row.command = ["sh", "-c", "true"].map(str::to_owned).to_vec());
    let wide = fsdyno_present::tables::text(&study, 4000);
    let page = fsdyno_present::sheet::html(std::slice::from_ref(&study), &Default::default()).replace('\u{a0}', " ");
    let line = wide.lines().find_map(|line| line.strip_prefix("storage"));
    let words = line.unwrap_or_else(|| panic!("{wide}")).trim();
    assert!(page.contains(words), "{words}");
    assert!(page.contains("as it ran in its directory") && !page.contains("fio sh"), "no line of fio");
}

/// Files and pipes get lines of 80 columns, charts and tables too; only a command to copy is longer, as it is never broken.
#[test]
fn the_whole_answer_has_lines_of_80_columns() {
    for study in asked() {
        let page = fsdyno_present::tables::text(&study, 80);
        let is_long = |line: &&str| line.chars().count() > 80 && !line.starts_with("    fsdyno ");
        let long: Vec<&str> = page.lines().filter(is_long).collect();
        assert!(long.is_empty(), "{:?}: {long:#?}", study.question);
    }
}

/// Words about a chart stand only where it is drawn.
#[test]
fn a_chart_that_cannot_be_drawn_has_no_words() {
    let mut study = mixed(Question::Scale);
    let page = |study: &Study| fsdyno_present::sheet::html(std::slice::from_ref(study), &Default::default());
    assert!(page(&study).contains("against nodes."));
    study.rows.retain(|row| row.pattern.ends_with("-n1"));
    assert!(!page(&study).contains("against nodes."), "one point is no curve");
}
