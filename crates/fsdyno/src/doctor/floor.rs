//! Measures the generator's floor: CPU time per I/O when the engine does nothing.

use std::sync::Arc;

use fsdyno_probe::{Fact, NotVisible};
use fsdyno_run::{CommandLine, Conditions, Observer, StopRule};

use super::findings::Floor;

/// Number of rounds. The cases take turns, so that a disturbance does not affect all rounds of one case.
const ROUNDS: usize = 3;

/// Length of one round, ms.
const ROUND_MS: u32 = 70;

/// iodepth and `gtod_reduce` of the cases.
const CASES: [(u32, bool); 4] = [(1, false), (1, true), (64, false), (64, true)];

/// Measures all cases; takes about a second.
pub(super) fn measure() -> Vec<Floor> {
    let mut rounds: [Vec<Fact<f64>>; CASES.len()] = Default::default();
    for _ in 0..ROUNDS {
        for (case, results) in CASES.into_iter().zip(&mut rounds) {
            results.push(one_round(case));
        }
    }
    CASES
        .into_iter()
        .zip(rounds)
        .map(|((iodepth, gtod_reduce), results)| Floor { iodepth, gtod_reduce, cpu_ns: median(results) })
        .collect()
}

/// The median; the first failure if there is any.
fn median(results: Vec<Fact<f64>>) -> Fact<f64> {
    let mut values = results.into_iter().collect::<Fact<Vec<f64>>>()?;
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().ok_or_else(|| invisible("it was not measured"))
}

fn invisible(reason: &str) -> NotVisible {
    NotVisible::new("a run of ioengine=null", reason)
}

/// CPU time of the worker divided by its I/Os, ns.
fn one_round((iodepth, gtod_reduce): (u32, bool)) -> Fact<f64> {
    let words = [
        "--name=floor".to_owned(),
        "--ioengine=null".to_owned(),
        "--rw=randread".to_owned(),
        "--bs=4k".to_owned(),
        "--size=1g".to_owned(),
        "--time_based".to_owned(),
        format!("--runtime={ROUND_MS}ms"),
        format!("--iodepth={iodepth}"),
        format!("--gtod_reduce={}", u8::from(gtod_reduce)),
    ];
    let line = CommandLine::parse(&words).map_err(|reason| invisible(&reason))?;
    let planned = line.look(|_| ()).plan(0).map_err(|sentences| invisible(&sentences.join("; ")))?;
    let conditions = Conditions { version: "", control: Arc::default(), stop_rule: StopRule::AsWritten };
    let mut listener = Listener::default();
    let record = planned.identify_storages().run(conditions, &mut listener);
    let job = record.jobs.first().ok_or_else(|| invisible("it has no job"))?;
    if let Some(error) = &job.error {
        return Err(invisible(listener.last_message.as_deref().unwrap_or(&error.text)));
    }
    if job.directions.read.ios == 0 {
        return Err(invisible("no I/O was done"));
    }
    Ok((job.user_ns + job.system_ns) as f64 / job.directions.read.ios as f64)
}

/// An observer that keeps the run's errors.
#[derive(Default)]
struct Listener {
    last_message: Option<String>,
}

impl Observer for Listener {
    fn message(&mut self, text: &str) {
        self.last_message = Some(text.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_round_counts_and_a_failure_is_kept() {
        assert_eq!(median(vec![Ok(30.0), Ok(10.0), Ok(20.0)]), Ok(20.0));
        assert_eq!(median(vec![Ok(30.0), Err(invisible("why")), Ok(20.0)]), Err(invisible("why")));
        assert!(median(Vec::new()).is_err());
    }

    #[test]
    fn every_case_can_be_measured_here() {
        for case in CASES {
            assert!(one_round(case).unwrap() > 0.0, "{case:?}");
        }
    }
}
