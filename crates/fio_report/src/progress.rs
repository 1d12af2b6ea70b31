//! Writes the progress line of a run.

use fsdyno_results::{Direction, PerDirection};

use crate::number::Style;

/// The state of a run at one time.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Number of running workers.
    pub running: u32,
    /// Number of open files.
    pub open_files: u32,
    /// The rate limits, summed over the workers.
    pub limit: Option<RateLimit>,
    /// One letter per worker: `P` not started, `C` created, `I` initialised, `/` ramp, `R` `r` sequential and random
    /// reads, `W` `w` writes, `M` `m` both, `D` `d` trims, `F` sync, `V` verify, `f` finishing, `E` exited, `_` reaped,
    /// `X` error, `K` killed.
    pub states: Vec<char>,
    /// Seconds since the run began. Before the third the line has only its first part, as rates have not settled.
    pub elapsed_s: u64,
    /// Percentage of the run that is over; `None`: unknown, or in the ramp.
    pub percent: Option<f64>,
    /// Bytes per second of read, write and trim since the last line.
    pub bandwidth: PerDirection<u64>,
    /// I/Os per second of read, write and trim since the last line.
    pub iops: PerDirection<u64>,
    /// Seconds left; `None`: unknown.
    pub eta_s: Option<u64>,
    /// `significant_figures` of the jobs.
    pub significant_figures: u32,
    /// `kb_base` of the jobs.
    pub kb_base: u32,
    /// `unit_base` of the jobs.
    pub unit_base: u32,
}

/// The least and the greatest rate that a run may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateLimit {
    /// `rate_min` and `rate`, bytes per second.
    Bandwidth(u64, u64),
    /// `rate_iops_min` and `rate_iops`.
    Iops(u64, u64),
}

impl Progress {
    /// `Jobs: 1 (f=1): [m(1)][60.0%][r=2000KiB/s,w=800KiB/s][r=500,w=200 IOPS][eta 00m:02s]`, without a line end.
    pub fn line(&self) -> String {
        let Progress {
            running,
            open_files,
            limit,
            states,
            elapsed_s,
            percent,
            bandwidth,
            iops,
            eta_s,
            significant_figures,
            kb_base,
            unit_base,
        } = self;
        let style = Style::new(*significant_figures, *kb_base, *unit_base);
        let mut line = format!("Jobs: {running} (f={open_files})");
        match limit {
            Some(RateLimit::Bandwidth(min, max)) => {
                line.push_str(&format!(", {}-{}", style.rate(*min), style.rate(*max)));
            }
            Some(RateLimit::Iops(min, max)) => line.push_str(&format!(", {min}-{max} IOPS")),
            None => {}
        }
        if *elapsed_s < 3 {
            return line;
        }
        let percent = percent.map_or("-.-".to_owned(), |percent| format!("{percent:3.1}"));
        line.push_str(&format!(": [{}][{percent}%]", run_lengths(states)));
        let busy = |direction: &Direction| bandwidth[*direction] > 0 || iops[*direction] > 0;
        let active: Vec<Direction> = Direction::ALL.into_iter().filter(busy).collect();
        if !active.is_empty() {
            let rates = by_letter(&active, |direction| style.rate_in_thousands(bandwidth[direction]));
            let counts = by_letter(&active, |direction| style.count(iops[direction]));
            line.push_str(&format!("[{rates}][{counts} IOPS]"));
        }
        line.push_str(&format!("[eta {}]", eta_s.map_or("--".to_owned(), remaining)));
        line
    }
}

/// The directions in use, by letter: `r=1,w=2`.
fn by_letter(active: &[Direction], value: impl Fn(Direction) -> String) -> String {
    let part = |direction: &Direction| format!("{}={}", &direction.name()[..1], value(*direction));
    let parts: Vec<String> = active.iter().map(part).collect();
    parts.join(",")
}

/// `m(1),E(2)`.
fn run_lengths(states: &[char]) -> String {
    let runs: Vec<String> =
        states.chunk_by(|left, right| left == right).map(|run| format!("{}({})", run[0], run.len())).collect();
    runs.join(",")
}

/// `01d:02h:03m:04s`; days and hours only when there are any.
fn remaining(seconds: u64) -> String {
    let (days, hours, minutes, seconds) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    let mut text = String::new();
    if days > 0 {
        text.push_str(&format!("{days:02}d:"));
    }
    if days > 0 || hours > 0 {
        text.push_str(&format!("{hours:02}h:"));
    }
    text + &format!("{minutes:02}m:{seconds:02}s")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress() -> Progress {
        Progress {
            running: 3,
            open_files: 3,
            limit: None,
            states: vec!['m'; 3],
            elapsed_s: 4,
            percent: Some(57.14),
            bandwidth: PerDirection { read: 3076 * 1024, write: 3076 * 1024, trim: 0 },
            iops: PerDirection { read: 769, write: 769, trim: 0 },
            eta_s: Some(3),
            significant_figures: 4,
            kb_base: 1024,
            unit_base: 0,
        }
    }

    #[test]
    fn a_settled_run_with_a_rate() {
        let line = Progress { limit: Some(RateLimit::Bandwidth(0, 6 << 20)), ..progress() }.line();
        assert_eq!(
            line,
            "Jobs: 3 (f=3), 0B/s-6144KiB/s: [m(3)][57.1%][r=3076KiB/s,w=3076KiB/s][r=769,w=769 IOPS][eta 00m:03s]"
        );
    }

    #[test]
    fn the_first_seconds_and_the_ramp() {
        let early =
            Progress { running: 1, open_files: 1, elapsed_s: 2, limit: Some(RateLimit::Iops(0, 700)), ..progress() };
        assert_eq!(early.line(), "Jobs: 1 (f=1), 0-700 IOPS");
        let ramp = Progress {
            states: vec!['/'; 3],
            open_files: 0,
            percent: None,
            bandwidth: PerDirection::default(),
            iops: PerDirection::default(),
            ..progress()
        };
        assert_eq!(ramp.line(), "Jobs: 3 (f=0): [/(3)][-.-%][eta 00m:03s]");
    }

    #[test]
    fn workers_in_different_states() {
        let line = Progress {
            states: vec!['/', '/', 'm'],
            bandwidth: PerDirection { read: 1100, write: 1100, trim: 1 << 30 },
            iops: PerDirection { read: 0, write: 0, trim: 48_500 },
            percent: Some(100.0),
            eta_s: Some(93_784),
            ..progress()
        }
        .line();
        assert_eq!(
            line,
            "Jobs: 3 (f=3): [/(2),m(1)][100.0%][r=1KiB/s,w=1KiB/s,t=1024MiB/s][r=0,w=0,t=48.5k IOPS]\
             [eta 01d:02h:03m:04s]"
        );
        assert!(Progress { eta_s: None, ..progress() }.line().ends_with("[eta --]"));
    }
}
