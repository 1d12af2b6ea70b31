//! The loads of a curve: offered rate, achieved rate, and whether the storage served the load.

use super::{Metric, Row, Study, TestRounds};
use fsdyno_stats::Interval;
use fsdyno_stats::sort;
use fsdyno_stats::{FALLS_BEHIND, Served, achieved_per_s, was_served};

/// A load that was offered to the storage.
#[derive(Clone, Debug)]
pub struct Load<'a> {
    /// The load in percent of the capacity.
    pub percent: u32,
    /// Its run.
    pub row: &'a Row,
    /// Requests per second that were offered.
    pub offered_per_s: f64,
    /// Requests per second that completed.
    pub achieved_per_s: f64,
    /// Confidence interval of the achieved rate, 95 %.
    pub achieved: Interval,
    /// Measured time, s.
    pub elapsed_s: f64,
    /// Whether such a load is served: what this run allows to infer for longer ones.
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
    /// Whether this run kept up: what completed is 98 % or more of what was offered. An observation, whatever longer runs
    /// would show.
    pub fn kept_up(&self) -> bool {
        self.achieved_per_s >= self.offered_per_s * FALLS_BEHIND
    }

    fn of(row: &Row) -> Option<Load<'_>> {
        let (_, percent) = row.numbered("load")?;
        let figures = row.figures()?;
        // Each job has its rate: the connections to an object store are jobs.
        let each_per_s: f64 = row.option("rate_iops")?.parse().ok()?;
        let offered_per_s = each_per_s * row.run.as_ref()?.jobs.len() as f64;
        let achieved = achieved_per_s(figures.total.operations, figures.elapsed_s, &row.iops_windows())?;
        let achieved_per_s = TestRounds::of_rows([row]).value(Metric::Iops)?;
        Some(Load {
            percent,
            row,
            offered_per_s,
            achieved_per_s,
            achieved: achieved.interval,
            elapsed_s: figures.elapsed_s,
            // The completions of this run decide, whatever other runs show.
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

    /// A row with this number of I/Os in 5 s at the load `percent`; 10 requests per second are offered for each
    /// percent.
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
            "95 requests are too few to decide"
        );
        // A rate is that of each job.
        let mut shared = row(100, 2500);
        let run = shared.run.as_mut().unwrap();
        run.jobs = vec![run.jobs[0].clone(), run.jobs[0].clone()];
        study.rows = vec![shared];
        let loads = study.loads();
        assert_eq!((loads[0].offered_per_s, loads[0].achieved_per_s), (2000.0, 1000.0));
        drop(loads);
        study.rows = vec![row(2, 95), row(120, 0)];
        assert_eq!(served(&study), [(2, Served::CannotTell)], "100 requests are too few to decide");
    }
}
