//! Compares the measuring clock with the system's: a time stamp counter that steps would falsify latencies and
//! runtimes.

use fsdyno_results::{Note, Severity};

use super::Conductor;

/// A clock that went back by this ends the run, ns: jobs would run longer by it.
const BACK_NS_MAX: i64 = 1_000_000_000;

/// If the clocks drift apart by more during a stage, there is a note, ppm; crystals are within 100 ppm.
const DRIFT_PPM: f64 = 500.0;

/// In shorter stages the jitter of the two readings is larger than a drift, ns.
const STAGE_NS_MIN: u64 = 2_000_000_000;

const NEXT: &str = "run again; if it comes back, choose another clock source in \
                    /sys/devices/system/clocksource/clocksource0/current_clocksource";

impl Conductor<'_> {
    pub(super) fn begin_clock_watch(&mut self) {
        self.clock_watch = fsdyno_os::clock::ClockWatch::begin(self.clock);
    }

    pub(super) fn watch_clock(&mut self) {
        let Some(step_ns) = self.clock_watch.look() else { return };
        if step_ns <= -BACK_NS_MAX {
            self.shared.control.stop();
        }
        let note = stepped(step_ns);
        self.observer.note(&format!("fio: {}", note.text));
        self.heading.notes.push(note);
    }

    pub(super) fn judge_clock(&mut self, stage: u32) {
        let began_ns =
            self.started_ns.iter().zip(&self.shared.plan.workers).filter(|(_, worker)| worker.stage == stage);
        let long = began_ns.filter_map(|(began_ns, _)| *began_ns).any(|ns| self.elapsed_ns() >= ns + STAGE_NS_MIN);
        let note = self.clock_watch.stage_ppm().filter(|_| long).and_then(|ppm| drifted(ppm, stage));
        self.heading.notes.extend(note);
    }
}

fn stepped(step_ns: i64) -> Note {
    let seconds = step_ns.unsigned_abs() as f64 / 1e9;
    let (direction, end) = if step_ns < 0 { ("back", "ran on for as long") } else { ("ahead", "ended early") };
    let stopped = if step_ns <= -BACK_NS_MAX { "; the run was ended" } else { "" };
    let text = format!(
        "the clock (time stamp counter) went {direction} by {seconds:.3} s against the system's, as when a machine sleeps \
         or a guest is moved. Latencies and rates around that moment are wrong, and jobs {end}{stopped}; {NEXT}"
    );
    Note::new("clock-stepped", Severity::Invalid, text)
}

fn drifted(ppm: f64, stage: u32) -> Option<Note> {
    (ppm.abs() >= DRIFT_PPM).then(|| {
        let text = format!(
            "in stage {} the clock (time stamp counter) drifted by {ppm:.0} ppm from the system's: times are off by as \
             much; {NEXT}",
            stage + 1
        );
        Note::new("clock-drifted", Severity::Caution, text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_makes_the_figures_invalid_and_a_far_one_back_ends_the_run() {
        let back = stepped(-86_400_000_000_000);
        assert_eq!((back.id.as_str(), back.severity), ("clock-stepped", Severity::Invalid));
        assert!(
            back.text.contains("went back by 86400.000 s") && back.text.contains("the run was ended"),
            "{}",
            back.text
        );
        assert!(!stepped(-5_000_000).text.contains("the run was ended"));
        assert!(stepped(9_950_000_000).text.contains("went ahead by 9.950 s"));
    }

    #[test]
    fn a_drift_is_noted_where_no_crystal_explains_it() {
        assert!(drifted(60.0, 0).is_none());
        assert!(
            drifted(-2000.0, 1)
                .unwrap()
                .text
                .contains("in stage 2 the clock (time stamp counter) drifted by -2000 ppm")
        );
    }
}
