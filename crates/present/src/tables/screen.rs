//! Fits the answer on one screen of 24 lines: the headline, its figures, trust, limits, next steps, and last how to see
//! the rest.

use fsdyno_results::{Question, Study, Verdict};
use fsdyno_stats::sort;
use fsdyno_text::escape;

use super::table::Form;
use super::{curve, figures, heading, measure, runs, scale, sentence, sentence_of, smallfiles, sweep, text};
use crate::command;
use crate::headline::next::is_saved;
use crate::headline::{Headline, LimitDetail, Step};

/// Lines of the smallest usual terminal, without the prompt and the line on where the run was saved.
const LINES: usize = 22;

/// Most lines of the headline, and of the text after a label.
pub(super) const SENTENCE_LINES: usize = 3;
pub(super) const LABELLED_LINES: usize = 2;

/// Most lines of limits with their tests.
const LIMIT_LINES: usize = 3;

/// The label of the limits.
const LIMITED_BY: &str = "limited by";

/// Most next steps.
const STEPS: usize = 2;

/// The answer of a study for a terminal of 24 lines and `columns` columns. A fio run has no answer and is shown whole.
pub fn screen(study: &Study, columns: usize) -> String {
    if study.question == Question::Fio {
        return text(study, columns);
    }
    let form = Form::Text { columns };
    let mut headline = Headline::of(study);
    // The bad ones come first, in case there is no room for all.
    let order = [Verdict::Fail, Verdict::Inconclusive, Verdict::Pass, Verdict::Reference, Verdict::NotApplicable];
    let place = |word: &str| order.iter().position(|verdict| verdict.word() == word);
    sort::by_key(&mut headline.verdicts, |line| place(line.verdict));
    let incomplete = sentence::incomplete(study).map(|[what, figures]| format!("{what}: {figures}."));
    Screen {
        heading: lines_of(&heading(study, form, true)),
        places: lines_of(&heading_of_names(study, form)),
        sentence: first_lines(&sentence_of(&headline, study, form), SENTENCE_LINES, columns),
        figures: lines_of(&figures_in_short(&headline, study, form)),
        limits: labelled(&headline, study, columns)
            .chain(incomplete.map(Labelled::line))
            .chain(left_out(study, columns))
            .collect(),
        joined_limits: joined_limits(study, form),
        steps: headline.steps(study).iter().take(STEPS).map(|step| lines_of(&form.step(step))).collect(),
        rest: lines_of(&form.step(&rest(study)).replacen("next: ", "", 1)),
        columns,
    }
    .shown()
}

/// Trust and limits, each line with its label: what shows a limit only where it has room, each limit in any case.
fn labelled(headline: &Headline, study: &Study, columns: usize) -> impl Iterator<Item = Labelled> {
    let of = |said| headline.lines_saying(study, said);
    let (evidence, tests, names) = (of(LimitDetail::Evidence), of(LimitDetail::Tests), of(LimitDetail::Name));
    let label_columns = names.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0);
    let several = study.targets.len() > 1;
    let in_lines = move |label: &str, words: &str| {
        let label = format!("{label:<label_columns$}");
        lines_of(&Form::Text { columns }.labelled(&[(&label, words.to_owned())]))
    };
    evidence.into_iter().zip(tests).zip(names).map(move |(((label, evidence), (_, tests)), (_, name))| {
        let whole = in_lines(label, &evidence);
        let of_first = |most| first_lines(&whole.join("\n"), most, columns);
        let about = match label {
            "trust" => LabelSubject::Trust,
            LIMITED_BY | "" => LabelSubject::Limit,
            "latency" => LabelSubject::Latency,
            _ => LabelSubject::Other,
        };
        let most = if several && about == LabelSubject::Limit { 1 } else { LABELLED_LINES };
        let (lines, short) = match about {
            LabelSubject::Limit if whole.len() <= most => (whole, in_lines(label, &name)),
            LabelSubject::Limit => {
                let (of_tests, short) = (in_lines(label, &tests), in_lines(label, &name));
                (if of_tests.len() > LIMIT_LINES { short.clone() } else { of_tests }, short)
            }
            LabelSubject::Latency => (of_first(most), in_lines(label, &name)),
            _ => (of_first(most), of_first(1)),
        };
        Labelled { lines, short, about }
    })
}

fn left_out(study: &Study, columns: usize) -> impl Iterator<Item = Labelled> {
    sentence::left_out(study).map(move |text| {
        let whole = Form::Text { columns }.paragraph(&format!("note: {text}"));
        let of_first = |most| first_lines(&whole, most, columns);
        Labelled { lines: of_first(LABELLED_LINES), short: of_first(1), about: LabelSubject::Other }
    })
}

/// The names of several places in one line with the time; empty where there is one.
fn heading_of_names(study: &Study, form: Form) -> String {
    let when = runs::when(study.started_ms);
    let names =
        form.paragraph(&format!("{}   {when}", study.target_names().join(", ")).replace("   ", "\u{a0}\u{a0} "));
    if study.targets.len() > 1 { names.replace('\u{a0}', " ") } else { String::new() }
}

/// The limits of several places, each limit once; empty where there is one place.
fn joined_limits(study: &Study, form: Form) -> Vec<String> {
    let limits = if study.targets.len() > 1 { Headline::limits_with_targets(study) } else { String::new() };
    if limits.is_empty() { Vec::new() } else { lines_of(&form.labelled(&[(LIMITED_BY, limits)])) }
}

/// The step that shows the rest.
fn rest(study: &Study) -> Step {
    let (what, command) = match is_saved(study) {
        true => ("all figures, findings and reasons:", command::about(study, "show", &["--wide"])),
        false => ("all figures, findings and reasons, in another run:", command::adding(study, "--wide")),
    };
    Step { what: what.to_owned(), command: Some(escape::line(&command).into_owned()) }
}

fn figures_in_short(headline: &Headline, study: &Study, form: Form) -> String {
    let shown = match study.question {
        Question::Sweep => sweep::in_short(study, form),
        Question::Curve => curve::in_short(study, form),
        Question::Scale => scale::in_short(study, form),
        Question::Attribute => super::sentences(headline, study, form).unwrap_or_default(),
        Question::SmallFiles => format!("{}{}", figures(headline, study, form), smallfiles::in_short(study, form)),
        _ => figures(headline, study, form),
    };
    // The headline's tests did not run: all tests are shown.
    if shown.is_empty() { measure::table(headline, form) } else { shown }
}

/// The parts of a screen, as lines.
#[derive(Clone)]
pub(super) struct Screen {
    pub(super) heading: Vec<String>,
    /// The heading of several places in short: their names; empty: there is nothing shorter.
    pub(super) places: Vec<String>,
    pub(super) sentence: Vec<String>,
    pub(super) figures: Vec<String>,
    /// Trust and limits.
    pub(super) limits: Vec<Labelled>,
    /// The limits of several places in short; empty: there is one place.
    pub(super) joined_limits: Vec<String>,
    pub(super) steps: Vec<Vec<String>>,
    pub(super) rest: Vec<String>,
    /// Width of the terminal, which wraps longer commands.
    pub(super) columns: usize,
}

/// The lines of a label.
#[derive(Clone)]
pub(super) struct Labelled {
    pub(super) lines: Vec<String>,
    /// The same where there is no room for them.
    pub(super) short: Vec<String>,
    pub(super) about: LabelSubject,
}

/// What a label is about.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum LabelSubject {
    Trust,
    Limit,
    /// It is the first to go where nothing shorter helps.
    Latency,
    Other,
}

impl Labelled {
    /// One that nothing makes shorter.
    fn line(line: String) -> Labelled {
        Labelled { lines: vec![line.clone()], short: vec![line], about: LabelSubject::Other }
    }
}

impl Screen {
    fn parts(&self) -> [Vec<String>; 6] {
        let steps = self.steps.concat();
        [
            self.heading.clone(),
            self.sentence.clone(),
            self.figures.clone(),
            self.limits.iter().flat_map(|label| label.lines.clone()).collect(),
            steps,
            self.rest.clone(),
        ]
    }

    /// Number of lines without blank ones.
    fn lines(&self) -> usize {
        let lines = |line: &String| line.chars().count().div_ceil(self.columns);
        self.parts().iter().flatten().map(lines).sum()
    }

    /// Shortens texts until all figures fit, in this order: second lines of next steps, of trust and latency, the tests of
    /// each limit, the third line of the headline, the line on latencies that are far apart, the line for the limits of each place,
    /// a line for each place in the heading, the second line of the headline.
    fn shorten(&mut self) {
        let cuts: [fn(&mut Screen); 8] = [
            |screen| screen.steps.iter_mut().for_each(|lines| one_line_of_words(lines, screen.columns)),
            |screen| screen.shorten_labels(|about| about != LabelSubject::Limit),
            |screen| screen.shorten_labels(|about| about == LabelSubject::Limit),
            |screen| screen.sentence = first_lines(&screen.sentence.join("\n"), SENTENCE_LINES - 1, screen.columns),
            |screen| screen.limits.retain(|label| label.about != LabelSubject::Latency),
            |screen| screen.join_limits(),
            |screen| {
                if !screen.places.is_empty() {
                    screen.heading.clone_from(&screen.places);
                }
            },
            |screen| screen.sentence = first_lines(&screen.sentence.join("\n"), 1, screen.columns),
        ];
        for cut in cuts {
            if self.lines() > LINES {
                cut(self);
            }
        }
    }

    fn shorten_labels(&mut self, is_meant: fn(LabelSubject) -> bool) {
        self.limits
            .iter_mut()
            .filter(|label| is_meant(label.about))
            .for_each(|label| label.lines.clone_from(&label.short));
    }

    /// Replaces the limits of each place by one paragraph that names each limit once.
    fn join_limits(&mut self) {
        let is_limit = |label: &Labelled| label.about == LabelSubject::Limit;
        let Some(first) = self.limits.iter().position(is_limit).filter(|_| !self.joined_limits.is_empty()) else {
            return;
        };
        self.limits[first].lines.clone_from(&self.joined_limits);
        let mut index = 0;
        self.limits.retain(|label| {
            index += 1;
            index == first + 1 || !is_limit(label)
        });
    }

    /// What fits: blank lines are dropped first, then the second step, then words are shortened, or the end of the
    /// figures is cut.
    pub(super) fn shown(mut self) -> String {
        if self.lines() > LINES {
            self.steps.truncate(1);
        }
        self.shorten();
        if let Some(more) = self.lines().checked_sub(LINES).filter(|more| *more > 0) {
            let kept = self.figures.len().saturating_sub(more + 1).max(2).min(self.figures.len());
            let left_out = self.figures.len() - kept;
            self.figures.truncate(kept);
            self.figures.push(format!("… {left_out} more lines"));
        }
        let mut room = LINES.saturating_sub(self.lines());
        let [heading, sentence, figures, limits, steps, rest] = self.parts();
        // The next steps and the step to the rest form one part.
        let mut parts = [heading, sentence, figures, limits, [steps, rest].concat()];
        // Blank lines between parts, the most useful first.
        for part in [2, 4, 3, 1] {
            if room > 0 && !parts[part].is_empty() && parts[..part].iter().any(|before| !before.is_empty()) {
                parts[part].insert(0, String::new());
                room -= 1;
            }
        }
        format!("{}\n", escape::terminal(&parts.concat().join("\n")))
    }
}

/// What a step is for in one line, above its command.
fn one_line_of_words(lines: &mut Vec<String>, columns: usize) {
    let is_words = |line: &String| line.starts_with("next: ") || line.starts_with("  ") && !line.starts_with("    ");
    let command = lines.iter().position(|line| !is_words(line)).unwrap_or(lines.len());
    let command = lines.split_off(command);
    *lines = first_lines(&lines.join("\n"), 1, columns);
    lines.extend(command);
}

pub(super) fn lines_of(text: &str) -> Vec<String> {
    text.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect()
}

/// The first lines, with a mark where others follow. They end outside of brackets, and at the end of a part of the
/// sentence where the last line contains one.
pub(super) fn first_lines(text: &str, most: usize, columns: usize) -> Vec<String> {
    let mut lines = lines_of(text);
    if lines.len() <= most {
        return lines;
    }
    lines.truncate(most);
    let (mut open, mut part, mut outside, mut word) = (0usize, None, None, None);
    for (index, line) in lines.iter().enumerate() {
        for (at, letter) in line.char_indices() {
            open = (open + usize::from(letter == '(')).saturating_sub(usize::from(letter == ')'));
            let end = at + letter.len_utf8();
            // The mark needs two columns.
            let ends_word = line[end..].is_empty() || line[end..].starts_with(' ');
            if ends_word && (index + 1 < most || line[..end].chars().count() + 2 <= columns) {
                word = Some((index, end));
                outside = if open == 0 && letter != ':' { word } else { outside };
                let is_part = ";.".contains(letter) || line[..end].ends_with("),");
                part = if open == 0 && is_part && index + 1 == most { word } else { part };
            }
        }
    }
    if let Some((index, end)) = part.or(outside).or(word) {
        lines.truncate(index + 1);
        lines[index].truncate(end);
        lines[index].push_str(" …");
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_room_is_marked() {
        assert_eq!(first_lines("one two\nthree\nfour\n", 2, 7), ["one two", "three …"]);
        assert_eq!(first_lines("one two\nthree four\nfive\n", 2, 10), ["one two", "three …"]);
        assert_eq!(
            first_lines("one (a, b),\ntwo (c, d, e,\nf)\n", 2, 20),
            ["one (a, b),", "two …"],
            "brackets stay whole"
        );
        assert_eq!(first_lines("one\ntwo; three,\nfour\n", 2, 12), ["one", "two; …"], "a part ends");
        assert_eq!(first_lines("one\n\ntwo\n", 2, 7), ["one", "two"]);
    }

    #[test]
    fn the_least_important_goes_first() {
        let lines = |word: &str, count: usize| (0..count).map(|number| format!("{word} {number}")).collect::<Vec<_>>();
        let screen = |figures| Screen {
            heading: lines("heading", 1),
            places: Vec::new(),
            sentence: lines("sentence", 3),
            figures: lines("figure", figures),
            limits: [("limit", LabelSubject::Limit), ("trust", LabelSubject::Trust)]
                .map(|(word, about)| Labelled { lines: lines(word, 2), short: vec![format!("{word} in short")], about })
                .into(),
            joined_limits: Vec::new(),
            steps: vec![vec!["next: step 0".to_owned(), "  step 1".to_owned()], lines("other", 2)],
            rest: lines("rest", 2),
            columns: 80,
        };
        let blank = |text: &str| text.lines().filter(|line| line.is_empty()).count();
        let seen = |text: &str| (text.lines().count(), blank(text), text.contains("other 1"));
        assert_eq!(seen(&screen(4).shown()), (22, 4, true));
        assert_eq!(seen(&screen(7).shown()), (22, 1, true), "{}", screen(7).shown());
        assert_eq!(seen(&screen(9).shown()), (22, 1, false), "{}", screen(9).shown());
        let shorter = screen(11).shown();
        assert!(shorter.contains("figure 10\nlimit 0\nlimit 1\ntrust 0\ntrust 1\nnext: step 0 …\n"), "{shorter}");
        let shorter = screen(12).shown();
        assert!(shorter.contains("figure 11\nlimit 0\nlimit 1\ntrust in short\n"), "limits stay: {shorter}");
        let shortest = screen(14).shown();
        let words = ["sentence 1 …\nfigure 0", "figure 13\nlimit in short\ntrust in short\nnext: step"];
        assert!(words.iter().all(|words| shortest.contains(words)), "{shortest}");
        let mut places = screen(16);
        (places.heading, places.places) = (lines("place", 4), lines("names", 1));
        places.joined_limits = vec!["limited by  x (a, b); y (c)".into()];
        places.limits = ["limited by  a: x", "            b: y", "            c: z"]
            .map(|line| Labelled { lines: vec![line.into()], short: vec![line.into()], about: LabelSubject::Limit })
            .into();
        let shown = places.shown();
        assert!(shown.starts_with("names 0\nsentence"), "{shown}");
        assert!(shown.contains("figure 15\nlimited by  x (a, b); y (c)\nnext: step"), "{shown}");
        let mut long = screen(4);
        long.steps[0][1] = "x".repeat(81);
        assert_eq!(seen(&long.shown()), (21, 3, true), "the terminal breaks a line: 22 of its own");
        let cut = screen(30).shown();
        assert!(seen(&cut) == (22, 0, false) && cut.contains("… 16 more lines"), "{cut}");
    }
}
