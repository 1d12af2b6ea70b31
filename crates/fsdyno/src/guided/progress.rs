//! Makes the progress line: where a question is, its rates, and when it will be done.

use fsdyno_guide::watch::{LiveFigures, LivePhase, Step};
use fsdyno_text::escape;
use fsdyno_text::quantity::{bytes_per_s, count_per_s, latency, number};

/// Estimates how long the whole question still takes; the estimate only falls.
#[derive(Debug, Default)]
pub(super) struct Estimate {
    /// Number of steps that have ended, and their total time, ms.
    ended: (u64, u64),
    /// The number of steps as it was last known.
    of: usize,
    /// The last estimate, s.
    left_s: Option<u64>,
}

impl Estimate {
    /// A step begins; returns how many steps were added to those that were planned.
    pub(super) fn begin(&mut self, step: &Step) -> usize {
        let planned = std::mem::replace(&mut self.of, step.of);
        let added = if planned == 0 { 0 } else { step.of.saturating_sub(planned) };
        if added > 0 {
            self.left_s = None;
        }
        added
    }

    /// A step has ended.
    pub(super) fn end(&mut self, took_ms: u64) {
        self.ended = (self.ended.0 + 1, self.ended.1 + took_ms);
    }

    /// The time until the end of the question, as far as its steps are known; `None`: not known.
    fn look(&mut self, step: &Step, figures: &LiveFigures) -> Option<RemainingTime> {
        let (count, ended_ms) = self.ended;
        let following = step.of.saturating_sub(step.number) as u64;
        let usual_ms = ended_ms.checked_div(count);
        let seen_s = usual_ms.map(|ms| (ms * following).div_ceil(1000));
        let following_s = if following == 0 { Some(0) } else { step.following_s.max(seen_s) }?;
        let rest_ms = || Some(usual_ms?.saturating_sub(figures.elapsed_ms));
        let this_s = figures.seconds_left.or_else(|| Some(rest_ms()?.div_ceil(1000)))?;
        let least_s = (this_s + following_s).min(self.left_s.unwrap_or(u64::MAX));
        self.left_s = Some(least_s);
        let done_ms = ended_ms + figures.elapsed_ms;
        let share = done_ms as f64 / (done_ms + least_s * 1000).max(1) as f64;
        // An additional step is assumed to take what the others take.
        let each_ms = usual_ms.or_else(|| (following_s * 1000).checked_div(following)).unwrap_or(0);
        let most_s = step.more.map(|more| least_s + (each_ms * more as u64).div_ceil(1000));
        Some(RemainingTime { least_s, most_s, share })
    }

    /// The progress line, cut between two words to `columns`.
    pub(super) fn line(&mut self, step: &Step, figures: &LiveFigures, columns: usize) -> String {
        let left = self.look(step, figures);
        let end = left.as_ref().map_or(String::new(), RemainingTime::words);
        let bar = left.as_ref().map_or(String::new(), |left| bar(left.share));
        let [rate, bytes, p99] = rates(figures);
        // The possible ends of the line, from the longest to the shortest.
        let tails = [
            vec![&rate, &bytes, &p99, &bar, &end],
            vec![&rate, &p99, &bar, &end],
            vec![&rate, &p99, &end],
            vec![&rate, &end],
            vec![&end],
        ];
        let head = heading(step);
        for tail in &tails {
            let parts = std::iter::once(&head).chain(tail.iter().copied()).filter(|part| !part.is_empty());
            let line = parts.map(String::as_str).collect::<Vec<_>>().join("  ");
            if line.chars().count() <= columns {
                return line;
            }
        }
        let room = columns.saturating_sub(end.chars().count() + 2);
        format!("{}  {end}", shortened(&head, room)).trim_end().to_owned()
    }
}

/// The estimated remaining time.
struct RemainingTime {
    least_s: u64,
    /// With all steps that may be added, s; `None`: their number is not known.
    most_s: Option<u64>,
    /// The share that is done, without added steps.
    share: f64,
}

impl RemainingTime {
    /// The time in words: `38 s left`, `2 to 4 min left`, `at least 38 s left`.
    fn words(&self) -> String {
        let least = time(self.least_s);
        let Some(most) = self.most_s.map(time) else { return format!("at least {least} left") };
        match least.split_once(' ').zip(most.split_once(' ')) {
            _ if least == most => format!("{least} left"),
            Some(((number, unit), (_, other))) if unit == other => format!("{number} to {most} left"),
            _ => format!("{least} to {most} left"),
        }
    }
}

/// The line of a finished step, which stays visible: its name, then its figures, cut to `columns`. A figure is never
/// without its mark (`invalid`).
pub(super) fn finished_line(step: &Step, found: &str, columns: usize) -> String {
    let head = heading(step);
    let found = escape::line(found);
    let marked = found.rsplit_once(", ").filter(|(_, mark)| MARKS.contains(mark));
    let (mut figures, mark) = marked.unwrap_or((&found, ""));
    let joined = |figures: &str| if mark.is_empty() { figures.to_owned() } else { format!("{figures}, {mark}") };
    while head.chars().count() + 2 + joined(figures).chars().count() > columns {
        let Some((first, _)) = figures.rsplit_once(", ") else {
            // The figure is what the line is for: the title gives way, as long as the step can be told by it.
            let shown = joined(figures);
            let room = columns.saturating_sub(2 + shown.chars().count());
            return match room {
                HEAD_LEAST.. => format!("{}  {shown}", shortened(&head, room)),
                _ => shortened(&head, columns),
            };
        };
        figures = first;
    }
    format!("{head}  {}", joined(figures))
}

/// What can be said against a figure, after it.
const MARKS: [&str; 4] = ["caution", "invalid", "not examined", "failed"];

/// The least width of a step's number and title beside its figure, columns.
const HEAD_LEAST: usize = 16;

/// The step's number and title, with the target where there are several.
pub(super) fn heading(step: &Step) -> String {
    let target = if step.is_one_of_several { format!("{}: ", step.target) } else { String::new() };
    escape::line(&format!("{}/{} {target}{}", step.number, step.of, step.title)).into_owned()
}

/// I/Os or operations per second, bytes per second, and the 99th percentile.
fn rates(figures: &LiveFigures) -> [String; 3] {
    let bytes = figures.bytes_per_s.map(bytes_per_s).unwrap_or_default();
    // Operations that move no bytes (stat, rename ...) are not called I/Os.
    let rate = |rate| if figures.bytes_per_s.is_some() { count_per_s(rate) } else { format!("{} ops/s", number(rate)) };
    let rate = figures.operations_per_s.map(rate).unwrap_or_default();
    let p99 = figures.latency_ns_p99.map(|ns| format!("p99 {}", latency(ns as f64))).unwrap_or_default();
    if figures.phase == LivePhase::Running {
        [rate, bytes, p99]
    } else {
        [figures.phase.word().to_owned(), bytes, String::new()]
    }
}

/// A time in words: `38 s`, `12 min`.
fn time(seconds: u64) -> String {
    if seconds < 100 { format!("{seconds} s") } else { format!("{} min", seconds.div_ceil(60)) }
}

/// Width of the bar, blocks.
const BAR: usize = 10;

fn bar(share: f64) -> String {
    let full = ((share * BAR as f64) as usize).min(BAR);
    format!("▕{}{}▏", "█".repeat(full), "░".repeat(BAR - full))
}

/// The text cut to whole words that fit.
fn shortened(text: &str, columns: usize) -> String {
    let mut short = String::new();
    for word in text.split(' ') {
        if short.chars().count() + word.chars().count() + 2 > columns {
            short.push('…');
            break;
        }
        short.push_str(if short.is_empty() { "" } else { " " });
        short.push_str(word);
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(number: usize, of: usize, following_s: u64) -> Step {
        let title = "4k random read, depth 32".into();
        let (target, following_s) = ("/mnt/nfs".into(), Some(following_s));
        Step { target, title, number, of, more: Some(0), following_s, is_one_of_several: false }
    }

    fn figures(elapsed_ms: u64, seconds_left: u64) -> LiveFigures {
        LiveFigures {
            phase: LivePhase::Running,
            elapsed_ms,
            seconds_left: Some(seconds_left),
            operations_per_s: Some(67_204.0),
            bytes_per_s: Some(275_267_584.0),
            latency_ns_p99: Some(3_402_000),
            ..LiveFigures::default()
        }
    }

    #[test]
    fn the_line_fits_the_terminal_with_whole_words() {
        let mut estimate = Estimate::default();
        estimate.end(7_000);
        estimate.end(7_000);
        let mut line = |columns| estimate.line(&step(3, 9, 42), &figures(2_000, 5), columns);
        let wide = "3/9 4k random read, depth 32  67,204 IOPS  275 MB/s  p99 3.40 ms  ▕██░░░░░░░░▏  47 s left";
        assert_eq!(line(120), wide);
        assert_eq!(line(80), "3/9 4k random read, depth 32  67,204 IOPS  p99 3.40 ms  ▕██░░░░░░░░▏  47 s left");
        assert_eq!(line(60), "3/9 4k random read, depth 32  67,204 IOPS  47 s left");
        assert_eq!(line(30), "3/9 4k random…  47 s left");
        let mut named = Estimate::default();
        assert_eq!(
            named.line(&Step { is_one_of_several: true, ..step(1, 1, 0) }, &figures(0, 3), 60),
            "1/1 /mnt/nfs: 4k random read, depth 32  3 s left"
        );
        let layout = LiveFigures { phase: LivePhase::Layout, ..LiveFigures::default() };
        assert_eq!(named.line(&step(1, 1, 0), &layout, 60), "1/1 4k random read, depth 32  layout");
    }

    #[test]
    fn the_estimate_is_of_the_whole_question_and_only_falls() {
        let mut estimate = Estimate::default();
        assert_eq!(estimate.begin(&step(1, 9, 56)), 0);
        let mut look = |step: &Step, figures| estimate.look(step, &figures).map(|left| left.least_s);
        assert_eq!(look(&step(1, 9, 56), figures(0, 8)), Some(64));
        assert_eq!(look(&step(1, 9, 56), figures(3_000, 20)), Some(64), "it does not rise");
        assert_eq!(look(&step(2, 9, 49), figures(0, 7)), Some(56));
        assert_eq!(estimate.begin(&step(10, 11, 7)), 2, "steps came on top: that is said, and it begins anew");
        assert_eq!(estimate.look(&step(10, 11, 7), &figures(0, 60)).map(|left| left.least_s), Some(67));
        let nothing_planned = Step { following_s: None, ..step(1, 3, 0) };
        assert!(Estimate::default().look(&nothing_planned, &figures(0, 8)).is_none(), "nobody can tell");
    }

    #[test]
    fn steps_that_may_come_make_a_range() {
        let words = |more| {
            let step = Step { more, ..step(1, 9, 56) };
            Estimate::default().look(&step, &figures(0, 8)).map(|left| left.words()).unwrap()
        };
        assert_eq!([words(Some(0)), words(Some(4))], ["64 s left", "64 to 92 s left"]);
        assert_eq!([words(Some(40)), words(None)], ["64 s to 6 min left", "at least 64 s left"]);
    }

    #[test]
    fn what_a_step_found_stays_on_one_line() {
        let found = "275 MB/s, 67,204 IOPS, p50 300 µs, p99 3.40 ms, caution";
        let line = |columns| finished_line(&step(3, 9, 0), found, columns);
        assert_eq!(line(120), format!("3/9 4k random read, depth 32  {found}"));
        assert_eq!(line(80), "3/9 4k random read, depth 32  275 MB/s, 67,204 IOPS, p50 300 µs, caution");
        assert_eq!(line(60), "3/9 4k random read, depth 32  275 MB/s, 67,204 IOPS, caution");
        assert_eq!(line(59), "3/9 4k random read, depth 32  275 MB/s, caution");
        assert_eq!(line(36), "3/9 4k random…  275 MB/s, caution", "the figure stays, with its mark");
        assert_eq!(line(20), "3/9 4k random read,…");
        let trusted = super::finished_line(&step(3, 9, 0), "275 MB/s, 67,204 IOPS, p50 300 µs", 60);
        assert_eq!(trusted, "3/9 4k random read, depth 32  275 MB/s, 67,204 IOPS");
    }
}
