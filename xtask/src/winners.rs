//! `cargo xtask winners`: how often `compare` names a winner. Of two places that are equal it may in one comparison of
//! twenty; a place that is slower must be found in four of five.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it talks to a person at a terminal")]

use std::path::PathBuf;
use std::process::Command;

use crate::agreement::ours;

const USAGE: &str = "usage: cargo xtask winners [--comparisons N] [--slower] [FIRST SECOND]

  --comparisons N   how many (60 unless said otherwise: two hours)
  --slower          the second place is slower: it must lose, in any pattern, in 80 % of comparisons
  FIRST SECOND      directories (two new ones in the folder for temporary files): equal unless --slower stands, so that
                    at most 5 % of comparisons may name a winner in any pattern

  Each runs for 1 s a turn on a file of 64 MiB. FSDYNO_BIN names another binary.";

#[derive(Debug, PartialEq)]
struct Asked {
    comparisons: usize,
    slower: bool,
    places: Vec<PathBuf>,
}

/// Runs them; `Ok(false)`: too many winners of equal places, or a slower one found too seldom.
pub(crate) fn run(words: &[String]) -> Result<bool, String> {
    if words.iter().any(|word| word == "--help") {
        println!("{USAGE}");
        return Ok(true);
    }
    let mut asked = parse(words)?;
    let own = std::env::temp_dir().join(format!("winners-{}", std::process::id()));
    if asked.places.is_empty() {
        asked.places = ["first", "second"].map(|name| own.join(name)).to_vec();
        for place in &asked.places {
            std::fs::create_dir_all(place).map_err(|error| format!("{}: {error}", place.display()))?;
        }
    }
    let counted = count(&asked);
    if own.exists() {
        std::fs::remove_dir_all(&own).map_err(|error| format!("{}: {error}", own.display()))?;
    }
    let (named, found) = counted?;
    let share = |count: usize| count as f64 / asked.comparisons as f64;
    println!(
        "{} comparisons: {named} name a winner in some pattern ({:.0} %), {found} the first place ({:.0} %)",
        asked.comparisons,
        share(named) * 100.0,
        share(found) * 100.0
    );
    Ok(if asked.slower { share(found) >= 0.8 } else { share(named) <= 0.05 })
}

fn parse(words: &[String]) -> Result<Asked, String> {
    let mut asked = Asked { comparisons: 60, slower: false, places: Vec::new() };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--comparisons" => {
                let count = words.next().and_then(|value| value.parse().ok()).filter(|count| *count >= 1);
                asked.comparisons = count.ok_or("--comparisons takes a number from 1 up")?;
            }
            "--slower" => asked.slower = true,
            _ if word.starts_with('-') => return Err(format!("winners does not know {word}\n{USAGE}")),
            place => asked.places.push(PathBuf::from(place)),
        }
    }
    match (asked.places.len(), asked.slower) {
        (2, _) | (0, false) => Ok(asked),
        _ => Err(format!("it takes two places\n{USAGE}")),
    }
}

/// How many comparisons name a winner in any pattern, and how many the first place.
fn count(asked: &Asked) -> Result<(usize, usize), String> {
    let program = std::env::var_os("FSDYNO_BIN").map_or_else(ours, |program| Ok(program.into()))?;
    let (mut named, mut found) = (0, 0);
    for number in 1..=asked.comparisons {
        let place = |name: &str, index: usize| format!("{name}={}", asked.places[index].display());
        let mut command = Command::new(&program);
        command.args(["compare", &place("first", 0), &place("second", 1)]);
        command.args(["--size=64m", "--runtime=1", "--no-store", "--quiet"]);
        let output = command.output().map_err(|error| format!("fsdyno cannot be run: {error}"))?;
        if !output.status.success() {
            return Err(format!("a comparison failed: {}", String::from_utf8_lossy(&output.stderr)));
        }
        let winners = winners(&String::from_utf8_lossy(&output.stdout));
        eprintln!("{number}: {}", if winners.is_empty() { "no winner".to_string() } else { winners.join("; ") });
        named += usize::from(!winners.is_empty());
        found += usize::from(winners.iter().any(|winner| winner.contains(": first is ahead")));
    }
    Ok((named, found))
}

/// The sentences of patterns that somebody won: `read: first is ahead, …`.
fn winners(report: &str) -> Vec<String> {
    report
        .lines()
        .filter(|line| line.contains(": first is ahead") || line.contains(": second is ahead"))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_understood_or_refused() {
        let asked = |words: &str| parse(&words.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(asked("--comparisons 3").unwrap(), Asked { comparisons: 3, slower: false, places: Vec::new() });
        assert_eq!(asked("--slower /a /b").unwrap().places.len(), 2);
        assert!(asked("--slower").unwrap_err().contains("two places"));
        assert!(asked("--comparisons 0").unwrap_err().contains("from 1 up"));
        assert!(asked("--fast").unwrap_err().contains("usage"));
    }

    #[test]
    fn winners_are_read_from_the_report() {
        let report = "read: first is ahead, 1.20 times as fast as second.\nwrite: no clear difference between first \
                      and second.\n";
        assert_eq!(winners(report), ["read: first is ahead, 1.20 times as fast as second."]);
    }
}
