//! Measures how exact waits are: the gaps between the starts of requests, as a log of them says.

use std::path::Path;

use super::case::Quantile;
use super::table::Line;
use super::tool::{self, RunWrapper, Tool};

/// One line for each quantile.
pub(super) fn lines(
    ours: &Tool,
    directory: &Path,
    words: &str,
    runtime_ms: u32,
    quantiles: &[Quantile],
) -> Result<Vec<Line>, String> {
    let words = format!(
        "--name=gaps --thread --ioengine=null --rw=randread --size=64g --time_based --runtime={runtime_ms}ms \
         --write_lat_log=gaps --log_offset=1 --log_issue_time=1 {words}"
    );
    tool::run(ours, &super::counting::split(&words), directory, RunWrapper::Bare)?;
    let log = directory.join("gaps_clat.1.log");
    let text = std::fs::read_to_string(&log).map_err(|error| format!("{}: {error}", log.display()))?;
    let gaps = gaps_us(&text).ok_or_else(|| format!("{}: not a log of starts", log.display()))?;
    let line = |(percent, target): &Quantile| Line {
        case: String::new(),
        measure: format!("gap between starts, us, p{percent}"),
        fio: None,
        ours: quantile(&gaps, *percent),
        ratio: None,
        target: *target,
        deterministic: false,
        note: None,
    };
    Ok(quantiles.iter().map(line).collect())
}

/// The gaps in ascending order, us. The last column of the log has the time of each start, ns.
fn gaps_us(log: &str) -> Option<Vec<f64>> {
    let starts = log.lines().map(|line| line.rsplit(", ").next()?.parse().ok()).collect::<Option<Vec<u64>>>()?;
    let mut gaps: Vec<f64> = starts.windows(2).map(|two| two[1].abs_diff(two[0]) as f64 / 1e3).collect();
    gaps.sort_by(f64::total_cmp);
    Some(gaps)
}

/// The smallest value that is not below this share of all values.
fn quantile(sorted: &[f64], percent: f64) -> Option<f64> {
    let rank = (sorted.len() as f64 * percent / 100.0).ceil().max(1.0) as usize;
    sorted.get(rank - 1).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_those_between_the_starts() {
        let log = "0, 50, 0, 4096, 0, 0, 1000\n0, 50, 0, 4096, 0, 0, 53000\n0, 50, 0, 4096, 0, 0, 103000\n";
        let gaps = gaps_us(log).unwrap();
        assert_eq!(gaps, [50.0, 52.0]);
        assert_eq!((quantile(&gaps, 50.0), quantile(&gaps, 99.0), quantile(&[], 50.0)), (Some(50.0), Some(52.0), None));
        assert_eq!(gaps_us("0, 50, 0, 4096, 0, x\n"), None);
    }
}
