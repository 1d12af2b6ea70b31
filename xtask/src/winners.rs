//! `cargo xtask winners`: counts how often `compare` names a winner. With two equal places it may do so in one
//! comparison of twenty; a slower place must be found in four of five.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it talks to a person at a terminal")]

use std::path::PathBuf;
use std::process::Command;

use crate::agreement::ours;

/// Each comparison runs for 1 s a turn on a file of 64 MiB. FSDYNO_BIN names another binary.
#[derive(Debug, PartialEq, clap::Parser)]
#[command(name = "cargo xtask winners")]
struct Arguments {
    /// How many; 60 take two hours.
    #[arg(long, default_value = "60", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..))]
    comparisons: usize,
    /// The second place is slower: it must lose, in any pattern, in 80 % of comparisons.
    #[arg(long, requires = "places")]
    slower: bool,
    /// Two directories (two new ones in the folder for temporary files): equal unless --slower stands, so that at most 5 %
    /// of comparisons may name a winner in any pattern.
    #[arg(num_args = 2)]
    places: Vec<PathBuf>,
}

/// Runs the comparisons; `Ok(false)`: too many winners among equal places, or a slower one was found too seldom.
pub(crate) fn run(words: &[String]) -> Result<bool, String> {
    let Some(mut asked) = crate::words::asked::<Arguments>(words)? else { return Ok(true) };
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

/// Number of comparisons that name a winner in any pattern, and number with the first place as winner.
fn count(asked: &Arguments) -> Result<(usize, usize), String> {
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
        found += usize::from(winners.iter().any(|winner| winner.contains(" first wins (")));
    }
    Ok((named, found))
}

/// The lines of patterns with a winner: `read   1,637 MB/s   119 MB/s   first wins (14.0x)`.
fn winners(report: &str) -> Vec<String> {
    let is_won = |line: &&str| line.contains(" first wins (") || line.contains(" second wins (");
    report.lines().filter(is_won).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_understood_or_refused() {
        let asked = |words: &str| crate::words::tests::asked::<Arguments>(words);
        assert_eq!(asked("--comparisons 3").unwrap(), Arguments { comparisons: 3, slower: false, places: Vec::new() });
        assert_eq!(asked("--slower /a /b").unwrap().places.len(), 2);
        assert!(asked("--slower").unwrap_err().contains("PLACES"));
        assert!(asked("--comparisons 0").unwrap_err().contains("1.."));
        assert!(asked("--fast").unwrap_err().contains("Usage"));
    }

    #[test]
    fn winners_are_read_from_the_report() {
        let won = "read   120 MB/s  100 MB/s  first wins (1.20x)";
        let report = format!("{won}\nwrite  100 MB/s  100 MB/s  no difference shown: 0.97–1.04\n");
        assert_eq!(winners(&report), [won]);
    }
}
