//! Ranks the places in each pattern of a comparison, as far as the rounds can show it.

use fsdyno_results::{Interval, Metric, Question, Ratio};
use fsdyno_stats::sort;
use fsdyno_stats::{Difference, WINNER_ROUNDS};
use schemars::JsonSchema;
use serde::Serialize;

use crate::quantity::{listed, ratio, times, times_between};
use crate::summary::{Grid, PatternLine};

/// The ranking in a pattern of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PatternRanking {
    /// The pattern's name, the same as its tests'.
    pub name: String,
    /// The storage that is faster than all others; `None`: there is none, or the rounds do not show it.
    pub winner: Option<String>,
    /// The storage that the fastest is compared with: the fastest of those that are not clearly slower, else the
    /// second.
    pub against: Option<String>,
    /// Figure of the fastest place divided by that of `against`.
    pub ratio: Option<f64>,
    /// Interval of the ratio; `None`: too few rounds.
    pub interval: Option<Interval>,
    /// The places that ran and cannot win: no figure counts, or it is not reliable enough.
    pub cannot_win: Vec<String>,
    /// The conclusion in words: `local wins (14.0x)`, `no difference shown: 0.97–1.04`.
    pub conclusion: String,
    /// Whether this is the second ranking of the pattern, by the time until the command's writes are durable.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub with_sync: bool,
    /// Whether enough rounds count to show a difference.
    #[serde(skip)]
    is_judged: bool,
}

/// The standings of a comparison; empty for other questions.
pub(super) fn all(grid: &Grid<'_>) -> Vec<PatternRanking> {
    let places = (0..grid.targets.len()).filter(|target| !grid.is_reference(*target)).count();
    let is_compared = match grid.study.question {
        Question::Compare => true,
        Question::Time => places > 1,
        _ => false,
    };
    if !is_compared {
        return Vec::new();
    }
    let mut all: Vec<PatternRanking> = grid.lines.iter().map(|line| PatternRanking::of(grid, line)).collect();
    let is_synced = |line: &&PatternLine<'_>| line.cells.iter().any(|cell| cell.value(Metric::WallAndSync).is_some());
    all.extend(grid.lines.iter().filter(is_synced).map(|line| PatternRanking::with_sync(grid, line)));
    all
}

impl PatternRanking {
    /// The ranking in this line.
    pub(crate) fn of(grid: &Grid<'_>, line: &PatternLine<'_>) -> PatternRanking {
        PatternRanking::by(grid, line, line.headline())
    }

    /// The ranking by the time until everything is durable that the command left in memory.
    fn with_sync(grid: &Grid<'_>, line: &PatternLine<'_>) -> PatternRanking {
        PatternRanking { with_sync: true, ..PatternRanking::by(grid, line, Metric::DurableIops) }
    }

    fn by(grid: &Grid<'_>, line: &PatternLine<'_>, metric: Metric) -> PatternRanking {
        let ranking = Ranking::of(grid, line, metric);
        let lead = ranking.lead(line);
        let name = |index: usize| grid.targets[index].clone();
        let found = lead.and_then(|(.., found)| found);
        PatternRanking {
            name: line.pattern.clone(),
            winner: lead.filter(|_| found.is_some_and(|found| is_ahead(&found))).map(|(first, ..)| name(first)),
            against: lead.map(|(_, second, _)| name(second)),
            ratio: found.map(|found| found.value),
            interval: found.and_then(|found| found.interval),
            cannot_win: ranking.left_out.iter().map(|index| name(*index)).collect(),
            conclusion: conclusion(grid, &ranking, lead),
            with_sync: false,
            is_judged: found.is_some_and(|found| found.difference() != Difference::TooFew),
        }
    }
}

/// The conclusion from too few rounds begins with this.
const TOO_FEW: &str = "too few rounds ";

fn conclusion(grid: &Grid<'_>, ranking: &Ranking, lead: Option<(usize, usize, Option<Ratio>)>) -> String {
    let name = |index: usize| &grid.targets[index];
    let (first, second, found) = match (lead, &ranking.ranks[..]) {
        (Some(lead), _) => lead,
        (None, [only, ..]) => return format!("only {} can win", name(*only)),
        (None, []) => return "none can win".to_owned(),
    };
    let Some(found) = found else { return "not measured in the same rounds".to_owned() };
    // With two places the other need not be named.
    let of = if grid.targets.len() > 2 { format!(" {}", name(second)) } else { String::new() };
    match found.difference() {
        Difference::Shown if is_ahead(&found) => format!("{} wins ({}x{of})", name(first), times(found.value)),
        // Without a winner the other place is not named.
        Difference::TooFew => format!("{TOO_FEW}({} {}x)", name(first), times(found.value)),
        Difference::Shown | Difference::NotShown => match found.interval {
            Some(interval) => format!("no difference shown: {}", times_between(&interval)),
            None => "no difference shown".to_owned(),
        },
    }
}

impl PatternRanking {
    /// Whether its words have a ratio: `local wins (14.0x)`.
    fn has_ratio(&self) -> bool {
        self.ratio.is_some() && (self.winner.is_some() || self.undecided().is_some())
    }

    /// What too few rounds have shown so far, `make (local 1.86x)`; `None`: that is not the conclusion.
    pub(super) fn undecided(&self) -> Option<String> {
        Some(format!("{} {}", self.name, self.conclusion.strip_prefix(TOO_FEW)?))
    }
}

/// What the ratios beside the medians of several rounds are, for the legend of a table; `None`: there are none.
pub(crate) fn ratio_legend(standings: &[PatternRanking], rounds: usize) -> Option<&'static str> {
    (rounds > 1 && standings.iter().any(PatternRanking::has_ratio)).then_some("x median of the rounds' ratios")
}

/// The order of the places in a pattern.
struct Ranking {
    /// The targets with a figure that counts, the fastest first, by the ratios of their rounds.
    ranks: Vec<usize>,
    /// The targets that ran and cannot win: no figure counts, or they lead with one that is not reliable enough.
    left_out: Vec<usize>,
    /// The metric by which they are compared.
    metric: Metric,
}

impl Ranking {
    fn of(grid: &Grid<'_>, line: &PatternLine<'_>, metric: Metric) -> Ranking {
        let is_asked = |index: &usize| !grid.is_reference(*index) && !line.cells[*index].repeats.is_empty();
        let ran = (0..line.cells.len()).filter(is_asked);
        let (mut ranks, mut left_out): (Vec<usize>, Vec<usize>) =
            ran.partition(|index| line.cells[*index].counts(metric));
        let faster = |one: usize, other: usize| {
            line.cells[one].ratio(&line.cells[other], metric).is_some_and(|ratio| ratio.value > 1.0)
        };
        let all = ranks.clone();
        sort::by_key(&mut ranks, |one| std::cmp::Reverse(all.iter().filter(|other| faster(*one, **other)).count()));
        let barred = ranks.iter().take_while(|index| !line.cells[**index].can_win()).count();
        left_out.extend(ranks.drain(..barred));
        sort::by(&mut left_out, Ord::cmp);
        Ranking { ranks, left_out, metric }
    }

    /// The first place, the place that decides against it, and their ratio. It decides the first place without a clear
    /// difference, else the second. `None` with fewer than two; the ratio is missing where the two have no common
    /// round.
    fn lead(&self, line: &PatternLine<'_>) -> Option<(usize, usize, Option<Ratio>)> {
        let (first, others) = self.ranks.split_first()?;
        let ratio = |other: usize| line.cells[*first].ratio(&line.cells[other], self.metric);
        let open = others.iter().find(|other| !ratio(**other).is_some_and(|found| is_ahead(&found)));
        let decides = *open.or(others.first())?;
        Some((*first, decides, ratio(decides)))
    }
}

fn is_ahead(found: &Ratio) -> bool {
    found.difference() == Difference::Shown && found.value > 1.0
}

/// The whole comparison in a few sentences: who wins in which patterns, where no difference is shown, and which places
/// cannot win. Empty when there is nothing to compare.
pub(super) fn sentences(standings: &[PatternRanking], rounds: usize) -> Vec<String> {
    let mut ahead: Vec<(&str, Vec<String>)> = Vec::new();
    let mut left_out: Vec<(&str, Vec<String>)> = Vec::new();
    let (mut open, mut too_few): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    fn add<'a>(list: &mut Vec<(&'a str, Vec<String>)>, target: &'a str, words: String) {
        match list.iter_mut().find(|(known, _)| *known == target) {
            Some((_, known)) => known.push(words),
            None => list.push((target, vec![words])),
        }
    }
    for standing in standings {
        standing.cannot_win.iter().for_each(|target| add(&mut left_out, target, standing.name.clone()));
        let Some(second) = &standing.against else { continue };
        match (&standing.winner, standing.ratio) {
            (Some(first), Some(found)) => {
                add(&mut ahead, first, format!("{} ({} {second})", standing.name, ratio(found)));
            }
            _ if standing.is_judged => open.push(standing.name.clone()),
            _ => too_few.push(standing.name.clone()),
        }
    }
    // A place that cannot win may have the higher figure.
    let wins = |(first, patterns): &(&str, Vec<String>)| format!("{first} wins in {}.", listed(patterns));
    let mut sentences: Vec<String> = ahead.iter().map(wins).collect();
    if !open.is_empty() {
        sentences.push(format!("In {} the rounds show no clear difference at the top.", listed(&open)));
    }
    if !too_few.is_empty() {
        let needed = WINNER_ROUNDS.0;
        let what = match rounds {
            1 => "One round cannot show a difference".to_owned(),
            few if few < needed as usize => format!("{few} rounds cannot show a difference ({needed} are needed)"),
            _ => format!("Fewer than {needed} rounds count on both sides, which cannot show a difference"),
        };
        sentences.push(format!("{what}: no winner in {}.", listed(&too_few)));
    }
    // Places that cannot win in the same patterns share a sentence.
    let mut refused: Vec<(Vec<String>, Vec<String>)> = Vec::new();
    for (target, patterns) in left_out {
        match refused.iter_mut().find(|(_, known)| *known == patterns) {
            Some((targets, _)) => targets.push(target.to_owned()),
            None => refused.push((vec![target.to_owned()], patterns)),
        }
    }
    sentences.extend(refused.iter().map(|(targets, patterns)| {
        let whose = if targets.len() == 1 { "its" } else { "their" };
        format!("{} cannot win in {}: see {whose} findings or errors.", listed(targets), listed(patterns))
    }));
    sentences
}
