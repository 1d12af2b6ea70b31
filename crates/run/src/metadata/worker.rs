//! Runs one worker: its share of the items, one operation after the other.

use fsdyno_drive::{Distributed, Published};
use fsdyno_job::PerDirection;
use fsdyno_os::clock::{Clock, RealClock};
use fsdyno_os::thread::{thread_id, usage};
use fsdyno_probe::wait_of_this_thread_ns;
use fsdyno_results::Latency;

use super::operations::Item;
use super::{Event, Outcome, STAGE, Shared, Task};

/// Interval at which a percentile is published, ns: computing it costs some microseconds.
const P99_NS: u64 = 500_000_000;

/// Waits at the gate, then does its share.
pub(super) fn run(shared: &Shared, number: usize) -> Outcome {
    let (task, cell) = (&shared.task, &shared.cells[number]);
    let share: Vec<&Item> = shared.share(number).collect();
    cell.set_thread(thread_id());
    let clock = RealClock::shared();
    let mut operate = (task.prepare)();
    let (mut latency, mut part) = (Distributed::default(), Distributed::default());
    let mut outcome = Outcome { done: Vec::with_capacity(share.len()), ..Outcome::default() };
    shared.send(Event::Ready(number));
    if !shared.gate.wait(STAGE, cell) {
        return outcome;
    }
    let (used, waited_then_ns) = (usage(), wait_of_this_thread_ns());
    let began_ns = clock.now_ns();
    let mut ended_ns = began_ns;
    let mut next_p99_ns = began_ns + P99_NS;
    let planned = share.len();
    // Number of items to do; `None`: all, as far as the time allows.
    let mut goal = None;
    for (at, item) in share.into_iter().enumerate() {
        if task.control.stopped() {
            break;
        }
        if goal.is_none() && task.limit_ns.is_some_and(|limit_ns| ended_ns.saturating_sub(began_ns) >= limit_ns) {
            outcome.cut = true;
            goal = Some(most_of_a_rank(task, at));
        }
        if goal.is_some_and(|goal| at >= goal) {
            break;
        }
        cell.turns_to(at);
        let begin_ns = clock.now_ns();
        let answer = operate(item);
        ended_ns = clock.now_ns();
        match answer {
            Ok(part_ns) => {
                outcome.done.push(item.index);
                latency.add(ended_ns.saturating_sub(begin_ns));
                if task.has_part {
                    part.add(part_ns);
                }
                let ios = PerDirection { read: outcome.done.len() as u64, ..PerDirection::default() };
                cell.publish(Published { ios, ..Published::default() });
                if ended_ns >= next_p99_ns {
                    next_p99_ns = ended_ns + P99_NS;
                    cell.publish_p99(latency.latency().histogram.and_then(|counted| counted.percentile(99.0)));
                }
            }
            Err(failure) if failure.interrupted() && task.control.stopped() => break,
            Err(failure) => {
                outcome.failures += 1;
                outcome.error.get_or_insert_with(|| failure.to_error());
            }
        }
    }
    if goal.is_none() && !task.control.stopped() {
        // The ranks whose time is over wait for this number.
        most_of_a_rank(task, planned);
    }
    outcome.span_ns = Some((began_ns, ended_ns));
    let waited_ns = waited_then_ns.zip(wait_of_this_thread_ns());
    outcome.waited_ns = waited_ns.map(|(then, now)| now.saturating_sub(then));
    let used = usage().since(&used);
    let ns = |time: std::time::Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    (outcome.user_ns, outcome.system_ns) = (ns(used.user), ns(used.system));
    outcome.latency = counted(&latency);
    outcome.part = counted(&part);
    outcome
}

/// The largest number of items that a rank has done, where all wear out; else the worker's own number.
fn most_of_a_rank(task: &Task, done: usize) -> usize {
    let other_ranks = task.control.other_ranks().filter(|_| task.wears_out);
    other_ranks.map_or(done, |other_ranks| other_ranks.wear_out(done as u64) as usize)
}

/// The latency as a record; without values it has no distribution.
fn counted(latency: &Distributed) -> Latency {
    Some(latency.latency()).filter(|latency| latency.moments.count > 0).unwrap_or_default()
}
