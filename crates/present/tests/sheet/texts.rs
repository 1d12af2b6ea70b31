//! Compares everything that the guided face prints, at 80 columns, with snapshots: each changed word is seen in review.

use fsdyno_present::tables::{Changes, JudgementCommand, history, markdown, runs, screen, text};
use fsdyno_results::{Digest, Question, Row, Severity, Study};
use insta::assert_snapshot;

use crate::fixture;
use crate::one_figure::visible;
use crate::{nodes, odd};

fn changes<'a>(found: &'a [fsdyno_results::Change], base: &str, new: &str) -> Changes<'a> {
    Changes {
        found,
        base: base.into(),
        new: new.into(),
        obstacles: &[],
        next: JudgementCommand::KeptRuns("fsdyno history b".into()),
        wide: false,
    }
}

/// The comparison's first target alone, as a study of `measure`.
fn measurement() -> Study {
    let mut study = fixture::comparison();
    study.question = Question::Measure;
    study.targets.truncate(1);
    study.rows.retain(|row| row.target == 0 && row.round == 0);
    study
}

#[test]
fn a_measurement() {
    assert_snapshot!(text(&measurement(), 80));
}

#[test]
fn a_measurement_with_an_error() {
    assert_snapshot!(text(&odd::failed_job(), 80));
}

#[test]
fn a_comparison() {
    assert_snapshot!(screen(&fixture::comparison(), 80));
}

/// One line is left for the prompt, and one for where the run was saved.
#[test]
fn each_answer_fits_a_screen_of_24_lines() {
    let studies = [measurement(), fixture::comparison(), nodes::study()];
    let of = |question| Study { question, ..fixture::comparison() };
    for study in studies.into_iter().chain([of(Question::Sweep), of(Question::SmallFiles), of(Question::Check)]) {
        for columns in [60, 80, 120] {
            let page = screen(&study, columns);
            assert!(page.lines().count() <= 22, "{page}");
            let is_wide = |line: &&str| line.chars().count() > columns && !line.starts_with("fsdyno ");
            let wide: Vec<&str> = page.lines().filter(is_wide).collect();
            assert!(wide.is_empty(), "{wide:#?}");
            assert!(page.trim_end().ends_with(" --wide"), "it says where the rest is: {page}");
        }
    }
}

/// The figures of tests that did not run are missing in the answer, which says so.
#[test]
fn screen_and_sheet_say_which_tests_there_was_no_time_for() {
    let mut study = measurement();
    let text = "skipped, because all tests would take longer than 15 s here: write-latency, sync-latency";
    study.notes =
        [Severity::Caution, Severity::Info].map(|severity| fixture::note("tests-left-out", severity, text)).into();
    let page = screen(&study, 80);
    assert_eq!(page.matches("note: skipped, because all tests").count(), 1, "{page}");
    assert!(page.lines().count() <= 22, "{page}");
    let sheet = fsdyno_present::sheet::html(&[study], &Default::default());
    let answer = sheet.split("</section>").next().unwrap();
    let answer = visible(answer).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(answer.matches(text).count(), 1, "{answer}");
}

#[test]
fn a_comparison_on_narrow_and_wide_terminals() {
    assert_snapshot!(screen(&fixture::comparison(), 60));
    for columns in [60, 80, 120] {
        let printed = text(&fixture::comparison(), columns);
        let longest = printed.lines().map(|line| line.chars().count()).max();
        assert!(longest <= Some(columns), "{printed}");
    }
    assert_snapshot!(text(&fixture::comparison(), 80));
}

/// Whatever else has no room: all figures of a comparison, and each limit of each place.
#[test]
fn a_narrow_screen_has_all_figures_and_all_limits() {
    let mut study = fixture::comparison();
    let computing = ["write", "randwrite", "randrw"];
    for row in study.rows.iter_mut().filter(|row| row.target == 0 && computing.contains(&row.pattern.as_str())) {
        let Some(run) = &mut row.run else { continue };
        run.jobs.iter_mut().for_each(|job| job.user_ns = job.job_runtime_ms * 1_000_000);
        let samples = run.nodes[0].ledger.iter_mut().flat_map(|ledger| &mut ledger.samples);
        samples.for_each(|sample| {
            (sample.system.busy_ms, sample.system.total_ms) = (Some(0), Some(sample.at_ms));
            sample.devices = Default::default();
        });
    }
    let [narrow, usual] = [60, 80].map(|columns| screen(&study, columns));
    for page in [&narrow, &usual] {
        let limits = page.split("limited by").nth(1).and_then(|rest| rest.split("next:").next()).unwrap();
        let limits = limits.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(limits.contains("this machine's CPUs") && limits.contains("the device"), "{page}");
        assert!(!limits.contains('…') && !page.contains("more lines"), "{page}");
    }
    assert!(usual.contains("this machine's CPUs (all others)"), "the tests where there is room: {usual}");
    let [five, named] = [60, 68].map(|columns| screen(&with_places(&study, 5, 1), columns));
    for name in ["local", "nfs", "s3", "place3", "place4"] {
        let heads = five.lines().filter(|line| line.starts_with(' ') && line.split(' ').any(|word| word == name));
        assert_eq!(heads.count(), 1, "each place has a column: {five}");
    }
    assert!(named.lines().any(|line| line.starts_with(' ') && line.contains("place4")), "{named}");
    let each = "local: the device, this machine's CPUs place3: the device, this machine's CPUs";
    let joined = "the device (local, place3, place4); this machine's CPUs (local, place3, place4)";
    for (places, expected) in [(4, each), (5, joined)] {
        let page = screen(&with_places(&study, places, 0), 60);
        let limits = page.split("limited by").nth(1).and_then(|rest| rest.split("next:").next()).unwrap();
        let limits = limits.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(limits, expected, "{page}");
    }
}

/// What a person knows a path by is its end.
#[test]
fn a_long_path_leaves_the_heading_on_one_line() {
    let mut study = measurement();
    study.targets[0].path = format!("/srv/{}/data", ["a-folder"; 12].join("/"));
    let page = screen(&study, 80);
    let first = page.lines().next().unwrap();
    assert!(first.starts_with("local = …") && first.contains("/data: ") && first.chars().count() <= 80, "{page}");
    assert!(text(&study, 80).contains(&study.targets[0].path), "the whole page has all of it");
}

#[test]
fn a_list_of_runs_names_their_places_at_80_columns() {
    let mut study = measurement();
    study.question = Question::Curve;
    study.id = "20261127-050418-smallfiles-5726".into();
    study.rows.iter_mut().for_each(|row| row.pattern = "randread-4k-load120".into());
    let mut next_day = study.clone();
    next_day.started_ms += 24 * 3600 * 1000;
    let shown = runs(&[&study, &study, &next_day].map(Digest::of), &Default::default(), 80);
    let [_, day, line, other, next, _] = &shown.lines().collect::<Vec<_>>()[..] else { panic!("{shown}") };
    assert!(line.contains(" local ") && line.contains(", 120 % load ") && line == other, "{shown}");
    assert_eq!([*day, *next], ["2026-11-21 UTC", "2026-11-22 UTC"], "a person reads the date: {shown}");
}

/// The study with as many places, those beyond the third like this one.
fn with_places(study: &Study, places: usize, like: usize) -> Study {
    let mut study = study.clone();
    for target in study.targets.len()..places {
        study.targets.push(fixture::target(&format!("place{target}"), "/place", Default::default()));
        let of_one: Vec<_> = study.rows.iter().filter(|row| row.target == like).cloned().collect();
        study.rows.extend(of_one.into_iter().map(|row| Row { target, ..row }));
    }
    study
}

#[test]
fn a_comparison_for_a_ticket() {
    assert_snapshot!(markdown(&fixture::comparison()));
}

#[test]
fn an_invalid_cell_wins_nothing() {
    let printed = text(&fixture::comparison(), 80);
    assert!(!printed.contains("s3 wins"), "{printed}");
    let flowing = printed.split_whitespace().collect::<Vec<_>>().join(" ");
    // The legend explains the marks; only the trust line gives the reasons.
    assert!(flowing.contains("! caution; !! invalid, cannot win"), "{printed}");
    assert_eq!(flowing.matches("a FUSE mount answered from its local cache (s3)").count(), 1, "{printed}");
    assert!(!flowing.contains("fuse-cache (s3)"), "{printed}");
}

#[test]
fn what_changed() {
    let base = fixture::comparison();
    let mut new = fixture::comparison();
    // Half of the reads on the first target are lost.
    let reads = new.rows.iter_mut().filter(|row| row.target == 0 && row.pattern == "randread");
    for job in reads.filter_map(|row| row.run.as_mut()).flat_map(|run| &mut run.jobs) {
        job.directions.read.ios /= 2;
        job.directions.read.bytes /= 2;
    }
    let found = fsdyno_results::changes(&base, &new, &[]);
    assert_snapshot!(changes(&found, "20261101-a (/data)", "20261108-b (/data)").text(80));
}

#[test]
fn runs_that_cannot_be_judged_end_with_the_command_that_can() {
    let (base, new) = (measurement(), measurement());
    let found = fsdyno_results::changes(&base, &new, &[]);
    let next = JudgementCommand::of(&new);
    assert!(matches!(&next, JudgementCommand::MoreRounds(command) if command.ends_with(" --runs=4")), "{next:?}");
    let shown = Changes { next, ..changes(&found, "a", "b") };
    assert_snapshot!(shown.text(80));
    assert!(!shown.markdown().contains('|'), "{}", shown.markdown());
    // The question has no rounds: the figures are shown, and the command that lists the saved runs.
    let shown = changes(&found, "a", "b").text(80);
    let step = "next: how far the kept runs of this command vary\n    fsdyno history b\n";
    assert!(shown.contains(step) && shown.contains("one run each"), "{shown}");
    assert!(!shown.contains("interval"), "{shown}");
}

#[test]
fn the_list_of_runs_and_their_history() {
    let names = [("good".to_string(), fixture::comparison().id)].into_iter().collect();
    let studies = [Digest::of(&fixture::comparison()), Digest::of(&measurement())];
    // At 60 columns a run takes one line, or two where its figure is long; its day has its own.
    let narrow = runs(&studies, &names, 60);
    let of_runs = narrow.lines().filter(|line| !line.ends_with(" UTC")).count();
    assert!(of_runs <= 1 + 2 * studies.len() && narrow.contains("\n2026-11-21 UTC\n"), "{narrow}");
    assert_snapshot!(runs(&studies, &names, 80));
    assert_snapshot!(history(&studies[..1], 80));
}

/// A row as an earlier version saved it, with nothing examined beside the phases.
#[test]
fn phases_that_nobody_examined_are_not_ok_in_a_list() {
    let mut study = measurement();
    study.question = Question::SmallFiles;
    let phase = fsdyno_results::PhaseRecord { operations: 1_000, elapsed_ns: 20_000_000, ..Default::default() };
    study.rows = vec![fsdyno_results::Row { pattern: "create".into(), phase: Some(phase), ..Default::default() }];
    let shown = runs(&[Digest::of(&study)], &Default::default(), 120);
    assert!(shown.contains("not examined"), "{shown}");
    assert_eq!(
        (study.rows[0].trust(), Digest::of(&study).trust),
        (fsdyno_results::Trust::Caution, fsdyno_results::Trust::Caution)
    );
    study.rows[0].phase.as_mut().unwrap().conditions = Some(Default::default());
    let shown = runs(&[Digest::of(&study)], &Default::default(), 120);
    assert!(!shown.contains("not examined") && study.rows[0].trust() == fsdyno_results::Trust::Ok, "{shown}");
}

#[test]
fn what_runs_differ_by_stands_beside_the_change_and_in_the_history() {
    let kept: Vec<fsdyno_results::Study> = (0..5)
        .map(|day: u64| {
            let mut study = fixture::comparison();
            (study.started_ms, study.id, study.complete) = (day, format!("2026110{day}"), true);
            // Runs of other days are 0 to 4 % faster.
            for job in study.rows.iter_mut().filter_map(|row| row.run.as_mut()).flat_map(|run| &mut run.jobs) {
                job.directions.read.ios += job.directions.read.ios * day / 100;
            }
            study
        })
        .collect();
    let (base, new) = (&kept[3], &kept[4]);
    let listed: Vec<Digest> = kept.iter().map(Digest::of).collect();
    let found = fsdyno_results::changes(base, new, &fsdyno_results::earlier(&listed[3], &listed[4], &listed));
    let iops: Vec<_> = found
        .into_iter()
        .filter(|change| change.measure == fsdyno_results::Measure::Iops && change.pattern == "randread")
        .collect();
    let shown = changes(&iops, "20261103", "20261104");
    assert_snapshot!(shown.text(80));
    assert_snapshot!(Changes { wide: true, ..shown }.text(80));
    assert_snapshot!(history(&listed[..4], 80));
}

#[test]
fn of_invalid_figures_nobody_can_say_that_nothing_changed() {
    let (base, new) = (fixture::comparison(), fixture::comparison());
    let mut found = fsdyno_results::changes(&base, &new, &[]);
    found.retain(|change| change.trust == fsdyno_results::Trust::Invalid);
    assert!(!found.is_empty());
    let shown = changes(&found, "a", "b").text(80);
    assert!(shown.starts_with("No figure can be judged: all are invalid.") && shown.contains("pattern"), "{shown}");
}

#[test]
fn a_history_names_the_unit_of_each_figure_and_leaves_out_what_has_none() {
    let mut study = fixture::comparison();
    // Large requests are compared by bytes.
    for job in study.rows.iter_mut().filter(|row| row.pattern == "read").filter_map(|row| row.run.as_mut()) {
        job.jobs.iter_mut().for_each(|job| job.directions.read.ios /= 256);
    }
    study.rows.iter_mut().filter(|row| row.pattern == "randrw").for_each(|row| row.run = None);
    let shown = history(&[Digest::of(&study)], 120);
    let lines: Vec<&str> = shown.lines().collect();
    let heads = lines.iter().position(|line| line.starts_with("run ")).expect("a table");
    assert!(lines[heads + 1].split_whitespace().eq(["MB/s", "IOPS", "IOPS", "IOPS"]), "{shown}");
    assert!(!shown.contains("randrw"), "{shown}");
    study.rows.iter_mut().for_each(|row| row.run = None);
    let empty = history(&[Digest::of(&study)], 80);
    assert_eq!(empty, "local, nfs, s3, compared: 1 run, without a figure: nothing was measured.\n");
}

#[test]
fn nothing_is_said_of_nothing() {
    for study in [odd::nothing(), odd::one_bare_row(), odd::hostile(), odd::long_names()] {
        let printed = text(&study, 80);
        assert!(!printed.contains("NaN") && !printed.contains("inf "), "{printed}");
        assert!(!printed.contains('\u{1b}'), "a name from a file must not reach the terminal's controls: {printed:?}");
    }
}
