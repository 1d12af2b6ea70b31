//! Writes a Markdown table for an issue or a ticket, in the form that the large code hosts render.

use std::fmt::Write as _;

use fsdyno_results::{Lane, Metric, Question, Study, TestRounds, Trust};
use fsdyno_text::escape::{markdown as inline, markdown_code, markdown_sentence};
use fsdyno_text::quantity::{Units, published, rate_number};

use crate::command;
use crate::headline::verdict::figure;
use crate::headline::{Headline, finding_kinds, metrics};
use crate::quantity::{duration, megabytes_per_s, number, percent, ratio, shortened, times_between};
use crate::summary::{Grid, PatternLine};

/// The study as Markdown: the answer, verdicts, a table of figures, findings, and the command.
pub fn markdown(study: &Study) -> String {
    let grid = Grid::of(study);
    let headline = Headline::of_grid(&grid);
    let mut text = String::new();
    // A check's table is that of its verdicts.
    if !matches!(study.question, Question::Fio | Question::Check) {
        text.push_str(&crate::tables::short_answer(&headline, study));
    }
    for sentence in study.sentences.iter().filter_map(|sentence| headline.beyond(study, sentence)) {
        let _ = writeln!(text, "{}\n", markdown_sentence(sentence));
    }
    if let Some([what, _]) = crate::tables::incomplete(study) {
        let _ = writeln!(text, "**{what}.**\n");
    }
    verdicts(&mut text, study);
    table(&mut text, &grid);
    text.push_str(&crate::tables::nodes_in_markdown(&headline));
    findings(&mut text, &headline);
    if !study.command.is_empty() {
        let _ = writeln!(text, "\n```\n{}\n```", markdown_code(&command::of(study)));
    }
    let rounds = match grid.rounds() {
        0 | 1 => String::new(),
        rounds => format!(", medians of {rounds} rounds, percentiles over the requests of all rounds"),
    };
    let kernel = study.host.kernel.as_deref().unwrap_or("kernel not recorded");
    let _ = writeln!(text, "\n<sub>{}{rounds}; {}</sub>", inline(&study.version), inline(kernel));
    text
}

fn verdicts(text: &mut String, study: &Study) {
    if study.verdicts.is_empty() {
        return;
    }
    text.push_str("| Verdict | Requirement | Measured | Asked | Why |\n|---|---|--:|--:|---|\n");
    for row in &study.verdicts {
        let asked = &row.requirement;
        let measured = row
            .measured
            .map_or("not measured".to_owned(), |value| format!("{} {}", figure(value), inline(&asked.unit)));
        let _ = writeln!(
            text,
            "| **{}** | {} | {measured} | {} {} | {} |",
            row.verdict.word(),
            inline(&asked.title),
            published(asked.threshold),
            inline(&asked.unit),
            inline(&row.reason)
        );
    }
    text.push('\n');
}

fn table(text: &mut String, grid: &Grid<'_>) {
    if grid.lines.is_empty() {
        text.push_str("No results.\n");
        return;
    }
    let names: Vec<String> = grid.targets.iter().map(|name| inline(&shortened(name, 60))).collect();
    let _ = writeln!(text, "| | {} |", names.join(" | "));
    let _ = writeln!(text, "|---|{}", "--:|".repeat(names.len()));
    for line in &grid.lines {
        let cells: Vec<String> =
            line.cells.iter().enumerate().map(|(index, cell)| in_words(cell, line, index)).collect();
        let _ = writeln!(text, "| **{}** | {} |", inline(&shortened(&line.title, 80)), cells.join(" | "));
    }
}

fn in_words(cell: &TestRounds<'_>, line: &PatternLine<'_>, target: usize) -> String {
    if !cell.was_tried() {
        return "not run".to_owned();
    }
    let figure = |metric, words: &dyn Fn(f64) -> String| cell.value(metric).map(words);
    let latency = |lane: Lane| {
        let at = |metric| figure(metric, &duration);
        let name = if lane == Lane::Operation { String::new() } else { format!("{} ", lane.word()) };
        Some(format!("{name}p50 {} p99 {}", at(Metric::P50(lane))?, at(Metric::P99(lane))?))
    };
    let mut words: Vec<String> = Vec::new();
    // Writes are compared by their durable rate.
    let (rate, requests) = metrics(line);
    words.extend(figure(rate, &megabytes_per_s).map(|text| format!("**{text}**")));
    let wall = figure(Metric::Wall, &duration).map(|text| format!("**{text}**"));
    let requests_shown = figure(requests, &|value| match requests {
        Metric::Operations => format!("**{} ops/s**", number(value)),
        _ => format!("{} IOPS", number(value)),
    });
    words.extend(wall.or(requests_shown));
    words.extend(Lane::ALL.into_iter().filter_map(latency));
    words.extend(figure(Metric::Cpu, &|value| format!("CPU {}", percent(value))));
    words.extend(figure(Metric::BytesPerCpuSecond, &|value| {
        format!("{} {} per CPU-s", rate_number(value), Units::shown().megabyte())
    }));
    if target > 0 {
        words.extend(multiple(cell, &line.cells[0], line.headline()));
    }
    words.extend(cell.error().map(|error| format!("error: {}", inline(&error))));
    words.push(trust(cell));
    words.join("<br>")
}

fn multiple(cell: &TestRounds<'_>, baseline: &TestRounds<'_>, metric: Metric) -> Option<String> {
    if cell.trust() == Trust::Invalid || baseline.trust() == Trust::Invalid {
        return Some("not compared".to_owned());
    }
    let found = cell.ratio(baseline, metric)?;
    let times = ratio(found.value);
    Some(match found.interval {
        None => format!("{times} baseline"),
        Some(interval) => {
            let doubt = found.doubt().map(|doubt| format!(", {doubt}")).unwrap_or_default();
            format!("{times} baseline ({}{doubt})", times_between(&interval))
        }
    })
}

fn trust(cell: &TestRounds<'_>) -> String {
    match cell.trust() {
        Trust::Ok => "ok".to_owned(),
        trust if cell.reasons().is_empty() => format!("**{}**", trust.word()),
        trust => format!("**{}**: {}", trust.word(), inline(&cell.reasons().join(", "))),
    }
}

fn findings(text: &mut String, headline: &Headline) {
    let all = finding_kinds::by_kind(&headline.findings);
    for (index, told) in all.iter().filter(|told| told.first().is_against()).enumerate() {
        let found = told.first();
        let sentences = told.sentences(headline.has_several_targets());
        let sentences: Vec<String> = sentences.iter().map(|sentence| markdown_sentence(&ended(sentence))).collect();
        let next =
            if found.next.is_empty() { String::new() } else { format!(" Next: {}", markdown_sentence(&told.next())) };
        let gap = if index == 0 { "\n" } else { "" };
        let (word, id) = (found.word(), plain_id(&found.id));
        let _ = writeln!(text, "{gap}- **{word}** `{id}`: {}{next}", sentences.join(" "));
    }
}

/// The sentence with its full stop.
fn ended(sentence: &str) -> String {
    format!("{}.", sentence.trim_end_matches('.'))
}

/// A finding's id for use between backticks: other characters than those of ids are dropped.
fn plain_id(id: &str) -> String {
    id.chars().filter(|character| character.is_alphanumeric() || "-_.".contains(*character)).collect()
}
