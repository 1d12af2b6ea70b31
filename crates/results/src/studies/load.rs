//! The loads of a curve: offered rate, achieved rate, and whether the load was served.

use super::{Metric, Row, Study, TestRounds};
use fsdyno_stats::Interval;
use fsdyno_stats::sort;
use fsdyno_stats::{FALLS_BEHIND, Served, achieved_per_s, was_served};

/// A load that was offered.
#[derive(Clone, Debug)]
pub struct Load<'a> {
    /// Percent of the capacity.
    pub percent: u32,
    /// Its run.
    pub row: &'a Row,
    /// Requests per second that came.
    pub offered_per_s: f64,
    /// Requests per second that were served.
    pub achieved_per_s: f64,
    /// Where that lies, 95 %.
    pub achieved: Interval,
    /// How long it was looked at, s.
    pub elapsed_s: f64,
    /// Whether it was served.
    pub served: Served,
}

impl Study {
    /// The loads that ran, ascending.
    pub fn loads(&self) -> Vec<Load<'_>> {
        let mut loads: Vec<Load<'_>> = self.rows.iter().filter_map(Load::of).collect();
        sort::by_key(&mut loads, |load| load.percent);
        loads
    }
}

impl Load<'_> {
    fn of(row: &Row) -> Option<Load<'_>> {
        let (_, percent) = row.numbered("load")?;
        let figures = row.figures()?;
        let offered_per_s = row.option("rate_iops")?.parse().ok()?;
        let achieved = achieved_per_s(figures.total.operations, figures.elapsed_s, &row.iops_windows())?;
        let achieved_per_s = TestRounds::of_rows([row]).value(Metric::Iops)?;
        Some(Load {
            percent,
            row,
            offered_per_s,
            achieved_per_s,
            achieved: achieved.interval,
            elapsed_s: figures.elapsed_s,
            // What came back in this very run decides, whatever another one shows.
            served: match was_served(offered_per_s, &achieved.interval) {
                Served::Yes if achieved_per_s < offered_per_s * FALLS_BEHIND => Served::CannotTell,
                served => served,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PerDirection;
    use crate::record::{DirectionRecord, JobRecord, JobSetup, RunRecord};

    /// The I/Os done in 5 s of the load `percent`, of which 10 a second were offered for each percent.
    fn row(percent: u32, ios: u64) -> Row {
        let read = DirectionRecord { ios, runtime_ms: 5000, ..DirectionRecord::default() };
        let mut job = JobRecord {
            directions: PerDirection { read, ..PerDirection::default() },
            ..JobRecord::new("randread", 1, JobSetup::default())
        };
        job.options.push(("rate_iops".into(), (percent * 10).to_string()));
        let mut run = RunRecord::new("fsdyno", 0);
        run.jobs.push(job);
        Row { pattern: format!("randread-4k-load{percent}"), ..Study::of_run(run).rows.remove(0) }
    }

    #[test]
    fn a_load_is_served_where_its_own_run_shows_it() {
        let mut study = Study::of_run(RunRecord::new("fsdyno", 0));
        study.rows = vec![row(100, 5000), row(2, 95), row(120, 4900)];
        let served = |study: &Study| study.loads().iter().map(|load| (load.percent, load.served)).collect::<Vec<_>>();
        assert_eq!(
            served(&study),
            [(2, Served::CannotTell), (100, Served::Yes), (120, Served::No)],
            "95 requests alone do not tell"
        );
        study.rows = vec![row(2, 95), row(120, 0)];
        assert_eq!(served(&study), [(2, Served::CannotTell)], "100 requests alone do not tell");
    }
}
